"""What a file is refused for before any parser sees it: empty, too large, encrypted, an archive bomb."""

from __future__ import annotations

import zipfile
from pathlib import Path

from citegraph.corpus.readers.json_lines import JsonLinesReader
from citegraph.corpus.readers.protocol import MEGABYTE

# Text compresses 3 to 20 times, tables of zeros some hundred times; a bomb a thousand times and more.
BOMB_RATIO = 200
SMALL = 10 * MEGABYTE
"""What an archive unpacks to without a look at the ratio."""

_ZIP = b"PK\x03\x04"


def refusal(path: Path, *, file_mb: int) -> str:
    """Return why a file is not read, and what to do; empty when nothing speaks against it.

    A file that is read line by line (JSONL) may be of any size.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(16)
    except OSError:
        return ""  # the reader says why
    if not size:
        return "the file is empty (0 bytes): get it again from where it came"
    suffix = path.suffix.lower()
    if suffix not in JsonLinesReader.suffixes and size > file_mb * MEGABYTE:
        return (
            f"has {size // MEGABYTE:,} MB, more than {file_mb:,}: split it, or raise CITEGRAPH_INGEST_FILE_MB"
        )
    return _archive(path, file_mb) if head.startswith(_ZIP) else ""


def _archive(path: Path, file_mb: int) -> str:
    """Return why an archive is not opened, from its directory alone; nothing is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ""  # the reader says what is broken
    unpacked = sum(member.file_size for member in members)
    packed = max(1, sum(member.compress_size for member in members))
    if unpacked > SMALL and unpacked / packed > BOMB_RATIO:
        return f"unpacks to {unpacked / packed:,.0f} times its size, like an archive bomb: unpack it yourself"
    if unpacked > 2 * file_mb * MEGABYTE:
        return (
            f"unpacks to {unpacked // MEGABYTE:,} MB, more than {2 * file_mb:,}: unpack it yourself, "
            "or raise CITEGRAPH_INGEST_FILE_MB"
        )
    if members and all(member.flag_bits & 0x1 for member in members if not member.is_dir()):
        return "is encrypted with a password: save it without one"
    return ""
