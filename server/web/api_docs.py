"""`/docs` and `/redoc` from files of this machine, and the API's description with its keys."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, HTMLResponse, Response

from server.page_files import guarded
from server.problems import Refused

router = APIRouter(include_in_schema=False)
FILES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "redoc.standalone.js": "text/javascript",
}
"""Of `fastapi-offline`, which packs Swagger UI and ReDoc as they are released."""
START = """window.ui = SwaggerUIBundle({
  url: "openapi.json", dom_id: "#ui", deepLinking: true, persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis], layout: "BaseLayout", validatorUrl: null
});
"""
REDOC = "redoc.standalone.js"
ELSEWHERE = b"https://cdn.redoc.ly/redoc/logo-mini.svg"
"""The logo that ReDoc shows from a site of its maker's."""
EMPTY = b"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"
# Both tools set styles on elements; ReDoc searches in a worker of its own making.
HEADERS = guarded(
    "script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; worker-src blob:; "
    "child-src blob:"
)
PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<link rel="icon" href="icon.svg"><title>Citegraph API</title>{body}</html>'
)


@router.get("/docs", response_class=HTMLResponse)
async def docs() -> HTMLResponse:
    """Show the API, to be tried out."""
    body = (
        '<link rel="stylesheet" href="docs/swagger-ui.css"><div id="ui"></div>'
        '<script src="docs/swagger-ui-bundle.js"></script><script src="docs/start.js"></script>'
    )
    return HTMLResponse(PAGE.format(body=body), headers=HEADERS)


@router.get("/redoc", response_class=HTMLResponse)
async def redoc() -> HTMLResponse:
    """Show the API, to be read."""
    body = '<redoc spec-url="openapi.json"></redoc><script src="docs/redoc.standalone.js"></script>'
    return HTMLResponse(PAGE.format(body=body), headers=HEADERS)


@router.get("/docs/start.js")
async def start() -> Response:
    """Start Swagger UI: the page may hold no script of its own."""
    return Response(START, media_type="text/javascript", headers=HEADERS)


@router.get("/docs/{name}")
async def asset(name: str) -> Response:
    """Send a file of the two tools; what ReDoc shows from elsewhere is an empty picture."""
    spec = find_spec("fastapi_offline")
    if name not in FILES or spec is None or spec.origin is None:
        raise Refused(404, "There is no such file.")
    path = Path(spec.origin).parent / "static" / name
    if name == REDOC:
        script = await asyncio.to_thread(path.read_bytes)
        return Response(
            script.replace(ELSEWHERE, EMPTY),
            media_type=FILES[name],
            headers={"X-Content-Type-Options": "nosniff"},
        )
    return FileResponse(path, media_type=FILES[name], headers={"X-Content-Type-Options": "nosniff"})


def describe(app: FastAPI) -> None:
    """Let the API's description say how a key is shown; without keys none is needed."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            made["components"]["securitySchemes"] = {
                "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or a JWT."},
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            }
            made["security"] = [{"bearer": []}, {"key": []}, {}]
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
