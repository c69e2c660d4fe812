"""What is seen of a step of a run: names, ids and numbers, never text; whoever counts or logs runs is an `Observer`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StepSeen:
    """A step that ended, or the end of a whole run that no step saw (`step` is then "run").

    Attributes:
        seconds: wall clock of the step; None when its twin stood in for it.
        tool: the tool that a search called.
        candidates: hits that a search brought; None for other steps. `scores` are theirs, in order.
        usage: model calls, tokens, cache hits, fallbacks and cost of this step alone.
        notes: kinds of the notes that the step left.
        status: of the run, when it ended or paused with this step. `run_seconds` is then its wall clock.
    """

    step: str
    run_id: str = ""
    thread_id: str = ""
    seconds: float | None = None
    tool: str = ""
    candidates: int | None = None
    scores: tuple[float, ...] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    status: str = ""
    run_seconds: float | None = None


class Observer(Protocol):
    """Hears of every step; must neither block nor raise."""

    def saw(self, seen: StepSeen) -> None:
        """Take note of a step."""
        ...


class Relay:
    """An observer that passes on to those who come later: graphs are built before the server beside them starts."""

    def __init__(self) -> None:
        self.to: tuple[Observer, ...] = ()

    def saw(self, seen: StepSeen) -> None:
        """See `Observer.saw`."""
        for observer in self.to:
            observer.saw(seen)
