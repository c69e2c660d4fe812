"""Archives are opened safely: no member writes outside, none unpacks without end, each refusal is named."""

import io
import zipfile
from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import MEGABYTE, Reading, ReadOptions, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def inner() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("deep.txt", "deep")
    return target.getvalue()


def test_members_are_documents(tmp_path: Path) -> None:
    rows = b'{"doc_id": "x1", "text": "one"}\nbroken\n'
    path = archive(
        tmp_path / "a.zip",
        {
            "letters/a.txt": "Grüße aus dem Hafen, schön geräumt".encode("cp1252"),
            "rows.jsonl": rows,
            "inner.zip": inner(),
            "__MACOSX/._a.txt": b"x",
            ".hidden": b"x",
            "film.mp4": b"\x00\x00\x00\x18ftypmp42" + bytes(300),
        },
    )
    found = list(read_file(path))
    assert found == [
        Reading("Grüße aus dem Hafen, schön geräumt", part="letters/a.txt"),
        Reading("one", doc_id="x1", part="rows.jsonl"),
        Unread("rows.jsonl: line 2", "not JSON"),
        Reading("deep", part="inner.zip/deep.txt"),
        Unread("film.mp4", "no reader for .mp4 (save it as .pdf or text)"),
    ]


def test_names_that_lead_out_and_links_are_refused(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.zip",
        {"../../evil.txt": b"x", "/etc/evil.txt": b"x", "c:/evil.txt": b"x", "ok.txt": b"y"},
    )
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/passwd")
    before = set(tmp_path.rglob("*"))
    out = "its name leads out of the archive: unpack it yourself"
    assert list(read_file(path)) == [
        Unread("../../evil.txt", out),
        Unread("/etc/evil.txt", out),
        Unread("c:/evil.txt", out),
        Reading("y", part="ok.txt"),
        Unread("link.txt", "is a symbolic link: put the file itself into the archive"),
    ]
    assert set(tmp_path.rglob("*")) == before


def test_bombs_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"zeros.txt": bytes(20 * MEGABYTE), "ok.txt": b"y"})
    assert list(read_file(path)) == [
        Unread("zeros.txt", "unpacks to far more than it should, like a bomb: unpack it yourself"),
        Reading("y", part="ok.txt"),
    ]
    small = ReadOptions(unpacked=10, members=2)
    path = archive(tmp_path / "b.zip", {"a.txt": b"1234567", "b.txt": b"12345"})
    assert list(read_file(path, small)) == [
        Reading("1234567", part="a.txt"),
        Unread("b.txt", "the archive unpacks to too much: unpack it and ingest the folder"),
    ]
    with pytest.raises(BadInput, match="more than 2 files"):
        list(read_file(archive(tmp_path / "c.zip", {f"{n}.txt": b"x" for n in range(3)}), small))


def test_containers_inside_of_containers_share_what_a_file_may_hold(tmp_path: Path) -> None:
    inner = archive(tmp_path / "inner.zip", {f"{n}.txt": b"text" for n in range(4)}).read_bytes()
    path = archive(tmp_path / "a.zip", {f"{n}.zip": inner for n in range(10)})
    found = list(read_file(path, ReadOptions(members=11)))
    assert [item.part for item in found if isinstance(item, Reading)] == [
        f"{z}.zip/{n}.txt" for z in (0, 1) for n in range(4)
    ]
    too_much = "holds too much in containers inside of it: unpack it and ingest the folder"
    assert [item for item in found if isinstance(item, Unread)] == [
        Unread("2.zip", too_much),
        Unread("", too_much),
    ]


def test_a_member_that_lies_about_its_size(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"a.txt": b"z" * 50_000})
    data = path.read_bytes()
    # Both of its heads claim 100 bytes.
    path.write_bytes(data.replace((50_000).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    (only,) = read_file(path)
    assert isinstance(only, Unread)
    assert only.where == "a.txt"
    assert "unpack" in only.reason


def test_broken_and_locked(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"a.txt": b"hello"})
    data = bytearray(path.read_bytes())
    for head, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(head) + at] |= 1
    path.write_bytes(bytes(data))
    assert list(read_file(path)) == [Unread("a.txt", "needs a password: save it without one")]
    path.write_bytes(bytes(data[:40]))
    with pytest.raises(BadInput, match="the archive is damaged"):
        list(read_file(path))
