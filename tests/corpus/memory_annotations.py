"""Annotations in a dictionary: the part of the store that an ingest writes to."""

from collections.abc import Iterable, Mapping, Sequence

from corpus.fields import Value


class MemoryAnnotations:
    """Keeps the values of each document."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Value]] = {}

    def put(self, bucket: str, rows: Iterable[tuple[str, Mapping[str, Value]]]) -> None:
        for doc_id, values in rows:
            self.rows[doc_id] = dict(values)

    def get(self, doc_id: str) -> Mapping[str, Value] | None:
        return self.rows.get(doc_id)

    def delete(self, bucket: str, doc_ids: Sequence[str]) -> None:
        for doc_id in doc_ids:
            self.rows.pop(doc_id, None)
