"""What form an answer has, in what words documents say it, and when a question leaves a choice of two."""

import re
from functools import cache, lru_cache

from citegraph.encoder.multilingual import tag_question
from citegraph.language.units import unit_rows
from citegraph.language.word_tables import alternation, pattern, table


def _said(part: str) -> re.Pattern[str]:
    return re.compile(alternation("answer_forms", part), re.IGNORECASE)


NUMBER = re.compile(r"\d")
DURATION = re.compile(
    rf"\b(?:\d+|{alternation('answer_forms', 'counts')})\b[^.\n]{{0,14}}\b(?:{alternation('answer_forms', 'times')})\b",
    re.IGNORECASE,
)
DATE, MONEY = _said("is_date"), _said("is_money")
NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w’'-]+(?:\s+[A-ZÀ-ÖØ-Þ][\w.’'-]+)+")


KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (_said("asks_duration"), DURATION),
    (_said("asks_date"), DATE),
    (_said("asks_money"), MONEY),
    (_said("asks_name"), NAME),
    (_said("asks_number"), NUMBER),
)

PHRASINGS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (_said("asks_signer"), _said("says_signed")),
    (_said("asks_finder"), _said("says_found")),
    (_said("asks_law"), _said("says_law")),
)
"""What is asked, and the words that documents say it in: without any of them it is not said."""

PERSON = re.compile(rf"\b(?:{alternation('answer_forms', 'person')})\b", re.IGNORECASE)
NO_PERSON = frozenset({"date", "money", "integer", "decimal", "quantity", "boolean"})
"""Types of field that never answer "who"."""
_WORD = r"[^\W\d_][\w-]+"


def form_of(question: str) -> re.Pattern[str] | None:
    """Return the pattern of the answer that a question asks for: a phrasing, a quantity, a time, an amount ...; None for any."""
    return (
        phrasing_of(question)
        or measure_of(question)
        or next((answer for asked, answer in KINDS if asked.search(question)), None)
    )


def value_form_of(question: str) -> re.Pattern[str] | None:
    """Return the pattern of the quantity, time or amount that a question asks for, None where it asks for anything else."""
    form = form_of(question)
    return None if form in (NAME, NUMBER) or phrasing_of(question) else form


@lru_cache(maxsize=256)
def measure_of(question: str) -> re.Pattern[str] | None:
    """Return the pattern of a quantity of the dimension that a question asks for, None where it names none, or several.

    What the tagger takes for a condition ("the one with 60 V output voltage") is not asked for.
    """
    if phrasing_of(question) is not None:
        return None
    tagged = tag_question(question)
    asked = [
        quantity
        for said, quantity in _measures()
        if any(tagged.slot(*match.span(), "included") < CONDITION for match in said.finditer(question))
    ]
    return asked[0] if len(asked) == 1 else None


CONDITION = 0.6
"""Share of a dimension's words from which they are part of a condition."""


def has_measure(question: str) -> bool:
    """Tell whether a quantity with its unit is a condition of a question ("with a reach of 40 km")."""
    tagged = tag_question(question)
    return any(
        tagged.slot(*match.span(), "included") >= CONDITION
        for _, quantity in _measures()
        for match in quantity.finditer(question)
        if match[0][0].isdigit()
    )


@cache
def _measures() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Return how each dimension is asked for, with the pattern of its quantities."""
    return tuple(
        (
            re.compile(alternation("measured", name), re.IGNORECASE),
            _said("is_temperature") if name == "temperature" else _quantity(name),
        )
        for name in table("measured")
    )


def _quantity(dimension: str) -> re.Pattern[str]:
    """Return the pattern of a number in a unit of a dimension; one letter is a unit only as it is written ("5 A", no "5 a")."""
    spelled = {
        spelling.replace("-", " ")
        for name, _, _, said in unit_rows()
        if name == dimension
        for spelling in said
    }
    letters = {letter if letter in SMALL_UNITS else letter.upper() for letter in spelled if len(letter) == 1}
    longer = sorted((one for one in spelled if len(one) > 1), key=len, reverse=True)
    units = "|".join([*(f"(?i:{re.escape(one)})" for one in longer), *map(re.escape, sorted(letters))])
    # In a table the unit stands apart, or in brackets in the head: "Isolation voltage   5 000   V rms", "Power (W)".
    return re.compile(rf"\d[^\S\n]{{0,6}}(?:{units})(?![^\W\d_])|[(\[](?:{units})[)\]]")


SMALL_UNITS = frozenset("gmlsth")
"""Units of one letter that are written small."""


def phrasing_of(question: str) -> re.Pattern[str] | None:
    """Return the words that documents answer such a question in, None when they may be any."""
    return next((said for asked, said in PHRASINGS if asked.search(question)), None)


def is_polar(question: str) -> bool:
    """Tell whether a question is answered by yes or no: it begins with its verb."""
    return pattern("polar", before=r"^\W*").match(question) is not None
