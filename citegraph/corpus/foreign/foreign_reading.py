"""Reads the points of a collection that someone else wrote as documents: which belong together, and what they state."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from citegraph.corpus.schema.bucket import show
from citegraph.corpus.schema.document import Page, safe_id
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import read_row
from citegraph.language.terms import fold

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket, Collection

POINT = "_id"
"""The `id_key` that makes each point a document; langchain-qdrant gives a point's id under this name."""
BETWEEN = "\n\n"
"""What stands between the texts of two points in the text of their document."""
EPOCH = (10**8, 10**11, 10**14)
"""Numbers of a date field: from the first on they are seconds since 1970, from the second milliseconds, to the third."""


EDGE = 400
"""Characters at either end of a piece that are compared; splitters repeat fewer."""
SHARED = 20
"""Characters that two pieces have in common at least, where one follows the other."""
MOST_PIECES = 400
"""Pieces up to which each is held against each other."""


def in_order(pieces: Sequence[tuple[str, str]]) -> list[int]:
    """Return the places of pieces, given as (start, end) of their texts, so that each follows the one it overlaps.

    A piece that overlaps none, or several alike, stays where it is, with those that follow it.
    """
    numbers = range(len(pieces))
    if len(pieces) > MOST_PIECES:
        return list(numbers)
    follows: dict[int, list[int]] = {one: [] for one in numbers}
    for one in numbers:
        follows[one] = [other for other in numbers if other != one and _continues(pieces[one], pieces[other])]
    before = [other for found in follows.values() for other in found]
    after = {
        one: found[0] for one, found in follows.items() if len(found) == 1 and before.count(found[0]) == 1
    }
    ordered: dict[int, None] = {}
    starts = [one for one in numbers if one not in after.values()]
    for start in (*starts, *numbers):  # a ring has no start
        at: int | None = start
        while at is not None and at not in ordered:
            ordered[at] = None
            at = after.get(at)
    return list(ordered)


