"""Inference of policy-value networks with onnxruntime or torch: logits and values from observations.

The result of a row must not depend on the other rows of its batch, because a game must not depend on the games that
are searched with it. onnxruntime has this property for every batch size. torch has it for batches of at least
``TORCH_ROWS`` rows, so smaller ones are padded. The ONNX graph is built from the weights, so playing needs no torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import ESTIMATE, NONE, Game
from aleazero.native.compile import cached_njit
from aleazero.nets.checkpoint import PolicyValueInfo, TableInfo, Weights, kind_of, read_checkpoint, require_match
from aleazero.nets.config import EPSILON

if TYPE_CHECKING:
    from aleazero.nets.planned import PlannedEvaluator

Floats = NDArray[np.float32]
INFERENCES: Final = ("onnxruntime", "torch")
TORCH_ROWS: Final = 8


def load_net(
    path: str | Path, game: Game, inference: str | None = None, prior_temperature: float | None = None
) -> Net | PlannedEvaluator:
    """Load a network from a checkpoint, as an evaluator for ``Search``, ``Forest`` and ``Planner``.

    A policy-value network (recipe ``alphazero``) is called with observations. A value network or n-tuple tables
    (recipe ``afterstate``) value states between turns; at other states the evaluator plans the rest of the turn. The
    method ``horizon()`` of such an evaluator returns the arguments of the ``Planner`` that match its training.

    Args:
        path: checkpoint file.
        game: the game that the network was trained on.
        inference: library that evaluates a policy-value network, ``"onnxruntime"`` (default) or ``"torch"``.
        prior_temperature: temperature of the priors of a value network, as a fraction of the range of returns; None
            for the default, 0.01.

    Returns:
        The network.

    Raises:
        CheckpointError: the file cannot be read, is damaged, or contains a network that was trained on another game,
            other parameters, other rules or another observation.
        ConfigError: an argument is invalid, or does not apply to the kind of network in the file.
    """
    kind = kind_of(Path(path))
    if kind is PolicyValueInfo:
        if prior_temperature is not None:
            text = f"is {prior_temperature}, expected none: {path} has its own priors"
            raise ConfigError(text, field="prior_temperature")
        return load_policy_net(path, game, inference)
    from aleazero.nets.planned import PlannedEvaluator

    if inference is not None:
        raise ConfigError(f"is {inference!r}, expected none: value networks do not use it", field="inference")
    return PlannedEvaluator.load(path, game, prior_temperature, tables=kind is TableInfo)


def load_policy_net(path: str | Path, game: Game, inference: str | None = None) -> Net:
    """Load a policy-value network, as ``load_net`` does; any other network raises ``CheckpointError``."""
    weights, about = read_checkpoint(Path(path), PolicyValueInfo)
    require_match(about, game, str(path))
    return Net(weights, about, inference or INFERENCES[0])


class Net:
    """A policy-value network with fixed weights, which is also an evaluator.

    Values are ordered by seat relative to the viewer of the observation: column 0 is the viewer, column 1 the player
    after it, and so on.

    Attributes:
        about: metadata of the checkpoint.
        inference: ``"onnxruntime"`` or ``"torch"``.
        afterstates: whether the network evaluates chance nodes, ``ESTIMATE`` or ``NONE``.
    """

    any_size = True
    """The result of a row does not depend on the batch size, so a forest need not pad batches."""

    def __init__(self, weights: Weights, about: PolicyValueInfo, inference: str = "onnxruntime") -> None:
        if inference not in INFERENCES:
            raise ConfigError(f"inference is {inference!r}, expected onnxruntime or torch")
        self.about, self.inference = about, inference
        make_forward = _onnxruntime_forward if inference == "onnxruntime" else _torch_forward
        self._forward = make_forward(weights, about)
        self.afterstates = ESTIMATE if about.net.afterstates else NONE
        scale = about.values
        margin = scale.margin if about.net.margin else 0.0
        self._scale = (scale.kind == "win", margin, scale.spread, scale.shift, scale.scale)

    def predict_single(self, observation: Floats) -> tuple[Floats, Floats]:
        """Evaluate one decision node.

        Args:
            observation: shape (observation size,).

        Returns:
            Logits, shape (actions,), and values by seat relative to the viewer, shape (players,).
        """
        logits, values = self.predict_batch(np.asarray(observation, np.float32)[None, :])
        return logits[0], values[0]

    def predict_batch(self, observations: Floats) -> tuple[Floats, Floats]:
        """Evaluate decision nodes.

        Args:
            observations: shape (batch, observation size).

        Returns:
            Logits, shape (batch, actions), and values by seat relative to the viewer, shape (batch, players).

        Raises:
            ConfigError: ``observations`` has another shape.
        """
        return self(observations, np.ones((len(observations), 1), np.bool_))

    def predict_afterstates(self, observations: Floats) -> Floats:
        """Evaluate chance nodes.

        Args:
            observations: shape (batch, observation size).

        Returns:
            Values by seat relative to the viewer, shape (batch, players).

        Raises:
            ConfigError: the network has no afterstate head, or ``observations`` has another shape.
        """
        if not self.afterstates:
            raise ConfigError("the network has no head for afterstates, expected one trained with afterstates=True")
        return self(observations, np.zeros((len(observations), 1), np.bool_))[1]

    def __call__(self, observations: Floats, legal_masks: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Evaluate decision nodes and afterstates in one batch.

        Args:
            observations: shape (batch, observation size).
            legal_masks: shape (batch, actions); a row without a legal action is an afterstate.

        Returns:
            Logits, shape (batch, actions), and values by seat relative to the viewer, shape (batch, players).

        Raises:
            ConfigError: ``observations`` has another shape.
        """
        observations = np.ascontiguousarray(observations, np.float32)
        if observations.ndim != 2 or observations.shape[1] != self.about.shape.observation:
            wanted = ("B", self.about.shape.observation)
            raise ConfigError(f"observations have shape {observations.shape}, expected {wanted}")
        heads = self._forward(observations)
        actions, players = self.about.shape.actions, self.about.shape.players
        values = np.empty((len(heads), players), np.float32)
        afterstates = actions + players if self.about.net.afterstates else actions
        _read_values(heads, legal_masks, actions, afterstates, *self._scale, values)
        return heads[:, :actions], values


