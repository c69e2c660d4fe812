"""Finds the reader of a file by its content, and reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from citegraph.corpus.readers.data_files import JsonReader, YamlReader
from citegraph.corpus.readers.format_detection import content_suffix
from citegraph.corpus.readers.images import recognition
from citegraph.corpus.readers.images.pictures import PictureReader
from citegraph.corpus.readers.json_lines import JsonLinesReader
from citegraph.corpus.readers.messages.calendars import IcsReader
from citegraph.corpus.readers.messages.mail import EmlReader, MboxReader, MsgReader
from citegraph.corpus.readers.messages.rich_text import RtfReader
from citegraph.corpus.readers.messages.tnef import TnefReader
from citegraph.corpus.readers.office import office_97
from citegraph.corpus.readers.office.binary_sheets import XlsbReader
from citegraph.corpus.readers.office.open_document import OdfReader
from citegraph.corpus.readers.office.sheets import CsvReader, XlsxReader
from citegraph.corpus.readers.office.word_and_slides import DocxReader, PptxReader
from citegraph.corpus.readers.packed.archives import PackedReader, TarReader
from citegraph.corpus.readers.packed.containers import Container, Member, ZipReader, unpacked_member
from citegraph.corpus.readers.pdf.pdf_document import PdfReader
from citegraph.corpus.readers.plain_text import MarkdownReader, TextReader
from citegraph.corpus.readers.protocol import DEFAULT_OPTIONS, Passing, Reader, Reading, ReadOptions, Unread
from citegraph.corpus.readers.web.books import EpubReader
from citegraph.corpus.readers.web.html import HtmlReader, XmlReader
from citegraph.errors import BadInput

RECIPE = 7
"""Raised when a reader gives another text, so that files are read again."""
_READERS: tuple[Reader, ...] = (
    TextReader(),
    MarkdownReader(),
    JsonLinesReader(),
    JsonReader(),
    YamlReader(),
    PdfReader(),
    PictureReader(),
    DocxReader(),
    PptxReader(),
    XlsxReader(),
    XlsbReader(),
    CsvReader(),
    HtmlReader(),
    XmlReader(),
    EmlReader(),
    MsgReader(),
    TnefReader(),
    RtfReader(),
    OdfReader(),
    EpubReader(),
    office_97.WORD,
    office_97.XlsReader(),
    office_97.POWERPOINT,
    MboxReader(),
    IcsReader(),
    ZipReader(),
    TarReader(),
    PackedReader(),
)
_NEWER = {
    ".xlt": ".xlsx",
    ".pages": ".docx",
    ".numbers": ".xlsx",
    ".key": ".pptx",
    ".heic": ".png",
    ".avif": ".png",
}
_ARCHIVES = frozenset({".7z", ".rar", ".zst", ".cab", ".lz4"})


def reader_for(suffix: str) -> Reader:
    """Return the reader of a format by file name ending, e.g. ".pdf".

    Raises:
        BadInput: no reader knows it.
    """
    for reader in _READERS:
        if suffix.lower() in reader.suffixes:
            return reader
    kind = suffix.lower()
    hint = "unpack it" if kind in _ARCHIVES else f"save it as {_NEWER.get(kind, '.pdf or text')}"
    raise BadInput(f"no reader for {kind or 'files without suffix'} ({hint})")


def read_file(path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Reading | Unread]:
    """Yield the documents of a file of any known format, told by its content before its name.

    Raises:
        BadInput: it cannot be read, whatever the reason: a file can break a parser in any way.
    """
    try:
        suffix, note = content_suffix(path)
        for reading in reader_for(suffix).read(path, replace(options, read=read_file)):
            yield _noted(reading, note) if note else reading
    except BadInput:
        raise
    except FileNotFoundError as error:
        raise Passing("was gone when it was to be read: ingest again") from error
    except OSError as error:
        raise Passing(
            f"cannot be read ({error.strerror or type(error).__name__}): check the file and its permissions"
        ) from error
    except Exception as error:
        kind = Passing if isinstance(error, MemoryError) else BadInput
        raise kind(
            f"cannot be read ({type(error).__name__}): open it in its program and save it again"
        ) from error


def _noted(reading: Reading | Unread, note: str) -> Reading | Unread:
    """Say it once, with the file's own document."""
    if not isinstance(reading, Reading) or reading.part:
        return reading
    return replace(reading, notes=(note, *reading.notes))


def reading_recipe(options: ReadOptions) -> str:
    """Return what the text of a file depends on beside its bytes: the readers, the language and other programs."""
    ocr = "off" if not options.ocr or recognition.missing() else " ".join(sorted(recognition.installed()))
    old = "yes" if office_97.converter() else "no"
    return f"readers {RECIPE}, {options.language}, ocr {ocr}, Office 97 {old}"


def units(path: Path) -> int:
    """Return how many documents a file may hold, for progress: the lines of a JSONL file, else 1."""
    if path.suffix.lower() not in JsonLinesReader.suffixes:
        return 1
    try:
        with path.open("rb") as file:
            return max(1, sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")))
    except OSError:  # said when it is read
        return 1


@contextmanager
def opened_part(path: Path, part: str, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Path]:
    """Unpack a part of a container ("a.zip/b.pdf" of an e-mail) for as long as it is used; "" is the file itself.

    Raises:
        BadInput: the container is gone or damaged, or holds no such part.
    """
    if not part:
        yield path
        return
    container = reader_for(content_suffix(path)[0])
    found = (
        container.members(path, options) if isinstance(container, Container) and options.depth else iter(())
    )
    for member in found:
        if isinstance(member, Member) and (part == member.name or part.startswith(f"{member.name}/")):
            deeper = replace(options, depth=options.depth - 1)
            with (
                unpacked_member(member) as file,
                opened_part(file, part[len(member.name) + 1 :], deeper) as inner,
            ):
                yield inner
            return
    raise BadInput(f"the container holds no {part} any more: ingest it again")
