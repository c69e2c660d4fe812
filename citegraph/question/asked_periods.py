"""Read the days and periods of a question and bind each to a date field."""

import re
from collections.abc import Sequence

from citegraph.corpus.filters.clause import Operator
from citegraph.corpus.linking.links import Link
from citegraph.corpus.schema.field import Field
from citegraph.language import terms
from citegraph.language.dates import Period
from citegraph.language.periods import find_periods
from citegraph.language.word_tables import pattern
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader

BARE_YEAR = re.compile(r"(?:19|20)\d\d")


def read_periods(reader: Reader, *, whole_dates: bool, names: Sequence[Link] = ()) -> list[Period]:
    """Bind each period to the date field whose words stand nearest, else to the bucket's main date.

    Dates and months are read before names are (a month may look like a name), unless one of `names` holds them
    ("Business Today"); bare years after them, since a name may hold one.
    """
    bound = []
    for period in find_periods(reader.question, today=reader.today, order=reader.bucket.date_order):
        if bool(BARE_YEAR.fullmatch(period.text.strip())) is whole_dates:
            continue
        start, end = period.span
        declared = date_field(reader, period)
        if declared is None or not reader.free(start, end) or within_code(reader, start, end):
            continue
        if any(within_name(link, start, end) for link in names):
            continue
        bound.append(period)
        operator, value = period_clause(period)
        reader.add(declared.name, operator, value, start, end)
        if period.note:
            reader.notes.append(period.note)
    return bound


def within_name(link: Link, start: int, end: int) -> bool:
    """Tell whether a period is only a part of a name that is said whole."""
    return (
        link.complete and link.start <= start and end <= link.end and (link.start, link.end) != (start, end)
    )


def within_code(reader: Reader, start: int, end: int) -> bool:
    """Tell whether a period is only a part of an identifier ("KC-2023-04")."""
    found = reader.bucket.find_identifiers(reader.question)
    codes = [(begin, stop) for _, text, begin, stop in found if re.search(r"[^\W\d_]", text)]
    return any(begin <= start and end <= stop and (begin, stop) != (start, end) for begin, stop in codes)


def period_clause(period: Period) -> tuple[Operator, object]:
    """Return operator and value of a period, both ends included; an open end makes a comparison."""
    first = period.start.isoformat() if period.start else None
    last = period.end.isoformat() if period.end else None
    if first is None:
        return "<=", last
    if last is None:
        return ">=", first
    return ("=", first) if first == last else ("between", [first, last])


def date_field(reader: Reader, period: Period) -> Field | None:
    """Return the date field whose words stand nearest to a period, else the main date of the bucket.

    Where no document has a main date like that, and of
    only one other field some have, that one is meant: nothing was issued in 2046, but some runs out then.
    """
    dates = [declared for declared in reader.bucket.fields if declared.type == "date"]
    near = [
        (rank, distance, place)
        for place, declared in enumerate(dates)
        for word in declared.words
        for spot in find_phrase(reader.question, word)
        if (distance := _distance(spot, period.span)) is not None
        for rank in [_rank(word, behind=spot[0] >= period.span[1])]
    ]
    if near:
        return dates[min(near)[2]]
    main = reader.bucket.field(reader.bucket.main_date) if reader.bucket.main_date else None
    if main is not None and not _may_hold(reader, main, period):
        others = [declared for declared in dates if _may_hold(reader, declared, period)]
        return others[0] if len(others) == 1 else main
    return main


def _rank(word: str, *, behind: bool) -> int:
    """Return how little a word near a period says of which date is meant: "signed" before it most, "in" least."""
    small = terms.bare(word) in terms.stop_words()
    if small:
        return 3 if pattern("locative").fullmatch(word) else 1
    return 2 if behind else 0


def _distance(word: tuple[int, int], period: tuple[int, int]) -> int | None:
    """Return how far a word stands from a period, None for too far: behind it only the next words count."""
    if word[1] <= period[0]:
        return period[0] - word[1] if period[0] - word[1] <= BEFORE else None
    behind = word[0] - period[1]
    return behind + 5 if 0 <= behind <= BEHIND else None


BEFORE, BEHIND = 60, 25
"""Characters between a field's word and a period that it is about."""


def _may_hold(reader: Reader, declared: Field, period: Period) -> bool:
    """Tell whether some document's date may lie in a period; where no document states it, that is not known."""
    held = reader.dates.get(declared.name)
    if held is None:
        return declared.name == reader.bucket.main_date
    return (period.end is None or held[0] <= period.end) and (period.start is None or held[1] >= period.start)
