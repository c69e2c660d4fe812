"""Routes for whoever operates the server: is it alive, is it ready, what does it count."""

import asyncio

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from server.problems import RESPONSES, Refused
from server.running import Server, Who

router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the process answers."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: RESPONSES[503]})
async def readyz(server: Server) -> dict[str, str]:
    """Tell that the stores answer: 503 while they do not, or while the server shuts down."""
    if server.limits.closing:
        raise Refused(503, "The server is shutting down.")
    whole = await asyncio.to_thread(server.services.open)
    await asyncio.to_thread(whole.documents.count)
    await whole.index.count(next(iter(whole.buckets)))
    return {"status": "ready"}


beside = APIRouter(tags=["operation"], prefix="/citegraph")
"""Inside LangGraph Server, whose own /metrics is not hidden."""


@beside.get("/metrics", responses={401: RESPONSES[401]})
@router.get("/metrics", responses={401: RESPONSES[401]})
async def metrics(server: Server, who: Who) -> Response:
    """Show the counts of this process for Prometheus."""
    return Response(server.metrics.text(), media_type=CONTENT_TYPE_LATEST)
