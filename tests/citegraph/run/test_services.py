"""Services: what is opened, when, and what is not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.schema.document import Hit
from citegraph.errors import Unavailable
from citegraph.run.services import Services
from citegraph.settings import Settings
from nodes.search import Search
from tests.node_runtime import runtime


@pytest.fixture
async def empty(tmp_path: Path) -> AsyncIterator[Services]:
    services = Services(settings=Settings(home=tmp_path))
    yield services
    await services.close()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return what the engine is asked, filled while the test runs: the method and the bucket."""
    made: list[tuple[str, str]] = []
    counting, searching = EdgeIndex.count, EdgeIndex.search

    async def count(index: EdgeIndex, bucket: str, filter_json: Any = None) -> int:
        made.append(("count", bucket))
        return await counting(index, bucket, filter_json)

    async def search(index: EdgeIndex, request: SearchRequest) -> list[Hit]:
        made.append(("search", request.bucket))
        return await searching(index, request)

    monkeypatch.setattr(EdgeIndex, "count", count)
    monkeypatch.setattr(EdgeIndex, "search", search)
    return made


async def test_the_index_of_a_named_bucket_is_opened_once(
    empty: Services, calls: list[tuple[str, str]]
) -> None:
    await empty.warm(["invoices"])
    await empty.warm(["invoices", "contracts"])
    await empty.warm(["contracts"])
    assert calls == [("count", "invoices"), ("count", "contracts")]
    await empty.close()
    await empty.warm(["invoices"])
    assert calls[2:] == [("count", "invoices")], "closed services open it again"


async def test_a_search_opens_its_bucket_before_its_own_time_begins_and_no_other(
    empty: Services, calls: list[tuple[str, str]]
) -> None:
    task: Any = {
        "call": {
            "tool": "search_text",
            "args": {"buckets": ["contracts"], "query": "notice", "mode": "keyword"},
        },
        "plan": {"per_bucket": {}},
        "deadline": 4e9,
    }
    await Search(empty)(task, runtime())
    assert calls[:2] == [("count", "contracts"), ("search", "contracts")]
    assert {bucket for _, bucket in calls} == {"contracts"}


async def test_an_index_that_does_not_answer_fails_where_it_is_used(
    empty: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(index: EdgeIndex, bucket: str, filter_json: Any = None) -> int:
        raise Unavailable("the index does not answer")

    monkeypatch.setattr(EdgeIndex, "count", broken)
    await empty.warm(["invoices"])

    async def wrong(index: EdgeIndex, bucket: str, filter_json: Any = None) -> int:
        raise ValueError("no failure of the index")

    monkeypatch.setattr(EdgeIndex, "count", wrong)
    with pytest.raises(ValueError, match="no failure of the index"):
        await empty.warm(["contracts"])
