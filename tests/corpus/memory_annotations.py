"""Annotations in a dictionary: the part of the store that an ingest writes to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from corpus.coercion import to_json
from corpus.fields import Value


class MemoryAnnotations:
    """Keeps the values of each document as JSON."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}

    def put(self, bucket: str, rows: Iterable[tuple[str, Mapping[str, Value]]]) -> None:
        for doc_id, values in rows:
            self.rows[doc_id] = {name: to_json(value) for name, value in values.items()}

    def get(self, doc_id: str) -> Mapping[str, Any] | None:
        return self.rows.get(doc_id)

    def delete(self, bucket: str, doc_ids: Sequence[str]) -> None:
        for doc_id in doc_ids:
            self.rows.pop(doc_id, None)
