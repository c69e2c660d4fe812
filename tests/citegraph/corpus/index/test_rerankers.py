"""Rerankers keep every hit, order by what they learn, cache, and translate failures."""

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from citegraph.corpus.index.rerankers import CosineReranker, ServedReranker, load_reranker, passage
from citegraph.corpus.schema.document import Hit
from citegraph.errors import BadInput, Rejected, Unavailable
from citegraph.llm.embeddings import Vectors
from citegraph.settings import Settings
from tests.citegraph.corpus.index.test_searcher import hit

HITS = [hit("a", 0.9, "about cranes"), hit("b", 0.8, "about ropes"), hit("c", 0.7, "about the ferry")]


class Lengths:
    """An embedding model in which only texts with the word of the question are near it."""

    name, dimensions = "lengths", 2

    def __init__(self) -> None:
        self.calls = 0

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        return np.array([[1.0, 0.0] if "ferry" in text else [0.0, 1.0] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.array([1.0, 0.0], dtype=np.float32)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [one.chunk.chunk_id for one in hits]


async def test_cosine_and_old_order_are_fused_and_cached() -> None:
    model = Lengths()
    reranker = CosineReranker(model)
    hits = await reranker.rerank("ferry", HITS)
    # Ranks: a 1 + 2, b 2 + 3, c 3 + 1.
    expected = {"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 63, "c": 1 / 63 + 1 / 61}
    assert {h.chunk.chunk_id: h.score for h in hits} == pytest.approx(expected)
    assert ids(hits) == ["a", "c", "b"]
    assert await reranker.rerank("ferry", HITS) == hits
    assert model.calls == 1
    await reranker.rerank("other", HITS)
    assert model.calls == 2


async def test_hits_beyond_the_depth_stay_behind() -> None:
    hits = await CosineReranker(Lengths(), depth=1).rerank("ferry", HITS)
    assert ids(hits) == ["a", "b", "c"]
    assert hits[0].score > hits[1].score > hits[2].score


class Endpoint(BaseHTTPRequestHandler):
    """A /rerank endpoint of one shape that prefers long texts."""

    shape = "cohere"
    status = 200
    paths: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Endpoint.paths.append(self.path)
        texts = body.get("documents" if Endpoint.shape == "cohere" else "texts")
        if texts is None:
            return self.answer(422, {"error": "unknown field"})
        if Endpoint.shape == "cohere":
            rows = [{"index": i, "relevance_score": len(text)} for i, text in enumerate(texts)]
            return self.answer(
                Endpoint.status, {"results": sorted(rows, key=lambda row: -row["relevance_score"])}
            )
        return self.answer(
            Endpoint.status, [{"index": i, "score": len(text)} for i, text in enumerate(texts)]
        )

    def answer(self, status: int, content: object) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.shape, Endpoint.status, Endpoint.paths = "cohere", 200, []
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(("shape", "calls"), [("cohere", 1), ("tei", 2)])
async def test_both_shapes_of_endpoints(endpoint: str, shape: str, calls: int) -> None:
    Endpoint.shape = shape
    reranker = ServedReranker(f"{endpoint}/v1/", timeout=5)
    hits = await reranker.rerank("ferry", HITS)
    assert [(h.chunk.chunk_id, h.score) for h in hits] == [("c", 15.0), ("a", 12.0), ("b", 11.0)]
    assert Endpoint.paths == ["/v1/rerank"] * calls
    await reranker.rerank("ferry", HITS)
    assert len(Endpoint.paths) == calls


async def test_a_failing_endpoint_is_translated(endpoint: str) -> None:
    Endpoint.status = 503
    with pytest.raises(Unavailable, match="HTTP 503"):
        await ServedReranker(endpoint, timeout=5).rerank("ferry", HITS)
    Endpoint.status = 401
    with pytest.raises(Rejected, match="HTTP 401"):
        await ServedReranker(endpoint, timeout=5).rerank("ferry", HITS)
    with pytest.raises(Unavailable, match="reached"):
        await ServedReranker("http://127.0.0.1:9", timeout=5).rerank("ferry", HITS)


def test_the_passage_holds_most_words_of_the_question() -> None:
    text = "filler " * 300 + "the ferry sank at the quay " + "filler " * 300
    assert "ferry sank" in passage("Where is the ferry? quay", text)
    assert len(passage("ferry", text)) == 1000
    assert passage("ferry", "short") == "short"
    assert text.startswith(passage("nothing", text))


def test_the_settings_choose() -> None:
    def chosen(**given: object) -> object:
        base = {"reranker": "none", "embeddings": "static", "rerank_url": None, "search_timeout": 5.0}
        return load_reranker(Settings.model_construct(**{**base, **given}))  # type: ignore[arg-type]

    assert chosen() is None
    assert chosen(reranker="minilm", embeddings="minilm") is None
    assert isinstance(chosen(reranker="served", rerank_url="http://127.0.0.1:1"), ServedReranker)
    with pytest.raises(BadInput, match="CITEGRAPH_RERANK_URL"):
        chosen(reranker="served")
