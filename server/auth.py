"""Who asks: API keys and JWTs to principals, for the FastAPI routes and for LangGraph Server's `Auth` alike."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import jwt
from langgraph_sdk import Auth
from pydantic import BaseModel, ValidationError

from citegraph.corpus.records.access import OWNER, Principal
from citegraph.errors import BadInput
from citegraph.run.context import USER_KEY, principal_of, user_of
from citegraph.settings import Settings, load_settings

SHORTEST_SECRET = 32
"""Bytes of an HS256 secret at least (RFC 7518, 3.2)."""

ODD = (TypeError, ValueError, OverflowError, RecursionError)
"""What PyJWT lets through of a token of another shape: a key of another kind, a number without an end, a deep claim."""
SKEW = 30
"""Seconds by which the clock of whoever signs a token may differ from this machine's."""

Names = list[str] | str
"""Names of buckets or labels, or "*" for all of them."""


class Unauthenticated(Exception):
    """No key or token, or one that is not known; the message says which, never the key."""


class ApiKey(BaseModel, extra="forbid", frozen=True):
    """An entry of the key file: the SHA-256 of a random key, and what its holder may see and do."""

    name: str
    sha256: str
    buckets: Names = []
    labels: Names = []
    write: bool = False

    @property
    def principal(self) -> Principal:
        """Return the holder."""
        return Principal(self.name, _seen(self.buckets), _seen(self.labels), self.write)


@dataclass(frozen=True)
class Credentials:
    """What the settings accept as proof; read anew when a file has changed, so that a key can be taken back."""

    settings: Settings

    def principal(self, headers: Mapping[str, str]) -> Principal:
        """Return who sends these headers (names in lower case); blocking.

        Raises:
            Unauthenticated: nothing that is accepted was shown.
            BadInput: the settings or the files that they name cannot be used.
        """
        if not self.settings.auth_required:
            return OWNER
        scheme, _, token = headers.get("authorization", "").partition(" ")
        shown = token.strip() if scheme.casefold() == "bearer" else headers.get("x-api-key", "").strip()
        if not shown:
            raise Unauthenticated("Show an API key or a token: Authorization: Bearer ... or X-API-Key: ...")
        if shown.count(".") == 2 and (self.settings.jwt_secret or self.settings.jwt_keys):
            return self._bearer(shown)
        known = _read_keys(self.settings.api_keys) if self.settings.api_keys else {}
        held = known.get(hashlib.sha256(shown.encode()).hexdigest())
        if held is None:
            raise Unauthenticated("The API key is not known.")
        return held.principal

    def named(self, name: str) -> Principal | None:
        """Return the principal of the keys of a name as the file has them now; None without one, and where they differ."""
        known = _read_keys(self.settings.api_keys) if self.settings.api_keys else {}
        found = {key.principal for key in known.values() if key.name == name}
        return found.pop() if len(found) == 1 else None

    def _bearer(self, token: str) -> Principal:
        """Return who a JWT names in `sub`; its claims `buckets`, `labels` and `write` say what they may."""
        settings = self.settings
        try:
            algorithm = jwt.get_unverified_header(token).get("alg")
            claims = jwt.decode(
                token,
                self._key(token, algorithm),
                algorithms=[str(algorithm)],
                audience=settings.jwt_audience,
                issuer=settings.jwt_issuer,
                leeway=SKEW,
                options={"require": ["exp", "sub"], "verify_aud": settings.jwt_audience is not None},
            )
            return ApiKey.model_validate(
                {"name": claims["sub"], "sha256": "", "write": claims.get("write", False)}
                | {name: claims[name] for name in ("buckets", "labels") if name in claims}
            ).principal
        except jwt.ExpiredSignatureError as error:
            raise Unauthenticated("The token has expired.") from error
        except (jwt.PyJWTError, ValidationError, *ODD) as error:
            raise Unauthenticated("The token is not valid.") from error

    def _key(self, token: str, algorithm: object) -> Any:
        """Return the key for an algorithm that the settings allow; a token never chooses beyond that."""
        if algorithm == "HS256" and self.settings.jwt_secret:
            secret = self.settings.jwt_secret.get_secret_value()
            if len(secret.encode()) < SHORTEST_SECRET:
                raise BadInput(f"CITEGRAPH_JWT_SECRET is shorter than {SHORTEST_SECRET} bytes.")
            return secret
        if algorithm == "RS256" and self.settings.jwt_keys:
            return _public_key(self.settings.jwt_keys, jwt.get_unverified_header(token).get("kid"))
        raise Unauthenticated("The token is signed in a way that is not accepted.")


def _seen(names: Names) -> frozenset[str] | None:
    return None if names == "*" else frozenset([names] if isinstance(names, str) else names)


