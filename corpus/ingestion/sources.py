"""Which files an ingest reads, in a fixed order, and what of a folder it leaves out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpus.ingestion.report import IngestReport, Skipped
from corpus.readers.registry import units


def files_to_read(
    paths: Sequence[Path], annotations: Sequence[Path], report: IngestReport
) -> dict[Path, int]:
    """Return the files to read, in order, with their units."""
    exclude = {path.resolve() for path in annotations}
    return {file: units(file) for file in _walk(paths, report) if file.resolve() not in exclude}


def _walk(paths: Sequence[Path], report: IngestReport) -> Iterator[Path]:
    """Yield the files to read in a fixed order, each once, without a folder's hidden and read-me files."""
    seen: set[Path] = set()

    def unreadable(error: OSError) -> None:
        report.skipped.append(Skipped(str(error.filename), f"cannot be read ({error.strerror})"))

    for path in paths:
        if path.is_dir():
            found: list[Path] = []
            for folder, inner, names in os.walk(path, onerror=unreadable):
                inner[:] = sorted(name for name in inner if not name.startswith("."))
                found.extend(Path(folder) / name for name in sorted(names) if not name.startswith("."))
        elif path.exists():
            found = [path]
        else:
            report.skipped.append(Skipped(str(path), "no such file or folder"))
            continue
        for file in found:
            if path.is_dir() and file.stem.lower() == "readme":
                report.skipped.append(Skipped(str(file), "describes the folder: name the file to ingest it"))
            elif file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def is_absent(path: str) -> bool:
    """Return whether a file does not exist; one that may not be looked at is not absent."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
