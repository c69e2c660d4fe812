"""How well the networks read rows that they never learned: python -m benches.encoder_bench [FILE ...].

Rows are JSON lines as in training/questions, training/addressed, training/stated and training/fields; without a file those
that were held out on 2026-11-29.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from citegraph.encoder.finder import Finder
from citegraph.encoder.multilingual import ROLES, field_text, fields_of, speak_to_program, tag_question
from citegraph.language.terms import words

LOOKS = Path(__file__).parent / "first_looks"
HELD = [LOOKS / f"{name}-2026-11-29.jsonl" for name in ("tagger", "finder", "fields")]
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
    finder = Finder()
    f1: list[float] = []
    margins: dict[bool, list[float]] = {True: [], False: []}
    for row in rows:
        for asked in row["questions"]:
            (span,) = finder.find(asked["q"], [row["passage"]])
            margins[asked["a"] is not None].append(span.margin)
            if asked["a"] is not None:
                f1.append(overlap(row["passage"][span.start : span.end], asked["a"]))
    pairs = [(high > low) + (high == low) / 2 for high in margins[True] for low in margins[False]]
    return {
        "stated": len(f1),
        "span F1": sum(f1) / max(1, len(f1)),
        "not stated": len(margins[False]),
        "area": sum(pairs) / max(1, len(pairs)),
    }


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


def measured(path: Path) -> Iterator[dict[str, float | str]]:
    """Yield the figures of a file, for each kind of its rows."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
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
    for path in ask.parse_args().files:
        for figures in measured(path):
            print(json.dumps(figures))


if __name__ == "__main__":
    main()
