"""What a run needs from outside, opened once, lazily and off the event loop; and what is left without metadata."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from citegraph.corpus.index.views import SeenIndex
from citegraph.corpus.records.access import NOBODY, OWNER, Principal, seen_buckets
from citegraph.errors import CitegraphError, Unavailable
from citegraph.run.context import run_documents, run_principal
from citegraph.run.state_types import Plan
from citegraph.settings import Settings, load_settings

if TYPE_CHECKING:
    from citegraph.corpus.index.index_protocol import Index
    from citegraph.corpus.index.rerankers import Reranker
    from citegraph.corpus.index.searcher import Searcher
    from citegraph.corpus.index.views import ExactCache
    from citegraph.corpus.ingestion.ingest_options import Stores
    from citegraph.corpus.linking.linker import ValueLinker
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
    from citegraph.corpus.records.documents import DocumentStore
    from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
    from citegraph.corpus.records.extracted.row_store import RowStore
    from citegraph.corpus.records.left_out import LeftOutStore
    from citegraph.corpus.records.table_files.table_store import TableStore
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.encoder.finder import Finder
    from citegraph.llm.chat import ChatModels
    from citegraph.llm.embeddings import Embedder
    from citegraph.run.events import Observer
    from citegraph.run.part_protocols import Kind
    from citegraph.run.replacements import Part


def load_index(settings: Settings, embedder: "Embedder") -> "Index":
    """Return the index that the settings name: a Qdrant server by URL, else the embedded engine.

    Nothing is opened or sent before the first call.
    """
    if settings.qdrant_url:
        from citegraph.corpus.index.qdrant_index import QdrantIndex, connect

        return QdrantIndex(connect(settings), embedder, weights=settings.fusion)
    if settings.engine == "process":
        from citegraph.corpus.index.engine_process import ProcessIndex

        return ProcessIndex(settings)
    from citegraph.corpus.index.edge.edge_index import EdgeIndex

    return EdgeIndex(settings.home / "index", embedder, weights=settings.fusion)


@dataclass(frozen=True)
class Corpus:
    """The open stores and the index behind every tool.

    `lines` is a model that embeds a line in microseconds, for comparing many of them; None when there is none.
    `finder` says which characters of a passage answer a question, or that it does not.
    `embedder` is the index's own model. `searcher` is one of the user's own, asked before the index.
    `extractions` is for the operator alone; `rows` are read through `plan.rows_asked.row_query`, which keeps to the
    documents that the principal may see; so are the rows of table files, `tables`, by `plan.tables_asked`. `left_out` are
    passages that are neither found nor read.
    """

    buckets: "dict[str, Bucket]"
    documents: "DocumentStore"
    annotations: "AnnotationStore"
    linker: "ValueLinker"
    index: "Index"
    reranker: "Reranker | None" = None
    searcher: "Searcher | None" = None
    lines: "Embedder | None" = None
    finder: "Finder | None" = None
    embedder: "Embedder | None" = None
    extractions: "ExtractionStore | None" = None
    left_out: "LeftOutStore | None" = None
    rows: "RowStore | None" = None
    tables: "TableStore | None" = None

    @property
    def stores(self) -> "Stores":
        """Return where an ingest writes to; the operator's corpus alone has it."""
        from citegraph.corpus.ingestion.ingest_options import Stores

        assert self.extractions is not None
        return Stores(self.documents, self.annotations, self.index, self.extractions)

    def filled(self, names: Iterable[str]) -> list[str]:
        """Return those of some buckets that hold documents which the asking principal may see; blocking."""
        names = list(names)
        held = self.documents.filled(names)
        return [name for name in names if name in held or self.annotations.count(name)]


