"""Which of the declared buckets a set of documents is like, and which of its fields their text fills."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.extraction.labelled.label_pairs import Example
from citegraph.corpus.extraction.value_types import TODAY
from citegraph.corpus.records.extracted.found import Extraction
from citegraph.corpus.records.extracted.settle import settle
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.field import Field, Value
from citegraph.language.terms import fold

EXAMPLE = 80
"""Characters of an example."""
TRIED = 12
"""Documents by which the bucket is chosen."""
ALIKE = 0.5
"""Share of its telling fields that a document has to fill in the mean for the bucket to be like it."""
MAIN = 0.4
"""Share of the documents that have to have the bucket's main date, and its main amount."""


@dataclass(frozen=True)
class Known:
    """The bucket that documents are like, and the values that its rules find: field -> document -> value."""

    bucket: Bucket
    values: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def fields(self, least: float) -> list[Field]:
        """Return the fields that at least so many documents fill, with their rules and values of these documents."""
        return [
            item.model_copy(update={"examples": self._examples(item.name)})
            for item in self.bucket.fields
            if len(self.values.get(item.name, {})) >= least
        ]

    def _examples(self, name: str) -> tuple[str, ...]:
        shown = dict.fromkeys(show(value)[:EXAMPLE] for value in self.values[name].values())
        return tuple(shown)[:3]


def known_fields(buckets: Sequence[Bucket], examples: Sequence[Example]) -> Known | None:
    """Return the bucket whose telling fields these documents fill best, None when none is like them."""
    step = max(1, len(examples) // TRIED)
    some = examples[::step][:TRIED]
    scored = [(_likeness(bucket, some), bucket) for bucket in buckets if not bucket.collection]
    best = max(scored, key=lambda item: item[0], default=None)
    if best is None or best[0] < ALIKE:
        return None
    values: dict[str, dict[str, Value]] = {}
    for example in examples:
        for name, value in values_in(best[1], example).items():
            values.setdefault(name, {})[example.name] = value
    return Known(best[1], values)


def _likeness(bucket: Bucket, examples: Sequence[Example]) -> float:
    """Return the share of the bucket's telling fields that its rules fill, in the mean of the documents.

    Telling is what names a document of the bucket and only of it: its main date and amount, identifiers and the names
    in it that are not its title. 0 when fewer than half of the documents name their kind by a noun of the bucket, or
    have its main date or amount: every letter names a company and has a date.
    """
    nouns = re.compile("|".join(rf"\b{re.escape(fold(noun))}" for noun in bucket.nouns))
    if sum(bool(nouns.search(fold(example.text))) for example in examples) < ALIKE * len(examples):
        return 0.0
    kinds = {kind.field for kind in bucket.identifiers}
    main = {name for name in (bucket.main_date, bucket.main_amount) if name}
    telling = {*bucket.entity_fields, *kinds, *main} - {None, "title"}
    ruled = [item.name for item in bucket.fields if item.name in telling and item.extract]
    counts = Counter(name for example in examples for name in values_in(bucket, example) if name in telling)
    if not ruled or any(counts[name] < MAIN * len(examples) for name in main):
        return 0.0
    return sum(counts[name] for name in ruled) / (len(ruled) * len(examples))


def found_in(bucket: Bucket, example: Example) -> Extraction:
    """Return what a bucket's rules find in an example, as an ingest does."""
    embedded = [item.text.encode() for item in example.embedded if "xml" in item.media_type]
    return extract(bucket, Source(example.text, embedded=embedded, today=TODAY, layouts=example.layouts))


def values_in(bucket: Bucket, example: Example) -> dict[str, Any]:
    """Return the values that an ingest would store of an example: too uncertain ones are left out."""
    given, _ = bucket.validate_row(example.metadata) if example.metadata else ({}, [])
    return dict(settle(bucket, example.text, given, found_in(bucket, example), {}).values)
