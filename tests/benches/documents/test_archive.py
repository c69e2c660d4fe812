"""Tests of which folders of an archive are ingested, and how."""

import json
from pathlib import Path

import pytest

from benches.documents.archive import ingests, main
from citegraph.errors import BadInput


def folder(archive: Path, name: str, bucket: str | None, parts: int = 1) -> None:
    """Write a folder of documents with labels."""
    (archive / name).mkdir()
    named = {"bucket": bucket} if bucket else {}
    for part in range(parts):
        row = {"doc_id": f"{name}-{part}", "text": "x", **named}
        (archive / name / f"docs-{part}.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    (archive / name / "metadata.jsonl").write_text("", "utf-8")


def test_folders_of_one_bucket_are_taken_together_each_with_its_labels(tmp_path: Path) -> None:
    folder(tmp_path, "first", "invoices", parts=2)
    folder(tmp_path, "second", "invoices")
    folder(tmp_path, "third", "contracts")
    folder(tmp_path, "pairs", None)
    (tmp_path / "loose").mkdir()
    assert ingests(tmp_path) == {
        "invoices": [
            str(tmp_path / "first" / "docs-0.jsonl"),
            str(tmp_path / "first" / "docs-1.jsonl"),
            "--annotations",
            str(tmp_path / "first" / "metadata.jsonl"),
            str(tmp_path / "second" / "docs-0.jsonl"),
            "--annotations",
            str(tmp_path / "second" / "metadata.jsonl"),
            "--bucket",
            "invoices",
        ],
        "contracts": [
            str(tmp_path / "third" / "docs-0.jsonl"),
            "--annotations",
            str(tmp_path / "third" / "metadata.jsonl"),
            "--bucket",
            "contracts",
        ],
    }


def test_a_folder_without_documents_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="no documents with a bucket"):
        ingests(tmp_path)
    assert main([str(tmp_path)]) == 2
    assert "CITEGRAPH_CORPORA" in capsys.readouterr().err
