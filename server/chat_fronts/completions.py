"""Routes as the OpenAI API has them, so that its chat front ends and clients can ask: models and chat completions.

A conversation is a thread. A question back is an ordinary turn of the assistant, and the next message of the user is the
reply to it. What is streamed as the answer is verified: while it is made, the steps are told as reasoning.
"""

import asyncio
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse

from citegraph.answer.chat_text import chat_text, chosen_reply, cited_url, numbers_in
from citegraph.corpus.records.access import Principal
from citegraph.errors import CitegraphError
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.events import Event
from citegraph.run.json_output import dumped
from graph.session import UnknownThread
from server.line_safe import JsonText
from server.problems import RESPONSES, Refused, status_of
from server.routes.asking import PING, answer_of, begun, until_gone
from server.running import RunningAlone, ServerAlone, Who
from server.schemas import LONGEST_QUESTION, Body, RunContext, ThreadId

MODEL = "citegraph"
"""Name of the model that searches every bucket; `citegraph/NAME` searches one."""
PIECE = 40
"""Characters of a streamed piece of the answer, about."""
MOST_MESSAGES = 400
LONGEST = 400_000
"""Characters of a message at most; an answer that a client sends back may be long."""


class ErrorsAsOpenAI(APIRoute):
    """Answers errors as OpenAI's clients read them: `{"error": {"message", "type", "code"}}`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the route's handler, its errors translated."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except Refused as error:
                return _failed(error.status, error.detail, error.headers)
            except RequestValidationError as error:
                first = error.errors()[0]
                place = ".".join(str(part)[:100] for part in first["loc"][1:])
                return _failed(422, f"{place}: {first['msg']}")
            except CitegraphError as error:
                return _failed(status_of(error), str(error))

        return handler


def _failed(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    kind = "invalid_request_error" if status < 500 else "server_error"
    shown = message.encode("utf-8", "replace").decode()
    return JSONResponse({"error": {"message": shown, "type": kind, "code": status}}, status, headers)


router = APIRouter(prefix="/v1", tags=["chat front ends"], responses=RESPONSES, route_class=ErrorsAsOpenAI)


class Part(BaseModel):
    """A part of a message; only text can be read."""

    type: str
    text: Annotated[str, Field(max_length=LONGEST)] = ""


class Message(BaseModel):
    """A message of the conversation; those of system, developer and tools are not read."""

    role: str
    content: Annotated[str, Field(max_length=LONGEST)] | list[Part] | None = None

    @property
    def text(self) -> str:
        """Return what it says."""
        if isinstance(self.content, list):
            return "\n".join(
                part.text for part in self.content if part.type in ("text", "input_text")
            ).strip()
        return (self.content or "").strip()


class Extension(BaseModel, extra="forbid"):
    """What only Citegraph takes: settings of the run, and a thread to go on in."""

    context: RunContext = Context()
    thread_id: ThreadId | None = None


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


def _asked(messages: list[Message]) -> list[Message]:
    if not messages or messages[-1].role != "user" or not messages[-1].text:
        raise ValueError("the last message must be the user's, with a text")
    if len(messages[-1].text) > LONGEST_QUESTION:
        raise ValueError(f"the last message has more than {LONGEST_QUESTION:,} characters")
    return messages


class Completion(Body):
    """A conversation whose last message is to be answered; sampling options of other models are not used."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": MODEL,
                    "messages": [{"role": "user", "content": "How much did Acme invoice in 2023?"}],
                }
            ]
        }
    )

    model: Annotated[str, Field(max_length=100)] = MODEL
    messages: Annotated[list[Message], Field(max_length=MOST_MESSAGES), AfterValidator(_asked)]
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    n: Literal[1] | None = None
    citegraph: Extension = Extension()

    @property
    def said(self) -> list[str]:
        """Return what the user has said, in order; the last is asked now."""
        return [message.text for message in self.messages if message.role == "user" and message.text]

    def history(self) -> list[AnyMessage]:
        """Return the conversation before the last message, for a thread that does not know it."""
        kinds: dict[str, type[HumanMessage] | type[AIMessage]] = {
            "user": HumanMessage,
            "assistant": AIMessage,
        }
        return [
            kinds[message.role](message.text, id=f"history-{uuid.uuid4().hex}")
            for message in self.messages[:-1]
            if message.role in kinds and message.text
        ]


