"""An `Answer` as text for people: numbered markers, sources with quotes, notes and filters with counts."""

import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from citegraph.answer.chat_text import in_reading_order, source_numbers, told_in, with_markers
from citegraph.run.answer_types import Answer, AppliedFilter, Citation, Clarification, Table
from cli.terminal import counted

QUOTE = 200
"""Characters of a quote that are shown."""
SOURCES = 25
"""Sources that are listed; the rest is counted."""


def answer_text(answer: Answer) -> str:
    """Return the whole answer as plain text, its sources numbered as they are met."""
    parts = [numbered(answer)]
    if answer.table and not told_in(answer):
        parts.append(table_text(answer.table, line_width()))
    order = in_reading_order(answer)
    if order:
        shown = [source_line(number, answer.citations[place]) for number, place in enumerate(order, 1)]
        left = len(order) - SOURCES
        more = [f"  … and {left} more (--json has all)"] if left > 0 else []
        parts.append("\n".join(["Sources:", *shown[:SOURCES], *more]))
    if answer.filters:
        parts.append("\n".join(["Filters:", *(f"  {filter_line(item)}" for item in answer.filters)]))
    if answer.notes:
        parts.append("\n".join(["Notes:", *(f"  {item.message}" for item in answer.notes)]))
    last = [] if answer.status == "answered" else [f"Status: {answer.status}"]
    last += [] if answer.confidence is None else [f"Confidence: {answer.confidence:.0%}"]
    parts.append("\n".join(last))
    return "\n\n".join(part for part in parts if part)


def line_width() -> int | None:
    """Return how wide a line of this terminal is, None where the text goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


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
    extra += [] if item.matched is None else [counted(item.matched, "document")]
    return f"{item.bucket}: {text}" + (f" ({', '.join(extra)})" if extra else "")


def table_text(table: Table, width: int | None = None) -> str:
    """Return a table as aligned plain columns, numbers at the right.

    Args:
        width: characters of a line; the longest cells are broken between words to keep to it.
    """
    rows = [[_cell(value) for value in row] for row in table.rows]
    places = range(len(table.columns))
    right = {place for place in places if _is_numeric([row[place] for row in rows if place < len(row)])}
    lines = [list(table.columns), *rows]
    widths = [max(len(row[place]) for row in lines if place < len(row)) for place in places]
    for place in sorted(places, key=lambda place: -widths[place]):
        over = sum(widths) + 2 * (len(widths) - 1) - (width or 10**6)
        if over > 0 and place not in right:
            widths[place] = max(LEAST, widths[place] - over)
    return "\n".join(line for row in lines for line in _aligned(row, widths, right))


LEAST = 12
"""Characters that a column of text keeps at least."""
NUMERIC = re.compile(r"[-+(]?[.,'’\s]*\d[\d.,'’\s]*%?\)?(?:\s?[A-Z]{3})?")
"""A number as it is printed, with its currency."""


def _is_numeric(cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell]
    return bool(given) and all(NUMERIC.fullmatch(cell) for cell in given)


def _aligned(row: Sequence[str], widths: Sequence[int], right: Collection[int]) -> Iterator[str]:
    """Yield the lines of a row whose cells are broken to their widths."""
    cells = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=False)]
    for number in range(max((len(cell) for cell in cells), default=0)):
        pieces = [cell[number] if number < len(cell) else "" for cell in cells]
        yield "  ".join(
            piece.rjust(widths[place]) if place in right else piece.ljust(widths[place])
            for place, piece in enumerate(pieces)
        ).rstrip()


def _cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def linked(text: str, answer: Answer, files: Mapping[str, Path]) -> str:
    """Return the shown text with its numbered sources as links that a terminal opens (OSC 8), where a file is known."""
    for number, place in enumerate(in_reading_order(answer), 1):
        citation = answer.citations[place]
        if path := files.get(citation.doc_id):
            page = f"#page={citation.page}" if citation.page is not None else ""
            link = f"\033]8;;{path.resolve().as_uri()}{page}\033\\[{number}]\033]8;;\033\\"
            text = text.replace(f"[{number}]", link)
    return text


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
