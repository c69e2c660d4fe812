"""TAR, packed files and mailboxes are read like ZIP archives, and bounded like them."""

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest

from citegraph.corpus.readers.packed.containers import SMALL
from citegraph.corpus.readers.protocol import DEFAULT_OPTIONS, Budget, Reading, Unread
from citegraph.corpus.readers.reader_registry import opened_part, read_file
from citegraph.errors import BadInput


def tar(path: Path, *entries: tuple[str, bytes] | tarfile.TarInfo, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
                continue
            info = tarfile.TarInfo(entry[0])
            info.size = len(entry[1])
            archive.addfile(info, io.BytesIO(entry[1]))
    return path


def special(name: str, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, "/etc/passwd"
    return entry


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tgz", "w:gz"), ("a.tar.bz2", "w:bz2"), ("a.txz", "w:xz")],
)
def test_files_of_a_tar_are_documents(tmp_path: Path, name: str, mode: str) -> None:
    entries = (
        ("docs/one.txt", b"One"),
        special("docs", tarfile.DIRTYPE),
        ("docs/._one.txt", b"system"),
        ("../out.txt", b"Out"),
        special("link.txt", tarfile.SYMTYPE),
        special("hard.txt", tarfile.LNKTYPE),
        special("pipe", tarfile.FIFOTYPE),
        ("b.csv", b"Item,Cost\nBolt,3\n"),
    )
    path = tar(tmp_path / name, *entries, mode=mode)
    assert [
        (item.part, item.text) if isinstance(item, Reading) else (item.where, item.reason)
        for item in read_file(path)
    ] == [
        ("docs/one.txt", "One"),
        ("../out.txt", "its name leads out of the archive: unpack it yourself"),
        ("link.txt", "is a link: put the file itself into the archive"),
        ("hard.txt", "is a link: put the file itself into the archive"),
        ("pipe", "is no regular file"),
        ("b.csv", "Item | Cost\nBolt | 3\n\n"),
    ]
    with opened_part(path, "docs/one.txt") as file:
        assert file.read_bytes() == b"One"


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_a_file_packed_alone(tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"b.csv.{ending}"
    path.write_bytes(pack(b"Item,Cost\nBolt,3\n"))
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    assert (reading.part, reading.text, len(reading.tables)) == ("b.csv", "Item | Cost\nBolt | 3\n\n", 1)
    path.write_bytes(pack(bytes(range(256)) * 40)[:-20])
    with pytest.raises(BadInput, match="damaged or cut off"):
        list(read_file(path))
    path.write_bytes(pack(bytes(SMALL + 1)))
    with pytest.raises(BadInput, match="like a bomb"):
        list(read_file(path))


def test_a_packed_file_in_a_tar_keeps_its_format(tmp_path: Path) -> None:
    path = tar(tmp_path / "a.tar", ("b.csv.gz", gzip.compress(b"Item,Cost\nBolt,3\n")))
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    assert (reading.part, len(reading.tables)) == ("b.csv.gz/member.csv", 1)


def test_a_tar_is_bounded(tmp_path: Path) -> None:
    path = tar(
        tmp_path / "a.tar.gz", ("a.txt", b"a" * 30), ("b.txt", b"b" * 30), ("c.txt", b"c"), mode="w:gz"
    )
    found = list(read_file(path, replace(DEFAULT_OPTIONS, unpacked=50)))
    assert [item.where if isinstance(item, Unread) else item.part for item in found] == ["a.txt", "b.txt"]
    assert found[1] == Unread("b.txt", "the archive unpacks to too much: unpack it and ingest the folder")
    found = list(read_file(path, replace(DEFAULT_OPTIONS, members=2)))
    assert found[2] == Unread("", "the archive holds more than 2 files: unpack it and ingest the folder")
    found = list(read_file(path, replace(DEFAULT_OPTIONS, budget=Budget(1, 100))))
    assert found[1:] == [
        Unread("", "holds too much in containers inside of it: unpack it and ingest the folder")
    ]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BadInput, match="damaged or cut off"):
        list(read_file(path))


def mails(path: Path, *subjects: str) -> Path:
    lines = b""
    for subject in subjects:
        mail = EmailMessage()
        mail["From"], mail["Subject"], mail["Date"] = (
            "ada@example.org",
            subject,
            "Mon, 3 Mar 2025 10:00:00 +0000",
        )
        mail.set_content(f"About {subject}\n>From here on\n")
        mail.add_attachment(b"Item,Cost\nBolt,3\n", "text", "csv", filename="b.csv")
        lines += b"From ada@example.org Mon Mar  3 10:00:00 2025\n" + mail.as_bytes() + b"\n"
    path.write_bytes(lines)
    return path


@pytest.mark.parametrize("name", ["Inbox", "a.mbox"])
def test_messages_of_a_mailbox_are_documents(tmp_path: Path, name: str) -> None:
    path = mails(tmp_path / name, "Rent", "Heating")
    found = [item for item in read_file(path) if isinstance(item, Reading)]
    assert [(item.part, item.title) for item in found] == [
        ("message 1.eml", "Rent"),
        ("message 1.eml/b.csv", ""),
        ("message 2.eml", "Heating"),
        ("message 2.eml/b.csv", ""),
    ]
    assert "About Heating" in found[2].text
    with opened_part(path, "message 2.eml/b.csv") as file:
        assert file.read_bytes() == b"Item,Cost\nBolt,3\n"


def test_words_that_begin_like_a_mailbox_are_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("From here to the bridge it is a mile.\nThen: turn left.\n")
    (reading,) = read_file(tmp_path / "a.txt")
    assert isinstance(reading, Reading)
    assert reading.media_type == "text/plain"
