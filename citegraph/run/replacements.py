"""Loads the parts of the user's own, checks them against their Protocols at start, and calls them within a time."""

import asyncio
import contextvars
import inspect
import json
import logging
import math
import threading
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from citegraph.corpus.index.collection_record import joined
from citegraph.corpus.index.index_protocol import RRF_K, Index, SearchRequest, documents_condition
from citegraph.corpus.index.rerankers import DEPTH, in_order
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import BadInput, CitegraphError, Rejected, TimedOut
from citegraph.llm.named import find_named
from citegraph.run.part_protocols import PROTOCOLS, Kind, method_of, signature_of
from citegraph.settings import Settings

T = TypeVar("T")
LARGEST = 1_000_000
"""Characters of JSON that a part may return."""
HANGING = 4
"""Calls of a part that were given up and still run: while there are so many, it is not called."""
log = logging.getLogger("citegraph.parts")


def load_parts(settings: Settings) -> dict[Kind, "Part"]:
    """Return the parts that CITEGRAPH_PARTS names, by kind.

    Raises:
        BadInput: there is no such kind, or what is named cannot be found, built or called as its Protocol says.
    """
    parts: dict[Kind, Part] = {}
    for name, path in settings.parts.items():
        kind = next((kind for kind in PROTOCOLS if kind == name), None)
        if kind is None:
            raise BadInput(
                f"CITEGRAPH_PARTS: there is no part {name!r}; the parts are {', '.join(PROTOCOLS)}."
            )
        parts[kind] = Part(kind, path, settings)
    return parts


class Part:
    """One part of the user's own.

    Args:
        kind: what it replaces.
        path: "package.module:name" of a function or class; a class is built without arguments, or with `settings`.
        settings: those of the process.

    Raises:
        BadInput: it does not fit its Protocol; the message says what is expected and what was found.
    """

    def __init__(self, kind: Kind, path: str, settings: Settings) -> None:
        self.kind = kind
        self.path = path
        where = f"CITEGRAPH_PARTS: {kind}"
        self._run = _callable(find_named(path, where), kind, where=f"{where} {path}", settings=settings)
        self._takes = _taken(self._run, kind, f"{where} {path}")
        self._debug = settings.debug
        self._given_up: list[threading.Event] = []

    @property
    def title(self) -> str:
        """Return what notes call it."""
        return f"the {self.kind} of your own ({self.path})"

    async def ask(self, shape: TypeAdapter[T], seconds: float, **offered: Any) -> T:
        """Return what the part returns, of the given shape, called with those of the arguments that it takes.

        Raises:
            TimedOut: it did not return within `seconds`.
            Rejected: it raised, or returned another shape; the message is safe to show.
        """
        try:
            return await self._asked(shape, seconds, offered)
        except CitegraphError as error:
            error.part = self.kind
            raise

    def rejected(self, said: str) -> Rejected:
        """Return the error of a part that returned what cannot be used."""
        error = Rejected(f"{self.title} {said}")
        error.part = self.kind
        return error

    async def _asked(self, shape: TypeAdapter[T], seconds: float, offered: dict[str, Any]) -> T:
        if seconds <= 0:
            raise TimedOut(f"no time was left for {self.title}")
        self._given_up = [ended for ended in self._given_up if not ended.is_set()]
        if len(self._given_up) >= HANGING:
            raise Rejected(f"{self.title} was not called: {HANGING} earlier calls of it have not ended")
        arguments = {name: value for name, value in offered.items() if name in self._takes}
        value = await self._within(seconds, arguments)
        try:
            return shape.validate_python(plain(value))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False, include_context=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise Rejected(
                f"{self.title} returned another shape: {where}{': ' if where else ''}{first['msg']}"
            ) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise Rejected(f"{self.title} returned no plain data ({type(error).__name__})") from None

    async def _within(self, seconds: float, arguments: dict[str, Any]) -> Any:
        """Return the raw result; a call that is given up may go on, nobody waits for it."""
        ended = threading.Event()
        task = asyncio.create_task(self._called(arguments, ended))
        task.add_done_callback(_looked_at)
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                task.cancel()
                self._given_up.append(ended)
        if not task.done() or task.cancelled():
            raise TimedOut(f"{self.title} did not answer within {seconds:.3g} s")
        if (error := task.exception()) is not None:
            cause = error.cause if isinstance(error, _Stopped) else error
            log.log(
                logging.WARNING if self._debug else logging.DEBUG, "%s failed", self.title, exc_info=cause
            )
            raise Rejected(f"{self.title} failed ({type(cause).__name__})")
        return task.result()

    async def _called(self, arguments: dict[str, Any], ended: threading.Event) -> Any:
        if not inspect.iscoroutinefunction(self._run):
            value = await self._in_thread(lambda: self._run(**arguments), ended)
            return await value if inspect.isawaitable(value) else value
        try:
            return await self._run(**arguments)
        except SystemExit as stop:  # in a task it would end the event loop
            raise _Stopped(stop) from None
        finally:
            ended.set()

    def _in_thread(self, function: Callable[[], Any], ended: threading.Event) -> Awaitable[Any]:
        """Run a function in a daemon thread: one that hangs keeps neither the others nor the process's end waiting."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()

        def settle(value: Any, error: BaseException | None) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(_Stopped(error))

        def work() -> None:
            value, error = None, None
            try:
                value = context.run(function)
            except BaseException as raised:
                error = raised
            ended.set()
            try:
                loop.call_soon_threadsafe(settle, value, error)
            except RuntimeError:  # the loop has ended meanwhile
                log.debug("%s returned after its run", self.title)

        threading.Thread(target=work, daemon=True, name=f"citegraph-{self.kind}").start()
        return future


def _looked_at(task: "asyncio.Task[Any]") -> None:
    """Look at a task's error, so that asyncio does not complain of a call that was given up."""
    if not task.cancelled():
        task.exception()