def _read_keys(path: Path) -> dict[str, ApiKey]:
    try:
        listed = [ApiKey.model_validate(entry) for entry in json.loads(path.read_text("utf-8"))["keys"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            'CITEGRAPH_API_KEYS is no file of the form {"keys": [...]}; see docs/api.md.'
        ) from error
    return {key.sha256.casefold(): key for key in listed}


def _public_key(path: Path, key_id: object) -> Any:
    try:
        keys = jwt.PyJWKSet.from_json(path.read_text("utf-8")).keys
    except (OSError, ValueError, jwt.PyJWTError) as error:
        raise BadInput("CITEGRAPH_JWT_KEYS is no JWKS file.") from error
    found = [key for key in keys if key.key_id == key_id] or (
        keys if key_id is None and len(keys) == 1 else []
    )
    if not found:
        raise Unauthenticated("The token is signed by a key that is not known.")
    return found[0].key


auth = Auth()
"""LangGraph Server's authentication and authorization: the same principals, and an owner on everything kept."""

OWNED = "owner"


@auth.authenticate
async def authenticate(headers: dict[Any, Any]) -> Auth.types.MinimalUserDict:
    """Return the principal of a request as LangGraph's user; runs read it with `citegraph.run.context`."""
    given = {_text(name).casefold(): _text(value) for name, value in headers.items()}
    try:
        settings = await asyncio.to_thread(process_settings)
        principal = await asyncio.to_thread(Credentials(settings).principal, given)
    except Unauthenticated as error:
        raise Auth.exceptions.HTTPException(status_code=401, detail=str(error)) from error
    return user_of(principal)  # type: ignore[return-value]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


@auth.on
async def refuse(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Refuse what no rule below allows."""
    return unrestricted(ctx)


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> Any:
    """Stamp a thread or a run with its owner, and show only the owner's.

    Of whoever made a cron job the server keeps the name: its runs have the rights that the key of this name has now.
    """
    if ctx.action == "create_run":
        kwargs = value.get("kwargs") or {}
        if not unrestricted(ctx) and principal_of(ctx.user) is None:
            maker = await asyncio.to_thread(holder, ctx)
            if maker is None:
                return False
            kwargs["config"]["configurable"][USER_KEY] = user_of(maker)
    return owned(ctx, value)


@auth.on.crons
async def own_crons(ctx: Auth.types.AuthContext, value: Any) -> Any:
    """Stamp a cron job with its owner, and show only the owner's; who may only read starts nothing that goes on.

    Nor does a token, which ends, or a key whose name is another one's, too: a job goes on as long as the key of its name.
    """
    if ctx.action in ("create", "update") and not unrestricted(ctx):
        made_by = principal_of(ctx.user)
        if made_by is None or await asyncio.to_thread(holder, ctx) != replace(made_by, may_write=True):
            return False
    return owned(ctx, value)


@auth.on.assistants
async def own_assistants(ctx: Auth.types.AuthContext, value: Any) -> Any:
    """Show the served graphs to everyone, other assistants to their owner alone."""
    rule = owned(ctx, value)
    if rule is None or ctx.action not in ("read", "search"):
        return rule
    return {"$or": [rule, {"created_by": "system"}]}


@auth.on.store
async def own_store(ctx: Auth.types.AuthContext, value: Any) -> Any:
    """Put everything that somebody keeps in the store under their own name."""
    if not unrestricted(ctx):
        key = "namespace" if "namespace" in value else "namespace_prefix"
        value[key] = (ctx.user.identity, *(value.get(key) or ()))
    return True


def holder(ctx: Auth.types.AuthContext) -> Principal | None:
    """Return who has the key of a user's name now, if they may write; a token is no key; blocking."""
    found = Credentials(process_settings()).named(ctx.user.identity)
    return found if found is not None and found.may_write else None


def unrestricted(ctx: Auth.types.AuthContext) -> bool:
    """Tell whether nobody is asked for a key: one owner then has everything."""
    return ctx.user.identity == OWNER.name and not process_settings().auth_required


@lru_cache(maxsize=1)
def process_settings() -> Settings:
    """Return the settings of the served process, read at the first request; the files they name are read anew."""
    return load_settings()


def owned(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str] | None:
    """Return the filter for what the user owns, None for no filter; what is written gets the owner's name."""
    if unrestricted(ctx):
        return None
    owner = {OWNED: ctx.user.identity}
    if ctx.action in ("create", "update", "create_run") and isinstance(value, dict):
        if value.get("metadata") is None:
            value["metadata"] = {}
        # In place: the server goes on with the mapping that it gave, not with one in its stead.
        value["metadata"].update(owner)
        if value["metadata"].get("created_by") == "system":
            del value["metadata"]["created_by"]
    return owner
