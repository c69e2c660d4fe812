"""What the running server holds: services, session, threads, limits; made when it starts, not at import."""

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from citegraph.corpus.records.access import Principal
from citegraph.errors import CitegraphError
from citegraph.freed_memory import AtRest
from citegraph.run.events import StepSeen
from citegraph.run.services import Corpus, Services
from citegraph.settings import Settings, load_settings
from graph.session import Session, open_session
from server.after_kill import CUT_OFF, settled
from server.chat_fronts.conversations import Conversations
from server.drawing import PageDrawer
from server.logs import RunLog
from server.metrics import Metrics
from server.problems import Refused
from server.threads import ThreadBook
from server.watching import Watched, watch

AGAIN = 2.0
"""Seconds until what is left half done is looked at again, while its store does not answer."""
SOON, EVERY = 2 * CUT_OFF, 3600.0
"""Seconds after a start, and from then on, until it is looked at though no store has failed."""


class Place:
    """One place among those that work is let in by; free when nobody holds it any more."""

    def __init__(self, freed: Callable[[], None]) -> None:
        self._freed = freed
        self._holders = 1

    def hold(self) -> None:
        """Keep the place for one more."""
        self._holders += 1

    def leave(self) -> None:
        """Give the place up for one of those who hold it."""
        self._holders -= 1
        if not self._holders:
            self._freed()


@dataclass
class Limits:
    """How much is worked on at once, and how often one principal may ask."""

    max_runs: int
    rate: RateLimitItem
    limiter: MovingWindowRateLimiter = field(default_factory=lambda: MovingWindowRateLimiter(MemoryStorage()))
    closing: bool = False
    uploads: int = 0

    def count(self, who: str) -> None:
        """Count a request.

        Raises:
            Refused: 429, with Retry-After, when there were too many.
        """
        if not self.limiter.hit(self.rate, who):
            reset = self.limiter.get_window_stats(self.rate, who).reset_time
            wait = max(1, math.ceil(reset - time.time()))
            raise Refused(
                429, f"More than {self.rate} requests; ask again in {wait} s.", {"Retry-After": str(wait)}
            )

    def admit(self, working: int) -> None:
        """Let new work in, while `working` goes on already.

        Raises:
            Refused: 429, with Retry-After, when all places are taken or the server is shutting down.
        """
        if self.closing:
            raise Refused(429, "The server is shutting down; ask again in a moment.", {"Retry-After": "5"})
        if working >= self.max_runs:
            raise Refused(
                429, f"{working} questions and uploads are worked on; ask again.", {"Retry-After": "1"}
            )


