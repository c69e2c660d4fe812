"""Finds the JSON object in what a model wrote, and fits it to the schema it was asked for."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

MAX_TEXT = 100_000
MAX_MEND = 16_000
MAX_STARTS = 200
MAX_BRACKETS = 2_000

_FENCE = re.compile(r"```[a-zA-Z0-9]*\s*\n?(.*?)```", re.DOTALL)
_TAG = re.compile(r"<(?P<close>/?)(?P<name>think|thinking|reasoning)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(think|thinking|reasoning)>", re.IGNORECASE)
_DECODER = json.JSONDecoder()


def thoughts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of blocks of thoughts with their tags; one that never closes is none.

    Tags are read once: an expression from one to its end would read the rest for each that is never closed.
    """
    tags = list(_TAG.finditer(text))
    last = {tag["name"].lower(): tag.start() for tag in tags if tag["close"]}
    opened: re.Match[str] | None = None
    for tag in tags:
        name = tag["name"].lower()
        if opened is None:
            opened = tag if not tag["close"] and last.get(name, -1) > tag.start() else None
        elif tag["close"] and name == opened["name"].lower():
            yield opened.start(), tag.end()
            opened = None


def whole_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the complete JSON objects in a model's reply, the most likely answer first.

    Thoughts are left out; fenced blocks go before bare ones and later ones before earlier ones, since a
    model shows examples first and answers last. At most the last 100,000 characters are looked at.
    """
    said = _answer_part(text)
    fenced = list(_FENCE.findall(said))
    for part in [*reversed(fenced), said]:
        yield from reversed(list(_top_level(part)))


def is_json(text: str) -> bool:
    """Return whether a reply is one JSON object or list, fenced or bare, and nothing else."""
    said = text.strip()
    fenced = _FENCE.fullmatch(said)
    try:
        return isinstance(json.loads(fenced[1] if fenced else said), dict | list)
    except (ValueError, RecursionError):
        return False


def cut_object(text: str) -> dict[str, Any] | None:
    """Return the object of a reply that stops in the middle, without its unfinished last piece, or None."""
    from pydantic_core import from_json

    said = _answer_part(text)
    start = said.find("{")
    if start < 0:
        return None
    try:
        found = from_json(said[start:], allow_partial=True)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def mended_object(text: str) -> dict[str, Any] | None:
    """Return the object of a reply with slips (single quotes, trailing commas, Python words), or None.

    Bounded to 16,000 characters: the repair takes time quadratic in hostile input.
    """
    from json_repair import loads

    said = _answer_part(text)
    fenced = _FENCE.findall(said)
    said = fenced[-1] if fenced else said
    part = said[max(said.find("{"), 0) :]
    if "{" not in part or len(part) > MAX_MEND or part.count("{") + part.count("[") > MAX_BRACKETS:
        return None
    try:
        found = loads(part)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list):
        found = next((item for item in found if isinstance(item, dict)), None)
    return found if isinstance(found, dict) and found else None


def fit(value: Any, schema: Mapping[str, Any], *, fill: bool = True) -> Any:
    """Return `value` with slips of form set right by the strict `schema`; meaning is never guessed.

    Extra keys go, an enum value is matched ignoring case, spaces and hyphens, a lone value becomes the list
    that was asked for, an object wrapped under one foreign key is unwrapped, and with `fill` a missing
    key that may be null becomes null.
    """
    return _fit(value, schema, schema.get("$defs", {}), fill)


def _fit(value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any], fill: bool) -> Any:
    if "$ref" in schema:
        schema = definitions.get(schema["$ref"].rsplit("/", 1)[-1], {})
    if "anyOf" in schema:
        return _fit_any(value, schema["anyOf"], definitions, fill)
    if "enum" in schema:
        return _fit_enum(value, schema["enum"])
    if schema.get("type") == "array":
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [_fit(item, schema.get("items", {}), definitions, fill) for item in items]
    if schema.get("type") != "object" or not isinstance(value, Mapping):
        return value
    properties = schema.get("properties", {})
    if len(value) == 1 and not set(value) & set(properties):
        inner = next(iter(value.values()))
        value = inner if isinstance(inner, Mapping) else value
    fitted = {n: _fit(value[n], p, definitions, fill) for n, p in properties.items() if n in value}
    missing = [n for n, p in properties.items() if n not in value and _may_be_null(p)]
    return fitted | (dict.fromkeys(missing) if fill else {})


def _fit_any(value: Any, choices: list[Mapping[str, Any]], definitions: Mapping[str, Any], fill: bool) -> Any:
    """Fit to the first choice of the value's own JSON type; a string "null" is null where null is allowed."""
    kinds = [_kind(choice, definitions) for choice in choices]
    if value is None or (value == "null" and "null" in kinds):
        return None
    own = _json_type(value)
    same = [c for c, kind in zip(choices, kinds, strict=True) if kind == own]
    best = max(same, key=lambda c: _overlap(value, c, definitions), default=None)
    if best is None:
        others = [c for c, kind in zip(choices, kinds, strict=True) if kind != "null"]
        best = others[0] if len(others) == 1 else None
    return value if best is None else _fit(value, best, definitions, fill)


def _overlap(value: Any, choice: Mapping[str, Any], definitions: Mapping[str, Any]) -> int:
    """Count the keys that fit an object choice, constant ones (a union's tag) a hundredfold."""
    if not isinstance(value, Mapping):
        return 0
    if "$ref" in choice:
        choice = definitions.get(choice["$ref"].rsplit("/", 1)[-1], {})
    properties = choice.get("properties", {})
    tags = sum(100 for n, p in properties.items() if value.get(n) in p.get("enum", ()))
    return tags + len(set(value) & set(properties))


def _fit_enum(value: Any, allowed: list[Any]) -> Any:
    if value in allowed or not isinstance(value, str):
        return value
    same = [a for a in allowed if isinstance(a, str) and _fold(a) == _fold(value)]
    return same[0] if len(same) == 1 else value


def _fold(word: str) -> str:
    return re.sub(r"[\s_-]+", "_", word.strip().casefold())


def _may_be_null(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "null" or any(c.get("type") == "null" for c in schema.get("anyOf", ()))


def _kind(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        schema = definitions.get(schema["$ref"].rsplit("/", 1)[-1], {})
    kind = str(schema.get("type", ""))
    return "number" if kind == "integer" else kind


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds = ((str, "string"), (int | float, "number"), (list, "array"), (Mapping, "object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _answer_part(text: str) -> str:
    """Return the reply after its thoughts; thoughts that never close are searched too, they may hold it."""
    said, at = "", 0
    for start, end in thoughts(tail := text[-MAX_TEXT:]):
        said, at = f"{said}{tail[at:start]} ", end
    said += tail[at:]
    closings = list(_CLOSING.finditer(said))
    return said[closings[-1].end() :] if closings else said


def _top_level(text: str) -> Iterator[dict[str, Any]]:
    position = tries = 0
    while tries < MAX_STARTS and (start := text.find("{", position)) >= 0:
        tries += 1
        try:
            found, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        if isinstance(found, dict):
            yield found
