"""The commands `chat`, `threads` and `open`: a conversation at the terminal, the threads that are kept, a cited file."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from citegraph.answer.chat_text import chosen_reply, in_reading_order
from citegraph.errors import BadInput, CitegraphError
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.json_output import dumped
from citegraph.run.services import Services
from citegraph.settings import load_settings
from cli.answer_text import answer_text, clarification_text, linked
from cli.exits import ANSWERED, report
from cli.options import (
    AsJson,
    BucketNames,
    ContextTexts,
    FilterTexts,
    check_scope,
    command,
    make_context,
    new_app,
)
from cli.terminal import counted, make_steps, say, write

if TYPE_CHECKING:
    from graph.session import Session

app = new_app()
threads_app = new_app("List, show and delete the conversations that are kept.")
HELP = (
    "/new starts another conversation, /open 2 opens source 2, Ctrl-C stops an answer, /quit or Ctrl-D ends."
)
KEPT = 1_000
"""Lines of what was typed that are kept for the arrow keys."""
LISTED = 50
"""Threads that are listed."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation: where it goes on, and what its questions are held to."""

    thread: Annotated[str | None, typer.Option("--thread", "-t", help="Go on in this thread.")] = None
    bucket: BucketNames = field(default_factory=list)
    filters: FilterTexts = field(default_factory=list)
    context: ContextTexts = field(default_factory=list)


@command(app)
def chat(request: Chat) -> int:
    """Ask, ask on, and reply, in one conversation; /open 2 opens source 2 at its page.

    Raises:
        BadInput: the buckets, filters or settings cannot be used.
    """
    context = make_context(request.context, buckets=request.bucket, filters=request.filters)
    return asyncio.run(_converse(request, context))


async def _converse(request: Chat, context: Context) -> int:
    from citegraph.corpus.schema.bucket import load_buckets
    from graph.session import open_session

    services = Services(trusted=True)
    check_scope(context, load_buckets(services.settings.buckets_dir))
    thread_id, last = request.thread, None
    read = _reader(services.settings.home / "chat_history")
    say(HELP)
    async with open_session(services) as session:
        while (line := read(_prompt(last))) is not None:
            text = line.strip()
            if text in ("/quit", "/exit"):
                break
            if text == "/new":
                thread_id, last = None, None
                say("A new conversation.")
            elif text.startswith("/open"):
                await _open_source(services, last, text.removeprefix("/open").strip())
            elif text.startswith("/"):
                say(HELP)
            elif text:
                answering = _answer(session, services, text, thread_id, context)
                if (answer := await _stoppable(answering)) is not None:
                    last, thread_id = answer, answer.thread_id
    if thread_id:
        say(f"thread: {thread_id}")
    return ANSWERED


async def _stoppable(answering: Coroutine[Any, Any, Answer]) -> Answer | None:
    """Await an answer; None where Ctrl-C stopped it or it failed, which is told: the conversation goes on."""
    running = asyncio.ensure_future(answering)
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows
        loop.add_signal_handler(signal.SIGINT, running.cancel)
    try:
        return await running
    except asyncio.CancelledError:
        say("Stopped.")
    except CitegraphError as error:
        report(error)
    finally:
        # From here on Ctrl-C is for the line that is typed.
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)
    return None


def _prompt(last: Answer | None) -> str:
    return "reply> " if last is not None and last.clarification else "> "


def _reader(history: Path) -> Callable[[str], str | None]:
    """Return what reads a line at the terminal, None at its end; what was typed is kept for the next time."""
    if sys.stdin.isatty():
        # The module edits lines and remembers them by being imported; some systems lack it.
        with suppress(ImportError, OSError):
            import atexit
            import readline

            history.parent.mkdir(parents=True, exist_ok=True)
            history.touch(mode=0o600)
            readline.read_history_file(history)
            readline.set_history_length(KEPT)
            atexit.register(readline.write_history_file, history)

    def read(prompt: str) -> str | None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return input(prompt if sys.stdin.isatty() else "")
        except EOFError:
            return None
        except KeyboardInterrupt:
            say(f"\n{HELP}")
            return ""

    return read


async def _answer(
    session: "Session", services: Services, text: str, thread_id: str | None, context: Context
) -> Answer:
    """Ask, or give the reply that the thread waits for, and print what comes back."""
    waiting = await session.pending(thread_id) if thread_id else None
    steps = make_steps(quiet=False, told=False)
    try:
        answer = await session.ask(
            chosen_reply(waiting, text) if waiting else text,
            thread_id=thread_id,
            context=context,
            on_event=steps,
        )
    finally:
        steps.pause()
    if answer.clarification:
        write(clarification_text(answer.clarification))
        return answer
    shown = answer_text(answer)
    if sys.stdout.isatty():
        shown = linked(shown, answer, await asyncio.to_thread(_files, services, answer))
    write(shown)
    return answer


def _files(services: Services, answer: Answer) -> dict[str, Path]:
    """Return document -> its file, of the cited ones whose file is there; blocking."""
    records = services.open().documents.records([item.doc_id for item in answer.citations])
    found = {doc_id: Path(record.source_path) for doc_id, record in records.items() if record.source_path}
    return {doc_id: path for doc_id, path in found.items() if path.is_file()}


