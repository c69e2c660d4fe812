"""Replies of model endpoints are held to their host, to a size and to their deadline."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from citegraph.errors import CitegraphError, Rejected, TimedOut
from citegraph.llm import endpoint_client, streaming, structured
from citegraph.llm.chat import text
from citegraph.llm.embeddings import EndpointEmbedder
from citegraph.settings import Settings
from tests.citegraph.llm.endpoint import Endpoint, Http, Sse, pieces, said
from tests.citegraph.llm.test_chat import Verdict, ask, collect


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("target", ["http://evil.example/v1", "http://127.0.0.2/v1", "//evil.example/x"])
async def test_no_prompt_follows_a_redirect_to_another_host(
    status: int, target: str, endpoint: Endpoint
) -> None:
    endpoint.replies = [Http(status, "", {"Location": target}), Http(status, "", {"Location": target})]
    models = endpoint.models()
    for call in (text(models, ask()), collect(models, ask())):
        with pytest.raises(Rejected, match="redirects to"):
            await call
    assert len(endpoint.requests) == 2


async def test_a_redirect_on_the_same_host_is_followed(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(307, "", {"Location": "/v1/other"}), Http(body=said("Forty-two."))]
    assert (await text(endpoint.models(), ask())).content == "Forty-two."


async def test_a_reply_that_is_too_long_or_packed_is_not_read(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_client, "MOST_BYTES", 20_000)
    endpoint.replies = [
        Http(body=said("long " * 10_000)),
        Http(body=said("packed"), headers={"Content-Encoding": "gzip"}),
    ]
    models = endpoint.models()
    with pytest.raises(Rejected, match="bytes"):
        await text(models, ask())
    with pytest.raises(Rejected, match="packed"):
        await text(models, ask())
    assert endpoint.headers[-1]["accept-encoding"] == "identity"


async def test_a_stream_ends_at_its_bounds(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint.replies = [Sse(pieces(*["word "] * 400)), Sse(pieces(*["word "] * 400))]
    monkeypatch.setattr(streaming, "MOST_TEXT", 500)
    with pytest.raises(Rejected, match="characters"):
        await collect(endpoint.models(), ask())
    monkeypatch.setattr(streaming, "MOST_TEXT", 500_000)
    monkeypatch.setattr(endpoint_client, "MOST_STREAMED", 5_000)
    with pytest.raises(CitegraphError):
        await collect(endpoint.models(), ask())


async def test_a_long_reply_is_not_searched_for_json(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structured, "MOST_JSON", 1_000)
    endpoint.replies = [Http(body=said("{" * 5_000)) for _ in range(8)]
    with pytest.raises(Rejected, match="characters"):
        await structured.structured(endpoint.models(), ask(), Verdict)


@contextmanager
def dripping(reply: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve one connection after the other by a function on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        connection.recv(65_536)
                        reply(connection)
                    except OSError:
                        continue

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n")
    for _ in range(200):
        connection.sendall(b" ")
        time.sleep(0.05)


async def test_a_reply_that_drips_ends_at_the_deadline(endpoint: Endpoint) -> None:
    with dripping(drip) as url:
        with pytest.raises(TimedOut):
            await text(endpoint.models(openai_base_url=url), ask(seconds=0.5))
        chosen = {
            "embeddings": "openai",
            "embedding_model": "m",
            "openai_base_url": url,
            "model_timeout": 0.4,
        }
        with pytest.raises(CitegraphError):
            EndpointEmbedder(Settings.model_construct(**chosen)).embed_query("a")
