"""Checkpoints to the weights that ship: python -m training.export --base FOLDER --run FOLDER --out FOLDER HEAD...

The trunk (embeddings and the lower layers, the base's own) and each head become int8 ONNX files.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from training.bert import Base, Encoder, Finder, attention_bias
from training.train import LOWER


class Upper(nn.Module):
    """States of the trunk and the mask to logits: the trained layers and the head's own weights."""

    def __init__(self, model: Finder) -> None:
        super().__init__()
        self.model = model

    def forward(self, states: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """(batch, tokens, 2)."""
        for layer in self.model.encoder.layers[LOWER:]:
            states = layer(states, attention_bias(mask, states.dtype))
        return self.model.head(states, segments, mask)


def write(
    module: nn.Module, inputs: dict[str, Tensor], outputs: Sequence[str], dynamic: dict[str, int], path: Path
) -> None:
    """One module as an int8 ONNX file; `dynamic` says how many leading axes of each tensor may vary."""
    axes = {name: dict(enumerate(("batch", "tokens")[:count])) for name, count in dynamic.items()}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = Path(folder) / "plain.onnx"
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            str(plain),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
        # Seven bits: processors without VNNI add products of eight bits with saturation.
        quantize_dynamic(plain, path, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


def main() -> None:
    """Export the trunk and the heads that are named."""
    ask = argparse.ArgumentParser()
    ask.add_argument("heads", nargs="*", choices=["finder"])
    ask.add_argument("--base", type=Path, required=True)
    ask.add_argument("--run", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    told = ask.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    ids = torch.randint(1000, 2000, (2, 17))
    mask = torch.ones_like(ids)
    trunk = Encoder(LOWER)
    Base(told.base).into(trunk)
    given = {"ids": ids, "segments": torch.zeros_like(ids), "mask": mask}
    write(trunk, given, ["states"], dict.fromkeys((*given, "states"), 2), told.out / "trunk.onnx")
    shutil.copyfile(told.base / "tokenizer.json", told.out / "tokenizer.json")
    for name in told.heads:
        model = Finder()
        model.load_state_dict(torch.load(told.run / f"{name}.pt", weights_only=True)["model"])
        inputs = {"states": torch.rand(2, 17, 384), "segments": torch.zeros_like(ids), "mask": mask}
        leading = dict.fromkeys((*inputs, "logits"), 2)
        write(Upper(model), inputs, ["logits"], leading, told.out / f"{name}.onnx")
    for path in sorted(told.out.glob("*.onnx")):
        print(f"{path.name} {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
