"""Options of a request that no route knows are refused: a mistyped one would else be silently without effect."""

from collections.abc import Iterator
from typing import Any

from fastapi import Request

from server.problems import Refused


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
