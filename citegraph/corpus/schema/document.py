"""The nouns of the corpus: document, page, chunk and hit."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a document as a span of its text.

    Attributes:
        number: position in the file, from 1.
        start, end: character offsets into `Document.text`, end exclusive.
        label: the printed page label ("iv", "A-3") when the file carries one.
    """

    number: int
    start: int
    end: int
    label: str | None = None


class Box(NamedTuple):
    """A rectangle on a page, from its upper left corner: points (1/72 inch) in a PDF, pixels in an image."""

    left: float
    top: float
    right: float
    bottom: float


class Line(NamedTuple):
    """A line of text on a page: characters `start` to `end` (exclusive) of the document lie in `box`."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the lines of one page lie; width and height in the unit of the boxes.

    `number` is that of the page, `recognised` says that the text came from OCR.
    """

    number: int
    width: float
    height: float
    lines: tuple[Line, ...] = ()
    recognised: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table as rows of cells.

    Attributes:
        start, end: characters of the document that hold it, end exclusive; its rows stand in them as lines.
        header: how many of the first rows are column heads.
        page: number of the page, None when the format has none.
        title: the sheet's name or the caption, else empty.
    """

    start: int
    end: int
    rows: tuple[tuple[str, ...], ...]
    header: int = 1
    page: int | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A file inside a document: the XML of an electronic invoice, for one."""

    name: str
    media_type: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document as read: its whole text and where its pages lie.

    `pages` is empty when the format has no pages (text, Markdown): a page number is then unknown
    and is never guessed. `source_file` is the name that people know the document by, `source_path`
    the file that it was read from (`part_path` for a part of a container). `layouts`, `tables` and
    `embedded` come with a document that was just read and from `DocumentStore.whole`. A document with
    `labels` is seen by those who may see one of them.
    """

    doc_id: str
    bucket: str
    text: str
    source_file: str
    content_hash: str
    title: str = ""
    media_type: str = "text/plain"
    pages: tuple[Page, ...] = ()
    url: str | None = None
    source_path: str = ""
    layouts: tuple[Layout, ...] = ()
    tables: tuple[Table, ...] = ()
    embedded: tuple[Embedded, ...] = ()
    labels: tuple[str, ...] = ()


def page_at(pages: tuple[Page, ...], offset: int) -> Page | None:
    """Return the last page that starts at or before `offset`, None when there is none."""
    place = bisect_right(pages, offset, key=lambda page: page.start)
    return pages[place - 1] if place else None


def safe_id(name: str) -> str:
    """Return a document id that can stand in a `[doc_id]` marker: no blanks, brackets or separators."""
    return re.sub(r"[\s\[\]{}<>|,;\"'`]+", "-", name).strip("-")[:200] or "document"


PART = "!/"


def part_path(file: str, part: str) -> str:
    """Return the source path of a part of a container file: "mails/a.eml!/invoice.pdf"."""
    return f"{file}{PART}{part}" if part else file


def file_of(source_path: str) -> str:
    """Return the file on disk that a source path names or lies in."""
    return source_path.partition(PART)[0]


Level = Literal["segment", "section", "document"]
"""What a point of the index stands for: a passage, or the summary of a section or of a whole document."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document that is indexed as one point.

    Attributes:
        chunk_id: UUID string, stable for the same document id, span and text.
        start, end: character offsets into the document's text.
        page_first, page_last: page numbers that the span touches; None when the format has none.
        content_hash: SHA-256 of the text, hexadecimal.
        identifiers: whole identifiers found by the bucket's patterns, folded to lower case.
        title: the document's title.
        context: title and names from the annotations, indexed with the text so that each chunk says
            what it belongs to; not part of the document's text.
        heads: the column heads of the table that the chunk begins inside of, else empty; part of `context`.
        level: a summary's span is that of what it sums up, its `ordinal` that of the first chunk there.
        covers: how many chunks a summary stands for.
        summarised: whether the document has summaries.
    """

    chunk_id: str
    doc_id: str
    bucket: str
    ordinal: int
    text: str
    start: int
    end: int
    content_hash: str
    source_file: str
    page_first: int | None = None
    page_last: int | None = None
    identifiers: tuple[str, ...] = ()
    title: str = ""
    context: str = ""
    heads: str = ""
    level: Level = "segment"
    covers: int = 1
    summarised: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search returned, with its score (higher is better, comparable within one search).

    `similarity` is the cosine to the query where the dense vector was asked, else None.
    """

    chunk: Chunk
    score: float
    similarity: float | None = None
    tools: tuple[str, ...] = field(default=())
