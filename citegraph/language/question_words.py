"""The words by which questions deny, join, compare, order and count, read from data, as patterns over whole words."""

import re
from functools import cache

from citegraph.language.word_tables import table


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
        else re.escape(word).replace(r"\*", r"\w*").replace("'", "['’]")
        for word in phrase.split()
    )
    first, last = phrase[0], phrase[-1]
    begins = r"(?<![\w])" if first.isalnum() else ""
    return f"{begins}{words}" + (r"(?!\w)" if last.isalnum() or last == "*" else "")
