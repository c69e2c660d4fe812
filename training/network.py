"""The twelve layers of multilingual-e5-small, on which the heads of the tagger and of the finder are trained."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from training.base import Base, Layer

LAYERS, DROPPED = 12, 0.1


class Trunk(nn.Module):
    """Vectors of words (batch, pieces, width) to states of the same shape; the places' vectors stay as they are.

    `side` (batch, pieces) is 1 where a piece belongs to the second of two texts: those get a vector of their own.
    """

    def __init__(self, base: Base) -> None:
        super().__init__()
        self.places = nn.Parameter(base.tensor("emb.pos", base.places, base.width), requires_grad=False)
        self.kind = nn.Parameter(base.tensor("emb.type", base.kinds, base.width)[0], requires_grad=False)
        self.second = nn.Parameter(torch.zeros(base.width))
        self.norm = nn.LayerNorm(base.width, eps=1e-12)
        self.norm.weight.data = base.tensor("emb.ln.w", base.width)
        self.norm.bias.data = base.tensor("emb.ln.b", base.width)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for place, layer in enumerate(self.layers):
            base.into(layer, place)
        self.dropped = nn.Dropout(DROPPED)

    def forward(self, words: Tensor, mask: Tensor, side: Tensor | None = None) -> Tensor:
        """States (batch, pieces, width)."""
        given = words + self.places[: words.shape[1]] + self.kind
        if side is not None:
            given = given + side[..., None].to(given.dtype) * self.second
        states: Tensor = self.dropped(self.norm(given))
        bias = ((1.0 - mask.to(states.dtype)) * -1e4)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, bias)
        return states


def matrices(*heads: str) -> list[str]:
    """Return the names of a network's matrices in the order in which it multiplies by them: those of the trunk, then its heads'."""
    parts = ("query_key_value", "merge", "widen", "narrow")
    trunk = [f"trunk.layers.{layer}.{part}.weight" for layer in range(LAYERS) for part in parts]
    return [*trunk, *(f"{head}.weight" for head in heads)]


def learn(network: nn.Module, trunk: Trunk, losses: Iterable[Tensor], steps: int, rate: float) -> None:
    """Take a step for each loss; the trunk's layers learn slowly, the heads beside it ten times as fast.

    The rate rises over the first tenth of the steps and falls to nothing at the last.
    """
    upper = [weight for weight in trunk.parameters() if weight.requires_grad]
    own = {id(weight) for weight in trunk.parameters()}
    heads = [weight for weight in network.parameters() if id(weight) not in own]
    optimizer = torch.optim.AdamW(
        [{"params": upper, "lr": rate}, {"params": heads, "lr": 10 * rate}], weight_decay=0.01, fused=True
    )
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * max(0.02, 1 - step / steps)
    )
    network.train()
    lost, told = 0.0, max(1, steps // 40)
    for step, loss in enumerate(losses, start=1):
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*upper, *heads], 1.0)
        optimizer.step()
        plan.step()
        lost += loss.item()
        if step % told == 0:
            print(f"step {step} of {steps}: loss {lost / told:.3f}", flush=True)
            lost = 0.0


def alike(sizes: Sequence[int], batch: int) -> list[list[int]]:
    """Return all places in a drawn order, in batches of like size: padding costs as much as text."""
    order = random.sample(range(len(sizes)), len(sizes))
    pools = (order[at : at + 16 * batch] for at in range(0, len(order), 16 * batch))
    whole = [sorted(pool, key=lambda place: sizes[place]) for pool in pools]
    drawn = [pool[at : at + batch] for pool in whole for at in range(0, len(pool), batch)]
    random.shuffle(drawn)
    return drawn
