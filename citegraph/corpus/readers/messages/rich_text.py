"""Reads Rich Text, as files and as the bodies of Outlook messages, through striprtf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.errors import BadInput

RTF = b"{\\rtf"
# Outlook wraps HTML into RTF: what lies between these two says the same again for readers of RTF alone.
_TWICE = re.compile(r"\\htmlrtf(?![0-9a-z]).*?\\htmlrtf0 ?", re.DOTALL)


class RtfReader:
    """Rich Text: its words; a row of a table is a line of cells."""

    suffixes: tuple[str, ...] = (".rtf",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        yield Reading(rtf_text(path.read_bytes()), media_type="text/rtf")


def rtf_text(data: bytes) -> str:
    """Return the words of Rich Text.

    Raises:
        BadInput: it is none.
    """
    from striprtf.striprtf import rtf_to_text

    if not data.lstrip().startswith(RTF):
        raise BadInput("no Rich Text: open it in a word processor and save it again")
    source = data.decode("latin-1")
    if "\\fromhtml" in source[:2000]:
        source = _TWICE.sub("", source)
    words: Any = rtf_to_text
    text = cleaned(str(words(source, errors="replace")))
    lines = (
        re.sub(r"^\||\|$", "", line).replace("|", " | ") if line.endswith("|") else line
        for line in text.split("\n")
    )
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip() + "\n"


def unpacked_rtf(data: bytes) -> str:
    """Return the words of Rich Text that Outlook has packed ([MS-OXRTFCP]); empty when it is damaged."""
    import compressed_rtf

    try:
        return rtf_text(compressed_rtf.decompress(data))
    except (BadInput, ValueError, IndexError):
        return ""
