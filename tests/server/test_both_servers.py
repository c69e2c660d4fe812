"""Routes that change the corpus, on the server alone and inside `langgraph dev`, which refuses to block its loop."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.server.langgraph_server import langgraph_dev
from tests.server.test_app import events_of
from tests.server.test_kill import server

pytestmark = [pytest.mark.server, pytest.mark.slow]
NOTE = "Loan agreement LN-5521 of Pelikan Fonds. The interest rate of LN-5521 is 4.75 percent a year."


@contextmanager
def alone(home: Path, log: Path) -> Iterator[str]:
    with server(home, log) as (_, url):
        yield url


@contextmanager
def inside(home: Path, log: Path) -> Iterator[str]:
    with langgraph_dev(home, log, {}) as url:
        yield url


@pytest.mark.parametrize("started", [alone, inside])
def test_uploads_corrections_and_removals_are_served(
    started: object, sample_home: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_home, tmp_path / "home")
    log = tmp_path / "log"
    with started(tmp_path / "home", log) as url, httpx.Client(base_url=url, timeout=120) as api:  # type: ignore[operator]
        form = {"bucket": "contracts"}
        answer = api.post("/documents", data=form, files={"file": ("loan.txt", NOTE.encode())})
        assert answer.status_code == 201, answer.text + log.read_text("utf-8")[-3000:]
        (doc_id,) = answer.json()["documents"]
        row = b'{"doc_id": "loan-2", "text": "Loan agreement LN-5522 of Pelikan Fonds."}\n'
        told = api.post(
            "/documents",
            data=form,
            files={"file": ("rows.jsonl", row)},
            headers={"accept": "text/event-stream"},
        )
        assert events_of(told)[-1][1]["ingested"]["documents"] == ["loan-2"]
        change = {"field": "title", "action": "set", "value": "Loan of Pelikan"}
        corrected = api.post(f"/documents/{doc_id}/corrections", json=change)
        assert corrected.status_code == 200, corrected.text
        listed = api.get(f"/documents/{doc_id}/passages").json()["passages"]
        out = {"passage": listed[0]["id"], "left_out": True}
        assert api.post(f"/documents/{doc_id}/passages", json=out).status_code == 204
        for path in ("values", "versions", "text", "file", "passages"):
            assert api.get(f"/documents/{doc_id}/{path}").status_code == 200, path
        assert api.get("/documents", params={"bucket": "contracts"}).status_code == 200
        assert api.get("/review", params={"bucket": "contracts"}).status_code == 200
        assert api.get("/export.csv", params={"bucket": "contracts"}).status_code == 200
        assert api.get("/examples").status_code == 200
        for removed in (doc_id, "loan-2"):
            assert api.delete(f"/documents/{removed}").status_code == 204
        assert api.get(f"/documents/{doc_id}").status_code == 404
    assert "Blocking call" not in log.read_text("utf-8")
