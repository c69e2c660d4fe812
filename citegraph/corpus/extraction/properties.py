"""Front matter: what a text says of itself at its head, in YAML or TOML, or as the heads of a mail."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from citegraph.language.dates import shows_day

_BLOCKS = (
    ("yaml", re.compile(r"\A\ufeff?---[ \t]*\n(?P<body>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)),
    ("toml", re.compile(r"\A\ufeff?\+\+\+[ \t]*\n(?P<body>.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)),
    ("toml", re.compile(r"\A\ufeff?```toml[ \t]*\n(?P<body>.*?)\n```[ \t]*(?:\n|\Z)", re.DOTALL)),
)

_MAIL = re.compile(
    r"\A(?=(?:[^\n]*\n){0,4}(?:From|Date): )(?:(?:From|To|Cc|Date|Subject): [^\n]*\n){2,5}(?=\n)"
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The properties by dotted name, and the characters of the block that holds them."""

    properties: Mapping[str, Any]
    start: int
    end: int


def front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a text, None when it has none or it cannot be read.

    The heads of a mail are the properties `mail_from`, `mail_to`, `mail_cc`, `mail_date` and `mail_subject`: a column
    "date" of other documents does not mean them.
    """
    if heads := _MAIL.match(text):
        said = (line.partition(":") for line in heads[0].splitlines())
        return FrontMatter({f"mail_{name.lower()}": value.strip() for name, _, value in said}, 0, heads.end())
    if printed := _printed_mail(text):
        return printed
    for syntax, pattern in _BLOCKS:
        if found := pattern.match(text):
            try:
                data = _yaml(found["body"]) if syntax == "yaml" else tomllib.loads(found["body"])
            except ValueError:
                return None
            if isinstance(data, Mapping):
                return FrontMatter(dict(_flat(data)), found.start("body"), found.end("body"))
    return None


_HEAD = re.compile(r"(?P<label>[^\W\d_][^\n:]{0,20}?)\s?:[ \t]+(?P<value>\S.*)")
_MOST_HEADS = 8


def _printed_mail(text: str) -> FrontMatter | None:
    """Return the heads of a mail that a client printed in its own language, None of what is none.

    Labelled lines begin it; of two with addresses the first is from whom it came, one bears its day, and the first of the
    others is its subject.
    """
    heads: list[list[str]] = []
    end = 0
    for line in text[:2000].split("\n")[: 2 * _MOST_HEADS]:
        found = _HEAD.fullmatch(line.strip())
        if found and len(heads) < _MOST_HEADS:
            heads.append([found["value"]])
        elif heads and line.strip() and len(heads[-1]) < 2 and not found:
            heads[-1].append(line.strip())  # a long subject wraps
        else:
            break
        end += len(line) + 1
    values = [" ".join(parts) for parts in heads]
    firsts = [parts[0] for parts in heads]
    people = [value for value in firsts if "@" in value]
    days = [
        value for value in firsts if "@" not in value and shows_day(value) and re.search(r"\d\d?:\d\d", value)
    ]
    others = [
        value
        for value, first in zip(values, firsts, strict=True)
        if first not in people and first not in days
    ]
    if len(people) < 2 or len(days) != 1 or not others:
        return None
    said = {"mail_from": people[0], "mail_to": people[1], "mail_date": days[0], "mail_subject": others[0]}
    return FrontMatter({**said, "mail_kind": "e-mail"}, 0, end)


def _yaml(body: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe").load(body)
    except YAMLError as error:
        raise ValueError("not YAML") from error


def _flat(data: Mapping[Any, Any], prefix: str = "") -> Any:
    for key, value in data.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield name, value
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def look_up(properties: Mapping[str, Any], name: str) -> Any:
    """Return the property of that name, whatever table it stands in; None when there is none."""
    wanted = _key(name)
    for key, value in properties.items():
        if _key(key) == wanted or _key(key.rpartition(".")[2]) == wanted:
            return value
    return None


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())
