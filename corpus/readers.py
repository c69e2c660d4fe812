"""Reads files into text with pages: one reader a format, found by the file's suffix."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from corpus.types import Page
from llm.errors import BadInput

PAGE_BREAK = "\f"
NO_TEXT_HINT = "no text: pass it with --annotations"
# Bytes that are looked at to tell text from binary.
_SNIFF = 8192


@dataclass(frozen=True, slots=True)
class Reading:
    """One document as a file holds it.

    Attributes:
        doc_id: given by the file itself (JSONL), else empty.
        metadata: annotation columns that came with the text.
        title: what the format itself declares as title, else empty.
    """

    text: str
    pages: tuple[Page, ...] = ()
    media_type: str = "text/plain"
    title: str = ""
    doc_id: str = ""
    source_file: str = ""
    url: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a file that gives no document, and why; `where` is "line 12" or empty."""

    where: str
    reason: str


class Reader(Protocol):
    """Reads files of one format."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the file name endings of the format, lower case with the dot."""
        ...

    def read(self, path: Path) -> Iterator[Reading | Unread]:
        """Yield the file's documents, usually one.

        Raises:
            BadInput: the file cannot be read at all; the message is the reason.
        """
        ...


class TextReader:
    """Plain text in any encoding; a form feed is a page break."""

    suffixes: tuple[str, ...] = (".txt", ".text", ".log")
    media_type = "text/plain"

    def read(self, path: Path) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        text = cleaned(decoded(path.read_bytes()))
        yield Reading(text, pages_of(text), self.media_type, self._title(text))

    def _title(self, text: str) -> str:
        return ""


class MarkdownReader(TextReader):
    """Markdown, kept as written; the first heading of the first level is the title."""

    suffixes = (".md", ".markdown")
    media_type = "text/markdown"

    def _title(self, text: str) -> str:
        found = re.search(r"^# +(.+?) *#*$", text, re.MULTILINE)
        return found.group(1) if found else ""


class JsonLinesReader:
    """One document a line: `doc_id`, `text` (form feeds are page breaks) or `pages` (a list of strings).

    Optional: `title`, `url`, `source_file`, and `metadata`, an object of annotation columns.
    """

    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")

    def read(self, path: Path) -> Iterator[Reading | Unread]:
        """See `Reader.read`; one bad line is one `Unread`."""
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield self._line(line, f"line {number}")

    def _line(self, line: bytes, where: str) -> Reading | Unread:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return Unread(where, "not JSON")
        if not isinstance(row, dict):
            return Unread(where, "not a JSON object")
        doc_id = row.get("doc_id", row.get("id", row.get("_id")))
        if not isinstance(doc_id, str | int) or not str(doc_id).strip():
            return Unread(where, "no doc_id")
        text, pages = row.get("text"), row.get("pages")
        if isinstance(pages, list) and pages and all(isinstance(page, str) for page in pages):
            text = PAGE_BREAK.join(page.replace(PAGE_BREAK, "\n") for page in pages)
            spans = pages_of(cleaned(text), single=True)
        elif isinstance(text, str):
            spans = pages_of(cleaned(text))
        else:
            return Unread(where, NO_TEXT_HINT)
        metadata = row.get("metadata")
        return Reading(
            text=cleaned(text),
            pages=spans,
            title=_string(row.get("title")),
            doc_id=str(doc_id).strip(),
            source_file=_string(row.get("source_file") or row.get("file")),
            url=_string(row.get("url")) or None,
            metadata=metadata if isinstance(metadata, dict) else {},
        )


class PdfReader:
    """PDF text by page, with the printed page labels; a scan without a text layer is refused."""

    suffixes: tuple[str, ...] = (".pdf",)

    def read(self, path: Path) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import pypdfium2

        try:
            with pypdfium2.PdfDocument(path) as pdf:
                texts = [_pdf_page(page) for page in pdf]
                labels = [pdf.get_page_label(number) for number in range(len(texts))]
                title = _pdf_title(pdf.get_metadata_value("Title"))
        except pypdfium2.PdfiumError as error:
            reason = "needs a password" if "password" in str(error).lower() else "is damaged or no PDF"
            raise BadInput(f"the PDF {reason}") from error
        if not any(text.strip() for text in texts):
            raise BadInput("no text layer: a scan needs OCR")
        text = PAGE_BREAK.join(texts)
        yield Reading(text, pages_of(text, labels, single=True), "application/pdf", title)


