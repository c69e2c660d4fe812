"""Real text that speaks to people only, as rows that speak to no program: python -m training.honest --out FILE ...

What it is drawn from are the passages of the public sets, and manuals that tell people what to do, in twenty languages.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

from citegraph.language.claim_tokens import sentence_spans
from training.rows import PUBLIC_SETS, lines

SHORTEST, EACH = 12, 9_000
"""Characters of a piece at least, and pieces that are drawn of each of the three sources at most."""
_TAGS = re.compile(r"<(script|style|pre|title|head)\b.*?</\1>|<[^>]+>", re.DOTALL)


def passages(sets: Path) -> Iterator[str]:
    """Yield the passages of the finder's sets, those of the archive's contracts left out."""
    for name in PUBLIC_SETS:
        yield from sorted({str(row["passage"]) for row in lines(sets / "finder" / f"{name}-train.jsonl.gz")})


def clauses(sets: Path) -> Iterator[str]:
    """Yield clauses of agreements on secrecy."""
    yield from sorted(
        {str(row["evidence"]) for row in lines(sets / "checker" / "contractnli-train.jsonl.gz")}
    )


def manuals(folder: Path) -> Iterator[str]:
    """Yield the paragraphs of all HTML pages below a folder as plain text."""
    for path in sorted(folder.rglob("*.html*")):
        if path.is_file():
            text = path.read_text("utf-8", errors="ignore")
            yield unescape(_TAGS.sub("\n", text))


def pieces(texts: Sequence[str], count: int) -> list[str]:
    """Return drawn sentences and lines, one or two together, none of them twice."""
    found: dict[str, None] = {}
    for text in texts:
        spans = sentence_spans(text)
        at = 0
        while at < len(spans):
            more = random.choice((1, 1, 2))
            piece = " ".join(text[start:end].strip() for start, end in spans[at : at + more])
            at += more
            if len(piece) >= SHORTEST:
                found[" ".join(piece.split())] = None
    return random.sample(list(found), min(count, len(found)))


def random_order(texts: Iterator[str], most: int = 3_000) -> list[str]:
    """Return some of the texts, in a drawn order: nobody reads 6,000 pages for a few sentences of each."""
    every = list(texts)
    return random.sample(every, min(most, len(every)))


def main() -> None:
    """Draw pieces of each source, and write them as rows."""
    ask = argparse.ArgumentParser()
    ask.add_argument("--sets", type=Path, required=True, help="folder of the public sets")
    ask.add_argument("--manuals", type=Path, required=True, help="folder of manuals in HTML")
    ask.add_argument("--out", type=Path, required=True)
    told = ask.parse_args()
    random.seed(7)
    sources = (passages(told.sets), clauses(told.sets), manuals(told.manuals))
    drawn = [piece for source in sources for piece in pieces(random_order(source), EACH)]
    told.out.write_text("".join(json.dumps({"text": text, "addressed": 0}) + "\n" for text in drawn), "utf-8")
    print(f"{len(drawn)} pieces")


if __name__ == "__main__":
    main()
