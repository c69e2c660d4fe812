"""`citegraph ingest`: the report, the dry run, exit codes, Ctrl-C, and a second writer."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from citegraph.corpus.ingestion.report import Filled, IngestReport, NewVersion
from citegraph.errors import BadInput
from cli.ingest import Ingest, ingest, report_text
from cli.terminal import progress

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "cli.commands", "ingest"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CITEGRAPH_INGEST_WORKERS", "1")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("A note on ropes.")
    (folder / "empty.txt").write_text("")
    return folder


def test_a_dry_run_tells_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder.parent / "report.json"
    request = Ingest([folder], bucket="generic", dry_run=True, report=file, quiet=True)
    for _ in range(2):
        assert ingest(request) == 0
        report = json.loads(file.read_text())
        assert (report["new"], report["documents"], report["chunks"]) == (1, 1, 1)
        assert report["skipped"][0]["reason"].startswith("the file is empty (0 bytes)")
    assert capsys.readouterr().out.startswith(
        "dry run, nothing was written; with it:\ngeneric: 1 document in "
    )
    assert not (folder.parent / "home" / "index").exists()
    assert ingest(Ingest([folder], bucket="generic", quiet=True)) == 0
    assert ingest(request) == 0
    assert json.loads(file.read_text())["unchanged"] == 1


def test_exit_codes(folder: Path) -> None:
    assert ingest(Ingest([folder], bucket="generic", quiet=True)) == 0
    assert ingest(Ingest([folder], bucket="generic", strict=True, quiet=True)) == 4
    assert ingest(Ingest([folder / "a.txt"], bucket="generic", strict=True, quiet=True)) == 0
    assert ingest(Ingest([folder / "empty.txt"], bucket="generic", strict=True, quiet=True)) == 5
    with pytest.raises(BadInput, match="there is no folder"):
        ingest(Ingest([folder], bucket="generic", report=folder / "no" / "report.json", quiet=True))
    with pytest.raises(BadInput, match="cannot be written"):
        ingest(Ingest([folder], bucket="generic", report=folder, quiet=True))


def test_versions_are_shown() -> None:
    report = IngestReport("generic", new=2)
    report.versions.append(NewVersion("b", "a", "revision 2 after 1"))
    assert report_text(report).splitlines()[1:] == [
        "new versions: 1",
        "  b supersedes a: revision 2 after 1",
    ]


def test_what_was_found_is_told_a_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    slips = tmp_path / "slips"
    slips.mkdir()
    for number in range(3):
        total = "" if number == 2 else f"Total: {number + 4}.00 EUR\n"
        (slips / f"{number}.txt").write_text(
            f"Invoice number: K-20{number}\n{total}paid in cash on {number}\n"
        )
    request = Ingest([slips], bucket="invoices", quiet=True)
    assert ingest(request) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[1] == "values:"
    assert "  invoice_number found in 3 of 3" in told
    assert "  total_amount found in 2 of 3" in told
    assert "  invoice_date found in 0 of 3" in told
    file = tmp_path / "report.json"
    assert ingest(Ingest([slips], bucket="invoices", quiet=True, report=file)) == 0
    found = {item["field"]: item for item in json.loads(file.read_text())["values"]}
    assert found["total_amount"] == {"field": "total_amount", "found": 2, "review": 0, "telling": True}
    assert "discount_date" not in found, "of fields that no document has nothing is said"


def test_what_is_to_be_looked_at_is_counted() -> None:
    values = [Filled("total", 38, 5, True), Filled("title", 41, 0, True), Filled("terms", 3, 2, False)]
    report = IngestReport("slips", new=41, values=values)
    assert report_text(report).splitlines()[1:] == [
        "values:",
        "  total found in 38 of 41; 5 to review",
        "  title found in 41 of 41",
        "  in all 7 to review: citegraph annotate -b slips",
    ]


def test_plain_progress_has_rate_and_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress("ingest notes") as show:
        assert show is not None
        now[0] = 110.0
        show(50, 200, "a.txt")
        show(60, 200, "b.txt")
        now[0] = 120.0
        show(200, 200, "c.txt")
    assert capsys.readouterr().err.splitlines() == [
        "ingest notes: 50/200 (5.0/s, 30 s left)",
        "ingest notes: 200/200 (10/s)",
    ]


HOLDER = """
import asyncio, sys
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.llm.embeddings import StaticEmbedder
from pathlib import Path

async def main():
    index = EdgeIndex(Path(sys.argv[1]) / "index", StaticEmbedder(), weights=(1.0, 3.0))
    await index.ensure(load_buckets()["generic"])
    print("ready", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_second_writer_is_refused(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    home = str(folder.parent / "home")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        second = subprocess.run(
            [*COMMAND, str(folder), "--bucket", "generic", "--quiet"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        holder.communicate()
    assert second.returncode == 5
    assert "open in another process" in second.stderr
    assert "QDRANT_URL" in second.stderr
    assert "What was written stays. The same command goes on from there." in second.stderr
    assert ingest(Ingest([folder], bucket="generic", quiet=True)) == 0


@pytest.mark.parametrize(
    ("kind", "ignored"), [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)]
)
@pytest.mark.slow
def test_an_interrupted_ingest_says_how_to_go_on(folder: Path, kind: signal.Signals, ignored: bool) -> None:
    rows = (json.dumps({"doc_id": f"d{n}", "text": f"Note {n}. " * 400}) for n in range(3000))
    (folder / "rows.jsonl").write_text("\n".join(rows))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CITEGRAPH_INGEST_WORKERS": "1"}
    # A shell that runs the tests in the background has all its children ignore SIGINT; this one shall not.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    child = subprocess.Popen(
        [*COMMAND, str(folder), "--bucket", "generic"], env=environment, stderr=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, before)
    record = folder.parent / "home" / "index" / "generic.json"
    while not record.exists():
        assert child.poll() is None
        time.sleep(0.02)
    child.send_signal(kind)
    _, errors = child.communicate()
    assert child.returncode == 130
    assert "What was written stays. The same command goes on from there." in errors
    assert "Traceback" not in errors
