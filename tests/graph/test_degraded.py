"""Each part may be down: what is left answers and says so, and what cannot be answered is refused (L5)."""

import copy
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import pytest

from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.schema.document import Hit
from citegraph.errors import Rejected, Unavailable
from citegraph.llm.scripted import scripted
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from tests.graph.conftest import OpenSession
from tests.graph.test_answers import check_citations

QUESTION = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
REASON = "the endpoint answered 503"


def kinds(answer: Answer) -> list[tuple[str, str]]:
    return [(note.step, note.kind) for note in answer.notes]


# ---------------------------------------------------------------- search


@dataclass
class NoEmbedder:
    """The embedder that the index was built with, while its endpoint is down."""

    name: str
    dimensions: int

    def embed_query(self, text: str) -> NoReturn:
        raise Unavailable(REASON)

    embed_documents = embed_query


@dataclass
class NoKeywords:
    """The real index without its keyword half."""

    index: Any

    async def search(self, request: SearchRequest) -> list[Hit]:
        if request.mode != "semantic":
            raise Unavailable("the keyword index is gone")
        found: list[Hit] = await self.index.search(request)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)


def without_vectors(corpus: Corpus) -> Corpus:
    """Return the corpus with the real index over an embedder that does not answer."""
    index: Any = copy.copy(corpus.index.inner)  # type: ignore[attr-defined]
    index._embedder = NoEmbedder(index._embedder.name, index._embedder.dimensions)
    return replace(corpus, index=index)


async def test_without_vectors_keyword_search_answers_and_it_is_said(
    open_session: OpenSession, corpus: Corpus
) -> None:
    async with open_session(corpus=without_vectors(corpus)) as session:
        answer = await session.ask("What hotel cap per night applies in Penang?", context=HYBRID)
    assert answer.status == "answered"
    assert answer.search_quality == "keyword"
    (line,) = {note.message for note in answer.notes if note.kind == "keyword only"}
    assert line == f"generic was searched by keyword only, not by meaning: {REASON}"
    assert answer.citations
    check_citations(answer, corpus)


async def test_without_keywords_search_by_meaning_answers_and_it_is_said(
    open_session: OpenSession, corpus: Corpus
) -> None:
    blind = replace(corpus, index=NoKeywords(corpus.index))  # type: ignore[arg-type]
    async with open_session(corpus=blind) as session:
        answer = await session.ask("What hotel cap per night applies in Penang?", context=HYBRID)
    assert answer.status == "answered"
    (line,) = {note.message for note in answer.notes if note.kind == "semantic only"}
    assert line == "generic was searched by meaning only, not by keyword: the keyword index is gone"
    assert answer.citations
    check_citations(answer, corpus)


HYBRID = Context(buckets=["generic"], max_clarifications=0)


async def test_in_strict_mode_half_a_search_is_a_failed_search(
    open_session: OpenSession, corpus: Corpus
) -> None:
    strict = HYBRID.model_copy(update={"strict_search": True})
    async with open_session(corpus=without_vectors(corpus)) as session:
        answer = await session.ask("What hotel cap per night applies in Penang?", context=strict)
    assert (answer.status, answer.citations) == ("failed", [])
    assert REASON in answer.text


# ---------------------------------------------------------------- metadata


class NoStore:
    """A metadata store, and a linker over it, that do not answer."""

    def __getattr__(self, name: str) -> Any:
        def down(*arguments: Any, **named: Any) -> NoReturn:
            raise Unavailable("the database does not answer")

        return down


def without_store(corpus: Corpus) -> Corpus:
    return replace(corpus, annotations=NoStore(), linker=NoStore())  # type: ignore[arg-type]


async def test_without_the_store_a_model_still_takes_the_question(
    open_session: OpenSession, corpus: Corpus
) -> None:
    """What is kept between runs has a key made of the store's versions; a question is asked without it."""
    models, script = scripted(lambda step, messages: Rejected("the endpoint answered 401"))
    async with open_session(models, corpus=without_store(corpus)) as session:
        answer = await session.ask(QUESTION)
    assert answer.question == QUESTION
    assert "45 V" in answer.text
    assert "decompose" in script.steps()


