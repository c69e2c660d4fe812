"""How well the multilingual network reads: python -m benches.tagger_bench [FILE ...].

Rows are JSON lines as in training/questions and training/addressed; without a file those of the first look of 2026-11-29,
which it never learned.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from citegraph.encoder.multilingual import speak_to_program, tag_question

LOOK = Path(__file__).parent / "first_looks" / "tagger-2026-11-29.jsonl"


def measure(files: Sequence[Path]) -> dict[str, float]:
    """Return the questions and the share of right intents; precision and recall of what is left out among their
    conditions, and of the pieces of documents that speak to a program.
    """
    asked, right, told = 0, 0, Counter[tuple[str, bool, bool]]()
    for said in (json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()):
        if "addressed" in said:
            told["addressed", bool(said["addressed"]), speak_to_program([said["text"]])[0] > 0.5] += 1
            continue
        read = tag_question(said["q"])
        asked += 1
        right += read.intent == said["intent"]
        for slot in ("included", "excluded"):
            for text in said[slot]:
                start = said["q"].find(text)
                left_out = read.slot(start, start + len(text), "excluded")
                kept = read.slot(start, start + len(text), "included")
                told["left out", slot == "excluded", left_out > kept] += 1
    found = {"questions": asked, "intent": round(right / max(1, asked), 3)}
    for what in ("left out", "addressed"):
        hit, more, less = told[what, True, True], told[what, False, True], told[what, True, False]
        if not hit + less:
            continue
        found[f"{what}, precision"] = round(hit / max(1, hit + more), 3)
        found[f"{what}, recall"] = round(hit / max(1, hit + less), 3)
        found[f"{what}, n"] = hit + less
    return found


def main() -> None:
    """Print the figures of the files together."""
    ask = argparse.ArgumentParser()
    ask.add_argument("files", nargs="*", type=Path, default=[LOOK])
    print(json.dumps(measure(ask.parse_args().files)))


if __name__ == "__main__":
    main()
