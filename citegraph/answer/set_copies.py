"""What a set of documents counts twice: copies of one text, one thing in two files, a version and what replaced it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citegraph.corpus.records.likeness import identifier_fields
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.run.model_calls import note
from citegraph.run.pieces import StoredNote
from citegraph.run.services import Corpus

LOOKED_AT = 2_000
"""Documents of a set that are looked at."""
NAMED = 3
"""Groups that one note names."""


def copies_notes(corpus: Corpus, bucket: Bucket, doc_ids: Sequence[str]) -> list[StoredNote]:
    """Return notes on documents of a set that are the same thing, as far as text and values tell; blocking."""
    some = list(doc_ids[:LOOKED_AT])
    if len(some) < 2:
        return []
    hashes = {doc_id: record.content_hash for doc_id, record in corpus.documents.records(some).items()}
    values = corpus.annotations.values_of(bucket.name, some)
    copies = _groups(some, hashes)
    first_of = {doc_id: group[0] for group in copies for doc_id in group}
    others = [doc_id for doc_id in some if first_of.get(doc_id, doc_id) == doc_id]
    keys = {doc_id: key for doc_id in others if (key := _identity(bucket, values.get(doc_id, {})))}
    replaced = list(_replaced(bucket, others, values))
    told = {frozenset(pair) for pair in replaced}
    same = [group for group in _groups(others, keys) if frozenset(group) not in told]
    return [
        *_notes("copies", copies, "have the same text"),
        *_notes("copies", same, "have the same number, date and amount"),
        *_notes("versions", replaced, "are versions, the first replaces the second"),
    ]


def _notes(kind: str, groups: Sequence[Sequence[str]], said: str) -> list[StoredNote]:
    if not groups:
        return []
    named = "; ".join(" and ".join(group) for group in groups[:NAMED])
    more = f"; and {len(groups) - NAMED:,} more such groups" if len(groups) > NAMED else ""
    return [note("compose", kind, f"{named} {said}; each is counted{more}.")]


def _groups(doc_ids: Sequence[str], keys: Mapping[str, Any]) -> list[list[str]]:
    """Return the documents that share a key, two or more, in their order."""
    groups: defaultdict[Any, list[str]] = defaultdict(list)
    for doc_id in doc_ids:
        if doc_id in keys:
            groups[keys[doc_id]].append(doc_id)
    return [group for group in groups.values() if len(group) > 1]


def _identity(bucket: Bucket, values: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return what a thing is known by: its identifiers with its date and amount; None when one of these is missing."""
    identifiers = [show(values[name]).casefold() for name in identifier_fields(bucket) if name in values]
    main = [name for name in (bucket.main_date, bucket.main_amount) if name]
    if not identifiers or not main or any(name not in values for name in main):
        return None
    return (*identifiers, *(show(values[name]) for name in main))


def _replaced(
    bucket: Bucket, doc_ids: Sequence[str], values: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield (new, old) for the documents of which both a version and what it replaces are there."""
    field = bucket.supersedes_field
    for doc_id in doc_ids if field else ():
        old = values.get(doc_id, {}).get(field or "")
        if old is not None and show(old) in doc_ids:
            yield doc_id, show(old)
