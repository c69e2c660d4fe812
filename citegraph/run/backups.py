"""Backups of a home: one file with the documents, the threads and the uploads, taken while others ask and write.

The index is not in it: it is made from the documents, so that the two cannot disagree after a restore.
"""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from citegraph.corpus.records.database import FORMAT, claim_file, refuse_newer
from citegraph.errors import BadInput, Unavailable
from citegraph.settings import Settings

DOCUMENTS, THREADS, UPLOADS, LISTED = "citegraph.sqlite", "threads.sqlite", "uploads", "backup.json"
STORES = (DOCUMENTS, THREADS)
"""The SQLite files of a home; each is copied as it stands at one moment."""


def back_up(settings: Settings, target: Path) -> dict[str, int]:
    """Write a backup of the home into a file and return the bytes of each of its parts; blocking.

    The file is there whole or not at all. An upload that is removed meanwhile may be missing; its text is kept.

    Raises:
        BadInput: there is nothing to back up, or the documents are in another database.
        Unavailable: the file cannot be written, or a store is damaged.
    """
    if settings.database_url:
        raise BadInput(
            "The documents are in the database of CITEGRAPH_DATABASE_URL: use its own backup (pg_dump)."
        )
    home = settings.home
    if not (home / DOCUMENTS).exists():
        raise BadInput(f"There is nothing to back up in {home}: ingest documents first.")
    draft = target.with_name(f".{target.name}.new")
    sizes: dict[str, int] = {}
    try:
        with (
            tempfile.TemporaryDirectory(prefix="citegraph-backup-") as folder,
            tarfile.open(draft, "w") as archive,
        ):
            hashes: dict[str, str] = {}
            for name in STORES:
                if (home / name).exists():
                    copy = Path(folder) / name
                    _copy(home / name, copy)
                    hashes[name] = _hash(copy)
                    archive.add(copy, name)
                    sizes[name] = copy.stat().st_size
            for file in sorted((home / UPLOADS).rglob("*")):
                if file.is_file() and not file.is_symlink():
                    name = file.relative_to(home).as_posix()
                    try:
                        hashes[name] = _hash(file)
                        archive.add(file, name)
                    except FileNotFoundError:  # its document was removed meanwhile
                        continue
                    sizes[UPLOADS] = sizes.get(UPLOADS, 0) + file.stat().st_size
            _add_listing(archive, hashes)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(draft, target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Unavailable(
            f"{target}: the backup cannot be written ({error.strerror or type(error).__name__})."
        ) from error
    return sizes


def restore(settings: Settings, source: Path) -> Path | None:
    """Put the parts of a backup in the place of the home's; returns where the replaced ones lie now, None for none.

    The index is left out of the home, so that it is made anew. A backup that is not whole changes nothing.

    Raises:
        BadInput: the file is no backup, is damaged, or was written by a newer version.
        Unavailable: somebody works with the home, or it cannot be written.
    """
    home = settings.home
    if settings.database_url:
        raise BadInput(
            "The documents are in the database of CITEGRAPH_DATABASE_URL: use its own restore (pg_restore)."
        )
    try:
        home.mkdir(parents=True, exist_ok=True)
        claims = _claimed(home)
        try:
            with tempfile.TemporaryDirectory(dir=home, prefix=".restore-") as folder:
                unpacked = Path(folder)
                _unpack(source, unpacked)
                return _swap(home, unpacked)
        finally:
            for claim in claims:
                os.close(claim)
    except OSError as error:
        raise Unavailable(
            f"{home}: the backup cannot be restored ({error.strerror or type(error).__name__})."
        ) from error


def damage(file: Path) -> str:
    """Return what is wrong with a SQLite file, "" for nothing or no file; blocking, it reads all of it."""
    if not file.exists():
        return ""
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if found and found[0] == "ok" else str(found[0] if found else "it holds nothing")[:200]


def newest_backup(settings: Settings) -> Path | None:
    """Return the last backup in the folder `backups` of the home."""
    found = sorted((settings.home / "backups").glob("*.tar"), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def _copy(source: Path, target: Path) -> None:
    """Copy a SQLite file as it stands now, whoever writes to it meanwhile."""
    try:
        with closing(sqlite3.connect(source)) as before, closing(sqlite3.connect(target)) as after:
            before.backup(after)
    except sqlite3.DatabaseError as error:
        raise Unavailable(
            f"{source.name} is damaged ({error}): `citegraph doctor --repair` restores the last backup."
        ) from error
    if wrong := damage(target):
        raise Unavailable(
            f"{source.name} is damaged ({wrong}): `citegraph doctor --repair` restores the last backup."
        )


def _add_listing(archive: tarfile.TarFile, hashes: dict[str, str]) -> None:
    listing = {"format": FORMAT, "made_by": version("citegraph"), "made_at": time.time(), "sha256": hashes}
    data = json.dumps(listing, indent=1).encode()
    entry = tarfile.TarInfo(LISTED)
    entry.size, entry.mtime = len(data), int(time.time())
    archive.addfile(entry, io.BytesIO(data))


def _unpack_file(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    """Write one file of a backup below a folder; a backup holds nothing else (Python 3.11.2 has no filters for it)."""
    path, inside = (folder / entry.name).resolve(), folder.resolve()
    held = archive.extractfile(entry) if entry.isfile() and path.is_relative_to(inside) else None
    if held is None:
        if entry.isdir():
            return
        raise ValueError(entry.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(held, target)


def _unpack(source: Path, folder: Path) -> None:
    """Unpack a backup and hold every file against its hash."""
    try:
        with tarfile.open(source, "r:") as archive:
            for entry in archive:
                _unpack_file(archive, entry, folder)
        listing: Any = json.loads((folder / LISTED).read_text("utf-8"))
        hashes, number = dict(listing["sha256"]), int(listing["format"])
    except FileNotFoundError as error:
        raise BadInput(f"{source}: there is no such backup.") from error
    except (tarfile.TarError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{source}: this is no backup of Citegraph, or only a part of one.") from error
    refuse_newer(number, "The backup")
    for name, expected in hashes.items():
        file = folder / name
        if not file.is_file() or _hash(file) != expected:
            raise BadInput(f"{source}: the backup is damaged at {name}: take another one.")
    (folder / LISTED).unlink()


def _claimed(home: Path) -> list[int]:
    """Hold every bucket that was ever written or opened, so that nobody works with the home.

    Raises:
        Unavailable: somebody does.
    """
    claims: list[int] = []
    for file in [*home.glob(f"{DOCUMENTS}.*.lock"), *(home / "index").glob("*.lock")]:
        claim = claim_file(file)
        if claim is None:
            for held in claims:
                os.close(held)
            raise Unavailable(f"Somebody works with {home}: stop the server and every ingest, then restore.")
        claims.append(claim)
    return claims


def _swap(home: Path, unpacked: Path) -> Path | None:
    old = [home / name for name in (*STORES, UPLOADS, "index")]
    old += [home / f"{name}{end}" for name in STORES for end in ("-wal", "-shm")]
    old = [path for path in old if path.exists()]
    aside = home / f"replaced-{time.strftime('%Y%m%d-%H%M%S')}"
    if old:
        aside.mkdir()
        for path in old:
            os.replace(path, aside / path.name)
    for path in unpacked.iterdir():
        shutil.move(path, home / path.name)
    return aside if old else None


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
