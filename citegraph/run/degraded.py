"""What a run does while the metadata store does not answer: search unfiltered, and refuse what needs the store."""

from dataclasses import replace
from datetime import date
from typing import Any, NoReturn, cast

from citegraph.errors import Unavailable
from citegraph.run.pieces import Plan
from citegraph.run.services import Corpus

SAID = (
    "The metadata store does not answer: nothing was filtered or looked up by field, the answer rests on searched "
    "passages alone."
)


class NoAnnotations:
    """Stands in for the annotations: it knows no values, and raises where an empty answer would be a wrong one."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def get(self, doc_id: str, bucket: str | None = None) -> None:
        """Return None: nothing is known of a document."""

    def values_of(self, bucket: str, doc_ids: Any) -> dict[str, Any]:
        """Return nothing: nothing is known of the documents."""
        return {}

    def sources_of(self, bucket: str, doc_ids: Any) -> dict[str, Any]:
        """Return nothing: nothing is known of where values come from."""
        return {}

    def relaxations(self, bucket: str, filters: Any) -> list[Any]:
        """Return no weaker filters: there are none applied."""
        return []

    def telling_facets(self, bucket: str, filters: Any) -> dict[str, Any]:
        """Return no facets."""
        return {}

    def __getattr__(self, name: str) -> Any:
        """Return a method that refuses: counts, lists and sums cannot be made up."""

        def refuse(*arguments: Any, **named: Any) -> NoReturn:
            raise Unavailable(self.reason)

        return refuse


class NoLinker:
    """Stands in for the linker: no name of a question is known."""

    def currencies(self, bucket: str) -> frozenset[str]:
        """Return none."""
        return frozenset()

    def coverage(self, bucket: str) -> dict[str, float]:
        """Return none."""
        return {}

    def dates(self, bucket: str) -> dict[str, tuple[date, date]]:
        """Return none."""
        return {}

    def find_mentions(self, bucket: str, text: str) -> list[Any]:
        """Return no mentions."""
        return []

    def begun(self, bucket: str, code: str, *, whole: bool) -> str | None:
        """Return no field."""
        return None

    def mentions_in(self, buckets: Any, text: str) -> dict[str, list[Any]]:
        """Return no mentions in any bucket."""
        return {name: [] for name in buckets}

    def link(self, *arguments: Any, **named: Any) -> list[Any]:
        """Return no links."""
        return []


def without_metadata(corpus: Corpus, reason: str = "the metadata store does not answer") -> Corpus:
    """Return the corpus as a run may use it while its metadata store is down."""
    annotations, linker = NoAnnotations(reason), NoLinker()
    return replace(
        corpus, annotations=cast(Any, annotations), linker=cast(Any, linker), rows=None, tables=None
    )


def has_metadata(corpus: Corpus) -> bool:
    """Tell whether the corpus looks values up; False for one of `without_metadata`."""
    return not isinstance(corpus.annotations, NoAnnotations)


def corpus_of(corpus: Corpus, plan: Plan) -> Corpus:
    """Return the corpus that a plan may use: without metadata when it was planned without."""
    return without_metadata(corpus) if plan.get("metadata") is False and has_metadata(corpus) else corpus
