"""Read the days and periods of a question and bind each to a date field."""

import re
from collections.abc import Sequence

from citegraph.corpus.filters.clause import Clause, Group, Operator
from citegraph.corpus.linking.links import Link
from citegraph.corpus.schema.field import Field
from citegraph.language.calendar_periods import Period
from citegraph.language.periods import find_periods
from citegraph.question import cues
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader

BARE_YEAR = re.compile(r"(?:19|20)\d\d")
DENIED = re.compile(rf"{cues.NEGATION.pattern}\s+(?:(?-i:[a-zß-ÿ]+)\s+){{0,2}}$", re.IGNORECASE)
"""A negation directly before a period, at most two ordinary words between ("not dated in 2018")."""


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
        if DENIED.search(reader.question[:start]):
            reader.clauses.append(outside(declared.name, period, reader.question[start:end].strip()))
        else:
            operator, value = period_clause(period)
            reader.add(declared.name, operator, value, start, end)
        reader.use(start, end)
        if period.note:
            reader.notes.append(period.note)
    return bound


def within_name(link: Link, start: int, end: int) -> bool:
    """Tell whether a period is only a part of a name that is said whole."""
    return (
        link.complete and link.start <= start and end <= link.end and (link.start, link.end) != (start, end)
    )


def outside(name: str, period: Period, raw: str) -> Clause | Group:
    """Return the clause of a negated period ("not in 2018"): the days before it or after it."""
    first, last = period.start, period.end
    if first and first == last:
        return Clause(field=name, operator="!=", value=first.isoformat(), raw=raw)
    before = [Clause(field=name, operator="<", value=first.isoformat(), raw=raw)] if first else []
    after = [Clause(field=name, operator=">", value=last.isoformat(), raw=raw)] if last else []
    clauses = (*before, *after)
    return clauses[0] if len(clauses) == 1 else Group(mode="any", clauses=clauses)


def settle_periods(reader: Reader) -> None:
    """Join the periods of one date field that no document can meet together: it has one such date.

    Days are alternatives of each other, and say more than a longer period that stands beside them; periods apart
    from each other ("2017 and 2019") are alternatives.
    """
    for declared in reader.bucket.fields:
        said = [item for item in reader.clauses if isinstance(item, Clause) and item.field == declared.name]
        said = [item for item in said if item.operator in SPANS] if declared.type == "date" else []
        if len(said) < 2:
            continue
        days = [item for item in said if item.operator == "="]
        first, last = zip(*(span_of(item) for item in said), strict=True)
        if not days and max(first) <= min(last):
            continue
        raw = "; ".join(dict.fromkeys(item.raw for item in days or said))
        joined: Clause | Group = Group(mode="any", clauses=tuple(said))
        if days:
            values = list(dict.fromkeys(str(item.value) for item in days))
            joined = (
                Clause(field=declared.name, operator="in", value=[*values], raw=raw)
                if len(values) > 1
                else days[0]
            )
        place = reader.clauses.index(said[0])
        reader.clauses[:] = [item for item in reader.clauses if item not in said]
        reader.clauses.insert(min(place, len(reader.clauses)), joined)


SPANS = frozenset({"=", "between", "<=", ">="})


def span_of(clause: Clause) -> tuple[str, str]:
    """Return the first and last day of a period's clause, as ISO dates; an open end reaches as far as dates do."""
    if isinstance(clause.value, list):
        return str(clause.value[0]), str(clause.value[-1])
    day = str(clause.value)
    return ("0001-01-01" if clause.operator == "<=" else day), (
        "9999-12-31" if clause.operator == ">=" else day
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
