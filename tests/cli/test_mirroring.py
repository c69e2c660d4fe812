"""The commands over a collection that langchain-qdrant wrote: `mirror`, `buckets`, `export`, `ask` and `doctor`."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.graph.own_invoices import BILLS, bill, bills_bucket, write_folder


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the collection and its declaration, and return the declaration."""
    first, second = bill("C-1", "ACME GmbH", "2023-01-01", 10.0)
    second[1]["total"] = 20.0
    path = write_folder(tmp_path / "theirs", [*BILLS, first, second])
    folder = tmp_path / "buckets"
    folder.mkdir()
    data = bills_bucket(path=path).model_dump(mode="json", exclude_unset=True)
    (folder / "bills.yaml").write_text(json.dumps(data), "utf-8")
    monkeypatch.setenv("CITEGRAPH_BUCKETS", str(folder))
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    return folder / "bills.yaml"


def test_a_collection_is_read_listed_and_exported(run: Run, declared: Path) -> None:
    read = run("mirror", "bills")
    assert read.out.startswith("bills: 6 documents in 12 points, read in ")
    assert "total has different values in different points" in read.err
    assert run("buckets").out == "bills  6 documents  Invoices of our suppliers.\n"
    exported = run("export", "--bucket", "bills", "--filter", "total > 3500")
    assert exported.out.splitlines() == [
        "doc_id,source_file,vendor,number,invoice_date,currency,total,total_currency",
        "bills:B-1.pdf,B-1.pdf,Brandt KG,B-1,2023-05-05,EUR,4100,EUR",
    ]
    assert "6 documents in 12 points" in exported.err
    asked = run("ask", "Which invoices from ACME are over 1,000 EUR?")
    assert asked.code == 0
    assert "2 documents in bills:" in asked.out
    assert "A-3.pdf (page 2): “Total due: 3,000.00 EUR”" in asked.out


def test_what_is_no_collection_or_does_not_fit_is_said(run: Run, declared: Path) -> None:
    said = run("mirror", "others")
    assert (said.code, said.out) == (2, "")
    assert "'others' is no bucket with a `collection`" in said.err
    assert "ok      collection bills: 12 points in 'theirs'" in run("doctor").out
    data = json.loads(declared.read_text("utf-8"))
    data["collection"]["content_key"] = "text"
    declared.write_text(json.dumps(data), "utf-8")
    ended = run("doctor")
    assert ended.code == 5
    assert "FAILED  collection bills: The points of collection 'theirs' have no 'text'" in ended.out
    assert "correct `content_key`" in run("mirror", "bills").err
