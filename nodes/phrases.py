"""Find a declared word or phrase in a question, in singular or plural."""

import re
from functools import lru_cache


@lru_cache(maxsize=16384)
def _pattern(phrase: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in re.split(r"[\s\-]+", phrase.strip())]
    last = parts[-1]
    if last.endswith("y") and len(last) > 2:
        parts[-1] = f"(?:{last}|{last[:-1]}ies)"
    else:
        parts[-1] = rf"{last}(?:s|es|e|en|n|er)?"
    body = r"[-\s]+".join(parts)
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)


def find_phrase(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return the character spans of `phrase` in `text`, whole words, regular plurals of the last word included."""
    return [match.span() for match in _pattern(phrase).finditer(text)]
