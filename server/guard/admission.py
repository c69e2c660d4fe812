"""The gate before every route, also those of LangGraph Server: from where, by whom and how much is asked.

It decides before a body is read. Without keys the name that the client calls the server by must be one of this machine,
else a page elsewhere whose name leads here could ask in the owner's place (DNS rebinding), and a page of another site
may not ask at all. With keys every route but the page's files and the signs of life needs one.
"""

import asyncio
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, State
from starlette.types import ASGIApp, Receive, Scope, Send

from citegraph.corpus.records.access import Principal
from citegraph.errors import BadInput
from citegraph.settings import Settings
from server.auth import Credentials, Unauthenticated, process_settings
from server.guard.bodies import is_upload
from server.problems import Refused, problem
from server.running import Place

SIGNS_OF_LIFE = frozenset({"/healthz", "/readyz", "/ok"})
"""Routes that say nothing but that the server stands."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
INSIDE = "/noauth"
"""Root path of the calls that LangGraph Server makes to itself; a request from outside cannot set it."""
ANY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104  # nosec B104


@dataclass(frozen=True)
class Names:
    """The names by which a server without keys may be called, and the other sites whose pages may ask it."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings, listens_on: str | None) -> "Names":
        """Return those of the settings and of the address that the server listens on."""
        given = [*settings.allowed_hosts.split(","), listens_on or ""]
        origins = (item.strip().rstrip("/").casefold() for item in settings.allowed_origins.split(","))
        return cls(frozenset(item.strip().casefold() for item in given) - {""}, frozenset(origins) - {""})

    def know(self, host: str) -> bool:
        """Tell whether the server is called by a name of its own (as in the header Host)."""
        name = name_of(host)
        if not name:
            return False
        if name == "localhost" or name in self.hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        # An address cannot be made to lead elsewhere, as a name can; a server for all addresses has them all.
        return address.is_loopback or bool(self.hosts & ANY_ADDRESS)

    def trust(self, headers: Headers, host: str) -> bool:
        """Tell whether a request comes from a page of this server, of an allowed site, or from no page at all.

        As Go's `http.CrossOriginProtection` does: what the browser says of the site, else the origin against Host.
        """
        origin = (headers.get("origin") or "").strip().casefold()
        if origin and origin in self.origins:
            return True
        site = headers.get("sec-fetch-site")
        if site:
            return site in {"same-origin", "none"}
        return not origin or urlsplit(origin).netloc == host.strip().casefold()


def name_of(host: str) -> str:
    """Return the name in a Host header, without port and brackets; empty when it is none."""
    try:
        return (urlsplit(f"//{host.strip()}").hostname or "").rstrip(".")
    except ValueError:
        return ""


class Gate:
    """ASGI middleware; puts who asks into the request's state as `principal`.

    `state` is the application's, `open_paths` are files that everyone may have: the page, which asks for the key.
    """

    def __init__(self, app: ASGIApp, *, state: State, open_paths: Iterable[str] = ()) -> None:
        self.app = app
        self._state = state
        self._open = SIGNS_OF_LIFE | frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request in, or answer why not."""
        if scope["type"] not in {"http", "websocket"} or str(scope.get("root_path", "")).startswith(INSIDE):
            await self.app(scope, receive, send)
            return
        place: Place | None = None
        try:
            who = await self._admitted(scope)
            if is_upload(scope) and (running := self._running) is not None:
                place = running.take_place()
        except Refused as error:
            await _refuse(error, scope, receive, send)
            return
        state = scope.setdefault("state", {})
        if who is not None:
            state["principal"] = who
        if place is not None:
            state["place"] = place
        try:
            await self.app(scope, receive, send)
        finally:
            if place is not None:
                place.leave()

    @property
    def _running(self) -> Any:
        return getattr(self._state, "running", None)

    async def _admitted(self, scope: Scope) -> Principal | None:
        """Return who asks; None for a route that asks nobody.

        Raises:
            Refused: the request is not let in.
        """
        running = self._running
        settings = running.settings if running else await asyncio.to_thread(process_settings)
        headers = Headers(scope=scope)
        method = scope.get("method", "GET")
        if not settings.auth_required:
            self._check_site(settings, scope, headers, method)
        open_to_all = method in SAFE and scope["path"] in self._open
        # The browser's question whether a page may ask with a key carries none.
        preflight = method == "OPTIONS" and "access-control-request-method" in headers
        if open_to_all or preflight:
            return None
        try:
            who = await asyncio.to_thread(Credentials(settings).principal, dict(headers))
        except Unauthenticated as error:
            raise Refused(401, str(error), {"WWW-Authenticate": "Bearer"}) from error
        except BadInput as error:
            raise Refused(503, str(error)) from error
        if running is not None:
            address = (scope.get("client") or ("",))[0]
            running.limits.count(who.name if settings.auth_required else address)
        return who

    def _check_site(self, settings: Settings, scope: Scope, headers: Headers, method: str) -> None:
        names = Names.of(settings, getattr(self._state, "listens_on", None))
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not names.know(hosts[0]):
            raise Refused(
                403,
                f"This server is not called {' '.join(hosts)[:100]!r}: call it by an address of this machine, or name "
                "it in CITEGRAPH_ALLOWED_HOSTS.",
            )
        # A page elsewhere may lead here by a link, but neither change nor read anything.
        asks = method not in SAFE or scope["type"] == "websocket" or "origin" in headers
        if asks and not names.trust(headers, hosts[0]):
            raise Refused(
                403,
                "The request comes from a page of another site: open the page of this server, or name that site in "
                "CITEGRAPH_ALLOWED_ORIGINS.",
            )


async def _refuse(error: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": error.detail[:120]})
        return
    await problem(error.status, error.detail, error.headers)(scope, receive, send)
