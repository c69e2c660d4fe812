"""Ingest is idempotent, says what it skipped, follows changes, and completes what a kill left half-done."""

import json
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.ingestion import planning
from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
from citegraph.corpus.ingestion.pipeline import ingest, reembed
from citegraph.corpus.ingestion.report import IngestReport, Skipped
from citegraph.corpus.readers.encodings import NO_TEXT
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.schema.bucket import Bucket, Identifier
from citegraph.corpus.schema.document import safe_id
from citegraph.corpus.schema.field import Field, TextRule
from tests.citegraph.corpus.open_stores import open_stores

BUCKET = Bucket(
    name="letters",
    description="Letters.",
    nouns=("letter",),
    fields=(
        Field(name="sender", type="keyword", description="Who wrote it.", columns=("from",)),
        Field(name="sent", type="date", description="When."),
        Field(
            name="place",
            type="keyword",
            description="Where from.",
            from_text=(TextRule(pattern=r"^Harbour of (\w+)"),),
        ),
    ),
    identifiers=(Identifier(name="reference", pattern=r"\bHB-\d{4}\b"),),
    title_fields=("sender",),
    entity_fields=("sender", "place"),
)
OTHER = BUCKET.model_copy(update={"name": "notes"})


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    stores = open_stores(tmp_path / "home", BUCKET, OTHER)
    yield stores
    await stores.index.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    (folder / "inner").mkdir(parents=True)
    (folder / "one.txt").write_text("Harbour of Brest\nThe anchors were weighed, HB-1001.")
    (folder / "two.md").write_text("# Ropes\n\nFresh ropes arrived.")
    (folder / "inner" / "one.txt").write_text("Another file of that name, about cranes.")
    (folder / ".hidden.txt").write_text("hidden")
    (folder / "README.md").write_text("About this folder.")
    (folder / "photo.xyz").write_bytes(b"\x00")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "empty.txt").write_text(" \n")
    rows = [
        {"doc_id": "three", "text": "A table of tides.\fSecond page."},
        {"doc_id": "four", "text": "Four letters.", "metadata": {"from": "Pilot"}},
        {"doc_id": "three", "text": "The same id again."},
        {"doc_id": "five"},
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def numbers(report: IngestReport) -> tuple[int, int, int, int, int]:
    return report.new, report.changed, report.unchanged, report.deleted, report.missing


async def found(stores: Stores, query: str) -> list[str]:
    hits = await stores.index.search(SearchRequest("letters", query, "keyword"))
    return [hit.chunk.doc_id for hit in hits]


async def test_a_folder_is_read_whole_and_bad_files_are_named(stores: Stores, folder: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    report = await ingest([folder], BUCKET, stores=stores, progress=lambda *step: seen.append(step))
    assert numbers(report) == (5, 0, 0, 0, 0)
    assert report.documents == report.chunks == 5
    assert [(Path(skip.path).name, skip.reason) for skip in report.skipped] == [
        ("README.md", "describes the folder: name the file to ingest it"),
        ("broken.pdf", "the PDF is damaged or no PDF: open it in a viewer and save it again"),
        ("empty.txt", "holds no text: nothing to read"),
        ("photo.xyz", "no reader for .xyz (save it as .pdf or text)"),
        ("rows.jsonl", "three: doc_id already read from rows.jsonl"),
        ("rows.jsonl", "line 4: no text: pass it with --annotations"),
    ]
    assert sorted(stores.documents.all_records("letters")) == [
        "four",
        "inner-one",
        "one",
        "three",
        "two",
    ]
    assert seen[-1][:2] == (9, 9)
    assert [step[0] for step in seen] == sorted(step[0] for step in seen)
    assert await found(stores, "anchors") == ["one"]
    (chunk,) = await stores.index.document_chunks("letters", "three")
    assert (chunk.page_first, chunk.page_last) == (1, 2)
    (chunk,) = await stores.index.document_chunks("letters", "one")
    assert chunk.identifiers == ("hb-1001",)
    assert stores.annotations.get("one") == {"place": "Brest"}
    assert stores.annotations.get("four") == {"sender": "Pilot"}


async def test_repeating_changes_nothing(stores: Stores, folder: Path) -> None:
    first = await ingest([folder], BUCKET, stores=stores)
    before = await snapshot(stores)
    second = await ingest([folder], BUCKET, stores=stores)
    assert numbers(second) == (0, 0, 5, 0, 0)
    assert second.skipped == first.skipped
    assert await snapshot(stores) == before


async def test_changes_are_followed(stores: Stores, folder: Path) -> None:
    await ingest([folder], BUCKET, stores=stores)
    (folder / "two.md").write_text("# Chains\n\nFresh chains arrived.")
    (folder / "six.txt").write_text("A sixth.")
    report = await ingest([folder], BUCKET, stores=stores)
    assert numbers(report) == (1, 1, 4, 0, 0)
    assert await found(stores, "ropes") == []
    assert await found(stores, "chains") == ["two"]
    report = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(chunk_tokens=60))
    assert numbers(report) == (0, 6, 0, 0, 0)


async def test_what_is_gone_is_removed_only_when_asked(stores: Stores, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("Another folder's letter.")
    await ingest([folder, other], BUCKET, stores=stores)
    other.unlink()
    (folder / "one.txt").unlink()
    (folder / "rows.jsonl").write_text(json.dumps({"doc_id": "four", "text": "Four letters."}))
    report = await ingest([folder], BUCKET, stores=stores)
    assert numbers(report) == (0, 0, 3, 0, 2)
    assert await found(stores, "anchors") == ["one"]
    report = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(prune=True))
    assert numbers(report) == (0, 0, 3, 2, 2)
    assert await found(stores, "anchors") == []
    assert stores.annotations.get("one") is None
    assert sorted(stores.documents.all_records("letters")) == ["four", "inner-one", "other", "two"]


async def test_an_unreadable_file_does_not_lose_its_document(stores: Stores, folder: Path) -> None:
    await ingest([folder], BUCKET, stores=stores)
    (folder / "two.md").write_bytes(bytes(range(256)) * 8)
    (folder / "rows.jsonl").write_text("{broken")
    report = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(prune=True))
    assert Skipped(str(folder / "two.md"), NO_TEXT) in report.skipped
    assert stores.documents.record("two") is not None
    assert report.deleted == 2


