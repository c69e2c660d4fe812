"""An `Answer` as text for people: numbered markers, sources with quotes, notes and filters with counts."""

import re
from collections.abc import Sequence

from citegraph.run.answer_types import Answer, AppliedFilter, Citation, Clarification, Table

MARKER = re.compile(r"\[([^\[\]\n]{1,300})\]")
QUOTE = 200
"""Characters of a quote that are shown."""
SOURCES = 25
"""Sources that are listed; the rest is counted."""


def answer_text(answer: Answer) -> str:
    """Return the whole answer as plain text."""
    shown = _listed(answer)
    parts = [numbered(answer)]
    if answer.table and not any(marker in answer.text for marker in answer.table.doc_ids):
        parts.append(table_text(answer.table))
    if shown:
        lines = [source_line(place + 1, answer.citations[place]) for place in shown[:SOURCES]]
        left = len(shown) - SOURCES
        parts.append(
            "\n".join(["Sources:", *lines, *([f"  … and {left} more (--json has all)"] if left > 0 else [])])
        )
    if answer.filters:
        parts.append("\n".join(["Filters:", *(f"  {filter_line(item)}" for item in answer.filters)]))
    if answer.notes:
        parts.append("\n".join(["Notes:", *(f"  {item.step}: {item.message}" for item in answer.notes)]))
    if answer.status != "answered":
        parts.append(f"Status: {answer.status}")
    return "\n\n".join(part for part in parts if part)


def numbered(answer: Answer) -> str:
    """Return the text with `[doc_id]` markers replaced by the numbers of their sources; unknown ones stay."""
    by_document: dict[str, list[int]] = {}
    for place, citation in enumerate(answer.citations):
        for name in dict.fromkeys((citation.marker, citation.doc_id)):
            by_document.setdefault(name, []).append(place)

    def number(found: re.Match[str]) -> str:
        places = by_document.get(found[1].strip())
        if not places:
            return found[0]
        of_claim = {
            place
            for claim in answer.claims
            if claim.start <= found.start() < claim.end
            for place in claim.citations
        }
        chosen = [place for place in places if place in of_claim] or places[:1]
        return "".join(f"[{place + 1}]" for place in chosen)

    return MARKER.sub(number, answer.text)


def _listed(answer: Answer) -> list[int]:
    """Return the places of the citations to list, each span once."""
    return list(
        {(item.doc_id, item.start, item.end): place for place, item in enumerate(answer.citations)}.values()
    )


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


def chosen_reply(clarification: Clarification, typed: str) -> str:
    """Return the option id that a typed number means, else the text as typed."""
    text = typed.strip()
    ids = {option.id for option in clarification.options}
    if text in ids or not text.isdecimal() or not 1 <= int(text) <= len(clarification.options):
        return text
    return clarification.options[int(text) - 1].id