class _Stopped(Exception):
    """Carries what a part raised: no future takes every exception, and SystemExit would end the event loop."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(type(cause).__name__)
        self.cause = cause


def plain(value: Any) -> Any:
    """Return a value as plain data of this process's own making: what JSON holds, and nothing of the part's.

    Raises:
        TypeError, ValueError: it is no plain data, is not finite, too large, or holds text that no file can.
    """
    if isinstance(value, Mapping):
        value = dict(value)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_plain)
    text.encode()
    if len(text) > LARGEST:
        raise ValueError(f"more than {LARGEST} characters")
    return json.loads(text)


def _as_plain(value: Any) -> Any:
    """Return arrays as lists and pydantic models as dicts.

    Raises:
        TypeError: it is neither.
    """
    for method in ("tolist", "model_dump"):
        if callable(made := getattr(value, method, None)):
            return made()
    raise TypeError(type(value).__name__)


def _callable(found: Any, kind: Kind, *, where: str, settings: Settings) -> Callable[..., Any]:
    """Return what is called: the function, or the method of a class's one object."""
    name, _ = method_of(kind)
    if inspect.isclass(found):
        found = _built(found, where, settings)
    method = getattr(found, name, None)
    if callable(method):
        return method  # type: ignore[no-any-return]
    if callable(found) and not inspect.isclass(found):
        return found  # type: ignore[no-any-return]
    raise BadInput(
        f"{where} must be a function {signature_of(kind)}, or a class with that method; found {_shown(found)}."
    )


def _built(made_of: type, where: str, settings: Settings) -> Any:
    try:
        wants = "settings" in inspect.signature(made_of).parameters
        return made_of(settings=settings) if wants else made_of()
    except Exception as error:
        raise BadInput(
            f"{where} cannot be built ({type(error).__name__}: {error}); a class is called without arguments, "
            "or with `settings` when it takes that."
        ) from None


def _taken(run: Callable[..., Any], kind: Kind, where: str) -> frozenset[str]:
    """Return the names of the arguments that a part takes.

    Raises:
        BadInput: it cannot be called with the arguments of its Protocol by name.
    """
    name, signature = method_of(kind)
    expected = f"{where} must be callable as {signature_of(kind)}"
    if inspect.isgeneratorfunction(run) or inspect.isasyncgenfunction(run):
        raise BadInput(f"{expected} and return its result; found a generator, which yields.")
    try:
        found = inspect.signature(run)
    except (TypeError, ValueError):
        raise BadInput(f"{expected}; the signature of what was found is not known.") from None
    takes = []
    for parameter in found.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            takes += list(signature.parameters)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif parameter.name in signature.parameters and parameter.kind is not parameter.POSITIONAL_ONLY:
            takes.append(parameter.name)
        elif parameter.default is parameter.empty:
            why = (
                "is positional only"
                if parameter.kind is parameter.POSITIONAL_ONLY
                else "is no argument of it"
            )
            raise BadInput(
                f"{expected} (it may leave arguments out); found {name}{found}: {parameter.name!r} {why}."
            )
    return frozenset(takes)


def _shown(found: Any) -> str:
    kind = type(found).__name__
    return f"an object of {kind}" if not isinstance(found, (str, int, float)) else f"{kind} {found!r:.60}"


