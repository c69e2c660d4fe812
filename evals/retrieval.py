"""Retrieval quality on a judged collection, through the same index and search code as a question."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.index.index_protocol import Index, Mode, SearchRequest
from citegraph.corpus.index.rerankers import Reranker, load_reranker
from citegraph.corpus.index.searcher import search_buckets
from citegraph.corpus.ingestion.chunking import chunk_document
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk, Document
from citegraph.errors import BadInput
from citegraph.llm.embeddings import load_embedder
from citegraph.settings import Settings
from evals.question_files import opened

DEPTH = 100
BATCH = 256
MEASURES = ("nDCG@10", "MRR", "recall@100")

Run = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A folder with corpus, queries and relevance judgements.

    Attributes:
        queries: only those that have a judgement.
        judgements: query id to document id to grade (0: judged not relevant).
    """

    folder: Path
    queries: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, int]]

    def documents(self) -> Iterator[Document]:
        """Yield the collection's documents that have a text."""
        for row in _json_lines(_one_of(self.folder, "corpus.jsonl", "corpus.jsonl.gz")):
            text = row.get("text") or " ".join(row.get("sentences", ()))
            title = row.get("title") or ""
            if text.strip() or title.strip():
                body = text if text.strip() else title
                digest = hashlib.sha256(body.encode()).hexdigest()
                yield Document(str(row["_id"]), BUCKET.name, body, str(row["_id"]), digest, title=title)


BUCKET = Bucket(name="judged", description="A judged collection.", nouns=("document",), fields=())


def is_retrieval_set(folder: Path) -> bool:
    """Return whether a folder holds corpus, queries and judgements."""
    return (folder / "queries.jsonl").is_file() and bool(list(folder.glob("qrels*.tsv")))


def load_retrieval_set(folder: Path) -> RetrievalSet:
    """Read queries and judgements (`qrels.tsv`, else the file of the test split).

    Raises:
        BadInput: a file is missing.
    """
    files = sorted(
        folder.glob("qrels*.tsv"), key=lambda path: (path.stem != "qrels", "test" not in path.stem)
    )
    if not files:
        raise BadInput(f"{folder}: no judgements (qrels*.tsv)")
    judgements: dict[str, dict[str, int]] = {}
    lines = files[0].read_text("utf-8").splitlines()
    names = lines[0].split("\t")
    for line in lines[1:]:
        row = dict(zip(names, line.split("\t"), strict=True))
        judgements.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    rows = _json_lines(_one_of(folder, "queries.jsonl"))
    queries = {str(row["_id"]): row["text"] for row in rows if str(row["_id"]) in judgements}
    return RetrievalSet(folder, queries, judgements)


async def evaluate(
    given: RetrievalSet, settings: Settings, home: Path, *, limit: int | None = None
) -> dict[str, dict[str, float]]:
    """Index the collection under `home` and return the measures of each search mode.

    With a reranker in the settings, "hybrid+rerank" is measured too. `limit` takes the first queries only.
    """
    embedder = load_embedder(settings)
    index = EdgeIndex(home, embedder, weights=settings.fusion)
    began = time.monotonic()
    count = await _fill(index, given, settings)
    seconds = round(time.monotonic() - began, 1)
    queries = dict(list(given.queries.items())[:limit])
    reranker = load_reranker(settings)
    results: dict[str, dict[str, float]] = {}
    for mode in get_args(Mode):
        results[mode] = await _measured(index, given, queries, mode)
    if reranker is not None:
        results["hybrid+rerank"] = await _measured(index, given, queries, "hybrid", reranker)
    results["corpus"] = {"documents": count, "queries": len(queries), "index_seconds": seconds}
    await index.close()
    return results


async def _fill(index: Index, given: RetrievalSet, settings: Settings) -> int:
    await index.ensure(BUCKET)
    queue: list[Chunk] = []
    count = 0
    for document in given.documents():
        count += 1
        queue += chunk_document(document, BUCKET, tokens=settings.chunk_tokens)
        if len(queue) >= BATCH:
            await index.upsert(BUCKET.name, queue, {})
            queue = []
    await index.upsert(BUCKET.name, queue, {})
    await index.optimize(BUCKET.name)
    return count


async def _measured(
    index: Index,
    given: RetrievalSet,
    queries: Mapping[str, str],
    mode: Mode,
    reranker: Reranker | None = None,
) -> dict[str, float]:
    run: Run = {}
    began = time.monotonic()
    for query_id, text in queries.items():
        request = SearchRequest(BUCKET.name, text, mode, limit=DEPTH, candidates=DEPTH)
        found = await search_buckets(index, [request], timeout=600, strict=True, reranker=reranker)
        best: dict[str, float] = {}
        for hit in found.hits:
            best.setdefault(hit.chunk.doc_id, hit.score)
        run[query_id] = best
    milliseconds = 1000 * (time.monotonic() - began) / max(1, len(queries))
    return {**measured(run, given.judgements), "ms_per_query": round(milliseconds, 1)}


def measured(run: Run, judgements: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """Return nDCG@10, MRR and recall@100 of a run, means over its queries."""
    import ir_measures

    wanted = [ir_measures.nDCG @ 10, ir_measures.RR, ir_measures.R @ 100]
    judged = {query_id: dict(judgements[query_id]) for query_id in run}
    values = ir_measures.calc_aggregate(wanted, judged, run)
    return {name: round(values[measure], 4) for name, measure in zip(MEASURES, wanted, strict=True)}


def _one_of(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise BadInput(f"{folder}: no {names[0]}")


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with opened(path) as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
