"""Prometheus metrics of the API: requests by route and status, seconds, and what is going on."""

import time
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server import logs
from server.run_metrics import RunMetrics


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
