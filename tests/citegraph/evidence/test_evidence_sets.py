"""evidence_sets: which words describe a condition, and which documents hold it in one passage."""

import pytest

from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.evidence.review_sets import described, uncovered
from citegraph.evidence.sets_by_texts import (
    find_by_evidence,
    listed_by_evidence,
    not_together,
    trimmed,
)
from citegraph.run.services import Corpus


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("contracts that mention escrow", "escrow"),
        ("contracts with a step-in clause", "step-in"),
        ("contracts with a non-escrow clause", "non-escrow"),
        ("contracts that do not mention escrow", ""),
        ("contracts signed with a bank", ""),
        ("escrow contracts that contain it", ""),
        ("contracts that step escrow", "step escrow"),
        ("contracts that were signed by a bank", ""),
    ],
)
def test_only_words_after_a_cue_describe_a_condition(question: str, condition: str) -> None:
    assert described(question, {"terms": ["escrow", "step", "clause", "bank"]}) == condition


IN_2024 = {"field": "contract_date", "raw": "2024"}


@pytest.mark.parametrize(
    ("question", "filters", "names", "condition"),
    [
        ("Which contracts renew automatically?", [], [], "renew automatically"),
        ("Welche Verträge renew automatically?", [], [], "renew automatically"),
        ("Which of our contracts renew automatically?", [], [], "renew automatically"),
        ("Which contracts renew?", [], [], ""),
        ("Which contracts do not renew automatically?", [], [], ""),
        ("All contracts renew automatically", [], [], ""),
        ("Which contracts renew automatically in 2024?", [IN_2024], [], ""),
        ("Which contracts are of 2024 and renew automatically?", [IN_2024], [], "renew automatically"),
        ("Which contracts renew automatically and are of 2024?", [IN_2024], [], "renew automatically"),
        ("Which contracts renew automatically?", [], ["Acme"], ""),
        ("Which contracts have a clause?", [], [], ""),
    ],
)
def test_a_predicate_that_no_filter_covers_is_a_condition(
    question: str, filters: list[object], names: list[str], condition: str
) -> None:
    part = {"terms": ["renew", "automatically", "clause"], "filters": filters, "names": names}
    assert uncovered(question, part) == condition


async def test_such_a_condition_decides_by_evidence_or_not_at_all(corpus: Corpus) -> None:
    plan = {"buckets": ["contracts"], "per_bucket": {"contracts": {"filters": []}}}
    total = corpus.annotations.count("contracts")
    held = await listed_by_evidence(corpus, plan, "liability capped", total)
    assert held is not None
    found = len(held["targets"])
    assert held["coverage"] == f"checked {total} of {total} candidates; {found} by evidence"
    assert (held["status"], found > 0, held["matched"]) == ("enough", True, {"contracts": found})
    assert await listed_by_evidence(corpus, plan, "zeppelin hangar", total) is None


async def test_a_document_is_found_by_a_passage_that_holds_all_of_the_words(corpus: Corpus) -> None:
    found = await find_by_evidence(corpus, "contracts", "liability capped")
    assert found.checked >= len(found.spans)
    for doc_id, (start, end) in found.spans.items():
        document = corpus.documents.get(doc_id)
        assert document is not None
        assert "liab" in document.text[start:end].lower()
    assert (await find_by_evidence(corpus, "contracts", "zeppelin hangar")).spans == {}


async def test_of_words_that_stand_in_no_passage_together_it_is_said_where_each_stands(
    corpus: Corpus,
) -> None:
    plan = {"buckets": ["contracts"], "per_bucket": {"contracts": {"filters": []}}, "kind": "documents"}
    liability = len((await find_by_evidence(corpus, "contracts", "liability")).spans)
    assert liability
    (said,) = await not_together(corpus, {**plan, "described": "liability zeppelin"})
    assert f"“liability” in {liability}, “zeppelin” in 0" in said
    (said,) = await not_together(corpus, {**plan, "described": "zeppelin hangar | liability zeppelin"})
    assert f"“zeppelin” in 0, “hangar” in 0, “liability” in {liability}, “zeppelin” in 0" in said
    for told in ("liability capped", "zeppelin hangar | liability capped"):
        assert await not_together(corpus, {**plan, "described": told}) == []
    assert await not_together(corpus, plan) == []


async def test_every_candidate_is_decided_when_a_search_brings_all_that_hold_a_word(corpus: Corpus) -> None:
    found = await find_by_evidence(corpus, "contracts", "liability capped")
    assert found.checked == corpus.annotations.count("contracts")


async def test_further_searches_look_where_no_chunk_came_up(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await find_by_evidence(corpus, "contracts", "agreement party")
    monkeypatch.setattr("citegraph.evidence.sets_by_texts.HITS", 2)
    assert set((await find_by_evidence(corpus, "contracts", "agreement party")).spans) <= set(whole.spans)
    monkeypatch.setattr("citegraph.evidence.sets_by_texts.ROUNDS", 50)
    again = await find_by_evidence(corpus, "contracts", "agreement party")
    assert (len(again.spans), again.checked) == (len(whole.spans), whole.checked)


def test_a_number_over_chosen_documents_is_theirs_alone(corpus: Corpus) -> None:
    chosen = tuple(corpus.annotations.document_ids("invoices", limit=2))
    query = DocumentQuery(bucket="invoices", aggregate=(Aggregate(function="count"),), only=chosen)
    result = run_query(corpus.annotations, query)
    assert (result.rows, result.matched) == ([{"count": 2}], 2)
    nothing = run_query(corpus.annotations, query.model_copy(update={"only": ()}))
    assert nothing.rows == [{"count": 0}]


def test_a_passage_loses_broken_words() -> None:
    assert trimmed("one two three four", 2, 15) == (4, 13)
