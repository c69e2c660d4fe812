"""Whole runs whose replies a reader of these very prompts wrote: a calculation by code, and what nothing states."""

import re

import pytest

from citegraph.run.services import Corpus
from tests.graph.conftest import OpenSession
from tests.graph.test_answers import check_citations
from tests.graph.test_chains import cited, reviewing, shown
from tests.nodes.test_schema_plan import planned, reply

LIMITS = "By how many volts does the collector-emitter voltage limit of the NV2N518 differ from that of the NV2N517?"
PENALTY = "Welche Vertragsstrafe nennt die Rechnung KW-240117, und auf welchen Betrag lautet sie?"


async def test_a_difference_is_calculated_by_code_and_checked(
    open_session: OpenSession, corpus: Corpus
) -> None:
    models, script = reviewing(
        compose="The limits are {difference: 65 V [2]; 45 V [5]} apart [2] [5].",
        intent="compare",
        primary_buckets=["datasheets"],
        entities=[{"name": "NV2N518", "role": "product"}, {"name": "NV2N517", "role": "product"}],
        subqueries=[
            {"purpose": "compare_side", "query": "NV2N518 collector-emitter voltage VCEO"},
            {"purpose": "compare_side", "query": "NV2N517 collector-emitter voltage VCEO"},
        ],
    )
    async with open_session(models) as session:
        answer = await session.ask(LIMITS)
    (prompt,) = shown(script, "compose")
    assert '<passage marker="[2]" from="nv2n518.pdf, page 2' in prompt
    assert '<passage marker="[5]" from="nv2n517.pdf, page 2' in prompt
    assert (answer.text, answer.status) == (
        "The limits are 20 V (65 V - 45 V) apart [nv2n518] [nv2n517].",
        "answered",
    )
    assert [(claim.verdict, claim.formula) for claim in answer.claims] == [
        ("derived", "difference of 65 V; 45 V")
    ]
    assert cited(answer) == {"nv2n517", "nv2n518"}
    lines = {(item.doc_id, item.page, item.quote.split()[0]) for item in answer.citations}
    assert lines == {("nv2n518", 2, "VCEO"), ("nv2n517", 2, "VCEO")}, "the operands' lines"
    check_citations(answer, corpus)


async def test_what_no_passage_states_is_said_beside_what_one_does(
    open_session: OpenSession, corpus: Corpus
) -> None:
    models, script = reviewing(
        {"status": "enough", "keep": [1], "missing": ["eine Vertragsstrafe"]},
        compose="Eine Vertragsstrafe nennt die Rechnung nicht [none]. Sie lautet auf 5,214.00 EUR [1].",
        primary_buckets=["invoices"],
        topic_terms=["Vertragsstrafe"],
        subqueries=[{"purpose": "find_passage", "query": "KW-240117 Vertragsstrafe"}],
    )
    async with open_session(models) as session:
        answer = await session.ask(PENALTY)
    assert script.steps().count("compose") == 1, "nothing is sent back"
    assert not any("nennt die Rechnung nicht" in prompt for prompt in shown(script, "verify"))
    assert "<searched_in_vain>\neine Vertragsstrafe" in shown(script, "compose")[0]
    assert answer.text == (
        "Eine Vertragsstrafe nennt die Rechnung nicht. Sie lautet auf 5,214.00 EUR [kestrelwick-kw-240117]."
    )
    assert answer.status == "unanswerable", "what is said beside it was not asked"
    assert [claim.verdict for claim in answer.claims] == ["supported"]
    check_citations(answer, corpus)


async def test_that_nothing_states_it_is_a_whole_answer(open_session: OpenSession) -> None:
    said = "Welche Vertragsstrafe vereinbart war, geben die Unterlagen an keiner Stelle preis"
    models, script = reviewing(
        {"status": "enough", "keep": [1], "missing": ["eine Vertragsstrafe"]},
        compose=f"{said} [none].",
        primary_buckets=["invoices"],
        entities=[{"name": "KW-240117", "role": "identifier"}],
        topic_terms=["Vertragsstrafe"],
        subqueries=[{"purpose": "find_passage", "query": "KW-240117 Vertragsstrafe"}],
    )
    async with open_session(models) as session:
        answer = await session.ask(PENALTY)
    assert (answer.text, answer.status) == (f"{said}.", "unanswerable"), "no passages are shown in its place"
    assert script.steps().count("compose") == 1


