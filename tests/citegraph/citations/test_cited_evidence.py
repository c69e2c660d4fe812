"""Evidence read from a folder."""

from pathlib import Path

import pytest

from citegraph.citations.cited_evidence import load_evidence
from citegraph.citations.verify_answer import verify
from citegraph.errors import BadInput


def test_text_files_are_cited_by_name_or_stem_and_rows_by_id(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text("The monthly rent is $900.", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(
        '{"doc_id": "d-1", "text": "Pets are welcome.", "start": 7, "page": 3}\n'
    )
    spans = load_evidence(tmp_path)
    assert [(e.evidence_id, e.doc_id, e.start, e.page) for e in spans] == [
        ("lease", "lease.md", 0, None),
        ("d-1:7", "d-1", 7, 3),
    ]
    report = verify("The monthly rent is $900 [lease]. The monthly rent is $900 [lease.md].", spans)
    assert [c.verdict for c in report.claims] == ["supported", "supported"]


def test_a_broken_row_names_its_place(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"doc_id": "a", "text": "b"}\n{"doc_id": "a"}\n')
    with pytest.raises(BadInput, match=r"rows\.jsonl:2"):
        load_evidence(tmp_path)


@pytest.mark.parametrize("name", ["", "absent"])
def test_a_folder_without_evidence_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        load_evidence(tmp_path / name)
