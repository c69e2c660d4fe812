"""Backups, and homes that are damaged: each damage gives one sentence, and the command that it names mends it."""

import gc
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytestmark = pytest.mark.slow

NOTE = "Invoice INV-4471 of Kestrel Optics GmbH. Total amount: 4,471.00 EUR."


@pytest.fixture
def home(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with one document and one thread."""
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CITEGRAPH_INGEST_WORKERS", "1")
    (tmp_path / "kestrel.txt").write_text(NOTE, "utf-8")
    assert run("ingest", tmp_path / "kestrel.txt", "--bucket", "invoices", "--quiet").code == 0
    assert "4,471.00" in asked(run)
    return tmp_path / "home"


def asked(run: Run) -> str:
    return run("ask", "What is the total of INV-4471?", "--thread", "a", "--quiet").out


def spoil(file: Path, content: bytes) -> None:
    """Put other bytes in the place of a database, whose journal would mend it else."""
    # First: a connection that closes later would write the pages that it holds over the damage.
    forgotten(file.parent)
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").unlink(missing_ok=True)
    file.write_bytes(content)


def forgotten(home: Path) -> None:
    """Let go of the database of this process, its connections too, as a new process would have it."""
    from citegraph.corpus.records.database import open_database

    if (home / "citegraph.sqlite").exists():
        open_database(f"sqlite:///{home / 'citegraph.sqlite'}").dispose()
    open_database.cache_clear()
    gc.collect()


def test_a_backup_is_restored_with_documents_threads_and_an_index(
    run: Run, home: Path, tmp_path: Path
) -> None:
    made = run("backup", tmp_path / "b.tar", "--json")
    assert set(json.loads(made.out)["bytes"]) == {"citegraph.sqlite", "threads.sqlite"}
    forgotten(home)
    shutil.rmtree(home)
    assert run("restore", tmp_path / "b.tar").code == 0
    assert "4,471.00" in asked(run)
    with sqlite3.connect(home / "threads.sqlite") as threads:
        assert threads.execute("SELECT count(DISTINCT thread_id) FROM checkpoints").fetchone() == (1,)


def test_a_backup_that_is_made_while_another_process_writes_is_whole(
    run: Run, home: Path, tmp_path: Path
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    for number in range(60):
        text = f"Invoice INV-9{number:03} of Kestrel Optics GmbH. Total amount: 7{number:02}.00 EUR."
        (more / f"{number}.txt").write_text(text, "utf-8")
    command = [sys.executable, "-m", "cli.commands", "ingest", str(more), "--bucket", "invoices", "--quiet"]
    with subprocess.Popen(command) as writing:
        taken: list[Path] = []
        while writing.poll() is None:
            taken.append(tmp_path / f"{len(taken)}.tar")
            assert run("backup", taken[-1]).code == 0
    assert writing.returncode == 0
    held = set()
    for backup in (taken[0], taken[len(taken) // 2], taken[-1]):
        forgotten(home)
        shutil.rmtree(home)
        assert run("restore", backup).code == 0
        assert "4,471.00" in asked(run)
        assert run("ingest", more, "--bucket", "invoices", "--quiet").code == 0
        with sqlite3.connect(home / "citegraph.sqlite") as store:
            held.add(store.execute("SELECT count(*), min(status), max(status) FROM documents").fetchone())
    assert held == {(61, "done", "done")}


def test_a_backup_that_is_damaged_cut_or_newer_changes_nothing(run: Run, home: Path, tmp_path: Path) -> None:
    good = tmp_path / "b.tar"
    assert run("backup", good).code == 0
    data = good.read_bytes()
    place = data.index(b"Kestrel")
    bad = {
        "cut.tar": data[: len(data) // 2],
        "damaged.tar": data[:place] + b"K3strel" + data[place + 7 :],
        "newer.tar": data.replace(b'"format": 1', b'"format": 9'),
        "other.tar": b"text" * 500,
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        said = run("restore", tmp_path / name)
        assert (said.code, said.err.count("\n")) == (2, 1), name
        assert "4,471.00" in asked(run), name
    with tarfile.open(tmp_path / "out.tar", "w") as archive:
        archive.add(tmp_path / "kestrel.txt", "../../outside.txt")
    assert run("restore", tmp_path / "out.tar").code == 2
    assert not (tmp_path.parent / "outside.txt").exists()
    assert not list(home.glob(".restore-*"))


def test_a_damaged_store_is_restored_from_the_last_backup(run: Run, home: Path) -> None:
    assert run("backup").code == 0
    spoil(home / "citegraph.sqlite", os.urandom(40_000))
    said = run("ask", "What is the total of INV-4471?")
    assert "citegraph doctor --repair" in said.out
    forgotten(home)
    assert "restored from" in run("doctor", "--repair").err
    forgotten(home)
    assert "4,471.00" in asked(run)


def test_without_a_backup_the_damage_is_named_and_nothing_is_moved(run: Run, home: Path) -> None:
    spoil(home / "citegraph.sqlite", b"nothing of a database" * 500)
    said = run("doctor", "--repair")
    assert said.code == 5
    assert "no backup" in said.err
    assert (home / "citegraph.sqlite").read_bytes().startswith(b"nothing of")


def test_a_damaged_index_is_made_anew_of_the_documents(run: Run, home: Path) -> None:
    for file in (home / "index" / "invoices").rglob("*"):
        if file.is_file():
            file.write_bytes(b"\x00damaged" * 20)
    assert "made anew of 1 documents" in run("doctor", "--repair").err
    assert "4,471.00" in asked(run)


def test_damaged_threads_are_put_aside(run: Run, home: Path) -> None:
    (home / "threads.sqlite").write_bytes(b"nothing of a database" * 500)
    said = run("ask", "What is the total of INV-4471?", "--thread", "a")
    assert "doctor --repair" in said.err
    assert "put aside" in run("doctor", "--repair").err
    assert "4,471.00" in asked(run)


def test_a_newer_home_is_refused(run: Run, home: Path) -> None:
    with sqlite3.connect(home / "citegraph.sqlite") as store:
        store.execute("UPDATE store_format SET number = 99")
    forgotten(home)
    assert "newer Citegraph" in run("ask", "What is the total of INV-4471?").out
    assert run("export", "invoices").code == 2
    with sqlite3.connect(home / "citegraph.sqlite") as store:
        store.execute("UPDATE store_format SET number = 1")
    with sqlite3.connect(home / "threads.sqlite") as threads:
        threads.execute("PRAGMA user_version = 99")
    forgotten(home)
    said = run("ask", "What is the total of INV-4471?", "--thread", "a")
    assert (said.code, "newer Citegraph" in said.err) == (2, True)
