"""The commands `backup` and `restore`, and what `doctor --repair` does."""

import asyncio
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citegraph.errors import CitegraphError
from citegraph.run.backups import DOCUMENTS, THREADS, back_up, damage, newest_backup, restore
from citegraph.run.services import Services
from citegraph.settings import load_settings
from cli.options import AsJson, new_app
from cli.terminal import say, write

if TYPE_CHECKING:
    from citegraph.settings import Settings

app = new_app()


@app.command("backup")
def backup(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; default: the folder backups of the home.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write documents, threads and uploads into one file, while others ask and write; the index is made anew."""
    settings = load_settings()
    target = file or settings.home / "backups" / f"{time.strftime('%Y%m%d-%H%M%S')}.tar"
    if file is None:
        target.parent.mkdir(parents=True, exist_ok=True)
    sizes = back_up(settings, target)
    if as_json:
        write(json.dumps({"file": str(target), "bytes": sizes}))
    else:
        write(f"{target}: {', '.join(f'{name} {size:,} bytes' for name, size in sizes.items())}")


@app.command("restore")
def restored(file: Annotated[Path, typer.Argument(help="A backup.", show_default=False)]) -> None:
    """Put a backup in the place of the home's documents, threads and uploads, and make the index anew."""
    settings = load_settings()
    aside = restore(settings, file)
    if aside:
        say(f"What was there lies in {aside} now.")
    for line in asyncio.run(_index_anew(settings)):
        write(line)


def repairs(settings: "Settings") -> Iterator[str]:
    """Mend what is broken, and yield what was done: stores from the last backup, the index from the documents.

    Raises:
        CitegraphError: it cannot be mended; the message says what to do.
    """
    if settings.database_url is None:
        yield from _stores(settings)
    if settings.qdrant_url is None and (settings.database_url or (settings.home / DOCUMENTS).exists()):
        yield from asyncio.run(_index_anew(settings, damaged_only=True))


def _stores(settings: "Settings") -> Iterator[str]:
    documents, threads = settings.home / DOCUMENTS, settings.home / THREADS
    if wrong := damage(documents):
        last = newest_backup(settings)
        if last is None:
            raise CitegraphError(
                f"{documents} is damaged ({wrong}) and there is no backup in {settings.home / 'backups'}: `citegraph "
                "restore FILE` takes one from elsewhere; without any, move the file away and ingest the documents again."
            )
        aside = restore(settings, last)
        yield f"{documents.name} was damaged ({wrong}): restored from {last}; what was there lies in {aside}"
    elif wrong := damage(threads):
        aside = threads.with_name(f"{threads.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        threads.replace(aside)
        for end in ("-wal", "-shm"):
            threads.with_name(threads.name + end).unlink(missing_ok=True)
        yield f"{threads.name} was damaged ({wrong}): put aside as {aside.name}; earlier threads are lost, documents are not"


async def _index_anew(settings: "Settings", *, damaged_only: bool = False) -> list[str]:
    """Make the index of each bucket anew that has documents; of all, or of those that do not answer or hold nothing."""
    from citegraph.corpus.ingestion.ingest_options import options_from
    from citegraph.corpus.ingestion.pipeline import reembed

    done: list[str] = []
    services = Services(settings, trusted=True)
    try:
        corpus = await asyncio.to_thread(services.open)
        for name, bucket in corpus.buckets.items():
            count = 0 if bucket.collection else await asyncio.to_thread(corpus.documents.count, name)
            why = await _lacking(services, name) if damaged_only else "restored"
            if not count or not why:
                continue
            if damaged_only:
                _put_aside(settings.home / "index" / name)
            made = await reembed(bucket, stores=corpus.stores, options=options_from(settings))
            done.append(f"{name}: the index ({why}) was made anew of {made:,} documents")
    finally:
        await services.close()
    return done


async def _lacking(services: Services, bucket: str) -> str:
    """Return what is wrong with the index of a bucket that has documents; "" when it answers and holds some."""
    index = services.open().index
    try:
        points = await index.count(bucket)
    except CitegraphError as error:
        if "another process" in str(error):
            raise
        return "it was damaged"
    return "" if points else "it was empty"


def _put_aside(folder: Path) -> None:
    if folder.exists():
        shutil.move(folder, folder.with_name(f"{folder.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"))
        folder.with_suffix(".json").unlink(missing_ok=True)
