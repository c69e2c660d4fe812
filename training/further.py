"""Train a network that ships on new rows, with rows that it knows beside them: a quarter of an hour instead of a training.

    python -m training.further tagger --new training/questions/aloud1.jsonl ... --known training/questions --out FILE
    python -m training.further finder --new training/stated/r1.jsonl ... --known training/stated --sets FOLDER --out FILE

What is written is the mean of the weights over the last steps, which forgets less than the last ones.
"""

from __future__ import annotations

import argparse
import copy
import random
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from citegraph.encoder.multilingual import BEGIN, END, PADDING, unpacked, words
from training import finder, rows, tagger
from training.base import Base, base_file
from training.export import read, write
from training.network import Trunk, learn, matrices

Row = TypeVar("Row")
Net = TypeVar("Net", bound=nn.Module)
RATE, BATCH, POOL = 5e-5, 16, 256
NEW, KNOWN = 0.42, 0.30
"""Shares of a batch that are new rows, and rows of fresh writers that the network knows; the rest is of public sets."""
KEPT = 0.995
"""Share of the mean of the weights that a step keeps."""


class Tagger(tagger.Network):
    """The tagger as it ships: without the heads that tell of which field words speak."""

    def forward(self, words: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Logits of the intent, of each piece's slot, and that a program is spoken to."""
        return super().forward(words, mask)[:3]


def drawn(pools: Sequence[tuple[float, Sequence[Row]]], size: Callable[[Row], int]) -> Iterator[list[Row]]:
    """Yield batches of rows of like length without end, each drawn from a pool by its share."""
    shares = [share for share, pool in pools if pool]
    held = [pool for _, pool in pools if pool]
    while True:
        taken = [random.choice(random.choices(held, shares)[0]) for _ in range(POOL)]
        taken.sort(key=size)
        batches = [taken[at : at + BATCH] for at in range(0, POOL, BATCH)]
        random.shuffle(batches)
        yield from batches


def averaged(network: nn.Module, mean: nn.Module, losses: Iterator[Tensor], steps: int) -> Iterator[Tensor]:
    """Yield the losses of some steps, and draw the mean of the weights after the network before each."""
    for step, loss in zip(range(steps), losses, strict=False):
        kept = min(KEPT, (1 + step) / (10 + step))
        with torch.no_grad():
            for held, now in zip(mean.parameters(), network.parameters(), strict=True):
                held.lerp_(now, 1 - kept)
        yield loss


def train(network: Net, trunk: Trunk, loss_of: Callable[[Net], Iterator[Tensor]], steps: int) -> Net:
    """Return the mean of a network's weights over some steps."""
    mean = copy.deepcopy(network)
    learn(network, trunk, averaged(network, mean, loss_of(network), steps), steps, RATE)
    return mean


def main() -> None:
    """Train on, and write the weights."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("network", choices=("tagger", "finder"))
    ask.add_argument("--new", type=Path, nargs="+", required=True, help="files of new rows")
    ask.add_argument("--known", type=Path, nargs="+", required=True, help="folders of rows that it learned")
    ask.add_argument("--sets", type=Path, help="folder of the public sets (finder)")
    ask.add_argument("--steps", type=int, default=900)
    ask.add_argument("--out", type=Path, required=True)
    told = ask.parse_args()
    random.seed(7)
    torch.manual_seed(7)
    vectors = torch.tensor(unpacked(words()[:]))
    shipped = Path(str(resources.files("citegraph.encoder") / "weights"))
    known = sorted({path for folder in told.known for path in folder.glob("*.jsonl")} - set(told.new))
    if told.network == "tagger":
        pools = [
            (share, [row for path in paths for row in tagger.rows_of(path)])
            for share, paths in ((NEW, told.new), (1 - NEW, known))
        ]
        net = Tagger(Base(base_file()))
        unused = ("trunk.second", "speaks", "nothing", "spoken_of", "scale")
        read(net, matrices("slot", "intent", "addressed"), shipped / "multilingual.onnx", without=unused)

        def tagged(network: Tagger) -> Iterator[Tensor]:
            for batch in drawn(pools, lambda row: len(row.ids)):
                (side_by_side,) = tagger.batches(batch)
                yield tagger.loss_of(network, vectors, side_by_side)

        mean: nn.Module = train(net, net.trunk, tagged, told.steps)
        given = {"words": vectors[torch.tensor([[BEGIN, 5, 6, END], [BEGIN, 5, END, PADDING]])]}
        given["mask"] = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
        axes = {"intents": 1, "slots": 2, "addressed": 1}
    else:
        public = rows.public_rows(told.sets) if told.sets else []
        asked = [
            (share, [row for path in paths for row in rows.stated(path)])
            for share, paths in ((NEW, told.new), (KNOWN, known))
        ]
        asked.append((1 - NEW - KNOWN, public))
        spans = finder.Network(Base(base_file()))
        read(spans, matrices("ends"), shipped / "finder.onnx")

        def found(network: finder.Network) -> Iterator[Tensor]:
            for batch in drawn(asked, lambda row: len(row.passage)):
                read_rows = [row for one in batch if (row := finder.row_of(one)) is not None]
                yield finder.loss_of(network, vectors, read_rows)

        mean = train(spans, spans.trunk, found, told.steps)
        ids = torch.tensor([[BEGIN, 5, END, END, 6, END], [BEGIN, 5, END, END, END, PADDING]])
        given = {"words": vectors[ids], "mask": (ids != PADDING).long(), "side": (ids == 6).long()}
        axes = {"logits": 2}
    write(mean, given, tuple(axes), {**dict.fromkeys(given, 2), **axes}, told.out)
    print(f"{told.out.name} {told.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
