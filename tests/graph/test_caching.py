"""A question asked again costs no second search, says so, and a switch turns that off."""

from dataclasses import replace

from citegraph.corpus.index.views import VersionedIndex
from citegraph.run.services import Corpus
from tests.graph.conftest import OpenSession

QUESTION = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"


async def test_a_question_asked_again_is_searched_from_the_cache(open_session: OpenSession) -> None:
    async with open_session() as session:
        first = await session.ask(QUESTION)
        again = await session.ask(QUESTION)
    assert again.usage.cache_hits > first.usage.cache_hits
    assert (again.text, again.citations, again.notes) == (first.text, first.citations, first.notes)
    assert again.usage.tool_calls == first.usage.tool_calls


async def test_without_a_cache_nothing_is_counted(open_session: OpenSession, corpus: Corpus) -> None:
    assert isinstance(corpus.index, VersionedIndex)
    async with open_session(corpus=replace(corpus, index=corpus.index.inner)) as session:
        await session.ask(QUESTION)
        assert (await session.ask(QUESTION)).usage.cache_hits == 0
