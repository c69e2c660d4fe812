"""An `Answer` as text for people: numbered markers, sources with quotes, notes and filters with counts."""

from collections.abc import Sequence

from citegraph.answer.chat_text import in_reading_order, source_numbers, told_in, with_markers
from citegraph.run.answer_types import Answer, AppliedFilter, Citation, Clarification, Table

QUOTE = 200
"""Characters of a quote that are shown."""
SOURCES = 25
"""Sources that are listed; the rest is counted."""


def answer_text(answer: Answer) -> str:
    """Return the whole answer as plain text, its sources numbered as they are met."""
    parts = [numbered(answer)]
    if answer.table and not told_in(answer):
        parts.append(table_text(answer.table))
    order = in_reading_order(answer)
    if order:
        shown = [source_line(number, answer.citations[place]) for number, place in enumerate(order, 1)]
        left = len(order) - SOURCES
        more = [f"  … and {left} more (--json has all)"] if left > 0 else []
        parts.append("\n".join(["Sources:", *shown[:SOURCES], *more]))
    if answer.filters:
        parts.append("\n".join(["Filters:", *(f"  {filter_line(item)}" for item in answer.filters)]))
    if answer.notes:
        parts.append("\n".join(["Notes:", *(f"  {item.step}: {item.message}" for item in answer.notes)]))
    if answer.status != "answered":
        parts.append(f"Status: {answer.status}")
    return "\n\n".join(part for part in parts if part)


def numbered(answer: Answer) -> str:
    """Return the text with `[doc_id]` markers replaced by the numbers of their sources; unknown ones stay."""
    return with_markers(answer, {place: f"[{number}]" for place, number in source_numbers(answer).items()})


def source_line(number: int, citation: Citation) -> str:
    """Return "  [1] Contract_A.pdf (page 5): “quote…”", and what is to be known of the values that it is cited for."""
    quote = " ".join(citation.quote.split())
    cut = quote if len(quote) <= QUOTE else quote[:QUOTE].rsplit(" ", 1)[0] + "…"
    remark = f" ({citation.remark})" if citation.remark else ""
    return f"  [{number}] {citation.label}: “{cut}”{remark}"


def filter_line(item: AppliedFilter) -> str:
    """Return a filter with what happened to it and how many documents match it alone."""
    text = item.text or f"{item.field} {item.operator} {item.value}"
    extra: list[str] = [] if item.status == "applied" else [item.status]
    extra += [] if item.matched is None else [f"{item.matched:,} document{'s' if item.matched != 1 else ''}"]
    return f"{item.bucket}: {text}" + (f" ({', '.join(extra)})" if extra else "")


def table_text(table: Table) -> str:
    """Return a table as aligned plain columns."""
    rows = [table.columns, *([_cell(value) for value in row] for row in table.rows)]
    widths = [max(len(row[place]) for row in rows if place < len(row)) for place in range(len(table.columns))]
    return "\n".join(_aligned(row, widths) for row in rows)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


def _cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def clarification_text(clarification: Clarification) -> str:
    """Return a clarification with its numbered options."""
    lines = [clarification.question]
    for number, option in enumerate(clarification.options, 1):
        known = option.count is not None and clarification.type != "ambiguous"
        count = f" ({option.count:,})" if known else ""
        lines.append(f"  {number}. {option.label}{count}")
    if clarification.tried:
        lines.append(f"  tried: {'; '.join(clarification.tried)}")
    return "\n".join(lines)