def _continues(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Tell whether the end of a piece is the start of another."""
    (_, end), (start, _) = one, other
    if len(start) < SHARED:
        return False
    place = end.find(start[:SHARED])
    while place >= 0:
        if start.startswith(end[place:]):
            return True
        place = end.find(start[:SHARED], place + 1)
    return False


class Span(NamedTuple):
    """Where the text of a point stands in its document's; the page is None when the metadata have none."""

    point: str | int
    start: int
    end: int
    page: int | None
    label: str | None


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    """A document as its points give it.

    Attributes:
        values: of each field the one value that they state; of a list field all of them.
        conflicts: fields of which they state several values, which are in none of `values`.
        unreadable: fields of which they state something else than a value of its type.
    """

    doc_id: str
    source_file: str
    title: str
    spans: tuple[Span, ...]
    values: Mapping[str, Value]
    conflicts: Mapping[str, tuple[str, ...]]
    unreadable: Mapping[str, str]


def metadata_of(declared: Collection, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a point's payload; those in objects also under a dotted name ("invoice.total")."""
    if declared.metadata_key:
        held = payload.get(declared.metadata_key)
    else:
        held = {key: value for key, value in payload.items() if key != declared.content_key}
    return _flat(held) if isinstance(held, Mapping) else {}


def _flat(held: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in held.items():
        found[f"{before}{key}"] = value
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{key}.")
    return found


def document_name(declared: Collection, metadata: Mapping[str, Any]) -> str | None:
    """Return the name of a point's document, None when the point is one of its own."""
    given = declared.id_key or declared.source_key
    keys = (given,) if isinstance(given, str) else given
    parts = [metadata.get(key) for key in keys]
    if POINT in keys or any(part is None or part == "" for part in parts):
        return None
    text = "-".join(str(part) for part in parts)
    name = safe_id(text.replace("#", "-"))
    short = name[:180]
    return name if name == text else f"{short}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def page_of(declared: Collection, metadata: Mapping[str, Any]) -> int | None:
    """Return the number of a point's page, from 1; None when the metadata have no whole number for it."""
    number = metadata.get(declared.page_key)
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    page = number - declared.first_page + 1
    return page if page > 0 else None


class _Row(NamedTuple):
    """What the metadata of a point state."""

    values: Mapping[str, Value]
    unreadable: Mapping[str, str]


class _Place(NamedTuple):
    """Where a point stands among those of its document: by page and `start_index`, else by the edges of its text."""

    order: tuple[bool, int, float, int]
    point: str | int
    length: int
    page: int | None
    label: str | None
    edges: tuple[str, str]


@dataclass(slots=True)
class _Points:
    """The points of one document, as they come."""

    source_file: str
    title: str
    places: list[_Place] = field(default_factory=list)
    rows: dict[str, _Row] = field(default_factory=dict)


class ForeignReading:
    """Takes the points of a collection one by one, and gives its documents.

    Attributes:
        points: how many were taken.
        keys: the payload keys that they had.
    """

    def __init__(self, bucket: Bucket, keys: Collection) -> None:
        self.points = 0
        self.keys: set[str] = set()
        self._bucket = bucket
        self._declared = keys
        self._documents: dict[str, _Points] = {}
        self._known: dict[str, _Row] = {}

    def add(self, point: str | int, payload: Mapping[str, Any]) -> None:
        """Take a point."""
        declared = self._declared
        metadata, text = metadata_of(declared, payload), str(payload.get(declared.content_key) or "")
        name = document_name(declared, metadata)
        doc_id = name or f"{self._bucket.name}-{point}"
        held = self._documents.get(doc_id)
        if held is None:
            source = str(metadata.get(declared.source_key) or name or doc_id)
            held = self._documents[doc_id] = _Points(source, str(metadata.get("title") or ""))
        page, label = page_of(declared, metadata), metadata.get("page_label")
        # Points without a page come first: a place before the first page has none, so that none is guessed.
        start = metadata.get("start_index")
        order = (page is not None, page or 0, _number(start), len(held.places))
        edges = (text[:EDGE], text[-EDGE:]) if start is None else ("", "")
        held.places.append(_Place(order, point, len(text), page, str(label) if label else None, edges))
        given = {key: metadata[key] for key in metadata if self._bucket.field(key)}
        key = json.dumps(given, sort_keys=True, default=str)
        held.rows[key] = (
            self._known[key] if key in self._known else self._known.setdefault(key, self._row(given))
        )
        self.points += 1
        self.keys |= payload.keys()

    def documents(self) -> Iterator[ForeignDocument]:
        """Yield the documents of the points that were taken."""
        for doc_id, held in self._documents.items():
            values, conflicts, unreadable = self._merged(list(held.rows.values()))
            yield ForeignDocument(
                doc_id,
                held.source_file,
                held.title or self._bucket.title(values),
                tuple(_spans(held)),
                values,
                conflicts,
                unreadable,
            )

    def _merged(
        self, rows: Sequence[_Row]
    ) -> tuple[dict[str, Value], dict[str, tuple[str, ...]], dict[str, str]]:
        values: dict[str, Value] = {}
        conflicts: dict[str, tuple[str, ...]] = {}
        unreadable: dict[str, str] = {}
        for declared in self._bucket.fields:
            name = declared.name
            stated = {_compared(row.values[name]): row.values[name] for row in rows if name in row.values}
            if declared.type == "keywords" and stated:
                items = [item for value in stated.values() for item in value]  # type: ignore[union-attr]
                values[name] = tuple({fold(item): item for item in reversed(items)}.values())[::-1]
            elif len(stated) == 1:
                (values[name],) = stated.values()
            elif stated:
                conflicts[name] = tuple(show(value) for value in stated.values())
            elif reasons := [row.unreadable[name] for row in rows if name in row.unreadable]:
                unreadable[name] = reasons[0]
        return values, conflicts, unreadable

    def _row(self, given: Mapping[str, Any]) -> _Row:
        """Return the typed values of a point's metadata, and what of them cannot be read."""
        unreadable: dict[str, str] = {}
        prepared: dict[str, Any] = {}
        for key, raw in given.items():
            declared = self._bucket.field(key)
            assert declared is not None
            value = _single(declared, raw)
            if isinstance(value, list) and declared.type != "keywords":
                unreadable[declared.name] = f"a list of {len(value)} values"
            else:
                prepared[key] = _day(value) if declared.type == "date" else value
        values, problems = read_row(self._bucket, prepared)
        for problem in problems:
            found = self._bucket.field(problem.column)
            if found is not None:
                unreadable.setdefault(found.name, problem.value[:80])
        unreadable = {name: said for name, said in unreadable.items() if name not in values}
        return _Row(values, unreadable)


def _spans(held: _Points) -> Iterator[Span]:
    start = 0
    for _, group in groupby(
        sorted(held.places, key=lambda place: place.order), lambda place: place.order[:3]
    ):
        places = list(group)
        for number in in_order([place.edges for place in places]):
            place = places[number]
            yield Span(place.point, start, start + place.length, place.page, place.label)
            start += place.length + len(BETWEEN)


def pages_of(spans: Sequence[Span]) -> tuple[Page, ...]:
    """Return the pages of a document by the pages of its points."""
    pages: list[Page] = []
    for span in spans:
        if span.page is None:
            continue
        if pages and pages[-1].number == span.page:
            pages[-1] = Page(span.page, pages[-1].start, span.end, pages[-1].label)
        else:
            pages.append(Page(span.page, span.start, span.end, span.label))
    return tuple(pages)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _single(declared: Field, raw: Any) -> Any:
    """Return a list of one value as the value; an empty one as none."""
    if isinstance(raw, list) and declared.type != "keywords" and len(raw) < 2:
        return raw[0] if raw else None
    return raw


def _day(raw: Any) -> Any:
    """Return seconds or milliseconds since 1970 as the day in UTC; anything else as it is."""
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not EPOCH[0] <= raw < EPOCH[2]:
        return raw
    seconds = raw if raw < EPOCH[1] else raw / 1000
    return datetime.fromtimestamp(seconds, UTC).date()


def _compared(value: Value) -> Any:
    return fold(value) if isinstance(value, str) else value
