"""Reads plain text in any encoding and Markdown; form feeds are page breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.schema.document import Page
from citegraph.language.bounded import bounded

PAGE_BREAK = "\f"
WIDE = 0.75
"""What a gap wider than so many heights of the font separates are two lines of a layout, though one of the text: a
justified line stretches its blanks less, the cells of a form or table stand further apart."""


class TextReader:
    """Plain text in any encoding; a form feed is a page break."""

    suffixes: tuple[str, ...] = (".txt", ".text", ".log")
    media_type = "text/plain"

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
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
        return without_marks(found.group(1)) if found else ""


_MARKED = re.compile(
    r"(?P<mark>\*\*\*|\*\*|(?<!\w)__|~~|`)(?=\S)(?P<inner>.+?)(?<=\S)(?P=mark)|(?<![\w*])\*(?=\S)(?P<one>[^*\n]+)(?<=\S)\*(?![\w*])"
    r"|!?\[(?P<link>[^\]\n]+)\]\([^()\n]*\)|^\s*#{1,6}\s+(?P<heading>.+?)(?:\s+#+)?\s*$"
)
_HALF = re.compile(r"^(?:#{1,6}\s+|\*\*|__|>\s+)|(?:\*\*|__)$")


def without_marks(text: str) -> str:
    """Return a name or title without the marks of Markdown: bold, italics, code, links, headings."""
    while found := _MARKED.search(text):
        inner = next(found[name] for name in ("inner", "one", "link", "heading") if found[name] is not None)
        text = text[: found.start()] + inner + text[found.end() :]
    return _HALF.sub("", text).replace("\\_", "_").strip()


# Where a word may be broken (U+00AD, U+200B), may not (U+2060, U+FEFF) and which way it runs (U+200E, U+200F): nobody
# sees these, and a search would find half a word. Joiners shape Persian and Indic words; between Latin letters they are
# as empty as the others. Between all letters of a word they are a disguise.
_UNSEEN = re.compile(
    "(?P<disguise>(?:\\S[\u200b\u2060\ufeff]){3,})|"
    "\u00ad[ \t]*\n[ \t]*(?=\\w)|[\u00ad\u200b\u2060\ufeff\u200e\u200f]|(?<=[!-\u024f])[\u200c\u200d]+(?=[!-\u024f])"
)


def _kept(found: re.Match[str]) -> str:
    """Return what stays of characters that nobody sees: a disguise does, which `citations.orders` knows by them."""
    return found["disguise"] or ""


def cleaned(text: str) -> str:
    """Return a text that people read: as `storable` leaves it, its runs, words and lines bounded."""
    return bounded(storable(text))


def storable(text: str) -> str:
    """Return text with Unix line ends, without characters that nobody sees; of what a program reads no line is broken.

    NUL and lone surrogates go too, which no database stores.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", " ")
    if not text.isascii():
        text = _UNSEEN.sub(_kept, re.sub("[\ud800-\udfff]", "\ufffd", text))
    return text


def pages_of(text: str, *, single: bool = False) -> tuple[Page, ...]:
    """Return the pages that form feeds separate, the form feeds themselves left out.

    Args:
        single: a text without form feed is one page; otherwise its pages are unknown.
    """
    if not single and PAGE_BREAK not in text:
        return ()
    # A form feed at the very end closes the last page and opens none.
    return joined_pages(text.removesuffix(PAGE_BREAK).split(PAGE_BREAK))


def joined_pages(texts: Sequence[str], labels: Sequence[str] = ()) -> tuple[Page, ...]:
    """Return the pages of texts that are joined by page breaks.

    Args:
        labels: printed page labels in order; one equal to the page's number says nothing and is dropped.
    """
    pages: list[Page] = []
    start = 0
    for number, part in enumerate(texts, 1):
        label = labels[number - 1] if number <= len(labels) else ""
        pages.append(
            Page(number, start, start + len(part), label if label not in {"", str(number)} else None)
        )
        start += len(part) + len(PAGE_BREAK)
    return tuple(pages)
