"""The command `demo`: the sample corpus ingested, and three questions asked, one of which asks back."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import buckets
from citegraph.answer.chat_text import chosen_reply
from citegraph.run.services import Services
from citegraph.settings import Settings, load_settings
from cli.answer_text import answer_text, clarification_text
from cli.exits import ANSWERED, BY_STATUS
from cli.ingest import Ingest, ingest_into
from cli.options import Quiet, new_app
from cli.terminal import counted, make_steps, progress, say, write

if TYPE_CHECKING:
    from graph.session import Session

SAMPLE = Path(buckets.__file__).parent / "sample"
SCRIPT = ("sample-005", "sample-024", "sample-049")
"""A value of a datasheet with its page, a sum over invoices, and a question that fits two receipts."""


app = new_app()


@app.command()
def demo(quiet: Quiet = False) -> None:
    """Ingest the sample corpus and ask it three questions, one of which asks back; exits as the worst of them."""
    raise typer.Exit(asyncio.run(_run(quiet=quiet)))


def demo_settings() -> Settings:
    """Return the settings over a home of the demo's own, never over the user's stores."""
    settings = load_settings()
    own = {"home": settings.home / "demo", "database_url": None, "qdrant_url": None, "buckets_dir": None}
    return settings.model_copy(update=own)


async def _run(*, quiet: bool) -> int:
    from graph.session import open_session

    services = Services(demo_settings(), trusted=True)
    async with open_session(services) as session:
        await ingest_sample(services, quiet=quiet)
        codes = [await _ask(session, row, quiet=quiet) for row in _scripted()]
    command = own_name()
    write(f"Look at it in the browser:  {command} serve --demo")
    write(f"Ask your own documents:     {command} ingest PATH --bucket NAME, then {command} ask “…”")
    return max(codes, default=ANSWERED)


def own_name() -> str:
    """Return what starts this command line here: "citegraph", with the folder where it was called by one."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "citegraph" and called.parent != Path() else "citegraph"


async def ingest_sample(services: Services, *, quiet: bool = False) -> int:
    """Ingest the five folders of the sample with their annotations; returns the number of documents."""
    began = time.monotonic()
    documents = new = 0
    for name in (await services.corpus()).buckets:
        folder = SAMPLE / name
        request = Ingest([folder], bucket=name, annotations=sorted(folder.glob("annotations.*")))
        with progress(f"ingest {name}", quiet=quiet) as show:
            report = await ingest_into(services, request, show)
        documents, new = documents + report.documents, new + report.new + report.changed
    if not quiet:
        say(
            f"sample corpus: {counted(documents, 'document')}, {new} of them new, {time.monotonic() - began:.1f} s"
        )
    return documents


def _scripted() -> list[dict[str, Any]]:
    """Return the scripted questions with the replies that the demo gives."""
    lines = (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    return [rows[name] for name in SCRIPT]


async def _ask(session: "Session", row: dict[str, Any], *, quiet: bool) -> int:
    """Ask one question, give the scripted reply when it asks back, and print both as they come."""
    steps = make_steps(quiet=quiet)
    write(f"Question: {row['turns'][0]}")
    answer = await session.ask(row["turns"][0], on_event=steps)
    if answer.clarification and answer.thread_id and row.get("reply"):
        steps.pause()
        asked = clarification_text(answer.clarification)
        write(f"\nIt asks back: {asked}\n\nThe demo replies: {row['reply']}")
        reply = chosen_reply(answer.clarification, row["reply"])
        answer = await session.reply(answer.thread_id, reply, on_event=steps)
    steps.pause()
    spent = f"({answer.usage.seconds:.2f} s, {answer.usage.llm_calls} model calls)"
    write(f"\n{answer_text(answer)}\n\n{spent}\n{'-' * 72}")
    return BY_STATUS[answer.status]
