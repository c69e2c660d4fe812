"""A shard is not written to when the disk is nearly full: the engine's mapped pages would kill the process."""

import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.index.edge.edge_shard import LEAST_FREE_MB, OPENING_MB, Sizes, _laid_out, require_room
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.errors import Unavailable
from tests.citegraph.corpus.index.test_index_protocol import BUCKET, CHUNKS, METADATA, STATIC, chunk

Usage = namedtuple("Usage", "total used free")


def test_a_full_disk_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, LEAST_FREE_MB * 1_000_000))
    require_room(tmp_path / "not" / "yet" / "there")
    with pytest.raises(Unavailable) as caught:
        require_room(tmp_path / "letters", beside=50_000_000)
    assert str(caught.value) == (
        f"The disk of {tmp_path} has {LEAST_FREE_MB} MB free, and the index of bucket 'letters' needs "
        f"{LEAST_FREE_MB + 50}: make room, or set CITEGRAPH_HOME to a larger disk."
    )


async def test_what_was_written_before_the_disk_was_full_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = EdgeIndex(tmp_path, STATIC, weights=(1.0, 3.0))
    await index.ensure(BUCKET)
    await index.upsert(BUCKET.name, CHUNKS[:2], METADATA)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, 0))
        with pytest.raises(Unavailable, match="make room"):
            await index.upsert(BUCKET.name, CHUNKS[2:], METADATA)
    assert await index.count(BUCKET.name) == 2
    await index.upsert(BUCKET.name, CHUNKS[2:], METADATA)
    assert await index.count(BUCKET.name) == 4
    await index.close()


async def test_a_shard_is_not_opened_where_its_log_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = EdgeIndex(tmp_path, STATIC, weights=(1.0, 3.0))
    await index.ensure(BUCKET)
    await index.upsert(BUCKET.name, CHUNKS[:2], METADATA)
    await index.close()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, (OPENING_MB - 1) * 1_000_000))
        with pytest.raises(Unavailable, match="make room"):
            await index.count(BUCKET.name)
    assert await index.count(BUCKET.name) == 2


async def test_an_ingest_leaves_few_points_unsealed_and_none_that_were_replaced(tmp_path: Path) -> None:
    async def ingested(part: list[int], text: str) -> tuple[tuple[int, int], list[float]]:
        index = EdgeIndex(tmp_path, STATIC, weights=(1.0, 3.0), sizes=Sizes(rest=3))
        await index.ensure(BUCKET)
        await index.delete_documents(BUCKET.name, [f"letter {one}" for one in part])
        await index.upsert(BUCKET.name, [chunk(f"letter {one}", f"{text} {one}") for one in part], {})
        await index.optimize(BUCKET.name)
        hits = await index.search(SearchRequest(BUCKET.name, "anchor", "keyword"))
        await index.close()
        return _laid_out(tmp_path / BUCKET.name), [hit.score for hit in hits]

    few, _ = await ingested([0, 1], "The anchor of ship")
    assert few == (2, 2)
    sealed, before = await ingested([2, 3], "The anchor of ship")
    assert sealed == (0, 4)
    assert len(before) == 4
    assert (await ingested([0, 1, 2, 3], "The anchor of ship"))[0] == (0, 4)
    again, after = await ingested([0, 1], "The rope of ship")
    assert again == (0, 4)
    assert len(after) == 2
    assert after[0] > before[0], "what was replaced counts as a document no more"


def held_of_files(folder: Path) -> list[int]:
    """Return how many kilobytes this process holds of each mapped file in a folder."""
    mapped = Path("/proc/self/smaps").read_text().split("VmFlags")
    inside = [line for one in mapped if str(folder) in one for line in one.splitlines()]
    return [int(line.split()[1]) for line in inside if line.startswith("Rss:")]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which pages of a file are held")
async def test_an_opened_shard_holds_no_pages_of_its_files(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, STATIC, weights=(1.0, 3.0))
    await index.ensure(BUCKET)
    await index.upsert(BUCKET.name, CHUNKS, METADATA)
    await index.close()
    assert index._opened(BUCKET.name) is not None
    held = held_of_files(tmp_path / BUCKET.name)
    assert len(held) > 5
    assert sum(held) < 1_000
    assert await index.count(BUCKET.name) == len(CHUNKS)
    await index.close()
