"""Writes files that a reader was not made for: every format damaged in every way, and files that cost more than they weigh.

python -m tests.trust.hostile_files FOLDER
"""

import bz2
import gzip
import io
import json
import lzma
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from pathlib import Path

from tests.citegraph.corpus.readers.packed.test_bombs import BOUNDED, REFUSED, open_document, zipped

LINE = "The hoist of quay 7 carries 450 kg."
HTML = f"<!doctype html><title>Hoist</title><body><h1>Hoist</h1><p>{LINE}</p>"
MAIL = f"From: a@quay.example\r\nTo: b@quay.example\r\nSubject: Hoist\r\nDate: Fri, 1 Mar 2024 10:00:00 +0000\r\n\r\n{LINE}\r\n"


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    """Return what a program saves."""
    target = io.BytesIO()
    save(target)
    return target.getvalue()


def word() -> bytes:
    """Return a Word document."""
    import docx

    document = docx.Document()
    document.add_paragraph(LINE)
    return saved(document.save)


def slides() -> bytes:
    """Return a presentation."""
    import pptx

    shown = pptx.Presentation()
    shown.slides.add_slide(shown.slide_layouts[0]).shapes.title.text = LINE  # type: ignore[union-attr]
    return saved(shown.save)


def sheet() -> bytes:
    """Return an Excel workbook."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["Hoist", LINE])  # type: ignore[union-attr]
    return saved(book.save)


def pdf() -> bytes:
    """Return a PDF of a page."""
    from reportlab.pdfgen.canvas import Canvas

    target = io.BytesIO()
    canvas = Canvas(target)
    canvas.drawString(72, 720, LINE)
    canvas.save()
    return target.getvalue()


def picture(kind: str) -> bytes:
    """Return a white picture."""
    from PIL import Image

    return saved(lambda target: Image.new("L", (40, 20), 255).save(target, kind))


def letter() -> bytes:
    """Return an e-mail with an attachment."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@quay.example", "b@quay.example", "Hoist"
    message.set_content(LINE)
    message.add_attachment(LINE.encode(), "text", "plain", filename="hoist.txt")
    return message.as_bytes()


def tape() -> bytes:
    """Return a tar of one text."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        entry = tarfile.TarInfo("hoist.txt")
        entry.size = len(LINE)
        archive.addfile(entry, io.BytesIO(LINE.encode()))
    return target.getvalue()


SOUND: Mapping[str, Callable[[], bytes]] = {
    "txt": LINE.encode,
    "md": f"# Hoist\n\n{LINE}\n".encode,
    "csv": b"part,load\nhoist,450 kg\n".__bytes__,
    "json": json.dumps({"part": "hoist", "load": [450, "kg"]}).encode,
    "jsonl": f'{{"doc_id": "hoist", "text": "{LINE}"}}\n'.encode,
    "yaml": b"part: hoist\nload: 450 kg\n".__bytes__,
    "html": HTML.encode,
    "xml": f"<part><name>Hoist</name><load>{LINE}</load></part>".encode,
    "eml": letter,
    "mbox": f"From a@quay.example Fri Mar  1 10:00:00 2024\n{MAIL}".encode,
    "ics": b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Hoist\r\nDTSTART:20240301T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n".__bytes__,
    "rtf": f"{{\\rtf1\\ansi {LINE}}}".encode,
    "docx": word,
    "pptx": slides,
    "xlsx": sheet,
    "odt": lambda: open_document("text", f"<office:text><text:p>{LINE}</text:p></office:text>"),
    "pdf": pdf,
    "png": lambda: picture("PNG"),
    "tiff": lambda: picture("TIFF"),
    "zip": lambda: zipped({"hoist.txt": LINE.encode()}),
    "tar": tape,
    "gz": lambda: gzip.compress(LINE.encode()),
}
"""A sound file of each format."""


def flipped(data: bytes) -> bytes:
    """Return data of which each seventeenth byte is another one."""
    return bytes(byte ^ 0x5A if place % 17 == 16 else byte for place, byte in enumerate(data))


DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-9],
    "without its head": lambda data: data[9:],
    "flipped": flipped,
    "zeroed": lambda data: data[: len(data) // 3] + bytes(len(data) - len(data) // 3),
    "twice": lambda data: data + data,
    "with a tail": lambda data: data + b"\xff\xfe\x00\xd8" * 2_000,
    "with a head": lambda data: b"\x00\xff" * 300 + data,
    "empty": lambda data: b"",
}


def deep_pdf() -> bytes:
    """Return a PDF whose pages are their own parents, and whose stream claims to be a gigabyte."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2147483647/Parent 2 0 R>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 1e9 1e9]/Contents 4 0 R>>",
        b"<</Length 1073741824/Filter/FlateDecode>>stream\n"
        + zlib.compress(b"q " * 4_000_000)
        + b"\nendstream",
    ]
    body = b"%PDF-1.7\n" + b"".join(b"%d 0 obj%s endobj\n" % item for item in enumerate(objects, 1))
    return body + b"trailer<</Root 1 0 R/Size 5>>\n%%EOF"


