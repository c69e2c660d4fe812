"""Reads PDF page by page: text with a box a line, page labels, ruled tables, embedded XML, OCR for scans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from corpus.readers import pdf_tables, recognition
from corpus.readers.pdf_geometry import Placer
from corpus.readers.protocol import MEGABYTE, Reading, ReadOptions, Unread
from corpus.readers.text import PAGE_BREAK, cleaned, decoded, joined_pages
from corpus.types import Box, Embedded, Layout, Line, Table
from llm.errors import BadInput

# PDFium marks a word broken at a line end with U+FFFE (older versions: U+0002).
_LINE_END = re.compile("(?P<hyphen>[\ufffe\u0002])(?:\r\n)?|\r\n|[\r\n\f]")
# Fewer visible characters beside a picture are a stamp on a scan, not its text.
_SCAN_CHARACTERS = 16
_EMBEDDED_BYTES = 20 * MEGABYTE


@dataclass(slots=True)
class PageText:
    """The text of one page; offsets of lines and tables count from its start."""

    number: int
    text: str
    layout: Layout
    tables: list[Table] = field(default_factory=list)
    problem: str = ""


class PdfReader:
    """PDF through pypdfium2; pages are opened one at a time, what cannot be recognised is named."""

    suffixes: tuple[str, ...] = (".pdf",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import pypdfium2

        try:
            with pypdfium2.PdfDocument(path) as pdf:
                pages = list(page_texts(pdf, options))
                labels = [pdf.get_page_label(number) for number in range(len(pages))]
                title = _title(pdf.get_metadata_value("Title"))
                embedded = _embedded(pdf)
        except pypdfium2.PdfiumError as error:
            reason = "needs a password" if "password" in str(error).lower() else "is damaged or no PDF"
            raise BadInput(f"the PDF {reason}") from error
        unread = _unread_pages(pages)
        if not any(page.text.strip() for page in pages):
            raise BadInput(pages[0].problem if unread else "the PDF has no text and no pictures of text")
        texts = [page.text for page in pages]
        spans = joined_pages(texts, labels)
        starts = [span.start for span in spans]
        yield Reading(
            text=PAGE_BREAK.join(texts),
            pages=spans,
            media_type="application/pdf",
            title=title,
            layouts=tuple(_moved(page.layout, start) for page, start in zip(pages, starts, strict=True)),
            tables=tuple(
                replace(table, start=table.start + start, end=table.end + start)
                for page, start in zip(pages, starts, strict=True)
                for table in page.tables
            ),
            embedded=embedded,
        )
        yield from unread


def page_texts(pdf: Any, options: ReadOptions) -> Iterator[PageText]:
    """Yield the pages of an open document; each is closed before the next one is opened."""
    for number in range(1, len(pdf) + 1):
        page = pdf[number - 1]
        try:
            yield _page_text(page, number, options)
        finally:
            page.close()


def _page_text(page: Any, number: int, options: ReadOptions) -> PageText:
    words = page.get_textpage()
    try:
        place = Placer(page)
        text, lines = _lines(words, place)
        width, height = page.get_size()
        layout = Layout(number, width, height, tuple(lines))
        if len(text.split()) < _SCAN_CHARACTERS and sum(map(len, text.split())) < _SCAN_CHARACTERS:
            scan = _scanned(page, number, options)
            if scan is not None and (scan.text or not text.strip()):
                return scan
        return PageText(number, text, layout, pdf_tables.tables_of(page, words, place, layout))
    finally:
        words.close()


def _scanned(page: Any, number: int, options: ReadOptions) -> PageText | None:
    """Return what OCR reads on a page that holds a picture; None when it holds none."""
    from pypdfium2 import raw

    if next(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3), None) is None:
        return None
    width, height = page.get_size()
    layout = Layout(number, width, height, recognised=True)
    reason = recognition.missing() if options.ocr else "OCR is switched off"
    if reason:
        return PageText(number, "", layout, problem=f"no text layer: {reason}")
    # At most 4,000 pixels a side: a poster at 300 dpi would take all memory.
    scale = min(recognition.DPI / 72, 4000 / max(width, height))
    picture = page.render(scale=scale, grayscale=True).to_pil()
    text, lines = recognition.recognised(picture, options.language)
    lines = [Line(line.start, line.end, Box(*(side / scale for side in line.box))) for line in lines]
    return PageText(number, text, Layout(number, width, height, tuple(lines), recognised=True))


def _lines(words: Any, place: Placer) -> tuple[str, list[Line]]:
    """Return a page's text, and the span and box of each line in it."""
    from pypdfium2 import raw

    given = words.get_text_range()
    parts: list[str] = []
    lines: list[Line] = []
    at = units = start = 0
    for begin, end, close in _pieces(given):
        # PDFium counts UTF-16 units, and some of its characters have no text.
        units += _units(given[at:begin])
        at = begin
        piece = cleaned(given[begin:end])
        if piece.strip():
            first = raw.FPDFText_GetCharIndexFromTextIndex(words, units)
            rectangles = [
                words.get_rect(n) for n in range(words.count_rects(first, _units(given[begin:end])))
            ]
            if rectangles:
                sides = list(zip(*rectangles, strict=True))
                box = place.box(min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3]))
                lines.append(Line(start, start + len(piece) + (close == "-\n"), box))
        parts.append(piece + close)
        start += len(piece) + len(close)
    return "".join(parts), lines


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each line as (begin, end, what closes it)."""
    at = 0
    for found in _LINE_END.finditer(text):
        yield at, found.start(), "-\n" if found["hyphen"] else "\n"
        at = found.end()
    yield at, len(text), ""


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _moved(layout: Layout, by: int) -> Layout:
    lines = tuple(Line(line.start + by, line.end + by, line.box) for line in layout.lines)
    return Layout(layout.number, layout.width, layout.height, lines, layout.recognised)


def _embedded(pdf: Any) -> tuple[Embedded, ...]:
    """Return the XML files inside the document: Factur-X, ZUGFeRD and Order-X put an invoice there."""
    found = []
    for number in range(pdf.count_attachments()):
        attachment = pdf.get_attachment(number)
        name = attachment.get_name()
        if not name.lower().endswith(".xml"):
            continue
        data = bytes(attachment.get_data())
        if len(data) <= _EMBEDDED_BYTES:
            found.append(Embedded(name, "text/xml", cleaned(decoded(data))))
    return tuple(found)


def _unread_pages(pages: Sequence[PageText]) -> list[Unread]:
    """Return one line for each reason that pages gave no text."""
    reasons: dict[str, list[str]] = {}
    for page in pages:
        if page.problem:
            reasons.setdefault(page.problem, []).append(str(page.number))
    return [
        Unread(f"page{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}", reason)
        for reason, numbers in reasons.items()
    ]


def _title(declared: str) -> str:
    """Return the declared title unless it is what a program put there: a path, a file name, "untitled"."""
    title = " ".join(cleaned(declared).split())
    machine = (
        r"untitled|(microsoft \w+ - )?\S*\.\w{2,5}|.*\.(docx?|xlsx?|pptx?|pdf|html?|indd|qxd|fm|tmp)|\w+://.*"
    )
    return "" if re.fullmatch(machine, title, re.IGNORECASE) else title
