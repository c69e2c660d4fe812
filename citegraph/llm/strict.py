"""JSON schemas that OpenAI's strict mode accepts: made from a pydantic model, and checked offline.

The rules are those of OpenAI's guide to structured outputs, in the narrower form that Azure and other
compatible endpoints share: every property required, no extra properties, no `oneOf` or `allOf`, no bounds.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from pydantic import BaseModel

MAX_DEPTH = 5
MAX_PROPERTIES = 100
MAX_ENUM_VALUES = 500
MAX_NAME_CHARACTERS = 15_000

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
SIMPLE_TYPES = {"string", "number", "integer", "boolean", "null"}


def strict_schema(model: type[BaseModel], *, bounds: bool = False) -> dict[str, Any]:
    """Return the strict JSON schema of `model`; what strict mode cannot express is said in descriptions.

    With `bounds` maxLength and maxItems stay, for endpoints that turn schemas into grammars and would else
    let a small model run on; OpenAI and Azure refuse them on some models.

    Raises:
        ValueError: the model has what no strict schema can express (a free-form map, a tuple, Any, bytes).
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
    problems = check_strict(schema, allow=kept)
    if problems:
        raise ValueError(f"{model.__name__} has no strict schema: {'; '.join(problems)}")
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


def check_strict(schema: Mapping[str, Any], *, allow: set[str] | None = None) -> list[str]:
    """Return why OpenAI's strict mode would refuse `schema`, each with its path; empty when it would not.

    `allow` names keywords to let pass, for endpoints that take more.
    """
    problems = [] if schema.get("type") == "object" else ["$: the root must be an object"]
    definitions = schema.get("$defs", {})
    nodes = [("$", schema, 1), *((f"$defs.{n}", d, 1) for n, d in definitions.items())]
    properties = enums = characters = 0
    while nodes:
        path, node, depth = nodes.pop(0)
        problems += _node_problems(path, node, definitions, allow or set())
        if depth > MAX_DEPTH:
            problems.append(f"{path}: nested deeper than {MAX_DEPTH} levels")
            continue
        properties += len(node.get("properties", {}))
        enums += len(node.get("enum", ()))
        characters += sum(map(len, node.get("properties", {}))) + sum(
            len(str(v)) for v in node.get("enum", ())
        )
        nodes += _children(path, node, depth)
    for count, limit, what in (
        (properties, MAX_PROPERTIES, "properties"),
        (enums, MAX_ENUM_VALUES, "enum values"),
        (characters, MAX_NAME_CHARACTERS, "characters in names and enum values"),
    ):
        if count > limit:
            problems.append(f"$: {count} {what}, at most {limit} are accepted")
    return problems


def _children(path: str, node: Mapping[str, Any], depth: int) -> list[tuple[str, Mapping[str, Any], int]]:
    """Return the schema nodes right below `node`; properties and items are one level deeper."""
    below = [(f"{path}.{n}", p, depth + 1) for n, p in node.get("properties", {}).items()]
    if isinstance(node.get("items"), Mapping):
        below.append((f"{path}[]", node["items"], depth))
    below += [(f"{path}|{i}", choice, depth) for i, choice in enumerate(node.get("anyOf", ()))]
    return [(p, n, d) for p, n, d in below if isinstance(n, Mapping)]


def _node_problems(
    path: str, node: Mapping[str, Any], definitions: Mapping[str, Any], allow: set[str]
) -> list[str]:
    if "$ref" in node:
        found = node["$ref"].rsplit("/", 1)[-1] in definitions or node["$ref"] == "#"
        alone = [] if len(node) == 1 else [f"{path}: $ref stands beside other keywords"]
        return alone + ([] if found else [f"{path}: {node['$ref']} is not defined"])
    extra = sorted(set(node) - ALLOWED - allow - ({"$defs"} if path == "$" else set()))
    problems = [f"{path}: {keyword} is not supported" for keyword in extra]
    kind = node.get("type")
    if kind == "object":
        properties = set(node.get("properties", {}))
        if node.get("additionalProperties") is not False:
            problems.append(f"{path}: additionalProperties must be false (no free-form maps)")
        if set(node.get("required", ())) != properties:
            problems.append(f"{path}: every property must be required")
        if path == "$" and "anyOf" in node:
            problems.append(f"{path}: the root must not be anyOf")
    elif kind == "array":
        if not isinstance(node.get("items"), Mapping):
            problems.append(f"{path}: an array needs items")
    elif kind is None and "anyOf" not in node and "enum" not in node:
        problems.append(f"{path}: a type is missing (Any is not supported)")
    elif isinstance(kind, str) and kind not in SIMPLE_TYPES:
        problems.append(f"{path}: unknown type {kind!r}")
    return problems
