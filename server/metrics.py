"""Prometheus metrics: requests of the API, and runs with their steps, told by the one observing seam (`citegraph.run.events`)."""

import time
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citegraph.run.events import StepSeen
from server import logs

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
HITS = (0, 1, 2, 5, 10, 20, 50, 100, 300)
SCORES = (*(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2), *(n / 10 for n in range(3, 11)), 2.0, 5.0, 10.0)
"""Fused ranks give 0.01 to 0.12 (an identifier adds 1), rerankers and similarities 0 to 1 or to 10."""
MISHAPS = ("fallback", "out of time", "failed")
"""Kinds of the notes that a failed step leaves."""


class RunMetrics:
    """An `Observer` that counts into a registry; `ranked_by` says what made the scores of hits."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.ranked_by = "search"

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"citegraph_{name}", text, labels, registry=registry)

        def histogram(name: str, text: str, *labels: str, buckets: tuple[float, ...] = SECONDS) -> Histogram:
            return Histogram(f"citegraph_{name}", text, labels, registry=registry, buckets=buckets)

        self.seconds = histogram("step_seconds", "Seconds of a step.", "step")
        self.tokens = counter("tokens", "Tokens of model calls.", "step", "direction")
        self.calls = counter("model_calls", "Model calls.", "step")
        self.cost = counter("cost", "Money for model calls, by CITEGRAPH_PRICES.", "step")
        self.candidates = histogram("search_candidates", "Hits of a search.", "tool", buckets=HITS)
        self.scores = histogram(
            "hit_score", "Scores of hits, after reranking where there is one.", "ranked_by", buckets=SCORES
        )
        self.fallbacks = counter("fallbacks", "Steps that failed, by how.", "step", "kind")
        self.clarifications = counter("clarifications", "Runs that asked back.")
        self.cache_hits = counter("cache_hits", "Searches and rankings answered from a cache.", "step")
        self.runs = counter("runs", "Runs that ended or paused.", "status")
        self.run_seconds = histogram("run_seconds", "Seconds of a run.")

    def saw(self, seen: StepSeen) -> None:
        """See `Observer.saw`."""
        step, usage = seen.step, seen.usage
        if seen.seconds is not None:
            self.seconds.labels(step).observe(seen.seconds)
        for direction in ("input", "output"):
            if count := usage.get(f"{direction}_tokens"):
                self.tokens.labels(step, direction).inc(count)
        for metric, key in ((self.calls, "llm_calls"), (self.cost, "cost"), (self.cache_hits, "cache_hits")):
            if count := usage.get(key):
                metric.labels(step).inc(count)
        if seen.candidates is not None:
            self.candidates.labels(seen.tool).observe(seen.candidates)
        for score in seen.scores:
            self.scores.labels(self.ranked_by).observe(score)
        if usage.get("fallbacks"):
            kind = next((kind for kind in seen.notes if kind in MISHAPS), "other")
            self.fallbacks.labels(step, kind).inc(usage["fallbacks"])
        if seen.status:
            self.runs.labels(seen.status).inc()
            self.clarifications.inc(seen.status == "needs_clarification")
        if seen.run_seconds is not None:
            self.run_seconds.observe(seen.run_seconds)


@dataclass
class Metrics:
    """One registry an application, so that several in one process do not share their counts."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        names = ["method", "route"]
        self.requests = Counter(
            "citegraph_requests", "Requests answered.", [*names, "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "citegraph_request_seconds",
            "Seconds until a request was answered.",
            names,
            registry=self.registry,
        )
        self.going_on = Gauge(
            "citegraph_requests_going_on", "Requests that are being answered.", registry=self.registry
        )

        self.runs = RunMetrics(self.registry)

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text form."""
        return generate_latest(self.registry)


class Counted:
    """ASGI middleware that counts requests; by the route's pattern, so that ids make no series of their own."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.metrics.going_on.inc()
        try:
            await self.app(scope, receive, noted)
        finally:
            self.metrics.going_on.dec()
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.requests.labels(scope["method"], route, str(status)).inc()
            seconds = time.perf_counter() - began
            self.metrics.seconds.labels(scope["method"], route).observe(seconds)
            logs.write(
                "request", method=scope["method"], route=route, status=status, seconds=round(seconds, 4)
            )
