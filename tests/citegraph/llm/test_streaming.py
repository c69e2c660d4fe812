"""Replies that come in pieces: what is shown, what is counted, and how a stream may fail."""

import traceback

import pytest

from citegraph.errors import CitegraphError, Rejected, TimedOut, Unavailable
from citegraph.llm.chat import text
from citegraph.llm.streaming import TextStream
from tests.citegraph.llm.endpoint import KEY, Endpoint, Http, Sse, pieces, said
from tests.citegraph.llm.test_chat import PROMPT, QUOTING, ask, collect, problem


async def test_streamed_pieces_and_usage(endpoint: Endpoint) -> None:
    endpoint.replies = [Sse(pieces("<thi", "nk>a", "</think>", "\nForty", "-two."))]
    call = ask()
    words, reply = await collect(endpoint.models(), call)
    assert words == ["Forty", "-two."]
    assert reply is not None
    assert (reply.content, reply.tokens_in, reply.tokens_out, reply.estimated) == ("Forty-two.", 11, 7, False)
    assert endpoint.requests[0]["stream_options"] == {"include_usage": True}
    assert call.budget.calls == [reply]


async def test_stream_options_that_are_refused_are_left_out(endpoint: Endpoint) -> None:
    endpoint.replies = [
        Http(400, problem("Unknown field: stream_options")),
        Sse(pieces("one", usage=False)),
        Sse(pieces("two", usage=False)),
    ]
    models = endpoint.models()
    words, reply = await collect(models, ask())
    assert (words, reply and reply.estimated) == (["one"], True)
    assert (await collect(models, ask()))[0] == ["two"]
    assert ["stream_options" in sent for sent in endpoint.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("reply", "kind", "message", "shown"),
    [
        (
            Sse(pieces("For", "ty", finish=None, usage=False), cut=True),
            Unavailable,
            "^compose: ",
            ["For", "ty"],
        ),
        (
            Sse(pieces("For", "ty", finish=None, usage=False)),
            Unavailable,
            "broke off its reply",
            ["For", "ty"],
        ),
        (Sse(pieces("For", "ty"), hang=2), TimedOut, "did not answer within 0.3 s", ["For", "ty"]),
        (
            Sse([*pieces("For", finish=None, usage=False), problem(QUOTING)]),
            Unavailable,
            "broke off",
            ["For"],
        ),
        (Sse([]), Rejected, "a reply of another shape", []),
        (Sse(pieces("")), Rejected, "answered with nothing", []),
        (Sse(pieces("For", finish="content_filter")), Rejected, "refused to answer", ["For"]),
        (Http(429, problem(QUOTING), {"Retry-After": "3"}), Unavailable, "HTTP 429", []),
        (Http(401, problem(QUOTING)), Rejected, "HTTP 401", []),
    ],
    ids=["cut", "no-finish", "hang", "error-event", "no-event", "empty", "filtered", "429", "401"],
)
async def test_streams_that_fail(
    endpoint: Endpoint, reply: Http | Sse, kind: type[CitegraphError], message: str, shown: list[str]
) -> None:
    endpoint.replies = [reply]
    answer = TextStream(endpoint.models(), ask(overrides={"compose": {"timeout": 0.3}}))
    words: list[str] = []

    async def read() -> None:
        async for piece in answer:
            words.append(piece)

    with pytest.raises(CitegraphError, match=message) as caught:
        await read()
    assert (type(caught.value), words, answer.result) == (kind, shown, None)
    assert len(caught.value.calls) == 1
    assert not any(secret in "".join(traceback.format_exception(caught.value)) for secret in (KEY, PROMPT))


async def test_a_reader_that_leaves_early_closes_the_stream(endpoint: Endpoint) -> None:
    endpoint.replies = [Sse(pieces("one", "two", "three"), hang=0.2), Http(body=said("next"))]
    models = endpoint.models()
    answer = TextStream(models, ask())
    async for _ in answer:
        break
    assert answer.result is None
    assert (await text(models, ask())).content == "next"
