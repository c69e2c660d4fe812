"""Ingest of PDF files side by side with a plain script: pypdf, langchain's splitter, Qdrant's local mode."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.llm.embeddings import Embedder

# Each worker process of an ingest imports the module that was started: this one imports late what takes long, as
# the command line does.
OTHERS = "generic"
# Characters of about 900 and 150 tokens, so that both make chunks of the same size.
PLAIN_CHUNK, PLAIN_OVERLAP = 3_600, 600
PLAIN_BATCH = 256


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one ingest did: seconds of wall clock, chunks written, and the text of each file by name."""

    seconds: float
    chunks: int
    texts: Mapping[str, str]


async def ours(files: Mapping[str, Sequence[Path]], home: Path, embedder: Embedder) -> Ingested:
    """Ingest files by bucket with everything on: worker processes, boxes, tables, extraction, SQL, both vectors."""
    from citegraph.corpus.index.edge.edge_index import EdgeIndex
    from citegraph.corpus.ingestion.ingest_options import Stores
    from citegraph.corpus.ingestion.pipeline import ingest
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
    from citegraph.corpus.records.documents import DocumentStore
    from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
    from citegraph.corpus.schema.bucket import load_buckets

    buckets = load_buckets()
    url = f"sqlite:///{home / 'bench.sqlite'}"
    index = EdgeIndex(home / "index", embedder, weights=(1.0, 6.0))
    documents = DocumentStore(url)
    annotations = AnnotationStore(url, buckets)
    stores = Stores(documents, annotations, index, ExtractionStore(url))
    began = time.perf_counter()
    chunks = 0
    for name, some in files.items():
        chunks += (await ingest(some, buckets[name], stores=stores)).chunks
    seconds = time.perf_counter() - began
    await index.close()
    texts = {}
    for name, some in files.items():
        for record in documents.list(name, len(some) * 2):
            found = documents.get(record.doc_id)
            texts[record.source_file] = found.text if found else ""
    return Ingested(seconds, chunks, texts)


def plain(files: Sequence[Path], home: Path, embedder: Embedder) -> Ingested:
    """Do what the tutorials do: one file after the other, dense vectors only."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from pypdf import PdfReader
    from qdrant_client import QdrantClient
    from qdrant_client.models import Distance, PointStruct, VectorParams

    client = QdrantClient(path=str(home / "plain"))
    client.create_collection("files", VectorParams(size=embedder.dimensions, distance=Distance.COSINE))
    splitter = RecursiveCharacterTextSplitter(chunk_size=PLAIN_CHUNK, chunk_overlap=PLAIN_OVERLAP)
    began = time.perf_counter()
    texts: dict[str, str] = {}
    queue: list[tuple[str, int, str]] = []
    count = 0

    def write() -> None:
        vectors = embedder.embed_documents([text for _, _, text in queue])
        points = [
            PointStruct(
                id=str(uuid5(NAMESPACE_URL, f"{file} {at}")),
                vector=vector.tolist(),
                payload={"file": file, "page_content": text},
            )
            for (file, at, text), vector in zip(queue, vectors, strict=True)
        ]
        client.upsert("files", points)

    for file in files:
        # Half of a surrogate pair stops the tokenizer.
        found = (page.extract_text() for page in PdfReader(file).pages)
        pages = [text.encode("utf-8", "ignore").decode() for text in found]
        texts[file.name] = "\n".join(pages)
        for page in pages:
            for part in splitter.split_text(page):
                queue.append((file.name, count, part))
                count += 1
        if len(queue) >= PLAIN_BATCH:
            write()
            queue.clear()
    if queue:
        write()
    seconds = time.perf_counter() - began
    client.close()
    return Ingested(seconds, count, texts)


def compare(archive: Path, runs: int) -> dict[str, object]:
    """Return pages per second and text F1 of both, medians over alternating runs.

    Raises:
        BadInput: the archive has no files.
    """
    from benches.documents.reading_bench import gold_texts, token_f1
    from citegraph.corpus.schema.bucket import load_buckets
    from citegraph.llm.embeddings import StaticEmbedder

    buckets = load_buckets()
    manifest = archive / "files" / "manifest.json"
    if not manifest.is_file():
        raise BadInput(f"{manifest} is not there: name the archive by CITEGRAPH_CORPORA or --archive")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # hundreds of lines about fonts
    rows = [row for row in json.loads(manifest.read_text("utf-8")) if row["file"].endswith(".pdf")]
    # The plain script reads no attached documents (one of them is a scan): files with some are left out for both.
    every = len(rows)
    rows = [row for row in rows if not _carries_documents(archive / row["file"])]
    files = [archive / row["file"] for row in rows]
    sorted_files: dict[str, list[Path]] = {}
    for row, file in zip(rows, files, strict=True):
        name = row["bucket"].partition("_")[0]
        sorted_files.setdefault(name if name in buckets else OTHERS, []).append(file)
    gold = dict(gold_texts(archive, {row["doc_id"] for row in rows}))
    wanted = {Path(row["file"]).name: gold.get(row["doc_id"], "") for row in rows}
    pages = _pages(files)
    embedder = StaticEmbedder()
    embedder.embed_query("warm")
    results: dict[str, list[Ingested]] = {"citegraph": [], "plain": []}
    for _ in range(runs):
        with _home() as home:
            results["plain"].append(plain(files, home, embedder))
        with _home() as home:
            results["citegraph"].append(asyncio.run(ours(sorted_files, home, embedder)))
    report: dict[str, object] = {
        "files": len(files),
        "left_out": every - len(files),
        "pages": pages,
        "runs": runs,
    }
    for name, done in results.items():
        seconds = statistics.median(run.seconds for run in done)
        scores = [token_f1(done[0].texts.get(file, ""), text) for file, text in wanted.items()]
        report[name] = {
            "seconds": round(seconds, 1),
            "pages_per_second": round(pages / seconds, 1),
            "chunks": done[0].chunks,
            "text_f1_median": round(statistics.median(scores), 4),
            "text_f1_mean": round(statistics.fmean(scores), 4),
        }
    ratios = [p.seconds / c.seconds for p, c in zip(results["plain"], results["citegraph"], strict=True)]
    return report | {"times_as_fast": round(statistics.median(ratios), 2)}


def _carries_documents(file: Path) -> bool:
    from pypdf import PdfReader

    return any(name.lower().endswith(".pdf") for name in PdfReader(file).attachments)


def _pages(files: Sequence[Path]) -> int:
    import pypdfium2

    total = 0
    for file in files:
        with pypdfium2.PdfDocument(file) as pdf:
            total += len(pdf)
    return total


@contextlib.contextmanager
def _home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="citegraph-bench-") as folder:
        yield Path(folder)


def main() -> None:
    """Print both as JSON: python -m benches.documents.bench_ingest [--archive FOLDER] [--runs N]."""
    from benches.documents.reading_bench import ARCHIVE

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    try:
        print(json.dumps(compare(options.archive, options.runs), indent=1))
    except BadInput as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
