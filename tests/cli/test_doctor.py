"""`citegraph doctor`: what is well, what is not, what it says to do, and its exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.readers.images import recognition
from cli import doctor
from tests.citegraph.llm.endpoint import KEY, Endpoint, Http, said
from tests.cli.conftest import Run


def checks(run: Run, code: int) -> dict[str, dict[str, Any]]:
    ended = run("doctor", "--json")
    assert (ended.code, ended.err) == (code, "")
    said = json.loads(ended.out)
    assert said["ok"] is (code == 0)
    return {check["name"]: check for check in said["checks"]}


def test_all_is_well_over_the_sample(run: Run, in_sample: Path) -> None:
    found = checks(run, 0)
    assert list(found) == [
        "versions", "settings", "home", "disk", "ocr", "graphs", "keys", "buckets", "parts", "store", "index", "model", "reranker",
    ]  # fmt: skip
    assert not [check for check in found.values() if check["status"] == "failed"]
    assert "langgraph 1." in found["versions"]["found"]
    assert found["graphs"]["found"].startswith("langgraph.json: graph.main:agent, graph.main:tool_loop")
    assert found["buckets"]["found"] == "certificates, contracts, datasheets, generic, invoices"
    assert found["store"]["found"].endswith("documents in SQLite")
    assert "chunks in the embedded engine, embedded by" in found["index"]["found"]
    assert not found["index"]["found"].startswith("0 ")
    assert found["model"]["found"].startswith("none is configured")
    assert found["keys"]["status"] == "warning"


def test_nothing_is_made_by_looking(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "new"))
    ended = run("doctor")
    assert ended.code == 0
    assert "warning store: no document yet\n        -> citegraph ingest" in ended.out
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "value", "check", "says"),
    [
        ("CITEGRAPH_CHUNK_TOKENS", "many", "settings", "CITEGRAPH_CHUNK_TOKENS"),
        ("CITEGRAPH_BUCKETS", "/nowhere", "buckets", "no bucket declaration"),
        ("CITEGRAPH_API_KEYS", "/nowhere.json", "keys", "docs/api.md"),
        ("CITEGRAPH_DATABASE_URL", "sqlite:////proc/no.sqlite", "store", "database"),
        ("QDRANT_URL", "http://127.0.0.1:9", "index", "cannot be reached"),
        ("CITEGRAPH_MODEL", "some-model", "model", "OPENAI_API_KEY"),
        ("CITEGRAPH_HOME", "/proc/nowhere", "home", "/proc"),
    ],
)
def test_what_is_wrong_is_named_with_its_remedy(
    run: Run, in_sample: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, check: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    found = checks(run, 5)[check]
    assert found["status"] == "failed"
    assert says.casefold() in found["found"].casefold()
    assert found["fix"]


def test_a_served_reranker_that_is_away_is_named(
    run: Run, in_sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEGRAPH_RERANKER", "served")
    monkeypatch.setenv("CITEGRAPH_RERANK_URL", "http://127.0.0.1:9")
    assert checks(run, 5)["reranker"]["found"] == "The reranking endpoint cannot be reached."


def test_missing_tesseract_and_little_disk_are_warnings(
    run: Run, in_sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition, "missing", lambda: recognition.INSTALL)
    monkeypatch.setattr(doctor, "LOW_DISK", 10**12)
    found = checks(run, 0)
    assert (found["ocr"]["status"], found["ocr"]["fix"]) == ("warning", recognition.INSTALL)
    assert found["disk"]["status"] == "warning"


def test_a_configured_model_is_asked_once(run: Run, in_sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint()
    try:
        endpoint.replies = [Http(body=said("ok"))]
        monkeypatch.setenv("CITEGRAPH_MODEL", "some-model")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = checks(run, 0)["model"]
    finally:
        endpoint.close()
    assert found["found"].startswith("answered: some-model in ")
    assert len(endpoint.requests) == 1
