"""Who may see which documents: the principal, and the one view of the corpus through which it sees anything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, ColumnElement, Index, MetaData, String, Table, exists, or_, select, true

from citegraph.corpus.records.database import create_tables
from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.corpus.index.index_protocol import FilterJSON, SearchRequest
    from citegraph.corpus.index.index_protocol import Index as VectorIndex
    from citegraph.corpus.records.documents import DocumentStore
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.corpus.schema.document import Chunk, Hit

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
        may_write: whether they may bring documents in and remove those that they see.
    """

    name: str
    buckets: frozenset[str] | None = None
    labels: frozenset[str] | None = None
    may_write: bool = False

    @property
    def sees_all(self) -> bool:
        """Tell whether nothing is hidden from this principal."""
        return self.buckets is None and self.labels is None

    def may_see(self, bucket: str, labels: Iterable[str] = ()) -> bool:
        """Tell whether a document of a bucket with these labels may be seen."""
        held = frozenset(labels)
        in_bucket = self.buckets is None or bucket in self.buckets
        return in_bucket and (self.labels is None or not held or bool(held & self.labels))


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
    """Return the condition that the document of a row may be seen, by its labels."""
    if principal.labels is None:
        return true()
    of_row = select(labels_table.c.doc_id).where(labels_table.c.doc_id == doc_id)
    allowed = of_row.where(labels_table.c.label.in_(sorted(principal.labels)))
    return or_(~exists(of_row), exists(allowed)) if principal.labels else ~exists(of_row)


def index_condition(principal: Principal) -> FilterJSON | None:
    """Return the filter of chunks that may be seen, by the labels in their payload; None when all may."""
    if principal.labels is None:
        return None
    unlabelled: FilterJSON = {"is_empty": {"key": LABELS_KEY}}
    allowed: FilterJSON = {"key": LABELS_KEY, "match": {"any": sorted(principal.labels)}}
    return {"should": [unlabelled, allowed] if principal.labels else [unlabelled]}


def labelled(payload: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    """Return a document's payload with its labels, where `index_condition` looks for them."""
    return {**payload, "_labels": sorted(labels)} if labels else dict(payload)


def seen_buckets(principal: Principal, buckets: Mapping[str, Bucket]) -> dict[str, Bucket]:
    """Return the declarations of the buckets that a principal may see."""
    return {name: bucket for name, bucket in buckets.items() if principal.may_see(name)}


class SeenIndex:
    """An `Index` for reading as one principal sees it; nothing can be written through it.

    The engine counts words (IDF) over the seen chunks alone, so that ranks do not tell of others. What comes
    back is held against the labels in SQL once more: they are the ones that count while an ingest changes them.
    """

    def __init__(self, index: VectorIndex, documents: DocumentStore, principal: Principal) -> None:
        self._index = index
        self._documents = documents
        self._principal = principal

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`."""
        if not self._principal.may_see(request.bucket):
            return []
        hits = await self._index.search(replace(request, access=index_condition(self._principal)))
        seen = await self._seen(hit.chunk.doc_id for hit in hits)
        return [hit for hit in hits if hit.chunk.doc_id in seen]

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        seen = self._principal.may_see(bucket) and await self._seen([doc_id])
        return await self._index.document_chunks(bucket, doc_id) if seen else []

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        if not self._principal.may_see(bucket):
            return []
        chunks = await self._index.retrieve(bucket, chunk_ids)
        seen = await self._seen(chunk.doc_id for chunk in chunks)
        return [chunk for chunk in chunks if chunk.doc_id in seen]

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`."""
        if not self._principal.may_see(bucket):
            return 0
        return await self._index.count(bucket, self._with(filter_json))

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`."""
        if not self._principal.may_see(bucket):
            return [0] * len(filters)
        return await self._index.counts(bucket, [self._with(one) for one in filters])

    async def facet(
        self, bucket: str, key: str, filter_json: FilterJSON | None = None, limit: int = 10
    ) -> list[tuple[str, int]]:
        """See `Index.facet`."""
        if not self._principal.may_see(bucket):
            return []
        return await self._index.facet(bucket, key, self._with(filter_json), limit)

    async def close(self) -> None:
        """Leave the index open: it belongs to everyone."""

    def _with(self, filter_json: FilterJSON | None) -> FilterJSON | None:
        parts = [part for part in (filter_json, index_condition(self._principal)) if part]
        return {"must": parts} if len(parts) > 1 else (parts[0] if parts else None)

    async def _seen(self, doc_ids: Iterable[str]) -> set[str]:
        ids = list(dict.fromkeys(doc_ids))
        return set(await asyncio.to_thread(self._documents.records, ids)) if ids else set()

    async def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("the corpus as a principal sees it is for reading")

    ensure = upsert = set_metadata = delete_documents = drop = optimize = _refuse