async def test_a_moved_file_keeps_its_document(stores: Stores, folder: Path) -> None:
    await ingest([folder], BUCKET, stores=stores)
    (folder / "two.md").rename(folder / "inner" / "two.md")
    report = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(prune=True))
    assert numbers(report) == (0, 1, 4, 0, 0)
    record = stores.documents.record("two")
    assert record is not None
    assert record.source_path == str((folder / "inner" / "two.md").resolve())


async def test_a_renamed_file_keeps_its_document(stores: Stores, folder: Path) -> None:
    table = folder.parent / "a.csv"
    table.write_text("doc_id,sender\none,Chandler\n")
    await ingest([folder], BUCKET, stores=stores, annotations=[table])
    (folder / "one.txt").rename(folder / "harbour of Brest.txt")
    (folder / "copy.txt").write_text((folder / "inner" / "one.txt").read_text())
    dry = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(dry_run=True))
    report = await ingest([folder], BUCKET, stores=stores)
    assert numbers(dry) == numbers(report) == (1, 1, 4, 0, 0)
    record = stores.documents.record("one")
    assert record is not None
    assert record.source_path == str((folder / "harbour of Brest.txt").resolve())
    assert stores.annotations.get("one") == {"sender": "Chandler", "place": "Brest"}
    # A copy beside its original is another document.
    assert sorted(stores.documents.all_records("letters")) == [
        "copy",
        "four",
        "inner-one",
        "one",
        "three",
        "two",
    ]


async def test_a_dry_run_counts_what_pruning_would_remove(stores: Stores, folder: Path) -> None:
    await ingest([folder], BUCKET, stores=stores)
    (folder / "one.txt").unlink()
    for options in (IngestOptions(prune=True, dry_run=True), IngestOptions(prune=True)):
        report = await ingest([folder], BUCKET, stores=stores, options=options)
        assert numbers(report) == (0, 0, 4, 1, 1)


async def test_annotations_are_joined_checked_and_counted(stores: Stores, folder: Path) -> None:
    rows = folder / "annotations.jsonl"
    lines = [
        {
            "doc_id": "three",
            "from": "Harbour master",
            "sent": "2021-03-04",
            "colour": "red",
            "source_file": "t.pdf",
        },
        {"file": "in/two.md", "sent": "not a date", "colour": "blue"},
        {"doc_id": "nobody", "sender": "X"},
    ]
    rows.write_text("\n".join(map(json.dumps, lines)))
    table = folder / "more.csv"
    table.write_text("\ufeffsource_file;sender;sent\nIN/ONE.txt;Chandler;1.2.2020\n", "utf-8")
    report = await ingest([folder], BUCKET, stores=stores, annotations=[rows, table])
    assert (report.new, report.annotated, report.unused_annotations) == (5, 3, 1)
    assert report.unused_rows == ["nobody"]
    assert report.unknown_columns == {"colour": 2}
    assert [(bad.doc_id, bad.column, bad.value) for bad in report.bad_values] == [
        ("two", "sent", "not a date")
    ]
    assert stores.annotations.get("one") == {"sender": "Chandler", "sent": date(2020, 2, 1), "place": "Brest"}
    record = stores.documents.record("three")
    assert record is not None
    assert (record.title, record.source_file) == ("Harbour master", "t.pdf")
    chandler = {"must": [{"key": "meta.sender", "match": {"value": "chandler"}}]}
    assert await stores.index.count("letters", chandler) == 1


