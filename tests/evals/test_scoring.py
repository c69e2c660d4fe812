"""Each measure on hand-made answers."""

from typing import Any

import pytest

from citegraph.run.answer_types import Answer, Citation, Clarification, Table, Usage
from evals.question_files import Gold, Question
from evals.scoring import (
    Outcome,
    answer_score,
    behaviour,
    count_bad_citations,
    document_scores,
    misses,
    routing,
    score,
    shown_documents,
    summarise,
)


def citation(doc_id: str, start: int = 0, quote: str = "abc", page: int | None = None) -> Citation:
    return Citation(
        marker=doc_id,
        doc_id=doc_id,
        bucket="invoices",
        label=doc_id,
        source_file=f"{doc_id}.txt",
        page=page,
        start=start,
        end=start + len(quote),
        quote=quote,
    )


def answer(text: str = "", status: Any = "answered", cited: tuple[str, ...] = (), **more: Any) -> Answer:
    return Answer(
        question="q", text=text, status=status, citations=[citation(name) for name in cited], **more
    )


def question(category: str = "lookup", **more: Any) -> Question:
    return Question(id="q-1", turns=("q",), category=category, **more)


def outcome(asked: Question, *turns: Answer, first: Answer | None = None) -> Outcome:
    return Outcome(asked, turns, first or turns[0], 0.5)


def test_document_scores_of_a_set() -> None:
    assert document_scores({"a", "b", "c", "d"}, ["a", "b", "x"]) == (0.5, 2 / 3, pytest.approx(4 / 7))
    assert document_scores({"a"}, ["a"]) == (1.0, 1.0, 1.0)
    assert document_scores(set(), ["a"]) == (0.0, 0.0, 0.0)
    assert document_scores({"b"}, ["a"]) == (0.0, 0.0, 0.0)
    assert document_scores({"b"}, []) == (None, None, None)


def test_a_lookup_is_judged_by_what_it_cites() -> None:
    given = answer(cited=("a", "a", "b"), documents=["c"])
    assert shown_documents(question("lookup"), given) == {"a", "b"}
    assert shown_documents(question("compare"), given) == {"a", "b"}


@pytest.mark.parametrize("category", ["list", "compute"])
def test_a_list_is_judged_by_all_its_documents(category: str) -> None:
    table = Table(columns=["document"], rows=[["d"]], doc_ids=["d"])
    assert shown_documents(question(category), answer(cited=("a",), documents=["c"], table=table)) == {"c"}
    assert shown_documents(question(category), answer(cited=("a",), table=table)) == {"d"}
    assert shown_documents(question(category), answer(cited=("a",))) == {"a"}


def test_after_a_clarification_the_intent_decides() -> None:
    asked = question("overload")
    assert shown_documents(asked, answer(cited=("a",), documents=["c"], intent="list")) == {"c"}
    assert shown_documents(asked, answer(cited=("a",), documents=["c"], intent="qa")) == {"a"}


def test_routing_is_the_first_bucket() -> None:
    asked = question(buckets=("contracts", "generic"))
    assert routing(asked, answer(buckets=["generic", "invoices"])) == 1.0
    assert routing(asked, answer(buckets=["invoices", "generic"])) == 0.0
    assert routing(asked, answer()) == 0.0
    assert routing(question(), answer(buckets=["invoices"])) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (answer(), "answer"),
        (answer(status="partial"), "answer"),
        (answer(status="unanswerable"), "unanswerable"),
        (answer(status="failed"), "failed"),
        (answer(retrieval=False), "no_retrieval"),
        (answer(retrieval=False, status="failed"), "failed"),
        (
            answer(status="needs_clarification", clarification=Clarification(type="overload", question="?")),
            "clarify:overload",
        ),
    ],
)
def test_behaviour(given: Answer, expected: str) -> None:
    assert behaviour(given) == expected


def test_behaviour_is_that_of_the_first_turn_but_for_a_follow_up() -> None:
    asks = answer(status="needs_clarification", clarification=Clarification(type="ambiguous", question="?"))
    clarified = outcome(question("ambiguous", behaviour="clarify:ambiguous"), answer(), first=asks)
    assert score(clarified)["behaviour"] == 1.0
    assert score(outcome(question("ambiguous", behaviour="clarify:ambiguous"), answer()))["behaviour"] == 0.0
    followed = outcome(question("followup"), asks, answer(), first=asks)
    assert score(followed)["behaviour"] == 1.0


def test_the_answer_must_contain_the_value() -> None:
    asked = question(answer=Gold("number", 19))
    assert answer_score(asked, answer("19 documents")) == 1.0
    assert answer_score(asked, answer("18 documents [doc-19]", cited=("doc-19",))) == 0.0
    assert answer_score(asked, answer("18 documents [doc-19]", documents=["doc-19"])) == 0.0
    assert answer_score(question(), answer("19")) is None


@pytest.mark.parametrize("status", ["needs_clarification", "unanswerable", "failed"])
def test_a_text_without_an_answer_contains_no_value(status: Any) -> None:
    assert answer_score(question(answer=Gold("number", 19)), answer("19", status)) == 0.0


def test_cost_is_summed_over_the_turns() -> None:
    turns = [answer(usage=Usage(llm_calls=2, tool_calls=1)), answer(usage=Usage(llm_calls=1, tool_calls=4))]
    scores = score(outcome(question("followup"), *turns))
    assert (scores["calls"], scores["tool_calls"], scores["seconds"]) == (3.0, 5.0, 0.5)


def test_a_citation_resolves_to_text_and_page() -> None:
    text = "0123abc"

    def read(doc_id: str, start: int, end: int) -> str:
        return text[start:end] if doc_id == "a" else ""

    def page(doc_id: str, offset: int) -> int | None:
        return 2

    good = citation("a", 4, page=2)
    bad = [
        citation("a", 3, page=2),
        citation("a", 4, page=1),
        citation("b", 4, page=2),
        citation("a", 4, "", 2),
    ]
    assert count_bad_citations([good], read, page) == 0
    assert count_bad_citations([good, *bad], read, page) == 4


def test_means_leave_out_what_does_not_apply() -> None:
    def scored(category: str, right: float | None, status: Any = "answered", bad: int = 0) -> Outcome:
        return Outcome(question(category), [answer(status=status)], answer(), 1.0, {"answer": right}, bad)

    rows = [
        scored("lookup", 1.0),
        scored("list", None, "failed", 2),
        scored("lookup", 0.0),
        scored("list", None),
    ]
    result = summarise(rows)
    assert list(result) == ["overall", "list", "lookup"]
    assert (result["overall"]["answer"], result["lookup"]["answer"], result["list"]["answer"]) == (
        0.5,
        0.5,
        None,
    )
    assert (result["overall"]["rows"], result["list"]["failed"], result["list"]["bad_citations"]) == (4, 1, 2)


def test_misses_name_their_causes() -> None:
    asked = question("lookup", buckets=("contracts",), doc_ids=("a",), answer=Gold("text", "Delaware"))
    wrong = outcome(asked, answer("Texas", buckets=["invoices"], cited=("b",)))
    wrong = Outcome(asked, wrong.turns, wrong.first, 0.5, score(wrong), 1)
    assert misses(wrong) == [
        "routing: expected contracts, got invoices",
        "documents: no gold document among 1 (b)",
        "value: 'Delaware' missing (0.00) in 'Texas'",
        "citations: 1 do not resolve",
    ]
    right = outcome(asked, answer("Delaware law", buckets=["contracts"], cited=("a",)))
    assert misses(Outcome(asked, right.turns, right.first, 0.5, score(right))) == []
