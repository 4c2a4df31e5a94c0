"""Value networks with one flat parameter vector: their base class, and the compiled kinds ``mlp`` and ``towers``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.nets.config import ValueNetConfig
from aleazero.nets.outcome import Column, FeatureShape, as_table
from aleazero.nets.value_kernels import mlp_forward, mlp_gradient, towers_forward, towers_gradient

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
_NO_PHASES: Final = np.empty(0, np.int64)


def make_value_net(config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> FlatNet:
    """Return the network for these settings."""
    if not columns:
        raise ConfigError("a value network has no columns, expected at least one")
    if config.kind == "torch":
        try:
            from aleazero.nets.torch_nets import TorchNet  # here, because it imports torch
        except ImportError:
            problem = "torch is not installed, expected it for a value network of kind torch"
            raise ConfigError(f"{problem}: pip install 'aleazero[train]'") from None
        return TorchNet(config, shape, columns)
    return (Mlp if config.kind == "mlp" else Towers)(config, shape, columns)


class FlatNet:
    """A value network with one flat float32 parameter vector. A subclass defines its parts and its kernels."""

    settings: tuple[Any, ...]
    """Arguments of the kernels between the parameters and the rows."""
    kernels: tuple[Callable[..., None], Callable[..., None]]
    """The forward pass and the gradient."""

    def __init__(
        self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...], parts: Sequence[Part]
    ) -> None:
        self.config, self.shape, self.columns, self.table = config, shape, columns, as_table(columns)
        self._parts = tuple(parts)
        self._one = sum(math.prod(part.shape) for part in parts)
        self.size = config.phases * self._one
        """Total number of parameters."""

    def initial(self, seed: int) -> Floats:
        """Return initial parameters: random in the layers, 0 in the outputs, so that all values start at 0."""
        generator = np.random.Generator(np.random.PCG64(seed))
        theta = np.zeros((self.config.phases, self._one), np.float32)
        for phase in theta:
            for part, view in self._views(phase):
                low, high = part.middle - part.spread, part.middle + part.spread
                view[:] = generator.uniform(low, high, part.shape) if part.spread else part.middle
        return theta.ravel()

    def forward(self, theta: Floats, features: Floats, phases: Ints | None = None) -> Floats:
        """Return columns (rows, K) for features (rows, F). With several networks, ``phases`` selects one per row."""
        features, phases = self._rows(features, phases)
        out = np.empty((len(features), len(self.columns)), np.float32)
        self.kernels[0](self._by_phase(theta), *self.settings, features, phases, out)
        return out

    def gradient(
        self, theta: Floats, features: Floats, targets: Floats, out: Floats, phases: Ints | None = None
    ) -> NDArray[np.float64]:
        """Add the gradient of the summed loss to ``out`` and return the summed losses by column."""
        features, phases = self._rows(features, phases)
        targets = np.ascontiguousarray(targets, np.float32)
        if targets.shape != (len(features), len(self.columns)):
            raise ConfigError(f"targets have shape {targets.shape}, expected {(len(features), len(self.columns))}")
        losses = np.zeros(len(self.columns))
        self.kernels[1](self._by_phase(theta), *self.settings, features, phases, targets, self._by_phase(out), losses)
        return losses

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every tensor by name."""
        return {name: part.shape for name, part, _ in self._tensors(np.empty(self.size, np.float32))}

    def tensors(self, theta: Floats) -> dict[str, Floats]:
        """Return the parameters by name, each as (outputs, inputs)."""
        return {name: np.array(view) for name, _, view in self._tensors(theta)}

    def flatten(self, tensors: Mapping[str, Floats]) -> Floats:
        """Return the parameter vector of these tensors."""
        theta = np.empty(self.size, np.float32)
        for name, _, view in self._tensors(theta):
            view[:] = tensors[name]
        return theta

    def _by_phase(self, theta: Floats) -> Floats:
        if theta.shape != (self.size,) or theta.dtype != np.float32 or not theta.flags.c_contiguous:
            raise ConfigError(f"parameters are {theta.dtype} {theta.shape}, expected float32 {(self.size,)}")
        return theta.reshape(self.config.phases, self._one)

    def _rows(self, features: Floats, phases: Ints | None) -> tuple[Floats, Ints]:
        features = np.ascontiguousarray(features, np.float32)
        if features.ndim != 2 or features.shape[1] != self.shape.features:
            raise ConfigError(f"features have shape {features.shape}, expected {('rows', self.shape.features)}")
        if self.config.phases == 1:
            return features, _NO_PHASES
        if phases is None:
            raise ConfigError(f"phases is None, expected one of {self.config.phases} phases per row")
        phases = np.ascontiguousarray(phases, np.int64)
        if phases.shape != features.shape[:1]:
            raise ConfigError(f"phases have shape {phases.shape}, expected {features.shape[:1]}")
        if len(phases) and not 0 <= phases.min() <= phases.max() < self.config.phases:
            raise ConfigError(f"phases are {phases.min()} to {phases.max()}, expected 0 to {self.config.phases - 1}")
        return features, phases

    def _tensors(self, theta: Floats) -> Iterable[tuple[str, Part, Floats]]:
        for phase, own in enumerate(self._by_phase(theta)):
            for part, view in self._views(own):
                yield part.name if self.config.phases == 1 else f"phases.{phase}.{part.name}", part, view

    def _views(self, own: Floats) -> Iterable[tuple[Part, Floats]]:
        start = 0
        for part in self._parts:
            end = start + math.prod(part.shape)
            view = own[start:end].reshape(part.shape[::-1] if part.turned else part.shape)
            yield part, view.T if part.turned else view
            start = end


