"""Tells a file's format by its first bytes: names lie."""

from __future__ import annotations

import re
import struct
import zipfile
from pathlib import Path

from citegraph.errors import BadInput

_SNIFF = 8192
_OFFICE = {"word/": ".docx", "xl/": ".xlsx", "ppt/": ".pptx"}
# What `filetype` names after the container, and what Office 97 and Outlook share.
_SAME = (
    {".docx", ".docm", ".dotx", ".dotm"},
    {".pptx", ".pptm", ".ppsx", ".potx"},
    {".jpg", ".jpeg"},
    {".tif", ".tiff"},
    {".odt", ".ott"},
    {".ods", ".ots"},
    {".odp", ".otp"},
    {".doc", ".dot"},
    {".ppt", ".pps"},
    {".gz", ".tgz"},
    {".bz2", ".tbz2"},
    {".xz", ".txz"},
    {".xlsx", ".xlsm"},
    {".html", ".htm", ".xhtml"},
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
_MARKS = {b"{\\rtf": ".rtf", b"\x78\x9f\x3e\x22": ".tnef"}
_BINARY = frozenset(
    ".pdf .docx .xlsx .pptx .odt .ods .odp .epub .doc .xls .ppt .zip .tar .gz .bz2 .xz "
    ".png .jpg .jpeg .tif .tiff .gif .bmp .webp .msg".split()
)
# What the first member of a ZIP file says where the format has no folder of its own.
_DECLARED = {
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.oasis.opendocument.text-template": ".ott",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "application/vnd.oasis.opendocument.spreadsheet-template": ".ots",
    "application/vnd.oasis.opendocument.presentation": ".odp",
    "application/vnd.oasis.opendocument.presentation-template": ".otp",
    "application/vnd.oasis.opendocument.graphics": ".odg",
    "application/epub+zip": ".epub",
}
# The line before a message of a mailbox, and the first head after it.
_MAILBOX = re.compile(rb"From \S+ .{0,30}\d\d:\d\d.{0,20}\d{4}[^\r\n]{0,20}\r?\n[!-9;-~]+:")


def content_suffix(path: Path) -> tuple[str, str]:
    """Return the ending that fits a file's content, and a note when its name says something else.

    A text has no mark of its own: there the name decides, unless it names a binary format.

    Raises:
        BadInput: it is an Office document that needs a password.
    """
    with path.open("rb") as file:
        head = file.read(_SNIFF)
    named, found = path.suffix.lower(), _found(path, head)
    if not found and named in _BINARY and head and b"\x00" not in head:
        found = ".txt"
    if not found and not named and b"\x00" not in head:
        return ".txt", ""
    if not found or found == named or any({found, named} <= same for same in _SAME):
        return named, ""
    said = f"named {named}" if named else "named without suffix"
    return found, f"{said}, read as {found[1:].upper()}"


def _found(path: Path, head: bytes) -> str:
    """Return the ending of a format that its bytes show, else nothing."""
    import filetype

    if head.startswith(b"PK\x03\x04"):
        return _zip_suffix(path)
    if head.startswith(_OLE):
        return _ole_suffix(path)
    for mark, suffix in _MARKS.items():
        if head.startswith(mark):
            return suffix
    # A PDF may have bytes before its mark (Adobe: within the first 1,024); one stored in an archive has too.
    if b"%PDF-" in head[:1024]:
        return ".pdf"
    if head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        return ".html"
    if head.lstrip(b"\xef\xbb\xbf\r\n")[:15].upper() == b"BEGIN:VCALENDAR":
        return ".ics"
    if _MAILBOX.match(head):
        return ".mbox"
    if b"\x00" not in head and not head.startswith(_PACKED):
        return ""  # two letters make a picture for the detector: a text may begin with "BM"
    kind = filetype.guess(head)
    return f".{kind.extension}" if kind is not None else ""


def _zip_suffix(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            declared = archive.read("mimetype").decode("ascii", "replace") if "mimetype" in names else ""
    except (zipfile.BadZipFile, OSError, ValueError):
        # Its own reader says best what is damaged.
        return path.suffix.lower() if path.suffix.lower() in _OFFICE.values() else ".zip"
    if declared.strip() in _DECLARED:
        return _DECLARED[declared.strip()]
    if "xl/workbook.bin" in names:
        return ".xlsb"
    if "[Content_Types].xml" in names:
        for name in names:
            for folder, suffix in _OFFICE.items():
                if name.startswith(folder):
                    return suffix
    return ".zip"


def _ole_suffix(path: Path) -> str:
    """Tell an Outlook message from the old Office formats, which share one container."""
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as container:
            streams = {stream for stream in ("EncryptedPackage", *_STREAMS) if container.exists(stream)}
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise BadInput("the Office 97 or Outlook file is damaged: get it again") from error
    if "EncryptedPackage" in streams:
        raise BadInput("the Office document needs a password: save it without one")
    # Without any of them its own reader says best what is damaged.
    named = path.suffix.lower() if path.suffix.lower() in _STREAMS.values() else ".ole"
    return next((suffix for stream, suffix in _STREAMS.items() if stream in streams), named)


_STREAMS = {
    "__properties_version1.0": ".msg",
    "WordDocument": ".doc",
    "Workbook": ".xls",
    "Book": ".xls",
    "PowerPoint Document": ".ppt",
}
