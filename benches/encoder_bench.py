"""How well the networks read rows that they never learned: python -m benches.encoder_bench [FILE ...].

Rows are JSON lines as in training/questions, training/addressed, training/stated and training/fields; without a file those
that were held out. Last comes the fit that makes the finder's logits the log-odds of all passages: OFFSET and SLOPE of
citegraph/encoder/finder.py, to be set whenever its weights are others.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from citegraph.encoder.finder import OFFSET, SLOPE, Finder
from citegraph.encoder.multilingual import ROLES, field_text, fields_of, speak_to_program, tag_question
from citegraph.language.terms import words

LOOKS = Path(__file__).parent / "first_looks"
HELD = [LOOKS / f"{name}-2026-11-29.jsonl" for name in ("tagger", "finder", "fields")]
HELD.insert(2, LOOKS / "finder-2026-11-30.jsonl")
Row = Mapping[str, Any]


def of_questions(rows: Sequence[Row]) -> dict[str, float]:
    """Return the share of right intents; precision and recall of what is left out among the conditions."""
    right, told = 0, Counter[tuple[bool, bool]]()
    for said in rows:
        read = tag_question(said["q"])
        right += read.intent == said["intent"]
        for slot in ("included", "excluded"):
            for text in said[slot]:
                start = said["q"].find(text)
                left_out = read.slot(start, start + len(text), "excluded")
                kept = read.slot(start, start + len(text), "included")
                told[slot == "excluded", left_out > kept] += 1
    return {"questions": len(rows), "intent": right / len(rows), **of_kind("left out", told)}


def of_kind(what: str, told: Mapping[tuple[bool, bool], int]) -> dict[str, float]:
    """Return precision, recall and number of a kind, from how often it (is, is said to be) that."""
    hit, more, less = (told.get(key, 0) for key in ((True, True), (False, True), (True, False)))
    if not hit + less:
        return {}
    return {
        f"{what}: precision": hit / max(1, hit + more),
        f"{what}: recall": hit / (hit + less),
        f"{what}, n": hit + less,
    }


def of_pieces(rows: Sequence[Row]) -> dict[str, float]:
    """Return precision and recall of the pieces of documents that speak to a program."""
    said = speak_to_program([row["text"] for row in rows])
    told = Counter((bool(row["addressed"]), share > 0.5) for row, share in zip(rows, said, strict=True))
    return of_kind("addressed", told)


def of_passages(rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean F1 of the words of a stated answer, and the area under the curve of stated against not."""
    read = readings(rows)
    f1 = [overlap(found, wanted) for _, found, wanted in read if wanted is not None]
    sure = [
        [logit for logit, _, wanted in read if (wanted is not None) == stated] for stated in (True, False)
    ]
    pairs = [(high > low) + (high == low) / 2 for high in sure[0] for low in sure[1]]
    return {
        "stated": len(f1),
        "span F1": sum(f1) / max(1, len(f1)),
        "not stated": len(sure[1]),
        "area": sum(pairs) / max(1, len(pairs)),
    }


def readings(rows: Sequence[Row]) -> list[tuple[float, str, str | None]]:
    """Return for each question the finder's log-odds, what it points at, and the answer, None where the passage has none."""
    return [
        (span.logit, row["passage"][span.start : span.end], asked["a"])
        for row in rows
        for asked in row["questions"]
        for span in Finder().find(asked["q"], [row["passage"]])
    ]


