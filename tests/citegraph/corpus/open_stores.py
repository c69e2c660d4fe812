"""Where an ingest of a test writes to: the embedded stores in a folder."""

from pathlib import Path
from typing import Any

from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.ingestion.ingest_options import Stores
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
from citegraph.corpus.schema.bucket import Bucket
from citegraph.llm.embeddings import StaticEmbedder

STATIC = StaticEmbedder()


def open_stores(home: Path, *buckets: Bucket, **index: Any) -> Stores:
    """Return the stores in `home` for some buckets; `index` are arguments of `EdgeIndex`."""
    url = f"sqlite:///{home / 'citegraph.sqlite'}"
    annotations = AnnotationStore(url, {bucket.name: bucket for bucket in buckets})
    opened = EdgeIndex(home / "index", STATIC, weights=(1.0, 3.0), **index)
    return Stores(DocumentStore(url), annotations, opened, ExtractionStore(url))
