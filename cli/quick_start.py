"""A quick start of a command: heavy packages of which LangGraph needs one name are loaded when they are used."""

import atexit
import gc
import sys
from importlib.util import find_spec, module_from_spec
from typing import Any

DEFERRED = ("langgraph_sdk", "langsmith.types", "filetype")
"""Packages whose `__init__` imports everything they have: a client of servers, 200 models of an API, the signatures of files.
LangGraph, LangSmith and LangChain import each for a type or a name; together they took 0.3 s of CPU."""
UNUSED = "httpx._main"
"""The command line of httpx, which httpx does without where it cannot be imported."""
LOADED, COLLECTED_AFTER = 350_000, 50_000
"""New objects after which garbage is looked for, 700 as Python is set: first, and from then on. Imports and one question make and keep
some 300,000, a fiftieth of them garbage; going through them again and again took 0.3 s of CPU, and of 50,000 at a time still 0.14 s."""


def start_quickly() -> None:
    """Let imports that follow load less; once, before anything of LangGraph is imported."""
    gc.set_threshold(LOADED)
    # At its end Python would go through all that is left, twice: 0.4 s for what the system takes at once.
    atexit.register(gc.freeze)
    for name in DEFERRED:
        if name not in sys.modules:
            _defer(name)
    sys.modules.setdefault(UNUSED, None)  # type: ignore[arg-type]


def keep_loaded() -> None:
    """Leave what this process loads until its first collection out of all collections: for a process that is one command."""
    if _loaded not in gc.callbacks:
        gc.callbacks.append(_loaded)


def _loaded(phase: str, details: dict[str, int]) -> None:
    del phase, details
    gc.callbacks.remove(_loaded)
    gc.freeze()
    gc.set_threshold(COLLECTED_AFTER)


def _defer(name: str) -> None:
    """Put a package in `sys.modules` whose `__init__` runs when it is asked for more than a submodule."""
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    loader, package = spec.loader, module_from_spec(spec)

    def load(attribute: str) -> Any:
        if vars(package).pop("__getattr__", None):
            loader.exec_module(package)
        return getattr(package, attribute)

    vars(package)["__getattr__"] = load
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)