def calibration(read: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Return offset and slope by which the network's logits are the log-odds that a passage states the answer, and how far
    today's probabilities lie from how often it does, the mean of eight equal parts.

    Args:
        read: log-odds as of now, with whether the passage states it.
    """
    logits, stated = numpy.array([one for one, _ in read]), numpy.array([float(right) for _, right in read])
    shift, stretch = logistic(numpy.c_[numpy.ones(len(read)), logits], stated, numpy.ones(len(read)))
    parts = numpy.array_split(numpy.argsort(logits), PARTS)
    off = [
        abs(stated[part].mean() - (1 / (1 + numpy.exp(-logits[part]))).mean()) for part in parts if len(part)
    ]
    return {
        "passages": len(read),
        "OFFSET": shift + stretch * OFFSET,
        "SLOPE": stretch * SLOPE,
        "off by": float(numpy.mean(off)),
    }


PARTS = 8


def logistic(
    x: "numpy.ndarray", y: "numpy.ndarray", counts: "numpy.ndarray", ridge: float = 1e-6
) -> "numpy.ndarray":
    """Return the weights of a logistic regression of `y` on the columns of `x`, the first one its offset; each row counts
    `counts` times.
    """
    weights = numpy.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + numpy.exp(-x @ weights))
        slope = x.T @ (counts * (p - y)) + ridge * numpy.r_[0, weights[1:]]
        curve = (x * (counts * p * (1 - p))[:, None]).T @ x + ridge * numpy.eye(len(weights))
        weights -= numpy.linalg.solve(curve, slope)
    return weights


def overlap(found: str, wanted: str) -> float:
    """Return SQuAD's F1 of two spans, by words."""
    ours, theirs = Counter(words(found)), Counter(words(wanted))
    common = sum((ours & theirs).values())
    return 2 * common / (ours.total() + theirs.total()) if common else float(found.strip() == wanted.strip())


SURE = 0.6
"""Mean share of a field over its words from which it is taken as surely spoken of, here as in citegraph/question/spoken_of.py."""


def of_kinds(rows: Sequence[Row]) -> dict[str, float]:
    """Return how often the words that speak of a field are read as that field, and as the one of its type."""
    told = Counter[str]()
    for said in rows:
        names = [one["name"] for one in said["fields"]]
        types = {one["name"]: one["type"] for one in said["fields"]}
        texts = [field_text(one["type"], one["name"], one["words"]) for one in said["fields"]]
        for asked in said["questions"]:
            read = fields_of(asked["q"], texts)
            for part in asked["says"]:
                start = asked["q"].find(part["text"])
                held = [
                    one.shares for one in read if one.start < start + len(part["text"]) and one.end > start
                ]
                if start < 0 or not held:
                    continue
                shares = numpy.mean(held, axis=0)
                best = names[shares.sum(axis=1).argmax()]
                alike = [name for name in names if types[name] == types[part["field"]]]
                told["spans"] += 1
                told["right"] += best == part["field"]
                told["role"] += ROLES[shares.sum(axis=0).argmax()] == part["role"]
                if len(alike) > 1:
                    told["rivals"] += 1
                    told["of rivals"] += part["field"] == max(
                        alike, key=lambda name: shares[names.index(name)].sum()
                    )
                if shares.sum(axis=1).max() >= SURE:
                    told["sure"] += 1
                    told["sure and right"] += best == part["field"]
    return {
        "spans": told["spans"],
        "field": told["right"] / told["spans"],
        "role": told["role"] / told["spans"],
        "with fields of the same type": told["rivals"],
        "told apart from those": told["of rivals"] / max(1, told["rivals"]),
        "sure": told["sure"],
        "of those right": told["sure and right"] / max(1, told["sure"]),
    }


READERS = {"kind": of_kinds, "intent": of_questions, "addressed": of_pieces, "passage": of_passages}
"""What measures a row, by a key that only its kind has."""


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def measured(path: Path) -> Iterator[dict[str, float | str]]:
    """Yield the figures of a file, for each kind of its rows."""
    rows = rows_of(path)
    for key, figures in READERS.items():
        some = [row for row in rows if key in row]
        begun = time.process_time()
        if some and (found := figures(some)):
            calls = sum(len(row.get("questions", (row,))) for row in some)
            found["ms of processor a text"] = 1_000 * (time.process_time() - begun) / calls
            yield {"file": path.stem, **{name: round(value, 3) for name, value in found.items()}}


def main() -> None:
    """Print the figures of each file."""
    ask = argparse.ArgumentParser()
    ask.add_argument("files", nargs="*", type=Path, default=HELD)
    files = ask.parse_args().files
    for path in files:
        for figures in measured(path):
            print(json.dumps(figures))
    passages = [row for path in files for row in rows_of(path) if "passage" in row]
    if passages:
        read = [(logit, wanted is not None) for logit, _, wanted in readings(passages)]
        print(json.dumps({name: round(value, 3) for name, value in calibration(read).items()}))


if __name__ == "__main__":
    main()
