"""query_documents: list, count, sum, average, median, min and max over all matching documents, in the database."""

import asyncio
from typing import Any, cast

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.records.extracted.row_store import rows_bucket
from citegraph.corpus.records.querying.aggregates import Aggregate, Having
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.corpus.schema.bucket import bucket_named
from citegraph.errors import BadInput
from citegraph.plan.rows_asked import Function, filters_of, row_query
from citegraph.question.reading import stored
from citegraph.run.services import Corpus, Services
from citegraph.run.state_types import RowsWanted
from tools.scope import Scope, day_of, hard_filters
from tools.search_tools import FilterClause, checked_filters


class QueryInput(BaseModel, extra="forbid"):
    """Arguments of `query_documents`: a typed query, never SQL."""

    bucket: str = Field(description="Bucket to query, e.g. invoices or contracts.")
    filters: list[FilterClause] | None = Field(None, description="Conditions on fields, all must hold.")
    select: list[str] = Field(default_factory=list, description="Fields of a list.", max_length=20)
    aggregate: list[Aggregate] = Field(
        default_factory=list,
        description="Numbers to compute, e.g. sum of total_amount; 'due_date - invoice_date' are days.",
        max_length=5,
    )
    group_by: list[str] = Field(
        default_factory=list, description="Fields, or a date cut to field.month or field.year.", max_length=3
    )
    order_by: list[str] = Field(
        default_factory=list, description="Fields; a leading '-' is descending.", max_length=3
    )
    having: list[Having] = Field(
        default_factory=list, description="Conditions on the numbers of groups.", max_length=3
    )
    limit: int = Field(100, ge=1, le=1000, description="Rows at most.")
    rows: str = Field(
        "",
        max_length=41,
        description="Kind of table rows inside the documents to query instead, e.g. line_items of invoices (description,"
        " quantity, unit_price, amount) or ratings of datasheets; filters then choose the documents.",
    )
    row_filters: list[FilterClause] | None = Field(
        None, description="Conditions on the columns of those rows."
    )


def document_query(
    corpus: Corpus, asked: QueryInput, scope: Scope | None
) -> tuple[DocumentQuery, tuple[str, ...]]:
    """Return the typed query, with the scope's hard filters, and a line about each filter that was dropped.

    Raises:
        BadInput: there is no such bucket, or it may not be searched.
    """
    bucket = bucket_named(corpus.buckets, asked.bucket)
    filters, dropped = checked_filters(corpus, bucket.name, asked.filters or [], scope)
    query = DocumentQuery(
        bucket=bucket.name,
        filters=(*hard_filters(scope, bucket.name), *filters),
        select=tuple(asked.select),
        aggregate=tuple(asked.aggregate),
        group_by=tuple(asked.group_by),
        order_by=tuple(asked.order_by),
        having=tuple(asked.having),
        limit=asked.limit,
    )
    return query, dropped


def query_documents(corpus: Corpus, asked: QueryInput, scope: Scope | None = None) -> dict[str, Any]:
    """Return rows, columns and coverage ("n of N documents have this field") of a typed query; blocking.

    Raises:
        BadInput: an unknown bucket or field, or a function that does not fit the field's type.
    """
    if asked.rows:
        return query_rows(corpus, asked, scope)
    query, dropped = document_query(corpus, asked, scope)
    result = run_query(corpus.annotations, query)
    return {
        "columns": list(result.columns),
        "rows": result.rows,
        "matched": result.matched,
        "coverage": {name: f"{have} of {result.matched}" for name, have in result.covered.items()},
        "truncated": result.truncated,
        "notes": list(result.notes),
        "dropped_filters": list(dropped),
    }


def rows_wanted(corpus: Corpus, asked: QueryInput, scope: Scope | None = None) -> RowsWanted:
    """Return the rows that a query wants, its conditions checked against their columns.

    Raises:
        BadInput: there is no such kind of rows or column, or a condition does not fit its column.
    """
    bucket = bucket_named(corpus.buckets, asked.bucket)
    kind = next((item for item in bucket.rows if item.name == asked.rows), None)
    if kind is None:
        known = ", ".join(item.name for item in bucket.rows) or "none"
        raise BadInput(f"{bucket.name} declares no rows {asked.rows!r}. Kinds of rows: {known}.")
    checked = check_filters(
        rows_bucket(kind, bucket),
        [Clause(**item.model_dump()) for item in asked.row_filters or []],
        today=day_of(scope),
    )
    if checked.problems:
        raise BadInput(str(checked.problems[0]))
    first = asked.aggregate[0] if asked.aggregate else None
    if first is not None and (
        first.field is None or kind.field(first.field) is None or first.function not in OVER_ROWS
    ):
        columns = ", ".join(field.name for field in kind.fields)
        raise BadInput(f"Rows are computed by {', '.join(OVER_ROWS)} over one of {columns}.")
    return {
        "kind": kind.name,
        "filters": [stored(item) for item in checked.filters],
        "words": [],
        "function": first.function if first else "none",
        "columns": [first.field] if first and first.field else [],
    }


OVER_ROWS = ("count", "sum", "average", "min", "max")


def query_rows(corpus: Corpus, asked: QueryInput, scope: Scope | None) -> dict[str, Any]:
    """Return rows inside the documents that meet the filters and that the principal may see, or a number of them; blocking."""
    wanted = rows_wanted(corpus, asked, scope)
    query, dropped = document_query(corpus, asked.model_copy(update={"aggregate": []}), scope)
    if corpus.rows is None:
        raise BadInput("No rows are stored here.")
    bucket = corpus.buckets[asked.bucket]
    kind = next(item for item in bucket.rows if item.name == wanted["kind"])
    chosen = row_query(corpus, bucket, kind, filters_of(wanted), query.filters)
    rows = corpus.rows.find(chosen, limit=asked.limit)
    total = corpus.rows.count(chosen)
    function = cast(Function, wanted["function"])
    numbers = [one for column in wanted["columns"] for one in corpus.rows.number(chosen, function, column)]
    return {
        "numbers": [{"value": f"{item.value:f}", "unit": item.unit, "rows": item.rows} for item in numbers],
        "rows": [{"doc_id": row.doc_id, **row.values} for row in rows],
        "matched": total,
        "truncated": total > len(rows),
        "dropped_filters": list(dropped),
    }


def query_tools(services: Services, scope: Scope | None = None) -> list[BaseTool]:
    """Return `query_documents` as a LangChain tool over `services`, within `scope`."""

    async def run(**arguments: Any) -> dict[str, Any]:
        corpus = await services.corpus()
        return await asyncio.to_thread(query_documents, corpus, QueryInput(**arguments), scope)

    return [
        StructuredTool.from_function(
            coroutine=run,
            name="query_documents",
            description="Lists, counts, different values, sums, averages, medians and extremes over all matching documents of a bucket.",
            args_schema=QueryInput,
        )
    ]
