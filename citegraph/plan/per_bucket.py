"""What each bucket reads in a question or in one part of it: a side of a comparison, a link of a chain."""

from dataclasses import replace

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Clause, Filters, filtered_fields, typed_filters
from citegraph.corpus.linking.links import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.plan.narrowing import narrow
from citegraph.plan.stored_filters import inferred, stored
from citegraph.question.clauses import read_question, wanted
from citegraph.question.named_values import clause_of
from citegraph.question.reading import Reading
from citegraph.question.sides import split_sides
from citegraph.run.context import Context
from citegraph.run.pieces import BucketPlan, Plan, PlanPart, Side
from citegraph.run.services import Corpus, has_metadata


def bucket_plan(bucket: Bucket, reading: Reading, hard: Filters, context: Context) -> BucketPlan:
    """Return one bucket's part of the plan as plain data; clauses that do not fit fall alone."""
    checked = check_filters(bucket, reading.clauses, today=context.now)
    inferred = wanted(checked.filters, context)
    return {
        "filters": [stored(clause) for clause in (*hard, *inferred)],
        "dropped": [str(problem) for problem in checked.problems],
        "mentions": [
            {
                "text": item.text,
                "field": item.field,
                "values": list(item.values[:20]),
                "start": item.start,
                "negated": item.negated,
                "score": round(item.score, 3),
                "complete": item.complete,
            }
            for item in reading.mentions
        ],
        "named": any(item.field in bucket.entity_fields and item.complete for item in reading.mentions),
        "asked": list(reading.asked),
        "terms": list(reading.terms),
        "names": list(reading.names),
        "unused": list(reading.unused),
        "identifiers": list(reading.identifiers),
        "noun": reading.noun,
    }


def plan_sides(
    corpus: Corpus, plan: Plan, question: str, hard: dict[str, Filters], context: Context
) -> list[Side]:
    """Return one small plan per side of a comparison: label, question and what each bucket reads in it."""
    lead = corpus.buckets[plan["buckets"][0]]
    sides: list[Side] = []
    for side in split_sides(lead, corpus.linker, question, today=context.now):
        narrowed = part_plan(corpus, plan, side.question, hard, context, held=side.link)
        sides.append(
            {
                "label": side.label,
                "question": side.question,
                "per_bucket": narrowed["per_bucket"],
                "only": narrowed["only"],
            }
        )
    return sides


def sides_read(
    corpus: Corpus, plan: Plan, queries: list[str], hard: dict[str, Filters], context: Context
) -> list[Side]:
    """Return one small plan per side of a comparison as a model wrote the sides: its words are taken whole."""
    sides: list[Side] = []
    for query in queries:
        narrowed = part_plan(corpus, plan, query, hard, context)
        sides.append(
            {
                "label": query,
                "question": query,
                "per_bucket": narrowed["per_bucket"],
                "only": narrowed["only"],
            }
        )
    return sides


def plan_part(corpus: Corpus, plan: Plan, query: str, context: Context) -> PlanPart:
    """Return one part's query with the filters, identifiers and documents that stand in it, and the fixed filters.

    The filters of the whole question would keep each part to the documents that another one names.
    """
    fixed = {
        name: typed_filters([item for item in part["filters"] if not inferred(item)])
        for name, part in plan["per_bucket"].items()
    }
    narrowed = part_plan(corpus, plan, query, fixed, context)
    codes = [code for part in narrowed["per_bucket"].values() for code in part["identifiers"]]
    filters = {name: part["filters"] for name, part in narrowed["per_bucket"].items()}
    codes = list(dict.fromkeys(codes))
    return {"query": query, "filters": filters, "identifiers": codes, "only": narrowed["only"]}


def part_plan(
    corpus: Corpus,
    plan: Plan,
    text: str,
    hard: dict[str, Filters],
    context: Context,
    *,
    held: Link | None = None,
) -> Plan:
    """Return the plan with what each bucket reads in a part of the question, its filters narrowed to match something.

    Args:
        held: the link of the part's name in the lead bucket as the whole question gave it: with other words around it
            the name may look like another one's.
    """
    per_bucket = {}
    for name in plan["buckets"]:
        bucket = corpus.buckets[name]
        reading = read_question(bucket, corpus.linker, text, context.now)
        if held is not None and name == plan["buckets"][0]:
            reading = replace(
                reading, clauses=(*besides(bucket, reading.clauses, held), clause_of(bucket, held))
            )
        if not has_metadata(corpus):
            reading = replace(reading, clauses=())
        per_bucket[name] = bucket_plan(bucket, reading, hard.get(name, ()), context)
    return narrow(corpus, plan | {"per_bucket": per_bucket, "only": []}, text)[0]


def besides(bucket: Bucket, clauses: Filters, held: Link) -> Filters:
    """Return the clauses that leave a name's own one its place: of a list field those on other names stay."""
    declared = bucket.field(held.field)
    listed = declared is not None and declared.type == "keywords"
    return tuple(
        item
        for item in clauses
        if held.field not in filtered_fields(item)
        or (listed and isinstance(item, Clause) and held.text.casefold() not in item.raw.casefold())
    )
