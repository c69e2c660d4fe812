"""Where output goes: rich on a terminal, plain lines when piped; progress and steps always on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

Progress = Callable[[int, int, str], None]
Event = dict[str, Any]
PLAIN_SECONDS = 5.0
"""Seconds between two plain lines of progress."""


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

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", style="dim"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, name="")
        yield lambda done, total, name: bar.update(task, completed=done, total=total, name=name[:40])


class _Lines:
    """Plain progress: at most a line every few seconds, and one at the end."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._last = time.monotonic()

    def __call__(self, done: int, total: int, name: str) -> None:
        now = time.monotonic()
        if now - self._last >= PLAIN_SECONDS or done == total:
            self._last = now
            say(f"{self._title}: {done}/{total}")


class Steps(Protocol):
    """Shows the steps of a run while it works."""

    def __call__(self, event: Event) -> None:
        """Show one event of `graph.session`."""

    def pause(self) -> None:
        """Free the terminal for a question."""


def step_line(event: Event) -> str:
    """Return an event as one line, "" when it says nothing to people."""
    match event.get("event"):
        case "tool":
            query = f" for “{event['query'][:80]}”" if event.get("query") else ""
            noun = "hit" if event["hits"] == 1 else "hits"
            return f"  {event['tool']}: {event['hits']:,} {noun}{query}"
        case "step" if event.get("detail"):
            return f"{event['step']}: {event['detail']}"
        case "step" if event.get("step") not in {"search", "clarify", ""}:
            return str(event["step"])
    return ""


class PlainSteps:
    """One line a step."""

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if line := step_line(event):
            say(line)

    def pause(self) -> None:
        """Nothing to free."""


class SilentSteps(PlainSteps):
    """Shows nothing."""

    def __call__(self, event: Event) -> None:
        """Show nothing."""


class LiveSteps:
    """A spinner with the current step; steps that told something stay above it."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._status = self._console.status("thinking", spinner="dots")

    def __call__(self, event: Event) -> None:
        """Show one event."""
        self._status.start()
        line = step_line(event)
        if ":" in line:
            self._console.print(line, style="dim", markup=False)
        if event.get("step"):
            self._status.update(f"{event['step']} done")

    def pause(self) -> None:
        """Stop the spinner."""
        self._status.stop()


def make_steps(*, quiet: bool) -> Steps:
    """Return how this process shows steps."""
    if quiet:
        return SilentSteps()
    return LiveSteps() if sys.stderr.isatty() else PlainSteps()


def write(text: str) -> None:
    """Print the result on stdout."""
    print(text, flush=True)
