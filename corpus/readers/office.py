"""Reads Word documents and PowerPoint presentations, through python-docx and python-pptx."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from corpus.readers.draft import Draft
from corpus.readers.protocol import Reading, ReadOptions, Unread
from llm.errors import BadInput

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


class DocxReader:
    """Word: headings, paragraphs and tables in their order; where pages break only the printer knows."""

    suffixes: tuple[str, ...] = (".docx",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import docx

        try:
            document = docx.Document(str(path))
        except Exception as error:
            raise BadInput("the Word document is damaged or protected") from error
        draft = Draft()
        _blocks(_margins(document, "header"), draft)
        _blocks(document.iter_inner_content(), draft)
        _blocks(_margins(document, "footer"), draft)
        text, _, tables = draft.finished()
        title = " ".join((document.core_properties.title or "").split())
        yield Reading(text, media_type=_DOCX, title=title, tables=tables)


def _margins(document: Any, kind: str) -> Iterator[Any]:
    """Yield the blocks of the first section's header or footer: a letterhead names the sender."""
    for section in list(document.sections)[:1]:
        margin = getattr(section, kind)
        if not margin.is_linked_to_previous:
            yield from margin.iter_inner_content()


def _blocks(blocks: Iterable[Any], draft: Draft) -> None:
    for block in blocks:
        if hasattr(block, "rows"):
            draft.table(_cells(block))
            continue
        style = (block.style.name if block.style is not None else "") or ""
        level = re.match(r"(?:heading|überschrift|titre) ?(\d)", style, re.IGNORECASE)
        if level or style == "Title":
            draft.heading(block.text, int(level.group(1)) if level else 1)
        else:
            mark = "- " if style.startswith("List") and block.text.strip() else ""
            draft.paragraph(mark + block.text)


def _cells(table: Any) -> Iterator[list[str]]:
    """Yield the rows; a cell that spans several columns stands once."""
    for row in table.rows:
        seen: set[Any] = set()
        cells = []
        for cell in row.cells:
            cells.append("" if cell._tc in seen else cell.text)
            seen.add(cell._tc)
        yield cells


class PptxReader:
    """PowerPoint: a slide is a page; titles, text, tables and speaker notes."""

    suffixes: tuple[str, ...] = (".pptx",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import pptx

        try:
            presentation = pptx.Presentation(str(path))
        except Exception as error:
            raise BadInput("the presentation is damaged or protected") from error
        draft = Draft()
        for slide in presentation.slides:
            draft.page()
            title = slide.shapes.title
            if title is not None:
                draft.heading(title.text_frame.text, 1)
            _shapes((shape for shape in slide.shapes if shape != title), draft)
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                draft.paragraph(slide.notes_slide.notes_text_frame.text)
        text, pages, tables = draft.finished()
        title = " ".join((presentation.core_properties.title or "").split())
        made_up = title.lower() in {"powerpoint presentation", "powerpoint-präsentation"}
        yield Reading(text, pages, _PPTX, "" if made_up else title, tables=tables)


def _shapes(shapes: Iterable[Any], draft: Draft) -> None:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            _shapes(shape.shapes, draft)
        elif getattr(shape, "has_table", False):
            draft.table([cell.text for cell in row.cells] for row in shape.table.rows)
        elif shape.has_text_frame:
            draft.paragraph(shape.text_frame.text.replace("\v", "\n"))
