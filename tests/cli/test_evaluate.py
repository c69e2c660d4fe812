"""The command `eval` over judged claims: our score beside the baselines, as a table or as JSON."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.evals.test_claim_sets import judged_claims, judged_summaries
from tests.evals.test_retrieval import judged_collection


@pytest.mark.slow
def test_judged_claims_and_summaries_in_one_command(run: Run, tmp_path: Path) -> None:
    claims, summaries = tmp_path / "claims", tmp_path / "summaries"
    claims.mkdir()
    summaries.mkdir()
    judged_claims(claims)
    judged_summaries(summaries)
    as_json = run("eval", claims, summaries, "--json")
    assert as_json.code == 0
    results = json.loads(as_json.out)
    assert list(results) == ["claims", "summaries"]
    assert results["claims"]["methods"]["citegraph"]["accuracy"] == 1.0
    assert set(results["summaries"]["methods"]) == {
        "citegraph",
        "token overlap",
        "embedding cosine",
        "rouge-L",
    }
    table = run("eval", claims, summaries).out.splitlines()
    assert table[0].split("\t") == ["claims (15 rows)", "accuracy", "sentence_f1"]
    assert table[1].split("\t") == ["citegraph", "1.0000", "1.0000"]
    assert "summaries (20 rows)\tbalanced_accuracy\tmean_over_domains" in table
    assert any(line.startswith("points above the best baseline\t") for line in table)


def test_a_judged_collection_is_measured(run: Run, tmp_path: Path) -> None:
    results = json.loads(run("eval", judged_collection(tmp_path / "judged"), "--json", "-n", 1).out)
    assert results["judged"]["modes"]["keyword"]["MRR"] == 1.0
    assert results["judged"]["queries"] == 1


def test_a_folder_of_something_else_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "hello"}')
    refused = run("eval", tmp_path)
    assert refused.code == 2
    assert "nor judged claims" in refused.err


QUESTIONS = Path(__file__).parents[2] / "buckets" / "sample" / "questions.jsonl"
COMPARED = [
    "rows",
    "document_f1",
    "answer",
    "behaviour",
    "citation_precision",
    "citation_recall",
    "calls",
    "tokens",
]


@pytest.mark.slow
def test_modes_stand_side_by_side_and_a_loop_without_a_model_is_said(
    run: Run, in_sample: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "rows.jsonl"
    compared = run("eval", QUESTIONS, "-n", 2, "--mode", "graph,loop,single", "--out", kept, "--json", "-q")
    results = json.loads(compared.out)
    assert list(results["modes"]) == ["graph", "loop", "single"]
    for summary in results["modes"].values():
        assert summary["overall"]["rows"] == 2
        assert summary["overall"]["document_f1"] == 1.0
        assert summary["overall"]["tokens"] == 0
    assert "no model is configured" in results["notes"]["loop"]
    rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    assert [row["mode"] for row in rows] == ["graph", "graph", "loop", "loop", "single", "single"]
    assert any(note["step"] == "agent" for note in rows[2]["answer"]["notes"])

    table = run("eval", QUESTIONS, "-n", 1, "--mode", "loop,single", "-q")
    lines = [line.split("\t") for line in table.out.splitlines()]
    assert lines[0][:9] == ["mode", *COMPARED]
    assert [line[0] for line in lines[1:]] == ["loop", "single"]
    assert table.err.startswith("loop: no model is configured")


def test_one_mode_keeps_the_table_by_category(run: Run, in_sample: Path) -> None:
    table = run("eval", QUESTIONS, "-n", 1, "-q").out.splitlines()
    assert table[0].startswith("category\trows\trouting")
    assert table[1].startswith("overall\t1\t")


def test_an_unknown_mode_is_refused(run: Run, in_sample: Path) -> None:
    refused = run("eval", QUESTIONS, "--mode", "graph,magic")
    assert refused.code == 2
    assert "graph, loop, single" in refused.err
