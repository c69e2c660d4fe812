"""What the agent's queries prove: the table, documents, computed numbers and cited spans behind its answer."""

from collections.abc import Sequence
from typing import Any, cast

from citegraph.answer.cells import json_cell, made_number
from citegraph.answer.row_statements import rows_draft
from citegraph.answer.set_statements import computed, listed
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.language.amounts import number_text
from citegraph.plan.shape import formed, shape
from citegraph.question.reading import nothing_read, stored
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state_types import (
    AgentTurn,
    CallArguments,
    CitedSpan,
    Draft,
    NumberMade,
    OrderBy,
    Plan,
    Reading,
    ToolCall,
    WantedNumber,
)
from tools.query_documents import QueryInput, document_query, rows_wanted
from tools.scope import Scope
from tools.search_tools import FilterClause, checked_filters

OF_QUERY = ("table", "documents", "matched", "derivations", "cited")
"""Parts of a draft that a query backs."""
HEAD = 200


def plan_of(corpus: Corpus, transcript: Sequence[AgentTurn], scope: Scope, question: str) -> Plan:
    """Return the plan that the calls so far amount to, newest bucket first, for compose, verification and notes; blocking."""
    per_bucket: dict[str, Reading] = {}
    form = formed({}, shape("qa"))
    worked = [call for turn in transcript for call in turn["calls"] if "error" not in call]
    for place, call in enumerate(reversed(worked)):
        name = call["args"].get("bucket")
        if name is None:
            continue
        if place == 0 and call["tool"] == "query_documents":
            form = query_shape(corpus, call["args"])
        if name not in per_bucket:
            given = [FilterClause.model_validate(item) for item in call["args"].get("filters") or []]
            typed, _ = checked_filters(corpus, name, given, scope)
            filters = [stored(clause) for clause in (*scope.hard(name), *typed)]
            asked = [str(field) for field in call["args"].get("select") or []]
            per_bucket[name] = nothing_read() | {"filters": filters, "asked": asked}
    if not per_bucket:
        first = next(iter(scope.filters), None)
        hard = [stored(clause) for clause in scope.hard(first)] if first else []
        per_bucket = {first: nothing_read() | {"filters": hard}} if first else {}
    fixed: Plan = {"strategy": "hybrid", "queries": [question], "only": []}
    return {**fixed, **form, "buckets": list(per_bucket), "per_bucket": per_bucket}


def query_shape(corpus: Corpus, arguments: CallArguments) -> Plan:
    """Return the part of a plan that says what a query computes or lists."""
    asked = QueryInput.model_validate(arguments)
    bucket = corpus.buckets[asked.bucket]
    if asked.rows:
        wanted = rows_wanted(corpus, asked)
        intent = "list" if wanted["function"] == "none" else "compute"
        return formed({"rows": [wanted]}, shape(intent))
    number: WantedNumber | None = None
    if asked.aggregate or asked.group_by:
        first = asked.aggregate[0] if asked.aggregate else None
        declared = bucket.field(first.field) if first and first.field else None
        field = declared.name if declared else None
        number = {"function": first.function if first else "count", "field": field}
        number |= {"group_by": list(asked.group_by)} if asked.group_by else {}
    name = asked.order_by[0] if asked.order_by and not asked.aggregate else ""
    ordered = bucket.field(name.removeprefix("-")) if name else None
    order: OrderBy | None = None
    if ordered:
        limit = asked.limit if "limit" in arguments else 0
        order = {"field": ordered.name, "descending": name.startswith("-"), "limit": limit}
    return formed({}, shape("compute" if number else "list", number, order))


def proven(corpus: Corpus, transcript: Sequence[AgentTurn], scope: Scope, context: Context) -> Draft:
    """Return the parts of a draft that the calls back: those of the newest query, and every query's numbers; blocking."""
    parts: Draft = {"cited": [], "derivations": []}
    for turn in transcript:
        for call in turn["calls"]:
            if "error" in call:
                continue
            if call["tool"] == "get_document_metadata":
                parts["cited"].append(head_of(corpus, call["args"]["doc_id"]))
            if call["tool"] == "query_documents":
                made = of_query(corpus, call, scope, context)
                cited = [*parts["cited"], *made.get("cited", [])]
                numbers = [*parts["derivations"], *made.get("derivations", [])]
                parts = {**parts, **made, "cited": cited, "derivations": numbers}
    return parts


def head_of(corpus: Corpus, doc_id: str) -> CitedSpan:
    """Return the head of a document as a cited span: what its metadata are the values of."""
    document = corpus.documents.get(doc_id)
    return {"doc": doc_id, "start": 0, "end": min(HEAD, len(document.text)) if document else 0}


def of_query(corpus: Corpus, call: ToolCall, scope: Scope, context: Context) -> Draft:
    """Return table, documents, count, computed numbers and cited spans of one query."""
    plan = plan_of(corpus, [{"calls": [call]}], scope, "")
    query, _ = document_query(corpus, QueryInput.model_validate(call["args"]), scope)
    if plan.get("rows"):
        return cast(
            Draft,
            {name: value for name, value in rows_draft(corpus, plan, context).items() if name in OF_QUERY},
        )
    plain = plan["intent"] == "list"
    draft = listed(corpus, plan, {}, context) if plain else computed(corpus, plan, {}, context)
    kept = cast(Draft, {name: value for name, value in draft.items() if name in OF_QUERY})
    if plain:
        return kept
    numbers = numbers_of(corpus, query)
    return kept | {"derivations": [*kept.get("derivations", []), *numbers]}


def numbers_of(corpus: Corpus, query: DocumentQuery) -> list[NumberMade]:
    """Return each number that the database computed, groups included, as it may be stated."""
    result = run_query(corpus.annotations, query)
    numbers = [made_number(str(result.matched), "count", f"{result.matched} documents matched", [], [], "")]
    columns = [aggregate.name for aggregate in query.aggregate] or ["count"]
    for row in result.rows:
        of = ", ".join(f"{name} {json_cell(row.get(name))}" for name in result.columns if name not in columns)
        for name in columns:
            value = row.get(name)
            if value is None or isinstance(value, str):
                continue
            amount = value["amount"] if isinstance(value, dict) else value
            unit = str(value.get("currency") or value.get("unit") or "") if isinstance(value, dict) else ""
            operation: Any = name.split("_")[0]
            text = str(amount) if operation == "count" else number_text(amount)
            formula = f"{name} over {result.matched} documents" + (f" ({of})" if of else "")
            numbers.append(made_number(text, operation, formula, [], [], unit))
    return numbers
