"""Looks through what an ingest wrote for new versions of documents, and sets `supersedes`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.report import IngestReport, NewVersion
from citegraph.corpus.records.access import labelled
from citegraph.corpus.records.annotations.annotation_tables import Annotation
from citegraph.corpus.records.likeness import Likeness, identifier_fields, names_of, revision_in, similarity
from citegraph.corpus.schema.bucket import show
from citegraph.corpus.schema.values import payload

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.ingest_options import Stores
    from citegraph.corpus.records.document_record import DocumentRecord
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.corpus.schema.field import Value

BATCH = 250
SAME_FAMILY, SAME_TEXT = 0.2, 0.5
"""Similarity that versions need: with two revision marks, and with a date or a single mark alone."""
SHARED_BY = 20
"""A name that more documents have identifies none of them."""


async def find_versions(bucket: Bucket, stores: Stores, report: IngestReport) -> None:
    """Report the versions among the documents written since this ran to its end."""
    while batch := await asyncio.to_thread(stores.documents.unsettled, bucket.name, BATCH):
        found: dict[str, NewVersion | None] = dict.fromkeys(item.doc_id for item in batch)
        if bucket.supersedes_field:
            found |= await asyncio.to_thread(_versions, list(found), bucket, stores)
            await _annotate(found, bucket, stores, report)
        replaced = {doc_id: version.supersedes if version else None for doc_id, version in found.items()}
        await asyncio.to_thread(stores.documents.settle, replaced)


@dataclass(frozen=True, slots=True)
class _Member:
    """A document that may be a version of others."""

    record: DocumentRecord
    values: Mapping[str, Value]
    likeness: Likeness

    def mark(self, bucket: Bucket) -> tuple[int | str, ...]:
        """Return its revision: of the declared field, else in the file's name, else in the title; () for none."""
        declared = self.values.get(bucket.revision_field) if bucket.revision_field else None
        if declared is not None:
            found = re.findall(r"\d+(?:\.\d+)*|\b[A-Za-z]\b", show(declared))
            return _parts(found[-1]) if found else ()
        return _parts(
            revision_in(self.record.source_file.rpartition(".")[0])[1] or revision_in(self.record.title)[1]
        )


def _parts(mark: str) -> tuple[int | str, ...]:
    return tuple(int(part) if part.isdigit() else part.casefold() for part in mark.split(".") if part)


def _versions(doc_ids: Sequence[str], bucket: Bucket, stores: Stores) -> dict[str, NewVersion | None]:
    """Return what documents and those that share a name with them replace, by document."""
    records = stores.documents.records(doc_ids)
    values = stores.annotations.values_of(bucket.name, doc_ids)
    names = {doc_id: names_of(bucket, record, values.get(doc_id, {})) for doc_id, record in records.items()}
    holders = stores.documents.holding(
        sorted({key for keys in names.values() for key in keys}), SHARED_BY + 1
    )
    families: dict[str, set[str]] = {}
    for doc_id in doc_ids:
        shared = [holders.get(key, []) for key in names.get(doc_id, ())]
        families[doc_id] = {other for ids in shared if len(ids) <= SHARED_BY for other in ids} | {doc_id}
    wanted = sorted({other for family in families.values() if len(family) > 1 for other in family})
    members = _members(wanted, bucket, stores)
    labels = stores.documents.labels(wanted)
    found: dict[str, NewVersion | None] = {}
    for doc_id, family in families.items():
        found[doc_id] = None
        # Who sees one of two versions shall not learn of another that is hidden from them.
        alike = [
            other for other in sorted(family & members.keys()) if labels.get(other) == labels.get(doc_id)
        ]
        group = [members[other] for other in alike]
        found |= {member.record.doc_id: _predecessor(bucket, member, group) for member in group}
    return found


def _members(doc_ids: Sequence[str], bucket: Bucket, stores: Stores) -> dict[str, _Member]:
    records, likeness = stores.documents.records(doc_ids), stores.documents.likeness(doc_ids)
    values = stores.annotations.values_of(bucket.name, doc_ids)
    return {
        doc_id: _Member(records[doc_id], values.get(doc_id, {}), likeness[doc_id])
        for doc_id in doc_ids
        if doc_id in records and doc_id in likeness
    }


