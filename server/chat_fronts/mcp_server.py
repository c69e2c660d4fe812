"""The tools and resources of the Model Context Protocol, over stdio (`citegraph mcp`) and at /mcp, by the official SDK."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context as CallContext
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field, ValidationError

from citegraph.answer.chat_text import RESOURCES, chat_text, chosen_reply, cited_url
from citegraph.corpus.records.access import OWNER, Principal
from citegraph.corpus.schema.bucket import bucket_named
from citegraph.errors import CitegraphError
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from server.problems import Refused
from server.routes.browsing import known_document
from server.running import RunningAlone
from tools.document_metadata import document_metadata
from tools.query_documents import QueryInput, query_documents
from tools.search_tools import SearchInput, passages_found

Json = dict[str, Any]
PART = 20_000
"""Characters of a document's text in one reply."""
LISTED = 500
"""Documents of a bucket whose addresses are listed."""
INSTRUCTIONS = (
    "Citegraph answers questions over document collections sorted into buckets. `ask` gives an answer whose every "
    "statement was checked against the cited text; when its status is needs_clarification, show the question to the user "
    "and give the reply with `reply_to_clarification`. For documents themselves: `list_buckets`, `search`, "
    "`query_documents` and `get_document`."
)
Question = Annotated[str, Field(description="The question, in any language.", min_length=1, max_length=4000)]
ThreadId = Annotated[
    str | None, Field(description="Thread to go on in, from an earlier answer; none starts a new one.")
]
Buckets = Annotated[list[str], Field(description="Search only these buckets; none: all that one may see.")]
Filters = Annotated[
    list[str],
    Field(description="Hard conditions such as 'total_amount>=100'; never relaxed.", max_length=20),
]
DocId = Annotated[
    str, Field(description="Document id exactly as an answer or search gave it.", max_length=512)
]


class Desk:
    """Who calls, and what they may see and spend; `running` is the open server."""

    def __init__(self, running: Callable[[], RunningAlone]) -> None:
        self._running = running

    @property
    def running(self) -> RunningAlone:
        """Return the open server."""
        return self._running()

    def caller(self, call: CallContext[Any, Any] | None) -> Principal:
        """Return who calls, counted against their rate: by HTTP as the gate found, by stdio the owner.

        Raises:
            Refused: too many requests.
        """
        request = call.request_context.request if call is not None else None
        if request is None:
            return OWNER
        who: Principal = request.state.principal
        self.running.limits.count(who.name)
        return who

    async def corpus(self, who: Principal) -> Corpus:
        """Return the corpus as somebody sees it."""
        return await asyncio.to_thread(self.running.corpus_of, who)

    async def ask(self, who: Principal, question: str, thread_id: str | None, context: Context) -> Answer:
        """Return the answer in a new thread, or in one's own.

        Raises:
            UnknownThread: the thread is not one's own.
            Refused: all places are taken.
        """
        running = self.running
        running.limits.admit(running.working)
        thread_id = await asyncio.to_thread(running.threads.enter, thread_id, who.name, question)
        session = running.session.seen_by(who)
        return await session.ask(question, thread_id=thread_id, context=context, new=True)

    async def reply(self, who: Principal, thread_id: str, reply: str) -> Answer:
        """Return the answer after a reply; raises as `Session.reply` does."""
        running = self.running
        running.limits.admit(running.working)
        await asyncio.to_thread(running.threads.use, thread_id, who.name)
        session = running.session.seen_by(who)
        waiting = await session.pending(thread_id)
        return await session.reply(thread_id, chosen_reply(waiting, reply) if waiting else reply)

    def told(self, answer: Answer, base: str) -> Json:
        """Return an answer as a tool gives it."""
        base = self.running.settings.public_url or base
        return {
            "status": answer.status,
            "confidence": answer.confidence,
            "text": chat_text(answer, base),
            "citations": [
                {
                    "doc_id": item.doc_id,
                    "source": item.label,
                    "quote": item.quote,
                    "start": item.start,
                    "end": item.end,
                    "url": cited_url(item, base),
                }
                for item in answer.citations
            ],
            "claims": [{"text": item.text, "verdict": item.verdict} for item in answer.claims],
            "table": answer.table.model_dump(mode="json") if answer.table else None,
            "matched": answer.matched,
            "filters": [item.text for item in answer.filters],
            "notes": [item.unquoted() for item in answer.notes],
            "clarification": answer.clarification.model_dump(mode="json") if answer.clarification else None,
            "thread_id": answer.thread_id,
        }


