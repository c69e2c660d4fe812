"""Reads mailboxes (mbox), in which Thunderbird, Apple Mail and Google Takeout keep many messages in one file."""

from __future__ import annotations

import mailbox
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from citegraph.corpus.readers.packed.containers import Member, read_members
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread

# A mailbox packs nothing: its messages are bounded by its size.
_MOST_MESSAGES = 1_000_000


class MboxReader:
    """Each message is a document of its own, and so are its attachments."""

    suffixes: tuple[str, ...] = (".mbox",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        yield from read_members(self.members(path, options), replace(options, members=_MOST_MESSAGES))

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        box = mailbox.mbox(path, create=False)
        try:
            for number, key in enumerate(box.iterkeys(), 1):
                file = box.get_file(key)
                size = len(box.get_bytes(key))
                yield Member(f"message {number}.eml", partial(lambda found: found, file), size)
        finally:
            box.close()
