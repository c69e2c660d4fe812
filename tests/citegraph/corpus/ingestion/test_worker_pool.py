"""Files are read in worker processes in their order; what hangs, swells or dies is named and the rest goes on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from citegraph.corpus.ingestion.ingest_options import Limits
from citegraph.corpus.ingestion.worker import Step, StepReader, too_large
from citegraph.corpus.ingestion.worker_pool import open_readers
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread

READ = StepReader(ReadOptions(), Limits())


def read_badly(path: Path) -> Step:
    """Read as the name says; the name of any other file is its text."""
    match path.stem:
        case "hangs":
            time.sleep(60)
        case "dies":
            os._exit(7)
        case "swells":
            return Step(readings=(Reading("x" * len(bytearray(2_000_000_000))),), finished=True)
        case "odd":
            raise ArithmeticError
    return Step((Reading(path.stem),), finished=True)


async def read_all(
    files: Sequence[Path], limits: Limits, *, workers: int = 2, read: object = None
) -> list[tuple[str, list[str], str]]:
    """Return (file, texts, failure) of each file in order."""
    found: dict[Path, tuple[list[str], str]] = {}
    async with open_readers(workers, read or StepReader(ReadOptions(), limits), limits) as readers:  # type: ignore[arg-type]
        async for file, step in readers.read(files):
            texts, _ = found.setdefault(file, ([], ""))
            texts += [item.text if isinstance(item, Reading) else item.reason for item in step.readings]
            found[file] = texts, step.failure
            assert step.finished or step.readings
    return [(file.name, texts, failure) for file, (texts, failure) in found.items()]


def name_loaded(path: Path) -> Step:
    """Name the late-loaded modules that are there before anything was read."""
    late = ("charset_normalizer", "lxml.etree", "pdfplumber.table", "pint", "pycountry", "pypdfium2")
    return Step((Reading(" ".join(name for name in late if name in sys.modules)),), finished=True)


async def test_a_worker_begins_with_what_reading_and_extraction_load_late() -> None:
    [(_, texts, _)] = await read_all([Path("a")], Limits(), workers=1, read=name_loaded)
    assert texts == ["charset_normalizer lxml.etree pdfplumber.table pycountry pypdfium2"]


@pytest.mark.slow
async def test_what_hangs_dies_or_swells_is_named_and_the_rest_is_read() -> None:
    names = ["a", "hangs", "b", "dies", "c", "swells", "d", "odd", "e"]
    limits = Limits(seconds=3, memory_mb=1500)
    read = await read_all([Path(name) for name in names], limits, read=read_badly)
    assert [name for name, _, _ in read] == names
    failures = {name: failure for name, texts, failure in read if texts != [name]}
    assert list(failures) == ["hangs", "dies", "swells", "odd"]
    assert failures["hangs"] == "was not read within 3 s: check it, or raise CITEGRAPH_INGEST_SECONDS"
    assert failures["dies"].startswith("its parser died (code 7)")
    assert failures["swells"] == too_large(limits)
    assert failures["odd"] == "cannot be read (ArithmeticError): open it in its program and save it again"


@pytest.mark.parametrize("workers", [0, 1, 3])
async def test_a_long_file_comes_in_steps_and_files_keep_their_order(tmp_path: Path, workers: int) -> None:
    long = tmp_path / "long.jsonl"
    lines = [f'{{"doc_id": "d{n}", "text": "text {n}"}}' for n in range(300)]
    long.write_text("\n".join([*lines, "{broken"]))
    short = tmp_path / "short.txt"
    short.write_text("short")
    bad = tmp_path / "bad.xyz"
    bad.write_text("?")
    read = await read_all([short, long, bad, tmp_path / "gone.txt"], Limits(), workers=workers)
    assert read == [
        ("short.txt", ["short"], ""),
        ("long.jsonl", [*(f"text {n}" for n in range(300)), "not JSON"], ""),
        ("bad.xyz", [], "no reader for .xyz (save it as .pdf or text)"),
        ("gone.txt", [], "was gone when it was to be read: ingest again"),
    ]


def test_a_step_ends_at_a_number_of_documents_or_characters(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(f'{{"doc_id": "{n}", "text": "{"word " * 300_000}"}}' for n in range(3)))
    steps = [READ(file) for _ in range(2)]
    assert [(len(step.readings), step.characters, step.finished) for step in steps] == [
        (2, 3_000_000, False),
        (1, 1_500_000, True),
    ]
    file.write_text("\n" + "[]\n" * 64)
    first, second = READ(file), READ(file)
    assert (len(first.readings), first.finished) == (64, False)
    assert first.readings[0] == Unread("line 2", "not a JSON object")
    assert second == Step(finished=True)


def test_memory_that_runs_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_text("text")
    monkeypatch.setattr("citegraph.corpus.readers.plain_text.decoded", swell)
    step = StepReader(ReadOptions(), Limits(memory_mb=77))(file)
    assert step.failure == "needs more than 77 MB of memory: split it, or raise CITEGRAPH_INGEST_MEMORY_MB"


def swell(data: bytes) -> str:
    raise MemoryError


PARENT = """
import asyncio, sys
from pathlib import Path
from citegraph.corpus.ingestion.worker_pool import open_readers
from citegraph.corpus.ingestion.ingest_options import Limits
from tests.citegraph.corpus.ingestion.test_worker_pool import told_and_hanging

async def main():
    async with open_readers(1, told_and_hanging, Limits()) as readers:
        async for _ in readers.read([Path(sys.argv[1])]):
            pass

if __name__ == "__main__":
    asyncio.run(main())
"""


def told_and_hanging(path: Path) -> Step:
    """Write this process's id into a file and hang."""
    path.write_text(str(os.getpid()))
    time.sleep(60)
    return Step()


@pytest.mark.slow
def test_workers_end_with_their_killed_parent(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    root = str(Path(__file__).parents[4])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(told)], env={**os.environ, "PYTHONPATH": root}
    )
    wait_for(lambda: told.exists() and told.read_text() != "")
    worker = int(told.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_for(lambda: not is_running(worker))


def wait_for(condition: object, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    try:
        return "State:\tZ" not in status.read_text()
    except FileNotFoundError:
        return False
