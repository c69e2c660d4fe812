"""`citegraph demo` where it ran before: nothing is ingested again, all questions are answered."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.slow
def test_a_second_demo_reuses_the_index(
    run: Run, sample_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(sample_home, tmp_path / "demo")
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path))
    monkeypatch.setenv("CITEGRAPH_DATABASE_URL", "sqlite:////nowhere/user.sqlite")
    result = run("demo")
    assert result.code == 0
    assert "documents, 0 of them new" in result.err
    lookup, total, asked, end = result.out.split("-" * 72)
    assert "nvr7833.pdf (page 3): “" in lookup
    assert "8,010.00 USD" in total
    assert "It asks back: " in asked
    assert "The demo replies: the opening dinner, receipt 0322" in asked
    assert "serve --demo" in end
    assert "larut-receipt-0322.txt: “" in asked
    assert "512" in asked.split("The demo replies", 1)[1]


def test_serving_names_the_demo_that_is_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path))
    monkeypatch.setattr("server.listening.serve", lambda host, port: None)
    assert "serve --demo" not in run("serve").err
    (tmp_path / "demo").mkdir()
    assert "The sample of the demo is there too: " in (told := run("serve").err)
    assert "serve --demo" in told