async def test_without_metadata_passages_still_answer_and_it_is_said(
    open_session: OpenSession, corpus: Corpus
) -> None:
    async with open_session(corpus=without_store(corpus)) as session:
        answer = await session.ask(QUESTION)
    assert answer.status == "answered"
    assert "45 V" in answer.text
    assert ("schema_plan", "degraded") in kinds(answer)
    assert [
        note.message for note in answer.notes if note.step == "schema_plan" and note.kind == "fallback"
    ] == ["the database does not answer"]
    assert answer.filters == []
    check_citations(answer, corpus)


@pytest.mark.parametrize(
    "question",
    [
        "How much did Cobaltine Cloud invoice us in 2024 in total?",
        "How many invoices did we receive in US dollars?",
        "List all invoices from Cobaltine Cloud dated 2024",
    ],
)
async def test_without_metadata_sets_and_sums_are_refused(
    question: str, open_session: OpenSession, corpus: Corpus
) -> None:
    async with open_session(corpus=without_store(corpus)) as session:
        answer = await session.ask(question)
    assert answer.status == "failed"
    assert "needs the metadata store: the database does not answer" in answer.text
    assert (answer.citations, answer.table, answer.matched) == ([], None, None)


async def test_without_metadata_the_callers_filters_are_not_dropped_silently(
    open_session: OpenSession, corpus: Corpus
) -> None:
    context = Context(buckets=["datasheets"], filters=["product=NV2N517"])
    async with open_session(corpus=without_store(corpus)) as session:
        answer = await session.ask(QUESTION, context=context)
    assert answer.status == "failed"
    assert "the filters product=NV2N517 cannot be applied" in answer.text


async def test_a_store_that_is_back_answers_as_before(open_session: OpenSession, corpus: Corpus) -> None:
    async with open_session(corpus=without_store(corpus)) as session:
        await session.ask(QUESTION, thread_id="back")
    async with open_session() as session:
        answer = await session.ask(QUESTION, thread_id="back")
    assert (answer.status, answer.usage.fallbacks) == ("answered", 0)
    assert ("schema_plan", "degraded") not in kinds(answer)


async def test_without_documents_nothing_can_be_cited_so_nothing_is_stated(
    open_session: OpenSession, corpus: Corpus
) -> None:
    async with open_session(corpus=replace(corpus, documents=NoStore())) as session:  # type: ignore[arg-type]
        answer = await session.ask(QUESTION)
    assert (answer.status, answer.citations) == ("failed", [])
    assert "the database does not answer" in answer.text


# ---------------------------------------------------------------- model


async def test_without_a_composing_model_the_best_passages_stand_verbatim(
    open_session: OpenSession, corpus: Corpus
) -> None:
    def reply(step: str, messages: Any) -> Any:
        return Unavailable(REASON) if step == "compose" else Rejected("no other step is scripted")

    models, _ = scripted(reply)
    async with open_session(models) as session:
        answer = await session.ask(
            "What does a permanent red status light on the FL-200 mean?", context=MANUAL
        )
    assert answer.status == "answered"
    assert [note.message for note in answer.notes if (note.step, note.kind) == ("compose", "fallback")] == [
        REASON
    ]
    quoted = [claim for claim in answer.claims if "memory error" in claim.text]
    assert quoted
    assert all(claim.verdict == "supported" for claim in answer.claims)
    for citation in answer.citations:
        document = corpus.documents.get(citation.doc_id)
        assert document
        assert document.text[citation.start : citation.end] == citation.quote


MANUAL = Context(buckets=["datasheets"], max_clarifications=0, max_llm_calls=50)


async def test_a_question_that_cannot_be_taken_says_why_and_not_what_the_last_one_said(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = Unavailable("the database does not answer")
    async with open_session() as session:
        first = await session.ask(QUESTION, thread_id="t")
        assert first.citations

        def closed(services: Any) -> NoReturn:
            raise down

        monkeypatch.setattr(type(session.services), "bucket_names", closed)
        for thread in ("t", "fresh"):
            answer = await session.ask("What hotel cap applies in Penang?", thread_id=thread)
            assert answer.status == "failed"
            assert answer.text == "The question could not be answered: the database does not answer"
            assert answer.question == "What hotel cap applies in Penang?"
            assert (answer.citations, kinds(answer)) == ([], [("gate", "failed")])
