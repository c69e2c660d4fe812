"""Train the question tagger: python -m training.tagger --rows FOLDER ... --out FOLDER.

Rows are JSON lines of people's questions with their intent and the words that are conditions, left out or asked for
(training/questions), and pieces of documents that speak to the program that reads them, or do not (training/addressed;
docs/encoder.md). About half an hour of two cores.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from citegraph.encoder.multilingual import (
    BEGIN,
    END,
    INTENTS,
    LONGEST,
    PADDING,
    SLOTS,
    tokenizer,
    unpacked,
    words,
)
from citegraph.language.claim_tokens import sentence_spans
from training.base import Base, base_file
from training.export import write
from training.network import Trunk, alike, learn

EPOCHS, BATCH, RATE = 6, 16, 1e-4
UNKNOWN = -100
PLAIN, SHORT = 800, 12
"""Drawn pieces of documents that speak to no program, and the characters that each has at least."""


@dataclass(frozen=True)
class Row:
    """A text's pieces; of a question their slots and its intent, else whether it speaks to the program that reads it."""

    ids: list[int]
    slots: list[int]
    intent: int = UNKNOWN
    addressed: float = UNKNOWN


def piece_row(ids: Sequence[int], addressed: float) -> Row:
    """Return the row of a piece of a document."""
    whole = [BEGIN, *ids[:LONGEST], END]
    return Row(whole, [UNKNOWN] * len(whole), addressed=addressed)


class Network(nn.Module):
    """Vectors of words (batch, pieces, width) to logits of the intent, of each piece's slot, and that a reader is spoken to."""

    def __init__(self, base: Base) -> None:
        super().__init__()
        self.trunk = Trunk(base)
        self.intent = nn.Linear(2 * base.width, len(INTENTS))
        self.slot = nn.Linear(base.width, len(SLOTS))
        self.addressed = nn.Linear(2 * base.width, 1)

    def forward(self, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits (batch, intents), (batch, pieces, slots) and (batch)."""
        states = self.trunk(words, mask)
        share = mask[..., None].to(states.dtype)
        mean = (states * share).sum(1) / share.sum(1)
        both = self.trunk.dropped(torch.cat([states[:, 0], mean], dim=1))
        return self.intent(both), self.slot(self.trunk.dropped(states)), self.addressed(both).squeeze(-1)


def text_of(said: Mapping[str, Any]) -> str:
    """Return the text of a row."""
    return str(said["text"] if "text" in said else said["q"])


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a file of questions, or of pieces of documents."""
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        read = tokenizer().encode(text_of(said), add_special_tokens=False)
        if "addressed" in said:
            yield piece_row(read.ids, float(said["addressed"]))
            continue
        slots = [0] * len(read.offsets[:LONGEST])
        for slot, texts in (
            ("asked", [said["asked"]]),
            ("included", said["included"]),
            ("excluded", said["excluded"]),
        ):
            for text in filter(None, texts):
                start = said["q"].find(text)
                for place, (first, last) in enumerate(read.offsets[:LONGEST]):
                    if first < start + len(text) and last > start and said["q"][first:last].strip():
                        slots[place] = SLOTS.index(slot)
        ids = [BEGIN, *read.ids[:LONGEST], END]
        yield Row(ids, [UNKNOWN, *slots, UNKNOWN], INTENTS.index(said["intent"]))


def plain_rows(folder: Path, count: int) -> list[Row]:
    """Return drawn lines and sentences of documents that speak to no program, one or two together."""
    found = []
    for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.txt")]):
        text = path.read_text("utf-8")
        pieces = [text[start:end].strip() for start, end in sentence_spans(text)]
        found += [" ".join(pieces[at : at + random.choice((1, 2))]) for at in range(0, len(pieces), 2)]
    drawn = random.sample([text for text in found if len(text) > SHORT], count)
    read = tokenizer().encode_batch(drawn, add_special_tokens=False)
    return [piece_row(one.ids, 0.0) for one in read]


@dataclass(frozen=True)
class Batch:
    """Rows side by side: ids and slots (rows, pieces), intents and whom they speak to (rows)."""

    ids: Tensor
    slots: Tensor
    intents: Tensor
    addressed: Tensor

    @property
    def mask(self) -> Tensor:
        """Return 1 where a piece is."""
        return (self.ids != PADDING).long()


def batches(rows: Sequence[Row]) -> Iterator[Batch]:
    """Yield all rows once, those of like length together, in a drawn order."""
    for places in alike([len(row.ids) for row in rows], BATCH):
        taken = [rows[place] for place in places]
        most = max(len(row.ids) for row in taken)
        ids = torch.tensor([row.ids + [PADDING] * (most - len(row.ids)) for row in taken])
        slots = torch.tensor([row.slots + [UNKNOWN] * (most - len(row.slots)) for row in taken])
        intents = torch.tensor([row.intent for row in taken])
        yield Batch(ids, slots, intents, torch.tensor([row.addressed for row in taken]))


def loss_of(network: Network, vectors: Tensor, batch: Batch) -> Tensor:
    """Return the loss of what is known of each row: intent and slots of a question, else whom a text speaks to."""
    with torch.autocast("cpu", torch.bfloat16):
        intent, slot, addressed = (one.float() for one in network(vectors[batch.ids], batch.mask))
    loss = torch.zeros(())
    if bool((batch.intents != UNKNOWN).any()):
        loss = functional.cross_entropy(intent, batch.intents, ignore_index=UNKNOWN, label_smoothing=0.05)
        loss = loss + functional.cross_entropy(
            slot.flatten(0, 1), batch.slots.flatten(), ignore_index=UNKNOWN
        )
    known = batch.addressed != UNKNOWN
    if bool(known.any()):
        told = functional.binary_cross_entropy_with_logits(addressed[known], batch.addressed[known])
        loss = loss + told
    return loss


def main() -> None:
    """Train on all rows, and write the weights that ship."""
    ask = argparse.ArgumentParser()
    ask.add_argument("--rows", type=Path, nargs="+", required=True, help="folders of questions and of pieces")
    ask.add_argument("--plain", type=Path, required=True, help="folder of documents that speak to no program")
    ask.add_argument("--out", type=Path, required=True, help="folder of the weights")
    ask.add_argument("--epochs", type=int, default=EPOCHS)
    told = ask.parse_args()
    random.seed(7)
    torch.manual_seed(7)
    files = sorted(path for folder in told.rows for path in folder.glob("*.jsonl"))
    rows = [row for path in files for row in rows_of(path)]
    rows += plain_rows(told.plain, PLAIN)
    network = Network(Base(base_file()))
    vectors = torch.tensor(unpacked(words()[:]))
    losses = (loss_of(network, vectors, batch) for _ in range(told.epochs) for batch in batches(rows))
    learn(network, network.trunk, losses, told.epochs * -(-len(rows) // BATCH), RATE)
    ids = torch.tensor([[BEGIN, 5, 6, END], [BEGIN, 5, END, PADDING]])
    given = {"words": vectors[ids], "mask": (ids != PADDING).long()}
    outputs = {"intents": 1, "slots": 2, "addressed": 1}
    told.out.mkdir(parents=True, exist_ok=True)
    file = told.out / "multilingual.onnx"
    write(network, given, tuple(outputs), {**dict.fromkeys(given, 2), **outputs}, file)
    print(f"{file.name} {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
