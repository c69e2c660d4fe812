"""Questions with gold filters over outlets and days (nl2filter): exact match of what the rules plan, misses by cause."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Clause, Filters, clauses_in, each_value, typed_filters
from citegraph.corpus.linking.linker import ValueLinker
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput
from citegraph.language.terms import fold
from citegraph.question.clauses import read_question

QUESTIONS = "queries_with_filters.jsonl"
OUTLETS = "allowed_sources.json"
TODAY = date(2024, 1, 1)
"""The day on which the questions are asked: all their reports are from 2023."""

NEWS = Bucket(
    name="news",
    description="News reports with their outlet and day of publication.",
    nouns=("report", "article", "story", "news article"),
    date_order="MDY",
    main_date="published_at",
    title_fields=("source",),
    entity_fields=("source",),
    fields=(
        Field(
            name="source",
            type="keyword",
            kind="organization",
            description="Outlet that published the report.",
            words=("outlet", "source", "publisher"),
        ),
        Field(
            name="published_at",
            type="date",
            description="Day of publication.",
            words=("published", "publication date"),
        ),
    ),
)
"""The two fields of the set as a bucket; it exists for this evaluation only."""

Values = dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Planned:
    """One question with its gold values and the planned ones, by field (days as ISO dates); other clauses by name."""

    id: str
    question: str
    gold: Values
    found: Values
    other: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Return whether the filter is the gold one: the same values of the same fields and nothing else."""
        return self.gold == self.found and not self.other


def is_filter_set(folder: Path) -> bool:
    """Return whether a folder holds questions with gold filters and the list of outlets."""
    return (folder / QUESTIONS).is_file() and (folder / OUTLETS).is_file()


def score_filter_set(folder: Path, *, limit: int | None = None) -> dict[str, Any]:
    """Return the share of exact filters over the verified rows, the same per field, and the misses by cause."""
    planned = list(plan_filters(folder, limit=limit))
    causes = Counter(cause for item in planned for cause in miss_causes(item))
    rows = len(planned) or 1
    return {
        "rows": len(planned),
        "exact": round(sum(item.exact for item in planned) / rows, 4),
        **{
            field.name: round(
                sum(item.gold.get(field.name) == item.found.get(field.name) for item in planned) / rows, 4
            )
            for field in NEWS.fields
        },
        "misses": dict(causes.most_common()),
    }


def plan_filters(folder: Path, *, limit: int | None = None) -> Iterator[Planned]:
    """Yield each verified question with its gold filter and the one that the rules plan.

    Raises:
        BadInput: a row is broken (file and line are named).
    """
    with tempfile.TemporaryDirectory(prefix="citegraph-filters-") as home:
        store = AnnotationStore(f"sqlite:///{Path(home) / 'news.sqlite'}", {NEWS.name: NEWS})
        outlets = json.loads((folder / OUTLETS).read_text(encoding="utf-8"))
        store.put(NEWS.name, ((f"outlet-{n}", {"source": name}) for n, name in enumerate(outlets)))
        linker = ValueLinker(store)
        for row in verified(folder / QUESTIONS, limit):
            reading = read_question(NEWS, linker, row["question"], TODAY)
            found, other = values_of(typed_filters(reading["filters"]))
            yield Planned(row["qid"], row["question"], gold_values(row["rule_filter"]), found, other)
        store.engine.dispose()


def verified(path: Path, limit: int | None) -> Iterator[Mapping[str, Any]]:
    """Yield the rows whose gold filter was verified, at most `limit`."""
    with path.open(encoding="utf-8") as lines:
        taken = 0
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                good = row["check"] == "verified" and bool(row["question"]) and bool(row["rule_filter"])
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(f"{path.name}:{number}: not a question with a filter ({error})") from error
            if good and (limit is None or taken < limit):
                taken += 1
                yield row


def gold_values(written: Mapping[str, Mapping[str, Iterable[str]]]) -> Values:
    """Return a gold filter's values by field: outlets folded, days as ISO dates."""
    gold: Values = {}
    for name, condition in written.items():
        clause = Clause(field=name, operator="in", value=list(condition["$in"]))
        gold |= values_of(check_filters(NEWS, [clause], today=TODAY).filters)[0]
    return gold


def values_of(filters: Filters) -> tuple[Values, tuple[str, ...]]:
    """Return the values that equality asks for, by field, and every other clause in words.

    Two clauses that both must hold ask for the values of both, which no report can have: they count as other.
    """
    found: Values = {}
    other = []
    for item in filters:
        if isinstance(item, Clause) and item.operator in ("=", "in") and item.field not in found:
            found[item.field] = frozenset(fold(str(value)) for value in each_value(item.value))
        elif isinstance(item, Clause):
            other.append(f"{item.field} {item.operator}")
        else:
            other.append(f"{next(clauses_in(item)).field} {item.mode} of")
    return found, tuple(other)


def miss_causes(item: Planned) -> list[str]:
    """Return why a planned filter is not the gold one."""
    causes = [f"also {clause}" for clause in item.other]
    for field in NEWS.fields:
        gold, found = item.gold.get(field.name, frozenset()), item.found.get(field.name, frozenset())
        if gold - found:
            causes.append(f"{field.name}: value not found")
        if found - gold:
            causes.append(f"{field.name}: value too many")
    return causes
