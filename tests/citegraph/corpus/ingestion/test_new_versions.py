"""A later version of a document gets `supersedes`, in doubt it does not."""

import json
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.report import IngestReport, NewVersion
from citegraph.corpus.schema.bucket import Bucket, Identifier
from citegraph.corpus.schema.field import Field
from citegraph.errors import Unavailable
from tests.citegraph.corpus.open_stores import open_stores

BUCKET = Bucket(
    name="policies",
    description="Policies.",
    nouns=("policy",),
    fields=(
        Field(name="code", type="keyword", description="Code."),
        Field(name="valid", type="date", description="From when it holds."),
        Field(name="revision", type="keyword", description="Revision."),
        Field(name="supersedes", type="keyword", description="What it replaces."),
    ),
    identifiers=(Identifier(name="code", pattern=r"\bPO-\d+\b", field="code"),),
    effective_field="valid",
    supersedes_field="supersedes",
    revision_field="revision",
)
DRAW = random.Random(7)
WORDS = [f"word{DRAW.randrange(10**6)}" for _ in range(400)]
TEXT = " ".join(WORDS)
EDITED = " ".join([*WORDS[:380], "other", "end"])
HALF = " ".join([*WORDS[:300], *(f"new{number}" for number in range(100))])


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    stores = open_stores(tmp_path, BUCKET)
    yield stores
    await stores.index.close()


async def take(stores: Stores, folder: Path, *rows: dict[str, Any], **options: bool) -> IngestReport:
    """Ingest rows (`doc_id`, `text`, `source_file`, and values) that stand in one file each."""
    write(folder, rows)
    return await ingest([folder], BUCKET, stores=stores, options=IngestOptions(workers=0, **options))  # type: ignore[arg-type]


