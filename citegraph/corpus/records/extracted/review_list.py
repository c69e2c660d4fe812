"""What a person should look at in a bucket: doubtful, contradicted and refused values, what matters most first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from citegraph.corpus.records.access import OWNER, Principal, sql_condition
from citegraph.corpus.records.database import batches, fetched, open_database
from citegraph.corpus.records.extracted.corrections import corrections_table
from citegraph.corpus.records.extracted.extraction_store import Found, annotations_table, to_found
from citegraph.corpus.schema.bucket import Bucket

REVIEW_BELOW = 0.8
"""Certainty below which a value is listed for review."""
UNREADABLE = 0.4
"""Certainty of a field of which only values were found that its type refused."""
RIVAL = 0.5
"""Part of a rival's confidence that is taken from the certainty of the value that it contradicts."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One field of one document to look at.

    Attributes:
        certainty: 0 to 1: the confidence of the value that stands, or less where another one contradicts it.
        found: everything extracted for the field, the value that stands first.
    """

    doc_id: str
    field: str
    certainty: float
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some of what there is to review; `total` counts all of it."""

    items: tuple[ReviewItem, ...]
    total: int


class ReviewList:
    """The list for review of each bucket; all methods block and raise `Unavailable` without a database.

    Args:
        principal: only the documents that they may see are listed and counted.
    """

    def __init__(self, sql_url: str, principal: Principal = OWNER) -> None:
        self._engine: sa.Engine = open_database(sql_url)
        self._principal = principal

    def page(
        self,
        bucket: Bucket,
        *,
        below: float = REVIEW_BELOW,
        fields: Sequence[str] = (),
        limit: int = 100,
        offset: int = 0,
    ) -> ReviewPage:
        """Return the fields of documents whose certainty is below a bound, those that matter most first.

        What matters is doubt times the weight of the field: names, main date, main amount and identifiers count
        twice as much as other fields, long texts half as much. Corrected fields are not listed.
        """
        doubts = self._doubts(bucket, fields)
        listed = sa.select(doubts).where(doubts.c.certainty < below)
        weight = sa.case(_weights(bucket), value=doubts.c.field, else_=1.0)
        order = ((weight * (1 - doubts.c.certainty)).desc(), doubts.c.doc_id, doubts.c.field)
        total = fetched(self._engine, sa.select(sa.func.count()).select_from(listed.subquery())).scalar_one()
        rows = fetched(self._engine, listed.order_by(*order).limit(limit).offset(offset)).all()
        found = self._found([(row.doc_id, row.field) for row in rows])
        items = (
            ReviewItem(row.doc_id, row.field, round(row.certainty, 4), tuple(found[row.doc_id, row.field]))
            for row in rows
        )
        return ReviewPage(tuple(items), int(total))

    def counts(
        self, bucket: Bucket, doc_ids: Sequence[str], *, below: float = REVIEW_BELOW
    ) -> dict[str, int]:
        """Return field -> in how many of these documents it is listed."""
        found: Counter[str] = Counter()
        for some in batches(doc_ids):
            doubts = self._doubts(bucket, (), some)
            listed = sa.select(doubts.c.field, sa.func.count().label("listed")).where(
                doubts.c.certainty < below
            )
            rows = fetched(self._engine, listed.group_by(doubts.c.field))
            found.update({row.field: int(row.listed) for row in rows})
        return dict(found)

    def _doubts(
        self, bucket: Bucket, fields: Sequence[str], doc_ids: Sequence[str] | None = None
    ) -> sa.Subquery:
        """Return (doc_id, field, certainty) of every field of a document that was not corrected."""
        table, corrections = annotations_table.c, corrections_table.c
        corrected = sa.select(corrections.doc_id).where(
            corrections.doc_id == table.doc_id, corrections.field == table.field
        )
        names = fields or [field.name for field in bucket.fields]
        sure = _highest("stored")
        # Nothing stands: what was found is too doubtful, or an annotation row that says otherwise stands instead.
        stands = sa.case(
            (sure.is_not(None), sure),
            (_highest("uncertain").is_not(None), _highest("uncertain")),
            (_highest("other").is_not(None), 1.0),
            else_=UNREADABLE,
        )
        rivalled = 1 - RIVAL * sa.func.coalesce(_highest("other"), 0.0)
        certainty = sa.case((stands < rivalled, stands), else_=rivalled).label("certainty")
        return (
            sa.select(table.doc_id, table.field, certainty)
            .where(
                table.bucket == bucket.name,
                table.field.in_(names),
                ~corrected.exists(),
                *([] if doc_ids is None else [table.doc_id.in_(doc_ids)]),
                sql_condition(self._principal, table.doc_id),
            )
            .group_by(table.doc_id, table.field)
            .subquery()
        )

    def _found(self, keys: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], list[Found]]:
        table = annotations_table.c
        found: dict[tuple[str, str], list[Found]] = {key: [] for key in keys}
        for some in _parts(keys):
            these = sa.or_(*(sa.and_(table.doc_id == doc_id, table.field == field) for doc_id, field in some))
            statement = sa.select(annotations_table).where(these).order_by(table.ordinal)
            for row in fetched(self._engine, statement).mappings():
                found[row["doc_id"], row["field"]].append(to_found(row))
        return found


def _parts(keys: Sequence[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    return (keys[start : start + 100] for start in range(0, len(keys), 100))


def _highest(status: str) -> sa.ColumnElement[Any]:
    """Return the highest confidence among a group's rows of one status; NULL without such a row."""
    table = annotations_table.c
    return sa.func.max(sa.case((table.status == status, table.confidence), else_=sa.literal(None)))


def _weights(bucket: Bucket) -> dict[str, float]:
    """Return field -> how much a wrong value of it matters."""
    return {
        item.name: 2.0 if item.name in bucket.telling else 0.5 if item.type in ("text", "keywords") else 1.0
        for item in bucket.fields
    }
