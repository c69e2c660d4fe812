"""What a process and all below it use, as psutil reads it: memory and CPU."""

from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Usage:
    """What a process and its descendants use: megabytes, shared pages counted once, and seconds of CPU since they began.

    `own` are the megabytes of the process alone.
    """

    megabytes: float = 0.0
    cpu: float = 0.0
    own: float = 0.0


def usage(pid: int) -> Usage:
    """Return what a process and its descendants use; those that ended meanwhile count nothing."""
    try:
        top = psutil.Process(pid)
        processes = [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return Usage()
    memory = cpu = own = 0.0
    for process in processes:
        try:
            full, times = process.memory_full_info(), process.cpu_times()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        used = getattr(full, "pss", full.rss)
        memory += used
        own += used if process is top else 0
        cpu += times.user + times.system
    return Usage(memory / 1e6, cpu, own / 1e6)
