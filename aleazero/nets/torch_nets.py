"""Networks in torch: the policy-value network for training, and value networks of kind ``torch``."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, huber_loss, layer_norm, linear, pad

from aleazero.nets.config import EPSILON, NetConfig, NetShape, ValueNetConfig, num_outputs, residual_shapes
from aleazero.nets.outcome import Column, FeatureShape
from aleazero.nets.value_kernels import link_columns
from aleazero.nets.value_net import FlatNet, Floats, Ints, Part

ROWS: Final = 64
"""Rows per forward batch. It is fixed because rounding in torch depends on the batch size."""


def make_body(shape: NetShape, config: NetConfig, seed: int) -> Body:
    """Return a network with initial weights. Small head weights make priors nearly uniform and values nearly 0."""
    state = torch.random.get_rng_state()
    try:
        torch.manual_seed(seed)
        body = Body(shape, config)
        with torch.no_grad():
            body.heads.weight.mul_(0.1)
            body.heads.bias.zero_()
    finally:
        torch.random.set_rng_state(state)
    return body


def weights_of(body: nn.Module) -> dict[str, NDArray[np.float32]]:
    """Return a copy of the weights by name."""
    return {name: np.array(tensor.detach().cpu().numpy()) for name, tensor in body.state_dict().items()}


class Body(nn.Module):
    """The policy-value network: a residual multilayer perceptron with one output layer for all heads."""

    def __init__(self, shape: NetShape, config: NetConfig) -> None:
        super().__init__()
        self.shape, self.config = shape, config
        self.input = nn.Linear(shape.observation, config.width)
        self.blocks = nn.ModuleList(Block(config.width, config.layer_norm) for _ in range(config.blocks))
        self.norm = _norm(config.width, config.layer_norm)
        self.heads = nn.Linear(config.width, num_outputs(shape, config))

    def forward(self, observations: Tensor) -> Tensor:
        """Return the outputs of all heads, shape (rows, outputs)."""
        trunk = self.input(observations)
        for block in self.blocks:
            trunk = block(trunk)
        heads: Tensor = self.heads(torch.relu(self.norm(trunk)))
        return heads


class Block(nn.Module):
    """A residual block of two layers."""

    def __init__(self, width: int, layer_norm: bool) -> None:
        super().__init__()
        self.norm = _norm(width, layer_norm)
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, trunk: Tensor) -> Tensor:
        """Add the output of the two layers to their input."""
        added: Tensor = self.second(torch.relu(self.first(self.norm(trunk))))
        return trunk + added


class TorchNet(FlatNet):
    """A residual multilayer perceptron as a value network. Its weights are views of the flat parameter vector."""

    settings = ()

    def __init__(self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> None:
        shapes = residual_shapes(shape.features, config.width, config.blocks, True, len(columns))
        if config.skip:
            shapes["skip.weight"] = (len(columns), shape.features)
        super().__init__(config, shape, columns, [_part(name, size) for name, size in shapes.items()])
        self.kernels = self._forward, self._gradient

    def _forward(self, theta: Floats, features: Floats, phases: Ints, out: Floats) -> None:
        batch = torch.zeros((ROWS, features.shape[1]))
        for own, here in _by_phase(theta, features, phases):
            rows = torch.from_numpy(features[here])
            outputs = np.empty((len(rows), len(self.columns)), np.float32)
            for first in range(0, len(rows), ROWS):
                count = min(ROWS, len(rows) - first)
                batch[:count] = rows[first : first + count]
                with torch.inference_mode():
                    outputs[first : first + count] = self._outputs(torch.from_numpy(own), batch).numpy()[:count]
            link_columns(outputs, self.table)
            out[here] = outputs

    def _gradient(
        self, theta: Floats, features: Floats, phases: Ints, targets: Floats, grad: Floats, losses: NDArray[np.float64]
    ) -> None:
        for n, (own, here) in enumerate(_by_phase(theta, features, phases)):
            flat = torch.from_numpy(own).detach().requires_grad_()
            z = self._outputs(flat, torch.from_numpy(features[here]))
            wanted = torch.from_numpy(targets[here])
            found = []
            for k, column in enumerate(self.columns):
                if column.link == "tanh":
                    loss = binary_cross_entropy_with_logits(2 * z[:, k], (wanted[:, k] + 1) / 2, reduction="sum")
                elif column.link == "sigmoid":
                    loss = binary_cross_entropy_with_logits(z[:, k], wanted[:, k], reduction="sum")
                else:
                    value = column.scale * z[:, k]
                    loss = huber_loss(value, wanted[:, k], reduction="sum", delta=column.delta) / column.scale
                found.append(column.weight * loss)
            losses += [float(loss.detach()) for loss in found]
            torch.stack(found).sum().backward()  # type: ignore[no-untyped-call]
            assert flat.grad is not None
            grad[n] += flat.grad.numpy()

    def _outputs(self, flat: Tensor, x: Tensor) -> Tensor:
        """Return the outputs z of the network, before the links of the columns."""
        torch.set_num_threads(1)
        parts, start = {}, 0
        for part in self._parts:
            size = math.prod(part.shape)
            parts[part.name] = flat[start : start + size].view(part.shape)
            start += size

        def layer(name: str, inputs: Tensor) -> Tensor:
            return _times(inputs, parts[f"{name}.weight"]) + parts[f"{name}.bias"]

        def norm(name: str, inputs: Tensor) -> Tensor:
            return layer_norm(inputs, (self.config.width,), parts[f"{name}.weight"], parts[f"{name}.bias"])

        trunk = layer("input", x)
        for b in range(self.config.blocks):
            inner = torch.relu(layer(f"blocks.{b}.first", norm(f"blocks.{b}.norm", trunk)))
            trunk = trunk + layer(f"blocks.{b}.second", inner)
        z = layer("heads", torch.relu(norm("norm", trunk)))
        return z + _times(x, parts["skip.weight"]) if self.config.skip else z


def _norm(width: int, wanted: bool) -> nn.Module:
    return nn.LayerNorm(width, eps=EPSILON) if wanted else nn.Identity()


def _times(inputs: Tensor, weight: Tensor) -> Tensor:
    """Apply a layer without bias. Rows are padded to 64 bytes because rounding in torch depends on memory alignment."""
    missing = -inputs.shape[1] % 16
    return linear(pad(inputs, (0, missing)), pad(weight, (0, missing))) if missing else linear(inputs, weight)


def _part(name: str, shape: tuple[int, ...]) -> Part:
    """Return a part with its initialization: He et al. for layers, 1 for norms, 0 for outputs and biases."""
    if name.endswith("norm.weight"):
        return Part(name, shape, middle=1.0)
    if name.endswith(".weight") and name.split(".")[0] in ("input", "blocks"):
        return Part(name, shape, spread=math.sqrt(6.0 / shape[1]))
    return Part(name, shape)


def _by_phase(theta: Floats, features: Floats, phases: Ints) -> list[tuple[Floats, Any]]:
    """Return the parameters of each phase and the rows that belong to it."""
    if len(theta) == 1:
        return [(theta[0], slice(None))]
    return [(own, np.flatnonzero(phases == phase)) for phase, own in enumerate(theta)]
