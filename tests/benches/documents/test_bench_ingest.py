"""Both sides of the ingest benchmark read the same files and are measured by the same words."""

import json
from pathlib import Path

from benches.documents.bench_ingest import compare


def test_both_sides_are_measured(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    (tmp_path / "files").mkdir()
    (tmp_path / "letters").mkdir()
    canvas = Canvas(str(tmp_path / "files" / "a.pdf"))
    canvas.drawString(72, 720, "The ferry left the harbour")
    canvas.save()
    row = {"file": "files/a.pdf", "doc_id": "a", "bucket": "letters"}
    (tmp_path / "files" / "manifest.json").write_text(json.dumps([row]))
    gold = {"doc_id": "a", "text": "The ferry left the harbour today now"}
    (tmp_path / "letters" / "docs.jsonl").write_text(json.dumps(gold))
    report = compare(tmp_path, 1)
    assert (report["files"], report["pages"]) == (1, 1)
    for name in ("citegraph", "plain"):
        side = report[name]
        assert isinstance(side, dict)
        assert (side["chunks"], side["text_f1_median"]) == (1, round(10 / 12, 4))
    assert isinstance(report["times_as_fast"], float)