MOST = 200
"""Ids of a searcher that are looked at."""
PER_DOCUMENT = 3
"""Passages that stand for a document which a searcher named."""
Found = list[str | tuple[str, float]]
FOUND, SCORES = TypeAdapter(Found), TypeAdapter(list[float])


class OwnSearcher:
    """Asks a searcher of the user's own; see `citegraph.corpus.index.searcher.Searcher`."""

    def __init__(self, part: "Part") -> None:
        self.part = part

    async def search(self, index: Index, request: SearchRequest, seconds: float) -> list[Hit]:
        """Return the hits of what the searcher named, as far as the request and the index allow them.

        `index` is the one of the asking principal, so that nothing comes back which they may not see.
        """
        said = await self.part.ask(FOUND, seconds, request=request)
        scores = scored(said[:MOST])
        chunks = [name for name in scores if _is_chunk(name)]
        documents = [name for name in scores if not _is_chunk(name)]
        found = await index.retrieve(request.bucket, chunks) if chunks else []
        hits = [Hit(chunk, scores[chunk.chunk_id]) for chunk in await self.allowed(index, request, found)]
        if documents:
            inside, known = await self.of_documents(index, request, documents)
            hits += [replace(hit, score=scores[hit.chunk.doc_id]) for hit in inside]
        else:
            known = False
        if scores and not found and not known:
            raise Rejected(f"{self.part.title} named nothing that {request.bucket} holds")
        return sorted(hits, key=lambda hit: -hit.score)[: request.limit]

    async def allowed(self, index: Index, request: SearchRequest, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Return the chunks whose documents the request's filters allow, and which hold its phrases."""
        doc_ids = list(dict.fromkeys(chunk.doc_id for chunk in chunks))
        if request.doc_ids:
            doc_ids = [doc_id for doc_id in doc_ids if doc_id in request.doc_ids]
        if request.filter_json:
            conditions = [joined(request.filter_json, documents_condition([doc_id])) for doc_id in doc_ids]
            counts = await asyncio.gather(*(index.count(request.bucket, one) for one in conditions))
            doc_ids = [doc_id for doc_id, count in zip(doc_ids, counts, strict=True) if count]
        phrases = [phrase.casefold() for phrase in request.phrases]
        return [
            chunk
            for chunk in chunks
            if chunk.doc_id in doc_ids
            and chunk.bucket == request.bucket
            and all(phrase in chunk.text.casefold() for phrase in phrases)
        ]

    async def of_documents(
        self, index: Index, request: SearchRequest, doc_ids: Sequence[str]
    ) -> tuple[list[Hit], bool]:
        """Return the best passages of some documents, and whether the bucket holds any of the documents."""
        wanted = [doc_id for doc_id in doc_ids if not request.doc_ids or doc_id in request.doc_ids]
        within = replace(request, doc_ids=tuple(wanted), limit=PER_DOCUMENT * len(wanted), sections=0)
        hits = await index.search(within) if wanted else []
        taken: Counter[str] = Counter()
        kept = []
        for hit in hits:
            taken[hit.chunk.doc_id] += 1
            if taken[hit.chunk.doc_id] <= PER_DOCUMENT:
                kept.append(hit)
        known = bool(hits) or await index.count(request.bucket, documents_condition(doc_ids)) > 0
        return kept, known


def scored(said: Sequence[str | tuple[str, float]]) -> dict[str, float]:
    """Return each id with its score, once; without one the reciprocal of its rank speaks, as where lists are fused.

    Some with a score and some without are all taken by rank.
    """
    ids = [item if isinstance(item, str) else item[0] for item in said]
    given = [item[1] for item in said if not isinstance(item, str)]
    values = given if len(given) == len(ids) else [1 / (RRF_K + rank) for rank in range(1, len(ids) + 1)]
    best: dict[str, float] = {}
    for name, value in zip(ids, values, strict=True):
        best[name] = max(value, best.get(name, -math.inf))
    return best


def _is_chunk(name: str) -> bool:
    """Tell whether an id is one of a chunk: those are UUIDs, and the engine refuses others."""
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


class OwnReranker:
    """Orders hits by the numbers of a reranker of the user's own; see `citegraph.corpus.index.rerankers.Reranker`."""

    def __init__(self, part: "Part", seconds: float) -> None:
        self.part = part
        self.seconds = seconds

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """See `Reranker.rerank`."""
        head = list(hits[:DEPTH])
        passages = [hit.chunk.text for hit in head]
        scores = await self.part.ask(SCORES, self.seconds, question=query, passages=passages)
        if len(scores) != len(head):
            said = f"{len(scores)} numbers for {len(head)} passages"
            raise Rejected(f"{self.part.title} returned another shape: {said}")
        return in_order(head, scores, list(hits[DEPTH:]))
