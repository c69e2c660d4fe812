"""JSON schemas that OpenAI's strict mode accepts, made from a pydantic model; tests hold all of them to its rules.

The rules are those of OpenAI's guide to structured outputs, in the narrower form that Azure and other
compatible endpoints share: every property required, no extra properties, no `oneOf` or `allOf`, no bounds.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from pydantic import BaseModel

ALLOWED = {"type", "description", "enum", "properties", "required", "additionalProperties", "items", "anyOf"}
BOUNDS = {"maxLength": "at most {} characters", "maxItems": "at most {} items"}
SAID = BOUNDS | {
    "minLength": "at least {} characters",
    "minItems": "at least {} items",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "multipleOf": "a multiple of {}",
    "pattern": "matching {}",
    "format": "in {} format",
}


def strict_schema(model: type[BaseModel], *, bounds: bool = False) -> dict[str, Any]:
    """Return the strict JSON schema of `model`; what strict mode cannot express is said in descriptions.

    With `bounds` maxLength and maxItems stay, for endpoints that turn schemas into grammars and would else
    let a small model run on; OpenAI and Azure refuse them on some models. A free-form map, a tuple, Any and bytes have
    no strict schema.
    """
    return deepcopy(shared_schema(model, bounds))


@cache
def shared_schema(model: type[BaseModel], bounds: bool = False) -> dict[str, Any]:
    """Return `strict_schema(model)` without a copy, for reading only."""
    raw = model.model_json_schema()
    kept = set(BOUNDS) if bounds else set()
    definitions = raw.pop("$defs", {})
    schema: dict[str, Any] = _strict(raw, definitions, kept)
    used = {name: _strict(node, definitions, kept) for name, node in definitions.items()}
    recursive = {name: node for name, node in used.items() if _refers(schema, used, name)}
    if recursive:
        schema["$defs"] = recursive
    return schema


def _strict(node: Any, definitions: Mapping[str, Any], kept: set[str], inside: tuple[str, ...] = ()) -> Any:
    """Return one schema node in strict form: references inlined unless recursive, bounds said in words."""
    if not isinstance(node, Mapping):
        return node
    node = dict(node)
    if len(node.get("allOf", ())) == 1:
        node |= node.pop("allOf")[0]
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        if name in inside or _refers(definitions.get(name), definitions, name):
            return {"$ref": f"#/$defs/{name}"}
        node = {**definitions[name], **{k: v for k, v in node.items() if k != "$ref"}}
        inside = (*inside, name)
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
    strict: dict[str, Any] = {k: v for k, v in node.items() if k in ALLOWED | kept or k == "prefixItems"}
    _say_bounds(node, strict, kept)
    if "properties" in node or node.get("type") == "object":
        properties = {n: _strict(p, definitions, kept, inside) for n, p in node.get("properties", {}).items()}
        strict["properties"], strict["required"] = properties, list(properties)
        if "properties" in node or not node.get("additionalProperties"):
            strict["additionalProperties"] = False
    if "items" in node:
        strict["items"] = _strict(node["items"], definitions, kept, inside)
    if "anyOf" in node:
        strict["anyOf"] = [_strict(choice, definitions, kept, inside) for choice in node["anyOf"]]
    return strict


def _say_bounds(node: Mapping[str, Any], strict: dict[str, Any], kept: set[str]) -> None:
    said = [words.format(node[key]) for key, words in SAID.items() if key in node and key not in kept]
    if said:
        strict["description"] = f"{node.get('description', '')} ({', '.join(said)})".strip()


def _refers(node: Any, definitions: Mapping[str, Any], name: str) -> bool:
    """Return whether `node` leads to the definition `name`, through other definitions too."""
    seen: set[str] = set()
    waiting = list(_references(node))
    while waiting:
        found = waiting.pop()
        if found == name:
            return True
        if found not in seen:
            seen.add(found)
            waiting += _references(definitions.get(found))
    return False


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].rsplit("/", 1)[-1]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)
