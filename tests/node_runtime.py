"""What a node needs to run outside of a graph."""

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

from citegraph.corpus.filters.clause import Clause
from citegraph.llm.scripted import Replies, Script, scripted
from citegraph.question.reading import Reading
from citegraph.run.context import Context
from citegraph.run.services import Services

TODAY = date(2025, 3, 1)
"""The day that "last year" refers to in these tests."""

Read = Callable[[str, str], Reading]
Condition = tuple[str, str, Any]


def conditions(reading: Reading) -> list[Condition]:
    """Return the clauses of a reading as (field, operator, value), sorted by field."""
    found = [(item.field, item.operator, item.value) for item in reading.clauses if isinstance(item, Clause)]
    assert len(found) == len(reading.clauses)
    return sorted(found, key=lambda item: item[0])


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
