"""How rare the words of a question are in a bucket, and how much of that rarity a text holds."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from citegraph.corpus.index.index_protocol import Index
from citegraph.language.terms import WORD, bare, content_words, stem, stems


@dataclass(frozen=True, slots=True)
class TermWeights:
    """Content words of a question with their rarity in one bucket.

    Attributes:
        counts: word -> number of chunks that hold it (0: the bucket does not know the word).
        total: chunks in the bucket.
    """

    counts: Mapping[str, int]
    total: int
    language: str = "en"

    def weight(self, word: str) -> float:
        """Return the inverse document frequency (Robertson-Sparck Jones with +1, never negative)."""
        count = self.counts.get(word, 0)
        return math.log(1 + (self.total - count + 0.5) / (count + 0.5))

    def coverage(self, text: str, among: Iterable[str] | None = None) -> float:
        """Return the share (0 to 1) of the question's rarity that `text` holds, by stems.

        `among` limits it to some of the words; 0.0 when there are none.
        """
        chosen = list(self.counts if among is None else among)
        whole = sum(self.weight(word) for word in chosen)
        if not whole:
            return 0.0
        held = stems(text, self.language)
        found = sum(self.weight(word) for word in chosen if stem(word, self.language) in held)
        return found / whole

    def unknown(self) -> list[str]:
        """Return the words that no chunk holds."""
        return [word for word, count in self.counts.items() if not count]


async def term_weights(index: "Index", bucket: str, question: str, language: str = "en") -> TermWeights:
    """Count, in the index, the chunks that hold each content word of `question` (as written, lower case)."""
    chosen = content_words(question)
    written = {bare(raw): raw.lower() for raw in WORD.findall(question)}
    total, *counts = await index.counts(bucket, [None, *(holds(written.get(word, word)) for word in chosen)])
    return TermWeights(dict(zip(chosen, counts, strict=True)), total, language)


def holds(word: str) -> dict[str, Any]:
    """Return the filter for chunks whose text holds `word` as a token."""
    return {"must": [{"key": "text", "match": {"text": word}}]}
