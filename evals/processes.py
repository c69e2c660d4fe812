"""What a process and all below it use, as psutil reads it: memory and CPU."""

from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Usage:
    """What a process and its descendants use: megabytes, shared pages counted once, and seconds of CPU since they began."""

    megabytes: float = 0.0
    cpu: float = 0.0


def usage(pid: int) -> Usage:
    """Return what a process and its descendants use; those that ended meanwhile count nothing."""
    try:
        top = psutil.Process(pid)
        processes = [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return Usage()
    memory = cpu = 0.0
    for process in processes:
        try:
            full, times = process.memory_full_info(), process.cpu_times()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        memory += getattr(full, "pss", full.rss)
        cpu += times.user + times.system
    return Usage(memory / 1e6, cpu)
