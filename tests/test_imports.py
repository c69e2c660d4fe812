"""No circle of imports, not even one hidden by a late import or `TYPE_CHECKING`; each late import has its reason."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("graph", "nodes", "tools", "citegraph", "server", "cli", "evals", "benches")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for name in PACKAGES
    for path in (ROOT / name).rglob("*.py")
    if path.name != "__init__.py"
}

STORES = "stores, index and its engine are opened by the first run that needs them, not by a start"
MODEL = "openai and langchain_openai are loaded only where a model is configured"
COMMAND = "a command loads what it needs: `citegraph --help` is read far more often than any of them runs"
LATE = {
    "graph.session": "the drivers of threads are loaded where those are kept: PostgreSQL's, or SQLite's",
    "citegraph.run.services": STORES,
    "citegraph.corpus.index.engine_process": "the engine is loaded by its own process, not by the one that asks it",
    "citegraph.corpus.ingestion.pipeline": "Ray is loaded only when it reads",
    "citegraph.corpus.ingestion.on_ray": "Ray is loaded only when it reads",
    "citegraph.corpus.ingestion.preparing": "worker processes load extraction and vectors when they first need them",
    "citegraph.corpus.index.rerankers": "a model of the reranker is loaded only where one is set",
    "citegraph.llm.embeddings": "an HTTP client is loaded only where an endpoint is asked",
    "citegraph.corpus.filters.checks": "dates and countries are read only where a filter has one",
    "citegraph.corpus.filters.qdrant_filter": "typed values are read only where a filter has one",
    "citegraph.corpus.schema.values": "pycountry is loaded only for fields that hold countries",
    "citegraph.answer.judge_by_model": MODEL,
    "citegraph.evidence.expand_by_model": MODEL,
    "citegraph.evidence.rerank_by_model": MODEL,
    "citegraph.run.model_calls": MODEL,
    "nodes.agent": MODEL,
    "nodes.compose": MODEL,
    "tools.value_rows": COMMAND,
    "server.listening": "the SDK of MCP is loaded only where a client of it asks",
    "server.running": "the served graphs exist inside LangGraph Server only",
}
COMMANDS = ("cli.", "benches.")
"""Packages whose late imports all have the reason `COMMAND`."""


@cache
def imports() -> dict[str, dict[str, bool]]:
    """Return, for each module, the modules of ours that it imports, and whether only inside of a function."""
    return {name: dict(imported(path)) for name, path in MODULES.items()}


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    tree = ast.parse(path.read_text("utf-8"))
    within = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from ((name, node in within) for name in names if name in MODULES)


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter({name: set(found) for name, found in imports().items()}).prepare()
    except CycleError as circle:
        raise AssertionError(" -> ".join(circle.args[1])) from None


def test_every_late_import_has_its_reason() -> None:
    late = {name for name, found in imports().items() if any(found.values())}
    assert {name for name in late if not name.startswith(COMMANDS)} == set(LATE)
