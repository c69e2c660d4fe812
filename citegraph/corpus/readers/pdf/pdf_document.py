"""Reads PDF page by page: text with a box a line, page labels, ruled tables, embedded XML, OCR for scans."""

from __future__ import annotations

import ctypes
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.images import recognition
from citegraph.corpus.readers.packed.containers import Member, read_members
from citegraph.corpus.readers.pdf import pdf_tables
from citegraph.corpus.readers.pdf.pdf_fonts import has_unmapped_fonts, reads_as_words, same_words
from citegraph.corpus.readers.pdf.pdf_forms import filled_in, written_on
from citegraph.corpus.readers.pdf.pdf_geometry import Glyphs, Placer
from citegraph.corpus.readers.pdf.pdf_hidden import take_off
from citegraph.corpus.readers.pdf.pdf_objects import Drawn, drawn_on, has_layers
from citegraph.corpus.readers.plain_text import PAGE_BREAK, cleaned, joined_pages, storable
from citegraph.corpus.readers.protocol import MEGABYTE, Passing, Reading, ReadOptions, Unread
from citegraph.corpus.schema.document import Box, Embedded, Layout, Line, Table
from citegraph.errors import BadInput

# PDFium marks a word broken at a line end with U+FFFE (older versions: U+0002), and ends its lines with CR LF.
_LINE_END = re.compile("(?P<hyphen>[\ufffe\u0002])(?:\r\n)?|\r\n")
_BETWEEN = re.compile(r"(?<=\S)\s+(?=\S)")
# Some fonts map their blanks to tabs and line ends; these are blanks inside a line.
_BLANKS = re.compile(r"[^\S\r\n\t\f]*[\r\n\t\f]\s*")
# Fewer visible characters beside a picture are a stamp on a scan, not its text.
_SCAN_CHARACTERS = 16
# On a page that is one picture more may be: a line that a scanner or a court puts on it.
_STAMP_CHARACTERS = 300
_MOSTLY = 0.6
_UNMAPPED = "its fonts do not say which letters they draw"
_EMBEDDED_BYTES = 20 * MEGABYTE
# Page numbers that a note names.
_SHOWN = 10


@dataclass(slots=True)
class PageText:
    """The text of one page; offsets of lines and tables count from its start.

    `problem` is why a scan was not read, `hidden` how many characters nobody sees on it, `recoded` whether it was
    recognised because its fonts do not say which letters they draw.
    """

    number: int
    text: str
    layout: Layout
    tables: list[Table] = field(default_factory=list)
    problem: str = ""
    passing: bool = False
    hidden: int = 0
    recoded: bool = False


