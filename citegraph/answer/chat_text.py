"""An answer, and a question back, as a chat shows them: Markdown with numbered links to the cited places."""

import re
import uuid
from urllib.parse import quote

from langchain_core.messages import AIMessage

from citegraph.evidence.questions_back import offered
from citegraph.run.answer_types import WITHHELD, Answer, Citation, Clarification, Table
from citegraph.run.state import Update

MARKER = re.compile(r"\[([^\[\]\n]{1,300})\]")
QUOTED = 160
"""Characters of a quote that are shown."""
SOURCES = 12
"""Sources that are listed; the rest is counted."""
ROWS = 50
"""Rows of a table that are shown; the rest is counted."""


def numbers_in(answer: Answer) -> list[tuple[int, int, list[int]]]:
    """Return each `[doc_id]` marker of the text as (start, end, places in `answer.citations`); unknown ones are left out.

    A marker within a claim stands for that claim's citations of the document, else for the first of the document.
    """
    by_document: dict[str, list[int]] = {}
    for place, citation in enumerate(answer.citations):
        for name in dict.fromkeys((citation.marker, citation.doc_id)):
            by_document.setdefault(name, []).append(place)
    found = []
    for marker in MARKER.finditer(answer.text):
        places = by_document.get(marker[1].strip())
        if not places:
            continue
        of_claim = {
            place
            for claim in answer.claims
            if claim.start <= marker.start() < claim.end
            for place in claim.citations
        }
        chosen = [place for place in places if place in of_claim] or places[:1]
        found.append((marker.start(), marker.end(), chosen))
    return found


def in_reading_order(answer: Answer) -> list[int]:
    """Return the places of the citations as a reader meets them, each span once: those of the text, then the others."""
    met = [place for _, _, places in numbers_in(answer) for place in places]
    spans: dict[tuple[str, int, int], int] = {}
    for place in [*met, *range(len(answer.citations))]:
        citation = answer.citations[place]
        spans.setdefault((citation.doc_id, citation.start, citation.end), place)
    return list(spans.values())


def source_numbers(answer: Answer) -> dict[int, int]:
    """Return place in `answer.citations` -> the number that a reader sees: 1 for the source met first."""
    number = {
        (answer.citations[place].doc_id, answer.citations[place].start, answer.citations[place].end): count
        for count, place in enumerate(in_reading_order(answer), 1)
    }
    return {
        place: number[citation.doc_id, citation.start, citation.end]
        for place, citation in enumerate(answer.citations)
    }


def with_markers(answer: Answer, shown: dict[int, str]) -> str:
    """Return the text with what is shown for each cited place in its markers' stead."""
    text, end = "", 0
    for first, last, places in numbers_in(answer):
        text += answer.text[end:first] + "".join(dict.fromkeys(shown[place] for place in places))
        end = last
    return text + answer.text[end:]


RESOURCES = "citegraph://documents/"
"""The `base` of who reads documents as resources of MCP, where no server shows them."""


def cited_url(citation: Citation, base: str = "") -> str:
    """Return the address at which a person sees a cited place; relative to the server without a `base`.

    A passage of a collection that names an address of its own has that. Among `RESOURCES` it is the document's.
    """
    if re.match(r"https?://", citation.link):
        return citation.link
    if base == RESOURCES:
        return base + quote(citation.doc_id)
    place = f"start={citation.start}&end={citation.end}"
    return f"{base.rstrip('/')}/cited/{quote(citation.doc_id, safe='')}?{place}"


