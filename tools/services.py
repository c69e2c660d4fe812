"""What a run needs from outside, opened once, lazily and off the event loop."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from settings import Settings, load_settings

if TYPE_CHECKING:
    from corpus.annotations import AnnotationStore
    from corpus.buckets import Bucket
    from corpus.documents import DocumentStore
    from corpus.index import Index
    from corpus.linking import ValueLinker
    from corpus.rerank import Reranker
    from llm.chat import ChatModels
    from llm.embeddings import Embedder


@dataclass(frozen=True)
class Corpus:
    """The open stores and the index behind every tool.

    `lines` is a model that embeds a line in microseconds, for comparing many of them; None when there is none.
    """

    buckets: "dict[str, Bucket]"
    documents: "DocumentStore"
    annotations: "AnnotationStore"
    linker: "ValueLinker"
    index: "Index"
    reranker: "Reranker | None" = None
    lines: "Embedder | None" = None


def open_corpus(settings: Settings) -> Corpus:
    """Open the bucket declarations, the SQL stores and the index that the settings name.

    Raises:
        BadInput: a declaration is invalid, or the index was built with another embedding model.
        Unavailable: the database or the Qdrant server does not answer.
    """
    from corpus.annotations import AnnotationStore
    from corpus.buckets import load_buckets
    from corpus.documents import DocumentStore
    from corpus.index import load_index
    from corpus.linking import ValueLinker
    from corpus.rerank import load_reranker
    from llm.embeddings import load_embedder

    settings.home.mkdir(parents=True, exist_ok=True)
    buckets = load_buckets(settings.buckets_dir)
    annotations = AnnotationStore(settings.sql_url, buckets)
    embedder = load_embedder(settings)
    return Corpus(
        buckets=buckets,
        documents=DocumentStore(settings.sql_url),
        annotations=annotations,
        linker=ValueLinker(annotations),
        index=load_index(settings, embedder),
        reranker=load_reranker(settings),
        lines=embedder if settings.embeddings == "static" else None,
    )


@dataclass(frozen=True)
class Services:
    """The one object that nodes and tools are built from; nothing is opened before its first use.

    `ready` lets a test hand in an open corpus.
    """

    settings: Settings = field(default_factory=load_settings)
    ready: Corpus | None = None
    models: "ChatModels | None" = None
    _opened: dict[str, object] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def open(self) -> Corpus:
        """Return the corpus, opening it on the first call; blocking, so not for the event loop."""
        if self.ready is not None:
            return self.ready
        with self._lock:
            if "corpus" not in self._opened:
                self._opened["corpus"] = open_corpus(self.settings)
        opened = self._opened["corpus"]
        assert isinstance(opened, Corpus)
        return opened

    async def corpus(self) -> Corpus:
        """Return the corpus without blocking the event loop."""
        return self.ready if self.ready is not None else await asyncio.to_thread(self.open)

    @property
    def chat(self) -> "ChatModels":
        """Return the chat models; none is built before a step asks for one."""
        if self.models is not None:
            return self.models
        from llm.chat import ChatModels

        with self._lock:
            return self._opened.setdefault("chat", ChatModels(self.settings))  # type: ignore[return-value]

    def bucket_names(self) -> list[str]:
        """Return the names of the declared buckets; blocking on the first call."""
        return list(self.open().buckets)

    async def close(self) -> None:
        """Release the index; the services may be used again afterwards."""
        opened = self._opened.pop("corpus", None)
        if isinstance(opened, Corpus):
            await opened.index.close()
