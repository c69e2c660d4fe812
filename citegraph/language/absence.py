"""Statements that a text is silent about something."""

from functools import cache, lru_cache

from citegraph.language.claim_cues import cues
from citegraph.language.claim_tokens import WORD
from citegraph.language.terms import bare, language_of
from citegraph.language.word_tables import table

_NEAR = 5
"""Words between a negation and its verb of reporting, at most."""
_ENDING = 3
"""Letters of an ending, at most."""


@cache
def _reporting(language: str | None) -> tuple[str, ...]:
    lists = table("reporting")
    chosen = [lists[language]] if language in lists else list(lists.values())
    return tuple(bare(word) for line in chosen for word in line.split())


@lru_cache(maxsize=4096)
def says_silent(text: str) -> bool:
    """Tell whether a sentence says that its source does not say something: "the notice period is not stated"."""
    negations = [cue.start for cue in cues(text) if cue.kind == "negation"]
    found = [(match.start(), bare(match.group())) for match in WORD.finditer(text)] if negations else []
    for at in negations:
        place = next((i for i, (start, _) in enumerate(found) if start >= at), len(found))
        near = found[max(0, place - _NEAR) : place + _NEAR + 1]
        if any(
            word.startswith(root) and len(word) <= len(root) + _ENDING
            for _, word in near
            for root in _reporting(language_of(text))
        ):
            return True
    return False
