"""An unchanged file is not read again; whatever could change its documents has it read."""

import errno
import json
import os
import zipfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from citegraph.corpus.ingestion import pipeline as module
from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.report import IngestReport, Skipped
from citegraph.corpus.ingestion.worker import StepReader
from citegraph.corpus.readers.packed import containers
from citegraph.corpus.records.source_files import SourceFiles, SourceRecord, Told, settled, stamp_of
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from tests.citegraph.corpus.open_stores import open_stores

BUCKET = Bucket(
    name="letters",
    description="Letters.",
    nouns=("letter",),
    fields=(Field(name="sent", type="date", description="When.", columns=("date",)),),
)
INLINE = IngestOptions(workers=0)
HOUR = 3_600_000_000_000


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    stores = open_stores(tmp_path / "home", BUCKET)
    yield stores
    await stores.index.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "one.txt").write_text("The anchors were weighed.")
    (folder / "rows.jsonl").write_text(
        "\n".join(json.dumps({"doc_id": name, "text": f"Letter {name}."}) for name in ("a", "b"))
    )
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that were opened by a reader, in order."""
    names: list[str] = []
    read = StepReader.__call__

    def counted(self: StepReader, path: Path, fresh: bool = False) -> object:
        names.append(path.name)
        return read(self, path, fresh)

    monkeypatch.setattr(StepReader, "__call__", counted)
    return names


async def again(
    folder: Path, stores: Stores, options: IngestOptions = INLINE, *, bucket: Bucket = BUCKET, rows: str = ""
) -> IngestReport:
    given = []
    if rows:
        (folder.parent / "rows.csv").write_text(rows)
        given = [folder.parent / "rows.csv"]
    return await ingest([folder], bucket, stores=stores, annotations=given, options=options)


async def test_an_unchanged_file_is_not_opened(folder: Path, stores: Stores, opened: list[str]) -> None:
    first = await again(folder, stores)
    assert (first.new, first.not_read, opened) == (3, 0, ["one.txt", "rows.jsonl"])
    opened.clear()
    steps: list[tuple[int, int, str]] = []
    second = await ingest(
        [folder], BUCKET, stores=stores, options=INLINE, progress=lambda *step: steps.append(step)
    )
    assert (second.unchanged, second.not_read, second.chunks, second.missing) == (3, 3, 0, 0)
    assert opened == []
    assert steps == [(2, 2, "")]


async def test_bytes_decide_when_times_do_not(folder: Path, stores: Stores, opened: list[str]) -> None:
    await again(folder, stores)
    opened.clear()
    os.utime(folder / "one.txt")
    assert (await again(folder, stores)).not_read == 3
    before = (folder / "one.txt").stat()
    (folder / "one.txt").write_text("The anchors were dropped.")  # as long as the text before
    os.utime(folder / "one.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    report = await again(folder, stores)
    assert (report.changed, report.not_read, opened) == (1, 2, ["one.txt"])
    assert stores.documents.text("one") == "The anchors were dropped."


def test_a_fresh_stamp_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    stamp = stamp_of(tmp_path / "a")
    changed = (tmp_path / "a").stat().st_ctime_ns
    assert not settled(stamp, changed + 1_000_000)
    assert settled(stamp, changed + HOUR)
    assert not settled("", changed + HOUR)
    assert stamp_of(tmp_path / "absent") == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda folder, stores: again(folder, stores, replace(INLINE, reread=True)),
        lambda folder, stores: again(folder, stores, replace(INLINE, chunk_tokens=300)),
        lambda folder, stores: again(folder, stores, replace(INLINE, labels=("secret",))),
        lambda folder, stores: again(
            folder, stores, bucket=BUCKET.model_copy(update={"ignore": ("colour",)})
        ),
    ],
    ids=["reread", "chunks", "labels", "declaration"],
)
async def test_a_change_of_the_settings_has_all_files_read(
    folder: Path, stores: Stores, opened: list[str], change: Callable[[Path, Stores], object]
) -> None:
    await again(folder, stores)
    opened.clear()
    report = await change(folder, stores)  # type: ignore[misc]
    assert report.not_read == 0
    assert opened == ["one.txt", "rows.jsonl"]


async def test_a_new_annotation_row_has_its_own_file_read(
    folder: Path, stores: Stores, opened: list[str]
) -> None:
    await again(folder, stores, rows="file,date\none.txt,2024-01-02\n")
    opened.clear()
    table = "file,date,colour\none.txt,2024-01-02,red\ntwo.txt,soon,blue\n"
    report = await again(folder, stores, rows=table)
    assert (report.not_read, opened) == (2, ["one.txt"])
    opened.clear()
    report = await again(folder, stores, rows=table)
    assert (report.not_read, report.annotated, report.unused_annotations, opened) == (3, 1, 1, [])
    assert report.unknown_columns == {"colour": 1}
    bad = "file,date\none.txt,soon\n"
    for read in (["one.txt"], []):
        opened.clear()
        report = await again(folder, stores, rows=bad)
        assert (opened, [value.value for value in report.bad_values]) == (read, ["soon"])


async def test_faults_and_notes_are_repeated_without_a_look(
    folder: Path, stores: Stores, opened: list[str]
) -> None:
    (folder / "page.txt").write_text("<html><body><p>A page of cranes.</p></body></html>")
    (folder / "rows.jsonl").write_text('{"doc_id": "a", "text": "Letter a."}\n{"doc_id": "b"}')
    (folder / "torn.docx").write_bytes(b"PK\x03\x04" + bytes(200))
    (folder / "blank.txt").write_text("  ")
    first = await again(folder, stores)
    assert [Path(item.path).name for item in first.skipped] == ["blank.txt", "rows.jsonl", "torn.docx"]
    opened.clear()
    report = await again(folder, stores)
    assert opened == []
    assert report.skipped == first.skipped
    assert report.notes == first.notes == [Skipped(str(folder / "page.txt"), first.notes[0].reason)]
    # What is too much depends on the limits; a file without a fault does not.
    larger = replace(INLINE, limits=replace(INLINE.limits, file_mb=600))
    assert (await again(folder, stores, larger)).skipped == first.skipped
    assert opened == ["blank.txt", "rows.jsonl", "torn.docx"]
    opened.clear()
    (folder / "torn.docx").write_text("mended")
    report = await again(folder, stores, larger)
    assert opened == ["torn.docx"]
    assert [Path(item.path).name for item in report.skipped] == ["blank.txt", "rows.jsonl"]


async def test_what_may_pass_is_tried_again(folder: Path, stores: Stores, opened: list[str]) -> None:
    (folder / "again.jsonl").write_text('{"doc_id": "a", "text": "Letter a."}')
    (folder / "empty.txt").write_bytes(b"")
    first = await again(folder, stores)
    assert len(first.skipped) == 2
    opened.clear()
    report = await again(folder, stores)
    assert sorted(opened) == ["empty.txt", "rows.jsonl"]
    assert report.skipped == first.skipped


async def test_bad_luck_with_a_part_is_tried_again(
    folder: Path, stores: Stores, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("in.txt", "Inside the archive.")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(containers, "copied", full)
        (skipped,) = (await again(folder, stores)).skipped
    assert "No space left" in skipped.reason
    opened.clear()
    report = await again(folder, stores)
    assert (report.new, report.skipped, opened) == (1, [], ["all.zip"])


async def test_a_part_without_text_is_named(folder: Path, stores: Stores, opened: list[str]) -> None:
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("in.txt", "Inside the archive.")
        archive.writestr("blank.txt", " ")
    for read in (["all.zip", "one.txt", "rows.jsonl"], []):
        opened.clear()
        report = await again(folder, stores)
        assert report.skipped == [
            Skipped(str(folder / "all.zip"), "blank.txt: holds no text: nothing to read")
        ]
        assert opened == read


def test_notes_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'a.sqlite'}")
    files = SourceFiles(engine)
    record = SourceRecord("/a", "", "hash", "recipe", 1, Told((("", "named .txt"),), ("torn",)))
    files.put("letters", [record])
    assert files.of("letters") == {"/a": record}
    with engine.begin() as connection:
        connection.execute(text("UPDATE source_files SET notes = :notes"), {"notes": '[["", "named .txt"]]'})
    assert files.of("letters") == {"/a": replace(record, told=Told((("", "named .txt"),)))}
    engine.dispose()


async def test_a_removed_document_comes_back(folder: Path, stores: Stores, opened: list[str]) -> None:
    await again(folder, stores)
    await module.remove_documents(["a"], "letters", stores=stores)
    opened.clear()
    report = await again(folder, stores)
    assert (report.new, report.not_read, opened) == (1, 1, ["rows.jsonl"])


async def test_a_file_put_back_after_a_killed_ingest_is_read(
    folder: Path, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    await again(folder, stores)
    (folder / "one.txt").write_text("The anchors were dropped.")
    with monkeypatch.context() as patched:
        patched.setattr(module.FileMemory, "write", _killed)
        with pytest.raises(KeyboardInterrupt):
            await again(folder, stores)
    (folder / "one.txt").write_text("The anchors were weighed.")
    await again(folder, stores)
    assert stores.documents.text("one") == "The anchors were weighed."


def _killed(memory: module.FileMemory) -> None:
    if memory._learned:
        raise KeyboardInterrupt


async def test_a_dry_run_remembers_nothing(folder: Path, stores: Stores, opened: list[str]) -> None:
    await again(folder, stores, replace(INLINE, dry_run=True))
    assert stores.documents.files.of("letters") == {}
    await again(folder, stores)
    (folder / "one.txt").write_text("The anchors were dropped.")
    opened.clear()
    report = await again(folder, stores, replace(INLINE, dry_run=True))
    assert (report.changed, report.unchanged, report.not_read) == (1, 2, 2)
    assert set(stores.documents.files.of("letters")) == {
        str((folder / name).resolve()) for name in ("one.txt", "rows.jsonl")
    }


async def test_pruning_forgets_a_file(folder: Path, stores: Stores) -> None:
    await again(folder, stores)
    (folder / "one.txt").unlink()
    report = await again(folder, stores, replace(INLINE, prune=True))
    assert report.deleted == 1
    assert set(stores.documents.files.of("letters")) == {str((folder / "rows.jsonl").resolve())}
