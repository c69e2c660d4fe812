"""Train one head: python -m training.train finder --sets FOLDER --base FOLDER --out FOLDER.

Saves a checkpoint every few minutes and goes on from it when called again; a smaller --rows ends sooner.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from functools import cache
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from training import rows, windows
from training.bert import Base, Finder
from training.windows import Pair

WINDOW = 192
LOWER = 2  # layers of the base that stay as they are, shared by all heads


class FinderPairs:
    """Finder rows as windows: around an answer, at a random place when nothing is stated, now and then beside it."""

    def __init__(self, tokens: windows.Tokenizer, seed: int) -> None:
        self.tokens = tokens
        self.rng = random.Random(seed)

    def __call__(self, row: rows.Asked) -> Pair | None:
        """One window of a row; None when its answer does not fit."""
        question = self.tokens.encode(row.question, add_special_tokens=False).ids[: windows.FIRST]
        passage = self.tokens.encode(row.passage, add_special_tokens=False)
        room = (
            self.rng.choice((128, 128, 128, WINDOW)) - len(question) - 3
        )  # a short window costs half as much
        offsets, size = passage.offsets, len(passage.ids)
        if not row.answers:
            at = self.rng.randint(0, max(0, size - room))
            ids, first = windows.join(question, passage.ids[at : at + room])
            return Pair(ids, first)
        start_char, end_char = self.rng.choice(row.answers)
        start = next((i for i, (_, end) in enumerate(offsets) if end > start_char), None)
        end = next((i for i in range(size - 1, -1, -1) if offsets[i][0] < end_char), None)
        if start is None or end is None or end < start or end - start >= room - 8:
            return None
        if size > 2 * room and self.rng.random() < 0.15:
            spots = [
                at
                for at in range(0, size - room, room // 2)
                if all(offsets[at][0] >= e or offsets[at + room - 1][1] <= s for s, e in row.answers)
            ]
            if spots:
                at = self.rng.choice(spots)
                ids, first = windows.join(question, passage.ids[at : at + room])
                return Pair(ids, first)
        at = self.rng.randint(max(0, end - room + 1), min(start, max(0, size - room)))
        ids, first = windows.join(question, passage.ids[at : at + room])
        return Pair(ids, first, first + start - at, first + end - at)


def finder_loss(model: Finder, pairs: list[Pair]) -> Tensor:
    """Cross-entropy of start and end over the passage's tokens and token 0."""
    ids, segments, mask = windows.batch(pairs)
    start, end = model(ids, segments, mask)
    allowed = (segments == 1) & (mask == 1)
    allowed[:, 0] = True
    for row, pair in enumerate(pairs):
        allowed[row, len(pair.ids) - 1] = False
    start, end = (logits.float().masked_fill(~allowed, -1e4) for logits in (start, end))
    return (
        functional.cross_entropy(start, torch.tensor([p.start for p in pairs]))
        + functional.cross_entropy(end, torch.tensor([p.end for p in pairs]))
    ) / 2


def arguments() -> argparse.Namespace:
    """What the command line says."""
    ask = argparse.ArgumentParser()
    ask.add_argument("head", choices=["finder"])
    ask.add_argument("--sets", type=Path, required=True)
    ask.add_argument("--base", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--rows", type=int, default=50_000)
    ask.add_argument("--rate", type=float, default=2e-4)
    ask.add_argument("--batch", type=int, default=24)
    ask.add_argument("--save", type=int, default=240, help="seconds between checkpoints")
    ask.add_argument("--threads", type=int, default=1)
    ask.add_argument("--seed", type=int, default=7)
    ask.add_argument("--fp32", action="store_true", help="no bfloat16: slower, for processors without it")
    return ask.parse_args()


class Training:
    """A head with its optimizer and how many rows it has seen; `spent` is seconds of processor over all calls."""

    def __init__(self, told: argparse.Namespace) -> None:
        self.told = told
        self.model = Finder()
        Base(told.base).into(self.model.encoder)
        self.model.encoder.freeze(LOWER)
        body = [w for w in self.model.encoder.parameters() if w.requires_grad]
        top = [w for name, w in self.model.named_parameters() if not name.startswith("encoder.")]
        self.weights = body + top
        groups = [{"params": body, "scale": 1.0}, {"params": top, "scale": 5.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=told.rate, weight_decay=0.01, betas=(0.9, 0.98))
        self.file = told.out / f"{told.head}.pt"
        self.done, self.before, self.losses = 0, 0.0, [0.0]
        if self.file.exists():
            saved = torch.load(self.file, weights_only=True)
            self.model.load_state_dict(saved["model"])
            self.optimizer.load_state_dict(saved["optimizer"])
            self.done, self.before = saved["done"], saved["spent"]
        tokens = windows.tokenizer(told.base / "tokenizer.json")
        self.pair = FinderPairs(tokens, told.seed + self.done)

    @property
    def spent(self) -> float:
        """Seconds of processor so far."""
        return self.before + time.process_time()

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save({**state, "done": self.done, "spent": self.spent}, self.file.with_suffix(".new"))
        os.replace(self.file.with_suffix(".new"), self.file)

    def run(self) -> None:
        """Go on until `--rows` rows are done."""
        saved_at = time.monotonic()
        while self.done < self.told.rows:
            self.chunk(self.rows())
            line = {"rows": self.done, "loss": round(sum(self.losses[-40:]) / len(self.losses[-40:]), 3)}
            print(
                json.dumps({**line, "cpu": round(self.spent), "clock": time.strftime("%H:%M:%S")}), flush=True
            )
            if time.monotonic() - saved_at > self.told.save or self.done >= self.told.rows:
                self.save()
                saved_at = time.monotonic()

    def rows(self) -> list[rows.Asked]:
        """The next rows: a pass is shuffled by its number alone, so that a later call goes on where one stops."""
        source = _pass(self.told.sets, self.told.seed)
        number, place = divmod(self.done, len(source))
        if number:
            source = _pass(self.told.sets, self.told.seed + 100 * number)
        left = self.told.rows - self.done
        return source[place : place + min(self.told.batch * 40, left)]

    def chunk(self, some: list[rows.Asked]) -> None:
        """Learn from rows in batches of like length, in random order."""
        size = self.told.batch
        pairs = sorted(filter(None, map(self.pair, some)), key=lambda pair: len(pair.ids))
        batches = [pairs[at : at + size] for at in range(0, len(pairs), size)]
        random.Random(self.done).shuffle(batches)
        for number, batch in enumerate(batches):
            self.step(batch, self.done + number * len(some) / len(batches))
        self.done += len(some)

    def step(self, batch: list[Pair], done: float) -> None:
        """One batch; the rate rises over the first rows and falls to nothing at `--rows`."""
        progress = done / self.told.rows
        rate = self.told.rate * max(0.0, min(1.0, progress / 0.06, (1 - progress) / 0.94))
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        with torch.autocast("cpu", torch.bfloat16, enabled=not self.told.fp32):
            loss = finder_loss(self.model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.losses.append(loss.item())


@cache
def _pass(sets: Path, seed: int) -> list[rows.Asked]:
    return rows.finder_rows(sets, seed)


def main() -> None:
    """Train one head until `--rows` rows are done, from its checkpoint when there is one."""
    told = arguments()
    torch.set_num_threads(told.threads)
    torch.manual_seed(told.seed)
    told.out.mkdir(parents=True, exist_ok=True)
    Training(told).run()


if __name__ == "__main__":
    main()
