"""What an ingest says about itself: counts, what was skipped and why, values that were refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from citegraph.corpus.readers.protocol import NO_TEXT_HINT


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or lines of it, that gave no document."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class BadValue:
    """An annotation value that its field refused; it is not stored."""

    doc_id: str
    column: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A document that was found to replace another one, and what tells."""

    doc_id: str
    supersedes: str
    reason: str


@dataclass(frozen=True, slots=True)
class Filled:
    """In how many of the documents that were read a field has a value.

    Attributes:
        review: in how many what was found is too doubtful to be left unseen (`citegraph annotate -b BUCKET`).
        telling: whether the bucket's documents are known by it.
    """

    field: str
    found: int
    review: int
    telling: bool


@dataclass(slots=True)
class IngestReport:
    """What one ingest did, in documents unless said otherwise.

    Attributes:
        changed: text, title, chunking or annotations differ from what was stored.
        not_read: of the unchanged, those whose file was not read, because it and the settings are as before.
        missing: stored documents whose source is gone; removed (`deleted`) only when pruning.
        unknown_columns: annotation columns that the bucket does not declare, with their row counts.
        unused_annotations: annotation rows that belong to no document that was read.
        unused_rows: what the first of them name, a document or a file.
        versions: documents that replace others; `supersedes` was set where the bucket declares it.
        values: what is known now of each declared field that has a value or a doubtful one in a document that was
            read, or by which documents are known; empty after a dry run.
        notes: what should be known of files that were read, e.g. "named .txt, read as PDF".
    """

    bucket: str
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    not_read: int = 0
    deleted: int = 0
    missing: int = 0
    chunks: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    bad_values: list[BadValue] = field(default_factory=list)
    unknown_columns: Counter[str] = field(default_factory=Counter)
    annotated: int = 0
    unused_annotations: int = 0
    unused_rows: list[str] = field(default_factory=list)
    versions: list[NewVersion] = field(default_factory=list)
    notes: list[Skipped] = field(default_factory=list)
    values: list[Filled] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def refused(self) -> int:
        """Return how many annotation values and columns were refused so far."""
        return len(self.bad_values) + self.unknown_columns.total()

    @property
    def documents(self) -> int:
        """Return how many documents were read."""
        return self.new + self.changed + self.unchanged


def with_places(reason: str, places: Sequence[str]) -> str:
    """Return a reason with the places that it holds for, shortened when they are many."""
    if not places or places == [""]:
        return reason
    if reason == NO_TEXT_HINT or len(places) > 3:
        return (
            f"{places[0]} and {len(places) - 1} more: {reason}"
            if len(places) > 1
            else f"{places[0]}: {reason}"
        )
    return f"{', '.join(places)}: {reason}"
