"""Errors over HTTP as problem details (RFC 9457): what went wrong and what to do, never a trace or a secret."""

import logging
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from citegraph.errors import BadInput, CitegraphError, TimedOut, Unavailable
from graph.session import NothingPending, UnknownThread, WrongInterrupt
from server.auth import Unauthenticated
from server.line_safe import JsonText

MEDIA_TYPE = "application/problem+json"
log = logging.getLogger("citegraph.server")


class Problem(BaseModel):
    """The body of every error; `errors` lists the fields of a request that do not fit."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    errors: list[dict[str, Any]] | None = None


class Refused(Exception):
    """A request that is answered with a problem: its status, one sentence and headers."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


def problem(
    status: int,
    detail: str,
    headers: dict[str, str] | None = None,
    errors: list[dict[str, Any]] | None = None,
) -> JSONResponse:
    """Return the response of an error."""
    shown = detail.encode("utf-8", "replace").decode()
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=shown, errors=errors)
    return JsonText(body.model_dump(exclude_none=True), status, headers, MEDIA_TYPE)


STATUS: list[tuple[type[Exception], int]] = [
    (UnknownThread, 404),
    (NothingPending, 409),
    (WrongInterrupt, 409),
    (BadInput, 422),
    (TimedOut, 504),
    (Unavailable, 503),
    (CitegraphError, 502),
]


def status_of(error: Exception) -> int:
    """Return the HTTP status of one of this project's errors."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def add_handlers(app: FastAPI, *, ours_only: bool = False) -> None:
    """Turn every error of `app` into a problem; `ours_only` leaves those of other routes beside ours alone."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> JSONResponse:
        return problem(error.status, error.detail, error.headers)

    @app.exception_handler(Unauthenticated)
    async def unauthenticated(request: Request, error: Unauthenticated) -> JSONResponse:
        return problem(401, str(error), {"WWW-Authenticate": "Bearer"})

    @app.exception_handler(CitegraphError)
    async def ours(request: Request, error: CitegraphError) -> JSONResponse:
        if status_of(error) >= 500 and request.method != "GET":
            request.app.state.running.left.set()  # it may have been half written
        return problem(status_of(error), str(error)[:1000])

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        errors = [{"where": _where(item["loc"]), "message": item["msg"]} for item in error.errors()[:20]]
        first = f"{errors[0]['where']}: {errors[0]['message']}" if errors else "The request does not fit."
        return problem(422, first, errors=errors)

    if ours_only:
        return

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        named = getattr(request.state, "request_id", "")
        log.exception("unexpected error", extra={"path": request.url.path, "request_id": named})
        return problem(500, f"unexpected {type(error).__name__}")


def _where(location: tuple[Any, ...]) -> str:
    return ".".join(str(part)[:100] for part in location).encode("utf-8", "replace").decode()


async def known_options(request: Request) -> None:
    """Refuse, with 422, an option in the address that the route does not have."""
    route: Any = request.scope.get("route")
    dependant = getattr(route, "dependant", None)
    if dependant is None or not request.query_params:
        return
    known = set(_names(dependant))
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        there = f"there are {', '.join(sorted(known))}" if known else "it takes none"
        raise Refused(422, f"{unknown[0][:100]!r} is no option of this route; {there}.")


def _names(dependant: Any) -> Iterator[str]:
    """Yield the options of a route and of what it depends on."""
    yield from (item.alias for item in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _names(inner)


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {}}}
    for status in (400, 401, 403, 404, 409, 413, 422, 429, 503, 504)
}
"""What every route may answer with, for the OpenAPI document."""
