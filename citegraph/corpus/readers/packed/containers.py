"""Reads the files inside a file: no name of theirs becomes a path, and what they unpack to is bounded."""

from __future__ import annotations

import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Protocol, runtime_checkable

from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import (
    MEGABYTE,
    Budget,
    Passing,
    Reading,
    ReadOptions,
    Unread,
)
from citegraph.errors import BadInput

_BLOCK = MEGABYTE
# Text packs 10 to 20 to 1, a file of zeros 1,000 to 1: what is above and not small is a bomb.
MOST_PACKED = 200
SMALL = 16 * MEGABYTE
UNPACK = "unpack it and ingest the folder"
DAMAGED = "the archive is damaged or cut off: get it again"


_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a file.

    Attributes:
        name: what the container calls it; only its ending is used on disk.
        opened: opens its bytes.
        size: the bytes that it claims to have; more are not read.
    """

    name: str
    opened: Callable[[], IO[bytes]]
    size: int


@runtime_checkable
class Container(Protocol):
    """A reader of files that hold files."""

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """Yield the files inside a file, each to be opened before the next is asked for."""
        ...


class Archive(Container):
    """A container that is no document itself."""

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        yield from read_members(self.members(path, options), options)


class ZipReader(Archive):
    """ZIP archives: each member is read as a document of its own, directories and system files are not."""

    suffixes: tuple[str, ...] = (".zip",)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError) as error:
            raise BadInput(DAMAGED) from error
        with archive:
            members = [
                member
                for member in archive.infolist()
                if not member.is_dir() and not is_system(member.filename)
            ]
            if len(members) > options.members:
                raise BadInput(f"the archive holds more than {options.members:,} files: {UNPACK}")
            left = options.unpacked
            for member in members:
                reason = _refused(member, left)
                if reason:
                    yield Unread(cleaned(member.filename), reason)
                    continue
                left -= member.file_size
                yield Member(cleaned(member.filename), partial(archive.open, member), member.file_size)


def is_system(name: str) -> bool:
    """Return whether a member's name is one that a system made for itself: nobody's document."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return any(part == "__MACOSX" or (part[:1] == "." and part != "..") for part in parts)


def leads_out(name: str) -> bool:
    """Return whether a member's name points out of the folder into which it would be unpacked."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in path.parts[0]


def _refused(member: zipfile.ZipInfo, left: int) -> str:
    """Return why a member is not opened, nothing when it is."""
    if leads_out(member.filename):
        return "its name leads out of the archive: unpack it yourself"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a symbolic link: put the file itself into the archive"
    if member.flag_bits & 1:
        return "needs a password: save it without one"
    if member.file_size > left:
        return f"the archive unpacks to too much: {UNPACK}"
    if member.file_size > SMALL and member.file_size > MOST_PACKED * max(1, member.compress_size):
        return "unpacks to far more than it should, like a bomb: unpack it yourself"
    return ""


def read_members(members: Iterator[Member | Unread], options: ReadOptions) -> Iterator[Reading | Unread]:
    """Yield the documents of the files inside a file, as parts of it."""
    budget = options.budget or Budget(options.members, options.unpacked)
    for member in members:
        if isinstance(member, Unread):
            yield member
            continue
        budget.members -= 1
        budget.unpacked -= member.size
        if budget.members < 0 or budget.unpacked < 0:
            yield Unread("", f"holds too much in containers inside of it: {UNPACK}")
            return
        yield from _read_member(member, replace(options, budget=budget))


def _read_member(member: Member, options: ReadOptions) -> Iterator[Reading | Unread]:
    if options.read is None:
        raise BadInput("files inside of others are read by `registry.read_file`")
    if options.depth < 1:
        yield Unread(member.name, f"lies too deep in containers: {UNPACK}")
        return
    try:
        with unpacked_member(member) as target:
            for reading in options.read(target, replace(options, depth=options.depth - 1)):
                yield _inside(member.name, reading)
    except BadInput as error:
        yield Unread(member.name, str(error), passing=isinstance(error, Passing))


@contextmanager
def unpacked_member(member: Member) -> Iterator[Path]:
    """Write a member into a folder of its own; only the ending of its name is used."""
    with tempfile.TemporaryDirectory(prefix="citegraph-") as folder:
        # Of a packed file what it is packed of too: "a.csv.gz".
        ending = "".join(PurePosixPath(member.name).suffixes[-2:]).lower()[-16:]
        target = Path(folder) / f"member{ending if ending[:1] in {'', '.'} else '.' + ending}"
        try:
            with member.opened() as source:
                copied(source, target, member.size)
        except _BROKEN as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            kind = Passing if getattr(error, "errno", None) else BadInput
            raise kind(f"cannot be unpacked ({why}): make room on the disk, or get it again") from error
        yield target


def copied(source: IO[bytes], target: Path, most: int) -> int:
    """Write a file that is being unpacked, and return its size.

    Raises:
        BadInput: it has more bytes than it claims or than its packed size makes likely.
    """
    written = 0
    with target.open("wb") as file:
        while block := source.read(_BLOCK):
            written += len(block)
            if written > most:
                raise BadInput("unpacks to more than it should, like a bomb: unpack it yourself")
            file.write(block)
    return written


def _inside(name: str, reading: Reading | Unread) -> Reading | Unread:
    if isinstance(reading, Unread):
        return replace(reading, where=f"{name}: {reading.where}" if reading.where else name)
    embedded = tuple(
        replace(file, name=name) if file.name.startswith("member.") else file for file in reading.embedded
    )
    return replace(reading, part=f"{name}/{reading.part}" if reading.part else name, embedded=embedded)
