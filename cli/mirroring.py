"""The command `mirror`: the values of a collection of one's own, read into the database now."""

import asyncio
from typing import Annotated

import typer

from citegraph.errors import BadInput
from citegraph.run.services import Services
from cli.dataclass_command import new_app
from cli.terminal import say, write

app = new_app()


@app.command()
def mirror(bucket: Annotated[str, typer.Argument(help="A bucket with a `collection`.")]) -> None:
    """Read the values of a collection of your own, however large, for lists, sums and counts over it."""
    asyncio.run(_read(bucket))


async def _read(bucket: str) -> None:
    from citegraph.corpus.foreign.foreign_stores import OwnAnnotations

    services = Services(trusted=True)
    try:
        corpus = await services.corpus()
        store = corpus.annotations
        mirror = store.mirror(bucket) if isinstance(store, OwnAnnotations) else None
        if mirror is None:
            raise BadInput(
                f"{bucket!r} is no bucket with a `collection`: there is nothing to read into the database."
            )
        held = await asyncio.to_thread(mirror.read)
        fields = [field.name for field in mirror.bucket.fields]
        for remark in (await asyncio.to_thread(mirror.remarks, fields))[:-1]:
            say(remark)
        write(
            f"{bucket}: {held.documents:,} documents in {held.points:,} points, read in {held.seconds:.1f} s"
        )
    finally:
        await services.close()
