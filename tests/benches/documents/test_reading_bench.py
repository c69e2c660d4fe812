"""The measure of reading counts words, names what was skipped, and fails on a changed text."""

import json
from pathlib import Path

import pytest

from benches.documents.reading_bench import evaluate, main, report, token_f1


def test_words_are_compared_as_bags() -> None:
    assert token_f1("a b b", "B a") == pytest.approx(0.8)
    assert token_f1("", "x") == 0.0
    assert token_f1("x", "X") == 1.0


def test_every_file_is_read_or_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "letters").mkdir()
    rows = []
    for name, text in {"a.txt": "one two", "b.txt": "one three", "c.xyz": ""}.items():
        (tmp_path / "files" / name).write_text(text)
        rows.append({"file": f"files/{name}", "doc_id": name[0], "bucket": "letters"})
    (tmp_path / "files" / "manifest.json").write_text(json.dumps(rows))
    gold = [{"doc_id": name, "text": "one two"} for name in "abc"]
    (tmp_path / "letters" / "docs.jsonl").write_text("\n".join(map(json.dumps, gold)))
    results = evaluate(tmp_path)
    assert results["letters txt"].scores == {"a.txt": 1.0, "b.txt": 0.5}
    assert results["letters xyz"].skipped == ["c.xyz: no reader for .xyz (save it as .pdf or text)"]
    assert "skipped: c.xyz: no reader for .xyz (save it as .pdf or text)" in report(results)


def test_an_absent_archive_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["reading", "--archive", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert "manifest.json is not there" in capsys.readouterr().err
