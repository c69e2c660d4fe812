"""Filters as a plan keeps them: clauses and groups of clauses, plain data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Unpack, cast

from citegraph.corpus.filters.clause import Clause, Filters, Group, clauses_in, typed_filters
from citegraph.corpus.schema.bucket import Bucket
from citegraph.question.reading import stored
from citegraph.run.context import Context
from citegraph.run.services import Corpus, corpus_of
from citegraph.run.state_types import Plan, Reading, StoredClause, ToolCall


def flat(filters: Sequence[StoredClause]) -> Iterator[StoredClause]:
    """Yield the clauses of stored filters, those inside groups too."""
    for item in filters:
        if "clauses" in item:
            yield from flat(item["clauses"])
        else:
            yield item


def inferred(item: StoredClause) -> bool:
    """Tell whether a stored clause or group was inferred; others are fixed by the caller or by access control."""
    return all(clause.get("origin", "inferred") == "inferred" for clause in flat([item]))


def wanted(filters: Sequence[StoredClause], context: Context) -> list[StoredClause]:
    """Return inferred filters but those of the fields that the caller wants none of."""
    return [item for item in filters if not fields_of(item) & set(context.without)]


def fields_of(item: StoredClause) -> set[str]:
    """Return the fields of a stored clause or group."""
    return {clause["field"] for clause in flat([item])}


def printed(clause: StoredClause, bucket: Bucket | None = None) -> str:
    """Return a clause as people read it; numbers with their field's unit where its bucket is given."""
    if "clauses" in clause:
        parts = [
            f"({printed(item, bucket)})" if "clauses" in item else printed(item, bucket)
            for item in clause["clauses"]
        ]
        return f" {'or' if clause['mode'] == 'any' else 'and'} ".join(parts)
    value = clause.get("value")
    if isinstance(value, dict):
        value = value.get("field", "").replace("_", " ") or " ".join(
            str(item) for item in value.values() if item
        )
    if isinstance(value, list):
        joined = ", ".join(
            str(item) if not isinstance(item, dict) else " ".join(map(str, item.values()))
            for item in value[:5]
        )
        value = joined + (f" and {len(value) - 5} more" if len(value) > 5 else "")
    if isinstance(value, float):
        value = f"{value:g}"
    name = clause["field"].replace("_", " ")
    declared = bucket.field(clause["field"]) if bucket else None
    unit = f" {declared.unit}" if declared and declared.type == "quantity" and declared.unit else ""
    return f"{name} {clause['operator']}" + ("" if value is None else f" {value}{unit}")


def hard_only(filters: Filters) -> Filters:
    """Return the filters that are never lifted: those of the caller and of access control."""
    return tuple(item for item in filters if any(clause.origin != "inferred" for clause in clauses_in(item)))


def bucket_filters(plan: Plan, bucket: str, call: ToolCall | None = None) -> Filters:
    """Return the plan's filters for a bucket as typed clauses; a call may bring its own instead."""
    own = (call or {}).get("args", {}).get("filters")
    raw = own.get(bucket, []) if own is not None else plan["per_bucket"].get(bucket, {}).get("filters", [])
    return typed_filters(raw)


def one_by_one(buckets: Mapping[str, Bucket], plan: Plan) -> list[Plan]:
    """Return the plan of a set over several buckets as one for each, ordered by its own main date where the first one's is."""
    order, main = plan.get("order_by"), buckets[plan["buckets"][0]].main_date
    made: list[Plan] = []
    for name in plan["buckets"]:
        one: Plan = {**plan, "buckets": [name], "per_bucket": {name: plan["per_bucket"][name]}}
        if order and order["field"] == main:
            one["order_by"] = {**order, "field": buckets[name].main_date or ""}
        made.append(one)
    return made


def with_part(plan: Plan, bucket: str, **changes: Unpack[Reading]) -> Plan:
    """Return a plan with changes of what was read for one of its buckets."""
    part: Reading = {**plan["per_bucket"].get(bucket, {}), **changes}
    return {**plan, "per_bucket": {**plan["per_bucket"], bucket: part}}


def filters_shown(corpus: Corpus, plan: Plan) -> str:
    """Return one line per bucket: its filters, how many documents match each and all; "none" without; blocking.

    Of a comparison the lines of each side, below its name.
    """
    if sides := plan.get("sides"):
        parts = [(side["label"], cast(Plan, {**plan, **side, "sides": []})) for side in sides]
        return "\n".join(f"{label}: {filters_shown(corpus, part)}" for label, part in parts)
    corpus = corpus_of(corpus, plan)
    lines = []
    for name in plan.get("buckets", []):
        raw = plan["per_bucket"].get(name, {}).get("filters", [])
        if not raw:
            continue
        typed = bucket_filters(plan, name)
        counts = [corpus.annotations.count(name, (clause,)) for clause in typed]
        together = counts[0] if len(typed) == 1 else corpus.annotations.count(name, typed)
        said = [
            f"{printed(one, corpus.buckets[name])}{'' if inferred(one) else ' (fixed)'}: {count}"
            for one, count in zip(raw, counts, strict=True)
        ]
        lines.append(f"{name}: {'; '.join(said)}; all together: {together} documents")
    return "\n".join(lines) or "none"


def or_missing(item: StoredClause) -> StoredClause:
    """Return a condition that documents meet, too, which do not state its field."""
    (clause,) = typed_filters([item])
    assert isinstance(clause, Clause), item
    missing = Clause(field=clause.field, operator="missing", value=None, raw=clause.raw)
    return stored(Group(mode="any", clauses=(clause, missing)))