@contextmanager
def guarded(error: type[Exception] = ToolError) -> Iterator[None]:
    """Say what the caller can mend as an error of the protocol."""
    try:
        yield
    except (CitegraphError, Refused) as refused:
        raise error(str(refused)) from refused
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise error(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from wrong


def make_mcp(running: Callable[[], RunningAlone]) -> MCPServer[Any]:
    """Return the server with its tools and resources over an open server of ours."""
    desk = Desk(running)
    mcp: MCPServer[Any] = MCPServer(
        "citegraph",
        title="Citegraph",
        version=version("citegraph"),
        instructions=INSTRUCTIONS,
        log_level="WARNING",
    )
    add_asking(mcp, desk)
    add_documents(mcp, desk)
    add_resources(mcp, desk)
    return mcp


def base_of(call: CallContext[Any, Any]) -> str:
    """Return the address by which an HTTP caller reached the server, that of the resources by stdio."""
    request = call.request_context.request
    return str(request.base_url).rstrip("/") if request is not None else RESOURCES


def add_asking(mcp: MCPServer[Any], desk: Desk) -> None:
    """Add the tools that ask and reply."""

    @mcp.tool(title="Ask a question")
    async def ask(
        call: CallContext[Any, Any],
        question: Question,
        thread_id: ThreadId = None,
        buckets: Buckets = [],  # noqa: B006  the protocol's schema needs the default itself
        filters: Filters = [],  # noqa: B006
    ) -> Json:
        """Answer a question over the documents, with citations that were checked against their sources.

        The status is answered, partial, needs_clarification, unanswerable or failed.
        """
        with guarded():
            context = Context(buckets=buckets, filters=filters)
            return desk.told(await desk.ask(desk.caller(call), question, thread_id, context), base_of(call))

    @mcp.tool(title="Reply to a clarification")
    async def reply_to_clarification(
        call: CallContext[Any, Any],
        thread_id: Annotated[str, Field(description="Thread of the answer that asked back.", max_length=64)],
        reply: Annotated[
            str, Field(description="Number or id of an option, or free text.", min_length=1, max_length=4000)
        ],
    ) -> Json:
        """Give the user's reply to a question that `ask` asked back, and return the answer."""
        with guarded():
            return desk.told(await desk.reply(desk.caller(call), thread_id, reply), base_of(call))


def add_documents(mcp: MCPServer[Any], desk: Desk) -> None:
    """Add the tools that look at the documents themselves."""

    @mcp.tool(title="List buckets")
    async def list_buckets(call: CallContext[Any, Any]) -> Json:
        """List the buckets with their number of documents and the fields that conditions may name."""
        with guarded():
            corpus = await desk.corpus(desk.caller(call))
            return {"buckets": await asyncio.to_thread(buckets_of, corpus)}

    @mcp.tool(title="Search passages")
    async def search(
        call: CallContext[Any, Any],
        asked: SearchInput,
        by: Annotated[
            Literal["semantic", "keyword"], Field(description="By meaning, or by words and identifiers.")
        ] = "semantic",
    ) -> Json:
        """Return the passages of a bucket that fit a query best, with document, place and text."""
        with guarded():
            corpus = await desk.corpus(desk.caller(call))
            return await passages_found(corpus, asked, by, desk.running.settings)

    @mcp.tool(name="query_documents", title="List, count or sum documents")
    async def query(call: CallContext[Any, Any], asked: QueryInput) -> Json:
        """List documents with their fields, or count, sum and average over all that match: computed by the database."""
        with guarded():
            corpus = await desk.corpus(desk.caller(call))
            return await asyncio.to_thread(query_documents, corpus, asked)

    @mcp.tool(title="Get a document or page")
    async def get_document(
        call: CallContext[Any, Any],
        doc_id: DocId,
        page: Annotated[int | None, Field(description="Number of a page, from 1.", ge=1)] = None,
        start: Annotated[int, Field(description="First character, where no page is named.", ge=0)] = 0,
    ) -> Json:
        """Return what is known of a document, and the text of a page or up to 20,000 characters from `start`."""
        with guarded():
            corpus = await desk.corpus(desk.caller(call))
            return await asyncio.to_thread(document_part, corpus, doc_id, page, start)


def add_resources(mcp: MCPServer[Any], desk: Desk) -> None:
    """Add the buckets and documents as resources."""

    @mcp.resource("citegraph://buckets/{name}", title="A bucket", mime_type="application/json")
    async def bucket(name: str, call: CallContext[Any, Any]) -> str:
        """The fields of a bucket and the addresses of its documents, as JSON."""
        with guarded(ResourceError):
            corpus = await desk.corpus(desk.caller(call))
            return json.dumps(await asyncio.to_thread(bucket_listed, corpus, name), ensure_ascii=False)

    @mcp.resource(f"{RESOURCES}{{+doc_id}}", title="A document's text", mime_type="text/plain")
    async def document(doc_id: str, call: CallContext[Any, Any]) -> str:
        """The text of a document."""
        with guarded(ResourceError):
            corpus = await desk.corpus(desk.caller(call))
            return (await asyncio.to_thread(known_document, corpus, doc_id)).text


def buckets_of(corpus: Corpus) -> list[Json]:
    """Return the buckets with their fields; blocking."""
    return [
        {
            "name": bucket.name,
            "description": " ".join(bucket.description.split()),
            "documents": corpus.documents.count(bucket.name),
            "fields": [
                {"name": item.name, "type": item.type, "description": item.description}
                for item in bucket.fields
            ],
        }
        for bucket in corpus.buckets.values()
    ]


def bucket_listed(corpus: Corpus, name: str) -> Json:
    """Return a bucket with the addresses of its documents, at most `LISTED`; blocking.

    Raises:
        BadInput: there is no such bucket.
    """
    bucket_named(corpus.buckets, name)
    rows = corpus.annotations.rows(name, (), limit=LISTED, offset=0)
    listed = [f"citegraph://documents/{row['doc_id']}" for row in rows]
    return next(item for item in buckets_of(corpus) if item["name"] == name) | {"resources": listed}


def document_part(corpus: Corpus, doc_id: str, page: int | None, start: int) -> Json:
    """Return what is known of a document with the text of a page, or of a part; blocking.

    Raises:
        Refused: 404, there is no such document or page.
    """
    document = known_document(corpus, doc_id)
    end = min(len(document.text), start + PART)
    if page is not None:
        found = next((item for item in document.pages if item.number == page), None)
        if found is None:
            raise Refused(404, f"The document has {len(document.pages)} pages.")
        start, end = found.start, found.end
    part = {"start": start, "end": end, "page": page, "text": document.text[start:end]}
    return document_metadata(corpus, doc_id) | part | {"more": page is None and end < len(document.text)}


UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""Hosts and origins are checked by the gate before every route."""


def session_manager(running: Callable[[], RunningAlone]) -> StreamableHTTPSessionManager:
    """Return what answers the protocol over HTTP while its `run()` is entered."""
    mcp = make_mcp(running)
    mcp.streamable_http_app(stateless_http=True, json_response=True, transport_security=UNCHECKED)
    return mcp.session_manager