def wide_picture() -> bytes:
    """Return a PNG that claims to be 60,000 points wide and high."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(bytes(1_000_000))), (b"IEND", b"")]
    made = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def office(path: str, text: str) -> bytes:
    """Return a workbook or a document of which one part is another text."""
    whole = sheet() if path.startswith("xl/") else word()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return zipped({**members, path: text.encode()})


ENTITIES = "<!DOCTYPE x [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12)
)
OUTSIDE = "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/hostname'>]>"
STRINGS = "<sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main' count='2000000000' uniqueCount='2000000000'>"
COSTLY: Mapping[str, Callable[[], bytes]] = {
    **REFUSED,
    **BOUNDED,
    "entities.xml": f"{ENTITIES}]><x>&a11;</x>".encode,
    "outside.xml": f"{OUTSIDE}<x>&e;</x>".encode,
    "deep.xml": lambda: b"<a>" * 200_000,
    "deep.html": lambda: b"<div>" * 200_000 + LINE.encode(),
    "unclosed.html": lambda: b"<!--" * 100_000,
    "styles.html": lambda: b"<style>" + b"a{" * 100_000 + b"</style><p>x",
    "deep.json": lambda: b"[" * 1_000_000,
    "long number.json": lambda: b'{"a": ' + b"9" * 1_000_000 + b"}",
    "anchors.yaml": (
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 12))
    ).encode,
    "objects.yaml": lambda: b"!!python/object/apply:os.getcwd []",
    "columns.csv": lambda: b"a," * 200_000 + b"\n" + b"1," * 200_000,
    "quote.csv": lambda: b'a,b\n"' + b"x\n" * 200_000,
    "numerals.txt": lambda: b"I" * 400_000,
    "marks.md": lambda: b"[" * 100_000 + b"](" * 100_000,
    "table.md": lambda: b"|" * 300_000,
    "surrogates.json": lambda: b'{"text": "\\ud800\\ud800 half"}',
    "right to left.txt": ("\u202e" * 5_000 + LINE).encode,
    "combining.txt": ("a" + "\u0301" * 100_000).encode,
    "strings.xlsx": lambda: office("xl/sharedStrings.xml", f"{STRINGS}<si><t>x</t></si></sst>"),
    "strings with entities.xlsx": lambda: office(
        "xl/sharedStrings.xml", f"{ENTITIES}]>{STRINGS}<si><t>&a11;</t></si></sst>"
    ),
    "entities.docx": lambda: office("word/document.xml", f"{ENTITIES}]><x>&a11;</x>"),
    "outside.docx": lambda: office("word/document.xml", f"{OUTSIDE}<x>&e;</x>"),
    "deep.docx": lambda: office("word/document.xml", "<w:p>" * 100_000),
    "entities.odt": lambda: zipped(
        {
            "mimetype": b"application/vnd.oasis.opendocument.text",
            "content.xml": f"{ENTITIES}]><x>&a11;</x>".encode(),
        }
    ),
    "pages.pdf": deep_pdf,
    "arrays.pdf": lambda: b"%PDF-1.4\n1 0 obj" + b"[" * 300_000 + b"endobj\ntrailer<</Root 1 0 R>>",
    "wide.png": wide_picture,
    "parts.eml": lambda: b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(3_000)
    ),
    "heads.eml": lambda: b"X: y\n" * 200_000 + LINE.encode(),
    "groups.rtf": lambda: b"{\\rtf1" + b"{" * 300_000,
    "letters.rtf": lambda: b"{\\rtf1" + b"\\u-1?" * 200_000 + b"}",
    "packed.tar.xz": lambda: lzma.compress(tape() * 500),
    "twice packed.bz2": lambda: bz2.compress(bz2.compress(bytes(20_000_000))),
    "events.ics": lambda: b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\n" * 50_000,
    "rules.ics": lambda: (
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nRRULE:FREQ=SECONDLY;COUNT=2000000000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    ),
    "ole.doc": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 4_000,
    "ole.msg": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_000),
    "lines.jsonl": lambda: b'{"text": ' * 50_000,
    "same id.jsonl": lambda: b'{"doc_id": "../../x", "text": "a"}\n' * 2_000,
}
"""Small files that claim, or would take, much more than they weigh."""


def hostile_files() -> dict[str, Callable[[], bytes]]:
    """Return what makes each file, by its name."""
    files = {
        f"{damage}.{suffix}": lambda sound=sound, spoil=spoil: spoil(sound())  # type: ignore[misc]
        for suffix, sound in SOUND.items()
        for damage, spoil in DAMAGES.items()
    }
    pairs = zip(SOUND, [*list(SOUND)[7:], *list(SOUND)[:7]], strict=True)
    named = {f"really {suffix}.{other}": SOUND[suffix] for suffix, other in pairs}
    return {**files, **named, **{f"costly {name}": made for name, made in COSTLY.items()}}


def write_all(folder: Path) -> int:
    """Write every file into a folder; return how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    made = hostile_files()
    for name, content in made.items():
        (folder / name).write_bytes(content())
    return len(made)


if __name__ == "__main__":
    print(f"{write_all(Path(sys.argv[1]))} files")
