"""A process's memory is summed by what it is, and answers are kept without what passes."""

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from benches.documents.memory import lasting, mappings, memory


def mapped(path: str, rss: int) -> Any:
    return SimpleNamespace(path=path, rss=rss)


def test_the_mappings_of_the_index_are_one() -> None:
    maps = [mapped("/opt/lib.so", 5_100_000), mapped("[anon]", 9_200_000)]
    maps += [mapped(f"/srv/kept/index/leases/segments/a b/page_{n}.dat", 500_000) for n in range(2)]
    assert mappings(maps) == {"[anon]": 9.2, "lib.so": 5.1, "index": 1.0}


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's files are those of Linux")
def test_a_process_holds_what_it_has_allocated() -> None:
    before = memory(os.getpid())["all"]
    held = bytes(range(256)) * 400_000
    after = memory(os.getpid())["all"]
    assert after["anonymous"] - before["anonymous"] >= 90
    assert after["rss"] - before["rss"] >= 90
    assert abs(after["rss"] - after["anonymous"] - after["of_files"]) <= 1
    assert len(held) == 102_400_000


def test_an_answer_is_kept_without_what_passes() -> None:
    answer = {"status": "answered", "thread_id": "a", "clarification": {"text": "x", "interrupt_id": "b"}}
    assert lasting(answer) == {"status": "answered", "clarification": {"text": "x"}}
