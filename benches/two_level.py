"""One-level search against two-level (with the chunks of the best sections, by their summaries), by pages found."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benches.documents.reading_bench import ARCHIVE
from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.searcher import search_buckets
from citegraph.corpus.ingestion.chunking import chunk_document
from citegraph.corpus.ingestion.summaries import DEFAULT_CHARACTERS, with_summaries
from citegraph.corpus.readers.plain_text import PAGE_BREAK, joined_pages
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Document, Hit
from citegraph.errors import BadInput
from citegraph.llm.embeddings import StaticEmbedder
from evals.retrieval import Run, measured

DEPTH = 100
SECTIONS = (0, 5, 10, 20, 50)
BATCH = 256
BUCKET = Bucket(name="filings", description="Filings.", nouns=("filing",), fields=())


def filings(folder: Path) -> Iterator[Document]:
    """Yield the filings of FinanceBench, their pages joined; a page's number is one above the set's."""
    texts: dict[str, dict[int, str]] = defaultdict(dict)
    for file in sorted(folder.glob("pages-*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                texts[row["doc_name"]][row["page"]] = row["text"].replace(PAGE_BREAK, "\n")
    for name, pages in sorted(texts.items()):
        bodies = [pages.get(number, "") for number in range(max(pages) + 1)]
        text = PAGE_BREAK.join(bodies)
        digest = hashlib.sha256(text.encode()).hexdigest()
        title = name.replace("_", " ")
        yield Document(name, BUCKET.name, text, name, digest, title=title, pages=joined_pages(bodies))


async def evaluate(folder: Path, home: Path) -> dict[str, dict[str, float]]:
    """Return the page measures of one level and of two, by how many sections are looked into as well.

    Raises:
        BadInput: the set is absent.
    """
    if not (folder / "qrels_pages.tsv").is_file():
        raise BadInput(f"{folder} holds no FinanceBench")
    judgements: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels_pages.tsv").read_text("utf-8").splitlines()[1:]:
        query, page, grade = line.split("\t")
        judgements[query][page] = int(grade)
    rows = map(json.loads, (folder / "questions.jsonl").read_text("utf-8").splitlines())
    queries = {row["qid"]: row["question"] for row in rows if row["qid"] in judgements}
    index = EdgeIndex(home, StaticEmbedder(), weights=(1.0, 6.0))
    await _fill(index, folder)
    runs: dict[str, Run] = defaultdict(dict)
    for query_id, text in queries.items():
        for sections in SECTIONS:
            request = SearchRequest(BUCKET.name, text, limit=DEPTH, sections=sections)
            found = await search_buckets(index, [request], timeout=600, strict=True)
            runs[f"{sections} sections" if sections else "one level"][query_id] = _pages(found.hits)
    await index.close()
    return {name: measured(run, judgements) for name, run in runs.items()}


async def _fill(index: EdgeIndex, folder: Path) -> None:
    await index.ensure(BUCKET)
    for document in filings(folder):
        points = chunk_document(document, BUCKET, context=document.title)
        if len(document.text) > DEFAULT_CHARACTERS:
            chunks, summaries = with_summaries(document, points, BUCKET, context=document.title)
            points = [*chunks, *summaries]
        for begin in range(0, len(points), BATCH):
            await index.upsert(BUCKET.name, points[begin : begin + BATCH], {})
    await index.optimize(BUCKET.name)


def _pages(hits: Sequence[Hit]) -> dict[str, float]:
    """Return a score for each page that a hit touches; the best hit counts, its first page first."""
    best: dict[str, float] = {}
    for hit in hits:
        first, last = hit.chunk.page_first or 1, hit.chunk.page_last or 1
        for step, page in enumerate(range(first, last + 1)):
            best.setdefault(f"{hit.chunk.doc_id}#p{page - 1}", hit.score - 1e-6 * step)
    return best


def main() -> None:
    """Print the measures: python -m benches.two_level [--archive FOLDER]."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    folder = parser.parse_args().archive / "financebench"
    try:
        with tempfile.TemporaryDirectory() as home:
            results = asyncio.run(evaluate(folder, Path(home)))
    except BadInput as error:
        parser.exit(1, f"{error}\n")
    for name, values in results.items():
        print(f"{name:14}" + "".join(f"{measure} {value:<9}" for measure, value in values.items()))


if __name__ == "__main__":
    main()
