"""Train the question tagger: python -m training.tagger --rows FOLDER ... [--kinds FOLDER --honest FILE] --out FILE.

Rows are JSON lines of people's questions with their intent and the words that are conditions, left out or asked for
(training/questions), pieces of documents that speak to the program that reads them, or do not (training/addressed and
`training.honest`), and kinds of documents with their fields and questions about them (training/fields; docs/encoder.md).
With kinds and real text it becomes the network that reads of what words speak. Each about half an hour of two cores.
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
    LINK,
    LONGEST,
    PADDING,
    ROLES,
    SLOTS,
    field_text,
    unpacked,
    words,
)
from citegraph.encoder.pieces import pieces_of
from training.base import Base, base_file
from training.export import write
from training.network import Trunk, alike, learn

EPOCHS, BATCH, RATE = 6, 16, 1e-4
UNKNOWN = -100
HONEST = 2_000
"""Pieces of real text that speak to no program, drawn anew for each pass over the rows."""
KIND_PASSES = 2
"""Passes over the kinds of documents in each pass over the rows: a kind's questions share what is read of its fields."""
UNDECLARED, NOTHING = 0.15, 0.3
"""Share of a kind's fields that are hidden, so that words may speak of none; weight of pieces that speak of none."""


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
        self.speaks = nn.Linear(base.width, len(ROLES) * LINK)
        self.nothing = nn.Linear(base.width, 1)
        self.spoken_of = nn.Linear(base.width, LINK)
        self.scale = nn.Parameter(torch.tensor(2.5))

    def forward(self, words: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Logits (batch, intents), (batch, pieces, slots) and (batch); see `citegraph.encoder.multilingual.fields_of`.

        Of each piece (batch, pieces, roles * LINK + 1): what it says of a field in each role, and that it says nothing; of
        the text as a field (batch, LINK).
        """
        states = self.trunk(words, mask)
        share = mask[..., None].to(states.dtype)
        mean = (states * share).sum(1) / share.sum(1)
        both = self.trunk.dropped(torch.cat([states[:, 0], mean], dim=1))
        shown = self.trunk.dropped(states)
        said = self.speaks(shown).unflatten(-1, (len(ROLES), LINK))
        said = (functional.normalize(said, dim=-1) * self.scale.exp()).flatten(-2)
        return (
            self.intent(both),
            self.slot(shown),
            self.addressed(both).squeeze(-1),
            torch.cat([said, self.nothing(shown)], dim=-1),
            functional.normalize(self.spoken_of(mean), dim=-1),
        )


def text_of(said: Mapping[str, Any]) -> str:
    """Return the text of a row."""
    return str(said["text"] if "text" in said else said["q"])


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a file of questions, or of pieces of documents."""
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        read = pieces_of(text_of(said), LONGEST)
        if "addressed" in said:
            yield piece_row(read.ids, float(said["addressed"]))
            continue
        slots = [0] * len(read.offsets)
        for slot, texts in (
            ("asked", [said["asked"]]),
            ("included", said["included"]),
            ("excluded", said["excluded"]),
        ):
            for text in filter(None, texts):
                start = said["q"].find(text)
                for place, (first, last) in enumerate(read.offsets):
                    if first < start + len(text) and last > start and said["q"][first:last].strip():
                        slots[place] = SLOTS.index(slot)
        ids = [BEGIN, *read.ids, END]
        yield Row(ids, [UNKNOWN, *slots, UNKNOWN], INTENTS.index(said["intent"]))


def honest_rows(path: Path) -> list[Row]:
    """Return the pieces of real text of a file (`training.honest`)."""
    said = [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]
    return [piece_row(pieces_of(one).ids, 0.0) for one in said]


@dataclass(frozen=True)
class Kind:
    """A kind of documents: texts of its fields, and questions with (characters from, to, place of a field, role)."""

    fields: list[tuple[str, str, str]]
    questions: list[tuple[str, list[tuple[int, int, int, int]]]]


def kinds_of(path: Path) -> Iterator[Kind]:
    """Yield the kinds of documents of a file; spans that do not stand in their question are left out."""
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        places = {one["name"]: place for place, one in enumerate(said["fields"])}
        questions = []
        for one in said["questions"]:
            spans = [
                (start, start + len(part["text"]), places[part["field"]], ROLES.index(part["role"]))
                for part in one["says"]
                if (start := one["q"].find(part["text"])) >= 0
            ]
            questions.append((one["q"], spans))
        yield Kind([(one["name"], one["type"], one["words"]) for one in said["fields"]], questions)


def side_by_side(texts: Sequence[str]) -> tuple[Tensor, list[list[tuple[int, int]]]]:
    """Return the ids (texts, pieces) of some texts, and the characters that the pieces of each stand for."""
    read = [pieces_of(text, LONGEST) for text in texts]
    ids = [[BEGIN, *one.ids, END] for one in read]
    most = max(map(len, ids))
    return torch.tensor([one + [PADDING] * (most - len(one)) for one in ids]), [one.offsets for one in read]


def loss_of_kind(network: Network, vectors: Tensor, kind: Kind) -> Tensor:
    """Return the loss of what each piece of a kind's questions speaks of: one of the fields in a role, or none.

    Some fields are not declared this time, and each is described by its name, its words or both.
    """
    kept = [place for place in range(len(kind.fields)) if random.random() > UNDECLARED] or [0]
    described = []
    for name, sort, words_ in (kind.fields[place] for place in kept):
        drawn = random.random()
        described.append(
            field_text(sort, name if drawn < 0.8 else "", words_ if not 0.6 < drawn < 0.8 else "")
        )
    fields, _ = side_by_side(described)
    asked, offsets = side_by_side([text for text, _ in kind.questions])
    # The first classes are the fields as a condition, then as wanted, the last one none of them.
    wanted = torch.full(asked.shape, UNKNOWN)
    for row, ((text, spans), of) in enumerate(zip(kind.questions, offsets, strict=True)):
        for place, (first, last) in enumerate(of, start=1):
            held = [span for span in spans if first < span[1] and last > span[0]]
            wanted[row, place] = len(ROLES) * len(kept)
            if held and text[first:last].strip() and held[0][2] in kept:
                wanted[row, place] = held[0][3] * len(kept) + kept.index(held[0][2])
    with torch.autocast("cpu", torch.bfloat16):
        keys = network(vectors[fields], (fields != PADDING).long())[4].float()
        said = network(vectors[asked], (asked != PADDING).long())[3].float()
    told = said[..., :-1].unflatten(-1, (len(ROLES), LINK)) @ keys.T
    logits = torch.cat([told.flatten(-2), said[..., -1:]], dim=-1)
    weights = torch.ones(logits.shape[-1])
    weights[-1] = NOTHING
    return functional.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), weights, ignore_index=UNKNOWN, label_smoothing=0.02
    )


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
        intent, slot, addressed = (one.float() for one in network(vectors[batch.ids], batch.mask)[:3])
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
    ask.add_argument("--kinds", type=Path, help="folder of kinds of documents and their fields")
    ask.add_argument("--honest", type=Path, help="pieces of real text that speak to no program")
    ask.add_argument("--out", type=Path, required=True, help="folder of the weights")
    ask.add_argument("--epochs", type=int, default=EPOCHS)
    told = ask.parse_args()
    random.seed(7)
    torch.manual_seed(7)
    files = sorted(path for folder in told.rows for path in folder.glob("*.jsonl"))
    rows = [row for path in files for row in rows_of(path)]
    honest = honest_rows(told.honest) if told.honest else []
    kinds = [
        kind for path in sorted(told.kinds.glob("*.jsonl") if told.kinds else ()) for kind in kinds_of(path)
    ]
    network = Network(Base(base_file()))
    vectors = torch.tensor(unpacked(words()[:]))
    drawn = min(HONEST, len(honest))

    def losses() -> Iterator[Tensor]:
        for _ in range(told.epochs):
            steps: list[Batch | Kind] = list(batches([*rows, *random.sample(honest, drawn)]))
            steps += kinds * KIND_PASSES
            random.shuffle(steps)
            for step in steps:
                of = loss_of if isinstance(step, Batch) else loss_of_kind
                yield of(network, vectors, step)  # type: ignore[arg-type]

    each = -(-(len(rows) + drawn) // BATCH) + KIND_PASSES * len(kinds)
    learn(network, network.trunk, losses(), told.epochs * each, RATE)
    ids = torch.tensor([[BEGIN, 5, 6, END], [BEGIN, 5, END, PADDING]])
    given = {"words": vectors[ids], "mask": (ids != PADDING).long()}
    outputs = {"intents": 1, "slots": 2, "addressed": 1, "said": 2, "field": 1}
    told.out.parent.mkdir(parents=True, exist_ok=True)
    write(network, given, tuple(outputs), {**dict.fromkeys(given, 2), **outputs}, told.out)
    print(f"{told.out.name} {told.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