async def _open_source(services: Services, answer: Answer | None, number: str) -> None:
    order = in_reading_order(answer) if answer else []
    if answer is None or not number.isdecimal() or not 1 <= int(number) <= len(order):
        say(
            f"Name a source of the last answer, 1 to {len(order)}."
            if order
            else "There is no source to open."
        )
        return
    cited = answer.citations[order[int(number) - 1]]
    try:
        say(await asyncio.to_thread(launch, services, cited.doc_id, cited.page))
    except BadInput as error:
        say(str(error))


def launch(services: Services, doc_id: str, page: int | None) -> str:
    """Open the file of a document, at a page where the viewer can, and return its address; blocking.

    Raises:
        BadInput: there is no such document, or its file is gone.
    """
    record = services.open().documents.record(doc_id)
    if record is None:
        raise BadInput(f"There is no document {doc_id[:200]!r}.")
    path = Path(record.source_path) if record.source_path else None
    if path is None or not path.is_file():
        raise BadInput(f"{doc_id}: it was read from no file of its own, or the file is gone.")
    address = path.resolve().as_uri() + (f"#page={page}" if page is not None else "")
    # A browser opens a PDF at the page that the address names; a viewer of the system would not be told it.
    import_module("webbrowser").open(address)
    return address


@app.command("open")
def open_file(
    document: Annotated[
        str, typer.Argument(help="Id of a document, as citations name it.", show_default=False)
    ],
    page: Annotated[int | None, typer.Option("--page", "-p", min=1, help="Page to show.")] = None,
) -> None:
    """Open the file of a document at a page."""
    services = Services(trusted=True)
    write(launch(services, document, page))


@threads_app.command("list")
def list_threads(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Threads at most.")] = LISTED,
    as_json: AsJson = False,
) -> None:
    """List the threads, the last used first, with what was asked last."""
    rows = asyncio.run(_listed(limit))
    if as_json:
        write(dumped(rows))
    elif rows:
        write(
            "\n".join(
                f"{row['thread_id']}  {row['updated'][:16].replace('T', ' ')}  {row['asked'][:80]}"
                for row in rows
            )
        )
    else:
        write("No thread is kept.")


async def _listed(limit: int) -> list[dict[str, str]]:
    from graph.session import open_session

    found: dict[str, dict[str, str]] = {}
    # Closed before the database is: what is left off half-way would be closed after it, with a trace.
    async with (
        open_session(Services(trusted=True)) as session,
        aclosing(cast(Any, session.graph.checkpointer).alist(None)) as history,
    ):
        async for kept in history:
            thread_id = kept.config["configurable"]["thread_id"]
            values = kept.checkpoint["channel_values"]
            if thread_id in found or kept.config["configurable"].get("checkpoint_ns"):
                continue
            found[thread_id] = {
                "thread_id": thread_id,
                "updated": kept.checkpoint["ts"],
                "asked": " ".join(str(values.get("asked") or values.get("query") or "").split()),
            }
            if len(found) == limit:
                break
    return list(found.values())


@threads_app.command("show")
def show_thread(
    thread: Annotated[
        str, typer.Argument(help="Id of a thread, or the beginning of it.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Show what was said in a thread."""
    said = asyncio.run(_said(thread))
    if as_json:
        write(dumped([{"role": role, "text": text} for role, text in said]))
    else:
        write("\n\n".join(f"> {text}" if role == "human" else text for role, text in said))


async def _said(thread: str) -> list[tuple[str, str]]:
    from graph.session import open_session

    async with open_session(Services(trusted=True)) as session:
        thread_id = await _one(session, thread)
        config: Any = {"configurable": {"thread_id": thread_id}}
        values = (await session.graph.aget_state(config)).values
        return [(message.type, str(message.text)) for message in values.get("messages", [])]


@threads_app.command("delete")
def delete_threads(
    threads: Annotated[
        list[str], typer.Argument(help="Ids of threads, or their beginnings.", show_default=False)
    ],
) -> None:
    """Delete threads and everything that was said in them."""
    gone = asyncio.run(_delete(threads))
    write(f"{counted(len(gone), 'thread')} deleted")


async def _delete(threads: list[str]) -> list[str]:
    from graph.session import open_session

    services, book = Services(trusted=True), await asyncio.to_thread(_book)
    async with open_session(services) as session:
        ids = [await _one(session, thread) for thread in threads]
        for thread_id in ids:
            if book is not None:
                book.delete(thread_id)
            await session.forget(thread_id)
            if book is not None:
                book.forgotten(thread_id)
    return ids


def _book() -> Any:
    """Return the server's book of threads, None where there is no database yet."""
    settings = load_settings()
    if settings.nothing_stored:
        return None
    # By name: the server, which lists threads with their owners, and the command line do not import each other.
    return import_module("server.threads").ThreadBook(settings.sql_url)


async def _one(session: "Session", name: str) -> str:
    """Return the id of the one thread that is called so, or whose id begins so.

    Raises:
        BadInput: there is none, or there are several.
    """
    found: set[str] = set()
    async with aclosing(cast(Any, session.graph.checkpointer).alist(None)) as history:
        async for kept in history:
            thread_id = kept.config["configurable"]["thread_id"]
            if thread_id == name:
                return name
            if thread_id.startswith(name):
                found.add(thread_id)
    if len(found) == 1:
        return found.pop()
    raise BadInput(
        f"Several threads begin with {name[:64]!r}; give more of the id."
        if found
        else f"There is no thread {name[:64]!r}; `citegraph threads list` lists them."
    )
