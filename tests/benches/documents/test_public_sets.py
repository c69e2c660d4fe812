"""The public sets as documents and questions, of an invented archive."""

import gzip
import json
from pathlib import Path
from typing import Any

from benches.documents.public_sets import half, written
from evals.question_files import read_questions


def lines(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def test_passages_and_pages_become_documents_with_questions_that_eval_reads(tmp_path: Path) -> None:
    hops, filed = tmp_path / "multihop_musique_hotpot", tmp_path / "financebench"
    lines(
        hops / "hotpotqa_corpus.jsonl",
        {"_id": "a", "title": "Orlo Venn", "sentences": ["He paints.", " Often."]},
    )
    asked = {"qid": "q1", "question": "Who paints? ", "answer": "Orlo Venn", "supporting": [{"doc": "a"}]}
    lines(hops / "hotpotqa_questions.jsonl", {**asked, "type": "bridge"})
    lines(
        filed / "pages-00.jsonl.gz",
        {"doc_name": "TARN_2020", "page": 2, "text": "Cash"},
        {"doc_name": "TARN_2020", "page": 0, "text": "Cover"},
    )
    lines(
        filed / "doc_metadata.jsonl",
        {"doc_name": "TARN_2020", "company": "Tarn", "doc_type": "10k", "doc_period": 2020},
    )
    asked = {"qid": "f1", "question": "How much cash?", "doc_name": "TARN_2020", "evidence": [{"page": 2}]}
    lines(filed / "questions.jsonl", asked, {**asked, "qid": "f2", "doc_name": "GONE"})

    documents, questions = written(tmp_path, tmp_path, "hotpotqa")
    assert json.loads(documents.read_text())["text"] == "# Orlo Venn\n\nHe paints. Often."
    [question] = read_questions([questions])
    assert (question.turns, question.doc_ids, question.category) == (("Who paints?",), ("a",), "multihop")
    assert half(question) in (0, 1)

    documents, questions = written(tmp_path, tmp_path, "financebench")
    made = json.loads(documents.read_text())
    assert made["pages"] == ["Cover", " ", "Cash"], "a page that is missing keeps its place"
    assert made["metadata"] == {"company": "Tarn", "form": "10k", "fiscal_year": 2020}
    [question] = read_questions([questions])
    assert question.row
    assert question.row["pages"] == [3]
