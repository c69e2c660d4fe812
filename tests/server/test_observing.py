"""What an operator sees: metrics of steps and runs, log lines with ids and no text, and a dashboard that fits them."""

import io
import json
import logging
import logging.config
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from citegraph.run.events import StepSeen
from citegraph.run.services import Services
from citegraph.settings import Settings
from server.logs import configuration
from server.metrics import Metrics, RunMetrics
from tests.graph.test_langsmith import texts_of
from tests.server.conftest import OpenApi
from tests.server.test_app import AMBIGUOUS, LOOKUP

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana-dashboard.json"


def samples(text: str) -> dict[tuple[str, str], float]:
    """Return values by sample name and its labels' values."""
    return {
        (sample.name, " ".join(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_metrics_count_what_runs_did(open_api: OpenApi) -> None:
    async with open_api() as api:
        await api.post("/ask", json={"question": LOOKUP})
        await api.post("/ask", json={"question": LOOKUP})
        await api.post("/ask", json={"question": AMBIGUOUS})
        found = samples((await api.get("/metrics")).text)
    assert found["citegraph_runs_total", "answered"] == 2
    assert found["citegraph_runs_total", "needs_clarification"] == 1
    assert found["citegraph_clarifications_total", ""] == 1
    assert found["citegraph_step_seconds_count", "compose"] == 2
    assert found["citegraph_step_seconds_count", "gate"] == 3
    assert found["citegraph_run_seconds_count", ""] == 2
    assert found["citegraph_cache_hits_total", "search"] >= 1
    searches = sum(value for (name, _), value in found.items() if name == "citegraph_search_candidates_count")
    assert searches >= 2
    assert found["citegraph_hit_score_count", "search"] > 0


def test_tokens_costs_and_fallbacks_are_counted() -> None:
    metrics = Metrics()
    usage = {"llm_calls": 2, "input_tokens": 70, "output_tokens": 7, "cost": 0.5, "fallbacks": 1}
    metrics.runs.saw(StepSeen("compose", usage=usage, notes=("conflict", "out of time")))
    metrics.runs.saw(StepSeen("run", status="failed", run_seconds=2.0))
    found = {key: value for key, value in samples(metrics.text().decode()).items() if value and key[1]}
    kept = {key: value for key, value in found.items() if key[0].endswith("_total")}
    assert kept == {
        ("citegraph_tokens_total", "input compose"): 70,
        ("citegraph_tokens_total", "output compose"): 7,
        ("citegraph_model_calls_total", "compose"): 2,
        ("citegraph_cost_total", "compose"): 0.5,
        ("citegraph_fallbacks_total", "out of time compose"): 1,
        ("citegraph_runs_total", "failed"): 1,
    }
    assert not any(name == "citegraph_step_seconds_count" for name, _ in found), (
        "a twin's time is not the step's"
    )


@pytest.fixture
def logged(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Log as `citegraph serve` does, in the form that the test names, into a text."""
    out = io.StringIO()
    chosen = configuration(Settings(log_format=request.param))
    chosen["handlers"]["stderr"]["stream"] = out
    # The root's handlers are pytest's own: only our logger is pointed elsewhere.
    chosen["loggers"] = {"citegraph": {"level": "INFO", "handlers": ["stderr"], "propagate": False}}
    del chosen["root"]
    logging.config.dictConfig(chosen)
    yield out
    logger = logging.getLogger("citegraph")
    logger.handlers, logger.propagate, logger.level = [], True, logging.NOTSET


@pytest.mark.parametrize("logged", ["json"], indirect=True)
async def test_log_lines_are_json_with_ids_and_no_text(
    logged: io.StringIO, open_api: OpenApi, services: Services
) -> None:
    async with open_api() as api:
        answer = (await api.post("/ask", json={"question": LOOKUP})).json()
        await api.get(
            "/documents", params={"bucket": "invoices", "filter": "vendor_name=Cobaltine Cloud Inc."}
        )
    said = logged.getvalue()
    lines = [json.loads(line) for line in said.splitlines()]
    assert {line["message"] for line in lines} == {"step", "run", "request"}
    assert all({"time", "level", "logger"} <= set(line) and "fields" not in line for line in lines)
    (run,) = [line for line in lines if line["message"] == "run"]
    assert (run["thread_id"], run["status"], len(run["run_id"])) == (answer["thread_id"], "answered", 32)
    steps = [line for line in lines if line["message"] == "step"]
    assert {line["run_id"] for line in steps} == {run["run_id"]}
    assert [line["step"] for line in steps][-2:] == ["compose", "verify_citations"]
    requests = [
        (line["method"], line["route"], line["status"]) for line in lines if line["message"] == "request"
    ]
    assert requests == [("POST", "/ask", 200), ("GET", "/documents", 200)]
    for secret in (LOOKUP, answer["text"], "Cobaltine", "45 V"):
        assert secret not in said
    assert [line for line in texts_of(services.open()) if line in said] == []


@pytest.mark.parametrize("logged", ["text"], indirect=True)
async def test_log_lines_for_people_show_the_same(logged: io.StringIO, open_api: OpenApi) -> None:
    async with open_api() as api:
        await api.get("/healthz")
    assert re.search(
        r"INFO citegraph request method=GET route=/healthz status=200 seconds=\d+\.\d+\n$", logged.getvalue()
    )


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    registry = Metrics().registry
    known = {
        f"{family.name}{end}"
        for family in registry.collect()
        for end in {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"], "gauge": [""]}[
            family.type
        ]
    }
    text = DASHBOARD.read_text("utf-8")
    asked = set(re.findall(r"citegraph_[a-z_]+", text))
    assert asked <= known
    families = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in asked}
    assert families == {family.name for family in registry.collect()}, "each metric has its panel"
    panels = json.loads(text)["panels"]
    places = [tuple(panel["gridPos"].values()) for panel in panels]
    assert len(set(places)) == len(panels)
    assert all(target["expr"] for panel in panels for target in panel["targets"])


def test_ranked_by_is_a_label() -> None:
    metrics = Metrics()
    assert isinstance(metrics.runs, RunMetrics)
    metrics.runs.ranked_by = "served"
    metrics.runs.saw(StepSeen("search", tool="search_text", candidates=1, scores=(0.4,)))
    assert samples(metrics.text().decode())["citegraph_hit_score_count", "served"] == 1
