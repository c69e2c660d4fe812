"""Read the days and periods of a question and bind each to a date field."""

import re
from collections.abc import Sequence

from citegraph.corpus.filters.clause import Operator
from citegraph.corpus.linking.links import Link
from citegraph.corpus.schema.field import Field
from citegraph.language.calendar_periods import Period
from citegraph.language.periods import find_periods
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
        declared = date_field(reader, start, end)
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


def date_field(reader: Reader, start: int, end: int) -> Field | None:
    """Return the date field whose words stand nearest to the period, else the main date of the bucket."""
    best: tuple[int, Field] | None = None
    for declared in reader.bucket.fields:
        if declared.type != "date":
            continue
        for word in declared.words:
            for begin, stop in find_phrase(reader.question, word):
                distance = start - stop if stop <= start else begin - end + 5
                if 0 <= distance <= 60 and (best is None or distance < best[0]):
                    best = (distance, declared)
    if best:
        return best[1]
    return reader.bucket.field(reader.bucket.main_date) if reader.bucket.main_date else None