def open_corpus(settings: Settings) -> Corpus:
    """Open the bucket declarations, the SQL stores and the index that the settings name.

    Raises:
        BadInput: a declaration is invalid, or the index was built with another embedding model.
        Unavailable: the database or the Qdrant server does not answer.
    """
    from citegraph.corpus.index.rerankers import load_reranker
    from citegraph.corpus.index.views import VersionedIndex
    from citegraph.corpus.linking.linker import ValueLinker
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
    from citegraph.corpus.records.database import IndexVersions
    from citegraph.corpus.records.documents import DocumentStore
    from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
    from citegraph.corpus.schema.bucket import load_buckets
    from citegraph.encoder.finder import Finder
    from citegraph.llm.embeddings import load_embedder

    settings.home.mkdir(parents=True, exist_ok=True)
    buckets = load_buckets(settings.buckets_dir)
    annotations = AnnotationStore(settings.sql_url, buckets)
    embedder = load_embedder(settings)
    versions = IndexVersions(settings.sql_url)
    extractions = ExtractionStore(settings.sql_url)
    return Corpus(
        buckets=buckets,
        documents=DocumentStore(settings.sql_url),
        annotations=annotations,
        linker=ValueLinker(annotations),
        index=VersionedIndex(
            load_index(settings, embedder), versions, extractions.left_out, cache=settings.cache
        ),
        reranker=load_reranker(settings),
        embedder=embedder,
        lines=embedder if settings.embeddings == "static" else None,
        finder=Finder(),
        extractions=extractions,
        left_out=extractions.left_out,
        rows=extractions.rows,
        tables=extractions.tables,
    )


def with_parts(corpus: Corpus, parts: "Mapping[Kind, Part]", settings: Settings) -> Corpus:
    """Return a corpus that is searched by the user's own searcher and reranker, as far as there are such."""
    from citegraph.run.replacements import OwnReranker, OwnSearcher

    if searcher := parts.get("searcher"):
        corpus = replace(corpus, searcher=OwnSearcher(searcher))
    if reranker := parts.get("reranker"):
        corpus = replace(corpus, reranker=OwnReranker(reranker, settings.search_timeout))
    return corpus


def seen_corpus(whole: Corpus, principal: Principal) -> Corpus:
    """Return a corpus of which every store, count and value is what one principal may see."""
    from citegraph.corpus.linking.linker import ValueLinker

    annotations = whole.annotations.seen_by(principal)
    documents = whole.documents.seen_by(principal)
    return replace(
        whole,
        buckets=seen_buckets(principal, whole.buckets),
        documents=documents,
        annotations=annotations,
        linker=whole.linker if principal.sees_whole_buckets else ValueLinker(annotations),
        index=SeenIndex(whole.index, documents, principal),
        extractions=None,
    )


VIEWS = 64
"""Views of the corpus that are kept, with the values that their linkers hold."""


