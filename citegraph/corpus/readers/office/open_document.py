"""Reads OpenDocument texts, sheets and presentations (LibreOffice) from their XML, through lxml."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.office.number_formats import plain
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.errors import BadInput

_PREFIX = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT, _TABLE, _DRAW = (
    f"{{{_PREFIX}{name}:1.0}}" for name in ("office", "text", "table", "drawing")
)
_STYLE, _PRESENTATION = f"{{{_PREFIX}style:1.0}}", f"{{{_PREFIX}presentation:1.0}}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_SIGNS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
# What is no part of the text where it stands: notes follow their paragraph, deletions are gone.
_BOXES = frozenset({f"{_DRAW}frame", f"{_DRAW}custom-shape"})
_APART = _BOXES | {
    f"{_OFFICE}annotation",
    f"{_TEXT}note",
    f"{_TEXT}tracked-changes",
    f"{_TEXT}hidden-text",
    f"{_TEXT}ruby-text",
}
_HIDDEN = frozenset({"collapse", "filter"})
# A cell or row may claim to be there any number of times: what has no text is written once, what has at most so often.
_MOST_REPEATED, _MOST_COLUMNS, _MOST_ROWS = 1_000, 500, 1_048_576
_MOST_BYTES = 512 * 1024 * 1024


class OdfReader:
    """Headings, lists, tables, text boxes, notes and comments of a text; a sheet, slide or drawing is a page.

    No library: odfpy has had no release since 2020, and gives a slower tree of the same XML.
    """

    suffixes: tuple[str, ...] = (".odt", ".ott", ".ods", ".ots", ".odp", ".otp", ".odg")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        parts = _parts(path)
        content = parts.content
        body = content.find(f"{_OFFICE}body")
        if body is None or not len(body):
            raise BadInput("the OpenDocument file is empty: open it in LibreOffice and save it again")
        draft = Draft()
        walk = _Walk(draft, _hidden_styles(content))
        is_text, is_sheets = (body[0].tag == f"{_OFFICE}{name}" for name in ("text", "spreadsheet"))
        for header in parts.margins("header") if is_text else ():
            walk.blocks(header)
        walk.blocks(body[0])
        for footer in parts.margins("footer") if is_text else ():
            walk.blocks(footer)
        text, pages, tables = draft.finished()
        title = parts.meta.findtext(f".//{_DC}title") if parts.meta is not None else ""
        yield Reading(
            text if text.strip() and (tables or not is_sheets) else "",
            pages,
            parts.kind,
            " ".join((title or "").split()),
            tables=tables,
            notes=tuple(walk.notes(tracked=content.find(f".//{_TEXT}tracked-changes") is not None)),
        )


class _Parts(NamedTuple):
    """The trees of a file's XML, None of those that it lacks, and its media type."""

    content: Any
    styles: Any
    meta: Any
    kind: str

    def margins(self, kind: str) -> Iterator[Any]:
        """Yield the headers or footers that differ: a letterhead names the sender."""
        seen: set[str] = set()
        for margin in (
            self.styles.iter(f"{_STYLE}{kind}", f"{_STYLE}{kind}-first") if self.styles is not None else ()
        ):
            said = " ".join(" ".join(margin.itertext()).split())
            if said and said not in seen:
                seen.add(said)
                yield margin


def _parts(path: Path) -> _Parts:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read(
                "META-INF/manifest.xml"
            ):
                raise BadInput("the OpenDocument file needs a password: save it without one")
            if archive.getinfo("content.xml").file_size > _MOST_BYTES:
                raise BadInput("the OpenDocument file holds too much: split it")
            content, styles, meta = (
                etree.fromstring(archive.read(name), parser) if name in names else None
                for name in ("content.xml", "styles.xml", "meta.xml")
            )
            kind = archive.read("mimetype").decode("ascii", "replace").strip() if "mimetype" in names else ""
    except (zipfile.BadZipFile, KeyError, etree.XMLSyntaxError) as error:
        raise BadInput(
            "the OpenDocument file is damaged: open it in LibreOffice and save it again"
        ) from error
    return _Parts(content, styles, meta, kind or "application/vnd.oasis.opendocument.text")


def _hidden_styles(content: Any) -> frozenset[str]:
    """Return the names of the styles of sheets and slides that are not shown."""
    return frozenset(
        style.get(f"{_STYLE}name")
        for style in content.iter(f"{_STYLE}style")
        for properties in style
        if properties.get(f"{_TABLE}display") == "false"
        or properties.get(f"{_PRESENTATION}visibility") == "hidden"
    )


