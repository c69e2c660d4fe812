"""Reads HTML and XML through lxml: headings, lists and tables stay, scripts and menus of markup go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.plain_text import cleaned, storable
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.readers.web.css_hidden import HiddenByCss
from citegraph.corpus.schema.document import Embedded, Table
from citegraph.errors import BadInput

_IGNORED = frozenset("script style noscript template head iframe svg object button nav".split())
_FIELDS = frozenset({"input", "select", "textarea"})
# What a page sends and does, not what somebody filled in.
_NO_VALUE = frozenset("hidden password submit button reset image file search".split())
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form header hr html li main ol p pre section summary tbody td tfoot th thead tr ul".split()
)
_HEADING = re.compile(r"h([1-6])")
# As browsers do; a page may claim any number.
_MOST_SPAN = 1_000
_CHARSET = re.compile(rb"""<(?:meta[^>]+charset|\?xml[^>]+encoding)\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)


class HtmlReader:
    """HTML; the title of the head is the document's."""

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        markup = markup_text(path.read_bytes())
        text, tables, title, hidden = read_html(markup)
        notes = (f"{hidden:,} characters of hidden text were left out",) if hidden else ()
        yield Reading(text, media_type="text/html", title=title, tables=tables, notes=notes)


class XmlReader:
    """XML, for the electronic invoices that come without a picture: a line for each element with text."""

    suffixes: tuple[str, ...] = (".xml",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=False)
        try:
            root = etree.fromstring(path.read_bytes(), parser)
        except etree.XMLSyntaxError as error:
            raise BadInput("not XML, or cut off: get it again, or name it .txt") from error
        lines = []
        for element in root.iter():
            if isinstance(element.tag, str) and (element.text or "").strip():
                name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", element.tag.rpartition("}")[2])
                lines.append(f"{name}: {' '.join((element.text or '').split())}")
        raw = etree.tostring(root, encoding="unicode")
        yield Reading(
            cleaned("\n".join(lines)),
            media_type="text/xml",
            embedded=(Embedded(path.name, "text/xml", storable(raw)),),
        )


def markup_text(data: bytes) -> str:
    """Return markup as text: UTF-8, else the encoding that it declares, else the one that fits best."""
    declared = _CHARSET.search(data[:2048])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if declared:
            try:
                return data.decode(declared.group(1).decode("ascii"))
            except (LookupError, UnicodeDecodeError):
                pass
    return decoded(data)


def read_html(markup: str) -> tuple[str, tuple[Table, ...], str, int]:
    """Return the text, the tables and the title of a page, and how many characters its styles hide.

    Raises:
        BadInput: it holds no markup at all.
    """
    from lxml import etree, html

    # lxml refuses text that declares its own encoding.
    markup = re.sub(r"^\s*<\?xml[^>]*\?>", "", markup.replace("\x00", " "))
    try:
        root = html.document_fromstring(markup)
    except (etree.ParserError, ValueError) as error:
        raise BadInput("the page is empty: save it again") from error
    hidden = HiddenByCss(root).take_out(root)
    for field in list(root.iter(*_FIELDS)):
        field.text = _filled_in(field)
        field.tag = "span"
        for option in list(field):
            field.remove(option)
    draft = Draft()
    _Walk(draft).block(root)
    text, _, tables = draft.finished()
    title = root.findtext(".//title") or ""
    return text, tables, " ".join(cleaned(title).split()), hidden


class _Walk:
    """Collects the words of a block until it ends; recursion is bounded by the parser (255 levels)."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._words: list[str] = []
        self._mark = ""

    def block(self, element: Any, mark: str = "") -> None:
        self._mark = mark
        self._inside(element)
        self._end()
        self._mark = ""

    def _inside(self, element: Any) -> None:
        preformatted = element.tag == "pre"
        self._say(element.text, preformatted)
        for child in element:
            if isinstance(child.tag, str) and child.tag not in _IGNORED:
                self._child(child)
            self._say(child.tail, preformatted)

    def _child(self, child: Any) -> None:
        heading = _HEADING.fullmatch(child.tag)
        if heading:
            self._end()
            self._draft.heading(" ".join(child.itertext()), int(heading.group(1)))
        elif child.tag == "table" and not child.xpath(".//table"):
            self._end()
            rows, heads = _rows(child)
            self._draft.table(rows, header=heads or None, title=_caption(child))
        elif child.tag == "br":
            self._words.append("\n")
        elif child.tag == "img":
            self._say(child.get("alt"))
        elif child.tag in _BLOCKS or child.tag == "table":
            self._end()
            self.block(child, _item_mark(child) if child.tag == "li" else "")
        else:
            self._inside(child)

    def _say(self, text: str | None, preformatted: bool = False) -> None:
        if text:
            self._words.append(text if preformatted else re.sub(r"\s+", " ", text))

    def _end(self) -> None:
        text = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(self._words)).strip()
        self._words.clear()
        if text:
            self._draft.paragraph(self._mark + text)
            self._mark = ""


def _filled_in(field: Any) -> str:
    """Return what a form's field holds, with a mark for a box as print has it; nothing of an empty one or of a button."""
    kind = (field.get("type") or "text").lower()
    if field.tag == "select":
        value = ", ".join("".join(item.itertext()).strip() for item in field.xpath(".//option[@selected]"))
    elif field.tag == "textarea":
        value = "".join(field.itertext())
    elif kind in {"checkbox", "radio"}:
        value = "☒" if field.get("checked") is not None else "☐"
    else:
        value = "" if kind in _NO_VALUE else field.get("value") or ""
    behind = "" if (field.tail or "")[:1].isspace() else " "
    return f" {value.strip()}{behind}" if value.strip() else ""


def _item_mark(item: Any) -> str:
    """Return what a browser prints in front of a list's item."""
    above = item.getparent()
    if above is None or above.tag != "ol":
        return "- "
    first = above.get("start") or ""
    place = sum(before.tag == "li" for before in item.itersiblings(preceding=True))
    return f"{(int(first) if first.isdigit() else 1) + place}. "


def _rows(table: Any) -> tuple[list[list[str]], int]:
    """Return the rows of a table as cells, and how many of them are column heads.

    A cell that spans columns is followed by empty ones; one that spans rows stands in each, so that rows stay aligned.
    """
    rows: list[list[str]] = []
    heads = 0
    below: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        cells: list[str] = []
        given = [cell for cell in row if cell.tag in {"td", "th"}]
        for cell in given:
            _fill(cells, below)
            text, down = " ".join(cell.itertext()), _span(cell, "rowspan")
            for column in range(_span(cell, "colspan")):
                if down > 1:
                    below[len(cells)] = (down - 1, "" if column else text)
                cells.append("" if column else text)
        _fill(cells, below)
        if (
            heads == len(rows)
            and given
            and (row.getparent().tag == "thead" or all(cell.tag == "th" for cell in given))
        ):
            heads += 1
        rows.append(cells)
    return rows, heads


def _fill(cells: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Append the cells of rows above that reach down to here."""
    while len(cells) in below:
        rest, text = below.pop(len(cells))
        if rest > 1:
            below[len(cells)] = (rest - 1, text)
        cells.append(text)


def _span(cell: Any, name: str) -> int:
    value = cell.get(name) or ""
    return min(_MOST_SPAN, max(1, int(value))) if value.isdecimal() and len(value) < 6 else 1


def _caption(table: Any) -> str:
    found = table.find("caption")
    return " ".join(" ".join(found.itertext()).split()) if found is not None else ""
