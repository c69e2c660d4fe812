"""A trained network as the file that ships: ONNX with weights of eight bits."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn


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
