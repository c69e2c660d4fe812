"""Strict JSON schemas: what is made of a pydantic model, and what the offline checker refuses."""

import re
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, ConfigDict, Field

from citegraph.llm.strict import strict_schema
from tests.citegraph.llm.strict_rules import check_strict


class Range(BaseModel):
    kind: Literal["range"]
    low: float | None = Field(None, ge=0, description="Lower bound.")


class Exact(BaseModel):
    kind: Literal["exact"]
    value: str = Field(max_length=5, pattern="^a")


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Query(BaseModel):
    """What is asked."""

    model_config = ConfigDict(extra="allow", title="Q")

    text: str = Field("x", description="The text.", examples=["a"])
    parts: Annotated[list[Annotated[Range | Exact, Field(discriminator="kind")]], Field(max_length=3)]
    best: Range = Field(description="The best part.")
    root: Optional[Node] = None  # noqa: UP045


RANGE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["range"]},
        "low": {
            "anyOf": [{"type": "number", "description": "(at least 0)"}, {"type": "null"}],
            "description": "Lower bound.",
        },
    },
    "required": ["kind", "low"],
    "additionalProperties": False,
}
EXACT = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["exact"]},
        "value": {"type": "string", "description": "(at most 5 characters, matching ^a)"},
    },
    "required": ["kind", "value"],
    "additionalProperties": False,
}


def test_the_whole_schema() -> None:
    assert strict_schema(Query) == {
        "type": "object",
        "description": "What is asked.",
        "properties": {
            "text": {"type": "string", "description": "The text."},
            "parts": {
                "type": "array",
                "description": "(at most 3 items)",
                "items": {"anyOf": [RANGE, EXACT]},
            },
            "best": {**RANGE, "description": "The best part."},
            "root": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
        },
        "required": ["text", "parts", "best", "root"],
        "additionalProperties": False,
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
                "required": ["name", "children"],
                "additionalProperties": False,
            }
        },
    }


def test_bounds_stay_for_endpoints_that_take_them() -> None:
    schema = strict_schema(Query, bounds=True)
    assert schema["properties"]["parts"]["maxItems"] == 3
    value = schema["properties"]["parts"]["items"]["anyOf"][1]["properties"]["value"]
    assert value == {"type": "string", "maxLength": 5, "description": "(matching ^a)"}
    assert check_strict(schema) == [
        "$.parts: maxItems is not supported",
        "$.parts[]|1.value: maxLength is not supported",
    ]
    assert check_strict(schema, allow={"maxItems", "maxLength"}) == []


def test_callers_cannot_spoil_the_cached_schema() -> None:
    strict_schema(Exact)["properties"].clear()
    assert strict_schema(Exact) == EXACT


class FreeMap(BaseModel):
    scores: dict[str, int]


class Anything(BaseModel):
    value: Any


class Pair(BaseModel):
    pair: tuple[int, str]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FreeMap, "scores: additionalProperties must be false"),
        (Anything, r"\$.value: a type is missing"),
        (Pair, "prefixItems is not supported"),
    ],
)
def test_what_strict_mode_cannot_express_is_told(model: type[BaseModel], message: str) -> None:
    assert re.search(message, "; ".join(check_strict(strict_schema(model))))


def obj(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = obj(a=schema)
    return schema


@pytest.mark.parametrize(
    ("schema", "problems"),
    [
        (obj(a={"type": "string"}), []),
        (obj(a={"type": ["string", "null"]}), []),
        ({"anyOf": [obj()]}, ["$: the root must be an object"]),
        ({**obj(), "anyOf": [obj()]}, ["$: the root must not be anyOf"]),
        (obj(a={"oneOf": [{"type": "null"}], "type": "null"}), ["$.a: oneOf is not supported"]),
        (obj(a={"type": "string", "default": "x"}), ["$.a: default is not supported"]),
        (obj(a={"type": "text"}), ["$.a: unknown type 'text'"]),
        (obj(a={"type": "array"}), ["$.a: an array needs items"]),
        ({**obj(a={"type": "null"}), "required": []}, ["$: every property must be required"]),
        (
            {**obj(), "additionalProperties": True},
            ["$: additionalProperties must be false (no free-form maps)"],
        ),
        (obj(a={"$ref": "#/$defs/B"}), ["$.a: #/$defs/B is not defined"]),
        (
            {**obj(a={"$ref": "#/$defs/B", "description": "b"}), "$defs": {"B": {"type": "null"}}},
            ["$.a: $ref stands beside other keywords"],
        ),
        (
            {**obj(a={"$ref": "#/$defs/B"}), "$defs": {"B": {"const": 1, "type": "integer"}}},
            ["$defs.B: const is not supported"],
        ),
        (nested(4), []),
        (nested(5), ["$.a.a.a.a.a: nested deeper than 5 levels"]),
        (
            obj(**{f"p{i}": {"type": "null"} for i in range(101)}),
            ["$: 101 properties, at most 100 are accepted"],
        ),
        (
            obj(a={"type": "integer", "enum": list(range(501))}),
            ["$: 501 enum values, at most 500 are accepted"],
        ),
        (
            obj(a={"type": "string", "enum": ["x" * 15_000]}),
            ["$: 15001 characters in names and enum values, at most 15000 are accepted"],
        ),
    ],
)
def test_checker(schema: dict[str, Any], problems: list[str]) -> None:
    assert check_strict(schema) == problems
