"""What number over a set a question asks for: its function, what it is computed over, shares, changes and groups kept."""

import re
from collections.abc import Sequence
from datetime import date
from itertools import product

from citegraph.corpus.records.querying.aggregates import MINUS
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import asked_span
from citegraph.language import terms
from citegraph.language.amounts import find_amounts
from citegraph.language.dates import Period
from citegraph.language.numbers import find_spelled
from citegraph.language.periods import find_periods
from citegraph.language.word_tables import alternation, pattern
from citegraph.plan.stored_filters import flat, inferred
from citegraph.plan.unbound import fields_bound, said_by_grammar
from citegraph.question import cues
from citegraph.question.functions import asks, counted_at, counting, number_said, spans
from citegraph.question.groups import BETWEEN, group_at, read_groups
from citegraph.question.intent import is_led
from citegraph.question.measures import compared, counts, durations, plain
from citegraph.question.ordering import field_at_start, in_digits
from citegraph.question.phrases import document_words, find_phrase
from citegraph.run.state_types import GroupCondition, Reading, StoredClause, WantedNumber

COMPUTED = frozenset({"money", "quantity", "integer", "decimal"})
DAYS = re.compile(rf"\b(?:{alternation('asking', 'days_between')})\b", re.IGNORECASE)
"""Beside two dates: the days between them are meant."""


def days_asked(bucket: Bucket, question: str) -> str | None:
    """Return "later - earlier" when a question asks for the time between two dates that it names, else None."""
    if not DAYS.search(question):
        return None
    places: list[tuple[int, int, str]] = []
    for declared in bucket.fields:
        spans = [
            (start, start - end)
            for word in declared.called
            if declared.type == "date" and len(word) > 3
            for start, end in find_phrase(question, word)
        ]
        if spans:
            start, length = min(spans, key=lambda span: span[1])
            places.append((start, length, declared.name))
    kept: list[tuple[int, int, str]] = []
    for place in sorted(places, key=lambda item: item[1]):
        if all(place[0] >= other[0] - other[1] or other[0] >= place[0] - place[1] for other in kept):
            kept.append(place)
    if len(kept) < 2:
        return None
    first, last = sorted(kept)[:2]
    return f"{last[2]}{MINUS}{first[2]}"


def field_asked(bucket: Bucket, function: str, lead: Reading) -> Field | None:
    """Return the field that a question names to be computed over: a number, and of extremes a date."""
    filtered = {clause["field"] for clause in flat(lead["filters"])}
    fitting = COMPUTED | ({"date"} if function in {"min", "max"} else set())
    named = [found for name in lead["asked"] if (found := bucket.field(name)) and found.type in fitting]
    named.sort(key=lambda item: (item.name == bucket.main_amount, item.name in filtered))
    return named[0] if named else None


def measured(bucket: Bucket, question: str, function: str, lead: Reading) -> Field | None:
    """Return the field that a number is computed over: the one that is named, a length of time, or the main amount."""
    named = field_asked(bucket, function, lead)
    if named is not None:
        return named
    spent = durations(bucket) if pattern("how_long", "longest", "shortest").search(question) else []
    return spent[0] if spent else bucket.field(bucket.main_amount or "")


def values_asked(bucket: Bucket, question: str) -> Field | None:
    """Return the field with values of words whose word stands in a question, the longest; None for none."""
    found = [
        (end - start, -place, declared)
        for place, declared in enumerate(bucket.fields)
        if declared.type in {"keyword", "keywords"} and declared.kind != "identifier"
        for word in declared.called
        if len(word) >= TELLING and terms.bare(word) not in terms.stop_words()
        for start, end in find_phrase(question, word)[:1]
    ]
    return max(found, key=lambda item: item[:2])[2] if found else None


TELLING = 4
"""Letters from which a field's word alone tells that its values are meant."""


def groups_counted(question: str, lead: Reading) -> str | None:
    """Return the field whose values are counted one by one: "how many are A and how many are B"."""
    if len(list(counting(question))) < 2:
        return None
    several = [clause for clause in lead["filters"] if clause.get("operator") == "in"]
    return str(several[0]["field"]) if several else None


