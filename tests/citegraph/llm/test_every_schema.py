"""Every schema that any module sends to a model passes OpenAI's strict rules; they are found by reading all modules.

A call of the seam is an `ast.Call` of one of `SEAMS`, or of `text` with tools. Its schema must be a class that the
module names; a schema that is made in another way fails here until it is checked here.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from citegraph.llm.strict import strict_schema
from citegraph.run.services import Services
from tests.citegraph.llm.strict_rules import check_strict

ROOTS = ("citegraph", "cli", "evals", "graph", "nodes", "server", "tools")
SEAMS = {"structured": 2, "ask_model": 3, "call_model": 3}
"""Functions that send a schema, with the place of it among their arguments."""
THROUGH = {"citegraph.run.model_calls": {"ask_model", "call_model"}}
"""Functions that hand on the schema which they are given."""
WITH_TOOLS = {"nodes.agent"}
"""Modules that send tools; see the tests at the end."""
STEPS_ASKED = 10
"""Call sites that there are at least: a walk that finds fewer is broken."""


@dataclass(frozen=True)
class Site:
    """A call of the seam: where it stands, in which functions, and the expression of its schema or tools."""

    module: str
    line: int
    within: frozenset[str]
    seam: str
    given: ast.expr | None


def sources() -> Iterator[tuple[str, str]]:
    """Yield (module, source) of every module of the project."""
    for root in ROOTS:
        package = importlib.import_module(root)
        for found in pkgutil.walk_packages(package.__path__, f"{root}."):
            spec = importlib.util.find_spec(found.name)
            if spec is not None and spec.origin and spec.origin.endswith(".py"):
                with open(spec.origin, encoding="utf-8") as file:
                    yield found.name, file.read()


CALLED = re.compile(rf"\b(?:{'|'.join(SEAMS)}|bind_tools|with_structured_output|tools)\b")


def sites(module: str, source: str) -> Iterator[Site]:
    """Yield the calls of the seam in one module; one without their words is not taken apart, which takes seconds."""

    def walk(node: ast.AST, within: frozenset[str]) -> Iterator[Site]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            within |= {node.name}
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            named = {keyword.arg: keyword.value for keyword in node.keywords}
            if name in SEAMS:
                place = SEAMS[name]
                placed = node.args[place] if len(node.args) > place else None
                yield Site(module, node.lineno, within, name, named.get("schema", placed))
            elif name in {"text", "request", "stream", "bind_tools", "with_structured_output"} and (
                "tools" in named or name in {"bind_tools", "with_structured_output"}
            ):
                yield Site(module, node.lineno, within, name, named.get("tools"))
        for child in ast.iter_child_nodes(node):
            yield from walk(child, within)

    return walk(ast.parse(source), frozenset()) if CALLED.search(source) else iter(())


def schema_of(site: Site) -> type[BaseModel] | None:
    """Return the class that a site sends, None where its function only hands it on.

    Raises:
        AssertionError: nobody can tell from the source what is sent.
    """
    where = f"{site.module}:{site.line}"
    if site.within & THROUGH.get(site.module, set()):
        return None
    assert isinstance(site.given, ast.Name), (
        f"{where}: the schema must be a class by its name, to be checked here"
    )
    found = getattr(importlib.import_module(site.module), site.given.id, None)
    assert inspect.isclass(found), f"{where}: {site.given.id} is no class of the module"
    assert issubclass(found, BaseModel), f"{where}: {site.given.id} is no pydantic model"
    return found


FOUND = [site for module, source in sources() for site in sites(module, source)]
ASKED = [site for site in FOUND if site.seam in SEAMS]
SENT = sorted(
    {schema for site in ASKED if (schema := schema_of(site))},
    key=lambda schema: (schema.__name__, schema.__module__),
)


def test_the_walk_finds_the_steps() -> None:
    assert len(ASKED) >= STEPS_ASKED
    assert {schema.__name__ for schema in SENT} >= {
        "Decomposition", "RerankOrder", "RerankScores", "Reply", "ReviewDecision", "Rulings", "SearchPlan", "Wordings",
    }  # fmt: skip


@pytest.mark.parametrize("schema", SENT, ids=lambda schema: f"{schema.__module__}.{schema.__name__}")
def test_a_schema_passes_the_strict_rules(schema: type[BaseModel]) -> None:
    assert check_strict(strict_schema(schema)) == []
    for kept in schema.model_config, *(inner.model_config for inner in models_in(schema)):
        assert kept.get("extra") == "forbid", "a reply with other keys is another shape"


def models_in(schema: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield the models that a schema's fields hold, at any depth."""
    for name in vars(inspect.getmodule(schema)):
        held = getattr(inspect.getmodule(schema), name)
        if (
            inspect.isclass(held)
            and issubclass(held, BaseModel)
            and held.__name__ in str(schema.model_json_schema())
        ):
            yield held


@pytest.mark.parametrize(
    "source",
    [
        "async def f(chat, call):\n    return await structured(chat, call, make_schema())",
        "async def f(chat, call, schema):\n    return await structured(chat, call, schema)",
        "async def f(services):\n    await ask_model(services, PROMPT, material, schema=build(3), state=1, context=2)",
        "async def f(chat, call):\n    return await structured(chat, call, dict)",
    ],
)
def test_a_schema_that_cannot_be_told_from_the_source_fails(source: str) -> None:
    (site,) = sites("nodes.route", source)
    with pytest.raises(AssertionError, match=r"nodes\.route:\d"):
        schema_of(site)


def test_a_new_schema_would_be_found() -> None:
    (site,) = sites(
        "nodes.route", "async def f(chat, call):\n    return (await structured(chat, call, Routing)).value"
    )
    found = schema_of(site)
    assert found is not None
    assert found.__name__ == "Routing"


def test_tools_are_sent_from_known_places_only() -> None:
    others = {(site.module, site.seam) for site in FOUND if site.seam not in SEAMS}
    assert {module for module, _ in others} <= WITH_TOOLS | {"citegraph.llm.scripted"}, (
        "check their schemas here too"
    )


def test_the_agents_tools_pass_the_strict_rules(services: Services) -> None:
    from citegraph.run.context import Context
    from nodes.agent import DONE, Done
    from tools.toolbox import agent_tools, run_scope

    assert DONE["function"]["parameters"] == strict_schema(Done)
    assert check_strict(DONE["function"]["parameters"]) == []
    tools = agent_tools(services, run_scope(services.open(), Context()))
    assert {tool.name for tool in tools} >= {"search_text", "query_documents"}
    for tool in tools:
        schema: Any = tool.args_schema
        assert check_strict(strict_schema(schema)) == [], tool.name
        offered = convert_to_openai_tool(tool)["function"]["parameters"]
        assert set(offered["properties"]) == set(strict_schema(schema)["properties"]), tool.name
