"""query_documents: list, count, sum, average, median, min and max over all matching documents, in the database."""

import asyncio
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from citegraph.corpus.records.querying.aggregates import Aggregate, Having
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.run.services import Corpus, Services
from tools.scope import Scope, hard_filters
from tools.search_tools import FilterClause, checked_filters, known_bucket


class QueryInput(BaseModel):
    """Arguments of `query_documents`: a typed query, never SQL."""

    model_config = ConfigDict(extra="forbid")

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


def document_query(
    corpus: Corpus, asked: QueryInput, scope: Scope | None
) -> tuple[DocumentQuery, tuple[str, ...]]:
    """Return the typed query, with the scope's hard filters, and a line about each filter that was dropped.

    Raises:
        BadInput: there is no such bucket, or it may not be searched.
    """
    bucket = known_bucket(corpus, asked.bucket)
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
