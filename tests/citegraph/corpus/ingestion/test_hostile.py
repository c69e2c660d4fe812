"""A folder of everything that goes wrong: each file is a line of the report that says what to do, the rest is read."""

import io
import os
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import docx
import openpyxl
import pypdf
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from citegraph.corpus.ingestion.ingest_options import IngestOptions
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.readers.encodings import NO_TEXT
from citegraph.corpus.readers.images import recognition
from tests.citegraph.corpus.ingestion.test_pipeline import BUCKET
from tests.citegraph.corpus.open_stores import open_stores
from tests.tesseract import needs_tesseract

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
LAUGHS = '<!DOCTYPE a [<!ENTITY l0 "ha">' + "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10)
)


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    target = io.BytesIO()
    save(target)
    return target.getvalue()


def pdf(password: str | None = None) -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target)
    canvas.drawString(40, 700, "A page of words that can be read.")
    canvas.save()
    if password is None:
        return target.getvalue()
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(target.getvalue()))
    writer.encrypt(password)
    return saved(writer.write)


def zipped(members: Mapping[str, bytes], *, flag: int = 0) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    data = bytearray(target.getvalue())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while flag and (place := data.find(mark, place + 1)) >= 0:
            data[place + at] |= flag
    return bytes(data)


def overlapping(count: int, size: int) -> bytes:
    """Return an archive whose every name is the same compressed bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(b"A" * size) + packer.flush()
    crc = zlib.crc32(b"A" * size)
    local = (
        struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, crc, len(packed), size, 1, 0) + b"f" + packed
    )
    head = struct.pack("<IHHHHHHIII", 0x02014B50, 20, 20, 0, 8, 0, 0, crc, len(packed), size)
    names = b"".join(
        head + struct.pack("<HHHHHII", 6, 0, 0, 0, 0, 0, 0) + f"{n:06}".encode() for n in range(count)
    )
    return local + names + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(names), len(local), 0)


def word(bomb: bool = False) -> bytes:
    document = docx.Document()
    document.add_paragraph("MARK")
    data = saved(document.save)
    if not bomb:
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head, rest = members["word/document.xml"].decode().split("?>", 1)
    members["word/document.xml"] = f"{head}?>{LAUGHS}]>{rest.replace('MARK', '&l9;')}".encode()
    return zipped(members)


def png(width: int, height: int, *, cut: bool = False) -> bytes:
    data = saved(lambda target: Image.new("L", (200, 200), 99).save(target, "PNG"))
    # The size stands behind the mark and the head of the first part; its sum is not checked before the pixels are.
    claimed = data[:16] + struct.pack(">II", width, height) + data[24:29]
    return (claimed + struct.pack(">I", zlib.crc32(claimed[12:])) + data[33:])[: 60 if cut else None]


GET_AGAIN = "get it again from where it came"
REASONS: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty.pdf": (bytes, f"the file is empty (0 bytes): {GET_AGAIN}"),
    "blank.txt": (lambda: b" \n", "holds no text: nothing to read"),
    "cut.docx": (lambda: word()[:900], "the Word document is damaged: open it in Word and save it again"),
    "laughs.docx": (
        lambda: word(bomb=True),
        "the Word document is damaged: open it in Word and save it again",
    ),
    "laughs.xml": (
        f"{LAUGHS}]><a>&l9;</a>".encode,
        "not XML, or cut off: get it again, or name it .txt",
    ),
    "cut.xlsx": (
        lambda: saved(openpyxl.Workbook().save)[:900],
        "the spreadsheet is damaged: open it in Excel and save it again",
    ),
    "cut.pdf": (lambda: pdf()[:300], "the PDF is damaged or no PDF: open it in a viewer and save it again"),
    "locked.pdf": (lambda: pdf("secret"), "the PDF needs a password: save it without one"),
    "locked.zip": (
        lambda: zipped({"a.txt": b"x"}, flag=1),
        "is encrypted with a password: save it without one",
    ),
    "cut.zip": (
        lambda: zipped({"a.txt": b"x" * 500})[:60],
        "the archive is damaged or cut off: get it again",
    ),
    "flat.zip": (
        lambda: zipped({"a.txt": bytes(15_000_000)}),
        "unpacks to 1,0* times its size, like an archive bomb: unpack it yourself",
    ),
    "overlapping.zip": (
        lambda: overlapping(500, 1_000_000),
        "unpacks to * times its size, like an archive bomb: unpack it yourself",
    ),
    "old.docx": (lambda: OLE + bytes(3000), "the Office 97 or Outlook file is damaged: get it again"),
    "cut.png": (lambda: png(200, 200, cut=True), "the picture is damaged or cut off: get it again"),
    "large.png": (lambda: png(60_000, 60_000), "the picture has too many pixels: scale it down"),
    "program.docx": (
        lambda: b"MZ\x90\x00" + bytes(range(256)) * 9,
        "no reader for .exe (save it as .pdf or text)",
    ),
    "noise.txt": (lambda: bytes(range(256)) * 20, NO_TEXT),
    "packed.7z": (lambda: b"7z\xbc\xaf'\x1c" + bytes(40), "no reader for .7z (unpack it)"),
    "line.jsonl": (lambda: b'{"doc_id": "j1", "text": "fine"}\n{"doc_id": ', "line 2: not JSON"),
}
READ = {
    "good.txt": b"Words of a good file.",
    "pdf.txt": b"",
    "page.pdf": b"<!doctype html><p>Words of a page",
    "plain.xlsx": b"Words of a text\n",
    "new\nline.txt": b"Words of a name with a line end",
    f"{'x' * 251}.txt": b"Words of a long name",
    "trailing.txt.": b"Words of a dot",
    "Case.txt": b"Words in upper case",
    "case.txt": b"Words in lower case",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, (content, _) in REASONS.items():
        (folder / name).write_bytes(content())
    for name, data in READ.items():
        (folder / name).write_bytes(data or pdf())
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).write_text("Words of a name of other bytes")
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "secret.txt").write_text("Not of this folder")
    (folder / "out.txt").symlink_to("../secret.txt")
    (folder / "loop").symlink_to(".")
    (folder / "self").symlink_to("self")
    (folder / "in.txt").symlink_to("good.txt")
    os.mkfifo(folder / "pipe.txt")
    return folder


@needs_tesseract
async def test_every_file_is_read_or_named_with_what_to_do(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition, "missing", str)
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("in/socket.txt")
        stores = open_stores(tmp_path / "home", BUCKET)
        report = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(workers=0))
    named = {Path(item.path).name: item.reason for item in report.skipped}
    special = "not a regular file (a pipe, socket or device): copy its content into one"
    expected = {name: reason for name, (_, reason) in REASONS.items()} | {
        "huge.txt": "has 1,024 MB, more than 512: split it, or raise CITEGRAPH_INGEST_FILE_MB",
        "out.txt": "a symbolic link out of the folder: name its target to ingest it",
        "loop": "a symbolic link to a folder that is read where it is",
        "self": "a symbolic link to nothing: remove it",
        "pipe.txt": special,
        "socket.txt": special,
    }
    assert named.keys() == expected.keys()
    for name, reason in expected.items():
        begin, _, end = reason.partition("*")
        assert named[name].startswith(begin), name
        assert named[name].endswith(end), name
    assert report.documents == len(READ) + 2  # the name of other bytes, the good line
    texts = {stores.documents.text(doc_id).strip() for doc_id in stores.documents.all_records(BUCKET.name)}
    assert "Not of this folder" not in texts
    assert {"Words of a good file.", "A page of words that can be read.", "Words of a page", "fine"} <= texts
    assert {item.reason for item in report.notes} == {
        "named .txt, read as PDF",
        "named .pdf, read as HTML",
        "named .xlsx, read as TXT",
    }
    await stores.index.close()