def _pdf_title(declared: str) -> str:
    """Return the declared title unless it is what a program put there: a path, a file name, "untitled"."""
    title = " ".join(cleaned(declared).split())
    machine = (
        r"untitled|(microsoft \w+ - )?\S*\.\w{2,5}|.*\.(docx?|xlsx?|pptx?|pdf|html?|indd|qxd|fm|tmp)|\w+://.*"
    )
    return "" if re.fullmatch(machine, title, re.IGNORECASE) else title


def _pdf_page(page: Any) -> str:
    try:
        words = page.get_textpage()
        # PDFium marks a word broken at a line end with U+FFFE (older versions: U+0002).
        text = re.sub("[\ufffe\u0002](?:\r\n)?", "-\n", words.get_text_range())
        words.close()
        return cleaned(text).replace(PAGE_BREAK, "\n")
    finally:
        page.close()


_READERS: tuple[Reader, ...] = (TextReader(), MarkdownReader(), JsonLinesReader(), PdfReader())


def reader_for(path: Path, readers: tuple[Reader, ...] = _READERS) -> Reader:
    """Return the reader of a file's format.

    Raises:
        BadInput: no reader knows the suffix.
    """
    suffix = path.suffix.lower()
    for reader in readers:
        if suffix in reader.suffixes:
            return reader
    raise BadInput(f"no reader for {suffix or 'files without suffix'}")


def read_file(path: Path) -> Iterator[Reading | Unread]:
    """Yield the documents of a file of any known format.

    Raises:
        BadInput: it cannot be read, whatever the reason: a file can break a parser in any way.
    """
    reader = reader_for(path)
    try:
        yield from reader.read(path)
    except BadInput:
        raise
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror or type(error).__name__})") from error
    except Exception as error:
        raise BadInput(f"cannot be read ({type(error).__name__})") from error


def units(path: Path) -> int:
    """Return how many documents a file may hold, for progress: the lines of a JSONL file, else 1."""
    if path.suffix.lower() not in JsonLinesReader.suffixes:
        return 1
    try:
        with path.open("rb") as file:
            return max(1, sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")))
    except OSError:  # said when it is read
        return 1


def decoded(data: bytes) -> str:
    """Return bytes as text: UTF-8 if it is, else the encoding that fits best.

    Raises:
        BadInput: it is not text.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _guessed(data)
    if "\x00" in text[:_SNIFF]:
        text = _guessed(data)
    return text


def _guessed(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    text = str(best) if best is not None else "\x00"
    if "\x00" in text[:_SNIFF]:
        raise BadInput("not a text file")
    return text


def cleaned(text: str) -> str:
    """Return text with Unix line ends, without NUL and lone surrogates, which no database stores."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", " ")
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def pages_of(text: str, labels: list[str] | None = None, *, single: bool = False) -> tuple[Page, ...]:
    """Return the pages that form feeds separate, the form feeds themselves left out.

    Args:
        labels: printed page labels in order; one equal to the page's number says nothing and is dropped.
        single: a text without form feed is one page; otherwise its pages are unknown.
    """
    if not single and PAGE_BREAK not in text:
        return ()
    # A form feed at the very end closes the last page and opens none.
    parts = text.removesuffix(PAGE_BREAK).split(PAGE_BREAK)
    pages: list[Page] = []
    start = 0
    for number, part in enumerate(parts, 1):
        label = labels[number - 1] if labels and number <= len(labels) else ""
        pages.append(
            Page(number, start, start + len(part), label if label not in {"", str(number)} else None)
        )
        start += len(part) + 1
    return tuple(pages)


def _string(value: object) -> str:
    return cleaned(value).strip() if isinstance(value, str) else ""