async def test_compose_gets_the_passages_that_review_keeps(open_session: OpenSession) -> None:
    models, script = reviewing(
        {"status": "enough", "keep": [1]},
        compose="The NV2N517 bears 45 V [1].",
        primary_buckets=["datasheets"],
        topic_terms=["collector-emitter voltage"],
        subqueries=[{"purpose": "find_passage", "query": "Norrvolt collector-emitter voltage"}],
    )
    async with open_session(models) as session:
        await session.ask("Which collector-emitter voltage do parts of Norrvolt Semiconductors AB bear?")
    (review,), (compose,) = shown(script, "review"), shown(script, "compose")
    assert '<passage marker="[2]"' in review
    kept = review.partition('<passage marker="[1]"')[2].partition("</passage>")[0]
    assert compose.count("<passage ") == 1
    assert kept in compose


async def test_documents_that_the_filters_match_and_that_are_read_whole_need_no_review(
    open_session: OpenSession,
) -> None:
    models, script = reviewing(
        compose="The NV2N517 bears 45 V [1].",
        primary_buckets=["datasheets"],
        entities=[{"name": "NV2N517", "role": "product"}],
        topic_terms=["collector-emitter voltage"],
    )
    async with open_session(models) as session:
        await session.ask("Which collector-emitter voltage does the NV2N517 bear?")
    (compose,) = shown(script, "compose")
    assert not shown(script, "review")
    assert set(re.findall('from="([^",;]+)', compose)) == {"nv2n517.pdf"}, "no passage of another document"


@pytest.mark.parametrize(
    ("compose", "steps"),
    [
        ("The NV2N517 bears 45 V [1].", ["decompose", "compose"]),
        ("No voltage of a NV2N517 is stated [none].", ["decompose", "compose", "review", "compose"]),
    ],
)
async def test_a_review_reads_what_the_finder_chose_only_where_the_answer_misses_something_in_it(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch, compose: str, steps: list[str]
) -> None:
    monkeypatch.setattr("citegraph.evidence.review_by_model._whole", lambda *_: False)
    models, script = reviewing(
        {"status": "enough", "keep": [1, 2]},
        compose=compose,
        primary_buckets=["datasheets"],
        entities=[{"name": "NV2N517", "role": "product"}],
        topic_terms=["collector-emitter voltage"],
    )
    async with open_session(models) as session:
        answer = await session.ask("Which collector-emitter voltage does the NV2N517 bear?")
    assert [step for step in script.steps() if step != "verify"] == steps
    assert all(
        set(re.findall('from="([^",;]+)', prompt)) == {"nv2n517.pdf"} for prompt in shown(script, "compose")
    )
    assert answer.status == ("answered" if len(steps) == 2 else "unanswerable")
    assert answer.text.startswith(compose.partition(" [")[0])


async def test_a_review_counts_the_names_that_only_texts_hold(open_session: OpenSession) -> None:
    asked = "Good morning, the laws of which places govern agreements, and how many has each, please ?"
    call = {
        "tool": "count_names",
        "bucket": "contracts",
        "query": "governed by the laws of ___.",
        "doc_id": "",
    }
    models, script = reviewing(
        {"status": "more", "next_calls": [call | {"filters": [], "keep_filters": True}]},
        plan=reply(planned("contracts"), whole_set=False),
        intent="compute",
        aggregate="count",
        primary_buckets=["contracts"],
        topic_terms=["laws"],
    )
    async with open_session(models) as session:
        answer = await session.ask(asked)
    (prompt,) = shown(script, "review")
    assert all(asked in shown(script, step)[0] for step in ("decompose", "schema_plan", "review")), "as typed"
    assert "<names>" in prompt
    assert script.steps().count("review") == 1, "the database answers"
    assert "- England and Wales: count 4 [" in answer.text
    assert answer.status == "answered"
    assert {claim.verdict for claim in answer.claims} <= {"derived", "supported"}
    assert answer.table is not None
    assert ["England and Wales", 4] in answer.table.rows
