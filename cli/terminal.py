"""Where output goes: rich on a terminal, plain lines when piped; progress and steps always on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from citegraph.run.events import Event

Progress = Callable[[int, int, str], None]
PLAIN_SECONDS = 5.0
"""Seconds between two plain lines of progress."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 document", "1,200 documents"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def say(text: str = "") -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr, flush=True)


def interactive() -> bool:
    """Tell whether a person sits at the terminal: questions can be asked and answered."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


@contextmanager
def progress(title: str, *, quiet: bool = False) -> Iterator[Progress | None]:
    """Yield a function that shows (done, all, name): a bar on a terminal, now and then a line when piped."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(title) as show:
            yield show
    else:
        yield _Lines(title)


@contextmanager
def _bar(title: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    fixed = Column(no_wrap=True)
    columns = (
        TextColumn("{task.description}", table_column=fixed),
        BarColumn(bar_width=20),
        MofNCompleteColumn(table_column=fixed),
        TextColumn("{task.fields[rate]}", table_column=fixed),
        TimeRemainingColumn(table_column=fixed),
        # Only the name gives way on a narrow terminal.
        TextColumn("{task.fields[name]}", style="dim", table_column=Column(no_wrap=True, ratio=1)),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        task = bar.add_task(title, total=None, name="", rate="")
        pace = _Pace()

        def show(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, name=name, rate=f"{_short(pace(done, name))}/s")

        yield show


class _Pace:
    """Units a second, without those that needed no work (a call without a name)."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._free = 0

    def __call__(self, done: int, name: str) -> float:
        self._free = self._free if name else done
        return (done - self._free) / max(time.monotonic() - self._began, 0.001)


def _short(rate: float) -> str:
    return f"{rate:,.{0 if rate >= 10 else 1}f}"


class _Lines:
    """Plain progress: at most a line every few seconds, and one at the end."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._last = time.monotonic()
        self._pace = _Pace()

    def __call__(self, done: int, total: int, name: str) -> None:
        now = time.monotonic()
        rate = self._pace(done, name)
        if now - self._last >= PLAIN_SECONDS or done == total:
            self._last = now
            left = f", {(total - done) / rate:,.0f} s left" if rate and done < total else ""
            say(f"{self._title}: {done}/{total} ({_short(rate)}/s{left})")


def step_line(event: "Event") -> str:
    """Return an event as one line, "" when it says nothing to people."""
    if event["event"] == "tool":
        sought = f" for “{event['query'][:80]}”" if event["query"] else f" in {', '.join(event['buckets'])}"
        found = event["error"] or f"{counted(event['hits'], 'hit')}"
        return f"  {event['tool']}: {found}{sought}"
    if event["event"] == "correction":
        return f"correction: {event['reason']}"
    if event["event"] != "step":
        return ""
    if event["detail"]:
        return f"{event['step']}: {event['detail']}"
    return "" if event["step"] in {"search", "clarify"} else event["step"]


class Steps:
    """Shows the steps of a run while it works: one line each."""

    def __call__(self, event: "Event") -> None:
        """Show one event."""
        if line := step_line(event):
            say(line)

    def pause(self) -> None:
        """Free the terminal for a question."""


class SilentSteps(Steps):
    """Shows nothing."""

    def __call__(self, event: "Event") -> None:
        """Show nothing."""


DOING = {
    "schema_plan": "searching",
    "search": "reading what was found",
    "prune": "reading what was found",
    "review": "writing the answer",
    "compose": "checking the answer",
}
"""What is done after a step, for who waits; "thinking" after the others."""


class LiveSteps(Steps):
    """A spinner with the current step, then the answer as it is written; steps that told something stay above it.

    What is written is not verified yet, so it goes when the run ends: the answer itself is printed after it.
    """

    def __init__(self, console: "Console | None" = None, *, told: bool = True) -> None:
        """Show the steps on a console; without `told` none of them stays."""
        from rich.console import Console

        self._console = console or Console(stderr=True, highlight=False)
        self._status = self._console.status("thinking", spinner="dots")
        self._written = ""
        self._told = told

    def __call__(self, event: "Event") -> None:
        """Show one event."""
        from rich.text import Text

        self._status.start()
        line = step_line(event)
        if self._told and ":" in line:
            self._console.print(line, style="dim", markup=False)
        if event["event"] == "step":
            # A step is told of at its end: from here on something else is done.
            self._status.update(Text(f"{DOING.get(event['step'], 'thinking')}{self._shown()}"))
        elif event["event"] == "correction":
            self._written = ""
        elif event["event"] == "token":
            self._written += event["text"]
            self._status.update(Text(f"writing{self._shown()}"))

    def _shown(self) -> str:
        """Return the end of what is written, as much as the terminal can hold."""
        room = (self._console.height - 6) * self._console.width // 2
        return f"\n{self._written[-max(room, self._console.width) :]}" if self._written else ""

    def pause(self) -> None:
        """Stop the spinner and take away what was written."""
        self._written = ""
        self._status.stop()


def make_steps(*, quiet: bool, told: bool = True) -> Steps:
    """Return how this process shows steps; without `told` a terminal keeps none of them above the answer."""
    if quiet:
        return SilentSteps()
    return LiveSteps(told=told) if sys.stderr.isatty() else Steps()


def write(text: str) -> None:
    """Print the result on stdout."""
    print(text, flush=True)
