"""Reads winmail.dat, in which Outlook sends a message and its attachments to others, through tnefparse."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.messages.mail_parts import Attached, members_of
from citegraph.corpus.readers.messages.rich_text import unpacked_rtf
from citegraph.corpus.readers.packed.containers import Member, read_members
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.readers.web.html import markup_text, read_html
from citegraph.errors import BadInput

_DAMAGED = "winmail.dat is damaged or empty: ask its sender for the mail as plain text or HTML"


class TnefReader:
    """The body, when it says more than the mail around it, and each attachment as a document of its own."""

    suffixes: tuple[str, ...] = (".tnef",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        found = _opened(path)
        text = cleaned(_body(found))
        if text.strip():
            yield Reading(text, media_type="application/ms-tnef")
        elif not found.attachments:
            raise BadInput(_DAMAGED)
        yield from read_members(members_of(_attached(found), options), options)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        yield from members_of(_attached(_opened(path)), options)


def _opened(path: Path) -> Any:
    from tnefparse import TNEF

    logging.getLogger("tnef-decode").setLevel(logging.CRITICAL)
    try:
        return TNEF(path.read_bytes(), do_checksum=False)
    except Exception as error:
        raise BadInput(_DAMAGED) from error


def _body(found: Any) -> str:
    if html := found.htmlbody:
        return read_html(markup_text(html) if isinstance(html, bytes) else html)[0]
    if plain := found.body:
        return plain.decode("cp1252", "replace") if isinstance(plain, bytes) else str(plain)
    packed = next((item.raw_data for item in found.mapiprops if item.name == _RTF), None)
    data = packed[0] if isinstance(packed, list) else packed
    return unpacked_rtf(data) if isinstance(data, bytes) else ""


# PidTagRtfCompressed ([MS-OXPROPS]).
_RTF = 0x1009


def _attached(found: Any) -> Iterator[Attached]:
    for number, item in enumerate(found.attachments, 1):
        yield Attached(
            str(item.long_filename() or item.name or f"attachment {number}").rstrip("\x00"),
            bytes(item.data or b""),
        )
