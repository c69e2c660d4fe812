"""The command `eval` over judged claims: our score beside the baselines, as a table or as JSON."""

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.evals.test_claim_sets import judged_claims, judged_summaries


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


def test_a_folder_of_something_else_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "hello"}')
    refused = run("eval", tmp_path)
    assert refused.code == 2
    assert "nor judged claims" in refused.err
