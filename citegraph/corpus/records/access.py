"""Who may see which documents: the principal, and the one view of the corpus through which it sees anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, ColumnElement, Index, MetaData, String, Table, and_, exists, or_, select, true

from citegraph.corpus.records.database import create_tables
from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket

LABELS_KEY = "meta._labels"
"""Where a chunk's payload holds the labels of its document, beside the declared fields."""

MAX_LABEL = 100

_metadata = MetaData()
labels_table = Table(
    "document_labels",
    _metadata,
    Column("doc_id", String(512), primary_key=True),
    Column("label", String(MAX_LABEL), primary_key=True),
    Index("document_labels__label", "label"),
)


@dataclass(frozen=True, slots=True)
class Principal:
    """Someone who asks, and what they may see.

    Attributes:
        name: owns threads; shown in no answer.
        buckets: the buckets that they may see; None is every bucket.
        labels: the labels whose documents they may see; None is every document. A document without a label
            is seen by everyone who may see its bucket.
        may_write: whether they may bring documents in, and change those that `may_change` allows.
        documents: the ids of the documents that a run is asked of; None is every one that may be seen.
    """

    name: str
    buckets: frozenset[str] | None = None
    labels: frozenset[str] | None = None
    may_write: bool = False
    documents: frozenset[str] | None = None

    @property
    def sees_all(self) -> bool:
        """Tell whether nothing is hidden from this principal."""
        return self.buckets is None and self.sees_whole_buckets

    @property
    def sees_whole_buckets(self) -> bool:
        """Tell whether no document of the buckets that they may see is hidden."""
        return self.labels is None and self.documents is None

    def may_see(self, bucket: str, labels: Iterable[str] = ()) -> bool:
        """Tell whether a document of a bucket with these labels may be seen."""
        held = frozenset(labels)
        in_bucket = self.buckets is None or bucket in self.buckets
        return in_bucket and (self.labels is None or not held or bool(held & self.labels))

    def may_change(self, bucket: str, labels: Iterable[str] = ()) -> bool:
        """Tell whether a document of a bucket with these labels may be written, replaced or removed: the one rule.

        Who sees some labels only changes what nobody sees by another label, nor by none: else they would take it
        from others.
        """
        held = frozenset(labels)
        own = self.labels is None or (bool(held) and held <= self.labels)
        return self.may_write and own and self.may_see(bucket, held)


OWNER = Principal("owner", may_write=True)
"""Whoever runs the process: the command line, and a server that asks nobody for a key."""
NOBODY = Principal("nobody", frozenset(), frozenset())
"""Who did not say who they are where that is asked for: sees nothing."""


def checked_labels(given: Iterable[str]) -> tuple[str, ...]:
    """Return labels as they are stored: stripped, sorted, each once; an empty text stands for none.

    Raises:
        BadInput: a label is longer than the column, or holds a comma or a control character.
    """
    labels = sorted({label.strip() for label in given} - {""})
    for label in labels:
        if len(label) > MAX_LABEL or "," in label or not label.isprintable():
            raise BadInput(f"Label {label[:60]!r}: at most {MAX_LABEL} printable characters without a comma.")
    return tuple(labels)


def create_labels_table(engine: Any) -> None:
    """Make the table of labels where it is not there yet."""
    create_tables(_metadata, engine)


def sql_condition(principal: Principal, doc_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that the document of a row may be seen, by its labels and among those asked of."""
    chosen = true() if principal.documents is None else doc_id.in_(sorted(principal.documents))
    if principal.labels is None:
        return chosen
    of_row = select(labels_table.c.doc_id).where(labels_table.c.doc_id == doc_id)
    allowed = of_row.where(labels_table.c.label.in_(sorted(principal.labels)))
    return and_(chosen, or_(~exists(of_row), exists(allowed)) if principal.labels else ~exists(of_row))


def labelled(payload: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    """Return a document's payload with its labels, where `index_condition` looks for them."""
    return {**payload, "_labels": sorted(labels)} if labels else dict(payload)


def seen_buckets(principal: Principal, buckets: Mapping[str, Bucket]) -> dict[str, Bucket]:
    """Return the declarations of the buckets that a principal may see."""
    return {name: bucket for name, bucket in buckets.items() if principal.may_see(name)}
