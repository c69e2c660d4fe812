"""Commands on the ingested sample corpus: nothing scripted, nothing faked."""

import csv
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from citegraph.errors import Unavailable
from citegraph.run.answer_types import Answer
from cli import export
from cli.demo import SAMPLE
from evals.scoring import MEASURES
from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("in_sample")


def test_a_value_is_answered_with_its_page(run: Run) -> None:
    result = run("ask", "Typical dropout voltage of the NVR7833 at 250 mA?", "--json")
    answer = Answer.model_validate_json(result.out)
    assert (result.code, answer.status, answer.buckets) == (0, "answered", ["datasheets"])
    assert "180" in answer.text
    assert ("nvr7833", 3) in {(citation.doc_id, citation.page) for citation in answer.citations}


def test_a_question_that_fits_two_receipts_asks_back_and_goes_on_later(run: Run) -> None:
    asked = run("ask", "What was the total of the Larut catering receipt of 14 June 2024?", "--json")
    open_answer = Answer.model_validate_json(asked.out)
    assert (asked.code, open_answer.status) == (3, "needs_clarification")
    assert "no documents yet" not in asked.err
    replied = run("ask", "--thread", open_answer.thread_id, "--reply", "the opening dinner, receipt 0322")
    assert replied.code == 0
    assert "512" in replied.out
    assert "larut-receipt-0322" in replied.out
    again = run("ask", "--thread", open_answer.thread_id, "--reply", "the other one")
    assert (again.code, again.out) == (2, "")
    assert "waits for no reply" in again.err


def test_an_unknown_thread(run: Run) -> None:
    result = run("ask", "--thread", "no-such-thread", "--reply", "x")
    assert (result.code, result.out) == (2, "")
    assert "no-such-thread" in result.err


def test_a_greeting_needs_no_documents(run: Run) -> None:
    result = run("ask", "Hello!", "--json")
    answer = Answer.model_validate_json(result.out)
    assert (result.code, answer.retrieval, answer.citations) == (0, False, [])


def test_buckets_are_counted_and_documented(run: Run) -> None:
    listed = json.loads(run("buckets", "--json").out)
    assert [(row["name"], row["documents"]) for row in listed] == [
        (name, len([path for path in (SAMPLE / name).iterdir() if not path.name.startswith("annotations.")]))
        for name in ("certificates", "contracts", "datasheets", "generic", "invoices")
    ]
    shown = run("buckets", "invoices").out
    assert "| vendor_name |" in shown
    assert "Documents: 24" in shown
    assert "- vendor_name: Cobaltine Cloud Inc. (5);" in shown
    unknown = run("buckets", "receipts")
    assert (unknown.code, unknown.out) == (2, "")


def test_export_writes_what_the_filter_matches(run: Run, tmp_path: Path) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(run("export", "-b", "invoices", "-f", "vendor_name=Cobaltine Cloud Inc.").out)
        )
    )
    assert {row["vendor_name"] for row in rows} == {"Cobaltine Cloud Inc."}
    assert len(rows) == 5
    saved = run("export", "-b", "invoices", "--out", tmp_path / "all.csv", "--excel")
    assert saved.err == f"{tmp_path / 'all.csv'}: 24 documents\n"
    assert (tmp_path / "all.csv").read_text("utf-8").startswith("\ufeffdoc_id,")
    wrong = run("export", "-b", "invoices", "-f", "no_such_field=1")
    assert (wrong.code, wrong.out) == (2, "")


def test_an_export_that_fails_leaves_the_file_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(request: export.Export) -> Iterator[str]:
        yield "doc_id\r\n"
        raise Unavailable("The document database does not answer.")

    monkeypatch.setattr(export, "_rows", broken)
    kept = tmp_path / "all.csv"
    kept.write_text("doc_id\r\nold\r\n", "utf-8")
    with pytest.raises(Unavailable):
        export.export(export.Export("invoices", out=kept))
    assert [path.name for path in tmp_path.iterdir()] == ["all.csv"]
    assert kept.read_text("utf-8") == "doc_id\nold\n"


def test_hostile_filters_end_in_one_short_line(run: Run) -> None:
    for text in (
        "vendor_name=" + "a" * 100_000,
        "a" * 10_000 + "=1",
        "'; DROP TABLE meta_invoices;--=1",
        "",
        "'",
    ):
        refused = run("export", "-b", "invoices", "-f", text)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("citegraph: ")
        assert refused.err.count("\n") == 1
        assert len(refused.err) < 700
    assert run("export", "-b", "invoices", "-f", "vendor_name=' OR 1=1 --").out.count("\n") == 1


def test_eval_prints_the_measures(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    result = run("eval", SAMPLE / "questions.jsonl", "--json", "--limit", "3", "--out", out, "--quiet")
    measured = json.loads(result.out)
    assert result.code == 0
    assert {*MEASURES, "rows", "failed", "bad_citations"} == set(measured["overall"])
    assert (measured["overall"]["rows"], measured["overall"]["bad_citations"]) == (3, 0)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["sample-001", "sample-002", "sample-003"]
    assert Answer.model_validate(rows[0]["answer"]).status != "failed"
    plain = run("eval", SAMPLE / "questions.jsonl", "--limit", "1", "--misses").out
    assert plain.startswith("category\trows\trouting\tdocument_precision\t")


def test_eval_refuses_what_it_cannot_measure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"text": "x"}\n')
    result = run("eval", tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "neither questions" in result.err


def test_ingest_reports_everything(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(SAMPLE / "invoices" / "larut-receipt-0314.txt", folder)
    (folder / "empty.txt").write_text(" \n")
    (folder / "image.bmp").write_bytes(b"BM\0\0\1\2")
    notes = tmp_path / "annotations.csv"
    notes.write_text("file,vendor_name,invoice_date,shelf\nlarut-receipt-0314.txt,Larut,not a date,A3\n")
    arguments = ("ingest", folder, "--bucket", "invoices", "--annotations", notes)
    report = json.loads(run(*arguments, "--json").out)
    assert {key: report[key] for key in ("documents", "new", "annotated", "unknown_columns")} == {
        "documents": 1,
        "new": 1,
        "annotated": 1,
        "unknown_columns": {"shelf": 1},
    }
    assert [(bad["column"], bad["value"]) for bad in report["bad_values"]] == [("invoice_date", "not a date")]
    assert sorted(Path(item["path"]).name for item in report["skipped"]) == ["empty.txt", "image.bmp"]
    text = run(*arguments)
    assert text.code == 0
    assert "1 unchanged" in text.out
    assert "bad values (not stored): 1\n  larut-receipt-0314: invoice_date = 'not a date'" in text.out
    assert "unknown columns: 1\n  shelf (1 rows)" in text.out
    assert run("reembed", "invoices", "--quiet").out == "invoices: 1 document indexed anew\n"


def test_ingest_of_nothing_fails(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    result = run("ingest", tmp_path / "missing", "--bucket", "invoices")
    assert result.code == 5
    assert "no such file or folder" in result.out
    assert run("ingest", tmp_path, "--bucket", "nowhere").code == 2


def test_a_condition_that_no_document_holds_leaves_the_whole_set_with_a_note(run: Run) -> None:
    whole = Answer.model_validate_json(run("ask", "Which contracts zeppelin the hangar?", "--json").out)
    assert "12 documents in contracts:" in whole.text
    assert whole.confidence is not None
    assert whole.confidence < 0.7
    assert any("zeppelin" in item.message for item in whole.notes)
