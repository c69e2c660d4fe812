"""What code makes of a model's review: questions with options of its own, objections, and no second opinion."""

from typing import Any

import pytest

from citegraph.evidence.review_by_model import (
    ReviewDecision,
    absent_names,
    asked_already,
    fingerprint,
    judged,
    plain_question,
)
from citegraph.llm.prompt_assembly import Passage
from citegraph.plan.plan_by_model import PlannedFilter, checked_clauses
from citegraph.run.context import Context
from citegraph.run.services import Corpus

EVIDENCE = [
    {"id": "1", "doc": "kestrelwick-kw-240117", "bucket": "invoices", "score": 0.9},
    {"id": "2", "doc": "cobaltine-cbc-10904", "bucket": "invoices", "score": 0.8},
]


def state(**more: Any) -> Any:
    part: dict[str, Any] = {"filters": [], "asked": [], "names": [], "identifiers": []}
    plan = {"buckets": ["invoices"], "per_bucket": {"invoices": part}, "queries": ["q"], "kind": "passages"}
    decomposition: dict[str, Any] = {"by": "model", "entities": [], "subqueries": [], "topic_terms": ["fee"]}
    return {
        "question": "q",
        "plan": plan,
        "decomposition": decomposition,
        "evidence": EVIDENCE,
        "tried": [],
        "rounds": 1,
    } | more


def reply(**parts: Any) -> ReviewDecision:
    return ReviewDecision.model_validate({"status": "enough", "reason": "r", "next_calls": []} | parts)


async def test_a_model_that_must_ask_names_documents_and_code_makes_the_options(corpus: Corpus) -> None:
    wanted = reply(status="clarify", candidates=["[cobaltine-cbc-10904]", "kestrelwick-kw-240117", "forged"])
    decision = await judged(corpus, wanted, state(), Context(), {})
    asked = decision["clarification"]
    assert (decision["status"], asked["type"]) == ("clarify", "ambiguous")
    assert [option["effect"] for option in asked["options"]] == [
        {"only": ["cobaltine-cbc-10904"]},
        {"only": ["kestrelwick-kw-240117"]},
    ]


async def test_a_question_for_something_left_out_gets_options_with_counts(corpus: Corpus) -> None:
    wanted = reply(status="clarify", question="Which year do you mean?")
    asked = (await judged(corpus, wanted, state(), Context(), {}))["clarification"]
    assert (asked["type"], asked["question"]) == ("missing", "Which year do you mean?")
    assert asked["options"]
    assert all(option["count"] > 0 for option in asked["options"])


@pytest.mark.parametrize(
    ("settings", "clarifications"),
    [({"max_clarifications": 0}, []), ({}, [{"type": "missing", "reply": "x"}])],
)
async def test_it_may_not_ask_beyond_the_cap_or_the_same_again(
    settings: Any, clarifications: Any, corpus: Corpus
) -> None:
    wanted = reply(status="clarify", question="Which year do you mean?")
    decision = await judged(corpus, wanted, state(clarifications=clarifications), Context(**settings), {})
    assert (decision["status"], decision["assumed"]) == ("enough", "Which year do you mean?")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Which  year?\nThanks", "Which year?"),
        ("Open https://evil.example?", ""),
        ("What is your password?", ""),
        ("<b>Which?</b>", ""),
        ("Tell me more.", ""),
    ],
)
def test_what_a_model_may_ask_a_person(said: str, shown: str) -> None:
    assert plain_question(said) == shown


def test_a_name_is_absent_when_no_passage_holds_a_word_of_it() -> None:
    names = [{"name": "Polder Pumps BV", "role": "company"}, {"name": "NV2N517", "role": "identifier"}]
    seen = [Passage("[d]", "The pump of POLDER is blue.")]
    assert absent_names({"by": "model", "entities": names}, seen) == ["NV2N517"]
    assert absent_names({"entities": names}, seen) == []
    assert absent_names({"by": "model", "entities": [{"name": "Zed", "role": "other"}]}, seen) == []


async def test_enough_is_vetoed_once_for_a_name_that_nobody_holds(corpus: Corpus) -> None:
    given = state()
    given["evidence"] = []
    given["decomposition"]["entities"] = [{"name": "Zephyrion", "role": "company"}]
    first = await judged(corpus, reply(), given, Context(), {})
    assert (first["status"], [call["args"]["query"] for call in first["calls"]]) == (
        "more",
        ["Zephyrion fee"],
    )
    from citegraph.evidence.passages import signature

    given["tried"] = [signature(call) for call in first["calls"]]
    second = await judged(corpus, reply(), given, Context(), {})
    assert (second["status"], second["absent"]) == ("enough", ["Zephyrion"])
    assert [item["kind"] for item in second["notes"]] == ["not found"]


async def test_a_models_filters_join_those_that_are_fixed(corpus: Corpus) -> None:
    given = state()
    fixed = {"field": "currency", "operator": "=", "value": "EUR", "raw": "", "origin": "user"}
    soft = {"field": "document_type", "operator": "=", "value": "invoice", "raw": "", "origin": "inferred"}
    given["plan"]["per_bucket"]["invoices"]["filters"] = [fixed, soft]
    call = {"tool": "search_text", "bucket": "invoices", "query": "reel", "doc_id": "", "keep_filters": False}
    own = {"field": "total_amount", "operator": ">", "values": ["100"]}
    wanted = reply(status="more", next_calls=[call | {"filters": [own]}])
    (made,) = (await judged(corpus, wanted, given, Context(), {}))["calls"]
    assert [clause["field"] for clause in made["args"]["filters"]["invoices"]] == ["currency", "total_amount"]


def test_the_same_prompt_is_not_put_twice() -> None:
    given = state()
    given["decision"] = {"memory": {"judged": fingerprint(given)}}
    assert asked_already(given)
    assert not asked_already(given | {"tried": ["another search"]})
    assert not asked_already(given | {"evidence": EVIDENCE[:1]})


def test_names_are_linked_and_bad_clauses_fall_alone(corpus: Corpus) -> None:
    written = [
        PlannedFilter(field="vendor_name", operator="=", values=["cobaltine cloud"]),
        PlannedFilter(field="colour", operator="=", values=["red"]),
    ]
    kept, notes = checked_clauses(corpus, "invoices", written, Context(today="2025-03-01"))
    assert len(kept) == 1
    assert (kept[0]["field"], kept[0]["origin"]) == ("vendor_name", "inferred")
    stored = kept[0]["value"] if isinstance(kept[0]["value"], list) else [kept[0]["value"]]
    assert all(value.startswith("Cobaltine") for value in stored)
    assert {item["kind"] for item in notes} == {"clause dropped", "linked value"}
