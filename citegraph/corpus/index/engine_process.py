"""The embedded engine in a process of its own: the engine holds the GIL, and a server must go on meanwhile.

One process owns the shards and is asked over a pipe; it starts at the first call, ends with its parent, and is started
again when it dies. A call that it took with it is made once more: every call of `Index` may be repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import signal
import threading
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any

from citegraph.corpus.index.index_protocol import Forwarded
from citegraph.errors import CitegraphError, Rejected, Unavailable
from citegraph.freed_memory import AtRest, share_heaps

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from citegraph.settings import Settings

GRACE = 30.0
"""Seconds that the process gets to write and close its shards at the end."""


class _Died(Exception):
    """The process ended before it answered."""


class _Engine:
    """One life of the process: calls in, answers by number."""

    def __init__(self, settings: Settings) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # A daemon: it goes at the latest with its parent, whose end of the pipe it watches besides.
        self.process: SpawnProcess = context.Process(target=own, args=(theirs, settings), daemon=True)
        self.process.start()
        # Without this the pipe would stay open when the process dies.
        theirs.close()
        self.pending: dict[int, Future[Any]] = {}
        self.dead = False
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="citegraph-engine", daemon=True)
        self._reader.start()

    def send(self, method: str, given: tuple[Any, ...]) -> Future[Any]:
        """Make a call; raises _Died when the process is gone."""
        answer: Future[Any] = Future()
        with self._lock:
            if self.dead:
                raise _Died
            number = next(self._numbers)
            self.pending[number] = answer
            try:
                self.pipe.send((number, method, given))
            except OSError as error:
                raise _Died from error
        return answer

    def stop(self) -> None:
        """Let the process end what it does and close its shards."""
        with self._lock, contextlib.suppress(OSError):
            self.pipe.send(None)
        self.process.join(GRACE)
        if self.process.is_alive():
            self.process.kill()
        self._reader.join(GRACE)

    def _read(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, good, value = self.pipe.recv()
                # Whoever asked may have gone away: cancelled at a time-out.
                with contextlib.suppress(InvalidStateError):
                    answer = self.pending.pop(number)
                    answer.set_result(value) if good else answer.set_exception(value)
        with self._lock:
            self.dead = True
            left, self.pending = list(self.pending.values()), {}
        self.pipe.close()
        self.process.join()
        for answer in left:
            with contextlib.suppress(InvalidStateError):
                answer.set_exception(_Died())


class ProcessIndex(Forwarded):
    """`Index` on an `EdgeIndex` that lives in another process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engine: _Engine | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Return the id of the process, None while there is none."""
        return self._engine.process.pid if self._engine else None

    async def close(self) -> None:
        """See `Index.close`."""
        with self._lock:
            engine, self._engine = self._engine, None
        if engine:
            await asyncio.to_thread(engine.stop)

    async def forward(self, method: str, *given: Any) -> Any:
        """Make the call in the process, once more when it dies of it."""
        if method == "upsert":  # only what belongs to these chunks goes over the pipe
            bucket, chunks, metadata, *ready = given
            wanted = {c.doc_id for c in chunks} & set(metadata)
            given = (bucket, chunks, {doc_id: dict(metadata[doc_id]) for doc_id in wanted}, *map(dict, ready))
        for again in (True, False):
            try:
                return await asyncio.wrap_future(await asyncio.to_thread(self._send, method, given))
            except _Died as error:
                if not again:
                    raise Unavailable("The engine's process ended twice during the call.") from error
        raise AssertionError("not reached")

    def _send(self, method: str, given: tuple[Any, ...]) -> Future[Any]:
        with self._lock:
            if self._engine is None or self._engine.dead:
                self._engine = _Engine(self._settings)
            engine = self._engine
        return engine.send(method, given)


def own(pipe: Connection, settings: Settings) -> None:
    """Own the shards in this process and answer until the parent says so or is gone."""
    # Ctrl-C reaches the whole group; the parent decides when it is over.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    share_heaps()
    asyncio.run(_serve(pipe, settings))


async def _serve(pipe: Connection, settings: Settings) -> None:
    from citegraph.corpus.index.edge.edge_index import EdgeIndex
    from citegraph.llm.embeddings import load_embedder

    index = EdgeIndex(settings.home / "index", load_embedder(settings), weights=settings.fusion)
    working: set[asyncio.Task[None]] = set()
    rest = AtRest()

    async def work(number: int, method: str, given: tuple[Any, ...]) -> None:
        try:
            good, value = True, await getattr(index, method)(*given)
        except CitegraphError as error:
            good, value = False, error
        except Exception as error:
            good, value = False, Rejected(f"The engine failed: unexpected {type(error).__name__}.")
        with contextlib.suppress(OSError):
            # From the one thread of the loop: two answers never mix.
            pipe.send((number, good, value))
        rest.worked()

    with contextlib.suppress(EOFError, OSError):
        while (call := await asyncio.to_thread(pipe.recv)) is not None:
            task = asyncio.create_task(work(*call))
            working.add(task)
            task.add_done_callback(working.discard)
    await asyncio.gather(*working)
    rest.stop()
    await index.close()
