"""Inference of policy-value networks: logits and values from observations, by onnxruntime or torch.

The bits of a row must not depend on the other rows of its batch, or a game would depend on the games that are searched
with it. With onnxruntime they do not, in batches of any size. With torch they do not in batches of at least
``TORCH_ROWS``, so smaller ones are padded. The ONNX graph is built from the weights themselves: playing needs no torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import ESTIMATE, NONE, Game
from aleazero.native.compile import cached_njit
from aleazero.nets.checkpoint import PolicyValueInfo, Weights, read_checkpoint, require_match
from aleazero.nets.config import EPSILON

Floats = NDArray[np.float32]
INFERENCES: Final = ("onnxruntime", "torch")
TORCH_ROWS: Final = 8


def load_net(path: str | Path, game: Game, inference: str = "onnxruntime") -> Net:
    """The network of a checkpoint, if it was trained on this game, by these rules, from these observations."""
    weights, about = read_checkpoint(Path(path))
    require_match(about, game, str(path))
    return Net(weights, about, inference)


class Net:
    """A network with fixed weights. As an evaluator it is called with observations and legal masks."""

    any_size = True
    """Rows stand by themselves in batches of any size, so a forest need not fill them up."""

    def __init__(self, weights: Weights, about: PolicyValueInfo, inference: str = "onnxruntime") -> None:
        if inference not in INFERENCES:
            raise ConfigError(f"inference is {inference!r}, expected onnxruntime or torch")
        self.about, self.inference = about, inference
        self._heads: Callable[[Floats], Floats] = (_by_onnxruntime if inference == "onnxruntime" else _by_torch)(
            weights, about
        )
        self.afterstates = ESTIMATE if about.net.afterstates else NONE
        scale = about.values
        margin = scale.margin if about.net.margin else 0.0
        self._scale = (scale.kind == "win", margin, scale.spread, scale.shift, scale.scale)

    def predict_single(self, observation: Floats) -> tuple[Floats, Floats]:
        """Logits (actions,) and values (players,) of a decision."""
        logits, values = self.predict_batch(np.asarray(observation, np.float32)[None, :])
        return logits[0], values[0]

    def predict_batch(self, observations: Floats) -> tuple[Floats, Floats]:
        """Logits (B, actions) and values (B, players) of decisions."""
        return self(observations, np.ones((len(observations), 1), np.bool_))

    def predict_afterstates(self, observations: Floats) -> Floats:
        """Values (B, players) of chance nodes."""
        if not self.afterstates:
            raise ConfigError("the network has no head for afterstates, expected one trained with afterstates=True")
        return self(observations, np.zeros((len(observations), 1), np.bool_))[1]

    def __call__(self, observations: Floats, legal_masks: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Logits and values; rows without a legal action are afterstates."""
        observations = np.ascontiguousarray(observations, np.float32)
        if observations.ndim != 2 or observations.shape[1] != self.about.shape.observation:
            wanted = ("B", self.about.shape.observation)
            raise ConfigError(f"observations have shape {observations.shape}, expected {wanted}")
        heads = self._heads(observations)
        actions, players = self.about.shape.actions, self.about.shape.players
        values = np.empty((len(heads), players), np.float32)
        behind = actions + players if self.about.net.afterstates else actions
        _read_values(heads, legal_masks, actions, behind, *self._scale, values)
        return heads[:, :actions], values


def make_graph(weights: Weights, about: PolicyValueInfo) -> bytes:
    """A model from ``observations`` (rows, size) to ``heads`` (rows, outputs), serialised."""
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []

    def add(operation: str, name: str, *inputs: str, **settings: Any) -> str:
        nodes.append(helper.make_node(operation, list(inputs), [name], name=name, **settings))
        return name

    def linear(name: str, inputs: str) -> str:
        return add("Gemm", f"{name}.out", inputs, f"{name}.weight", f"{name}.bias", transB=1)

    def norm(name: str, inputs: str) -> str:
        if not about.net.layer_norm:
            return inputs
        return add("LayerNormalization", f"{name}.out", inputs, f"{name}.weight", f"{name}.bias", epsilon=EPSILON)

    trunk = linear("input", "observations")
    for b in range(about.net.blocks):
        inner = linear(f"blocks.{b}.first", norm(f"blocks.{b}.norm", trunk))
        inner = linear(f"blocks.{b}.second", add("Relu", f"blocks.{b}.relu", inner))
        trunk = add("Add", f"blocks.{b}.out", trunk, inner)
    heads = linear("heads", add("Relu", "relu", norm("norm", trunk)))
    nodes[-1].output[0] = "heads"
    assert heads == "heads.out"
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("observations", TensorProto.FLOAT, ["rows", about.shape.observation])],
        [helper.make_tensor_value_info("heads", TensorProto.FLOAT, ["rows", len(weights["heads.bias"])])],
        [numpy_helper.from_array(array, name) for name, array in sorted(weights.items())],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    serialised: bytes = model.SerializeToString()
    return serialised


@cached_njit(nogil=True)
def _read_values(heads: Any, masks: Any, first: int, behind: int, wins: bool, margin: float, spread: float,
                 shift: float, scale: float, out: Any) -> None:  # fmt: skip
    """From heads to returns; ``first`` is where the values of decisions stand, ``behind`` those of afterstates.

    One number at a time: numpy's vectors may round another way at their ends.
    """
    players = out.shape[1]
    scores = heads.shape[1] - players
    lowest = -1.0 / max(1, players - 1)  # of a win game's returns
    middle, half = 0.5 * (1.0 + lowest), 0.5 * (1.0 - lowest)
    for row in range(len(heads)):
        decides = False
        for action in range(masks.shape[1]):
            decides = decides or masks[row, action]
        start = first if decides else behind
        total = 0.0
        for seat in range(players):
            said = np.float64(heads[row, start + seat])
            out[row, seat] = middle + half * math.tanh(said) if wins else shift + scale * said
            total += np.float64(heads[row, scores + seat])
        if wins and players == 2:
            ahead = 0.5 * (np.float64(out[row, 0]) - np.float64(out[row, 1]))
            out[row, 0] = ahead
            out[row, 1] = -ahead
        if wins and margin > 0.0:
            for seat in range(players):
                own = np.float64(heads[row, scores + seat])
                lead = middle + half * math.tanh((own - (total - own) / (players - 1)) / spread)
                out[row, seat] = (1.0 - margin) * out[row, seat] + margin * lead


def _by_onnxruntime(weights: Weights, about: PolicyValueInfo) -> Callable[[Floats], Floats]:
    """The forward pass, on one thread of its own."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(make_graph(weights, about), options, providers=["CPUExecutionProvider"])

    def heads(observations: Floats) -> Floats:
        found: Floats = session.run(None, {"observations": observations})[0]
        return found

    return heads


def _by_torch(weights: Weights, about: PolicyValueInfo) -> Callable[[Floats], Floats]:
    """The forward pass in torch, on one thread of the processor: more would share rows out by the size of a batch."""
    import torch

    from aleazero.nets.torch_nets import Body

    body = Body(about.shape, about.net)
    body.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
    body.eval()
    torch.set_num_threads(1)

    def heads(observations: Floats) -> Floats:
        rows = len(observations)
        if rows < TORCH_ROWS:
            observations = np.concatenate(
                (observations, np.zeros((TORCH_ROWS - rows, observations.shape[1]), np.float32))
            )
        with torch.inference_mode():
            found: Floats = body(torch.from_numpy(observations)).numpy()
        return found[:rows]

    return heads
