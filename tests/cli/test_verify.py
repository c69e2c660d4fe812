"""`citegraph verify`: verdicts and exit codes."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "lease.txt").write_text("The monthly rent is 1,250 EUR. Notice is given three months ahead.")
    return folder


def test_supported_claims_exit_with_0(run: Run, evidence: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.md"
    answer.write_text("The monthly rent is 1,250 EUR [lease].")
    result = run("verify", answer, "--evidence", evidence)
    assert result.code == 0
    assert result.out.startswith("supported: The monthly rent is 1,250 EUR.\n")
    assert "citation precision 1.00, recall 1.00 over 1 claims" in result.out


def test_a_wrong_number_exits_with_4(run: Run, evidence: Path) -> None:
    result = run("verify", "-", "-e", evidence, "--json", stdin="The monthly rent is 1,350 EUR [lease].")
    report = json.loads(result.out)
    assert (result.code, [claim["verdict"] for claim in report["claims"]]) == (4, ["contradicted"])


def test_missing_files_are_usage_errors(run: Run, evidence: Path, tmp_path: Path) -> None:
    missing = run("verify", tmp_path / "none.md", "-e", evidence)
    assert (missing.code, missing.out) == (2, "")
    assert "none.md: cannot be read (No such file or directory)" in missing.err
    assert "is not a folder" in run("verify", "-", "-e", tmp_path / "none").err
