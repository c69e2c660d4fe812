"""Reads e-mail: EML with the standard library, Outlook's MSG with python-oxmsg; attachments are documents."""

from __future__ import annotations

import mailbox
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from email import message_from_binary_file, policy
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.messages.mail_parts import (
    Attached,
    attachments_of,
    bytes_of,
    full_form_of,
    head_of,
    is_full,
    members_of,
    texts_of,
)
from citegraph.corpus.readers.messages.rich_text import unpacked_rtf
from citegraph.corpus.readers.packed.containers import Member, read_members
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.readers.web.html import markup_text, read_html
from citegraph.corpus.schema.document import Table
from citegraph.errors import BadInput

# Outlook's properties: the name shown of the sender, for mails without internet heads, and the body as packed
# Rich Text ([MS-OXPROPS] PidTagSenderName, PidTagRtfCompressed).
_SENDER_NAME, _RTF = 0x0C1A, 0x1009
_HEADS = ("From", "To", "Cc", "Date", "Subject")

Body = tuple[str, tuple[Table, ...]]


class EmlReader:
    """E-mail as sent: the heads that people read, the body, and each attachment as a document of its own."""

    suffixes: tuple[str, ...] = (".eml",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        message = _parsed(path)
        heads = {name: head_of(message, name) for name in _HEADS}
        yield _reading(heads, [_fuller(message, part) for part in texts_of(message)], "message/rfc822")
        yield from read_members(members_of(attachments_of(message), options), options)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        yield from members_of(attachments_of(_parsed(path)), options)


def _parsed(path: Path) -> EmailMessage:
    with path.open("rb") as file:
        message: Any = message_from_binary_file(file, policy=policy.default)
    if not isinstance(message, EmailMessage) or not any(message.get(name) for name in _HEADS):
        raise BadInput("no e-mail: it has no sender, date or subject (name it .txt when it is text)")
    return message


def _body(part: EmailMessage) -> Body:
    data = bytes_of(part)
    if data is None or not data.strip():
        return "", ()
    if part.get_content_type() == "text/html":
        return read_html(markup_text(data))[:2]
    try:
        return data.decode(part.get_content_charset() or "utf-8"), ()
    except (LookupError, UnicodeDecodeError):
        return decoded(data), ()


def _fuller(message: EmailMessage, part: EmailMessage) -> Body:
    """Return what a part says, or its HTML form when it is little more than "see the HTML version"."""
    body, form = _body(part), full_form_of(message, part)
    if form is None:
        return body
    rich = _body(form)
    return body if is_full(body[0], rich[0]) else rich


class MsgReader:
    """Outlook messages; python-oxmsg (MIT, by the author of python-docx) instead of extract-msg (GPL)."""

    suffixes: tuple[str, ...] = (".msg",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        message = _loaded(path)
        given = message.message_headers
        heads = {
            "From": message.sender or message.properties.str_prop_value(_SENDER_NAME) or "",
            "To": given.get("To")
            or "; ".join(person.name or person.email_address for person in message.recipients),
            "Cc": given.get("Cc", ""),
            "Date": message.sent_date.isoformat(" ", "minutes")
            if message.sent_date
            else given.get("Date", ""),
            "Subject": message.subject or "",
        }
        yield _reading(heads, [_outlook_body(message)], "application/vnd.ms-outlook")
        yield from read_members(members_of(_of_outlook(message), options), options)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        yield from members_of(_of_outlook(_loaded(path)), options)


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


def _loaded(path: Path) -> Any:
    from oxmsg import Message

    try:
        return Message.load(str(path))
    except Exception as error:
        raise BadInput("the Outlook message is damaged: save it again in Outlook") from error


def _outlook_body(message: Any) -> Body:
    body = message.body or ""
    if message.html_body:
        rich = read_html(message.html_body)[:2]
        return (body, ()) if is_full(body, rich[0]) else rich
    if not body.strip():
        return unpacked_rtf(message.properties.binary_prop_value(_RTF) or b""), ()
    return body, ()


def _of_outlook(message: Any) -> Iterator[Attached | Unread]:
    for number, item in enumerate(message.attachments, 1):
        name = item.file_name or f"attachment {number}"
        if item.file_bytes is None:
            yield Unread(name, "an Outlook item inside of the message: save it as a file of its own")
        else:
            yield Attached(name, item.file_bytes)


def _reading(heads: Mapping[str, str], bodies: Sequence[Body], kind: str) -> Reading:
    """Return a message as a document: its heads as lines, a blank line, its body."""
    lines = [f"{name}: {' '.join(value.split())}" for name, value in heads.items() if value.strip()]
    text = _whole("\n".join(lines) + "\n\n")
    tables: list[Table] = []
    for number, (body, found) in enumerate(bodies):
        text += "\n\n" if number and not text.endswith("\n\n") else ""
        tables += [
            replace(table, start=table.start + len(text), end=table.end + len(text)) for table in found
        ]
        text += _whole(body)
    return Reading(
        text, media_type=kind, title=" ".join(_whole(heads["Subject"]).split()), tables=tuple(tables)
    )


def _whole(text: str) -> str:
    return re.sub("\f", "\n", cleaned(text))
