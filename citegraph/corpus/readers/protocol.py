"""What every reader takes and gives: a file in, documents with pages, boxes, tables and embedded files out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from citegraph.corpus.schema.document import Document, Embedded, Layout, Page, Table
from citegraph.errors import BadInput

NO_TEXT_HINT = "no text: pass it with --annotations"
MEGABYTE = 1024 * 1024


@dataclass(slots=True)
class Budget:
    """What a file may still hold: files and bytes, those in containers inside of it counted too."""

    members: int
    unpacked: int


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read, and where it stops.

    Attributes:
        language: ISO 639-1 code of the bucket; the first language that OCR tries.
        ocr: whether pages without text are recognised when Tesseract is installed.
        depth: containers inside containers (a ZIP in an e-mail in a ZIP) that are opened.
        members: files that one container may hold.
        unpacked: bytes that the members of one container may have together.
        budget: what is left of both for a container inside of another.
        read: reads a file inside of the file; the registry puts itself here.
    """

    language: str = "en"
    ocr: bool = True
    depth: int = 3
    members: int = 10_000
    unpacked: int = 1024 * MEGABYTE
    budget: Budget | None = None
    read: Callable[[Path, ReadOptions], Iterator[Reading | Unread]] | None = None


DEFAULT_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True)
class Reading:
    """One document as a file holds it; offsets are characters of `text`.

    Attributes:
        doc_id: given by the file itself (JSONL), else empty.
        part: where in the file the document stands ("invoice.pdf", "a.zip/b.txt"): the attachments of
            an e-mail and the members of an archive; empty for the file's own document.
        metadata: annotation columns that came with the text.
        title: what the format itself declares as title, else empty.
        layouts: for PDF and images, where each line lies on its page.
        tables: the tables that the format declares or rules draw.
        embedded: files inside the document that say the same for machines (the XML of an invoice).
        notes: what a reader of the report should know ("named .txt, read as PDF").
    """

    text: str
    pages: tuple[Page, ...] = ()
    media_type: str = "text/plain"
    title: str = ""
    doc_id: str = ""
    source_file: str = ""
    url: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    part: str = ""
    layouts: tuple[Layout, ...] = ()
    tables: tuple[Table, ...] = ()
    embedded: tuple[Embedded, ...] = ()
    notes: tuple[str, ...] = ()

    def as_document(self, **named: Any) -> Document:
        """Return the document that the reading becomes; `named` are the fields of it that no file holds."""
        held = ("text", "title", "media_type", "pages", "url", "layouts", "tables", "embedded")
        return Document(**{name: getattr(self, name) for name in held}, **named)


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a file that gives no document, and why; `where` is "line 12", "photo.heic" or empty.

    `passing` says that the same bytes may be read another time: the disk was full, OCR took too long.
    """

    where: str
    reason: str
    passing: bool = False


class Passing(BadInput):
    """Something cannot be read now; the same bytes may be another time."""


class Reader(Protocol):
    """Reads files of one format; a library that is slow to import is imported in `read`."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the file name endings of the format, lower case with the dot."""
        ...

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """Yield the file's documents, usually one.

        Raises:
            BadInput: the file cannot be read at all; the message is the reason.
        """
        ...