def _predecessor(bucket: Bucket, new: _Member, members: Iterable[_Member]) -> NewVersion | None:
    """Return the latest of the members that `new` replaces."""
    latest: _Member | None = None
    reason = ""
    for old in members:
        found = _replaces(bucket, new, old)
        if found and (latest is None or _replaces(bucket, old, latest)):
            latest, reason = old, found
    return NewVersion(new.record.doc_id, latest.record.doc_id, reason) if latest else None


def _replaces(bucket: Bucket, new: _Member, old: _Member) -> str:
    """Return what tells that a document replaces another; empty in doubt.

    A later revision mark tells. A later date alone tells only of documents with the same identifier: a
    report of February does not replace that of January.
    """
    shared = [name for name in identifier_fields(bucket) if name in new.values and name in old.values]
    same = [name for name in shared if new.values[name] == old.values[name]]
    if new is old or len(same) < len(shared):
        return ""
    alike = similarity(new.likeness.signature, old.likeness.signature)
    mine, theirs = new.mark(bucket), old.mark(bucket)
    if mine or theirs:
        if (
            not mine
            or (theirs and type(mine[0]) is not type(theirs[0]))
            or alike < (SAME_FAMILY if theirs else SAME_TEXT)
        ):
            return ""
        later = mine > theirs if theirs else mine not in {(0,), (1,), (1, 0), ("a",)}
        return f"revision {_shown(mine)} after {_shown(theirs) or 'none'}" if later else ""
    dated = bucket.effective_field or bucket.main_date
    before, after = (item.values.get(dated) if dated else None for item in (old, new))
    if (
        same
        and before is not None
        and after is not None
        and alike >= SAME_TEXT
        and show(before) < show(after)
    ):
        return f"same {same[0]}, {dated} {show(after)} after {show(before)}"
    return ""


def _shown(mark: tuple[int | str, ...]) -> str:
    return ".".join(map(str, mark))


async def _annotate(
    found: dict[str, NewVersion | None], bucket: Bucket, stores: Stores, report: IngestReport
) -> None:
    """Write `supersedes` where it changed; a value that no ingest set stays."""
    written = await asyncio.to_thread(_changed, found, bucket, stores)
    if not written:
        return
    await asyncio.to_thread(stores.annotations.put, bucket.name, written)
    labels = await asyncio.to_thread(stores.documents.labels, [item.doc_id for item in written])
    payloads = {
        item.doc_id: labelled(payload(bucket, item.values), labels.get(item.doc_id, ())) for item in written
    }
    await stores.index.set_metadata(bucket.name, payloads)
    report.versions += [version for item in written if (version := found[item.doc_id])]


def _changed(found: dict[str, NewVersion | None], bucket: Bucket, stores: Stores) -> list[Annotation]:
    """Return the annotations to write; `found` loses what a person or the document itself says otherwise."""
    field = bucket.supersedes_field or ""
    likeness = stores.documents.likeness(list(found))
    corrections = stores.extractions.corrected.of_bucket(bucket.name)
    stored = stores.annotations.values_of(bucket.name, list(found))
    changed: list[Annotation] = []
    for doc_id, version in list(found.items()):
        values = dict(stored.get(doc_id, {}))
        held, replaced = values.get(field), version.supersedes if version else None
        recorded = likeness[doc_id].supersedes if doc_id in likeness else None
        corrected = field in corrections.get(doc_id, {})
        if corrected or (held is not None and show(held) not in {recorded, replaced}):
            found[doc_id] = None
        elif not replaced == held == recorded:
            # What is held but not recorded may be missing in the index: a kill came between the two.
            values.pop(field, None)
            if version:
                values[field] = version.supersedes
            changed.append(Annotation(doc_id, values, stores.annotations.get_sources(doc_id, bucket.name)))
    return changed
