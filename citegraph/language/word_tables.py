"""The tables of words in `words/*.yaml`: read when they are first asked for, once a process."""

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from citegraph.yaml_text import parse_yaml


@cache
def table(name: str) -> Any:
    """Return the table `words/<name>.yaml` as plain dicts, lists and strings; do not change it."""
    text = resources.files("citegraph.language").joinpath("words", f"{name}.yaml").read_text("utf-8")
    return parse_yaml(text)


@cache
def words_to_keys(name: str, part: str = "") -> dict[str, str]:
    """Return word -> key of a table (or a part of it) that lists the words of each key in running text.

    A word of several parts is written with "_" for the blank.
    """
    listed = table(name)[part] if part else table(name)
    return {word.replace("_", " "): str(key) for key, words in listed.items() for word in str(words).split()}


@cache
def listed(name: str, part: str) -> tuple[str, ...]:
    """Return the words of a part of a table that lists them in running text.

    Raises:
        KeyError: no such part.
    """
    return tuple(word.replace("_", " ") for word in table(name)[part].split())


@cache
def alternation(name: str, part: str, *, blank: str = r"\s+") -> str:
    """Return the patterns of a part of a table as one of any of them; there they stand one a line, or parted by " | ".

    A blank within a pattern stands for what `blank` matches.

    Raises:
        KeyError: no such part.
    """
    lines = table(name)[part].strip().splitlines()
    found = "|".join(phrase.strip() for line in lines for phrase in line.split(" | ") if phrase.strip())
    return found.replace(" ", blank)


def any_of(names: Iterable[str]) -> str:
    """Return a pattern of names that begins with the longest that stands there, letter by letter.

    A plain alternative of 2,000 names is tried name by name at each place of a text: 10 times as slow.
    """
    tree: dict[str, Any] = {}
    for name in names:
        node = tree
        for letter in name:
            node = node.setdefault(letter, {})
        node[""] = {}

    def pattern(node: dict[str, Any]) -> str:
        branches = [re.escape(letter) + pattern(rest) for letter, rest in sorted(node.items()) if letter]
        if not branches:
            return ""
        joined = branches[0] if len(branches) == 1 and "" not in node else f"(?:{'|'.join(branches)})"
        return f"{joined}?" if "" in node else joined

    return f"(?:{pattern(tree)})"


@cache
def phrases_for(kind: str) -> tuple[str, ...]:
    """Return the phrases that do one thing, the longest first; a `*` stands for any ending or beginning.

    Raises:
        KeyError: no such kind.
    """
    return tuple(
        sorted(
            dict.fromkeys(phrase for line in table("questions")[kind] for phrase in line),
            key=len,
            reverse=True,
        )
    )


@cache
def source(*kinds: str) -> str:
    """Return the source of a pattern of the phrases of some kinds, as whole words in any case."""
    phrases = sorted((phrase for kind in kinds for phrase in phrases_for(kind)), key=len, reverse=True)
    return rf"(?:{'|'.join(map(_phrase, phrases))})"


@cache
def pattern(*kinds: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return the pattern of the phrases of some kinds, with what must stand before and after them."""
    return re.compile(f"{before}{source(*kinds)}{after}", re.IGNORECASE)


def _phrase(phrase: str) -> str:
    words = r"\s+".join(
        "th[ae]n"  # as often misspelt as not
        if word == "than"
        else re.escape(word).replace(r"\*", r"\w*").replace("'", "['’]").replace("ß", "(?:ß|ss)")
        for word in phrase.split()
    )
    first, last = phrase[0], phrase[-1]
    begins = r"(?<![\w])" if first.isalnum() else ""
    return f"{begins}{words}" + (r"(?!\w)" if last.isalnum() or last == "*" else "")