@dataclass(frozen=True)
class Services:
    """The one object that nodes and tools are built from; nothing is opened before its first use.

    `ready` lets a test hand in an open corpus. A run that is for nobody in particular sees everything where the
    operator runs it (`trusted`: the command line) or where nobody is asked for a key, else nothing. `observers`
    hear of every step of the graphs built over these services.
    """

    settings: Settings = field(default_factory=load_settings)
    ready: Corpus | None = None
    models: "ChatModels | None" = None
    trusted: bool = False
    observers: "tuple[Observer, ...]" = ()
    _opened: dict[str, object] = field(default_factory=dict, repr=False)
    _views: dict[Any, tuple[Corpus, Corpus]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def open(self) -> Corpus:
        """Return the corpus, opening it on the first call; blocking, so not for the event loop."""
        if self.ready is not None and not self.settings.parts:
            return self.ready
        parts = self.parts
        with self._lock:
            if "corpus" not in self._opened:
                whole = self.ready or open_corpus(self.settings)
                self._opened["corpus"] = with_parts(whole, parts, self.settings)
        opened = self._opened["corpus"]
        assert isinstance(opened, Corpus)
        return opened

    async def warm(self, names: Iterable[str]) -> None:
        """Open the embedded index of these buckets, each once: not in the time that a search is given.

        What fails here fails again where it is used, and is told there.
        """
        if self.ready is not None or self.settings.qdrant_url:
            return
        warmed: set[str] = self._opened.setdefault("warm", set())  # type: ignore[assignment]
        cold = [name for name in names if name not in warmed]
        if not cold:
            return
        index = (await asyncio.to_thread(self.open)).index
        failures = await asyncio.gather(*map(index.count, cold), return_exceptions=True)
        for failure in failures:
            if isinstance(failure, BaseException) and not isinstance(failure, CitegraphError):
                raise failure
        warmed.update(cold)

    async def corpus(self) -> Corpus:
        """Return the corpus as the principal of this run may see it, without blocking the event loop."""
        at_hand = self.ready is not None and not self.settings.parts
        whole = self.open() if at_hand else await asyncio.to_thread(self.open)
        return self.seen_by(self.principal(), whole)

    def principal(self) -> Principal:
        """Return whom the run in this context is for, who sees of it the documents that it is asked of."""
        nameless = OWNER if self.trusted or not self.settings.auth_required else NOBODY
        who, chosen = run_principal() or nameless, run_documents()
        return who if chosen is None else replace(who, documents=chosen)

    def seen_by(self, principal: Principal, whole: Corpus) -> Corpus:
        """Return the corpus cut to what a principal may see: the one place where access is applied."""
        if principal.sees_all:
            return whole
        key = (principal.buckets, principal.labels, principal.documents)
        with self._lock:
            held = self._views.pop(key, None)
            seen = held[1] if held is not None and held[0] is whole else seen_corpus(whole, principal)
            # The last asked for stands last.
            self._views[key] = (whole, seen)
            if len(self._views) > VIEWS:
                del self._views[next(iter(self._views))]
        return seen

    @property
    def parts(self) -> "dict[Kind, Part]":
        """Return the parts of the user's own; blocking on the first call when there are some.

        Raises:
            BadInput: one cannot be used; the message names it.
        """
        if not self.settings.parts:
            return {}
        from citegraph.run.replacements import load_parts

        with self._lock:
            if "parts" not in self._opened:
                self._opened["parts"] = load_parts(self.settings)
            return self._opened["parts"]  # type: ignore[return-value]

    @property
    def chat(self) -> "ChatModels":
        """Return the chat models; none is built before a step asks for one."""
        if self.models is not None:
            return self.models
        from citegraph.llm.chat import ChatModels

        with self._lock:
            return self._opened.setdefault("chat", ChatModels(self.settings))  # type: ignore[return-value]

    @property
    def rerankings(self) -> "ExactCache[dict[int, float]]":
        """Return what models have said of passages, kept for questions that come again."""
        from citegraph.corpus.index.rerankers import CACHED
        from citegraph.corpus.index.views import ExactCache

        with self._lock:
            fresh = ExactCache[dict[int, float]](CACHED if self.settings.cache else 0)
            return self._opened.setdefault("rerankings", fresh)  # type: ignore[return-value]

    def bucket_names(self) -> list[str]:
        """Return the names of the buckets that the principal of this run may see; blocking on the first call."""
        return list(self.seen_by(self.principal(), self.open()).buckets)

    async def close(self) -> None:
        """Release the index; the services may be used again afterwards."""
        self._opened.pop("warm", None)
        opened = self._opened.pop("corpus", None)
        if isinstance(opened, Corpus) and self.ready is None:
            await opened.index.close()


SAID = (
    "The metadata store does not answer: nothing was filtered or looked up by field, the answer rests on searched "
    "passages alone."
)


class NoAnnotations:
    """Stands in for the annotations: it knows no values, and raises where an empty answer would be a wrong one."""

    KNOWS: Mapping[str, Callable[[], Any]] = {
        "get": lambda: None,
        "values_of": dict,
        "sources_of": dict,
        "relaxations": list,
        "telling_facets": dict,
    }

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __getattr__(self, name: str) -> Any:
        """Return a method that knows nothing, or one that refuses: counts, lists and sums cannot be made up."""

        def answer(*arguments: Any, **named: Any) -> Any:
            if name not in self.KNOWS:
                raise Unavailable(self.reason)
            return self.KNOWS[name]()

        return answer


class NoLinker(NoAnnotations):
    """Stands in for the linker: no name of a question is known."""

    KNOWS: Mapping[str, Callable[[], Any]] = {
        "currencies": frozenset,
        "coverage": dict,
        "dates": dict,
        "find_mentions": list,
        "begun": lambda: None,
        "link": list,
    }

    def mentions_in(self, buckets: Iterable[str], text: str) -> dict[str, list[Any]]:
        """Return no mentions in any bucket."""
        return {name: [] for name in buckets}


def without_metadata(corpus: Corpus, reason: str = "the metadata store does not answer") -> Corpus:
    """Return the corpus as a run may use it while its metadata store is down."""
    annotations, linker = NoAnnotations(reason), NoLinker(reason)
    return replace(
        corpus, annotations=cast(Any, annotations), linker=cast(Any, linker), rows=None, tables=None
    )


def has_metadata(corpus: Corpus) -> bool:
    """Tell whether the corpus looks values up; False for one of `without_metadata`."""
    return not isinstance(corpus.annotations, NoAnnotations)


def corpus_of(corpus: Corpus, plan: Plan) -> Corpus:
    """Return the corpus that a plan may use: without metadata when it was planned without."""
    return without_metadata(corpus) if plan.get("metadata") is False and has_metadata(corpus) else corpus
