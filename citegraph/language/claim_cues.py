"""Small words that turn a statement round: negation, modality, bounds, opposites; and that a text is silent."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from citegraph.language.claim_tokens import WORD, is_content, stem
from citegraph.language.terms import bare, language_of
from citegraph.language.word_tables import alternation, listed, table, words_to_keys


@dataclass(frozen=True, slots=True)
class Cue:
    """One negation or modal verb and the content stems that it governs.

    Attributes:
        value: "not"; "may", "must", "should", "will".
        heads: up to three content stems that follow within the clause.
        before: the content stem that precedes it, "" at the start.
        soft: a word that amounts to a negation ("prohibited"): it can answer one, not raise one.
    """

    kind: Literal["negation", "modality"]
    value: str
    heads: tuple[str, ...]
    before: str
    start: int
    soft: bool = False


_NEGATIONS = frozenset(listed("statements", "negations"))
_SOFT_NEGATIONS = frozenset(listed("statements", "soft_negations"))
_MODALS = words_to_keys("statements", "modals")
_PHRASES = [
    (re.compile(rf"\b(?:{alternation('statements', part)})\b", re.IGNORECASE), value)
    for part, value in (("allowing", "may"), ("obliging", "must"))
]
# bounds contain negations ("not less than"), so they are read first and blanked
_BOUND = re.compile(
    "|".join(
        rf"(?P<{sign}>(?<!\w)(?:{alternation('statements', part)}))"
        for sign, part in (
            ("ge", "at_least"),
            ("le", "at_most"),
            ("gt", "more_than"),
            ("lt", "less_than"),
            ("about", "about"),
        )
    ),
    re.IGNORECASE,
)
_AFTER_BOUND = re.compile(
    rf"\s*(?:(?P<ge>{alternation('statements', 'or_more')})|(?P<le>{alternation('statements', 'or_less')}))",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"[\s(]*(?:(?:{alternation('statements', 'before_a_number')})\s+|US\s?\$|[$€£¥]|[A-Z]{{2,3}}\s)?[\s(]*$"
)
Bound = Literal["", ">=", "<=", ">", "<", "~"]
_SIGNS: dict[str, Bound] = {"ge": ">=", "le": "<=", "gt": ">", "lt": "<", "about": "~"}
_NOT_NEGATION = re.compile(alternation("statements", "no_negation"), re.IGNORECASE)
_ENDS_CLAUSE = re.compile(r"[.;:!?\n]")


def bound(text: str, start: int, end: int) -> Bound:
    """Return how the words around a number at text[start:end] bound it: "at least 5" gives ">="."""
    after = _AFTER_BOUND.match(text, end)
    if after and after.lastgroup:
        return _SIGNS[after.lastgroup]
    head = text[max(0, start - 40) : start]
    sign: Bound = ""
    for match in _BOUND.finditer(head):
        if _BETWEEN.fullmatch(head, match.end()) and match.lastgroup:
            sign = _SIGNS[match.lastgroup]
    return sign


_ANSWER = re.compile(r"\s*(?:\w+\s+)?\w+[,:]")
"""An answer before its sentence ("No: ...", "Probably not, ..."): it denies what was asked, not what follows."""


@lru_cache(maxsize=8192)
def cues(text: str) -> tuple[Cue, ...]:
    """Return the negations and modal verbs of a text in order."""
    text = _BOUND.sub(lambda m: " " * len(m.group()) if m.lastgroup != "about" else m.group(), text)
    text = _NOT_NEGATION.sub(lambda m: " " * len(m.group()), text)
    text = text.replace("n't", "  not").replace("n’t", "  not") if "n't" in text or "n’t" in text else text
    found: list[Cue] = []
    for pattern, value in _PHRASES:
        for match in pattern.finditer(text):
            before = text[: match.start()]
            if before.rstrip().endswith((" not", " nicht")):
                continue
            found.append(_cue(text, "modality", value, match.start(), match.end()))
    taken = [(c.start, c.start + 8) for c in found]
    for match in WORD.finditer(text):
        word = bare(match.group())
        kind, value = _kind(word)
        if kind is None or any(a <= match.start() < b for a, b in taken):
            continue
        if word == "may" and match.group() == "May":
            continue
        if kind == "negation" and _ANSWER.fullmatch(text, 0, match.end() + 1):
            continue
        if word == "hat" and not re.match(r"[^.;]*\bzu\b", text[match.end() : match.end() + 80]):
            continue
        found.append(_cue(text, kind, value, match.start(), match.end(), soft=value == "soft"))
        if word == "cannot":
            found.append(_cue(text, "modality", "may", match.start(), match.end()))
    return tuple(sorted(found, key=lambda c: c.start))


def is_soft_negation(word: str) -> bool:
    """Tell whether a word amounts to a negation: "prohibited", "unable"."""
    return _kind(bare(word)) == ("negation", "soft")


_CueKind = Literal["negation", "modality"]


@lru_cache(maxsize=8192)
def _kind(word: str) -> tuple[_CueKind | None, str]:
    if word in _NEGATIONS:
        return "negation", "not"
    if word in _MODALS:
        return "modality", _MODALS[word]
    if stem(word) in _SOFT_NEGATIONS or word in _SOFT_NEGATIONS:
        return "negation", "soft"
    return None, ""


def _cue(text: str, kind: _CueKind, value: str, start: int, end: int, soft: bool = False) -> Cue:
    stop = _ENDS_CLAUSE.search(text, end)
    clause = text[end : min(stop.start() if stop else len(text), end + 90)]
    heads: list[str] = []
    for match in WORD.finditer(clause):
        if is_content(match.group()):
            heads.append(stem(match.group()))
            if len(heads) == 3:
                break
    previous = [w for w in WORD.findall(text[max(0, start - 40) : start]) if is_content(w)]
    return Cue(kind, value, tuple(heads), stem(previous[-1]) if previous else "", start, soft)


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Return each stem to the stems of its opposites."""
    found: dict[str, set[str]] = {}
    for one, others in table("claims")["opposites"].items():
        for other in others.split():
            found.setdefault(stem(one), set()).add(stem(other))
            found.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(turned) for word, turned in found.items()}


# ---------------------------------------------------------------- comparing words


def _comparing(part: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternation('statements', part)})\b", re.IGNORECASE)


MORE, LESS, ALIKE = _comparing("greater"), _comparing("smaller"), _comparing("alike")
BEFORE, AFTER = _comparing("before"), _comparing("after")
"""Words that compare two dates and mean much else beside other values."""


def compares(text: str) -> bool:
    """Tell whether a sentence holds one thing against another."""
    return any(words.search(text) for words in (MORE, LESS, BEFORE, AFTER, ALIKE))


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
    """Tell whether a sentence says that its source does not say something: "the notice period is not stated".

    A word in a name ("Non-Disclosure Agreement") says nothing; German nouns are no names.
    """
    negations = [cue.start for cue in cues(text) if cue.kind == "negation"]
    found = list(WORD.finditer(text)) if negations else []
    language = language_of(text)
    for at in negations:
        place = next((i for i, match in enumerate(found) if match.start() >= at), len(found))
        near = found[max(0, place - _NEAR) : place + _NEAR + 1]
        said = [
            match.group()
            for match in near
            if language == "de" or not match.start() or not match.group()[0].isupper()
        ]
        if any(
            word.startswith(root) and len(word) <= len(root) + _ENDING
            for word in map(bare, said)
            for root in _reporting(language)
        ):
            return True
    return False