def values_counted(bucket: Bucket, question: str) -> str | None:
    """Return the keyword field whose different values "how many vendors" counts, None when something else is counted."""
    place = counted_at(question)
    if place is None:
        return None
    rest = pattern("different", before=r"\s*").sub(" ", question[place:], count=1).lstrip()
    rest = re.sub(rf"^(?:(?:{alternation('asking', 'of')})\s+)?{cues.ARTICLE}", "", rest, flags=re.IGNORECASE)
    if any(start == 0 for noun in bucket.nouns for start, _ in find_phrase(rest, noun)[:1]):
        return None
    for declared in bucket.fields:
        words = declared.called
        if (
            declared.type == "keyword"
            and declared.kind != "identifier"
            and any(
                is_led(rest[:start])
                for word in words
                if len(word) > 3
                for start, _ in find_phrase(rest, word)[:1]
            )
        ):
            return declared.name
    return None


def amount_counted(bucket: Bucket, question: str) -> str | None:
    """Return the field that is added up though "how many" asks for it: pages, or an amount ("combien de TVA").

    Not one with a unit: years of several documents add up to nothing.
    """
    place = counted_at(question)
    rest = question[place:].lstrip() if place is not None else ""
    found = field_at_start(bucket, rest) if rest else None
    adds_up = found is not None and (found.type == "money" or (found.type == "integer" and counts(found)))
    return found.name if found is not None and adds_up else None


def share_asked(bucket: Bucket, question: str, lead: Reading) -> WantedNumber | None:
    """Return the share that is asked for: of the documents, or of their amount, with the conditions of the whole.

    "What share of the EUR invoices is above 100?" sets the EUR invoices as the whole, "the share of A among the
    invoices of 2020" those of 2020.
    """
    number, said = number_said(question), next(spans(question, "share"), None)
    said = (asked_span(question) or (0, 0)) if said is None and number.read == "share" else said
    if said is None or not lead["filters"] or number.changes:
        return None  # "by how many percent did it rise?" asks for no part of a whole
    whole = [clause for clause in lead["filters"] if not inferred(clause)]
    part = [clause for clause in lead["filters"] if clause not in whole]
    among = pattern("among").search(question, said[1])
    if among is not None:
        before = [clause for clause in part if all(one >= among.end() for one, _ in places(question, clause))]
        before = before if len(before) < len(part) else []
    else:
        before = of_whole(bucket, question, said, part)
    of = question[said[1] : said[1] + 40]
    named = any(find_phrase(of, noun) for noun in bucket.nouns)
    money = bucket.main_amount and asks(of, "sum") and not named
    return {
        "function": "share",
        "field": bucket.main_amount if money else None,
        "whole": [*whole, *before],
    }


def spread_asked(bucket: Bucket, question: str, lead: Reading) -> WantedNumber | None:
    """Return the largest less the smallest number of a set, where the difference of both is asked, or of two documents."""
    ends = [list(spans(question, function)) for function in ("max", "min")]
    both = all(ends)
    joined = any(
        pattern("and").search(question, min(one[1], other[1]), max(one[0], other[0]))
        for one, other in product(*ends)
    )  # "the dearest and the cheapest": both are told, and how far they lie apart
    if pattern("change").search(question) is None and (not joined or read_groups(bucket, question)):
        return None
    two = documents_meant(bucket, question) == 2 or any(
        clause["operator"] == "in" and len(clause["value"]) == 2
        for clause in flat(lead["filters"])
        if (held := bucket.field(clause["field"])) and held.type == "date"
    )  # "the bills of 3 May and of 9 June"
    declared = field_asked(bucket, "max", lead)
    field = declared.name if declared else bucket.main_amount
    if not (both or two) or field is None:
        return None
    return {
        "function": "max",
        "field": field,
        "second": {"operation": "difference", "function": "min", "field": field},
    }


def documents_meant(bucket: Bucket, question: str) -> int | None:
    """Return how many documents a question says that it means ("the two Tarn invoices"), None where it does not say it."""
    for said in find_spelled(question):
        behind = question[said.end : said.end + NEAR_NOUN]
        if any(find_phrase(behind, noun) for noun in document_words(bucket)):
            return said.value
    return None


NEAR_NOUN = 40
"""Characters behind a number in which the word for the documents stands."""


def places(question: str, clause: StoredClause) -> list[tuple[int, int]]:
    """Return where the words of each condition first stand in the question; (-1, -1) where they do not."""
    said = [str(one.get("raw", "")).split("; ") for one in flat([clause])]
    found = [
        [(start, start + len(text)) for text in texts if (start := question.find(text)) >= 0]
        for texts in said
    ]
    return [min(spots, default=(-1, -1)) for spots in found]


