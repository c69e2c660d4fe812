"""Questions over two documents with a model that reads: each part with its own conditions, the next search from the last."""

import re
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from citegraph.errors import Rejected
from citegraph.llm.scripted import Script, scripted
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from tests.graph.conftest import OpenSession
from tests.graph.test_answers import check_citations
from tests.nodes.test_model_prompts import decomposed
from tests.scripted_judge import all_supported

CHAIN = "What collector current may the transistor carry that ECN-0072 introduces?"
IN_2024 = {
    "field": "date",
    "operator": "between",
    "value": ["2024-01-01", "2024-12-31"],
    "raw_text": "in 2024",
}
SUM = "How much did the company that issued invoice CBC-11618 invoice us in 2024 in total?"


def reviewing(
    *reviews: dict[str, Any], compose: str = "", plan: dict[str, Any] | None = None, **parts: Any
) -> tuple[Any, Script]:
    """Return models that take the question apart as `parts` say, plan, review with the given replies in turn, write, and
    rule that what was written is supported.
    """
    left = iter(reviews)

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        if step == "decompose":
            return decomposed(**parts)
        if step == "review":
            return {"reason": "r", "next_calls": []} | next(left)
        if step == "schema_plan" and plan:
            return plan
        if step == "verify":
            return all_supported(messages[-1].text)
        return compose if step == "compose" and compose else Rejected("not in this script")

    return scripted(reply)


def search(bucket: str, query: str, **more: Any) -> dict[str, Any]:
    call = {"tool": "search_text", "bucket": bucket, "query": query, "doc_id": "", "filters": []}
    return call | {"keep_filters": False} | more


def shown(script: Script, step: str) -> list[str]:
    return [call.prompt for call in script.calls if call.step == step]


def searches(prompt: str) -> str:
    found = re.search(r"<searches>\n(.*?)\n</searches>", prompt, re.DOTALL)
    assert found
    return found[1]


def cited(answer: Answer) -> set[str]:
    return {citation.doc_id for citation in answer.citations}


async def test_the_next_search_is_built_from_what_the_last_one_found(
    open_session: OpenSession, corpus: Corpus
) -> None:
    wanted = search(
        "datasheets",
        "NV2N518 collector current",
        filters=[{"field": "product", "operator": "=", "values": ["NV2N518"]}],
    )
    models, script = reviewing(
        {
            "status": "more",
            "found": ["NV2N518"],
            "missing": ["its collector current"],
            "next_calls": [wanted],
        },
        {"status": "enough"},
        compose="ECN-0072 replaces the transistor NV2N517 by NV2N518 [ecn-0072]. "
        "The collector current of the NV2N518 is 1.0 A at most [nv2n518].",
        primary_buckets=["generic", "datasheets"],
        entities=[{"name": "ECN-0072", "role": "identifier"}],
        subqueries=[{"purpose": "find_entity", "query": "transistor that ECN-0072 introduces"}],
    )
    async with open_session(models) as session:
        answer = await session.ask(CHAIN)
    assert script.steps() == ["decompose", "review", "review", "compose", "verify"], (
        "no plan to check, no hop by rules"
    )
    first, second = shown(script, "review")
    assert '<passage marker="[1]" from="ecn-0072.md' in first
    assert "collector_emitter" in first or "datasheets" in first
    assert "<learned>\nNV2N518" in second
    assert "keyword search in datasheets with (datasheets: product = NV2N518)" in searches(second)
    assert ' from="nv2n518' in second.casefold()
    assert (answer.status, cited(answer)) == ("answered", {"ecn-0072", "nv2n518"})
    assert {claim.verdict for claim in answer.claims[:2]} == {"supported"}
    check_citations(answer, corpus)


async def test_each_part_is_searched_with_its_own_conditions(open_session: OpenSession) -> None:
    models, script = reviewing(
        {"status": "enough"},
        primary_buckets=["invoices"],
        subqueries=[
            {"purpose": "find_entity", "query": "issuer of invoice CBC-11618"},
            {"purpose": "find_passage", "query": "invoices of 1 July 2024"},
        ],
    )
    async with open_session(models) as session:
        await session.ask("What did the company that issued invoice CBC-11618 bill on 1 July 2024?")
    _, entity, passage = searches(*shown(script, "review")).splitlines()
    assert "CBC-11618" in entity
    assert "2024-07-01" not in entity, "the day belongs to the other document"
    assert "2024-07-01" in passage
    assert "CBC-11618" not in passage


