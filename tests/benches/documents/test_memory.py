"""What the kernel says of a process's memory is summed by what it is, and answers are kept without what passes."""

import os
import sys

import pytest

from benches.documents.memory import lasting, mappings, megabytes, memory

ROLLUP = """55d0-7ffe ---p 00000000 00:00 0 [rollup]
Rss:              300000 kB
Pss:              250000 kB
Shared_Clean:      60000 kB
Private_Clean:     40000 kB
Anonymous:        180000 kB
"""
SMAPS = """55d000-55e000 r--p 00000000 fe:00 123   /opt/python/lib.so
Size:               4000 kB
Rss:                3000 kB
55e000-55f000 r-xp 00001000 fe:00 123   /opt/python/lib.so
Rss:                2000 kB
7f0000-7f8000 rw-p 00000000 00:00 0
Rss:                9000 kB
7f9000-7fa000 rw-s 00000000 fe:00 77   /srv/kept/index/leases/segments/a b/page_0.dat
Rss:                1000 kB
"""


def test_memory_is_told_by_what_it_is() -> None:
    assert megabytes(ROLLUP) == {"rss": 307, "pss": 256, "anonymous": 184, "of_files": 123, "clean": 102}


def test_mappings_of_one_file_are_summed_and_those_of_the_index_are_one() -> None:
    assert mappings(SMAPS) == {"anonymous": 9.2, "lib.so": 5.1, "index": 1.0}


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's files are those of Linux")
def test_a_process_holds_what_it_has_allocated() -> None:
    before = memory(os.getpid())["all"]
    held = bytes(range(256)) * 400_000
    after = memory(os.getpid())["all"]
    assert after["anonymous"] - before["anonymous"] >= 90
    assert len(held) == 102_400_000


def test_an_answer_is_kept_without_what_passes() -> None:
    answer = {"status": "answered", "thread_id": "a", "clarification": {"text": "x", "interrupt_id": "b"}}
    assert lasting(answer) == {"status": "answered", "clarification": {"text": "x"}}