class Mlp(FlatNet):
    """Fully connected ReLU layers from the features to the columns, with an optional linear skip connection."""

    def __init__(self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> None:
        sizes = (shape.features, *config.hidden)
        outs = len(columns)
        parts = [*layer_parts("layers", sizes), Part("heads.weight", (outs, sizes[-1])), Part("heads.bias", (outs,))]
        if config.skip:
            parts.append(Part("skip.weight", (outs, shape.features)))
        super().__init__(config, shape, columns, parts)
        self.settings = (np.array(sizes, np.int64), self.table, config.skip, config.sparse)
        self.kernels = mlp_forward, mlp_gradient


class Towers(FlatNet):
    """One tower shared by the blocks of all seats, and a small joint layer, for two-player games decided by score.

    The tower estimates the points m that its seat will still score. The joint layer corrects the margin (y₁) and
    converts it to a win value (y₂, y₀). With the scale s of the margin column:

        margin = lead + (m_own - m_other + y₁) · s
        win = tanh(margin / 2s · exp(y₂) + y₀)

    With several opponents m_other is their mean. The target of the margin is the final margin.
    """

    def __init__(self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> None:
        if tuple(column.link for column in columns) != ("tanh", "linear"):
            given = ", ".join(f"{column.name} ({column.link})" for column in columns) or "none"
            raise ConfigError(f"columns of towers are {given}, expected a win (tanh) and a margin (linear)")
        if shape.seats < 2 or shape.block < 1 or shape.lead is None:
            raise ConfigError(f"features of towers are {shape}, expected blocks of at least 2 seats and a lead")
        sizes, joint = (shape.block, *config.hidden), config.joint
        last = sizes[-1]
        spread = 1.0 / math.sqrt(last)
        parts = [
            *layer_parts("tower", sizes),
            Part("margin.weight", (1, last)),
            Part("margin.bias", (1,)),
            *([Part("skip.weight", (1, shape.block))] if config.skip else []),
            Part("own.weight", (joint, last), turned=True, spread=spread),
            Part("others.weight", (joint, last), turned=True, spread=spread),
            Part("common.weight", (joint, shape.common), turned=True, spread=1.0 / math.sqrt(shape.common)),
            Part("common.bias", (joint,), spread=spread),
            Part("heads.weight", (3, joint)),
            Part("heads.bias", (3,)),
        ]
        super().__init__(config, shape, columns, parts)
        lead = shape.seats * shape.block + shape.lead
        options = (config.skip, config.sparse, shape.seats, joint, lead, shape.lead_unit)
        self.settings = (np.array(sizes, np.int64), self.table, *options)
        self.kernels = towers_forward, towers_gradient


@dataclass(frozen=True)
class Part:
    """A tensor within the parameter vector, with its name and its shape (outputs, inputs)."""

    name: str
    shape: tuple[int, ...]
    turned: bool = False
    """Whether the vector stores it transposed, (inputs, outputs)."""
    spread: float = 0.0
    """Initial weights are uniform in ``middle`` ± ``spread``."""
    middle: float = 0.0


def layer_parts(name: str, sizes: Sequence[int]) -> Iterable[Part]:
    """List weights and bias of each ReLU layer, with the initialization of torch, which learned better than He's."""
    for layer, (size, width) in enumerate(pairwise(sizes)):
        spread = 1.0 / math.sqrt(size)
        yield Part(f"{name}.{layer}.weight", (width, size), turned=True, spread=spread)
        yield Part(f"{name}.{layer}.bias", (width,), spread=spread)
