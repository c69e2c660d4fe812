"""Filters as a plan keeps them: clauses and groups of clauses, plain data."""

from collections.abc import Iterator, Sequence

from graph.state import Json


def flat(filters: Sequence[Json]) -> Iterator[Json]:
    """Yield the clauses of stored filters, those inside groups too."""
    for item in filters:
        yield from item.get("clauses", [item])


def inferred(item: Json) -> bool:
    """Tell whether a stored clause or group was inferred; others are fixed by the caller or by access control."""
    return all(clause.get("origin", "inferred") == "inferred" for clause in flat([item]))


def fields_of(item: Json) -> set[str]:
    """Return the fields of a stored clause or group."""
    return {clause["field"] for clause in flat([item])}
