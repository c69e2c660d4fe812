"""Slips in the words by which a question asks ("avrage", "beetween"): they are read as the word that was meant."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from rapidfuzz.distance import OSA

from citegraph.encoder.finder import tokenizer
from citegraph.language.terms import bare, inflections, signs, stop_words
from citegraph.language.word_tables import table

SHORTEST = 5
"""Letters from which a word is looked at: between shorter ones lies too little ("form", "from")."""
_WORD = re.compile(r"(?<![\w'’.@/-])[^\W\d_]{5,}(?![\w'’@/-])")


def spelled(question: str, declared: Iterable[str], held: Callable[[str], bool]) -> tuple[str, list[str]]:
    """Return a question with its slips mended, and a line about each.

    Only a word that is none is mended, into a word of asking, counting and comparing or a declared one: what names a
    value, or is an English word, may be meant as it stands, unless the word before it says what it is ("how manny").
    A capital inside the question makes a name.

    Args:
        declared: words for the documents and fields of any bucket.
        held: whether a bare word is a part of a stored value.
    """
    known = {**_asking(), **{bare(word): word for one in declared for word in one.split() if word.isalpha()}}
    near = _by_form(known)
    lines: list[str] = []
    begins = len(question) - len(question.lstrip())

    def mended(match: re.Match[str]) -> str:
        said = match.group()
        word = bare(said)
        name = said != said.lower() and not (match.start() == begins and said[1:] == said[1:].lower())
        if name or word in known:
            return said
        plural = word.endswith("s") and word[:-1] not in known
        meant = _meant(word, near)
        ending = ""
        if meant is None and plural and (meant := _meant(word[:-1], near)) is not None:
            ending = "s"
        before = re.search(r"([^\W\d_]+)\s+$", question[: match.start()])
        said_by = meant is not None and before is not None and (bare(before[1]), meant) in _pairs()
        if meant is None or not (said_by or not (_is_word(word, known) or held(word))):
            return said
        written = known[meant] + ending
        lines.append(f"“{said}” was read as “{written}”.")
        return written

    return _WORD.sub(mended, question), lines


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    """Return the phrases of two words of the tables of questions, bare."""
    phrases = (phrase for lines in table("questions").values() for line in lines for phrase in line)
    parts = (bare(phrase).split() for phrase in phrases)
    return frozenset((pair[0], pair[1]) for pair in parts if len(pair) == 2)


@cache
def _asking() -> dict[str, str]:
    """Return the words of the tables of questions and of asking, bare, each as it is written."""
    listed = [phrase for lines in table("questions").values() for line in lines for phrase in line]
    months = [name.partition(":")[2] for names in table("cldr_months").values() for name in names.split()]
    words = [word for phrase in listed for word in re.findall(r"[^\W\d_]+", phrase)]
    return {bare(word): word for word in (*stop_words(), *months, *words) if len(word) >= SHORTEST - 1}


def _is_word(word: str, known: Mapping[str, str]) -> bool:
    """Tell whether a bare word is one: of the tables, in a form of it, or a whole word of the encoder's vocabulary."""
    if word in stop_words("general") or word in signs():
        return True
    if any(form in known for form in inflections(word)):
        return True
    return tokenizer().token_to_id(word) is not None


def _by_form(known: Iterable[str]) -> Mapping[tuple[str, int], Sequence[str]]:
    """Return words by their first letter and length: a slip is seldom in the first one."""
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word in known:
        if len(word) >= SHORTEST - 1:
            found[word[0], len(word)].append(word)
    return found


def _meant(word: str, near: Mapping[tuple[str, int], Sequence[str]]) -> str | None:
    """Return the only word that one slip of the fingers makes this one, None without one."""
    around = [one for size in (-1, 0, 1) for one in near.get((word[0], len(word) + size), ())]
    found = [one for one in around if OSA.distance(word, one, score_cutoff=1) == 1 and _is_slip(word, one)]
    return found[0] if len(found) == 1 else None


LONG = 8
"""Letters from which one letter in place of another is taken for a slip: shorter words would become each other."""


def _is_slip(said: str, meant: str) -> bool:
    """Tell whether two words differ as fingers slip: two letters swapped, one doubled, or one lost or added inside."""
    if len(said) == len(meant):
        swapped = sorted(said) == sorted(meant)
        return swapped or len(said) >= LONG
    shorter, longer = sorted((said, meant), key=len)
    place = next((n for n, letter in enumerate(shorter) if letter != longer[n]), len(shorter))
    doubled = place > 0 and longer[place] == longer[place - 1]
    return doubled or (0 < place < len(shorter) and len(longer) >= SHORTEST + 1)
