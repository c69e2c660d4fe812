"""Reads TAR archives and files packed by gzip, bzip2 or xz, under the limits of ZIP archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from citegraph.corpus.readers.packed.containers import (
    DAMAGED,
    MOST_PACKED,
    SMALL,
    UNPACK,
    Archive,
    Member,
    copied,
    is_system,
    leads_out,
)
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import ReadOptions, Unread
from citegraph.errors import BadInput

_BROKEN = (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile)
# Folders and links are entries too, and cost nothing to write.
_ENTRIES = 10
_TAR = slice(257, 262)


class TarReader(Archive):
    """TAR archives: each file is a document of its own."""

    suffixes: tuple[str, ...] = (".tar",)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        try:
            with tarfile.open(path) as archive:
                yield from _of_tar(archive, options)
        except _BROKEN as error:
            raise BadInput(DAMAGED) from error


class PackedReader(Archive):
    """A file packed alone, or a packed TAR archive, whose files are then those of this one."""

    suffixes: tuple[str, ...] = (".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz")

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        try:
            with _unpacking(path) as file:
                is_tar = file.read(512)[_TAR] == b"ustar"
            if is_tar:
                yield from TarReader().members(path, options)
            else:
                yield from _alone(path, options)
        except _BROKEN as error:
            raise BadInput(DAMAGED) from error


def _unpacking(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        head = file.read(3)
    opener: Any = gzip.open if head[:2] == b"\x1f\x8b" else bz2.open if head == b"BZh" else lzma.open
    return opener(path, "rb")  # type: ignore[no-any-return]


def _alone(path: Path, options: ReadOptions) -> Iterator[Member]:
    """Yield the one file inside, unpacked first: what packs it need not say its size."""
    most = min(options.unpacked, max(SMALL, MOST_PACKED * path.stat().st_size))
    with tempfile.TemporaryDirectory(prefix="citegraph-") as folder:
        target = Path(folder) / "content"
        with _unpacking(path) as source:
            size = copied(source, target, most)
        yield Member(cleaned(path.stem), lambda: target.open("rb"), size)


def _of_tar(archive: tarfile.TarFile, options: ReadOptions) -> Iterator[Member | Unread]:
    left, files = options.unpacked, 0
    for number, entry in enumerate(archive, 1):
        name = cleaned(entry.name)
        if number > _ENTRIES * options.members or files >= options.members:
            yield Unread("", f"the archive holds more than {options.members:,} files: {UNPACK}")
            return
        if entry.isdir() or is_system(name):
            continue
        files += 1
        if leads_out(name):
            yield Unread(name, "its name leads out of the archive: unpack it yourself")
        elif entry.issym() or entry.islnk():
            yield Unread(name, "is a link: put the file itself into the archive")
        elif not entry.isfile():
            yield Unread(name, "is no regular file")
        elif entry.size > left:
            # To go on would be to unpack it.
            yield Unread(name, f"the archive unpacks to too much: {UNPACK}")
            return
        else:
            left -= entry.size
            yield Member(name, partial(_content, archive, entry), entry.size)


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    file = archive.extractfile(entry)
    assert file is not None  # of a regular file
    return file
