"""Give up inferred clauses that match nothing, take a document that is named by its id, and tell which parts go alone."""

import re
from collections.abc import Sequence

from citegraph.corpus.filters.clause import Clause, each_value, typed_filters
from citegraph.corpus.filters.filter_operators import matches
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language import terms
from citegraph.plan.stored_filters import inferred, printed, with_part
from citegraph.question.reading import stored
from citegraph.run.services import Corpus, has_metadata
from citegraph.run.state_types import CallArguments, Decomposed, Plan, Reading, StoredClause


def narrow(corpus: Corpus, plan: Plan, question: str) -> tuple[Plan, list[str]]:
    """Return the plan of a question for a fact with filters that match something, and a line per clause given up.

    A document named by its id is taken alone. Inferred clauses that together match nothing are given up one by one,
    the least certain first, but first one without which something matches; the words stay in the search, and the
    review checks that the document holds them.
    """
    if (named := with_named(corpus, plan, question)) is not plan:
        return named, []
    per_bucket, said = dict(plan["per_bucket"]), []
    for name, part in plan["per_bucket"].items():
        filters = list(part["filters"])
        while filters and not corpus.annotations.count(name, typed_filters(filters)):
            soft = [clause for clause in filters if clause.get("origin", "user") == "inferred"]
            if not soft:
                break
            soft.sort(key=lambda clause: certainty(corpus.buckets[name], part, clause))
            weakest = next(
                (clause for clause in soft if matches_without(corpus, name, filters, clause)), soft[0]
            )
            filters.remove(weakest)
            said.append(f"{name}: nothing matches all conditions, so “{printed(weakest)}” was not applied.")
        lost = [clause for clause in part["filters"] if clause not in filters]
        lost_words = [word for clause in lost for word in terms.content_words(str(clause.get("raw", "")))]
        names = [
            word
            for clause in lost
            if is_entity(corpus.buckets[name], clause) and re.search(r"[A-ZÀ-Þ0-9]", clause.get("raw", ""))
            for word in terms.content_words(clause["raw"])
        ]
        per_bucket[name] = part | {
            "filters": filters,
            "lost": lost,
            "terms": list(dict.fromkeys([*part["terms"], *lost_words])),
            "names": list(dict.fromkeys([*part["names"], *names])),
        }
    return plan | {"per_bucket": per_bucket}, said


def with_named(corpus: Corpus, plan: Plan, question: str) -> Plan:
    """Return the plan with the documents alone whose ids stand in a question, itself where none does."""
    named = [found for found in named_documents(corpus, question) if may_read(corpus, plan, found)]
    return plan | {"only": [doc_id for doc_id, _ in named], "buckets": [named[0][1]]} if named else plan


def with_stated_date(corpus: Corpus, plan: Plan) -> tuple[Plan, list[str]]:
    """Return the plan of a set with the bucket's main date in place of a date that none of the documents meant states.

    "Signed since 2010" of documents that state only from when they hold is about that date; a line says so; blocking.
    """
    name = plan["buckets"][0]
    part, bucket = plan["per_bucket"][name], corpus.buckets[name]
    main = bucket.main_date
    if plan["kind"] != "documents" or not has_metadata(corpus) or main is None:
        return plan, []
    if corpus.annotations.count(name, typed_filters(part["filters"])):
        return grouped_by_stated_date(corpus, plan, main)
    for place, clause in enumerate(part["filters"]):
        declared = bucket.field(clause.get("field", ""))
        if declared is None or declared.type != "date" or declared.name == main or not inferred(clause):
            continue
        rest = [other for other in part["filters"] if other is not clause]
        if _is_stated(corpus, name, rest, declared.name):
            continue
        filters = [*part["filters"]]
        filters[place] = {**clause, "field": main}
        if corpus.annotations.count(name, typed_filters(filters)):
            said = [_taken_for(declared.name, main)]
            return with_part(plan, name, filters=filters), said
    return plan, []


def with_negatives(corpus: Corpus, plan: Plan) -> tuple[Plan, list[str]]:
    """Return the plan of a set in which an amount below zero makes a document one that sums deduct, as a credit note whose
    field calls it an invoice: left out with them, or taken with them; a line says how many; blocking.
    """
    name = plan["buckets"][0]
    part, bucket = plan["per_bucket"][name], corpus.buckets[name]
    if plan["kind"] != "documents" or not bucket.main_amount or not has_metadata(corpus):
        return plan, []
    nothing = {"amount": "0"}
    below = stored(Clause(field=bucket.main_amount, operator="<", value=nothing))
    above = [
        stored(Clause(field=bucket.main_amount, operator=">=", value=nothing)),
        stored(Clause(field=bucket.main_amount, operator="missing")),
    ]
    filters: list[StoredClause] = []
    lines = []
    for clause in part["filters"]:
        filters.append(clause)
        said = {terms.fold(str(one)) for one in each_value(clause.get("value"))}
        kinds = [kind for kind in bucket.deduct.get(clause.get("field", ""), ()) if terms.fold(kind) in said]
        others = [one for one in part["filters"] if one is not clause]
        denied = clause.get("operator") in {"!=", "not in"}
        found = corpus.annotations.document_ids(name, typed_filters([*others, below])) if kinds else []
        known = corpus.annotations.document_ids(name, typed_filters([*others, clause])) if found else []
        if changed := [doc_id for doc_id in found if (doc_id in known) == denied]:
            either = above if denied else [clause, below]
            filters[-1:] = [*([clause] if denied else []), {"mode": "any", "clauses": either}]
            lines.append(_below_zero(bucket.main_amount, kinds[0], len(changed)))
    return with_part(plan, name, filters=filters), lines


