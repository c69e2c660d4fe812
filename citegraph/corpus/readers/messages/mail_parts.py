"""Takes a message apart: its body, further texts, and what hangs on it, however programs nest them."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage
from functools import partial
from typing import Any

from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.packed.containers import Member
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import ReadOptions, Unread

_SIGNATURES = frozenset(
    {"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"}
)
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_ENCRYPTED = "is encrypted: open it in the mail program and save it without encryption"
_SIGNED = "is packed into its signature (S/MIME): open it in the mail program and save it without"
# Share of the different words of an HTML form that a plain form has too when it says the same: a link may be written
# out or left away, a footer shortened.
_SAME_WORDS = 0.75
_WORD = re.compile(r"\w{2,}")
_ENDINGS = {"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "application/pdf": ".pdf"}


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that hangs on a message."""

    name: str
    data: bytes


def head_of(message: EmailMessage, name: str) -> str:
    """Return a head as people read it; bytes that belong into no head are read as text of any encoding."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), None)
    try:
        if isinstance(raw, str) and re.search("[\udc80-\udcff]", raw):
            text = decoded(raw.encode("utf-8", "surrogateescape"))
            return str(policy.default.header_factory(name, " ".join(text.split())))
        return str(message.get(name) or "")
    except Exception:  # the standard library fails on some malformed heads: the mail still has a body
        return ""


def body_of(message: EmailMessage) -> EmailMessage | None:
    """Return the part that says what the message says: plain text before HTML."""
    part: Any = message.get_body(("plain", "html"))
    return part if isinstance(part, EmailMessage) else None


def full_form_of(message: EmailMessage, body: EmailMessage) -> EmailMessage | None:
    """Return the HTML form of a plain body, None when the message has none."""
    if body.get_content_type() != "text/plain" or body is not body_of(message):
        return None
    part: Any = message.get_body(("html",))
    return part if isinstance(part, EmailMessage) else None


def is_full(plain: str, rich: str) -> bool:
    """Return whether a plain text says what the text of its HTML form says, every number of it included.

    Programs put a placeholder, a link to the page or nothing there.
    """
    words = {word.casefold() for word in _WORD.findall(rich)}
    said = {word.casefold() for word in _WORD.findall(plain)}
    numbers = {word for word in words if any(map(str.isdigit, word))}
    return numbers <= said and len(words & said) >= _SAME_WORDS * len(words)


def texts_of(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yield the body, then texts between and after attachments; another form of a text is left out."""
    body = body_of(message)
    if body is not None:
        yield body
    for part, is_form in _leaves(message):
        if part is not body and not is_form and _is_text(part):
            yield part


def attachments_of(message: EmailMessage) -> Iterator[Attached | Unread]:
    """Yield what hangs on a message; pictures of its HTML and signatures do not."""
    body = body_of(message)
    for number, (part, is_form) in enumerate(_leaves(message), 1):
        kind = part.get_content_type()
        if part is body or _is_text(part) or kind in _SIGNATURES:
            continue
        if is_form and kind.startswith("text/") and part.get_content_disposition() != "attachment":
            continue  # an invitation beside its text
        if kind.startswith("image/") and part.get("Content-ID"):
            continue  # a picture of the body or a signature
        if kind in _SEALED:
            signed = "signed" in str(part.get_param("smime-type", ""))
            yield Unread("", _SIGNED if signed else _ENCRYPTED)
        elif part.get_content_maintype() == "multipart":
            yield Unread("", _ENCRYPTED)
        elif kind == "message/rfc822":
            inner: Any = part.get_payload(0)
            subject = " ".join(re.sub(r"[^\w.-]+", " ", head_of(inner, "Subject")).split())
            yield Attached(f"{(subject or f'message {number}')[:80]}.eml", inner.as_bytes())
        elif (data := bytes_of(part)) is not None:
            yield Attached(part.get_filename() or f"attachment {number}{_ENDINGS.get(kind, '')}", data)


def _leaves(message: EmailMessage, is_form: bool = False) -> Iterator[tuple[EmailMessage, bool]]:
    """Yield the parts that hold something, and whether each is one of several forms of the same text."""
    kind = message.get_content_type()
    if kind == "multipart/encrypted" or not kind.startswith("multipart/"):
        yield message, is_form
        return
    inner: Any = message.get_payload()
    if not isinstance(inner, list):
        return
    # The second part of a signed message is its signature.
    for part in inner[:1] if kind == "multipart/signed" else inner:
        yield from _leaves(part, is_form or kind == "multipart/alternative")


def _is_text(part: EmailMessage) -> bool:
    return (
        part.get_content_type() in {"text/plain", "text/html"}
        and part.get_content_disposition() != "attachment"
        and not part.get_filename()
    )


def bytes_of(part: EmailMessage) -> bytes | None:
    """Return what a part holds; of base64 that breaks off as much as there is."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return None
    given = part.get_payload()
    broken = any("Base64" in type(defect).__name__ for defect in part.defects)
    if broken and isinstance(given, str):
        kept = re.sub(r"[^A-Za-z0-9+/]", "", given)
        return base64.b64decode(kept[: len(kept) // 4 * 4])
    return data


def members_of(found: Iterable[Attached | Unread], options: ReadOptions) -> Iterator[Member | Unread]:
    """Yield the files that hang on a message, no more than one may hold; of their names the last part alone."""
    left = options.unpacked
    for number, item in enumerate(found):
        if isinstance(item, Unread):
            yield item
            continue
        name = cleaned(item.name).replace("\\", "/").rpartition("/")[2] or "attachment"
        if number >= options.members or len(item.data) > left:
            yield Unread(name, "the message holds too much: save its attachments as files")
            return
        left -= len(item.data)
        yield Member(name, partial(io.BytesIO, item.data), len(item.data))
