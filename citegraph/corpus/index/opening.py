"""Opens the index that the settings name; each engine is imported only when it is the one."""

from citegraph.corpus.index.index_protocol import Index
from citegraph.llm.embeddings import Embedder
from citegraph.settings import Settings


def load_index(settings: Settings, embedder: Embedder) -> Index:
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