class _Walk:
    """Writes the blocks of a document into a draft."""

    def __init__(self, draft: Draft, hidden_styles: frozenset[str]) -> None:
        self._draft = draft
        self._hidden_styles = hidden_styles
        self._hidden: list[str] = []
        self._notes = self._slides = 0

    def notes(self, *, tracked: bool) -> Iterator[str]:
        """Yield what a reader of the report should know."""
        if self._hidden:
            yield f"hidden parts were read too: {', '.join(self._hidden)}"
        if tracked:
            yield "has tracked changes: read as if all were accepted"

    def blocks(self, element: Any, mark: str = "") -> None:
        """Write the paragraphs, tables and slides inside an element; a mark stands before the first paragraph."""
        for child in element:
            tag = child.tag
            if not isinstance(tag, str) or (tag in _APART and tag not in _BOXES):
                continue
            if tag in {f"{_TEXT}p", f"{_TEXT}h"}:
                self._paragraph(child, mark)
                mark = ""
            elif tag == f"{_TABLE}table":
                self._table(child, is_sheet=element.tag == f"{_OFFICE}spreadsheet")
            elif tag == f"{_DRAW}page":
                self._slides += 1
                self._note_hidden(child.get(f"{_DRAW}style-name"), f"slide {self._slides}")
                self._draft.page()
                self.blocks(child)
            else:
                self.blocks(child, "- " if tag == f"{_TEXT}list-item" else mark)

    def _note_hidden(self, style: str | None, name: str) -> None:
        if style in self._hidden_styles:
            self._hidden.append(name)

    def _paragraph(self, paragraph: Any, mark: str) -> None:
        text = _said(paragraph)
        level = paragraph.get(f"{_TEXT}outline-level") or "1"
        if paragraph.tag == f"{_TEXT}h":
            self._draft.heading(text, int(level) if level.isdigit() else 1)
        elif text.strip():
            self._draft.paragraph(f"{mark}{text.strip()}")
        for apart in paragraph.iter(f"{_TEXT}note", f"{_OFFICE}annotation", *_BOXES):
            if apart.tag == f"{_TEXT}note":
                self._notes += 1
                kind = "Endnote" if apart.get(f"{_TEXT}note-class") == "endnote" else "Footnote"
                self._draft.paragraph(f"{kind} {self._notes}: {_lines(apart.find(f'{_TEXT}note-body'))}")
            elif apart.tag == f"{_OFFICE}annotation":
                by = apart.findtext(f"{_DC}creator") or "?"
                self._draft.paragraph(f"Comment by {by}: {_lines(apart)}")
            elif not _within(apart, paragraph):
                self.blocks(apart)

    def _table(self, table: Any, *, is_sheet: bool) -> None:
        title = table.get(f"{_TABLE}name") or "" if is_sheet else ""
        if is_sheet:
            self._note_hidden(table.get(f"{_TABLE}style-name"), title)
            self._draft.page(title)
            self._draft.heading(title, 1)
        heads = sum(1 for _ in table.iterfind(f"{_TABLE}table-header-rows/{_TABLE}table-row"))
        self._draft.table(self._rows(table), header=heads or None, title=title)
        hidden = {"row": 0, "column": 0}
        for part in table.iter(f"{_TABLE}table-row", f"{_TABLE}table-column"):
            if part.get(f"{_TABLE}visibility") in _HIDDEN:
                name = part.tag.rpartition("-")[2]
                hidden[name] += _number(part, f"number-{name}s-repeated")
        said = [f"{count:,} {name}{'s' if count > 1 else ''}" for name, count in hidden.items() if count]
        if said:
            self._hidden.append(f"{' and '.join(said)} of {title or 'a table'}")

    def _rows(self, table: Any) -> Iterator[list[str]]:
        """Yield the rows of a table; a cell that spans several stands in each."""
        below: dict[int, tuple[int, str]] = {}
        count = 0
        for row in table.iter(f"{_TABLE}table-row"):
            if next(row.iterancestors(f"{_TABLE}table")) is not table:
                continue
            cells = _cells(row, below)
            times = _number(row, "number-rows-repeated")
            for _ in range(min(times, _MOST_REPEATED) if any(cells) else 1):
                count += 1
                if count > _MOST_ROWS:
                    return
                yield list(cells)


def _cells(row: Any, below: dict[int, tuple[int, str]]) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag not in {f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"}:
            continue
        text = _value(cell)
        times = _number(cell, "number-columns-repeated")
        for _ in range(min(times, _MOST_COLUMNS - len(cells))):
            left, above = below.pop(len(cells), (0, ""))
            if left > 1:
                below[len(cells)] = (left - 1, above)
            down = _number(cell, "number-rows-spanned")
            if down > 1:
                below[len(cells)] = (down - 1, text)
            cells.append(text or above)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _value(cell: Any) -> str:
    """Return a cell as text: numbers as computed with their unit, days as 2025-03-31, else what it shows."""
    kind, value = cell.get(f"{_OFFICE}value-type"), cell.get(f"{_OFFICE}value") or ""
    if kind == "date" and (day := cell.get(f"{_OFFICE}date-value")):
        return str(day).replace("T00:00:00", "").replace("T", " ")
    if kind in {"float", "percentage", "currency"} and re.fullmatch(r"-?\d{1,15}(\.\d+)?", value):
        number = float(value) if "." in value else int(value)
        if kind == "percentage":
            return f"{plain(float(f'{number * 100:.15g}'))}%"
        currency = cell.get(f"{_OFFICE}currency") if kind == "currency" else ""
        return f"{plain(number)} {currency or ''}".strip()
    return _lines(cell)


def _within(box: Any, paragraph: Any) -> bool:
    """Return whether a text box lies in another one of its paragraph, which is written whole."""
    above = (parent for parent in box.iterancestors() if parent.tag in _BOXES)
    return any(paragraph in parent.iterancestors() for parent in above)


def _lines(element: Any) -> str:
    """Return the paragraphs inside an element, those of comments and notes not."""
    if element is None:
        return ""
    found = []
    for child in element:
        if child.tag in {f"{_TEXT}p", f"{_TEXT}h"}:
            found.append(_said(child).strip())
        elif isinstance(child.tag, str) and child.tag not in _APART:
            found.append(_lines(child))
    return " ".join(filter(None, found))


def _said(element: Any) -> str:
    """Return the words of a paragraph, without what is no part of it."""
    parts = [element.text or ""]
    for child in element:
        if child.tag in _SIGNS:
            parts.append(_SIGNS[child.tag])
        elif child.tag == f"{_TEXT}s":
            parts.append(" " * min(100, _number(child, "c", _TEXT)))
        elif isinstance(child.tag, str) and child.tag not in _APART:
            parts.append(_said(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _number(element: Any, name: str, space: str = _TABLE) -> int:
    value = element.get(f"{space}{name}") or ""
    return int(value) if value.isdigit() and len(value) < 8 else 1
