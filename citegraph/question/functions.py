"""Which number over documents a question's words ask for: a count, sum, average, median, extreme or share."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from citegraph.encoder.multilingual import Intent, intent_of
from citegraph.language import terms
from citegraph.language.numbers import find_spelled
from citegraph.language.word_tables import pattern, source

FUNCTIONS = ("share", "median", "average", "count", "max", "min", "sum")
"""In the order in which they are looked for: the average of sums is an average, "how many ... in total" a count."""
KINDS = {
    "share": ("share",),
    "median": ("median",),
    "average": ("average",),
    "max": ("maximum", "largest"),
    "min": ("minimum", "smallest"),
    "sum": ("sum", "total"),
}
"""The kinds of words (`language/words/questions.yaml`) that ask for each."""


@dataclass(frozen=True, slots=True)
class NumberSaid:
    """The number that a question asks for, before a schema says of what.

    Attributes:
        function: one of `FUNCTIONS`, "none" for none.
        changes: whether the difference of two sets is asked for.
        read: what the tagger reads the question as, where it is sure.
    """

    function: str
    changes: bool
    read: Intent | None


def number_said(question: str) -> NumberSaid:
    """Return the number that a question asks for: the tagger's where it is sure, else that of its words."""
    read = intent_of(question)
    function = read if read in FUNCTIONS else "none" if read == "list" else function_of(question)
    changes = read == "change" or (read is None and pattern("change").search(question) is not None)
    return NumberSaid(function, changes, read)


def function_of(question: str) -> str:
    """Return the function that a question's words ask for, "none" for none; the schema settles whether it is one."""
    return next((function for function in FUNCTIONS if asks(question, function)), "none")


def asks(question: str, function: str) -> bool:
    """Tell whether a question has words for a function."""
    return next(spans(question, function), None) is not None


def spans(question: str, function: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that ask for a function."""
    if function == "count":
        yield from counting(question)
        return
    for match in pattern(*KINDS[function]).finditer(question):
        apiece = function == "share" and pattern("each", after=r"\s+$").search(question[: match.start()])
        # "The price per share"; "invoices that came to more than 500".
        if not apiece and not (function == "sum" and bounds(question, match.end())):
            yield match.span()
    if function == "sum":
        yield from billing(question)


def bounds(question: str, place: int) -> bool:
    """Tell whether a bound of a number follows at a place: "more than 500", "über 6000", or the blanks of one (`plain`)."""
    if question.startswith(BLANKS, place):
        return True
    bound = pattern("more", "less", "least", "most", "exceeds", "undercuts", before=r"\s+").match(
        question, place
    )
    near = question[bound.end() : bound.end() + NEAR] if bound else ""
    return re.search(r"\d", near) is not None or bool(find_spelled(near))


BLANKS = " " * 6
"""What stands in a question in the place of words that were read: at least so many blanks."""
NEAR = 16
"""Characters behind a bound within which its number begins: "more than EUR 500"."""


def billing(question: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that ask what somebody billed or got, over all bills: "how much did A charge"."""
    for match in _billed("billed").finditer(question):
        yield match.span("asked")
        yield match.span("billed")
    for match in _billed("bill").finditer(question):
        helped = pattern("helping").search(match["asked"] + match["between"])
        before = terms.words(match["between"])
        # "How much did the bill come to" and "how much was the Tarn bill" ask of one.
        if helped and before and before[-1] not in terms.stop_words():
            yield match.span("asked")
            yield match.span("billed")


def counting(question: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the words behind which stands what is counted.

    "Number of" counts only where no noun stands before it ("serial number of"), "hoeveel" only before what is counted.
    """
    for match in pattern("count").finditer(question):
        if not pattern("share", before=r"\s+").match(question, match.end()):  # "how many percent"
            yield match.span()
    if alone := pattern("count_alone", before=r"\W*", after=r"\W*").fullmatch(question):
        yield alone.span()
    for match in pattern("count_verb").finditer(question):
        # "Combien coûtent", "combien ont coûté" ask for an amount.
        if not pattern("money").search(question, match.start(), match.end() + VERB):
            yield match.span()
    for match in pattern("count_noun").finditer(question):
        before = re.search(r"([^\W\d_][\w-]*)\s+$", question[: match.start()])
        noun = before is not None and terms.bare(before[1]) not in terms.stop_words()
        if not noun or (before and pattern("sum", "total", "different").fullmatch(before[1])):
            yield match.span()
    for match in pattern("how_much").finditer(question):
        # "Wie viel kostet", "hoeveel is" ask for an amount.
        if not pattern("helping", "be", "states", "costs", before=r"\s+").match(question, match.end()):
            yield match.span()


VERB = 10
"""Characters behind "combien ont" in which the verb itself may stand."""


def counted_at(question: str) -> int | None:
    """Return where what is counted begins, None where nothing is."""
    places = sorted(counting(question))
    return places[0][1] if places else None


@cache
def _billed(kind: str) -> re.Pattern[str]:
    """Return what matches "how much has A invoiced": a question for an amount, and a verb of billing of a kind."""
    return re.compile(
        rf"(?P<asked>{source('amount_asked')})(?P<between>[^?.]{{0,60}}?)(?P<billed>{source(kind)})",
        re.IGNORECASE,
    )
