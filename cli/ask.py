"""The command `ask`: one question through the graph, with live steps and an interactive clarification."""

import asyncio
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import typer

from citegraph.answer.chat_text import chosen_reply
from citegraph.errors import BadInput
from citegraph.run.answer_types import Answer, Clarification
from citegraph.run.context import Context
from citegraph.run.json_output import dumped
from citegraph.settings import Settings, load_settings
from cli.answer_text import answer_text, clarification_text
from cli.exits import BY_STATUS
from cli.options import (
    AsJson,
    BucketNames,
    ContextTexts,
    FilterTexts,
    Quiet,
    check_scope,
    command,
    make_context,
    new_app,
)
from cli.terminal import Steps, interactive, make_steps, say, write

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from graph.served import ServedSession
    from graph.session import Session


app = new_app()


@dataclass(frozen=True, slots=True)
class Ask:
    """What was asked; a `reply` without `thread` answers the clarification of this very question."""

    question: Annotated[
        str | None, typer.Argument(help="The question; - reads it from stdin.", show_default=False)
    ] = None
    as_json: AsJson = False
    thread: Annotated[str | None, typer.Option("--thread", "-t", help="Go on in this thread.")] = None
    reply: Annotated[
        str | None,
        typer.Option("--reply", "-r", help="Reply to the thread's clarification (text or option)."),
    ] = None
    new: Annotated[
        bool,
        typer.Option("--new", help="Take the text as a new question, though the thread waits for a reply."),
    ] = False
    bucket: BucketNames = field(default_factory=list)
    filters: FilterTexts = field(default_factory=list)
    context: ContextTexts = field(default_factory=list)
    quiet: Quiet = False


@command(app)
def ask(request: Ask) -> int:
    """Answer a question.

    Exits with 0 answered, 3 needs clarification, 4 unanswerable or partial, 5 failed.

    Raises:
        BadInput: the request cannot be run as given.
    """
    context = make_context(request.context, buckets=request.bucket, filters=request.filters)
    request = _complete(request)
    as_json, quiet = request.as_json, request.quiet
    answer = asyncio.run(
        _run(request, context, make_steps(quiet=quiet or as_json), may_ask=not as_json and interactive())
    )
    write(dumped(answer.model_dump(mode="json")) if as_json else shown(answer))
    if answer.status in {"needs_clarification", "unanswerable"} and not quiet and nothing_ingested():
        say("no documents yet: citegraph ingest PATH... --bucket NAME")
    if answer.thread_id and not quiet:
        say(f"thread: {answer.thread_id}")
        if answer.status == "needs_clarification":
            say(f"reply with: citegraph ask --thread {answer.thread_id} --reply TEXT")
    return BY_STATUS[answer.status]


def shown(answer: Answer) -> str:
    """Return the answer, or the question back, as text."""
    return clarification_text(answer.clarification) if answer.clarification else answer_text(answer)


def nothing_ingested() -> bool:
    """Tell whether the stores of this process hold no document at all."""
    from citegraph.corpus.schema.bucket import load_buckets
    from cli.buckets import document_counts

    settings = load_settings()
    return not any(document_counts(settings, load_buckets(settings.buckets_dir)).values())


def _complete(request: Ask) -> Ask:
    """Return the request with its question read from stdin where it says so."""
    question = sys.stdin.read() if request.question == "-" else request.question
    if question is not None and not question.strip():
        raise BadInput("The question is empty.")
    if question is None and (request.thread is None or request.reply is None):
        raise BadInput("Give a question, or --thread and --reply to answer a clarification.")
    if request.reply is not None and not request.reply.strip():
        raise BadInput("The reply is empty.")
    return replace(request, question=question.strip() if question else None)


async def _run(request: Ask, context: Context, steps: Steps, *, may_ask: bool) -> Answer:
    settings = load_settings()
    if context.buckets or context.filters:
        from citegraph.corpus.schema.bucket import load_buckets

        check_scope(context, load_buckets(settings.buckets_dir))
    async with _opened(settings) as session:
        try:
            answer = await _first(session, request, context, steps)
            while may_ask and answer.clarification and answer.thread_id:
                steps.pause()
                reply = await asyncio.to_thread(ask_person, answer.clarification)
                if not reply:
                    break
                answer = await session.reply(answer.thread_id, reply, context=context, on_event=steps)
        finally:
            steps.pause()
    return answer


def _opened(settings: Settings) -> "AbstractAsyncContextManager[Session | ServedSession]":
    """Return the session of the server that has this home's index open, else one of this process."""
    if settings.qdrant_url is None:
        from graph.served import address_of, open_served

        if url := address_of(settings.home):
            return open_served(url)
    from citegraph.run.services import Services
    from graph.session import open_session

    return open_session(Services(settings, trusted=True))


async def _first(session: "Session | ServedSession", request: Ask, context: Context, steps: Steps) -> Answer:
    """Ask, or give the reply; without a thread it is kept for the question's own clarification."""
    if request.reply and request.new and request.question is None:
        raise BadInput("--reply answers an open clarification and --new starts a question: use one of them.")
    if request.thread and request.reply and not request.new:
        return await session.reply(request.thread, request.reply, context=context, on_event=steps)
    assert request.question is not None
    answer = await session.ask(
        request.question, thread_id=request.thread, context=context, new=request.new, on_event=steps
    )
    if request.reply and answer.clarification and answer.thread_id:
        reply = chosen_reply(answer.clarification, request.reply)
        answer = await session.reply(answer.thread_id, reply, context=context, on_event=steps)
    return answer


def ask_person(clarification: Clarification) -> str:
    """Ask at the terminal and return the reply, "" when none is given."""
    say(clarification_text(clarification))
    print("Your reply (number or text; empty to leave it open): ", end="", file=sys.stderr, flush=True)
    try:
        return chosen_reply(clarification, input())
    except EOFError:
        return ""
