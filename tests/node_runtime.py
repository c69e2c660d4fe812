"""What a node needs to run outside of a graph."""

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

from citegraph.llm.scripted import Replies, Script, scripted
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.run.state_types import Reading

TODAY = date(2025, 3, 1)
"""The day that "last year" refers to in these tests."""

Read = Callable[[str, str], Reading]
Condition = tuple[str, str, Any]


def conditions(reading: Reading) -> list[Condition]:
    """Return the conditions of a reading as (field, operator, value), amounts as they are written, sorted by field."""
    found = [(item["field"], item["operator"], item["value"]) for item in reading["filters"]]
    written = [
        (*rest, " ".join(value.values()) if isinstance(value, dict) else value) for *rest, value in found
    ]
    return sorted(written, key=lambda item: item[0])


def runtime(**settings: Any) -> Any:
    """Return what a node reads of a LangGraph runtime; `today` is fixed unless it is given."""
    context = Context(**{"today": TODAY.isoformat(), **settings})
    return SimpleNamespace(context=context, stream_writer=lambda event: None)


def with_models(services: Services, replies: Replies, only: str = "") -> tuple[Services, Script]:
    """Return services over the same corpus whose steps answer from a script, and the script; `only` one step's may."""
    models, script = scripted(replies)
    if only:
        models.configured = lambda step, overrides=None: step == only  # type: ignore[method-assign]
    return Services(settings=services.settings, ready=services.open(), models=models), script
