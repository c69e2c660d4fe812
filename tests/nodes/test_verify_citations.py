"""verify_citations: what is sent back, what is cut, and how a citation reads."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from citegraph.citations.report_types import Claim, Report
from citegraph.citations.verify_answer import verify
from citegraph.corpus.schema.document import Document
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.model_calls import Stopwatch
from citegraph.run.services import Corpus, Services
from nodes.verify_citations import (
    VerifyCitations,
    answer_claim,
    applied_filters,
    as_evidence,
    correction,
    finish,
    gather_evidence,
    may_correct,
    resolve,
    resolve_all,
    unique,
    with_reply,
    with_surroundings,
)
from tests.node_runtime import runtime

DOC = "oudenveld-of-24-02"


def span_of(corpus: Corpus, doc_id: str, words: str) -> dict[str, Any]:
    """Return the cited span of some words of a document."""
    document = corpus.documents.get(doc_id)
    assert document
    start = document.text.index(words)
    return {"doc": doc_id, "start": start, "end": start + len(words)}


def state_of(corpus: Corpus, text: str, **parts: Any) -> Any:
    """Return the state with a draft that cites the total of one invoice."""
    draft = {
        "text": text,
        "cited": [span_of(corpus, DOC, "1355.20" if "1355.20" in whole(corpus) else "1,355.20")],
    }
    vendor = {
        "field": "vendor_name",
        "operator": "=",
        "value": "Oudenveld Facility B.V.",
        "origin": "inferred",
    }
    plan = {
        "buckets": ["invoices"],
        "intent": "qa",
        "per_bucket": {"invoices": {"filters": [vendor], "mentions": []}},
    }
    return {"question": "What is the total?", "asked": "total?", "draft": draft | parts, "plan": plan}


def whole(corpus: Corpus) -> str:
    """Return the text of the invoice."""
    document = corpus.documents.get(DOC)
    assert document
    return document.text


async def verified(services: Services, state: Any, **settings: Any) -> dict[str, Any]:
    """Return the node's update."""
    return await VerifyCitations(services)(state, runtime(**settings))


async def test_a_true_statement_is_answered_with_its_citation(services: Services, corpus: Corpus) -> None:
    update = await verified(services, state_of(corpus, f"Total amount: 1,355.20 EUR [{DOC}]"))
    answer = update["answer"]
    assert (answer["status"], answer["text"]) == ("answered", f"Total amount: 1,355.20 EUR [{DOC}]")
    assert [claim["verdict"] for claim in answer["claims"]] == ["supported"]
    (citation,) = answer["citations"]
    assert (citation["doc_id"], citation["label"]) == (DOC, f"{DOC}.txt")
    assert citation["quote"] == whole(corpus)[citation["start"] : citation["end"]]
    assert answer["claims"][0]["citations"] == [0]
    assert (answer["citation_precision"], answer["citation_recall"]) == (1.0, 1.0)
    assert [(item["text"], item["matched"]) for item in answer["filters"]] == [
        ("vendor name = Oudenveld Facility B.V.", 2)
    ]
    assert (update["draft"], update["evidence"]) == ({}, [])
    assert update["turns"][-1]["question"] == "What is the total?"


async def test_a_false_statement_of_the_model_goes_back_once(services: Services, corpus: Corpus) -> None:
    state = state_of(corpus, f"The total is 9,999.99 EUR [{DOC}].", by="model")
    update = await verified(services, state)
    assert "answer" not in update
    assert "9,999.99" in update["draft"]["feedback"]
    assert [item["feedback"] for item in update["corrections"]] == [update["draft"]["feedback"]]
    assert [item["kind"] for item in update["notes"]] == ["correction"]
    last = await verified(services, state | {"corrections": update["corrections"]})
    assert (last["draft"]["unverifiable"], last["usage"]["fallbacks"]) == (True, 1)
    assert [(item["step"], item["kind"]) for item in last["notes"]] == [("compose", "fallback")]


async def test_what_was_lost_is_never_answered_in_strict_mode(services: Services, corpus: Corpus) -> None:
    lost = {"step": "search", "kind": "bucket failed", "message": "invoices: down"}
    state = state_of(corpus, f"Total amount: 1,355.20 EUR [{DOC}]") | {"notes": [lost]}
    strict = (await verified(services, state, strict_search=True))["answer"]
    assert (strict["status"], strict["text"]) == ("failed", "The search failed: invoices: down.")
    assert (await verified(services, state))["answer"]["status"] == "partial"


