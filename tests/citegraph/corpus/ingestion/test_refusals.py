"""A file is refused before a parser sees it when it is empty, too large, encrypted or a bomb."""

import zipfile
from pathlib import Path

import pytest

from citegraph.corpus.ingestion.refusals import refusal
from citegraph.corpus.readers.protocol import MEGABYTE

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", b"", "the file is empty (0 bytes): get it again from where it came"),
        ("a.txt", b"text", ""),
        ("a.pdf", b"%PDF-1.7 ...", ""),
        ("a.PDF", b"%PDF-1.7 ...", ""),
        ("a.pdf", b"truncated", ""),
        ("a.png", b"\xff\xd8\xff\xe0", ""),
        ("a.docx", OLE, ""),
        ("a.doc", OLE, ""),
        ("nosuffix", b"%PDF-1.7", ""),
    ],
)
def test_beginnings(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    assert refusal(file, file_mb=1) == expected


def test_large_files_are_refused_unless_they_are_read_by_line(tmp_path: Path) -> None:
    for name in ("a.txt", "a.jsonl"):
        with (tmp_path / name).open("wb") as file:
            file.write(b"text")
            file.truncate(1024 * MEGABYTE)
    assert (
        refusal(tmp_path / "a.txt", file_mb=512)
        == "has 1,024 MB, more than 512: split it, or raise CITEGRAPH_INGEST_FILE_MB"
    )
    assert refusal(tmp_path / "a.txt", file_mb=1024) == ""
    assert refusal(tmp_path / "a.jsonl", file_mb=512) == ""
    assert refusal(tmp_path / "gone.txt", file_mb=512) == ""


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["a.zip", "a.xlsx"])
def test_archive_bombs_are_refused_without_unpacking(tmp_path: Path, name: str) -> None:
    bomb = archive(tmp_path / name, {"zeros": bytes(64 * MEGABYTE)})
    assert bomb.stat().st_size < MEGABYTE
    assert "times its size, like an archive bomb: unpack it yourself" in refusal(bomb, file_mb=512)
    assert refusal(archive(tmp_path / "small.zip", {"zeros": bytes(MEGABYTE)}), file_mb=512) == ""


def test_archives_that_unpack_to_much_are_refused(tmp_path: Path) -> None:
    packed = archive(tmp_path / "packed.zip", {"a.txt": bytes(3 * MEGABYTE)})
    assert refusal(packed, file_mb=1).startswith("unpacks to 3 MB, more than 2: unpack it yourself")
    assert refusal(packed, file_mb=2) == ""


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    locked = archive(tmp_path / "locked.zip", {"a.txt": b"secret"})
    data = bytearray(locked.read_bytes())
    # Bit 0 of the flags says "encrypted", in the local header and in the directory.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    locked.write_bytes(data)
    assert refusal(locked, file_mb=512) == "is encrypted with a password: save it without one"
    locked.write_bytes(data[:40])
    assert refusal(locked, file_mb=512) == ""
