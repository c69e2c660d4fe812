"""What a process uses: it and all below it."""

import subprocess
import sys

from benches.processes import Usage, usage


def test_usage_counts_a_process_and_all_below_it() -> None:
    child = "import sys; held = bytearray(50_000_000); print('held', flush=True); sys.stdin.read()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"held\n"
        found = usage(running.pid)
        running.communicate()
    assert found.megabytes > 50 > found.own > 0
    assert found.cpu > 0


def test_a_process_that_ended_uses_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    assert usage(ended.pid) == Usage()
