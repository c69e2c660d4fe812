"""The HTTP application, run alone (`citegraph serve`) or mounted in LangGraph Server; nothing opens at import."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from citegraph.run.services import Services
from server.chat_fronts import cited, completions
from server.chat_fronts.mcp_endpoint import McpEndpoint, served_mcp
from server.guard.admission import Gate
from server.guard.bodies import BoundedBodies
from server.guard.known_keys import KnownKeys
from server.line_safe import JsonText
from server.metrics import Counted, Metrics
from server.page_files import PageFiles
from server.problems import RESPONSES, Refused, add_handlers, known_options
from server.routes import (
    about,
    asking,
    browsing,
    health,
    ingesting,
    passage_routes,
    seen_tables,
    threads_routes,
    value_routes,
)
from server.running import opened, opened_inside
from server.web import api_docs
from server.web.replies import Conditional, OtherSites, RequestIds

PAGE = Path(__file__).parent / "page"
"""Folder of the web page, served at / when it is there."""

ELSEWHERE = (
    "LangGraph Server keeps the threads here: use POST /threads and POST /threads/{thread_id}/runs/stream."
)


def create_app(services: Services | None = None, *, inside: bool = False) -> FastAPI:
    """Return the application.

    Args:
        services: default: what the settings name, opened when the server starts.
        inside: mounted in LangGraph Server, whose own routes /threads, /metrics and runs are not to be hidden.
    """
    app = FastAPI(
        title="Citegraph",
        version=version("citegraph"),
        description="Questions over document collections, answered with citations that are checked.",
        lifespan=opened_inside if inside else opened_alone,
        default_response_class=JsonText,
        dependencies=[Depends(known_options)],
        docs_url=None,
        redoc_url=None,
    )
    app.state.services, app.state.metrics = services, Metrics()
    routers = [] if inside else [asking.router, threads_routes.router, completions.router]
    # Those of one document's parts stand before the route that takes the rest of the address for its id.
    more = [cited.router, about.router, seen_tables.router, value_routes.router, passage_routes.router]
    for router in (*routers, *more, browsing.router, ingesting.router):
        app.include_router(router)
    if inside:
        app.include_router(elsewhere)
        app.include_router(health.beside)
    else:
        app.include_router(health.router)
        app.include_router(api_docs.router)
        api_docs.describe(app)
        app.router.routes.append(Route("/mcp", McpEndpoint(), include_in_schema=False))
        if PAGE.is_dir():
            app.mount("/", PageFiles(directory=PAGE, html=True), name="page")
    add_handlers(app, ours_only=inside)
    if inside:
        app.add_middleware(KnownKeys)
    app.add_middleware(Conditional)
    app.add_middleware(GZipMiddleware, minimum_size=1_000)
    app.add_middleware(BoundedBodies, uploads_only=inside)
    app.add_middleware(Gate, state=app.state, open_paths=() if inside else _page_paths())
    app.add_middleware(Counted, metrics=app.state.metrics)
    app.add_middleware(RequestIds)
    if not inside:
        app.add_middleware(OtherSites)
    return app


def _page_paths() -> list[str]:
    """Return the addresses of the page's files, which tell nothing of the documents."""
    return ["/", *(f"/{path.relative_to(PAGE).as_posix()}" for path in PAGE.rglob("*") if path.is_file())]


@asynccontextmanager
async def opened_alone(app: FastAPI) -> AsyncIterator[None]:
    """Open what a server of its own needs, MCP too."""
    async with opened(app), served_mcp(app):
        yield


elsewhere = APIRouter()


@elsewhere.post("/ask", responses={404: RESPONSES[404]})
async def ask_elsewhere() -> Any:
    """Say where questions are asked inside LangGraph Server."""
    raise Refused(404, ELSEWHERE)


app = create_app()
mounted = create_app(inside=True)
