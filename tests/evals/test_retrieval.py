"""The retrieval measures: read a judged folder, run it through the real index, print known numbers."""

import gzip
import json
from pathlib import Path

import pytest

from citegraph.errors import BadInput
from citegraph.settings import Settings
from evals.retrieval import evaluate, is_retrieval_set, load_retrieval_set, measured


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return judged_collection(tmp_path / "judged")


def judged_collection(folder: Path) -> Path:
    folder.mkdir()
    documents = [
        {"_id": "d1", "title": "Anchors", "text": "The anchors of the ferry were weighed."},
        {"_id": "d2", "title": "", "sentences": ["Fresh ropes arrived.", "They are of hemp."]},
        {"_id": "d3", "title": "Tide tables", "text": ""},
        {"_id": "d4", "title": "", "text": ""},
    ]
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, documents)))
    queries = [{"_id": "q1", "text": "ropes"}, {"_id": 2, "text": "tide"}, {"_id": "q3", "text": "unjudged"}]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels_train.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td1\t1\n")
    (folder / "qrels_test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n2\td3\t1\nq1\td1\t0\n")
    return folder


def test_a_folder_is_read(folder: Path, tmp_path: Path) -> None:
    given = load_retrieval_set(folder)
    assert given.queries == {"q1": "ropes", "2": "tide"}
    assert given.judgements == {"q1": {"d2": 1, "d1": 0}, "2": {"d3": 1}}
    assert [(one.doc_id, one.text) for one in given.documents()] == [
        ("d1", "The anchors of the ferry were weighed."),
        ("d2", "Fresh ropes arrived. They are of hemp."),
        ("d3", "Tide tables"),
    ]
    assert is_retrieval_set(folder)
    assert not is_retrieval_set(tmp_path)
    with pytest.raises(BadInput, match="no judgements"):
        load_retrieval_set(tmp_path)


def test_measures_agree_with_hand_calculation() -> None:
    run = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 1.0}}
    values = measured(run, {"q1": {"b": 1}, "q2": {"c": 1, "x": 1}, "q3": {"y": 1}})
    # q1: rank 2, 1 / log2(3); q2: one of two found at rank 1, 1 / (1 + 1 / log2(3)).
    assert values == {"nDCG@10": round((0.63093 + 0.61315) / 2, 4), "MRR": 0.75, "recall@100": 0.75}


async def test_the_collection_runs_through_the_real_index(folder: Path, tmp_path: Path) -> None:
    settings = Settings.model_construct(embeddings="static", reranker="none", chunk_tokens=900)
    results = await evaluate(load_retrieval_set(folder), settings, tmp_path / "home")
    assert results["corpus"]["documents"] == 3
    assert results["corpus"]["queries"] == 2
    for mode in ("keyword", "semantic", "hybrid"):
        assert (results[mode]["nDCG@10"], results[mode]["recall@100"]) == (1.0, 1.0)
