"""What OpenAI's strict mode refuses of a JSON schema, checked offline.

The rules are those of OpenAI's guide to structured outputs, in the narrower form that Azure and other compatible
endpoints share.
"""

from collections.abc import Mapping
from typing import Any

from citegraph.llm.strict import ALLOWED

MAX_DEPTH = 5
MAX_PROPERTIES = 100
MAX_ENUM_VALUES = 500
MAX_NAME_CHARACTERS = 15_000
SIMPLE_TYPES = {"string", "number", "integer", "boolean", "null"}


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
