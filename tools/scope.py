"""What a run allows its tool calls: the buckets that may be searched, and the hard filters that every call carries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from citegraph.corpus.filters.clause import Filters
from citegraph.corpus.schema.bucket import bucket_named


@dataclass(frozen=True)
class Scope:
    """`filters` holds each allowed bucket with its checked hard filters; `today` is what dates refer to.

    `without` names the fields of which the caller wants no filter but its own.
    """

    filters: Mapping[str, Filters]
    today: date
    without: frozenset[str] = frozenset()

    def hard(self, bucket: str) -> Filters:
        """Return the filters that every call on a bucket carries.

        Raises:
            BadInput: the bucket is not one of those that may be searched.
        """
        return bucket_named(self.filters, bucket)


def hard_filters(scope: Scope | None, bucket: str) -> Filters:
    """Return the hard filters of a bucket; none without a scope."""
    return scope.hard(bucket) if scope else ()


def day_of(scope: Scope | None) -> date:
    """Return the day that relative dates refer to."""
    return scope.today if scope else date.today()