def of_whole(
    bucket: Bucket, question: str, said: tuple[int, int], part: list[StoredClause]
) -> list[StoredClause]:
    """Return the conditions of the whole of a share: those of the phrase around the documents' own word.

    The phrase ends at its verb: a form of "be" or "have" with a condition behind it, else the first word that is
    neither small nor of a condition; a clause that begins behind the documents' word ("that began in 2020") is of the
    phrase with its first condition. Where no verb parts it, what stands before the documents' word is of the whole, or
    only what that word says itself, since some condition must make the part.
    """
    spots = {place: places(question, clause) for place, clause in enumerate(part)}
    heads = [place for noun in document_words(bucket) for place in find_phrase(question, noun)]
    first = [place for place in heads if place[1] <= said[0]] or [
        place for place in heads if place[0] >= said[1]
    ]

    def up_to(end: int) -> list[StoredClause]:
        return [part[place] for place, held in spots.items() if all(0 <= spot[0] < end for spot in held)]

    taken = [one for held in spots.values() for one in held]
    if not first:  # "of all that went to A, what share was spent in May?"
        found = (up_to(end) for end in (said[0], *_verbs(question, said[1], taken)))
        return next((held for held in found if 0 < len(held) < len(part)), [])
    start = min(begin for begin, _ in first)
    head = max((place for place in first if place[0] == start), key=lambda place: place[1])
    own = [
        part[place]
        for place, held in spots.items()
        if all(begin <= head[0] < stop or head[0] <= begin < head[1] for begin, stop in held)
    ]
    clause = RELATIVE.match(question, head[1]) and [stop for begin, stop in taken if begin >= head[1]]
    ends = [said[0]] if head[1] <= said[0] else _verbs(question, min(clause or [head[1]]), taken)
    found = (up_to(end) for end in (*ends, head[1]))
    return next((held for held in found if 0 < len(held) < len(part)), own if len(own) < len(part) else [])


RELATIVE = re.compile(rf",?\s+(?:{alternation('asking', 'begins_clause')})\b", re.IGNORECASE)


def _verbs(question: str, start: int, taken: Sequence[tuple[int, int]]) -> list[int]:
    """Return where the verb behind a noun may begin, most likely first."""
    helping = pattern("be", "states").search(question, start)
    words = [
        match.start()
        for match in re.finditer(r"[^\W\d_]+", question[start:])
        for place in [start + match.start()]
        if terms.bare(match.group()) not in terms.stop_words("grammar")
        and not any(begin <= place < end for begin, end in taken)
    ]
    return [*([helping.start()] if helping else []), *(start + word for word in words[:1])]


def sides_asked(
    bucket: Bucket, question: str, lead: Reading, function: str, today: date
) -> list[list[StoredClause]]:
    """Return the conditions of the two sides of a difference or change: two periods, or two names; [] for none.

    Two spellings of what the question names once are no sides.
    """
    if function not in {"sum", "count", "average", "median", "distinct"}:
        return []
    said = plain(question)
    changes = number_said(question).changes or pattern("change").search(said) is not None
    if not (changes or cues.COMPARE.search(said) or cues.COMPARATIVE.search(said)):
        return []
    for clause in lead["filters"]:
        rest = [other for other in lead["filters"] if other is not clause]
        inner = clause.get("clauses", [])
        if len(inner) == 2 and clause.get("mode") == "any" and len({one.get("field") for one in inner}) == 1:
            return [[*rest, one] for one in inner]
        values = clause.get("value")
        spelled = any(clause.get("value") == mention["values"] for mention in lead.get("mentions", []))
        if clause.get("operator") == "in" and isinstance(values, list) and len(values) == 2 and not spelled:
            return [[*rest, {**clause, "operator": "=", "value": value}] for value in values]
        ends = _ends_of(bucket, clause, today) if changes else []
        if ends:
            return [[*rest, end] for end in ends]
    return []


