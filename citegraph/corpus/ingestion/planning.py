"""Decides what a reading means for the store: its document id, its values, and what must be written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from citegraph.corpus.extraction.engine import extract_document, rows_beside
from citegraph.corpus.index.collection_record import NOTHING_READY, Encoded
from citegraph.corpus.ingestion.annotation_files import FILE_COLUMNS, ID_COLUMNS, Row, Sidecar
from citegraph.corpus.ingestion.chunking import RECIPE
from citegraph.corpus.ingestion.document_ids import DocumentIds, text_hash
from citegraph.corpus.ingestion.points import PointRecipe, Points, context_of, placed, points_of
from citegraph.corpus.ingestion.report import BadValue, IngestReport, Skipped
from citegraph.corpus.ingestion.sources import printable
from citegraph.corpus.ingestion.summaries import RECIPE as SUMMARY_RECIPE
from citegraph.corpus.ingestion.summaries import SECTION_TOKENS
from citegraph.corpus.records.documents import parts_digest
from citegraph.corpus.records.extracted.corrections import split_fitting
from citegraph.corpus.records.extracted.found import Extraction
from citegraph.corpus.records.extracted.settle import Settled, settle, typed_corrections
from citegraph.corpus.schema.bucket import show
from citegraph.corpus.schema.document import Chunk, Document, part_path
from citegraph.corpus.schema.values import derive_values, read_row, to_json

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
    from citegraph.corpus.ingestion.preparing import Prepared
    from citegraph.corpus.readers.protocol import Reading
    from citegraph.corpus.records.annotations.annotation_tables import Source as Place
    from citegraph.corpus.records.document_record import DocumentRecord
    from citegraph.corpus.records.extracted.corrections import Correction
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.corpus.schema.field import Value

NO_TEXT = "holds no text: nothing to read"
NOT_YOURS = "is no id of a document that you may change"


@dataclass(frozen=True, slots=True)
class Planned:
    """A document that must be written: all of it, or (chunks None) its annotations alone.

    `places` says where extracted values stand in the text; `extraction` is None when what is stored of it stays.
    `summaries` are points of the index too, for a long document only. `heir_of` is another document of
    this text, whose corrections go over to this new one. `ready` are vectors of points, by chunk id, and `signature`
    that of the text (b"" for none), as far as they were worked out where the file was read.
    """

    document: Document
    values: Mapping[str, Value]
    hashes: tuple[str, str]
    chunks: list[Chunk] | None
    places: Mapping[str, Place] = field(default_factory=dict)
    extraction: Extraction | None = None
    summaries: Sequence[Chunk] = ()
    heir_of: str | None = None
    ready: Mapping[str, Encoded] = field(default_factory=dict)
    signature: bytes = b""

    @property
    def points(self) -> list[Chunk]:
        """Return what the index is to hold of the document."""
        return [*(self.chunks or ()), *self.summaries]


class Given(NamedTuple):
    """What people say about a document: its annotation row, and corrections by field."""

    doc_id: str
    row: Row | None
    corrections: Sequence[object]


class Planner:
    """What one ingest knows: the stored documents, those read so far, the annotation rows.

    Attributes:
        known: the bucket's stored documents when the ingest began.
        seen: document id to source path, of what this ingest read.
        recipe: fingerprint of what all documents of this ingest depend on beside their files.
    """

    def __init__(
        self,
        bucket: Bucket,
        stores: Stores,
        options: IngestOptions,
        sidecar: Sidecar,
        known: dict[str, DocumentRecord],
    ) -> None:
        self.report = IngestReport(bucket.name)
        self.bucket = bucket
        self.known = known
        self.seen: dict[str, str] = {}
        self._prepared: Prepared | None = None
        self._stores = stores
        self._options = options
        self._sidecar = sidecar
        self._corrections = stores.extractions.corrected.of_bucket(bucket.name)
        self._doc_ids = DocumentIds(
            known,
            self.seen,
            bucket.name,
            stores.documents,
            labels=self._stored_labels,
            writer=options.writer,
            by_folder=options.named_by_folder,
        )
        self._labels: dict[str, tuple[str, ...]] | None = None
        self._given: list[Given] = []
        self._declaration = bucket.model_dump_json(include={"fields"})
        self._points = PointRecipe(options.chunk_tokens, options.chunk_overlap, options.summaries_from)
        patterns = [(kind.name, kind.pattern) for kind in bucket.identifiers]
        self._recipe = [RECIPE, options.chunk_tokens, options.chunk_overlap, patterns]
        summaries = [SUMMARY_RECIPE, SECTION_TOKENS, options.summaries_from]
        # True: that there is a store for what is extracted, which every recipe so far has said.
        given = [options.extract, True, options.labels]
        self.recipe = _hash([bucket.model_dump_json(), self._recipe, summaries, given])

    def read(
        self, path: Path, source: str, reading: Reading, prepared: Prepared | None = None
    ) -> Planned | str | None:
        """Return what to write of a reading of a file, None when it is stored already, else why it is left out.

        Args:
            prepared: what was worked out of it where it was read.
        """
        if not reading.text.strip():
            return NO_TEXT
        if reading.doc_id:
            doc_id = self._doc_ids.given(reading.doc_id, source)
        else:
            doc_id = self._doc_ids.of(path, source, reading)
        if doc_id in self.seen:
            return f"doc_id already read from {Path(self.seen[doc_id]).name}"
        self.seen[doc_id] = source
        said = part_path(str(path), reading.part)
        self.report.notes += [Skipped(said, note) for note in reading.notes]
        document, row = self._document(path, source, reading, doc_id)
        self._prepared = prepared
        try:
            return self.plan(document, row)
        finally:
            self._prepared = None

    @property
    def sees_all(self) -> bool:
        """Tell whether nothing of the corpus is hidden from whom this ingest is for."""
        return self._options.writer.sees_all

    def given_to(self, doc_ids: Iterable[str]) -> list[Given]:
        """Return what people gave to stored documents, for those that have something."""
        if not len(self._sidecar) and not self._corrections:
            return []
        return [
            given for doc_id in doc_ids for given in self._given_to(doc_id, self._row_of(self.known[doc_id]))
        ]

    def _row_of(self, record: DocumentRecord) -> Row | None:
        return self._sidecar.find(record.doc_id, record.source_file, record.source_path)

    def _given_to(self, doc_id: str, row: Row | None) -> list[Given]:
        corrections = self._corrections.get(doc_id, {})
        return [Given(doc_id, row, sorted(corrections.items()))] if row is not None or corrections else []

    def taken(self) -> list[Given]:
        """Return what people gave to the documents that were read since the last call."""
        given, self._given = self._given, []
        return given

    def check_row(self, doc_id: str, row: Row) -> Mapping[str, Value]:
        """Return the values of an annotation row; what is refused goes into the report."""
        values, problems = read_row(self.bucket, row)
        for problem in problems:
            if problem.column in {*ID_COLUMNS, *FILE_COLUMNS}:
                continue
            if problem.reason == "unknown column":
                self.report.unknown_columns[problem.column] += 1
            else:
                bad = BadValue(doc_id, problem.column, problem.value, problem.reason)
                self.report.bad_values.append(bad)
        return values

    def _document(
        self, path: Path, source: str, reading: Reading, doc_id: str
    ) -> tuple[Document, Row | None]:
        file = reading.source_file if reading.doc_id else printable(Path(reading.part).name or path.name)
        row = self._sidecar.find(reading.doc_id or doc_id, file, part_path(source, reading.part))
        if row is not None:
            self.report.annotated += 1
        self._given += self._given_to(doc_id, row)
        merged: Row | None = {**reading.metadata, **(row or {})} if reading.metadata or row else None
        named = next((str(merged[name]) for name in FILE_COLUMNS if merged.get(name)), "") if merged else ""
        stored = self.known[doc_id].source_file if doc_id in self.known else doc_id
        file = Path((file or named).replace("\\", "/")).name or stored
        document = reading.as_document(
            doc_id=doc_id,
            bucket=self.bucket.name,
            source_file=file,
            content_hash=text_hash(reading.text),
            source_path=part_path(source, reading.part),
        )
        return document, merged

    def plan(
        self,
        document: Document,
        row: Row | None,
        *,
        again: bool = False,
        extraction: Extraction | None = None,
    ) -> Planned | None:
        """Return what to write if a document, its annotations or the way to index it differ from the stored.

        Args:
            again: work out the values anew although nothing changed, and write what was found.
            extraction: what was extracted from the document by other means than the bucket's rules.
        """
        record = self.known.get(document.doc_id)
        settled = record is not None and record.status in ("done", "revising")
        follow = record is not None and record.status == "done"
        corrections, heir_of = self._corrections_of(document)
        labels = self._labels_for(document.doc_id)
        parts: list[object] = [self._declaration, document.source_path, *parts_digest(document)]
        parts += ["labels", *labels] if labels else []
        parts += [sorted((name, item.raw) for name, item in corrections.items())] if corrections else []
        beside = _hash(parts)
        found: Settled | None = None
        if (
            row is None
            and not again
            and record is not None
            and follow
            and record.content_hash == document.content_hash
            and record.annotation_hash.partition(":")[2] == beside
        ):
            # Without a row for it in this ingest a document keeps the annotations that it has.
            values: Mapping[str, Value] = derive_values(
                self.bucket, self._stored_values(document.doc_id), document.text
            )
            values_hash = record.annotation_hash.partition(":")[0]
        else:
            found = self._own_predecessor(document, self._values(document, row, extraction, corrections))
            values = found.values
            values_hash = _hash({name: repr(value) for name, value in sorted(values.items())})
        document = replace(document, title=self.bucket.title(values) or document.title, labels=labels)
        context = context_of(self.bucket, document, values)
        index_hash = _hash([document.content_hash, document.source_file, context, *self._recipe_of(document)])
        annotation_hash = f"{values_hash}:{beside}"
        points, ready = None, NOTHING_READY
        if not settled or record is None or record.index_hash != index_hash:
            points, ready = self._pointed(document, context)
        elif record.annotation_hash == annotation_hash and follow and not again:
            self.report.unchanged += 1
            return None
        return Planned(
            document,
            values,
            (index_hash, annotation_hash),
            list(points.chunks) if points else None,
            found.places if found else self._stored_places(document.doc_id),
            found.extraction if found else None,
            points.summaries if points else (),
            heir_of if found else None,
            ready,
            self._prepared.signature if self._prepared else b"",
        )

    def _recipe_of(self, document: Document) -> list[object]:
        """Return what a document's points depend on beside its text, so that it is indexed again after a change."""
        long = self._points.is_long(document)
        return [self._recipe, *([SUMMARY_RECIPE, SECTION_TOKENS] if long else [])]

    def _pointed(self, document: Document, context: str) -> tuple[Points, Mapping[str, Encoded]]:
        """Return a document's points, and the vectors of those whose vectors were worked out where it was read."""
        prepared = self._prepared
        if prepared is None or prepared.points is None:
            return points_of(self.bucket, document, context, self._points), NOTHING_READY
        points = placed(prepared.points, self.bucket, document, context, self._points)
        same = (prepared.points.context, prepared.points.title) == (context, document.title)
        if not same or not prepared.vectors:
            return points, NOTHING_READY
        ids = (point.chunk_id for point in points.all)
        return points, dict(zip(ids, prepared.vectors, strict=True))

    def _labels_for(self, doc_id: str) -> tuple[str, ...]:
        """Return the labels that a document gets: those of this ingest if it was read in it, else those that it has."""
        if self._options.labels is not None and doc_id in self.seen:
            return tuple(sorted(set(self._options.labels)))
        return self._stored_labels(doc_id)

    def _stored_labels(self, doc_id: str) -> tuple[str, ...]:
        if self._labels is None:
            self._labels = self._stores.documents.labels_of(self.bucket.name)
        return self._labels.get(doc_id, ())

    def _stored_values(self, doc_id: str) -> Mapping[str, Value]:
        known = doc_id in self.known
        return (self._stores.annotations.get(doc_id, self.bucket.name) if known else None) or {}

    def _stored_places(self, doc_id: str) -> Mapping[str, Place]:
        return self._stores.annotations.get_sources(doc_id, self.bucket.name)

    def _corrections_of(self, document: Document) -> tuple[Mapping[str, Correction], str | None]:
        """Return a document's corrections, by field; a new one takes over those of a document of the same text."""
        own = self._corrections.get(document.doc_id, {})
        heir_of = (
            None if own or document.doc_id in self.known else self._corrected_texts.get(document.content_hash)
        )
        if heir_of and not self._may_inherit(heir_of, document.doc_id):
            heir_of = None
        return (self._corrections[heir_of] if heir_of else own), heir_of

    def _may_inherit(self, source: str, heir: str) -> bool:
        """Tell whether a new document may have what people said of another of its text.

        Only if the writer may change that one, and nobody sees the new one from whom that one is hidden.
        """
        if source not in self.known:
            return self._options.writer.sees_all
        old, new = set(self._stored_labels(source)), set(self._labels_for(heir))
        return self._doc_ids.may_change(source) and (not old or (bool(new) and new <= old))

    def _own_predecessor(self, document: Document, settled: Settled) -> Settled:
        """Return values that say of no document that it is replaced which the writer may not change.

        Whether the id is hidden from them or nobody's is told alike.
        """
        name, writer = self.bucket.supersedes_field, self._options.writer
        if writer.sees_all or not name or name not in settled.values or document.doc_id not in self.seen:
            return settled
        named = show(settled.values[name])
        if named in self.known and self._doc_ids.may_change(named):
            return settled
        self.report.bad_values.append(BadValue(document.doc_id, name, named, NOT_YOURS))
        values = {field: value for field, value in settled.values.items() if field != name}
        places = {field: place for field, place in settled.places.items() if field != name}
        return Settled(values, places, settled.extraction)

    @cached_property
    def _corrected_texts(self) -> Mapping[str, str]:
        """Return content hash -> the document of that text whose values were corrected last."""
        made = [item for corrections in self._corrections.values() for item in corrections.values()]
        ordered = sorted(made, key=lambda item: item.corrected_at)
        return {item.content_hash: item.doc_id for item in ordered if item.content_hash}

    def _values(
        self,
        document: Document,
        row: Row | None,
        extraction: Extraction | None,
        corrections: Mapping[str, Correction],
    ) -> Settled:
        """Return the values of a row, or else those given before, with what is extracted and corrected."""
        given = self._given_before(document) if row is None else self.check_row(document.doc_id, row)
        if extraction is None and self._extracts(row, given):
            known = self._prepared.extraction if self._prepared else None
            extraction = known or extract_document(self.bucket, document)
        if extraction is None and self._options.extract != "never":
            extraction = rows_beside(self.bucket, document, given)
        extraction = extraction or Extraction()
        settled = settle(self.bucket, document.text, given, extraction, {})
        if not corrections:
            return settled
        fitting, _ = split_fitting(corrections, document, settled.values)
        return settle(self.bucket, document.text, given, extraction, fitting)

    def _extracts(self, row: Row | None, given: Mapping[str, Value]) -> bool:
        """Return whether values are extracted from a document: those that a person annotated are left alone."""
        auto = self._options.extract == "auto" and row is None and not given
        return auto or self._options.extract == "always"

    def _given_before(self, document: Document) -> Mapping[str, Value]:
        """Return the stored values that an annotation row gave: not those extracted, corrected or derived."""
        stored = self._without_found_version(document.doc_id)
        if document.doc_id not in self.known:
            return stored
        sources = self._stored_places(document.doc_id)
        not_given = {name for name, source in sources.items() if source.by}
        own = self._stores.extractions.own_fields(document.doc_id)
        own |= not_given | self._applied(document, stored)
        derived = derive_values(
            self.bucket, {name: stored[name] for name in own if name in stored}, document.text
        )
        given = {
            name: value for name, value in stored.items() if name not in own and derived.get(name) != value
        }
        kept = {name: source.given for name, source in sources.items() if source.given is not None}
        return given | read_row(self.bucket, kept)[0]

    def _applied(self, document: Document, stored: Mapping[str, Value]) -> set[str]:
        """Return the fields whose stored value a correction put there, as far as no source says so."""
        corrections = self._corrections.get(document.doc_id, {})
        typed = typed_corrections(self.bucket, {name: item.raw for name, item in corrections.items()})
        return {
            name
            for name, item in corrections.items()
            if name in stored and typed.get(name) == stored[name] and item.instead_of != to_json(stored[name])
        }

    def _without_found_version(self, doc_id: str) -> Mapping[str, Value]:
        """Return the stored values without the version link that an ingest found; it is looked for again."""
        stored, field = self._stored_values(doc_id), self.bucket.supersedes_field
        if not field or field not in stored:
            return stored
        found = self._stores.documents.likeness([doc_id]).get(doc_id)
        if found is None or found.supersedes != show(stored[field]):
            return stored
        return {name: value for name, value in stored.items() if name != field}


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()
