"""Filters as a plan keeps them: clauses and groups of clauses, plain data."""

from collections.abc import Iterator, Sequence

from citegraph.run.state import Json


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


def printed(clause: Json) -> str:
    """Return a clause as people read it."""
    if "clauses" in clause:
        return f" {'or' if clause['mode'] == 'any' else 'and'} ".join(
            printed(item) for item in clause["clauses"]
        )
    value = clause.get("value")
    if isinstance(value, dict):
        value = " ".join(str(item) for item in value.values() if item)
    if isinstance(value, list):
        joined = ", ".join(
            str(item) if not isinstance(item, dict) else " ".join(map(str, item.values()))
            for item in value[:5]
        )
        value = joined + (f" and {len(value) - 5} more" if len(value) > 5 else "")
    name = clause["field"].replace("_", " ")
    return f"{name} {clause['operator']}" + ("" if value is None else f" {value}")
