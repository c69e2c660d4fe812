"""Vectors of chunks: what is ready is taken, what is not is worked out, and what does not fit is left."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from qdrant_edge import Bm25, Bm25Config

from citegraph.corpus.index.collection_record import (
    CollectionRecord,
    SparseEncoder,
    encode,
    encode_chunks,
    indexed_text,
)
from citegraph.corpus.schema.document import Chunk
from citegraph.llm.embeddings import StaticEmbedder, Vectors

STATIC = StaticEmbedder()
TEXTS = ("The anchors of the ferry.", "Tides of the bay, by month.", "Cranes are painted.")
CHUNKS = [
    Chunk(text[:3], "harbour", "letters", place, text, 0, len(text), "", "", title="Harbour", context="Brest")
    for place, text in enumerate(TEXTS)
]
RECORD = CollectionRecord(STATIC.name, STATIC.dimensions, "english", 4.2)


class Counting(StaticEmbedder):
    """The static model, which notes what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed_documents(texts)


def test_what_is_ready_is_not_worked_out_again() -> None:
    dense, sparse = encode_chunks(CHUNKS, STATIC, RECORD)
    assert np.array_equal(dense, STATIC.embed_documents([indexed_text(chunk) for chunk in CHUNKS]))
    assert sparse == [RECORD.encoder().document(indexed_text(chunk)) for chunk in CHUNKS]
    first, _, third = encode(CHUNKS, STATIC, "english")
    ready = {CHUNKS[0].chunk_id: first, CHUNKS[2].chunk_id: third}
    model = Counting()
    again, terms = encode_chunks(CHUNKS, model, RECORD, ready)
    assert np.array_equal(again, dense)
    assert terms == sparse
    assert model.asked == [indexed_text(CHUNKS[1])]


def test_vectors_of_another_model_or_language_are_left() -> None:
    expected, sparse = encode_chunks(CHUNKS[:2], STATIC, RECORD)
    (swapped,) = encode(CHUNKS[2:], STATIC, "english")
    ready = {
        CHUNKS[0].chunk_id: replace(swapped, embedding="other"),
        CHUNKS[1].chunk_id: replace(swapped, language="german"),
    }
    dense, terms = encode_chunks(CHUNKS[:2], STATIC, RECORD, ready)
    assert np.array_equal(dense, expected)
    assert terms == sparse


def test_context_or_title_stand_before_the_text_once() -> None:
    plain = replace(CHUNKS[0], title="", context="")
    assert indexed_text(plain) == plain.text
    assert indexed_text(replace(plain, title="Harbour")) == f"Harbour\n{plain.text}"
    assert indexed_text(replace(plain, title="Harbour", context="Brest")) == f"Brest\n{plain.text}"
    assert indexed_text(replace(plain, title="the anchors of the Ferry")) == plain.text


TEXT = "The cranes of the harbour were painted; painting a crane takes 12 days, the paint 3.5 hours. " * 7


@pytest.mark.parametrize("average", [1.0, 57.31, 612.5])
@pytest.mark.parametrize("text", [TEXT, "nought " * 5_000 + TEXT, "the of and", ""])
def test_weights_are_those_of_the_engine(average: float, text: str) -> None:
    engine = Bm25(Bm25Config(language="english", k=1.2, b=0.75, avg_len=average, ascii_folding=True))
    expected = engine.embed_document(text)
    found = SparseEncoder("english", average).document(text)
    assert found.indices == list(expected.indices)
    assert np.array_equal(np.float32(found.values), np.float32(expected.values))


def test_a_question_counts_its_words_however_often_they_stand() -> None:
    assert sorted(SparseEncoder("english", 0.0).query("nought " * 5_000 + "paint the crane")[1]) == [
        1.0,
        1.0,
        5_000.0,
    ]