@dataclass(frozen=True)
class Reply:
    """How one answer is told: its names, and the address that its links begin with."""

    id: str
    model: str
    created: int
    base: str

    def whole(self, answer: Answer) -> dict[str, Any]:
        """Return a chat completion."""
        message = {
            "role": "assistant",
            "content": chat_text(answer, self.base),
            "annotations": self.annotations(answer),
        }
        return self._head("chat.completion") | {
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": usage_of(answer),
            "citegraph": extension_of(answer, self.base),
        }

    def chunk(self, delta: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Return a piece of a streamed completion."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": more.pop("finish", None)}
        return self._head("chat.completion.chunk") | {"choices": [choice]} | more

    def last(self, answer: Answer) -> dict[str, Any]:
        """Return the piece that ends a stream: annotations, and the answer's structure."""
        delta = {"annotations": self.annotations(answer)}
        return self.chunk(delta, finish="stop", citegraph=extension_of(answer, self.base))

    def counted(self, answer: Answer) -> dict[str, Any]:
        """Return the piece after it that says what the answer cost."""
        return self._head("chat.completion.chunk") | {"choices": [], "usage": usage_of(answer)}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def annotations(self, answer: Answer) -> list[dict[str, Any]]:
        """Return the links of the text as OpenAI's `url_citation`: offsets in the content, address and title."""
        if answer.clarification:
            return []
        content = chat_text(answer, self.base)
        found: list[dict[str, Any]] = []
        at = 0
        for _, _, places in numbers_in(answer):
            for place in dict.fromkeys(places):
                citation = answer.citations[place]
                link = re.compile(r"\[\[\d+\]\]\(" + re.escape(cited_url(citation, self.base)) + r"\)")
                shown = link.search(content, at)
                if shown is None:
                    continue
                at = shown.end()
                url = cited_url(citation, self.base)
                cited = {"start_index": shown.start(), "end_index": at, "url": url, "title": citation.label}
                found.append({"type": "url_citation", "url_citation": cited})
        return found


def usage_of(answer: Answer) -> dict[str, int]:
    """Return the tokens that the models of the run took."""
    spent = answer.usage
    total = spent.input_tokens + spent.output_tokens
    return {
        "prompt_tokens": spent.input_tokens,
        "completion_tokens": spent.output_tokens,
        "total_tokens": total,
    }


def extension_of(answer: Answer, base: str) -> dict[str, Any]:
    """Return the whole answer as data, each citation with its address."""
    data = answer.model_dump(mode="json")
    for citation, shown in zip(answer.citations, data["citations"], strict=True):
        shown["url"] = cited_url(citation, base)
    return data


@router.get("/models")
async def models(server: ServerAlone, who: Who) -> dict[str, Any]:
    """List the models: one that searches all that one may see, and one a bucket."""
    corpus = await asyncio.to_thread(server.corpus_of, who)
    names = [MODEL, *(f"{MODEL}/{name}" for name in corpus.buckets)]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "citegraph"} for name in names],
    }


@router.get("/models/{name:path}")
async def model(server: ServerAlone, who: Who, name: str) -> dict[str, Any]:
    """Show a model."""
    await asyncio.to_thread(bucket_of, server, who, name)
    return {"id": name, "object": "model", "created": 0, "owned_by": "citegraph"}


