"""Term weights are BM25's, in the engine's own numbers."""

import numpy as np
import pytest
from qdrant_edge import Bm25, Bm25Config

from citegraph.corpus.index.sparse import SparseEncoder

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