class PdfReader:
    """PDF through pypdfium2; pages are opened one at a time, what cannot be recognised is named."""

    suffixes: tuple[str, ...] = (".pdf",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import pypdfium2

        try:
            with pypdfium2.PdfDocument(path) as pdf:
                if pdf.get_formtype():
                    pdf.init_forms()
                attached = pdf.count_attachments()
                pages = list(page_texts(pdf, options, layered=has_layers(path)))
                labels = [pdf.get_page_label(number) for number in range(len(pages))]
                title = _title(pdf.get_metadata_value("Title"))
                embedded = _embedded(pdf)
        except pypdfium2.PdfiumError as error:
            reason = (
                "needs a password: save it without one"
                if "password" in str(error).lower()
                else "is damaged or no PDF: open it in a viewer and save it again"
            )
            raise BadInput(f"the PDF {reason}") from error
        unread = _unread_pages(pages)
        if not any(page.text.strip() for page in pages) and not attached:
            nothing = "the PDF has no text and no pictures of text: nothing to read"
            kind = Passing if any(item.passing for item in unread) else BadInput
            raise kind(unread[0].reason if unread else nothing)
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
            notes=(*_hidden_notes(pages), *_recoded_notes(pages)),
        )
        yield from unread
        if attached:
            yield from read_members(self.members(path, options), options)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`; the XML of an invoice is part of the document itself."""
        import pypdfium2

        with pypdfium2.PdfDocument(path) as pdf:
            for number in range(pdf.count_attachments()):
                attachment = pdf.get_attachment(number)
                name = cleaned(attachment.get_name()).replace("\\", "/").rpartition("/")[2]
                if name.lower().endswith(".xml"):
                    continue
                data = bytes(attachment.get_data())
                yield Member(name or f"attachment {number + 1}", partial(io.BytesIO, data), len(data))


def page_texts(pdf: Any, options: ReadOptions, *, layered: bool = False) -> Iterator[PageText]:
    """Yield the pages of an open document, which may have layers; each is closed before the next one is opened."""
    for number in range(1, len(pdf) + 1):
        page = pdf[number - 1]
        try:
            drawn = drawn_on(page, layered=layered)
            yield _page_text(page, drawn, number, options, form=pdf.formenv)
        finally:
            page.close()


def _page_text(page: Any, drawn: Drawn, number: int, options: ReadOptions, *, form: Any) -> PageText:
    place = Placer(page)
    hidden = take_off(page, place, drawn)
    words = page.get_textpage()
    try:
        text, lines = _lines(words, place)
        text, lines = filled_in(text, lines, written_on(page, form, place))
        width, height = page.get_size()
        layout = Layout(number, width, height, tuple(lines))
        visible, problem, passing = sum(map(len, text.split())), "", False
        is_scan = visible < _STAMP_CHARACTERS and _is_picture(drawn, width * height)
        if drawn.pictures and (visible < _SCAN_CHARACTERS or is_scan):
            scan = _scanned(page, number, options)
            # Beside a stamp the scan says more; on a page with a picture behind its words it does not.
            least = 2 * visible if visible >= _SCAN_CHARACTERS else 1
            if len("".join(scan.text.split())) >= least or not text.strip():
                scan.hidden = hidden
                return scan
            problem, passing = scan.problem, scan.passing
        # A font without a map may be right all the same, as those of old typesetters are.
        if has_unmapped_fonts(words, text) and not reads_as_words(text):
            scan = _scanned(page, number, options)
            if scan.problem or not same_words(scan.text, text):
                scan.hidden, scan.recoded = hidden, not scan.problem
                scan.problem = scan.problem and f"{_UNMAPPED}: {scan.problem}"
                return scan
        tables = pdf_tables.tables_of(drawn, words, place, layout)
        return PageText(number, text, layout, tables, problem, passing, hidden)
    finally:
        words.close()


def _is_picture(drawn: Drawn, size: float) -> bool:
    """Return whether one picture covers most of a page of a size in square points."""
    return any(
        (right - left) * (top - bottom) >= _MOSTLY * size for left, bottom, right, top in drawn.pictures
    )


def _scanned(page: Any, number: int, options: ReadOptions) -> PageText:
    """Return what OCR reads on a page that holds a picture."""
    width, height = page.get_size()
    layout = Layout(number, width, height, recognised=True)
    reason = recognition.missing() if options.ocr else "OCR is switched off"
    if reason:
        return PageText(number, "", layout, problem=f"no text layer: {reason}")
    # At most 4,000 pixels a side: a poster at 300 dpi would take all memory.
    scale = min(recognition.DPI / 72, 4000 / max(width, height))
    picture = page.render(scale=scale, grayscale=True).to_pil()
    try:
        text, lines = recognition.recognised(picture, options.language)
    except BadInput as error:  # of one page; the others may be read
        return PageText(number, "", layout, problem=str(error), passing=isinstance(error, Passing))
    lines = [Line(line.start, line.end, Box(*(side / scale for side in line.box))) for line in lines]
    return PageText(number, text, Layout(number, width, height, tuple(lines), recognised=True))


def _lines(words: Any, place: Placer) -> tuple[str, list[Line]]:
    """Return a page's text, and the span and box of each line in it, of each cell where wide gaps part a line."""
    given = _given(words)
    # Only characters beyond the basic plane are two units.
    units_of = _units if max(given, default="") > "\uffff" else len
    glyphs = Glyphs(words, units_of(given))
    parts: list[str] = []
    lines: list[Line] = []
    at = units = start = 0
    for begin, end, close in _pieces(given):
        for first, last in _cells(glyphs, given[begin:end], units + units_of(given[at:begin]), units_of):
            # PDFium counts UTF-16 units, and some of its characters have no text.
            units += units_of(given[at : begin + first])
            at = begin + first
            piece = _BLANKS.sub(" ", cleaned(given[at : begin + last]).replace("\u00ad", ""))
            joint = close if begin + last == end else " "
            bounds = glyphs.bounds(units, units_of(given[at : begin + last])) if piece.strip() else None
            if bounds:
                lines.append(Line(start, start + len(piece) + (joint == "-\n"), place.box(*bounds)))
            parts.append(piece + joint)
            start += len(piece) + len(joint)
    return "".join(parts), lines


def _given(words: Any) -> str:
    """Return a page's text unit by unit: pypdfium2 drops half surrogates, and all offsets after them go astray."""
    from pypdfium2 import raw

    count = words.count_chars()
    units = (ctypes.c_ushort * (count + 1))()
    length = raw.FPDFText_GetText(words, 0, count, units)
    return bytes(units)[: 2 * max(0, length - 1)].decode("utf-16-le", "surrogatepass")


def _cells(
    glyphs: Glyphs, line: str, units: int, units_of: Callable[[str], int]
) -> Iterator[tuple[int, int]]:
    """Yield the spans that wide gaps separate in a line: the cells of a form or table."""
    begin = 0
    for blank in _BETWEEN.finditer(line):
        first = units + units_of(line[: blank.start()])
        if glyphs.far_apart(first - 1, first + len(blank[0])):
            yield begin, blank.start()
            begin = blank.end()
    yield begin, len(line)


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each line as (begin, end, what closes it)."""
    at = 0
    for found in _LINE_END.finditer(text):
        yield at, found.start(), "-\n" if found["hyphen"] else "\n"
        at = found.end()
    yield at, len(text), ""


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


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
            found.append(Embedded(name, "text/xml", storable(decoded(data))))
    return tuple(found)


def _unread_pages(pages: Sequence[PageText]) -> list[Unread]:
    """Return one line for each reason that pages gave no text."""
    reasons: dict[tuple[str, bool], list[str]] = {}
    for page in pages:
        if page.problem:
            reasons.setdefault((page.problem, page.passing), []).append(str(page.number))
    return [
        Unread(f"page{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}", reason, passing)
        for (reason, passing), numbers in reasons.items()
    ]


def _hidden_notes(pages: Sequence[PageText]) -> Iterator[str]:
    """Yield what was left out because nobody sees it, so that it is neither found nor cited."""
    hidden = [page for page in pages if page.hidden]
    if hidden:
        count = sum(page.hidden for page in hidden)
        yield f"{count:,} characters of hidden text were left out on {_numbered([page.number for page in hidden])}"


def _recoded_notes(pages: Sequence[PageText]) -> Iterator[str]:
    recoded = [page.number for page in pages if page.recoded]
    if recoded:
        yield (
            f"the fonts of {_numbered(recoded)} do not say which letters they draw: "
            f"{'they were' if len(recoded) > 1 else 'it was'} read by OCR"
        )


def _numbered(pages: Sequence[int]) -> str:
    """Return "page 2" or "pages 1, 2, 3 and 9 more"."""
    shown = ", ".join(map(str, pages[:_SHOWN]))
    return f"page{'s' if len(pages) > 1 else ''} {shown}" + (
        f" and {len(pages) - _SHOWN} more" if len(pages) > _SHOWN else ""
    )


def _title(declared: str) -> str:
    """Return the declared title unless it is what a program put there: a path, a file name, "untitled"."""
    title = " ".join(cleaned(declared).split())
    machine = (
        r"untitled|(microsoft \w+ - )?\S*\.\w{2,5}|.*\.(docx?|xlsx?|pptx?|pdf|html?|indd|qxd|fm|tmp)|\w+://.*"
    )
    return "" if re.fullmatch(machine, title, re.IGNORECASE) else title
