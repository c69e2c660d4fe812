"""Parts of the user's own: found and checked at start, called within their time, never trusted with their result."""

import asyncio
import functools
import logging
import threading
import time
from typing import Any

import pytest
from pydantic import TypeAdapter

from citegraph.errors import BadInput, Rejected, TimedOut
from citegraph.run.part_protocols import PROTOCOLS, Kind, signature_of
from citegraph.run.replacements import HANGING, Part, load_parts, plain
from citegraph.settings import Settings
from tests import parts_of_users
from tests.parts_of_users import HERE

NAMES = TypeAdapter(list[str])
ANY = TypeAdapter(Any)
SETTINGS = Settings.model_construct()


def part(name: str, kind: Kind = "router", settings: Settings = SETTINGS) -> Part:
    return Part(kind, f"{HERE}:{name}", settings)


def test_parts_are_loaded_by_kind() -> None:
    named = {"router": f"{HERE}:Router", "verifier": f"{HERE}:echo"}
    loaded = load_parts(SETTINGS.model_copy(update={"parts": named}))
    assert {kind: item.path for kind, item in loaded.items()} == named


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("judge", "echo", "there is no part 'judge'; the parts are searcher, reranker, rewriter"),
        ("router", "nothing", "has no 'nothing'"),
        ("router", "NUMBER", "must be a function route(question: str, buckets: Mapping[str, str]) -> Sequence[str], "),
        ("router", "NUMBER", "found int 7"),
        ("router", "Mute", "found an object of Mute"),
        ("router", "Demanding", "cannot be built (TypeError"),
        ("router", "yields", "found a generator"),
        ("router", "positional", "'question' is positional only"),
        ("router", "unknown", "found route(question: str, bucket_list: Any) -> Any: 'bucket_list' is no argument of it"),
        ("searcher", "Router", "must be a function search(request: SearchRequest) -> "),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said_at_start(kind: str, name: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        load_parts(SETTINGS.model_copy(update={"parts": {kind: f"{HERE}:{name}"}}))
    assert str(refused.value).startswith("CITEGRAPH_PARTS: ")
    assert says in str(refused.value)


def test_each_protocol_has_one_documented_method() -> None:
    for kind, protocol in PROTOCOLS.items():
        (method,) = [name for name in vars(protocol) if not name.startswith("_")]
        assert getattr(protocol, method).__doc__, kind
        assert protocol.__doc__
        assert signature_of(kind).startswith(f"{method}(")
        assert "self" not in signature_of(kind)
        assert "Result" not in signature_of(kind)


async def test_arguments_are_passed_by_name_and_only_those_that_are_taken() -> None:
    offered = {"question": "q", "buckets": {"invoices": "bills"}}
    assert await part("echo").ask(NAMES, 1, **offered) == ["buckets", "question"]
    assert await part("Router").ask(NAMES, 1, **offered) == ["invoices"]
    assert await part("late_result").ask(NAMES, 1, **offered) == ["datasheets"]
    seconds = SETTINGS.model_copy(update={"model_timeout": 7.5})
    assert await part("Called", settings=seconds).ask(NAMES, 1, **offered) == ["7.5"]


async def test_a_partial_function_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = functools.partial(lambda question, suffix: [question + suffix], suffix="!")
    monkeypatch.setattr(parts_of_users, "bound", bound, raising=False)
    assert await part("bound").ask(NAMES, 1, question="q", buckets={}) == ["q!"]


async def test_a_plain_function_runs_beside_the_event_loop() -> None:
    class Here:
        def route(self, question: str) -> list[str]:
            return [threading.current_thread().name]

    parts_of_users.Here = Here  # type: ignore[attr-defined]
    assert await part("Here").ask(NAMES, 1, question="q") == ["citegraph-router"]


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("raises", Rejected, "failed (KeyError)"),
        ("quits", Rejected, "failed (SystemExit)"),
        ("quits_async", Rejected, "failed (SystemExit)"),
        ("hangs", TimedOut, "did not answer within 0.05 s"),
        ("hangs_async", TimedOut, "did not answer within 0.05 s"),
        ("shapeless", Rejected, "returned no plain data (TypeError)"),
        ("too_much", Rejected, "returned no plain data (ValueError)"),
        ("infinite", Rejected, "returned no plain data (ValueError)"),
        ("surrogate", Rejected, "returned no plain data (UnicodeEncodeError)"),
        ("unfit", Rejected, "returned another shape: Input should be a valid list"),
    ],
)
async def test_what_a_part_does_wrong_is_one_safe_line(name: str, error: type[Exception], says: str) -> None:
    began = time.monotonic()
    with pytest.raises(error) as failed:
        await part(name).ask(NAMES, 0.05 if "hangs" in name else 5, question="q")
    assert str(failed.value) == f"the router of your own ({HERE}:{name}) {says}"
    assert time.monotonic() - began < parts_of_users.RELEASED


async def test_without_time_nothing_is_called() -> None:
    with pytest.raises(TimedOut, match="no time was left"):
        await part("echo").ask(ANY, 0.0)


async def test_a_part_that_never_returns_is_left_alone_until_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(parts_of_users, "stuck", lambda question: released.wait(20), raising=False)
    stuck = part("stuck")
    for _ in range(HANGING):
        with pytest.raises(TimedOut):
            await stuck.ask(ANY, 0.01, question="q")
    with pytest.raises(Rejected, match="was not called: 4 earlier calls of it have not ended"):
        await stuck.ask(ANY, 5, question="q")
    released.set()
    for thread in threading.enumerate():
        if thread.name == "citegraph-router":
            await asyncio.to_thread(thread.join, 10)
    assert await stuck.ask(ANY, 5, question="q") is True


async def test_a_call_that_is_cancelled_ends_at_once() -> None:
    asked = asyncio.create_task(part("hangs").ask(ANY, 60))
    await asyncio.sleep(0.02)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_the_stack_trace_is_logged_in_debug_mode_only(caplog: pytest.LogCaptureFixture) -> None:
    for debug in (False, True):
        with pytest.raises(Rejected):
            await part("raises", settings=SETTINGS.model_copy(update={"debug": debug})).ask(ANY, 5)
    (record,) = [item for item in caplog.records if item.levelno >= logging.WARNING]
    assert "secret-7c1f" in (record.exc_text or "")


def test_plain_data_is_a_copy() -> None:
    import numpy as np
    from pydantic import BaseModel

    class Point(BaseModel):
        x: int

    given = {"scores": np.array([1.5, 2.0], dtype=np.float32), "pair": ("a", 1), "point": Point(x=1)}
    made = plain(given)
    assert made == {"scores": [1.5, 2.0], "pair": ["a", 1], "point": {"x": 1}}
    assert made is not given
