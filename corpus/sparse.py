"""BM25 sparse vectors, the same for both engines; the engine multiplies by the inverse document frequency."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from qdrant_edge import Bm25

# Saturation and length normalisation of Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009).
TERM_SATURATION = 1.2
LENGTH_NORMALISATION = 0.75

# Saturation this high leaves a term's weight equal to its count (to five digits).
_UNSATURATED = 1e6

_CODES = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
    "ja": "japanese",
    "zh": "chinese",
}
_UNSEGMENTED = {"chinese", "japanese", "korean", "ko", "thai", "th"}


class SparseVector(NamedTuple):
    """Term ids and their weights."""

    indices: list[int]
    values: list[float]


class SparseEncoder:
    """Turns text into BM25 term weights of one language.

    `average_length` is the mean number of indexed terms of a chunk in the bucket; the engine's
    default of 256 costs up to 0.02 nDCG on short texts.
    """

    def __init__(self, language: str, average_length: float) -> None:
        self.language = language
        self.average_length = average_length

    @cached_property
    def _documents(self) -> Bm25:
        return _model(
            self.language, k=TERM_SATURATION, b=LENGTH_NORMALISATION, avg_len=max(self.average_length, 1.0)
        )

    @cached_property
    def _counter(self) -> Bm25:
        return _model(self.language, k=_UNSATURATED, b=0.0)

    def document(self, text: str) -> SparseVector:
        """Return the term weights of an indexed text."""
        vector = self._documents.embed_document(text)
        return SparseVector(list(vector.indices), list(vector.values))

    def query(self, text: str) -> SparseVector:
        """Return the term weights of a question: how often each term occurs in it.

        A pasted paragraph repeats what it is about; weights of one would lose that.
        """
        vector = self._counter.embed_document(text)
        return SparseVector(list(vector.indices), [float(round(value)) for value in vector.values])


def mean_length(language: str, texts: Iterable[str]) -> float:
    """Return the mean number of indexed terms (stop words removed) of `texts`; 0.0 when there are none."""
    counter = _model(language, k=_UNSATURATED, b=0.0)
    lengths = [sum(counter.embed_document(text).values) for text in texts]
    return round(sum(lengths) / len(lengths), 2) if lengths else 0.0


def _model(language: str, *, k: float, b: float, avg_len: float | None = None) -> Bm25:
    import qdrant_edge

    name = _CODES.get(language.lower(), language.lower())
    tokenizer = (
        qdrant_edge.TokenizerType.Multilingual if name in _UNSEGMENTED else qdrant_edge.TokenizerType.Word
    )
    common: dict[str, Any] = {
        "k": k,
        "b": b,
        "avg_len": avg_len,
        "tokenizer": tokenizer,
        "ascii_folding": True,
    }
    try:
        return qdrant_edge.Bm25(qdrant_edge.Bm25Config(language=name, **common))
    except ValueError:  # no stemmer or stop words for this language: plain terms
        plain = qdrant_edge.Bm25Config(
            stemmer=qdrant_edge.DisabledStemmer(), stopwords=qdrant_edge.StopwordsSet(custom=set()), **common
        )
        return qdrant_edge.Bm25(plain)
