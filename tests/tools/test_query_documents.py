"""query_documents as a LangChain tool: typed queries, coverage and refused input."""

import pytest
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from citegraph.errors import BadInput
from citegraph.run.services import Services
from tools.query_documents import query_tools

SUM = {"function": "sum", "field": "total_amount"}


@pytest.fixture
def tool(services: Services) -> BaseTool:
    """Return the tool."""
    (made,) = query_tools(services)
    return made


async def test_money_of_different_currencies_is_never_added_up(tool: BaseTool) -> None:
    found = await tool.ainvoke({"bucket": "invoices", "aggregate": [SUM]})
    totals = {row["sum_total_amount"]["currency"] for row in found["rows"]}
    assert (totals, found["matched"], found["coverage"]) == (
        {"EUR", "MYR", "USD"},
        24,
        {"total_amount": "24 of 24"},
    )
    assert any("not added up" in line for line in found["notes"])


async def test_a_list_is_filtered_ordered_and_cut(tool: BaseTool) -> None:
    clause = {"field": "vendor", "operator": "=", "value": "Cobaltine Cloud Inc."}
    query = {
        "bucket": "invoices",
        "filters": [clause],
        "select": ["invoice_number"],
        "order_by": ["-invoice_date"],
    }
    found = await tool.ainvoke({**query, "limit": 2})
    assert [row["invoice_number"] for row in found["rows"]] == ["CBC-11618", "CBC-11260"]
    assert (found["matched"], found["truncated"]) == (5, True)


async def test_a_bad_filter_falls_alone_and_is_said(tool: BaseTool) -> None:
    clauses = [{"field": "nope", "value": "1"}, {"field": "currency", "value": "EUR"}]
    found = await tool.ainvoke(
        {"bucket": "invoices", "filters": clauses, "aggregate": [{"function": "count"}]}
    )
    assert found["rows"] == [{"count": 12}]
    assert "nope" in found["dropped_filters"][0]


async def test_unknown_buckets_fields_and_sql_are_refused(tool: BaseTool) -> None:
    with pytest.raises(BadInput, match="no bucket 'x'"):
        await tool.ainvoke({"bucket": "x"})
    with pytest.raises(BadInput, match="not a field"):
        await tool.ainvoke({"bucket": "invoices", "select": ["1; DROP TABLE meta_invoices"]})
    with pytest.raises(ValidationError):
        await tool.ainvoke({"bucket": "invoices", "sql": "SELECT 1"})