def _below_zero(amount: str, kind: str, count: int) -> str:
    documents = "1 document" if count == 1 else f"{count} documents"
    return f"{documents} with a {amount.replace('_', ' ')} below zero: taken for a {kind}, whatever its field says."


def grouped_by_stated_date(corpus: Corpus, plan: Plan, main: str) -> tuple[Plan, list[str]]:
    """Return the plan with groups by the main date in place of those by a date that no document meant states; blocking."""
    name, groups = plan["buckets"][0], plan["aggregate"].get("group_by") or []
    bucket, filters = corpus.buckets[name], plan["per_bucket"][name]["filters"]
    kept: list[str] = []
    lines = []
    for group in groups:
        field, dot, cut = group.partition(".")
        if dot and field != main and bucket.field(field) and not _is_stated(corpus, name, filters, field):
            lines.append(_taken_for(field, main))
            kept.append(f"{main}.{cut}")
        else:
            kept.append(group)
    if not lines:
        return plan, []
    return {**plan, "aggregate": {**plan["aggregate"], "group_by": list(dict.fromkeys(kept))}}, lines


def _is_stated(corpus: Corpus, bucket: str, filters: Sequence[StoredClause], field: str) -> bool:
    """Tell whether a document that passes the filters states a field; blocking."""
    stated: StoredClause = {"field": field, "operator": "exists", "value": None}
    return corpus.annotations.count(bucket, typed_filters([*filters, stated])) > 0


def _taken_for(field: str, main: str) -> str:
    spoken = field.replace("_", " "), main.replace("_", " ")
    return "None of these documents states its {}; the {} was used.".format(*spoken)


def named_documents(corpus: Corpus, question: str) -> list[tuple[str, str]]:
    """Return the documents whose id stands in the question, each with its bucket."""
    tokens = [name for name in dict.fromkeys(DOC_ID.findall(question)) if CODED.search(name)]
    quoted = [name.strip() for name in QUOTED_ID.findall(question)]
    names = list(dict.fromkeys([*quoted, *tokens]))
    records = corpus.documents.records(names) if names else {}
    return [(name, records[name].bucket) for name in names if name in records]


def may_read(corpus: Corpus, plan: Plan, document: tuple[str, str]) -> bool:
    """Tell whether a named document is in a bucket of the plan and passes the filters that are not inferred."""
    doc_id, bucket = document
    if bucket not in plan["per_bucket"]:
        return False
    filters = plan["per_bucket"][bucket]["filters"]
    hard = [clause for clause in filters if not inferred(clause)]
    values = corpus.annotations.get(doc_id, bucket) or {}
    return matches(corpus.buckets[bucket], typed_filters(hard), values)


def matches_without(corpus: Corpus, bucket: str, filters: list[StoredClause], clause: StoredClause) -> bool:
    """Tell whether some document meets all of the filters but one."""
    left = [other for other in filters if other is not clause]
    return corpus.annotations.count(bucket, typed_filters(left)) > 0


CODED = re.compile(r"\d|\w[-_.]\w")
QUOTED_ID = re.compile(r"[\"“„\[]([^\"“”„\[\]\n]{1,200})[\"”\]]")
"""A document id counts when it looks like one or stands in quotes or brackets: a file may be called "office"."""
DOC_ID = re.compile(r"(?<![\w-])[\w][\w.\-]*\w(?![\w-])")


def is_entity(bucket: Bucket, clause: StoredClause) -> bool:
    """Tell whether a clause holds a name or an identifier rather than a kind, a keyword or a date."""
    return clause.get("field") in bucket.entity_fields


def certainty(bucket: Bucket, part: Reading, clause: StoredClause) -> float:
    """Return how sure an inferred clause is, 0 to 1: numbers of documents first, names by the quality of their match,
    days before loose words.
    """
    field = bucket.field(clause.get("field", ""))
    if field is not None and field.kind == "identifier":
        return 1.0
    if field is not None and field.type == "date":
        exact = clause["operator"] == "=" and re.search(r"\d{4}", clause.get("raw", ""))
        return 0.95 if exact else 0.75 if re.search(r"\d{4}", clause.get("raw", "")) else 0.2
    found = [
        item
        for item in part["mentions"]
        if item["field"] == clause.get("field") and item["text"] in clause.get("raw", "")
    ]
    score, whole = (found[0]["score"], found[0]["complete"]) if found else (0.6, True)
    if is_entity(bucket, clause):
        return 0.4 + 0.6 * float(score) if whole else 0.6 * float(score)
    return 0.3 * float(score)


APART = frozenset({"find_entity", "compare_side"})
"""Purposes of parts that concern other documents than the rest of the question."""


def leads_on(decomposition: Decomposed) -> bool:
    """Tell whether who read the question found that one document in it leads to another; rules cannot know."""
    parts = decomposition.get("subqueries", [])
    return bool(decomposition.get("by")) and any(item["purpose"] == "find_entity" for item in parts)


def parts_apart(decomposition: Decomposed) -> list[str]:
    """Return the queries of the parts when they concern different documents, none when all concern the same."""
    parts = decomposition.get("subqueries", [])
    if not decomposition.get("by") or not any(item["purpose"] in APART for item in parts):
        return []
    return [item["query"] for item in parts]


def part_of(plan: Plan, query: str) -> CallArguments:
    """Return the arguments that a part's search brings along: filters by bucket, identifiers, documents; {} for others."""
    part = next((part for part in plan.get("parts", []) if part["question"] == query), None)
    if part is None:
        return {}
    codes = [code for reading in part["per_bucket"].values() for code in reading["identifiers"]]
    filters = {name: reading["filters"] for name, reading in part["per_bucket"].items()}
    return {"filters": filters, "identifiers": list(dict.fromkeys(codes)), "only": part["only"]}
