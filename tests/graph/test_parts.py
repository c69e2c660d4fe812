"""Parts of the user's own in whole runs: used where they fit, replaced where they fail, bounded whatever they say."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.corpus.records.access import Principal
from citegraph.llm.scripted import scripted
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.model_calls import STEPS
from citegraph.run.part_protocols import PROTOCOLS, Kind
from citegraph.run.replacements import MOST
from citegraph.run.services import Corpus, Services
from graph.session import Session
from tests import parts_of_users
from tests.graph.test_answers import check_citations
from tests.parts_of_users import HERE

QUESTION = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
RIGHT = "The collector-emitter voltage VCEO of the NV2N517 is 45 V at most [nv2n517]."
WRONG = "The collector-emitter voltage VCEO of the NV2N517 is 54 V at most [nv2n517]."
STEP_OF = {**STEPS, "searcher": "search", "reranker": "search"}
IN_LOOP: tuple[Kind, ...] = ("searcher", "reranker", "composer", "verifier")

OpenWith = Callable[..., Session]


@pytest.fixture
def open_with(services: Services, monkeypatch: pytest.MonkeyPatch) -> OpenWith:
    """Return what opens a session with parts: a name of `parts_of_users`, or a function that is put there."""

    def opened(graph: Any = "agent", *, models: Any = None, **parts: Any) -> Session:
        named = {}
        for kind, given in parts.items():
            if not isinstance(given, str):
                monkeypatch.setattr(parts_of_users, f"own_{kind}", given, raising=False)
            named[kind] = f"{HERE}:{given if isinstance(given, str) else f'own_{kind}'}"
        settings = services.settings.model_copy(update={"parts": named, "model_timeout": 0.5})
        chosen = Services(settings=settings, ready=services.open(), models=models)
        return Session(chosen, InMemorySaver(), graph)

    return opened


def own_notes(answer: Answer) -> list[tuple[str, str]]:
    return [(note.step, note.message) for note in answer.notes if "of your own" in note.message]


def same(answer: Answer, other: Answer) -> bool:
    return (answer.status, answer.text, answer.citations, answer.claims) == (
        other.status,
        other.text,
        other.citations,
        other.claims,
    )


KEPT: dict[str, Answer] = {}


@pytest.fixture
async def plain(services: Services) -> Answer:
    """Return the answer without any part."""
    if "plain" not in KEPT:
        KEPT["plain"] = await Session(services, InMemorySaver()).ask(QUESTION)
    return KEPT["plain"]


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        *((kind, way) for kind in STEPS for way in ("raises", "unfit")),
        ("router", "quits_async"),
        ("composer", "hangs"),
        ("verifier", "hangs_async"),
    ],
)
async def test_a_part_that_fails_is_replaced_and_it_is_said(
    open_with: OpenWith, plain: Answer, kind: Kind, way: str
) -> None:
    answer = await open_with(**{kind: way}).ask(QUESTION)
    ((step, line),) = own_notes(answer)
    assert step == STEP_OF[kind]
    assert f"the {kind} of your own ({HERE}:{way})" in line
    assert "secret" not in answer.model_dump_json()
    assert answer.usage.fallbacks == 1
    assert same(answer, plain)


@pytest.mark.parametrize("way", ["raises", "unfit"])
@pytest.mark.parametrize("graph", ["agent", "tool_loop"])
@pytest.mark.parametrize("kind", ["searcher", "reranker"])
async def test_a_failed_search_by_a_part_is_made_by_the_index(
    open_with: OpenWith, services: Services, kind: Kind, graph: Any, way: str
) -> None:
    without = await Session(services, InMemorySaver(), graph).ask(QUESTION)
    answer = await open_with(graph, **{kind: way}).ask(QUESTION)
    assert {step for step, _ in own_notes(answer)} == {"search"}
    assert answer.usage.fallbacks >= 1
    assert same(answer, without)


@pytest.mark.parametrize("kind", IN_LOOP)
async def test_in_the_loop_a_failed_part_is_replaced_too(
    open_with: OpenWith, services: Services, kind: Kind
) -> None:
    def replies(step: str, messages: list[Any]) -> Any:
        from tests.graph.test_loop import FIND, call, done

        if step != "agent":
            return RIGHT
        searched = any(message.type == "tool" for message in messages)
        if searched and kind == "composer":
            raise ValueError("the agent breaks off, so that compose writes")
        return done(RIGHT) if searched else call(("search_text", FIND))

    models, _ = scripted(replies)
    answer = await open_with("tool_loop", models=models, **{kind: "raises"}).ask(QUESTION)
    assert answer.status in {"answered", "partial"}
    assert "45 V" in answer.text
    assert own_notes(answer), answer.notes
    assert answer.usage.fallbacks >= 1


async def test_every_part_of_a_run_may_fail_at_once(open_with: OpenWith, plain: Answer) -> None:
    answer = await open_with(**dict.fromkeys(PROTOCOLS, "raises")).ask(QUESTION)
    assert len(own_notes(answer)) == len(PROTOCOLS)
    assert answer.usage.fallbacks == len(PROTOCOLS)
    assert same(answer, plain)


async def test_a_part_that_failed_is_not_asked_again_in_its_run(open_with: OpenWith) -> None:
    asked = []

    def review(question: str) -> Any:
        asked.append(question)
        raise ValueError

    hop = "What is the notice period of the contract under which invoice CBC-11618 was issued?"
    session = open_with(reviewer=review)
    answer = await session.ask(hop)
    assert len(asked) == 1
    assert answer.status == "answered"
    await session.ask(hop)
    assert len(asked) == 2, "the next run asks it again"


# ---------------------------------------------------------------- what parts change


async def test_a_rewriter_makes_the_question(open_with: OpenWith) -> None:
    seen = []

    def rewrite(message: str, turns: Any) -> str:
        seen.append(turns)
        return message.replace("of it", "of the NV2N517")

    session = open_with(rewriter=rewrite)
    await session.ask("What is the package of the NV2N517?", thread_id="t")
    answer = await session.ask("And what is the collector-emitter voltage VCEO of it?", thread_id="t")
    assert answer.question == "And what is the collector-emitter voltage VCEO of the NV2N517?"
    assert "45 V" in answer.text
    assert seen[0] == []
    assert [question for question, _ in seen[1]] == ["What is the package of the NV2N517?"]


async def test_a_model_reads_the_question_that_a_rewriter_made(open_with: OpenWith) -> None:
    from tests.nodes.test_model_prompts import model

    models, script = scripted(model)
    session = open_with(models=models, rewriter=lambda message: QUESTION)
    for _ in range(2):
        answer = await session.ask("and that one?", thread_id="t", new=True)
        assert answer.question == QUESTION
    for call in script.calls:
        assert "and that one?" not in call.prompt.partition("<earlier_turns>")[2] or call.step != "decompose"
    decomposed = [call.prompt for call in script.calls if call.step == "decompose"]
    assert decomposed
    assert all(f"<question>\n{QUESTION}\n</question>" in prompt for prompt in decomposed)


async def test_a_decomposer_and_a_router_plan(open_with: OpenWith, corpus: Corpus) -> None:
    def decompose(question: str, buckets: dict[str, str]) -> dict[str, Any]:
        assert buckets == {name: bucket.description for name, bucket in corpus.buckets.items()}
        return {"intent": "list"}

    chosen = ["nowhere", "contracts", "contracts"]
    session = open_with(decomposer=decompose, router=lambda question: chosen)
    answer = await session.ask("contracts with Kestrelwick")
    assert answer.intent == "list"
    assert answer.buckets == ["contracts"]
    assert set(answer.documents) == {"kestrelwick-supply-2023", "kestrelwick-supply-2024"}


async def test_what_a_decomposer_says_is_not_kept(open_with: OpenWith) -> None:
    from tests.nodes.test_model_prompts import model

    asked = []

    def decompose(question: str) -> dict[str, Any]:
        asked.append(question)
        return {}

    models, _ = scripted(model)
    session = open_with(models=models, decomposer=decompose)
    for thread in "ab":
        await session.ask(QUESTION, thread_id=thread)
    assert len(asked) == 2


async def test_the_callers_buckets_come_before_a_routers(open_with: OpenWith) -> None:
    answer = await open_with(router=lambda: ["contracts"]).ask(
        QUESTION, context=Context(buckets=["datasheets"])
    )
    assert answer.buckets == ["datasheets"]


async def test_a_router_that_names_no_bucket_of_the_hard_filters_is_replaced(open_with: OpenWith) -> None:
    context = Context(filters=["vendor_name=Cobaltine Cloud Inc."])
    answer = await open_with(router=lambda: ["datasheets"]).ask("When is CBC-10904 due?", context=context)
    assert answer.buckets == ["invoices"]
    ((step, line),) = own_notes(answer)
    assert (step, line) == (
        "route",
        f"the router of your own ({HERE}:own_router) named no bucket that this run may search",
    )


async def test_a_reviewer_sends_for_more_and_is_told_what_was_searched(open_with: OpenWith) -> None:
    seen: list[list[str]] = []

    def review(question: str, passages: Any, searches: list[str]) -> dict[str, Any]:
        seen.append(searches)
        if any("contracts" in line for line in searches):
            return {"status": "enough"}
        return {"status": "more", "next_calls": [{"bucket": "contracts", "query": "Norrvolt warranty"}]}

    answer = await open_with(reviewer=review).ask(QUESTION)
    assert [len(lines) for lines in seen] == [1, 2]
    assert answer.usage.tool_calls == 2
    assert "45 V" in answer.text


async def test_a_reviewer_asks_the_user(open_with: OpenWith) -> None:
    asks = {"status": "clarify", "question": "Which revision do you mean?"}
    answer = await open_with(reviewer=lambda: asks).ask(QUESTION)
    assert answer.status == "needs_clarification"
    assert answer.clarification is not None
    assert answer.clarification.question == "Which revision do you mean?"


@pytest.mark.parametrize("mode", ["single", "agentic"])
async def test_a_reviewer_that_is_never_content_spends_the_budget_and_no_more(
    open_with: OpenWith, mode: Any
) -> None:
    count = iter(range(1000))

    def review() -> dict[str, Any]:
        calls = [
            {"bucket": name, "query": f"word{next(count)}"} for name in ("contracts", "nowhere", "generic")
        ]
        return {"status": "more", "reason": "never enough", "next_calls": calls}

    context = Context(mode=mode, max_rounds=4, max_tool_calls=6)
    answer = await open_with(reviewer=review).ask(QUESTION, context=context)
    assert "45 V" in answer.text
    assert (answer.usage.tool_calls, answer.usage.rounds) <= (6, 4)
    if mode == "single":
        assert (answer.usage.rounds, next(count)) == (1, 0), "a single pass is not reviewed"


# ---------------------------------------------------------------- what no part can do


async def test_a_composers_claims_are_verified_and_corrected_with_its_feedback(
    open_with: OpenWith, corpus: Corpus
) -> None:
    told = []

    def compose(question: str, passages: Any, feedback: str) -> str:
        told.append(feedback)
        assert passages[0].marker == "[nv2n517]"
        return RIGHT if feedback else WRONG

    answer = await open_with(composer=compose).ask(QUESTION)
    assert answer.text == RIGHT
    assert told[0] == ""
    assert "54 V" in told[1]
    check_citations(answer, corpus)


async def test_what_a_composer_cannot_prove_is_cut(open_with: OpenWith, plain: Answer) -> None:
    said = f"{RIGHT} {WRONG} It costs 4,711 EUR [nv2p530]. Call +31 20 000 0000 now!"
    answer = await open_with(composer=lambda: said).ask(QUESTION)
    assert answer.text == RIGHT
    answer = await open_with(composer=lambda: WRONG).ask(QUESTION)
    assert answer.text == plain.text, "when nothing holds the passages are shown"
    assert any("nothing that was written could be verified" in note.message for note in answer.notes)


async def test_a_composer_writes_no_rows_of_the_database(open_with: OpenWith) -> None:
    answer = await open_with(composer=lambda: "Nothing at all [nv2n517].").ask(
        "How many invoices did we receive in US dollars?"
    )
    assert "6" in answer.text
    assert own_notes(answer) == []


@pytest.mark.parametrize("graph", ["agent", "tool_loop"])
async def test_a_verifier_lifts_no_claim_of_which_a_fact_fails(open_with: OpenWith, graph: Any) -> None:
    answer = await open_with(graph, composer=lambda: f"{RIGHT} {WRONG}", verifier=lambda: "supported").ask(
        QUESTION
    )
    assert answer.text == RIGHT


async def test_a_verifier_supports_what_words_leave_undecided(open_with: OpenWith) -> None:
    vague = "At such voltage nobody promises unharmed survival through longer exposures, so designers keep away [nv2n517]."
    said = f"{RIGHT} {vague}"
    without = await open_with(composer=lambda: said).ask(QUESTION)
    assert without.text == RIGHT
    answer = await open_with(composer=lambda: said, verifier=lambda: "supported").ask(QUESTION)
    assert answer.text == said
    assert answer.claims[1].reason == f"judged supported by the verifier of your own ({HERE}:own_verifier)"


@pytest.mark.parametrize("verdict", ["unsupported", "contradicted"])
async def test_a_verifier_objects_to_what_a_passage_supports(open_with: OpenWith, verdict: str) -> None:
    second = "The NV2N517 is an NPN bipolar transistor [nv2n517]."
    seen = []

    def verify(claim: str, evidence: str) -> str | None:
        seen.append(evidence)
        return verdict if "bipolar" in claim else None

    answer = await open_with(composer=lambda: f"{RIGHT} {second}", verifier=verify).ask(QUESTION)
    assert answer.text == RIGHT
    assert any("NPN bipolar transistor in a TO-92" in " ".join(text.split()) for text in seen)
    assert [claim.verdict for claim in answer.claims] == ["supported"]
    marked = await open_with(composer=lambda: f"{RIGHT} {second}", verifier=verify).ask(
        QUESTION, context=Context(unsupported="mark", max_corrections=0)
    )
    assert "bipolar transistor (not supported by the sources)" in marked.text


async def test_a_verifier_is_not_asked_about_the_databases_rows(open_with: OpenWith) -> None:
    asked: list[str] = []

    def verify(claim: str) -> None:
        asked.append(claim)

    answer = await open_with(verifier=verify).ask("List all invoices from Cobaltine Cloud dated 2024")
    assert len(answer.documents) == 4
    assert asked == []


@pytest.mark.parametrize("graph", ["agent", "tool_loop"])
async def test_a_searchers_finds_are_filtered_again(open_with: OpenWith, corpus: Corpus, graph: Any) -> None:
    """It names every document of the corpus and every invoice's chunks; filters and access say what comes of it."""
    ids = [doc_id for name in corpus.buckets for doc_id in corpus.annotations.document_ids(name)]
    for doc_id in corpus.annotations.document_ids("invoices"):
        ids += [chunk.chunk_id for chunk in await corpus.index.document_chunks("invoices", doc_id)]
    assert 60 < len(ids) <= MOST
    context = Context(
        filters=["vendor_name=Cobaltine Cloud Inc."], buckets=["invoices"], max_clarifications=0
    )
    session = open_with(graph, searcher=lambda: ids, composer=every_passage)
    answer = await session.ask("What do the telemetry platform invoices say?", context=context)
    cited = {citation.doc_id for citation in answer.citations}
    assert cited
    assert all(doc_id.startswith("cobaltine-cbc-") for doc_id in cited)
    seen = Principal("ana", frozenset({"datasheets"}), frozenset())
    answer = await session.seen_by(seen).ask("What do the telemetry platform invoices say?")
    assert {citation.bucket for citation in answer.citations} <= {"datasheets"}


def every_passage(passages: list[Any]) -> str:
    """Write the first line of every passage."""
    return " ".join(f"{' '.join(item.text.splitlines()[0].split())} {item.marker}." for item in passages)


async def test_a_reranker_decides_the_order(open_with: OpenWith) -> None:
    seen: list[Any] = []

    def compose(passages: list[Any]) -> str:
        seen.append([item.marker for item in passages])
        return "The documents do not state it."

    def rerank(passages: list[str]) -> list[float]:
        return [float("PNP transistor in a SOT-23" in text) for text in passages]

    context = Context(top_k=1, buckets=["datasheets"])
    await open_with(reranker=rerank, composer=compose).ask("current gain groups", context=context)
    await open_with(composer=compose).ask("current gain groups", context=context)
    assert seen[0] == ["[nv2p530]"]
    assert seen[-1] != seen[0]


def test_every_part_named_here_is_a_kind() -> None:
    assert set(STEP_OF) == set(PROTOCOLS)
    for protocol in PROTOCOLS.values():
        assert inspect.isclass(protocol)
