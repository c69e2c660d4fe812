"""Reads Word documents and PowerPoint presentations, through python-docx and python-pptx."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.office.number_formats import plain
from citegraph.corpus.readers.office.word import (
    W,
    blocks_of,
    boxes_of,
    is_hidden,
    note_references,
    rows_of,
    text_of,
)
from citegraph.corpus.readers.office.word_numbers import Numbers, list_of
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.errors import BadInput
from citegraph.language.word_tables import alternation

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_TYPES = "[Content_Types].xml"
_MAIN = re.compile(rb'"application/vnd\.[\w.-]+\.main\+xml"')
_HEADING = re.compile(rf"(?:{alternation('labels', 'headings')}) ?(\d)", re.IGNORECASE)


class DocxReader:
    """Word: headings, numbered paragraphs, tables, text boxes, notes and comments in their order.

    Where pages break only the printer knows.
    """

    suffixes: tuple[str, ...] = (".docx", ".docm", ".dotx", ".dotm")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import docx

        try:
            document = docx.Document(_as_plain(path, _DOCX))
        except Exception as error:
            raise BadInput("the Word document is damaged: open it in Word and save it again") from error
        draft = Draft()
        walk = _Word(document, draft)
        for margin in _margins(document, "header"):
            walk.blocks(margin._element, margin)
        walk.blocks(document.element.body, document)
        for margin in _margins(document, "footer"):
            walk.blocks(margin._element, margin)
        walk.comments()
        text, _, tables = draft.finished()
        title = " ".join((document.core_properties.title or "").split())
        yield Reading(text, media_type=_DOCX, title=title, tables=tables, notes=tuple(_notes(document)))


def _as_plain(path: Path, kind: str) -> Any:
    """Return a file, or a copy in memory that says it is a plain document: the libraries take no template, show or macros."""
    with zipfile.ZipFile(path) as archive:
        types = archive.read(_TYPES)
        plain = _MAIN.sub(f'"{kind}.main+xml"'.encode(), types)
        if plain == types:
            return str(path)
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as target:
            for name in archive.namelist():
                target.writestr(name, plain if name == _TYPES else archive.read(name))
    return copy


def _margins(document: Any, kind: str) -> Iterator[Any]:
    """Yield the headers or footers that differ: a letterhead names the sender."""
    seen: set[str] = set()
    for section in document.sections:
        for margin in (getattr(section, f"{which}{kind}") for which in ("first_page_", "", "even_page_")):
            text = "" if margin.is_linked_to_previous else "".join(margin._element.itertext()).strip()
            if text and text not in seen:
                seen.add(text)
                yield margin


def _notes(document: Any) -> Iterator[str]:
    body = document.element.body
    if next(body.iter(f"{W}ins", f"{W}del", f"{W}moveFrom"), None) is not None:
        yield "has tracked changes: read as if all were accepted"
    if any(is_hidden(run) for run in body.iter(f"{W}r")):
        yield "has hidden text: left out"


class _Word:
    """Writes the blocks of a Word document into a draft."""

    def __init__(self, document: Any, draft: Draft) -> None:
        self._draft = draft
        self._part = document.part
        self._numbers = Numbers(self._root("numbering"))
        self._given = {"Footnote": self._texts("footnotes"), "Endnote": self._texts("endnotes")}
        self._counts = {"Footnote": 0, "Endnote": 0}

    def blocks(self, element: Any, parent: Any) -> None:
        """Write the paragraphs and tables inside an element, whose styles are those of the part of `parent`."""
        for block in blocks_of(element):
            if block.tag == f"{W}tbl":
                rows, heads = rows_of(block)
                self._draft.table(rows, header=heads or None)
            else:
                self._paragraph(block, parent)
                for box in boxes_of(block):
                    self.blocks(box, parent)
            for kind, number in note_references(block):
                self._counts[kind] += 1
                self._draft.paragraph(f"{kind} {self._counts[kind]}: {self._given[kind].get(number, '')}")

    def _paragraph(self, block: Any, parent: Any) -> None:
        from docx.text.paragraph import Paragraph

        style = Paragraph(block, parent).style
        styles = []
        while style is not None and style not in styles:
            styles.append(style)
            style = style.base_style
        text = text_of(block)
        label = self._label(block, styles) if text.strip() else ""
        names = [item.name or "" for item in styles]
        level = next(filter(None, map(_HEADING.match, names)), None)
        if level or "Title" in names:
            self._draft.heading(f"{label} {text}", int(level[1]) if level else 1)
        else:
            bullet = "-" if names and names[0].startswith("List") and not label else label
            self._draft.paragraph(f"{bullet} {text}" if text.strip() else "")

    def _label(self, block: Any, styles: Sequence[Any]) -> str:
        """Return what Word prints in front of a paragraph: of its own list, else that of its style."""
        own = list_of(block.pPr)
        named = [found for style in styles if (found := list_of(style.element.pPr))]
        number = next((found[0] for found in (*filter(None, [own]), *named) if found[0]), "")
        return self._numbers.label(number, (own or (named[0] if named else ("", 0)))[1]) if number else ""

    def comments(self) -> None:
        """Write the comments of all reviewers under a heading of their own: they are no part of the text."""
        root = self._root("comments")
        found = [
            (item.get(f"{W}author") or "?", " ".join(_lines(item)))
            for item in (root if root is not None else ())
        ]
        if any(text for _, text in found):
            self._draft.heading("Comments", 2)
        for author, text in found:
            self._draft.paragraph(f"Comment by {author}: {text}" if text else "")

    def _texts(self, kind: str) -> dict[str, str]:
        root = self._root(kind)
        return {item.get(f"{W}id"): "\n".join(_lines(item)) for item in (root if root is not None else ())}

    def _root(self, kind: str) -> Any:
        """Return the XML of a part beside the document, None when there is none."""
        from docx.oxml.parser import parse_xml

        for relation in self._part.rels.values():
            if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
                return parse_xml(relation.target_part.blob)
        return None


def _lines(note: Any) -> list[str]:
    texts = [text_of(block) for block in blocks_of(note) if block.tag == f"{W}p"]
    return [" ".join(text.split()) for text in texts if text.strip()]


class PptxReader:
    """PowerPoint: a slide is a page; titles, text, tables and speaker notes."""

    suffixes: tuple[str, ...] = (".pptx", ".pptm", ".ppsx", ".potx")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import pptx

        try:
            presentation = pptx.Presentation(_as_plain(path, _PPTX))
        except Exception as error:
            raise BadInput("the presentation is damaged: open it in PowerPoint and save it again") from error
        draft = Draft()
        hidden = 0
        for slide in presentation.slides:
            draft.page()
            title = slide.shapes.title
            if title is not None:
                draft.heading(title.text_frame.text, 1)
            _shapes((shape for shape in slide.shapes if shape != title), draft)
            hidden += slide.element.get("show") in {"0", "false"}
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                draft.paragraph(slide.notes_slide.notes_text_frame.text)
        text, pages, tables = draft.finished()
        title = " ".join((presentation.core_properties.title or "").split())
        made_up = title.lower() in {"powerpoint presentation", "powerpoint-präsentation"}
        notes = (f"{hidden:,} hidden slides were read too",) if hidden else ()
        yield Reading(text, pages, _PPTX, "" if made_up else title, tables=tables, notes=notes)


def _shapes(shapes: Iterable[Any], draft: Draft) -> None:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            _shapes(shape.shapes, draft)
        elif getattr(shape, "has_table", False):
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            draft.table(rows, header=None)
        elif getattr(shape, "has_chart", False):
            _chart(shape.chart, draft)
        elif shape.has_text_frame:
            draft.paragraph(shape.text_frame.text.replace("\v", "\n"))


def _chart(chart: Any, draft: Draft) -> None:
    """Write the numbers of a chart as a table: a row a category, a column a series."""
    if chart.has_title and chart.chart_title.has_text_frame:
        draft.paragraph(chart.chart_title.text_frame.text)
    for plot in chart.plots:
        series = list(plot.series)
        rows = [["", *(item.name or "" for item in series)]]
        for number, category in enumerate(plot.categories):
            values = [item.values[number] if number < len(item.values) else None for item in series]
            rows.append([str(category), *("" if value is None else plain(value) for value in values)])
        draft.table(rows if len(rows) > 1 else [])