def _ends_of(bucket: Bucket, clause: StoredClause, today: date) -> list[StoredClause]:
    """Return the first and the last period of "from 2022 to 2023" as conditions, [] where it is no such range."""
    declared = bucket.field(clause.get("field", ""))
    if declared is None or declared.type != "date" or clause.get("operator") != "between":
        return []
    values = clause.get("value")
    words = str(clause.get("raw", "")).split()
    for cut in range(1, len(words)):
        parts = [" ".join(words[:cut]), " ".join(words[cut:])]
        year = re.search(r"\b\d{4}\b", parts[1])
        if year and not re.search(r"\d{4}", parts[0]):
            parts[0] += f" {year[0]}"
        periods = [find_periods(_LEAD.sub("", part), today=today, order=bucket.date_order) for part in parts]
        closed = [found[0] for found in periods if len(found) == 1 and found[0].start and found[0].end]
        if len(closed) == 2 and [str(closed[0].start), str(closed[1].end)] == values and _apart(*closed):
            return [
                {**clause, "value": [str(period.start), str(period.end)], "raw": period.text}
                for period in closed
            ]
    return []


def _apart(first: Period, last: Period) -> bool:
    return first.end is not None and last.start is not None and first.end < last.start


_LEAD = re.compile(r"^(?:[^\W\d]{1,7}\s+)+(?=\d|[^\W\d])", re.IGNORECASE)


def groups_kept(bucket: Bucket, question: str, group: str | None) -> GroupCondition | None:
    """Return the condition on the groups of "vendors with more than 3 invoices", or "over 500 EUR in total"; None for none."""
    if group is None:
        return None
    question = in_digits(question, bounded=True)
    for amount in find_amounts(question):
        operator, start, end = compared(question, *amount.span)
        rest = question[end:].lstrip()
        counted = any(
            len(rest[:start].split()) < BETWEEN
            for noun in bucket.nouns
            for start, _ in find_phrase(rest, noun)[:1]
        )
        counted = counted or pattern("times").match(rest) is not None
        plain = amount.money.currency is None
        if operator != "=" and counted and plain:
            return {"column": "count", "operator": operator, "value": f"{amount.money.amount:f}"}
        outside = f"{question[:start]} {question[end:]}"
        if operator != "=" and bucket.main_amount and asks(outside, "sum"):
            return {
                "column": f"sum_{bucket.main_amount}",
                "operator": operator,
                "value": f"{amount.money.amount:f}",
            }
    return None


def sum_asked(bucket: Bucket, question: str, lead: Reading) -> str | None:
    """Return the amount that is summed though no word for a sum is said: "how much freight did A earn in 2023?".

    Only over a period, and of no document that is named. Where neither a field nor a thing is named either ("how much did A
    ... in 2023?", with whatever verb), what is asked of somebody is the main amount.
    """
    asked = pattern("amount_asked").search(question)
    if not asked or lead["noun"] == "singular" or lead["identifiers"]:
        return None
    period = any(
        clause.get("field") == bucket.main_date and clause.get("operator") == "between"
        for clause in flat(lead["filters"])
    )
    field = field_asked(bucket, "sum", lead) if period else None
    if period and field is None and not lead["asked"] and only_how_much(bucket, question, lead) is not None:
        return bucket.main_amount
    return field.name if field is not None and field.type == "money" else None


def only_how_much(bucket: Bucket, question: str, lead: Reading) -> list[str] | None:
    """Return the verb of "how much did A ...?" as far as no table knows it, where nothing else is left unread; None for others.

    A word right behind "how much" says of what ("how much storage"), and "what did A ..." asks for no amount.
    """
    asked = pattern("amount_asked").search(question)
    if (
        not asked
        or cues.WHICH.search(question)
        or lead["names"]
        or set(fields_bound(lead)).isdisjoint(bucket.entity_fields)
    ):
        return None
    left = [word for word in lead["terms"] if word not in said_by_grammar()]
    behind = terms.words(question[asked.end() :])[:1]
    return left if len(left) < 2 and set(behind).isdisjoint(left) else None


_BEFORE_A_GROUP = re.compile(rf"^\W*(?:{alternation('asking', 'before_a_group')})\s+", re.IGNORECASE)


def group_listed(bucket: Bucket, question: str) -> str | None:
    """Return the field whose values a question asks for in the plural: "which vendors", "list the suppliers"."""
    lead = cues.WHICH.search(question) or cues.LIST.search(question)
    rest = question[lead.end() :] if lead else question
    rest = _BEFORE_A_GROUP.sub("", rest).lstrip()
    found = group_at(bucket, rest)
    return found[0] if found else None
