"""Reads EPUB books: the pages of HTML inside, in the order of reading."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.readers.web.html import markup_text, read_html
from citegraph.corpus.schema.document import Table
from citegraph.errors import BadInput

_DC = "{http://purl.org/dc/elements/1.1/}"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})


class EpubReader:
    """A book as one text; ebooklib, the usual library, is under the AGPL, and its HTML would be read here all the same."""

    suffixes: tuple[str, ...] = (".epub",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        from lxml import etree

        texts: list[str] = []
        tables: list[Table] = []
        start = 0
        try:
            with zipfile.ZipFile(path) as archive:
                title, names = _order(archive)
                for name in names:
                    text, found, _, _ = read_html(markup_text(archive.read(name)))
                    tables += [
                        replace(table, start=table.start + start, end=table.end + start) for table in found
                    ]
                    texts.append(text)
                    start += len(text)
        except (zipfile.BadZipFile, KeyError, etree.XMLSyntaxError) as error:
            raise BadInput("the EPUB book is damaged: get it again") from error
        yield Reading("".join(texts), media_type="application/epub+zip", title=title, tables=tuple(tables))


def _order(archive: zipfile.ZipFile) -> tuple[str, list[str]]:
    """Return the title of a book and the names of its pages in the order of reading (EPUB 3.3, 5)."""
    if "META-INF/encryption.xml" in archive.namelist() and "META-INF/rights.xml" in archive.namelist():
        raise BadInput("the EPUB book is protected against copying: get one without")
    container = _tree(archive, "META-INF/container.xml")
    root = next(item.get("full-path") for item in container.iter("{*}rootfile"))
    package = _tree(archive, root)
    pages = {
        item.get("id"): posixpath.normpath(
            posixpath.join(posixpath.dirname(root), unquote(item.get("href") or ""))
        )
        for item in package.iter("{*}item")
        if item.get("media-type") in _PAGES
    }
    order = [pages[item.get("idref")] for item in package.iter("{*}itemref") if item.get("idref") in pages]
    title = package.findtext(f".//{_DC}title") or ""
    return " ".join(title.split()), order


def _tree(archive: zipfile.ZipFile, name: str) -> Any:
    from lxml import etree

    return etree.fromstring(archive.read(name), etree.XMLParser(resolve_entities=False, no_network=True))