async def test_a_row_is_that_of_the_file_in_its_folder(stores: Stores, tmp_path: Path) -> None:
    for year in (2024, 2025):
        (tmp_path / f"{year}").mkdir()
        (tmp_path / f"{year}" / "bill.txt").write_text(f"A bill of {year}.")
        (tmp_path / f"{year}" / "note.txt").write_text(f"A note of {year}.")
    table = tmp_path / "a.csv"
    table.write_text("path,sender\n2024\\bill.txt,Pilot\n./2025/bill.txt,Chandler\nnote.txt,Smith\n")
    report = await ingest([tmp_path], BUCKET, stores=stores, annotations=[table])
    values = stores.annotations.values_of("letters", ["bill", "2025-bill", "note", "2025-note"])
    assert {name: known.get("sender") for name, known in values.items() if "sender" in known} == {
        "bill": "Pilot",
        "2025-bill": "Chandler",
    }
    assert [(note.path, note.reason[:37]) for note in report.notes] == [
        ("note.txt", "several files have this name, so that")
    ]
    assert (report.annotated, report.unused_annotations, report.unknown_columns) == (2, 1, {})
    # The name alone tells as long as one file has it.
    (tmp_path / "2024" / "note.txt").unlink()
    report = await ingest([tmp_path], BUCKET, stores=stores, annotations=[table])
    assert (report.annotated, report.notes) == (3, [])


async def test_annotations_stay_when_an_ingest_has_none(stores: Stores, folder: Path) -> None:
    table = folder.parent / "a.csv"
    table.write_text("doc_id,sender\none,Chandler\nthree,Pilot\n")
    await ingest([folder], BUCKET, stores=stores, annotations=[table])
    report = await ingest([folder], BUCKET, stores=stores)
    assert numbers(report) == (0, 0, 5, 0, 0)
    (folder / "one.txt").write_text("Harbour of Calais, new text.")
    report = await ingest([folder], BUCKET, stores=stores)
    assert numbers(report) == (0, 1, 4, 0, 0)
    values = stores.annotations.get("one")
    assert values is not None
    assert values["sender"] == "Chandler"


async def test_annotations_alone_can_change(stores: Stores, folder: Path) -> None:
    table = folder.parent / "a.csv"
    table.write_text("doc_id,sender,sent\none,Chandler,2020-01-01\n")
    await ingest([folder], BUCKET, stores=stores, annotations=[table])
    before = await stores.index.document_chunks("letters", "one")
    table.write_text("doc_id,sender,sent\none,Chandler,2022-02-02\n")
    report = await ingest([folder], BUCKET, stores=stores, annotations=[table])
    assert (numbers(report), report.chunks) == ((0, 1, 4, 0, 0), 0)
    late = {"must": [{"key": "meta.sent", "range": {"gte": "2022-01-01T00:00:00Z"}}]}
    assert await stores.index.count("letters", late) == 1
    assert await stores.index.document_chunks("letters", "one") == before


async def test_chunks_are_found_by_the_names_in_their_annotations(stores: Stores, folder: Path) -> None:
    table = folder.parent / "a.csv"
    table.write_text("doc_id,sender\none,Chandler\n")
    await ingest([folder], BUCKET, stores=stores, annotations=[table])
    (chunk,) = await stores.index.document_chunks("letters", "one")
    assert (chunk.title, chunk.context) == ("Chandler", "Chandler | Brest")
    assert await found(stores, "chandler") == ["one"]
    assert chunk.text == stores.documents.text("one", chunk.start, chunk.end)
    table.write_text("doc_id,sender\none,Rigger\n")
    report = await ingest([folder], BUCKET, stores=stores, annotations=[table])
    assert (report.changed, report.chunks) == (1, 1)
    assert await found(stores, "rigger") == ["one"]
    assert await found(stores, "chandler") == []


async def test_a_changed_declaration_is_followed(stores: Stores, folder: Path) -> None:
    await ingest([folder], BUCKET, stores=stores)
    town = Field(
        name="town", type="keyword", description="Town.", from_text=(TextRule(pattern=r"of (Brest)"),)
    )
    wider = BUCKET.model_copy(update={"fields": (*BUCKET.fields, town)})
    annotations = AnnotationStore(stores.extractions.sql_url, {wider.name: wider})
    stores = replace(stores, annotations=annotations)
    report = await ingest([folder], wider, stores=stores)
    assert (report.changed, report.chunks) == (5, 0)
    brest = {"must": [{"key": "meta.town", "match": {"value": "brest"}}]}
    assert await stores.index.count("letters", brest) == 1
    assert numbers(await ingest([folder], wider, stores=stores)) == (0, 0, 5, 0, 0)


