"""Walks through the XML of a Word document: what a reader of the printed page sees, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_ANCHOR = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}anchor"
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
# The least level of a colour's channels that nobody sees on white paper.
_WHITE = 0xF0
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# Wrappers around blocks and runs: content controls, insertions, moves to here, fields, links, tags.
_DELETED = frozenset({f"{W}del", f"{W}moveFrom"})
_SIGNS = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "-",
}
_NOTES = {f"{W}footnoteReference": "Footnote", f"{W}endnoteReference": "Endnote"}
_BOX = f"{W}txbxContent"


def blocks_of(element: Any) -> Iterator[Any]:
    """Yield the paragraphs and tables of a body, cell, note or text box, those in content controls too."""
    for child in element:
        if child.tag in {f"{W}p", f"{W}tbl"}:
            yield child
        elif isinstance(child.tag, str) and child.tag not in _DELETED:
            yield from blocks_of(child)


def text_of(paragraph: Any) -> str:
    """Return the text of a paragraph: insertions in, deletions and hidden runs out; text boxes are blocks of their own."""
    return "".join(_pieces(paragraph))


def _pieces(element: Any) -> Iterator[str]:
    for child in element:
        tag = child.tag
        if tag in {f"{W}t", _MATHS}:
            yield child.text or ""
        elif tag in _SIGNS:
            yield _SIGNS[tag]
        elif tag in _DELETED or tag in {_BOX, _FALLBACK} or not isinstance(tag, str):
            continue
        elif not (tag == f"{W}r" and is_hidden(child)):
            yield from _pieces(child)


def is_hidden(run: Any) -> bool:
    """Return whether a run's own format hides it: as hidden text, by a size of a point, or as white on white."""
    form = run.find(f"{W}rPr")
    if form is None:
        return False
    mark = form.find(f"{W}vanish")
    if mark is not None and mark.get(f"{W}val") not in {"0", "false"}:
        return True
    # Sizes count half points.
    size = form.find(f"{W}sz")
    if size is not None and size.get(f"{W}val") in {"0", "1", "2"}:
        return True
    colour = form.find(f"{W}color")
    return colour is not None and _is_white(colour.get(f"{W}val")) and _is_on_paper(run, form)


def _is_white(colour: str | None) -> bool:
    return bool(_HEX.fullmatch(colour or "")) and min(bytes.fromhex(colour or "")) >= _WHITE


def _is_on_paper(run: Any, form: Any) -> bool:
    """Return whether nothing darker can lie behind a run: no shade, table, text box, picture or page colour."""
    if form.find(f"{W}shd") is not None or form.find(f"{W}highlight") is not None:
        return False
    for parent in run.iterancestors():
        if parent.tag in {f"{W}tbl", _BOX, f"{W}hdr", f"{W}ftr"}:
            return False
        if parent.tag == f"{W}p" and parent.find(f"{W}pPr/{W}shd") is not None:
            return False
        if parent.tag == f"{W}body":
            behind = (anchor.get("behindDoc") in {"1", "true"} for anchor in parent.iter(_ANCHOR))
            return not any(behind) and parent.getparent().find(f"{W}background") is None
    return False


def boxes_of(paragraph: Any) -> Iterator[Any]:
    """Yield the text boxes that hang on a paragraph, once each: Word writes them twice, for old versions too."""
    for box in paragraph.iter(_BOX):
        above = [parent.tag for parent in box.iterancestors()]
        if (
            _FALLBACK not in above
            and _BOX not in above[: above.index(paragraph.tag) if paragraph.tag in above else None]
        ):
            yield box


def note_references(element: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, id) of the notes that a paragraph or table refers to, in order."""
    for reference in element.iter(*_NOTES):
        yield _NOTES[reference.tag], reference.get(f"{W}id")


def rows_of(table: Any) -> tuple[list[list[str]], int]:
    """Return the rows of a table as cells, and how many of them Word repeats as column heads on each page.

    A cell that spans several columns is followed by empty ones; one that spans several rows stands in each.
    """
    rows: list[list[str]] = []
    heads = 0
    for row in _inside(table, f"{W}tr"):
        cells: list[str] = [""] * _number(row, f"{W}trPr/{W}gridBefore")
        for cell in _inside(row, f"{W}tc"):
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and merged.get(f"{W}val") != "restart"
            above = rows[-1][len(cells)] if goes_on and rows and len(cells) < len(rows[-1]) else ""
            cells.append(above or _cell(cell))
            cells += [""] * (_number(cell, f"{W}tcPr/{W}gridSpan") - 1)
        if heads == len(rows) and row.find(f"{W}trPr/{W}tblHeader") is not None:
            heads += 1
        rows.append(cells)
    return rows, heads


def _inside(element: Any, tag: str) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, those in content controls too."""
    for child in element:
        if child.tag == tag:
            yield child
        elif isinstance(child.tag, str) and child.tag not in _DELETED and not child.tag.endswith("Pr"):
            yield from _inside(child, tag) if child.tag not in {f"{W}tc", f"{W}tr", f"{W}p"} else ()


def _number(element: Any, path: str) -> int:
    found = element.find(path)
    value = found.get(f"{W}val", "") if found is not None else ""
    return int(value) if value.isdigit() and len(value) < 4 else 0


def _cell(cell: Any) -> str:
    """Return the text of a cell; a table inside of it becomes lines."""
    parts = []
    for block in blocks_of(cell):
        if block.tag == f"{W}p":
            parts.append(text_of(block))
            parts += ["\n".join(map(text_of, box.iter(f"{W}p"))) for box in boxes_of(block)]
        else:
            parts += [", ".join(filter(None, row)) + ";" for row in rows_of(block)[0] if any(row)]
    return "\n".join(part for part in parts if part.strip())
