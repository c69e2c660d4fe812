"""The sources of the page with their packages, for the tests that build it or borrow one of them (axe)."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import zlib
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "page"
BUILT = ROOT / "server" / "page"


@lru_cache
def packages() -> Path:
    """Return the folder of the page's packages, installed as its lock file says; skips the test where npm is missing."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = SOURCES / "node_modules"
    kept, wanted = folder / ".package-lock.json", SOURCES / "package-lock.json"
    # Two processes run the tests: one of them installs, the other waits.
    with (Path(tempfile.gettempdir()) / f"citegraph-page-{zlib.crc32(str(SOURCES).encode())}.lock").open(
        "w"
    ) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists() or kept.stat().st_mtime < wanted.stat().st_mtime:
            command = [npm, "ci", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=SOURCES, check=True, capture_output=True)
            kept.touch()
    return folder


def run(*command: str, **environment: str) -> str:
    """Run a program of the packages in the folder of the sources and return what it says."""
    program = packages() / ".bin" / command[0]
    ended = subprocess.run(
        [str(program), *command[1:]],
        cwd=SOURCES,
        env=os.environ | environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
