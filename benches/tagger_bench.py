"""How well the question tagger reads: python -m benches.tagger_bench [FILE ...].

Rows are JSON lines as in training/questions; without a file those of the first look of 2026-11-29, which it never learned.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from citegraph.encoder.multilingual import tag_question

LOOK = Path(__file__).parent / "first_looks" / "tagger-2026-11-29.jsonl"


def measure(files: Sequence[Path]) -> dict[str, float]:
    """Return rows, share of right intents, and precision and recall of the conditions that are left out."""
    right, told, rows = 0, Counter[tuple[bool, bool]](), 0
    for path in files:
        for line in path.read_text("utf-8").splitlines():
            said = json.loads(line)
            read = tag_question(said["q"])
            rows += 1
            right += read.intent == said["intent"]
            for slot in ("included", "excluded"):
                for text in said[slot]:
                    start = said["q"].find(text)
                    included, excluded = (
                        read.slot(start, start + len(text), one) for one in ("included", "excluded")
                    )
                    told[slot == "excluded", excluded > included] += 1
    hit = told[True, True]
    return {
        "rows": rows,
        "intent": round(right / rows, 3),
        "left out, precision": round(hit / max(1, hit + told[False, True]), 3),
        "left out, recall": round(hit / max(1, hit + told[True, False]), 3),
    }


def main() -> None:
    """Print the figures of the files together."""
    ask = argparse.ArgumentParser()
    ask.add_argument("files", nargs="*", type=Path, default=[LOOK])
    print(json.dumps(measure(ask.parse_args().files)))


if __name__ == "__main__":
    main()
