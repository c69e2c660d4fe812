"""Whole runs with twins over the sample: answers whose citations resolve, clean follow-ups, one exit path."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from graph.session import Session

SAMPLE = Path(__file__).parents[2] / "buckets" / "sample"
QUESTIONS = [json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines()]
WORD = re.compile(r"\w+")
MARKER = re.compile(r"\[[^\[\]]+\]")
SINGLE = [row for row in QUESTIONS if len(row["turns"]) == 1]
LOOKUPS = {
    "What is the total of Halbrecht invoice RE-2024-0458?": ("halbrecht-re-2024-0458", "5854.80"),
    "When is Cobaltine invoice CBC-10904 due?": ("cobaltine-cbc-10904", "2024-07-31"),
    "What is the maximum collector-emitter voltage VCEO of the NV2N517?": ("nv2n517", "45 V"),
    "Which law governs the tenancy agreement for the Penang unit?": ("bukit-seraya-lease", "Malaysia"),
}


def check_citations(answer: Answer, corpus: Corpus) -> None:
    """Hold every citation and claim of an answer against the stored documents."""
    for citation in answer.citations:
        document = corpus.documents.get(citation.doc_id)
        assert document is not None, citation
        assert 0 <= citation.start < citation.end <= len(document.text), citation
        assert document.text[citation.start : citation.end] == citation.quote, citation
        assert citation.bucket == document.bucket
        assert citation.source_file == document.source_file
        page = corpus.documents.page_of(citation.doc_id, citation.start)
        assert citation.page == (page.number if page else None), citation
        assert citation.label.startswith(document.source_file.rsplit("/", 1)[-1])
    for claim in answer.claims:
        stated = MARKER.sub(" ", answer.text[claim.start : claim.end])
        assert WORD.findall(stated) == WORD.findall(claim.text), claim
        assert all(0 <= number < len(answer.citations) for number in claim.citations), claim
        assert claim.verdict not in {"unsupported", "contradicted"}, claim


@pytest.mark.parametrize("question", LOOKUPS)
async def test_a_lookup_is_answered_with_a_verified_citation(
    question: str, session: Session, corpus: Corpus
) -> None:
    doc_id, value = LOOKUPS[question]
    answer = await session.ask(question)
    assert answer.status == "answered"
    assert value in answer.text.replace(",", "")
    assert answer.citations[0].doc_id == doc_id
    assert answer.claims[0].verdict in {"supported", "derived"}
    assert answer.claims[0].citations
    check_citations(answer, corpus)


async def test_a_page_of_a_pdf_is_named(session: Session) -> None:
    answer = await session.ask("What is the total of Halbrecht invoice RE-2024-0458?")
    assert [
        (citation.page, citation.label) for citation in answer.citations if "5.854,80" in citation.quote
    ] == [(2, "halbrecht-re-2024-0458.pdf (page 2)")]


async def test_no_document_outside_the_conditions_answers(session: Session, corpus: Corpus) -> None:
    """A second search, for the parties of the lease, finds a contract that states the field; it is no lease."""
    answer = await session.ask("What is the notice period of the lease agreement?")
    assert {citation.doc_id for citation in answer.citations} == {"bukit-seraya-lease"}
    assert "nine months" in answer.text
    check_citations(answer, corpus)


async def test_a_list_names_every_document(session: Session, corpus: Corpus) -> None:
    answer = await session.ask("List all invoices from Cobaltine Cloud dated 2024")
    wanted = ["cobaltine-cbc-10231", "cobaltine-cbc-10577", "cobaltine-cbc-10904", "cobaltine-cbc-11260"]
    assert (answer.status, answer.intent, sorted(answer.documents)) == ("answered", "list", wanted)
    assert answer.matched == 4
    assert answer.table
    assert sorted(answer.table.doc_ids) == wanted
    assert {item.field for item in answer.filters} == {"vendor_name", "invoice_date"}
    check_citations(answer, corpus)


async def test_a_sum_is_computed_by_the_database(session: Session, corpus: Corpus) -> None:
    answer = await session.ask("How much did Cobaltine Cloud invoice us in 2024 in total?")
    assert (answer.status, answer.intent) == ("answered", "compute")
    assert "8,010" in answer.text or "8010" in answer.text
    assert len(answer.documents) == 4
    check_citations(answer, corpus)


async def test_a_greeting_reads_no_document(session: Session) -> None:
    answer = await session.ask("hello there!")
    assert (answer.status, answer.retrieval, answer.citations) == ("answered", False, [])
    assert (answer.usage.tool_calls, answer.usage.llm_calls) == (0, 0)


@pytest.mark.parametrize(
    "row",
    [row for row in QUESTIONS if len(row["turns"]) == 1],
    ids=lambda row: row["id"].removeprefix("sample-"),
)
async def test_every_sample_question_ends_in_a_whole_answer(
    row: dict[str, Any], session: Session, corpus: Corpus
) -> None:
    answer = await session.ask(row["turns"][0])
    assert answer.status in {"answered", "partial", "needs_clarification", "unanswerable"}, answer.text
    assert answer.text
    assert answer.usage.llm_calls == answer.usage.fallbacks == 0
    assert answer.usage.tool_calls <= Context().max_tool_calls
    assert (answer.clarification is not None) == (answer.status == "needs_clarification")
    assert not [note for note in answer.notes if note.kind in {"failed", "fallback"}]
    check_citations(answer, corpus)


async def test_a_follow_up_starts_with_clean_evidence(session: Session, corpus: Corpus) -> None:
    first = await session.ask("What is the total of Halbrecht invoice RE-2024-0458?")
    assert first.thread_id
    second = await session.ask(
        "What is the maximum collector-emitter voltage VCEO of the NV2N517?", thread_id=first.thread_id
    )
    assert second.thread_id == first.thread_id
    assert {citation.doc_id for citation in second.citations} == {"nv2n517"}
    assert (second.usage.rounds, second.usage.tool_calls) == (1, 1)
    assert not set(second.notes) & set(first.notes)
    assert second.filters == [] or all(item.bucket == "datasheets" for item in second.filters)
    check_citations(second, corpus)


async def test_a_follow_up_infers_no_filter_that_nobody_wants(session: Session) -> None:
    first = await session.ask("List the invoices of Cobaltine in 2024", thread_id="without")
    assert [item.field for item in first.filters] == ["vendor_name", "invoice_date"]
    undated = Context(without=["invoice_date"])
    second = await session.ask("only 2025", thread_id="without", context=undated)
    assert [item.field for item in second.filters] == ["vendor_name"]
    third = await session.ask("only 2025", thread_id="without")
    assert [item.field for item in third.filters] == ["vendor_name", "invoice_date"]


async def test_a_follow_up_is_read_with_the_turn_before(session: Session) -> None:
    first = await session.ask("What is the total of Cobaltine invoice CBC-10904?")
    second = await session.ask("And when is it due?", thread_id=first.thread_id)
    assert second.documents == first.documents
    assert "2024-07-31" in second.text or "July 31, 2024" in second.text


async def test_chat_messages_ask_the_same_as_a_query(session: Session) -> None:
    config: Any = {"configurable": {"thread_id": "chat"}}
    question = "When is Cobaltine invoice CBC-10904 due?"
    asked = await session.ask(question)
    given = {"messages": [HumanMessage(question)]}
    result = await session.graph.ainvoke(given, config, context=Context())
    assert set(result) == {"answer", "messages"}
    assert result["answer"]["text"] == asked.text
    assert [type(message) for message in result["messages"]] == [HumanMessage, AIMessage]
    assert result["messages"][0].text == question
    written = asked.text.partition(" [")[0]
    assert result["messages"][1].text.startswith(f"{written} [[1]](/cited/")


async def test_a_question_without_context_runs_with_the_defaults(session: Session) -> None:
    """`runtime.context` is None unless the caller gives one."""
    config: Any = {"configurable": {"thread_id": "bare"}}
    result = await session.graph.ainvoke({"query": "When is Cobaltine invoice CBC-10904 due?"}, config)
    assert result["answer"]["status"] == "answered"


async def test_callers_buckets_and_filters_are_hard(session: Session) -> None:
    context = Context(buckets=["invoices"], filters=["total_amount>2000"])
    answer = await session.ask("List all invoices from Cobaltine Cloud dated 2024", context=context)
    assert answer.buckets == ["invoices"]
    assert sorted(answer.documents) == ["cobaltine-cbc-10904", "cobaltine-cbc-11260"]
    assert [item.field for item in answer.filters if item.origin == "user"] == ["total_amount"]


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (Context(buckets=["poems"]), "poems"),
        (Context(filters=["total_amount ~ 3"]), "total_amount ~ 3"),
        (Context(buckets=["invoices"], filters=["colour=red"]), "colour"),
    ],
    ids=["bucket", "operator", "field"],
)
async def test_a_callers_mistake_is_said_not_widened(context: Context, said: str, session: Session) -> None:
    answer = await session.ask("List all invoices from Cobaltine Cloud dated 2024", context=context)
    assert answer.status == "failed"
    assert said in answer.text
    assert (answer.documents, answer.citations) == ([], [])
    assert "Traceback" not in answer.model_dump_json()


@pytest.mark.parametrize("question", ["", "   ", "x" * 9000])
async def test_what_cannot_be_read_is_said(question: str, session: Session) -> None:
    answer = await session.ask(question)
    assert answer.status == "failed"
    assert answer.text


async def test_an_edit_goes_on_from_the_edit_before(session: Session) -> None:
    first = await session.ask("List the invoices from Oudenveld or Cobaltine")
    thread = first.thread_id
    without = await session.ask("without Cobaltine", thread_id=thread)
    large = await session.ask("only those over 1200 EUR", thread_id=thread)
    month = await session.ask("and for January 2024?", thread_id=thread)
    assert (len(first.documents), without.documents) == (7, ["oudenveld-of-24-01", "oudenveld-of-24-02"])
    assert large.documents == ["oudenveld-of-24-02"]
    assert month.clarification
    assert [tried.split()[:2] for tried in month.clarification.tried] == [
        ["vendor", "name"],
        ["total", "amount"],
        ["invoice", "date"],
    ]


async def test_an_edit_goes_on_from_the_reply_before(session: Session) -> None:
    asked = await session.ask("List the invoices from Cobaltine Cloud dated 2019")
    assert asked.clarification
    option = next(item for item in asked.clarification.options if item.count == 5)
    assert asked.thread_id
    await session.reply(asked.thread_id, option.id)
    edited = await session.ask("only those over 1 USD", thread_id=asked.thread_id)
    assert "invoice_date" not in {item.field for item in edited.filters}
    assert len(edited.documents) == 5


async def test_what_no_field_holds_cannot_be_left_out_and_is_not_looked_for(session: Session) -> None:
    first = await session.ask("List the invoices from Oudenveld")
    edited = await session.ask("without the Zebrano ones", thread_id=first.thread_id)
    assert edited.documents == first.documents
    assert "“without the Zebrano ones” changed no condition." in [item.message for item in edited.notes]


async def test_a_quantity_that_no_field_holds_is_looked_for_in_the_texts(session: Session) -> None:
    found = await session.ask("Which datasheets are specified for a load current of 500 mA?")
    assert set(found.documents) == {"nv2n517", "nv2n518", "nvr7850"}
    none = await session.ask("How many datasheets give a weight of 1.2 kg?")
    assert none.status == "needs_clarification"
    assert none.clarification is not None
    assert "1.2 kg" in none.clarification.question
