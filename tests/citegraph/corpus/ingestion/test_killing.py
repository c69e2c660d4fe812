"""After `kill -9` at any point, the next ingest leaves what an undisturbed one does."""

import asyncio
import os
import random
import shutil
from pathlib import Path

import pytest

from citegraph.corpus.ingestion.ingest_options import IngestOptions
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
from citegraph.errors import Unavailable
from tests.citegraph.corpus.ingestion.killing import (
    BUCKET,
    Kill,
    contents,
    ingest_folder,
    killed_ingest,
    killed_stores,
    write_folder,
)

pytestmark = pytest.mark.slow

POINTS = int(os.environ.get("CITEGRAPH_KILLS", "4"))
"""`make soak` kills 50 times."""


def test_a_killed_ingest_is_completed_by_the_next(tmp_path: Path) -> None:
    folder, first, followed, fresh = (tmp_path / name for name in ("in", "first", "followed", "fresh"))
    write_folder(folder)
    ingest_folder(first, folder)
    shutil.copytree(first, followed)
    write_folder(folder, second=True)
    # One ingest follows changes, one fills an empty home.
    cases = [(home, ingest_folder(home, folder), contents(home)) for home in (followed, fresh)]
    expected = cases[0][2]
    assert len(expected["documents"]) == 64
    assert sum("supersedes" in (values or {}) for values in expected["annotations"].values()) > 2
    assert sum(bool(facts) for facts in expected["facts"].values()) > 10
    assert {point[0].get("level") for point in expected["points"].values()} == {
        None,
        "section",
        "document",
    }
    draw = random.Random(1)
    died = 0
    for number in range(POINTS):
        whole, steps, expected = cases[number % 2]
        home = tmp_path / f"killed {number}"
        if whole == followed:
            shutil.copytree(first, home)
        kills = [Kill(step_of(steps, number // 2, draw), draw.choice([0, draw.uniform(0, 0.02)]))]
        if draw.random() < 0.3:
            kills.append(Kill(draw.randrange(len(steps)), 0))
        for kill in kills:
            died += killed_ingest(home, folder, kill)
        ingest_folder(home, folder)
        found = contents(home)
        for part, value in expected.items():
            assert found[part] == value, f"point {number}, {steps[kills[0].step]}: {part}"
        shutil.rmtree(home)
    assert died >= POINTS // 2


def step_of(steps: list[str], number: int, draw: random.Random) -> int:
    """Return where to kill: one kind of step after the other, at any of its places."""
    kinds = sorted(set(steps))
    kind = kinds[(number * 5) % len(kinds)]
    return draw.choice([place for place, name in enumerate(steps) if name == kind])


@pytest.mark.parametrize("status", ["pending", "removing"])
def test_what_a_kill_left_is_settled_though_its_file_is_gone(tmp_path: Path, status: str) -> None:
    folder, home = tmp_path / "in", tmp_path / "home"
    write_folder(folder)
    ingest_folder(home, folder)
    before = contents(home)
    stores = killed_stores(home)
    stores.documents.mark(["note-2"], status)  # type: ignore[arg-type]

    async def run() -> None:
        await stores.index.delete_documents(BUCKET.name, ["note-2"])
        empty = tmp_path / "empty"
        empty.mkdir()
        report = await ingest([empty], BUCKET, stores=stores, options=IngestOptions(workers=0))
        assert (report.deleted, report.changed) == ((0, 1) if status == "pending" else (1, 0))
        await stores.index.close()

    asyncio.run(run())
    after = contents(home)
    if status == "pending":
        assert after == before
    else:
        assert "note-2" not in after["documents"]
        assert after["count"] == before["count"] - 1


@pytest.mark.parametrize(
    ("before", "after"), [("Nothing is said.", "Keeper: Ada\n7 kg."), ("Keeper: Ada\n7 kg.", "Keeper: Bob")]
)
def test_an_extracted_value_is_not_taken_for_a_given_one(
    tmp_path: Path, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill between the writing of values and of what says that they were extracted."""
    folder, home, whole = tmp_path / "in", tmp_path / "home", tmp_path / "whole"
    folder.mkdir()
    folder.with_suffix(".csv").write_text("file,code\n")
    (folder / "a.txt").write_text(before)
    ingest_folder(home, folder)
    (folder / "a.txt").write_text(after)
    ingest_folder(whole, folder)

    def dies(_: ExtractionStore, __: str, extractions: dict[str, object]) -> None:
        if extractions:
            raise Unavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(ExtractionStore, "put", dies)
        with pytest.raises(Unavailable):
            ingest_folder(home, folder)
    ingest_folder(home, folder)
    found, expected = contents(home), contents(whole)
    assert {part: found[part] for part in ("annotations", "sources", "facts")} == {
        part: expected[part] for part in ("annotations", "sources", "facts")
    }
