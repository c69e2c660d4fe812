"""Train the finder: python -m training.finder --rows training/stated --sets FOLDER --out FOLDER.

Rows are questions on passages of documents with the span that answers, or none (training/stated; docs/encoder.md), and
public sets of the same. Words and tokenizer are those of the tagger that ships. About forty minutes of two cores.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from citegraph.encoder.finder import QUESTION, WINDOW
from citegraph.encoder.multilingual import BEGIN, END, PADDING, unpacked, words
from citegraph.encoder.pieces import pieces_of
from training import rows
from training.base import Base, base_file
from training.export import write
from training.network import Trunk, alike, learn

TIMES, PUBLIC, BATCH, RATE = 3, 12_000, 16, 1e-4
"""How often each row of training/stated is taken, and how many of the public sets are."""
SHORT, CUT = 110, 0.35
"""Pieces of a passage that are left of it in a share of the rows: what stands around an answer varies in use, too."""


@dataclass(frozen=True)
class Row:
    """Question and passage as pieces; places of the first piece of the passage, and of the answer's ends (0: not stated)."""

    ids: list[int]
    first: int
    start: int
    end: int


def row_of(asked: rows.Asked) -> Row | None:
    """Return a question with a part of its passage that holds the answer, if there is one; None where it is too long."""
    question = pieces_of(asked.question, QUESTION).ids
    passage = pieces_of(asked.passage)
    head = [BEGIN, *question, END, END]
    room = WINDOW - len(head) - 1
    if random.random() < CUT:
        room = min(room, SHORT)
    low, high = 0, max(0, len(passage.ids) - room)
    start = end = None
    if asked.answers:
        first, last = random.choice(asked.answers)
        held = [at for at, (one, other) in enumerate(passage.offsets) if other > first and one < last]
        if not held or held[-1] - held[0] >= room:
            return None
        start, end = held[0], held[-1]
        low, high = max(0, end - room + 1), min(start, high)
    at = random.randint(min(low, high), high)
    ids = [*head, *passage.ids[at : at + room], END]
    if start is None or end is None:
        return Row(ids, len(head), 0, 0)
    return Row(ids, len(head), len(head) + start - at, len(head) + end - at)


class Network(nn.Module):
    """Vectors of words (batch, pieces, width) to logits (batch, pieces, 2) that a piece begins and ends the answer."""

    def __init__(self, base: Base) -> None:
        super().__init__()
        self.trunk = Trunk(base)
        self.ends = nn.Linear(base.width, 2)

    def forward(self, words: Tensor, mask: Tensor, side: Tensor) -> Tensor:
        """Logits of every piece; those outside the passage are the caller's to mask."""
        logits: Tensor = self.ends(self.trunk(words, mask, side))
        return logits


def loss_of(network: Network, vectors: Tensor, batch: Sequence[Row]) -> Tensor:
    """Return the cross-entropy of both ends over the passage's pieces and the first one, which stands for "not stated"."""
    most = max(len(row.ids) for row in batch)
    ids = torch.tensor([row.ids + [PADDING] * (most - len(row.ids)) for row in batch])
    side = torch.zeros_like(ids)
    for place, row in enumerate(batch):
        side[place, row.first : len(row.ids)] = 1
    with torch.autocast("cpu", torch.bfloat16):
        logits = network(vectors[ids], (ids != PADDING).long(), side).float()
    open_to = side.bool()
    open_to[:, 0] = True
    starts, ends = logits.masked_fill(~open_to[..., None], -1e4).unbind(-1)
    return (
        functional.cross_entropy(starts, torch.tensor([row.start for row in batch]))
        + functional.cross_entropy(ends, torch.tensor([row.end for row in batch]))
    ) / 2


def losses(network: Network, vectors: Tensor, known: Sequence[Row]) -> Iterator[Tensor]:
    """Yield the loss of every batch."""
    for places in alike([len(row.ids) for row in known], BATCH):
        yield loss_of(network, vectors, [known[place] for place in places])


def main() -> None:
    """Train on all rows, and write the weights that ship."""
    ask = argparse.ArgumentParser()
    ask.add_argument("--rows", type=Path, required=True, help="folder of questions on passages")
    ask.add_argument("--sets", type=Path, help="folder of the public sets")
    ask.add_argument("--public", type=int, default=PUBLIC, help="rows of the public sets")
    ask.add_argument("--out", type=Path, required=True, help="folder of the weights")
    told = ask.parse_args()
    random.seed(7)
    torch.manual_seed(7)
    own = [row for path in sorted(told.rows.glob("*.jsonl")) for row in rows.stated(path)]
    public = rows.public_rows(told.sets)[: told.public] if told.sets else []
    known = [row for asked in (*own * TIMES, *public) if (row := row_of(asked)) is not None]
    print(f"{len(own)} rows {TIMES} times, {len(public)} of the public sets", flush=True)
    network = Network(Base(base_file()))
    vectors = torch.tensor(unpacked(words()[:]))
    learn(network, network.trunk, losses(network, vectors, known), -(-len(known) // BATCH), RATE)
    told.out.mkdir(parents=True, exist_ok=True)
    ids = torch.tensor([[BEGIN, 5, END, END, 6, END], [BEGIN, 5, END, END, END, PADDING]])
    given = {"words": vectors[ids], "mask": (ids != PADDING).long(), "side": (ids == 6).long()}
    write(network, given, ("logits",), dict.fromkeys((*given, "logits"), 2), told.out / "finder.onnx")
    print(f"finder.onnx {(told.out / 'finder.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