@dataclass(frozen=True)
class Running:
    """The open server."""

    settings: Settings
    services: Services
    limits: Limits
    metrics: Metrics
    ingesting: asyncio.Lock = field(default_factory=asyncio.Lock)
    reading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(os.cpu_count() or 1))
    """Uploaded files that are read at once, each in a process of its own."""
    drawer: PageDrawer = field(default_factory=PageDrawer)
    watched: list[Watched] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a store failed while something was written, which may be half done since."""

    @property
    def working(self) -> int:
        """Return how many questions and uploads are worked on."""
        return self.limits.uploads

    def take_place(self) -> Place:
        """Let an upload in.

        Raises:
            Refused: 429, as `Limits.admit`.
        """
        self.limits.admit(self.working)
        self.limits.uploads += 1
        return Place(self._freed)

    async def settle(self) -> bool:
        """Bring to its end what was left half done; return whether nothing is left."""
        async with self.ingesting:
            return await settled(self.services)

    async def settle_what_is_left(self) -> None:
        """Settle whenever a store has failed, as soon as it answers again, and each hour; never returns.

        Soon after a start, too: by then no file of an upload that a kill cut off is too young to be known for one.
        """
        wait = SOON
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.left.wait(), wait)
            wait = EVERY
            self.left.clear()
            if not await self.settle():
                self.left.set()
                await asyncio.sleep(AGAIN)

    def _freed(self) -> None:
        self.limits.uploads -= 1

    def close(self) -> None:
        """Take no new work."""
        self.limits.closing = True

    def corpus_of(self, principal: Principal) -> Corpus:
        """Return the corpus as a principal sees it; blocking at the first call."""
        return self.services.seen_by(principal, self.services.open())


@dataclass(frozen=True, kw_only=True)
class RunningAlone(Running):
    """The open server when it answers questions itself and keeps the threads."""

    session: Session
    threads: ThreadBook
    conversations: Conversations

    @property
    def working(self) -> int:
        """Return how many questions and uploads are worked on."""
        return super().working + len(self.session.running)

    async def settle(self) -> bool:
        """Settle, and forget the steps of deleted threads, which a kill may have left."""
        try:
            for thread_id in await asyncio.to_thread(self.threads.leaving):
                await self.session.forget(thread_id)
                await asyncio.to_thread(self.threads.forgotten, thread_id)
        except CitegraphError:
            return False
        return await super().settle()

    def close(self) -> None:
        """Take no new work, and let runs end at their next step; what they have done is kept."""
        super().close()
        self.session.drain()


class Resting(AtRest):
    """An `Observer` that lets freed memory go back once no run takes another step."""

    def saw(self, seen: StepSeen) -> None:
        """See `Observer.saw`."""
        self.worked()


@asynccontextmanager
async def opened(app: FastAPI) -> AsyncIterator[None]:
    """Open what the server needs for its life, and let runs come to a halt at its end."""
    services = app.state.services or Services(await asyncio.to_thread(_own_settings))
    settings, runs = services.settings, app.state.metrics.runs
    # The chat model's reranker gives an order; the scores of the search stay.
    runs.ranked_by = settings.reranker if settings.reranker in ("minilm", "served") else "search"
    rest = Resting()
    services = replace(services, observers=(*services.observers, runs, RunLog(), rest))
    async with open_session(services) as session:
        app.state.running = RunningAlone(
            settings,
            services,
            _limits(settings),
            app.state.metrics,
            session=session,
            threads=await asyncio.to_thread(ThreadBook, settings.sql_url),
            conversations=await asyncio.to_thread(Conversations, settings.sql_url),
        )
        await app.state.running.settle()
        async with settling(app.state.running):
            yield
        rest.stop()
        app.state.running.close()
        await asyncio.to_thread(app.state.running.drawer.close)


@asynccontextmanager
async def settling(server: Running) -> AsyncIterator[None]:
    """Settle what failing stores leave, and watch folders, while a server runs."""
    server.watched.extend(Watched(bucket, folder) for bucket, folder in server.settings.watch.items())
    tasks = [
        asyncio.create_task(server.settle_what_is_left()),
        asyncio.create_task(watch(server, server.watched)),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def opened_inside(app: FastAPI) -> AsyncIterator[None]:
    """Share what the graphs of LangGraph Server read from; it answers questions and keeps threads itself.

    The steps of its runs are counted and logged here, as they are where this server runs them.
    """
    from graph.main import watched

    watched.to = (app.state.metrics.runs, RunLog())
    services = app.state.services or await asyncio.to_thread(_of_the_graphs)
    await settled(services)
    app.state.running = Running(services.settings, services, _limits(services.settings), app.state.metrics)
    async with settling(app.state.running):
        yield
    watched.to = ()
    app.state.running.close()
    await asyncio.to_thread(app.state.running.drawer.close)
    await services.close()


def _own_settings() -> Settings:
    """Return the settings of a server of its own: the engine holds the GIL, so it runs in another process."""
    settings = load_settings()
    return settings.model_copy(update={"engine": settings.engine or "process"})


def _of_the_graphs() -> Services:
    from graph.main import services

    return services


def _limits(settings: Settings) -> Limits:
    return Limits(settings.max_runs, parse(settings.rate_limit))


def running(request: Request) -> Running:
    """Return the open server, for routes."""
    held: Running = request.app.state.running
    return held


async def principal(request: Request) -> Principal:
    """Return who asks, as the gate found before the body was read."""
    who: Principal = request.state.principal
    return who


Server = Annotated[Running, Depends(running)]
ServerAlone = Annotated[RunningAlone, Depends(running)]
Who = Annotated[Principal, Depends(principal)]