async def test_an_id_of_another_bucket_is_refused(stores: Stores, folder: Path) -> None:
    await ingest([folder], BUCKET, stores=stores)
    report = await ingest([folder / "rows.jsonl", folder / "one.txt"], OTHER, stores=stores)
    assert sorted(stores.documents.all_records("notes")) == ["in-one"]
    reasons = [skip.reason for skip in report.skipped]
    assert "doc_id three is in bucket letters" in reasons
    missing = await ingest([folder / "nothing"], BUCKET, stores=stores)
    assert missing.skipped == [Skipped(str(folder / "nothing"), "no such file or folder: check the path")]


async def test_parts_of_a_container_are_documents(stores: Stores, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    with zipfile.ZipFile(source / "post.zip", "w") as archive:
        archive.writestr("a/one.txt", "The red ferry.")
        archive.writestr("b/one.txt", "The blue ferry.")
    report = await ingest([source], BUCKET, stores=stores)
    assert numbers(report) == (2, 0, 0, 0, 0)
    records = stores.documents.all_records("letters").values()
    path = str((source / "post.zip").resolve())
    assert sorted((record.source_file, record.source_path) for record in records) == [
        ("one.txt", f"{path}!/a/one.txt"),
        ("one.txt", f"{path}!/b/one.txt"),
    ]
    again = await ingest([source], BUCKET, stores=stores, options=IngestOptions(prune=True))
    assert numbers(again) == (0, 0, 2, 0, 0)
    with zipfile.ZipFile(source / "post.zip", "w") as archive:
        archive.writestr("b/one.txt", "The blue ferry.")
    fewer = await ingest([source], BUCKET, stores=stores, options=IngestOptions(prune=True))
    assert numbers(fewer) == (0, 0, 1, 1, 1)
    assert [record.source_path for record in stores.documents.all_records("letters").values()] == [
        f"{path}!/b/one.txt"
    ]


async def test_long_documents_get_summaries_and_short_ones_stay(stores: Stores, folder: Path) -> None:
    (folder / "long.txt").write_text(
        "Rules of the Harbour\n" + "The ferry crosses the harbour every hour. " * 40
    )
    plain = await ingest([folder], BUCKET, stores=stores)
    short = await stores.index.document_chunks("letters", "one")
    report = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(summaries_from=500))
    assert numbers(report) == (0, 1, 5, 0, 0), "the long one alone is indexed again"
    assert report.chunks == 1
    assert await stores.index.count("letters") == plain.chunks
    assert await stores.index.document_chunks("letters", "one") == short
    (chunk,) = await stores.index.document_chunks("letters", "long")
    assert chunk.summarised
    asked = SearchRequest("letters", "ferry", summaries=True)
    assert sorted(hit.chunk.level for hit in await stores.index.search(asked)) == ["document", "section"]
    (folder / "long.txt").unlink()
    options = IngestOptions(summaries_from=500, prune=True)
    assert (await ingest([folder], BUCKET, stores=stores, options=options)).deleted == 1
    assert await stores.index.search(asked) == []


async def test_another_way_of_chunking_is_followed(
    stores: Stores, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingest([folder], BUCKET, stores=stores)
    monkeypatch.setattr(planning, "RECIPE", planning.RECIPE + 1)
    assert numbers(await ingest([folder], BUCKET, stores=stores)) == (0, 5, 0, 0, 0)
    assert numbers(await ingest([folder], BUCKET, stores=stores)) == (0, 0, 5, 0, 0)


async def test_reembedding_builds_the_same_index(stores: Stores, folder: Path) -> None:
    await ingest([folder], BUCKET, stores=stores)
    before = await snapshot(stores)
    assert await reembed(BUCKET, stores=stores) == 5
    assert await snapshot(stores) == before


@pytest.mark.parametrize(
    ("given", "expected"),
    [("a b[c],d", "a-b-c-d"), ("Ünit_1.2", "Ünit_1.2"), (" ;", "document"), ("a/b", "a/b")],
)
def test_ids_fit_into_markers(given: str, expected: str) -> None:
    assert safe_id(given) == expected


async def snapshot(stores: Stores) -> object:
    """Return everything stored: records, and each document's chunks."""
    records = stores.documents.all_records("letters")
    chunks = [await stores.index.document_chunks("letters", doc_id) for doc_id in sorted(records)]
    return records, chunks, await stores.index.count("letters")
