"""Front matter: what a text says of itself at its head, in YAML or TOML, or as the heads of a mail."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    for syntax, pattern in _BLOCKS:
        if found := pattern.match(text):
            try:
                data = _yaml(found["body"]) if syntax == "yaml" else tomllib.loads(found["body"])
            except ValueError:
                return None
            if isinstance(data, Mapping):
                return FrontMatter(dict(_flat(data)), found.start("body"), found.end("body"))
    return None


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
