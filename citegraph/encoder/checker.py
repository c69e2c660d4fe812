"""Whether evidence supports a claim, contradicts it, or does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from citegraph.encoder.onnx_session import Head, batches, windows

# Divides the logits so that the probabilities mean what they say: 0.95 was best on one half of the dev sets, and the
# figures of docs/encoder.md were taken at 0.9.
TEMPERATURE = 0.9


@dataclass(frozen=True)
class Verdict:
    """Three probabilities that add up to 1."""

    supported: float
    contradicted: float
    not_stated: float


class Checker:
    """The checker head; weights are read at the first claim. Safe to call from several threads."""

    def __init__(self, threads: int = 1) -> None:
        self._head = Head("checker", threads)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """One verdict for each (claim, evidence), in the order given.

        Evidence that is longer than a window is read in overlapping windows; the one that says most about the claim
        (least "not stated") gives the verdict. Evidence without a word states nothing.
        """
        asked = windows(pairs)
        best = [Verdict(0.0, 0.0, 1.0) for _ in pairs]
        readable = [window for window in asked if window.offsets]
        for batch in batches(readable):
            logits = self._head.run(batch) / TEMPERATURE
            weights = numpy.exp(logits - logits.max(axis=1, keepdims=True))
            for place, row in zip(batch.places, weights / weights.sum(axis=1, keepdims=True), strict=True):
                verdict = Verdict(*map(float, row))
                owner = readable[place].owner
                if verdict.not_stated < best[owner].not_stated:
                    best[owner] = verdict
        return best
