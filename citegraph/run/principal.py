"""Who a run is for: read from what server code put beside the run, never from its settable context."""

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.runnables.config import ensure_config

from citegraph.corpus.records.access import Principal

USER_KEY = "langgraph_auth_user"
"""The key of `config["configurable"]` that LangGraph Server sets itself and refuses from a caller."""


def user_of(principal: Principal) -> dict[str, Any]:
    """Return a principal as the user that LangGraph's `Auth` handlers return and `run_principal` reads."""
    return {
        "identity": principal.name,
        "is_authenticated": True,
        "display_name": principal.name,
        "permissions": ["write"] if principal.may_write else [],
        "buckets": None if principal.buckets is None else sorted(principal.buckets),
        "labels": None if principal.labels is None else sorted(principal.labels),
    }


def run_principal() -> Principal | None:
    """Return whom the run in this context is for; None when nobody was named, or not by this project's code."""
    user = (ensure_config().get("configurable") or {}).get(USER_KEY)
    return None if user is None else principal_of(user)


def principal_of(user: Any) -> Principal | None:
    """Return the principal of an authenticated user; None when it does not say what the user may see."""
    try:
        name, buckets, labels = user["identity"], user["buckets"], user["labels"]
    except (KeyError, TypeError, AttributeError):
        return None
    may_write = "write" in (user.get("permissions") or ()) if isinstance(user, dict) else False
    return Principal(str(name), _names(buckets), _names(labels), may_write)


def _names(given: Iterable[str] | Mapping[str, Any] | None) -> frozenset[str] | None:
    return None if given is None else frozenset(str(name) for name in given)