@cached_njit(nogil=True)
def _read_values(heads: Any, masks: Any, decisions: int, afterstates: int, wins: bool, margin: float, spread: float,
                 shift: float, scale: float, out: Any) -> None:  # fmt: skip
    """Convert the outputs of the network to returns.

    ``decisions`` and ``afterstates`` are the first columns of the two value heads. This loop handles one number at a
    time because vectorized numpy functions may round the last elements of an array differently.
    """
    players = out.shape[1]
    scores = heads.shape[1] - players
    lowest = -1.0 / max(1, players - 1)  # return of a loss
    middle, half = 0.5 * (1.0 + lowest), 0.5 * (1.0 - lowest)
    for row in range(len(heads)):
        decides = False
        for action in range(masks.shape[1]):
            decides = decides or masks[row, action]
        start = decisions if decides else afterstates
        total = 0.0
        for seat in range(players):
            raw = np.float64(heads[row, start + seat])
            out[row, seat] = middle + half * math.tanh(raw) if wins else shift + scale * raw
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


def _onnxruntime_forward(weights: Weights, about: PolicyValueInfo) -> Callable[[Floats], Floats]:
    """Return the forward pass in onnxruntime, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(_onnx_model(weights, about), options, providers=["CPUExecutionProvider"])

    def forward(observations: Floats) -> Floats:
        heads: Floats = session.run(None, {"observations": observations})[0]
        return heads

    return forward


def _onnx_model(weights: Weights, about: PolicyValueInfo) -> bytes:
    """Return a serialized ONNX model from ``observations`` (rows, size) to ``heads`` (rows, outputs)."""
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
    serialized: bytes = model.SerializeToString()
    return serialized


def _torch_forward(weights: Weights, about: PolicyValueInfo) -> Callable[[Floats], Floats]:
    """Return the forward pass in torch, on one CPU thread: several would split rows depending on the batch size."""
    import torch

    from aleazero.nets.torch_nets import Body

    body = Body(about.shape, about.net)
    body.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
    body.eval()
    torch.set_num_threads(1)

    def forward(observations: Floats) -> Floats:
        rows = len(observations)
        if rows < TORCH_ROWS:
            observations = np.pad(observations, ((0, TORCH_ROWS - rows), (0, 0)))
        with torch.inference_mode():
            heads: Floats = body(torch.from_numpy(observations)).numpy()
        return heads[:rows]

    return forward
