"""A trained network as the file that ships, ONNX with weights of eight bits, and back: what is trained on begins there."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
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


def read(module: nn.Module, weights: Sequence[str], path: Path, *, without: Sequence[str] = ()) -> None:
    """Fill a module with the weights of a file that `write` made; KeyError where it lacks one.

    Args:
        weights: names of the matrices in the order in which the network multiplies by them; the file gives them others.
        without: beginnings of the names of weights that the file may lack, which stay as they are.
    """
    graph = onnx.load(path).graph
    held = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    products = [node.input[1] for node in graph.node if node.op_type == "MatMulInteger"]
    state = module.state_dict()
    for name, stored in zip(weights, products, strict=True):
        place = stored.removesuffix("_quantized")
        whole = held[stored].astype("float32") - held[f"{place}_zero_point"].astype("float32")
        state[name] = torch.tensor((whole * held[f"{place}_scale"]).T.copy())
    for name in state.keys() - set(weights):
        place = name if name in held else name.removeprefix("trunk.")
        if place in held or not name.startswith(tuple(without)):
            state[name] = torch.tensor(held[place].copy())
    module.load_state_dict(state)
