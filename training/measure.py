"""What the weights that ship are worth on the dev sets: python -m training.measure finder|latency --sets FOLDER.

Thresholds are chosen on half of the dev rows (by passage or evidence) and figures are of the other half.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy

from citegraph.encoder import finder
from training import rows

FINDER_DEV = (
    "squad2 squadshifts-newwiki squadshifts-reddit squadshifts-amazon xquad-de-es-ro piaf-fr covidqa qed-nq "
    "timesensitive tatqa qamr"
).split()


def _words(text: str) -> list[str]:
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def overlap(found: str, wanted: str) -> float:
    """SQuAD's F1 of two spans."""
    ours, theirs = _words(found), _words(wanted)
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs)) if common else float(ours == theirs)


@dataclass(frozen=True)
class Tried:
    """A dev question: the span's margin, and how right it is if it is given."""

    source: str
    half: int
    margin: float
    stated: bool
    f1: float
    exact: float


def score(some: list[Tried], at: float) -> float:
    """Mean F1 when spans under the margin `at` are withheld: abstaining is right where nothing is stated."""
    parts = [t.f1 * (t.margin >= at) if t.stated else float(t.margin < at) for t in some]
    return float(numpy.mean(parts))


def _sample(known: list, count: int) -> list:
    return random.Random(11).sample(known, min(count, len(known)))


def _finder_rows(sets: Path, count: int) -> list[rows.Asked]:
    known = [row for name in FINDER_DEV for row in _sample(rows.asked(sets, name, "dev"), count)]
    cells = rows.cell_questions(rows.pipe_tables(sets, "dev"), count // 2, 3)
    return known + cells + rows.cell_questions(rows.key_tables(sets, "dev"), count // 2, 4)


def finder_figures(sets: Path, count: int) -> None:
    """A line for each set: F1 and exact match over all rows, F1 of the answerable, share of abstentions."""
    head, tried = finder.Finder(), []
    for row in _finder_rows(sets, count):
        (span,) = head.find(row.question, [row.passage])
        given = row.passage[span.start : span.end]
        texts = [row.passage[start:end] for start, end in row.answers]
        f1 = max((overlap(given, text) for text in texts), default=0.0)
        exact = max((_words(given) == _words(text) for text in texts), default=False)
        tried.append(
            Tried(row.source, rows.dev_half(row.passage), span.margin, bool(texts), f1, float(exact))
        )

    chosen = [t for t in tried if t.half == 0]
    sources = sorted({t.source for t in tried})
    grid = numpy.arange(-8, 8.01, 0.25)
    means = [numpy.mean([score([t for t in chosen if t.source == s], at) for s in sources]) for at in grid]
    best = float(grid[int(numpy.argmax(means))])
    print(f"threshold {best} chosen on {len(chosen)} rows; shipped {finder.THRESHOLD}")
    print(
        "| set | n | F1 | exact | answerable: F1 | refused | not stated: n | recognised |\n|---|---|---|---|---|---|---|---|"
    )
    for source in [*sources, "all"]:
        some = [t for t in tried if t.half == 1 and source in (t.source, "all")]
        print(_finder_line(source, some, finder.THRESHOLD))
    print(
        "\n| threshold | F1 (mean of sets) | answerable refused | not stated recognised | right of those given |\n|---|---|---|---|---|"
    )
    other = [t for t in tried if t.half == 1]
    for at in (best - 4, best - 2, best, best + 2, best + 4, best + 6):
        have, none = [t for t in other if t.stated], [t for t in other if not t.stated]
        given = [t for t in other if t.margin >= at]
        mean = numpy.mean([score([t for t in other if t.source == s], at) for s in sources])
        refused, known = numpy.mean([t.margin < at for t in have]), numpy.mean([t.margin < at for t in none])
        right = numpy.mean([t.f1 > 0.5 for t in given]) if given else 0.0
        print(f"| {at} | {mean:.3f} | {refused:.3f} | {known:.3f} | {right:.3f} |")


def _finder_line(source: str, some: list[Tried], at: float) -> str:
    have, none = [t for t in some if t.stated], [t for t in some if not t.stated]
    exact = numpy.mean(
        [t.exact if t.stated and t.margin >= at else not t.stated and t.margin < at for t in some]
    )
    f1 = numpy.mean([t.f1 * (t.margin >= at) for t in have])
    refused = numpy.mean([t.margin < at for t in have])
    known = f"{numpy.mean([t.margin < at for t in none]):.2f}" if none else "–"
    return f"| {source} | {len(some)} | {score(some, at):.2f} | {exact:.2f} | {f1:.2f} | {refused:.2f} | {len(none)} | {known} |"


def latency_figures() -> None:
    """Milliseconds on one thread for pairs of growing length, and for ten of them in one call."""
    text = "The supplier delivers the goods within 30 days of the order and bears the cost of carriage. "
    question = "Who bears the cost of carriage of the goods?"
    for sentences, count in ((1, 1), (3, 1), (7, 1), (3, 10), (7, 10)):
        passages = [text * sentences] * count
        finder.Finder().find(question, passages)
        walls, begun = [], time.process_time()
        for _ in range(15):
            at = time.perf_counter()
            finder.Finder().find(question, passages)
            walls.append((time.perf_counter() - at) * 1e3)
        spent = (time.process_time() - begun) / 15 * 1e3
        print(f"{count} x {19 * sentences} tokens: {numpy.median(walls):.0f} ms, {spent:.0f} ms of processor")


def main() -> None:
    """Print the figures of the finder, or its latency."""
    ask = argparse.ArgumentParser()
    ask.add_argument("what", choices=["finder", "latency"])
    ask.add_argument("--sets", type=Path)
    ask.add_argument("--count", type=int, default=400, help="rows of each dev set at most")
    told = ask.parse_args()
    if told.what == "latency":
        latency_figures()
    else:
        finder_figures(told.sets, told.count)


if __name__ == "__main__":
    main()