async def test_small_talk_needs_no_evidence(services: Services) -> None:
    state: Any = {"gate": {"retrieve": False}, "draft": {"text": "Hello!"}, "asked": "hi"}
    answer = (await verified(services, state))["answer"]
    assert (answer["status"], answer["text"], answer["retrieval"]) == ("answered", "Hello!", False)
    failed = state | {"draft": {"text": "No.", "failed": True}}
    assert (await verified(services, failed))["answer"]["status"] == "failed"


def claim(verdict: Any, **parts: Any) -> Claim:
    """Return a claim with a verdict."""
    return Claim(text="It is so.", start=0, end=9, markers=(), verdict=verdict, reason="why", **parts)


def test_only_bad_claims_go_back() -> None:
    claims = [claim("supported"), claim("derived"), claim("misattributed"), claim("unsupported")]
    assert correction(Report(claims=tuple(claims), precision=0.5, recall=0.5)) == "1. “It is so.”: why"
    assert correction(Report(claims=(claim("contradicted"),), precision=0, recall=0)).count("why") == 1


@pytest.mark.parametrize(
    ("state", "by", "expected"),
    [
        ({}, "model", True),
        ({}, "twin", False),
        ({"corrections": [{}]}, "model", False),
        ({"usage": {"llm_calls": 12}}, "model", False),
        ({"deadline": 1.0}, "model", False),
    ],
)
def test_may_correct(state: Any, by: str, expected: bool) -> None:
    assert may_correct(state, Context(), {"by": by}) is expected


def test_a_citation_reads_with_its_page(corpus: Corpus) -> None:
    document = corpus.documents.get("fl-200-user-manual")
    assert document
    page = document.pages[1]
    citation = resolve(document, page.start + 1, page.start + 20, "e")
    assert citation
    assert (citation.label, citation.page) == (f"fl-200-user-manual.pdf (page {page.label or 2})", 2)
    assert citation.quote == document.text[page.start + 1 : page.start + 20]
    assert resolve(None, 0, 5, "e") is None
    assert resolve(document, 5, 5, "e") is None
    assert resolve(document, 0, 10**9, "e") is None


def test_a_marker_without_a_verdict_resolves_to_the_cited_span(corpus: Corpus) -> None:
    state = state_of(corpus, f"x [{DOC}]")
    evidence, documents = gather_evidence(corpus, state, {})
    assert list(documents) == [DOC]
    assert [item.doc_id for item in evidence] == [DOC]
    assert evidence[0].text == whole(corpus)[evidence[0].start : evidence[0].start + len(evidence[0].text)]
    assert ("vendor_name", "Oudenveld Facility B.V.") in evidence[0].facts
    cited = state["draft"]["cited"]
    citations, places = resolve_all(documents, f"x [{DOC}]", [], evidence, cited)
    assert [(item.start, item.end) for item in citations] == [(cited[0]["start"], cited[0]["end"])]
    assert places == {(DOC, cited[0]["start"], cited[0]["end"]): (0,)}
    shown = answer_claim(claim("unsupported"), places, cited)
    assert (shown.citations, shown.verdict, shown.reason) == ([], "unsupported", "why")


def test_the_number_in_a_files_name_is_known_of_its_document() -> None:
    text = "The parser reads past its buffer. Fixed in 3.4.1."
    document = Document("adv", "generic", text, "QSEC-2031-0417.md", "")
    evidence = as_evidence(document, 0, len(text), {})
    said = "QSEC-2031-0417 says that the parser reads past its buffer [adv]."
    assert [claim.verdict for claim in verify(said, [evidence]).claims] == ["supported"]
    other = said.replace("0417", "0418")
    assert [claim.verdict for claim in verify(other, [evidence]).claims] != ["supported"]


@pytest.mark.parametrize("said", ["The offer is 900 EUR [o].", "The offer is of 1 March 2024 [o]."])
def test_no_amount_or_day_of_a_files_name_backs_a_claim(said: str) -> None:
    text = "The amount of this offer is due within two weeks."
    document = Document("o", "generic", text, "2024-03-01 offer 900 EUR.pdf", "")
    evidence = as_evidence(document, 0, len(text), {})
    assert [claim.verdict for claim in verify(said, [evidence]).claims] != ["supported"]


