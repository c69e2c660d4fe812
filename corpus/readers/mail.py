"""Reads e-mail: EML with the standard library, Outlook's MSG with python-oxmsg; attachments are documents."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import message_from_binary_file, policy
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any

from corpus.readers.containers import Member, read_members
from corpus.readers.encodings import decoded
from corpus.readers.html import html_text, markup_text
from corpus.readers.protocol import Reading, ReadOptions, Unread
from corpus.readers.text import cleaned
from llm.errors import BadInput

# Outlook's property of the name shown, for mails without internet heads ([MS-OXPROPS] PidTagSenderName).
_SENDER_NAME = 0x0C1A
_HEADS = ("From", "To", "Cc", "Date", "Subject")


@dataclass(frozen=True, slots=True)
class _Attachment:
    name: str
    data: bytes


class EmlReader:
    """E-mail as sent: the heads that people read, the body, and each attachment as a document of its own."""

    suffixes: tuple[str, ...] = (".eml",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        message = _parsed(path)
        heads = {name: _head(message, name) for name in _HEADS}
        yield _reading(heads, _body(message), "message/rfc822")
        yield from read_members(_attachments(_of_message(message), options), options)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        yield from _attachments(_of_message(_parsed(path)), options)


def _parsed(path: Path) -> EmailMessage:
    with path.open("rb") as file:
        message: Any = message_from_binary_file(file, policy=policy.default)
    if not isinstance(message, EmailMessage) or not any(message.get(name) for name in _HEADS):
        raise BadInput("no e-mail: it has no sender, date or subject")
    return message


def _head(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name) or "")
    except Exception:  # the standard library fails on some malformed heads: the mail still has a body
        return ""


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    if part.get_content_type() == "text/html":
        return html_text(markup_text(data))[0] if data.strip() else ""
    try:
        return data.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return decoded(data)


def _of_message(message: EmailMessage) -> Iterator[_Attachment]:
    for number, part in enumerate(message.iter_attachments(), 1):
        kind = part.get_content_type()
        if kind.startswith("image/") and part.get("Content-ID"):
            continue  # a picture of the body or a signature
        if kind == "message/rfc822":
            inner = part.get_content()
            subject = (
                " ".join(re.sub(r"[^\w.-]+", " ", _head(inner, "Subject")).split()) or f"message {number}"
            )
            yield _Attachment(f"{subject[:80]}.eml", inner.as_bytes())
            continue
        data = part.get_payload(decode=True)
        if isinstance(data, bytes):
            yield _Attachment(part.get_filename() or f"attachment {number}{_ending(kind)}", data)


def _ending(kind: str) -> str:
    return {"text/plain": ".txt", "text/html": ".html", "application/pdf": ".pdf"}.get(kind, "")


class MsgReader:
    """Outlook messages; python-oxmsg (MIT, by the author of python-docx) instead of extract-msg (GPL)."""

    suffixes: tuple[str, ...] = (".msg",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        from oxmsg import Message

        message = Message.load(str(path))
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
        body = message.body or ""
        if not body.strip() and message.html_body:
            body = html_text(message.html_body)[0]
        yield _reading(heads, body, "application/vnd.ms-outlook")
        yield from read_members(_attachments(_of_outlook(message), options), options)

    def members(self, path: Path, options: ReadOptions) -> Iterator[Member | Unread]:
        """See `Container.members`."""
        from oxmsg import Message

        yield from _attachments(_of_outlook(Message.load(str(path))), options)


def _of_outlook(message: Any) -> Iterator[_Attachment]:
    for number, item in enumerate(message.attachments, 1):
        yield _Attachment(item.file_name or f"attachment {number}", item.file_bytes or b"")


def _reading(heads: Mapping[str, str], body: str, kind: str) -> Reading:
    """Return a message as a document: its heads as lines, a blank line, its body."""
    lines = [f"{name}: {' '.join(value.split())}" for name, value in heads.items() if value.strip()]
    text = cleaned("\n".join(lines) + "\n\n" + body).replace("\f", "\n")
    return Reading(text, media_type=kind, title=" ".join(cleaned(heads["Subject"]).split()))


def _attachments(found: Iterator[_Attachment], options: ReadOptions) -> Iterator[Member | Unread]:
    left = options.unpacked
    for number, item in enumerate(found):
        name = cleaned(item.name).replace("\\", "/").rpartition("/")[2] or "attachment"
        if number >= options.members or len(item.data) > left:
            yield Unread(name, "the message holds too much")
            return
        left -= len(item.data)
        yield Member(name, partial(io.BytesIO, item.data), len(item.data))