def chat_text(answer: Answer, base: str = "") -> str:
    """Return the answer, or the question back, as the Markdown of a chat message.

    Args:
        base: address of the server that shows the cited places; without it the links are relative.
    """
    if answer.clarification:
        return clarification_text(answer.clarification)
    numbers = source_numbers(answer)
    links = {
        place: f"[[{numbers[place]}]]({cited_url(citation, base)})"
        for place, citation in enumerate(answer.citations)
    }
    parts = [with_markers(answer, links)]
    if answer.table and not told_in(answer):
        parts.append(table_markdown(answer.table))
    order = in_reading_order(answer)
    if order:
        lines = [_source(numbers[place], answer.citations[place], base) for place in order[:SOURCES]]
        more = [f"- … and {len(order) - SOURCES:,} more"] if len(order) > SOURCES else []
        parts.append("\n".join(["**Sources**", "", *lines, *more]))
    # A chat is read by models too, a later turn's and a client's own: what a document tells them is not repeated to them.
    if answer.status in ("partial", "failed"):
        said = [f"- {note.step}: {note.unquoted()}" for note in answer.notes]
        parts.append("\n".join([f"*This answer is {answer.status}.*", *(["", *said] if said else [])]))
    else:
        parts.append(
            "\n".join(f"*{_plain(note.unquoted())}*" for note in answer.notes if note.kind == WITHHELD)
        )
    return "\n\n".join(part for part in parts if part)


def told_in(answer: Answer) -> bool:
    """Return whether the text lists what the table holds, so that it would be shown twice."""
    table = answer.table
    if table is None or table.doc_ids:
        return table is not None and any(doc_id in answer.text for doc_id in table.doc_ids)
    # Groups: a line for each row, with its number.
    said = [line for line in answer.text.splitlines() if line.startswith("- ")]
    same = len(said) == len(table.rows) > 0
    return same and all(str(row[-1]) in line for row, line in zip(table.rows, said, strict=True))


def _source(number: int, citation: Citation, base: str) -> str:
    words = " ".join(citation.quote.split())
    cut = words if len(words) <= QUOTED else words[:QUOTED].rsplit(" ", 1)[0] + "…"
    remark = f" ({citation.remark})" if citation.remark else ""
    return f"{number}. [{_plain(citation.label)}]({cited_url(citation, base)}): “{_plain(cut)}”{remark}"


def table_markdown(table: Table) -> str:
    """Return a table as Markdown, cut to `ROWS`."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows[:ROWS]]
    shown = [
        f"| {' | '.join('' if cell is None else _plain(str(cell)) for cell in line)} |" for line in lines
    ]
    more = len(table.rows) - ROWS
    return "\n".join([*shown, *(["", f"… and {more:,} more rows"] if more > 0 else [])])


def _plain(text: str) -> str:
    """Return a text of a document on one line, with nothing in it that Markdown would take for a mark of its own."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))


def clarification_text(clarification: Clarification) -> str:
    """Return a question back with its numbered options and the documents behind each."""
    lines = [clarification.question]
    for number, option in enumerate(clarification.options, 1):
        known = option.count is not None and clarification.type != "ambiguous"
        lines.append(f"{number}. {option.label}{f' ({option.count:,})' if known else ''}")
    if clarification.tried:
        lines.append(f"\ntried: {'; '.join(clarification.tried)}")
    return "\n".join([lines[0], *(["", *lines[1:]] if lines[1:] else [])])


def with_question(update: Update) -> Update:
    """Return an update with the chat message of the question that it asks back, if it asks one."""
    decision = update["decision"]
    if decision.get("status") != "clarify":
        return update
    asked = Clarification.model_validate(offered(decision["clarification"]))
    return update | {"messages": [AIMessage(clarification_text(asked), id=f"asks-{uuid.uuid4().hex}")]}


def chosen_reply(clarification: Clarification, typed: str) -> str:
    """Return the option id that a typed number or label means, else the text as typed."""
    text = typed.strip()
    for option in clarification.options:
        if text.casefold() in (option.id.casefold(), option.label.casefold()):
            return option.id
    number = re.fullmatch(r"(\d{1,3})[.)]?", text)
    if number and 1 <= int(number[1]) <= len(clarification.options):
        return clarification.options[int(number[1]) - 1].id
    return text
