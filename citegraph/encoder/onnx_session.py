"""The encoder on onnxruntime: one trunk that all heads share, one head for each task, opened when first used."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy

from citegraph.encoder.tokens import WEIGHTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from citegraph.encoder.tokens import Batch

_OPENING = threading.Lock()


@cache
def _opened(name: str, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning threads would take the cores that search and the readers need between two questions.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(WEIGHTS / f"{name}.onnx"), options, providers=["CPUExecutionProvider"]
    )


def _session(name: str, threads: int) -> Any:
    with _OPENING:  # two first questions at once would open the file twice
        return _opened(name, threads)


class Head:
    """One head over the shared trunk. Opens nothing until `run`; safe to call from several threads.

    `threads` is the number of processor threads that one call may use.
    """

    def __init__(self, name: str, threads: int = 1) -> None:
        self._name = name
        self._threads = threads

    def run(self, batch: Batch) -> NDArray[numpy.float32]:
        """The head's logits: (windows, tokens, 2) of the finder, (windows, 3) of the checker."""
        given = {"ids": batch.ids, "segments": batch.segments, "mask": batch.mask}
        (states,) = _session("trunk", self._threads).run(None, given)
        head = _session(self._name, self._threads)
        known = {**given, "states": states}
        (logits,) = head.run(None, {wanted.name: known[wanted.name] for wanted in head.get_inputs()})
        found: NDArray[numpy.float32] = logits
        return found