def write(folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    for row in rows:
        own = {name: row.pop(name) for name in ("doc_id", "text", "source_file") if name in row}
        line = {"source_file": f"{own['doc_id']}.txt", **own, "metadata": row}
        (folder / f"{own['doc_id']}.jsonl").write_text(json.dumps(line))


def gone(file: Path) -> None:
    file.unlink()


def replaced(stores: Stores) -> dict[str, object]:
    records = stores.documents.all_records("policies").values()
    found = {
        record.doc_id: (stores.annotations.get(record.doc_id) or {}).get("supersedes") for record in records
    }
    return {doc_id: value for doc_id, value in found.items() if value}


async def test_revisions_make_a_chain_whatever_came_first(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    await take(
        stores,
        folder,
        {"doc_id": "x1", "text": TEXT, "source_file": "Travel policy v1.pdf"},
        {"doc_id": "x3", "text": HALF, "source_file": "Travel policy v3.pdf"},
        {"doc_id": "other", "text": HALF, "source_file": "Expenses v2.pdf"},
    )
    assert replaced(stores) == {"x3": "x1"}
    report = await take(
        stores, folder, {"doc_id": "x2", "text": EDITED, "source_file": "travel-policy_v2.docx"}
    )
    assert sorted(report.versions, key=lambda item: item.doc_id) == [
        NewVersion("x2", "x1", "revision 2 after 1"),
        NewVersion("x3", "x2", "revision 3 after 2"),
    ]
    assert replaced(stores) == {"x2": "x1", "x3": "x2"}
    chosen = {"must": [{"key": "meta.supersedes", "match": {"value": "x2"}}]}
    chunks = await stores.index.document_chunks("policies", "x3")
    assert await stores.index.count("policies", chosen) == len(chunks)
    gone(folder / "x2.jsonl")
    assert (await take(stores, folder, prune=True)).deleted == 1
    assert replaced(stores) == {"x3": "x1"}
    assert (await take(stores, folder)).unchanged == 3
    gone(folder / "x1.jsonl")
    await take(stores, folder, prune=True)
    assert replaced(stores) == {}


async def test_what_a_person_or_the_document_says_stays(stores: Stores, tmp_path: Path) -> None:
    await take(
        stores,
        tmp_path / "in",
        {"doc_id": "x1", "text": TEXT, "revision": "A", "code": "PO-1"},
        {"doc_id": "x2", "text": HALF, "revision": "Rev. B", "code": "PO-1", "supersedes": "x0"},
        {"doc_id": "x3", "text": EDITED, "revision": "C", "code": "PO-1"},
    )
    assert replaced(stores) == {"x2": "x0", "x3": "x2"}


@pytest.mark.parametrize(
    ("old", "new", "linked"),
    [
        ({"code": "PO-1", "valid": "2023-01-01"}, {"code": "PO-1", "valid": "2024-01-01"}, True),
        ({"valid": "2023-01-01"}, {"valid": "2024-01-01"}, False),
        ({"code": "PO-1", "revision": "1"}, {"code": "PO-2", "revision": "2"}, False),
        ({"source_file": "rules.txt"}, {"source_file": "rules v2.txt"}, True),
        ({"source_file": "rules.txt"}, {"source_file": "rules v1.txt"}, False),
        ({"source_file": "rules 2023.txt"}, {"source_file": "rules 2024.txt"}, False),
        ({"source_file": "rules v1.txt"}, {"source_file": "rules v1.txt"}, False),
        (
            {"source_file": "a.txt", "code": "PO-1", "revision": "1.9"},
            {"code": "PO-1", "revision": "1.10"},
            True,
        ),
        ({"source_file": "r v1.txt", "text": "Of ropes and of cranes."}, {"source_file": "r v2.txt"}, False),
        ({"source_file": "r rev A.txt"}, {"source_file": "r rev 2.txt"}, False),
    ],
)
async def test_only_what_tells_makes_a_version(
    stores: Stores, tmp_path: Path, old: dict[str, Any], new: dict[str, Any], linked: bool
) -> None:
    await take(
        stores,
        tmp_path / "in",
        {"doc_id": "old", "text": TEXT, "source_file": "rules.txt"} | old,
        {"doc_id": "new", "text": HALF, "source_file": "rules.txt"} | new,
    )
    assert replaced(stores) == ({"new": "old"} if linked else {})


async def test_a_name_of_many_documents_identifies_none(stores: Stores, tmp_path: Path) -> None:
    rows = [{"doc_id": f"d{n:02}", "text": TEXT, "source_file": f"form v{n}.txt"} for n in range(1, 23)]
    await take(stores, tmp_path / "in", *rows)
    assert replaced(stores) == {}


async def test_labels_stay_and_divide_versions(stores: Stores, tmp_path: Path) -> None:
    rows = [{"doc_id": f"x{n}", "text": TEXT, "source_file": f"rules v{n}.txt"} for n in (1, 2)]
    write(tmp_path / "in", rows)
    options = IngestOptions(workers=0, labels=("board",))
    await ingest([tmp_path / "in"], BUCKET, stores=stores, options=options)
    assert replaced(stores) == {"x2": "x1"}
    board = {"must": [{"key": "meta._labels", "match": {"any": ["board"]}}]}
    assert await stores.index.count("policies", board) == await stores.index.count("policies")
    await take(stores, tmp_path / "other", {"doc_id": "x3", "text": TEXT, "source_file": "rules v3.txt"})
    assert replaced(stores) == {"x2": "x1"}


async def test_a_version_that_a_failure_kept_out_of_the_index_is_written_again(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise Unavailable("gone")

    def rows() -> list[dict[str, Any]]:
        return [
            {"doc_id": f"a-{number}", "text": TEXT, "code": "PO-1", "revision": number} for number in (1, 2)
        ]

    with monkeypatch.context() as patch:
        patch.setattr(stores.index, "set_metadata", fails)
        with pytest.raises(Unavailable):
            await take(stores, tmp_path / "in", *rows())
    await take(stores, tmp_path / "in", *rows())
    replaced = {"must": [{"key": "meta.supersedes", "match": {"value": "a-1"}}]}
    assert await stores.index.count(BUCKET.name, replaced) == 4
