"""sides_apart: names that no document holds together are of different sides of a comparison."""

from typing import Any

import pytest

from citegraph.encoder.multilingual import asked_runs
from citegraph.language.terms import content_words
from citegraph.plan.make_plan import make_plan, named_alone
from citegraph.question.sides import enumerated
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from nodes.decompose import decompose
from tests.node_runtime import TODAY, Read


def planned(corpus: Corpus, question: str, bucket: str = "contracts") -> Any:
    state: Any = {"question": question, "decomposition": decompose(question), "routes": [{"bucket": bucket}]}
    return make_plan(corpus, state, Context(today=TODAY.isoformat()))[0]


def told(corpus: Corpus, question: str) -> list[tuple[str, list[str]]]:
    """Return the label of each side with the stored names by which its documents are found."""
    return [
        (side["label"], [clause["value"] for clause in side["per_bucket"]["contracts"]["filters"]])
        for side in planned(corpus, question).get("sides", [])
    ]


TWO = [
    (
        "Two deals: Norrvolt with Marrowfen Instruments B.V., and Marrowfen (Penang) with Bukit Seraya Properties. Which ends later?",
        ["Norrvolt Semiconductors AB"],
        ["Marrowfen Instruments (Penang) Sdn Bhd", "Bukit Seraya Properties Sdn Bhd"],
    ),
    (
        "Zwei Verträge, Cobaltine mit Marrowfen Instruments B.V. und Bukit Seraya Properties mit Marrowfen (Penang): welches Recht gilt jeweils?",
        ["Cobaltine Cloud Inc.", "Marrowfen Instruments B.V."],
        ["Bukit Seraya Properties Sdn Bhd", "Marrowfen Instruments (Penang) Sdn Bhd"],
    ),
]


@pytest.mark.parametrize(("question", "first", "second"), TWO)
def test_each_side_keeps_the_names_that_one_document_holds(
    corpus: Corpus, question: str, first: list[str], second: list[str]
) -> None:
    plan = planned(corpus, question)
    assert plan["intent"] == "compare"
    assert [names for _, names in told(corpus, question)] == [first, second]


def test_a_name_that_no_value_has_stays_with_the_side_before_it(corpus: Corpus) -> None:
    question = "How long does Norrvolt bind Tessa Wray, and how long Cobaltine Ruud Kemna?"
    labels = [label for label, _ in told(corpus, question)]
    assert labels == ["Norrvolt bind Tessa Wray", "Cobaltine Ruud Kemna"]


@pytest.mark.parametrize("joined", ["y", "e", "and"])
def test_sides_are_joined_in_several_languages(corpus: Corpus, joined: str) -> None:
    labels = [label for label, _ in told(corpus, f"Norrvolt {joined} Cobaltine: quale termina prima?")]
    assert labels == ["Norrvolt", "Cobaltine"]


def test_names_that_nothing_joins_are_no_sides(corpus: Corpus) -> None:
    assert told(corpus, "What does Norrvolt say about Cobaltine's prices?") == []


def test_names_of_one_document_are_no_sides(corpus: Corpus) -> None:
    assert told(corpus, "When does the NDA of Norrvolt with Marrowfen Instruments B.V. end?") == []


def test_what_is_wanted_is_asked_in_runs_of_words() -> None:
    question = "Which of the two has the higher price and the longer warranty, Tarn or Quillfeld?"
    said = [" ".join(content_words(question[start:end])) for start, end in asked_runs(question)]
    assert list(filter(None, said)) == ["price", "warranty"]


def test_a_models_side_keeps_names_and_no_kinds(corpus: Corpus, read: Read) -> None:
    part = read("datasheets", "user manual of the FL-200 from 2023")
    side: Any = {"label": "", "question": "", "per_bucket": {"datasheets": part}, "only": []}
    assert {item["field"] for item in part["filters"]} == {"product", "document_type", "document_date"}
    kept = named_alone(corpus, side)["per_bucket"]["datasheets"]["filters"]
    assert {item["field"] for item in kept} == {"product", "document_date"}


def test_every_item_of_an_enumeration_is_a_side(corpus: Corpus) -> None:
    question = (
        "Compare the notice period of the Norrvolt contract, Cobaltine and the Quarnbeck lease in a table"
    )
    sides = planned(corpus, question)["sides"]
    assert [side["label"] for side in sides] == ["Norrvolt contract", "Cobaltine", "Quarnbeck lease"]
    for side in sides:
        others = {"Norrvolt", "Cobaltine", "Quarnbeck"} - set(side["label"].split())
        assert "notice period" in side["question"]
        assert not any(other in side["question"] for other in others)
    assert [side.get("names") for side in sides] == [None, None, ["Quarnbeck"]]


def test_what_is_wanted_is_enumerated_and_no_side(corpus: Corpus) -> None:
    question = "Compare Norrvolt, Cobaltine and Oudenveld in a table: Term, Notice Period, Governing Law"
    assert [label for label, _ in told(corpus, question)] == ["Norrvolt", "Cobaltine", "Oudenveld"]


def test_two_items_or_two_pairs_are_no_enumeration(corpus: Corpus) -> None:
    bucket, today = corpus.buckets["contracts"], TODAY
    for question in ("Compare Norrvolt and Cobaltine", "Compare Tarn with Quill and Brask with Hollin"):
        assert enumerated(bucket, corpus.linker, question, today=today) == []
    three = enumerated(bucket, corpus.linker, "Compare the term of Tarn with Quill and Brask", today=today)
    assert [side.label for side in three] == ["Tarn", "Quill", "Brask"]