async def test_a_found_name_leads_to_a_sum_by_the_database(open_session: OpenSession, corpus: Corpus) -> None:
    vendor = {"field": "vendor_name", "operator": "=", "values": ["Cobaltine Cloud Inc."]}
    year = {"field": "invoice_date", "operator": "between", "values": ["2024-01-01", "2024-12-31"]}
    call = search("invoices", "", filters=[vendor, year], tool="query_documents")
    models, script = reviewing(
        {"status": "more", "next_calls": [call]},
        constraints=[IN_2024],
        intent="compute",
        aggregate="sum",
        primary_buckets=["invoices"],
        subqueries=[{"purpose": "find_entity", "query": "issuer of invoice CBC-11618"}],
    )
    async with open_session(models) as session:
        answer = await session.ask(SUM)
    assert "query_documents" in shown(script, "review")[0]
    assert "8,010.00" in answer.text or "8010.00" in answer.text
    assert answer.status == "answered"
    assert [note.message for note in answer.notes if note.kind == "found"] == [
        "The documents were chosen by what others say: vendor name = Cobaltine Cloud Inc.; "
        "invoice date between 2024-01-01, 2024-12-31."
    ]
    assert cited(answer) == {f"cobaltine-cbc-{number}" for number in ("10231", "10577", "10904", "11260")}
    check_citations(answer, corpus)


async def test_a_sum_whose_name_was_never_resolved_is_partial(open_session: OpenSession) -> None:
    models, _ = reviewing(
        {"status": "enough"},
        compose="The invoice CBC-11618 is from Cobaltine Cloud Inc. [cobaltine-cbc-11618].",
        intent="compute",
        aggregate="sum",
        primary_buckets=["invoices"],
        subqueries=[{"purpose": "find_entity", "query": "issuer of invoice CBC-11618"}],
    )
    async with open_session(models) as session:
        answer = await session.ask(SUM)
    assert answer.status == "partial"
    assert "8010" not in answer.text.replace(",", ""), "no sum over all vendors"


@pytest.mark.parametrize(
    "filters",
    [
        pytest.param(
            [("vendor_name", "Zephyrion Zinc Works"), ("invoice_date", "2024-07-01")], id="nothing matches"
        ),
        pytest.param([("vendor_name", "Cobaltine Cloud Inc.")], id="the year is left out"),
        pytest.param([], id="no name"),
    ],
)
async def test_filters_that_do_not_say_what_is_asked_make_no_set(
    filters: list[tuple[str, str]], open_session: OpenSession
) -> None:
    own = [{"field": name, "operator": "=", "values": [value]} for name, value in filters]
    call = search("invoices", "", filters=own, tool="query_documents")
    models, _ = reviewing(
        {"status": "more", "next_calls": [call]},
        compose="The documents do not state it.",
        constraints=[IN_2024],
        intent="compute",
        aggregate="sum",
        primary_buckets=["invoices"],
        subqueries=[{"purpose": "find_entity", "query": "issuer of invoice CBC-11618"}],
    )
    async with open_session(models) as session:
        answer = await session.ask(SUM)
    assert answer.status in {"partial", "unanswerable"}
    assert not answer.table


async def test_without_calls_for_a_review_the_rules_follow_the_chain(open_session: OpenSession) -> None:
    models, script = reviewing(
        compose="The documents do not state it.",
        primary_buckets=["generic"],
        subqueries=[{"purpose": "find_entity", "query": "transistor that ECN-0072 introduces"}],
    )
    async with open_session(models) as session:
        answer = await session.ask(CHAIN, context=Context(max_llm_calls=2))
    assert script.steps() == ["decompose", "compose"]
    assert answer.status in {"answered", "partial", "unanswerable"}