def test_filters_are_shown_with_their_own_counts(corpus: Corpus) -> None:
    year = {
        "field": "invoice_date",
        "operator": "between",
        "value": ["2024-02-01", "2024-02-29"],
        "origin": "user",
    }
    state = state_of(corpus, "x")
    state["plan"]["per_bucket"]["invoices"]["filters"].append(year)
    shown = applied_filters(corpus, state)
    assert [(item.field, item.origin, item.matched) for item in shown] == [
        ("vendor_name", "inferred", 2),
        ("invoice_date", "user", 1),
    ]


def test_the_chat_reads_whole() -> None:
    answer: Any = {"answer": Answer(question="total?", text="5", status="answered").model_dump(mode="json")}
    state: Any = {"messages": [HumanMessage("total?", id="1"), AIMessage("Which?")], "asked": "total?"}
    held = with_reply(answer, state | {"asked_id": "1", "draft": {"text": "5", "message_id": "told"}})
    assert [(message.text, message.id) for message in held["messages"]] == [("5", "told")]
    lacking = with_reply(answer, state | {"asked_id": "2", "draft": {"text": "6", "message_id": "told"}})
    assert [(message.type, message.text, message.id) for message in lacking["messages"]] == [
        ("human", "total?", None),
        ("ai", "5", None),
    ]
    assert "messages" not in with_reply({"draft": {}}, state)


def test_turns_are_kept_and_notes_said_once() -> None:
    turns = [{"question": str(number)} for number in range(6)]
    update = finish({"asked": "q", "turns": turns}, "text", status="answered", watch=Stopwatch("x"))
    assert [turn["question"] for turn in update["turns"]] == ["1", "2", "3", "4", "5", "q"]
    line = {"step": "a", "kind": "b", "message": "c"}
    assert unique([line, line | {"kind": "d"}, dict(line)]) == [line, line | {"kind": "d"}]


def test_what_is_looked_at_beside_a_span_ends_with_a_line_or_a_word() -> None:
    line = (
        "Net 11,000.00 EUR\n"
        + "x" * 110
        + "\nTotal 12,000.00 EUR\n"
        + "y" * 100
        + "\nPaid 13,000.00 EUR\nEnd"
    )
    start = line.index("Total")
    begin, stop = with_surroundings(line, start, start + 5)
    assert (line[:begin], line[stop:]) == ("", "\nEnd")
    words = "word " * 200
    begin, stop = with_surroundings(words, 503, 507)
    assert (words[begin - 1], words[stop]) == (" ", " ")
    assert with_surroundings("x" * 1000, 500, 510) == (500, 510)
    assert with_surroundings("short", 1, 3) == (0, 5)


def test_evidence_knows_what_its_document_is_called_and_where_it_is_cut() -> None:
    text = "The parser reads past its buffer. Fixed in 3.4.1."
    document = Document("adv", "generic", text, "notes/QSEC-2031.md", "", title="Buffer notice")
    part = as_evidence(document, 0, 33, {})
    assert part.called == ("notes/QSEC-2031.md", "QSEC-2031.md", "QSEC-2031", "Buffer notice")
    assert (part.cut, as_evidence(document, 34, len(text), {}).cut) == ((False, True), (True, False))
    assert as_evidence(document, 0, len(text), {}).cut == (False, False)


def test_what_a_writer_is_told_says_where_it_was_cut() -> None:
    long = claim("unsupported", quote="so it is " * 60, doc_id="d")
    said = correction(Report(claims=(long,), precision=0, recall=0))
    assert said.endswith("so it is so …”")
    assert correction(
        Report(claims=(claim("unsupported", quote="so\nit is", doc_id="d"),), precision=0, recall=0)
    ).endswith("“so it is”")


def test_a_bare_number_of_a_field_is_held_in_the_unit_of_its_field(corpus: Corpus) -> None:
    document = Document("lac", "datasheets", "Handle with care.", "lac.txt", "", title="Lacquer")
    evidence = as_evidence(document, 0, 17, {"flash_point": 25}, corpus.buckets["datasheets"])
    assert dict(evidence.facts)["flash_point"] == "25 degC"
    (claim,) = verify("The flash point is 25 °C [lac].", [evidence]).claims
    assert claim.verdict == "supported", claim.reason
