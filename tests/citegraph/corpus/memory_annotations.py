"""Annotations in a dictionary: the part of the store that an ingest writes to."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from citegraph.corpus.records.annotations.annotation_tables import Annotation, Source
from citegraph.corpus.schema.field import Value


class MemoryAnnotations:
    """Keeps the values of each document."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Value]] = {}
        self.sources: dict[str, dict[str, Source]] = {}

    def put(self, bucket: str, rows: Iterable[Annotation]) -> None:
        for row in rows:
            self.rows[row.doc_id] = dict(row.values)
            self.sources[row.doc_id] = dict(row.sources)

    def get(self, doc_id: str, bucket: str | None = None) -> Mapping[str, Value] | None:
        return self.rows.get(doc_id)

    def values_of(self, bucket: str, doc_ids: Sequence[str]) -> Mapping[str, Mapping[str, Value]]:
        return {doc_id: self.rows[doc_id] for doc_id in doc_ids if doc_id in self.rows}

    def filled(self, bucket: str, doc_ids: Sequence[str]) -> dict[str, int]:
        return dict(Counter(name for doc_id in doc_ids for name in self.rows.get(doc_id, {})))

    def get_sources(self, doc_id: str, bucket: str) -> Mapping[str, Source]:
        return self.sources.get(doc_id, {})

    def delete(self, bucket: str, doc_ids: Sequence[str]) -> None:
        for doc_id in doc_ids:
            self.rows.pop(doc_id, None)