@router.post("/chat/completions")
async def completions(request: Request, server: ServerAlone, who: Who, asked: Completion) -> Response:
    """Answer the last message of a conversation, whole or as a stream of chunks.

    The answer's citations are links in the text, `annotations` of the message, and data under `citegraph`.
    """
    bucket = await asyncio.to_thread(bucket_of, server, who, asked.model)
    context = asked.citegraph.context
    if bucket:
        context = context.model_copy(update={"buckets": [bucket]})
    server.limits.admit(server.working)
    thread_id, known = await thread_of(server, who, asked)
    session = server.session.seen_by(who)
    question = asked.said[-1]
    waiting = await session.pending(thread_id) if known else None
    events = session.stream(
        chosen_reply(waiting, question) if waiting else question,
        thread_id=thread_id,
        context=context,
        history=() if known else asked.history(),
    )
    base = server.settings.public_url or str(request.base_url)
    reply = Reply(f"chatcmpl-{uuid.uuid4().hex}", asked.model, int(time.time()), base.rstrip("/"))
    server.limits.admit(server.working)
    told = await begun(events)
    if asked.stream:
        return EventSourceResponse(chunks(told, reply, asked), ping=PING, headers={"X-Accel-Buffering": "no"})
    answer = await until_gone(request, answer_of(told))
    return JsonText(reply.whole(Answer.model_validate(answer)))


def bucket_of(server: RunningAlone, who: Principal, name: str) -> str | None:
    """Return the bucket that a model searches, None for the one that searches all; blocking.

    Raises:
        Refused: 404, there is no such model.
    """
    known = server.corpus_of(who).buckets
    bucket = name.removeprefix(MODEL).removeprefix("/")
    if name == MODEL or (name.startswith(f"{MODEL}/") and bucket in known):
        return bucket or None
    names = ", ".join([MODEL, *(f"{MODEL}/{item}" for item in known)])
    raise Refused(404, f"There is no model {name[:100]!r}; there are {names}.")


async def thread_of(server: RunningAlone, who: Principal, asked: Completion) -> tuple[str, bool]:
    """Return the thread of a conversation, and whether it knows what was said; a new one is entered."""
    said = asked.said
    given = asked.citegraph.thread_id
    found = given or await asyncio.to_thread(server.conversations.find, who.name, said[:-1])
    try:
        thread_id = await asyncio.to_thread(server.threads.enter, found, who.name, said[-1])
    except UnknownThread:
        if given or found is None:
            raise
        await asyncio.to_thread(server.conversations.forget, found)
        thread_id = await asyncio.to_thread(server.threads.enter, None, who.name, said[-1])
    await asyncio.to_thread(server.conversations.keep, who.name, thread_id, said)
    return thread_id, thread_id == found


async def chunks(
    events: AsyncGenerator[Event, None], reply: Reply, asked: Completion
) -> AsyncIterator[dict[str, str]]:
    """Yield the data of a stream: the role, the steps as reasoning, the verified text in pieces, the end."""
    yield {"data": dumped(reply.chunk({"role": "assistant", "content": ""}))}
    async with aclosing(events):
        async for event in events:
            if line := step_told(event):
                yield {"data": dumped(reply.chunk({"reasoning_content": f"{line}\n"}))}
            if event["event"] != "answer":
                continue
            answer = Answer.model_validate(event["answer"])
            for piece in pieces(chat_text(answer, reply.base)):
                yield {"data": dumped(reply.chunk({"content": piece}))}
            yield {"data": dumped(reply.last(answer))}
            if asked.stream_options.include_usage:
                yield {"data": dumped(reply.counted(answer))}
    yield {"data": "[DONE]"}


def step_told(event: Event) -> str:
    """Return an event as a line of reasoning, "" when it says nothing to people."""
    if event["event"] == "tool":
        where = f" for “{event['query'][:80]}”" if event["query"] else f" in {', '.join(event['buckets'])}"
        found = event["error"] or f"{event['hits']:,} found"
        return f"{event['tool']}{where}: {found}"
    if event["event"] == "step" and event["detail"]:
        return f"{event['step']}: {event['detail']}"
    return ""


def pieces(text: str) -> list[str]:
    """Return a text in pieces of whole words."""
    found = re.findall(rf".{{1,{PIECE}}}(?:\s+|$)|\S+\s*", text, re.DOTALL)
    assert "".join(found) == text, "nothing is lost on the way"
    return found
