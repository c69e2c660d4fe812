"""Which files an ingest reads, in a fixed order, and what of a folder it leaves out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from citegraph.corpus.ingestion.report import IngestReport, Skipped
from citegraph.corpus.readers.reader_registry import units


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read.

    Attributes:
        source: what identifies it in the stores, its path without symbolic links.
        units: documents that it may hold, for progress.
    """

    path: Path
    source: str
    units: int


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of one ingest in order, and the folders whose vanished files can be told."""

    files: list[SourceFile]
    folders: tuple[str, ...] = ()


def find_sources(paths: Sequence[Path], annotations: Sequence[Path], report: IngestReport) -> Sources:
    """Return the files under `paths` without those of `annotations`; what is left out goes into the report."""
    exclude = {path.resolve() for path in annotations}
    files = [
        SourceFile(file, printable(str(real)), units(file))
        for file, real in _walk(paths, report)
        if real not in exclude
    ]
    return Sources(files, tuple(printable(str(path.resolve())) + os.sep for path in paths if path.is_dir()))


def printable(name: str) -> str:
    r"""Return a file name as text that every store takes; bytes that are no UTF-8 become `\xff`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_absent(path: str) -> bool:
    """Return whether a file does not exist; one that may not be looked at is not absent."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _walk(paths: Sequence[Path], report: IngestReport) -> Iterator[tuple[Path, Path]]:
    """Yield the files to read, each once, with its real path; hidden and read-me files of folders are left out."""
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            _skip(report, path, "no such file or folder: check the path")
            continue
        whole = path.is_dir()
        for file, real in _under(path, report) if whole else [(path, path.resolve())]:
            reason = _unfit(file)
            if reason:
                _skip(report, file, reason)
            elif whole and file.stem.lower() == "readme":
                _skip(report, file, "describes the folder: name the file to ingest it")
            elif real not in seen:
                seen.add(real)
                yield file, real


def _under(root: Path, report: IngestReport) -> Iterator[tuple[Path, Path]]:
    """Yield the files of a folder; symbolic links that lead out of it, and links to folders, are reported."""
    inside = root.resolve()

    def unreadable(error: OSError) -> None:
        _skip(report, Path(str(error.filename)), f"cannot be read ({error.strerror}): check its permissions")

    for folder, inner, names in os.walk(root, onerror=unreadable):
        here = Path(folder)
        real = inside / here.relative_to(root)
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for link in (here / name for name in inner if (here / name).is_symlink()):
            _skip(report, link, LINK_TO_FOLDER if _is_within(link, inside) else LINK_OUT)
        for name in sorted(name for name in names if not name.startswith(".")):
            file = here / name
            if not file.is_symlink():
                yield file, real / name
            elif _is_within(file, inside):
                # Named as the file itself, which may be read twice otherwise: once under either name.
                yield root / file.resolve().relative_to(inside), file.resolve()
            else:
                _skip(report, file, LINK_OUT if file.exists() else "a symbolic link to nothing: remove it")


LINK_OUT = "a symbolic link out of the folder: name its target to ingest it"
LINK_TO_FOLDER = "a symbolic link to a folder that is read where it is"


def _is_within(link: Path, folder: Path) -> bool:
    try:
        return link.resolve(strict=True).is_relative_to(folder)
    except (OSError, RuntimeError):  # it leads nowhere, or in a circle
        return False


def _unfit(file: Path) -> str:
    """Return why a file cannot be opened, before a reader waits for a pipe for ever."""
    try:
        mode = file.stat().st_mode
    except OSError as error:
        return f"cannot be read ({error.strerror or type(error).__name__}): check its permissions"
    if not stat.S_ISREG(mode):
        return "not a regular file (a pipe, socket or device): copy its content into one"
    if not os.access(file, os.R_OK):
        return "cannot be read (Permission denied): check its permissions"
    return ""


def _skip(report: IngestReport, path: Path, reason: str) -> None:
    report.skipped.append(Skipped(printable(str(path)), reason))
