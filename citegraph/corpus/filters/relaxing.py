"""What weaker filters would find: which clauses may be given up, and in which order."""

from collections.abc import Mapping
from dataclasses import dataclass

from citegraph.corpus.filters.clause import Clause, Filters, Group, clauses_in
from citegraph.corpus.schema.bucket import Bucket


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A weaker version of some filters: what was given up, what remains, and how many documents match."""

    dropped: tuple[Clause | Group, ...]
    remaining: Filters
    count: int


def weaker_filters(bucket: Bucket, filters: Filters) -> list[tuple[Filters, Filters]]:
    """Return (given up, what remains) in the order of giving up; see `AnnotationStore.relaxations`."""
    order = {item.name: item.relax for item in bucket.fields}
    soft = sorted((item for item in filters if _is_soft(item)), key=lambda item: _importance(item, order))
    drops = [(item,) for item in soft] + [tuple(soft[:length]) for length in range(2, len(soft) + 1)]
    return [(dropped, tuple(item for item in filters if item not in dropped)) for dropped in drops]


def _is_soft(item: Clause | Group) -> bool:
    return all(clause.origin == "inferred" for clause in clauses_in(item))


def _importance(item: Clause | Group, order: Mapping[str, int]) -> int:
    return max((order.get(clause.field, 50) for clause in clauses_in(item)), default=0)
