"""A folder is walked in a fixed order; what is left out is named with its reason."""

import os
from pathlib import Path

import pytest

from citegraph.corpus.ingestion.report import IngestReport
from citegraph.corpus.ingestion.sources import find_sources, printable


def found(paths: list[Path], annotations: list[Path] | None = None) -> tuple[list[str], dict[str, str]]:
    report = IngestReport("letters")
    sources = find_sources(paths, annotations or [], report)
    base = f"{paths[0].resolve()}{os.sep}"
    files = [file.source.removeprefix(base) for file in sources.files]
    return files, {Path(skip.path).name: skip.reason for skip in report.skipped}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    (folder / "b").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for name in (
        "in/z.txt",
        "in/a.txt",
        "in/b/c.txt",
        "in/README.md",
        "in/.hidden",
        "out/secret.txt",
        "out/d.txt",
    ):
        (tmp_path / name).write_text(name)
    return folder


def test_links_out_of_the_folder_and_loops_are_named(folder: Path) -> None:
    (folder / "leak.txt").symlink_to(folder.parent / "out" / "secret.txt")
    (folder / "leaks").symlink_to(folder.parent / "out")
    (folder / "b" / "up").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    (folder / "nothing").symlink_to(folder / "gone")
    (folder / "twice.txt").symlink_to(folder / "a.txt")
    files, skipped = found([folder])
    assert files == ["a.txt", "z.txt", "b/c.txt"]
    out = "a symbolic link out of the folder: name its target to ingest it"
    assert skipped == {
        "README.md": "describes the folder: name the file to ingest it",
        "leak.txt": out,
        "leaks": out,
        "up": "a symbolic link to a folder that is read where it is",
        "self": "a symbolic link to nothing: remove it",
        "nothing": "a symbolic link to nothing: remove it",
    }


def test_a_link_named_by_the_user_is_followed(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert found([link])[0] == ["a.txt", "z.txt", "b/c.txt"]
    assert found([link, folder, folder / "a.txt"])[0] == ["a.txt", "z.txt", "b/c.txt"]
    report = IngestReport("letters")
    assert find_sources([link], [], report).folders == (f"{folder.resolve()}{os.sep}",)


def test_what_is_no_readable_file_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "locked.txt").write_text("locked")
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "locked.txt" and allowed(path, mode))
    files, skipped = found([folder])
    assert files == ["a.txt", "z.txt", "b/c.txt"]
    assert skipped["pipe.txt"] == "not a regular file (a pipe, socket or device): copy its content into one"
    assert skipped["locked.txt"] == "cannot be read (Permission denied): check its permissions"


def test_a_folder_that_may_not_be_listed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def scandir(path: object) -> object:
        if str(path).endswith("/b"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", scandir)
    files, skipped = found([folder])
    assert files == ["a.txt", "z.txt"]
    assert skipped["b"] == "cannot be read (Permission denied): check its permissions"


def test_names_in_odd_encodings_can_be_printed_and_stored(folder: Path) -> None:
    odd = os.fsdecode(b"b\xe4r.txt")
    (folder / odd).write_text("a bear")
    files, _ = found([folder], [folder / "z.txt"])
    assert files == ["a.txt", "b\\xe4r.txt", "b/c.txt"]
    assert printable("bär") == "bär"
    for name in files:
        name.encode()


def test_nothing_there_is_named(folder: Path) -> None:
    assert found([folder / "gone"]) == ([], {"gone": "no such file or folder: check the path"})
