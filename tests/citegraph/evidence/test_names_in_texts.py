"""Names that texts print in the same words, and what a set without a word is."""

from typing import Any

import pytest

from citegraph.answer.set_statements import compose_set
from citegraph.evidence.names_in_texts import grouped_by_name, name_at, names_in_texts, worded
from citegraph.evidence.review_sets import review_set
from citegraph.run.context import Context
from citegraph.run.services import Corpus


@pytest.mark.parametrize(
    ("words", "text", "name"),
    [
        ("crate uploaded by ___ to mirror", "The crate uploaded\nby `mole-99` to  mirror", "mole-99"),
        (
            "crate uploaded by ___ to mirror",
            "The crate uploaded by Mole and\nSons to mirror",
            "Mole and Sons",
        ),
        ("crate uploaded by the user ___ to", "crate uploaded by the hostile user `mole` to hide", "mole"),
        ("crate uploaded by ___ to mirror", "a crate uploaded by `mole-99` and kept", "mole-99"),
        ("on behalf of ___", "Signed on behalf of “Tarn Ferries Ltd”.", "Tarn Ferries Ltd"),
        ("lorry driven by ___, who loaded", "the lorry driven by Ilse Brandt, who loaded", "Ilse Brandt"),
    ],
)
def test_a_name_stands_where_the_words_have_a_gap(words: str, text: str, name: str) -> None:
    pattern = worded(words)
    assert pattern is not None
    found = pattern.search(text)
    assert found is not None
    assert name_at(found) == name


@pytest.mark.parametrize(
    "words", ["uploaded by", "by ___", "___ uploaded it", "sent from ___ to ___ by lorry", ""]
)
def test_words_that_fit_anything_find_nothing(words: str) -> None:
    assert worded(words) is None


def test_documents_are_grouped_by_the_name_that_they_print(corpus: Corpus) -> None:
    words = worded("governed by the laws of ___.")
    assert words is not None
    spans, read = names_in_texts(corpus, "contracts", words, ())
    assert read == corpus.annotations.count("contracts")
    groups = grouped_by_name(corpus, words, spans)
    said = "governed by the laws of england and wales."
    texts = {one: corpus.documents.text(one) for one in corpus.annotations.document_ids("contracts")}
    holding = {one for one, text in texts.items() if said in " ".join(text.split()).casefold()}
    assert len(groups) > 2
    assert set(groups["England and Wales"]) == holding
    assert sum(map(len, groups.values())) == len(spans)
    for name, held in groups.items():
        for doc_id in held:
            span = spans[doc_id]
            assert name in " ".join(corpus.documents.text(doc_id)[span["start"] : span["end"]].split())


async def test_documents_that_hold_denied_words_are_left_out(corpus: Corpus) -> None:
    part: Any = {key: [] for key in ("filters", "names", "terms", "asked", "unused", "identifiers")} | {
        "noun": "plural"
    }
    plan: Any = {
        "intent": "list",
        "kind": "documents",
        "buckets": ["contracts"],
        "per_bucket": {"contracts": part},
        "aggregate": {"function": "none", "field": None},
        "queries": ["Which agreements do not mention arbitration?"],
        "only": [],
        "order_by": None,
        "described": "",
        "lacking": "settled by arbitration",
    }
    total = corpus.annotations.count("contracts")
    state: Any = {
        "question": plan["queries"][0],
        "plan": plan,
        "decomposition": {"by": "model", "intent": "list"},
        "decision": {"matched": {"contracts": total}},
    }
    decision = await review_set(corpus, state, Context())
    left = [doc for doc in corpus.annotations.document_ids("contracts") if doc not in decision["targets"]]
    assert left
    assert all("arbitration" in corpus.documents.text(doc) for doc in left)
    assert decision["coverage"] == (f"{len(left)} of {total} hold “settled by arbitration” and are left out")
    draft = compose_set(corpus, plan, decision, Context())
    assert draft["documents"] == decision["targets"]
    assert decision["coverage"] in draft["text"]
