"""MuSiQue, HotpotQA and FinanceBench as homes and question files: passages of two and three documents, pages of filings.

    python -m benches.documents.public_sets FOLDER [--only musique] [--ask]

Writes documents and questions of each set of the archive under FOLDER and ingests them into FOLDER/SET, in the buckets of
`public_buckets`; `--ask` answers the questions and prints their measures. Questions of one half (`--half`) are told apart by
the hash of their id.
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benches.documents.reading_bench import ARCHIVE
from citegraph.evidence.passages import hydrate
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from evals.question_files import Question, read_questions
from evals.questions import run_question
from evals.scoring import score
from graph.session import Session, open_session

BUCKETS = Path(__file__).parent / "public_buckets"
SETS = ("musique", "hotpotqa", "financebench")
PAGES = 10
Row = dict[str, Any]


def rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a file of JSON lines, packed or not."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def hops(archive: Path, name: str) -> tuple[list[Row], list[Row]]:
    """Return the documents and the questions of a set whose questions need several documents."""
    folder = archive / "multihop_musique_hotpot"
    documents = [
        {
            "doc_id": row["_id"],
            "title": row["title"],
            "text": f"# {row['title']}\n\n{row.get('text') or ''.join(row['sentences'])}",
            "metadata": {"title": row["title"]},
        }
        for row in rows(folder / f"{name}_corpus.jsonl")
    ]
    questions = [
        {
            "id": row["qid"],
            "turns": [row["question"].strip()],
            "category": "compare" if row.get("type") == "comparison" else "multihop",
            "doc_ids": [item if isinstance(item, str) else item["doc"] for item in row["supporting"]],
            "answer": {"type": "text", "value": row["answer"], "aliases": row.get("answer_aliases", [])},
        }
        for row in rows(folder / f"{name}_questions.jsonl")
    ]
    return documents, questions


def filings(archive: Path) -> tuple[list[Row], list[Row]]:
    """Return the filings with company, form and fiscal year, and the questions whose filing is there, with their pages."""
    folder = archive / "financebench"
    pages: dict[str, dict[int, str]] = defaultdict(dict)
    for packed in sorted(folder.glob("pages-*.jsonl.gz")):
        for row in rows(packed):
            pages[row["doc_name"]][row["page"]] = row["text"]
    known = {row["doc_name"]: row for row in rows(folder / "doc_metadata.jsonl")}
    documents = [
        {
            "doc_id": name,
            "pages": [held.get(number) or " " for number in range(max(held) + 1)],
            "metadata": {
                "company": known[name]["company"],
                "form": known[name]["doc_type"],
                "fiscal_year": known[name]["doc_period"],
            },
        }
        for name, held in pages.items()
    ]
    questions = [
        {
            "id": row["qid"],
            "turns": [row["question"]],
            "category": "lookup",
            "doc_ids": [row["doc_name"]],
            "pages": sorted({item["page"] + 1 for item in row["evidence"]}),
        }
        for row in rows(folder / "questions.jsonl")
        if row["doc_name"] in pages
    ]
    return documents, questions


def written(archive: Path, folder: Path, name: str) -> tuple[Path, Path]:
    """Write a set's documents and questions, return their files."""
    made = filings(archive) if name == "financebench" else hops(archive, name)
    files = folder / f"{name}.documents.jsonl", folder / f"{name}.questions.jsonl"
    for path, lines in zip(files, made, strict=True):
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return files


def half(question: Question) -> int:
    """Return the half of its set that a question belongs to, 0 or 1."""
    return hashlib.sha256(question.id.encode()).digest()[-1] % 2


async def pages_found(session: Session, services: Services, thread: str) -> list[tuple[str, int]]:
    """Return the pages of the passages that a run kept, the likeliest first, as document and page number."""
    state = (await session.graph.aget_state({"configurable": {"thread_id": thread}})).values
    corpus = await services.corpus()
    found: dict[tuple[str, int], None] = {}
    kept = state.get("evidence", [])
    chunks = await hydrate(corpus, kept)
    for reference in kept:
        chunk = chunks[reference["id"]]
        ends = [corpus.documents.page_of(chunk.doc_id, at) for at in (chunk.start, chunk.end - 1)]
        first, last = [page.number if page else 0 for page in ends]
        found |= {(chunk.doc_id, number): None for number in range(first, last + 1)}
    return list(found)


async def asked(questions: Sequence[Question], home: Path, out: Path) -> dict[str, list[float]]:
    """Answer questions without a model; return their measures, and write each answer into a file."""
    services = Services(settings=Settings(home=home, buckets_dir=BUCKETS, model=None))
    measures: dict[str, list[float]] = defaultdict(list)
    async with open_session(services) as session:
        with out.open("w", encoding="utf-8") as file:
            for question in questions:
                outcome = await run_question(question, session, Context())
                told: Mapping[str, Any] = {**score(outcome)}
                gold = question.row.get("pages") if question.row else None
                if gold:
                    found = await pages_found(session, services, str(outcome.last.thread_id))
                    wanted = {(question.doc_ids[0], page) for page in gold}
                    told = {**told, "page_hit": float(bool(wanted & set(found[:PAGES])))}
                    cited = {(item.doc_id, item.page) for item in outcome.last.citations}
                    told = {**told, "page_cited": float(bool(wanted & cited))}
                for name in (
                    "document_recall",
                    "document_f1",
                    "answer",
                    "behaviour",
                    "page_hit",
                    "page_cited",
                ):
                    if told.get(name) is not None:
                        measures[name].append(told[name])
                line = {
                    "id": question.id,
                    "question": question.turns[0],
                    "gold": question.row,
                    "scores": told,
                    "answer": outcome.last.model_dump(mode="json"),
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
    return measures


def main() -> int:
    """Write, ingest and ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    parser.add_argument("--only", choices=SETS)
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--half", type=int, choices=(0, 1))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in [given.only] if given.only else SETS:
        documents, questions = written(given.archive, given.folder, name)
        home, bucket = given.folder / name, "filings" if name == "financebench" else "articles"
        environment = {**os.environ, "CITEGRAPH_HOME": str(home), "CITEGRAPH_BUCKETS": str(BUCKETS)}
        command = [sys.executable, "-m", "cli.commands", "ingest", str(documents), "-q", "--bucket", bucket]
        if code := subprocess.run(command, check=False, env=environment).returncode:
            return code
        if given.ask:
            chosen = [item for item in read_questions([questions]) if given.half in (None, half(item))]
            measures = asyncio.run(asked(chosen, home, given.folder / f"{name}.answers.jsonl"))
            print(name, len(chosen), {key: round(mean(values), 3) for key, values in measures.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
