"""Pairs of texts as token ids: [CLS] first [SEP] second [SEP], the second cut to a window."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

CLS, SEP, PAD = 101, 102, 0
FIRST = 48  # tokens kept of a question


def tokenizer(path: Path) -> Tokenizer:
    """The base model's tokenizer without cutting or padding."""
    loaded = Tokenizer.from_file(str(path))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


@dataclass(frozen=True)
class Pair:
    """Ids of one pair; `start` and `end` are token places for the finder (0, 0 = not stated)."""

    ids: list[int]
    first: int
    start: int = 0
    end: int = 0


def join(first: list[int], second: list[int]) -> tuple[list[int], int]:
    """Ids of the pair and how many of them belong to the first segment."""
    head = [CLS, *first, SEP]
    return [*head, *second, SEP], len(head)


def batch(pairs: list[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, segments and mask, each (batch, longest pair)."""
    longest = max(len(pair.ids) for pair in pairs)
    ids = torch.full((len(pairs), longest), PAD, dtype=torch.int64)
    segments, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, pair in enumerate(pairs):
        size = len(pair.ids)
        ids[row, :size] = torch.tensor(pair.ids)
        segments[row, pair.first : size] = 1
        mask[row, :size] = 1
    return ids, segments, mask
