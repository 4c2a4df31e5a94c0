"""Value networks over one flat vector of parameters, compiled: ``mlp`` and ``towers``."""

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
    """The network that these settings describe."""
    if not columns:
        raise ConfigError("a value network has no columns, expected at least one")
    if config.kind == "torch":
        try:
            from aleazero.nets.torch_nets import TorchNet  # here, because it imports torch
        except ImportError:
            why = "torch is not installed, expected it for a value network of kind torch"
            raise ConfigError(f"{why}: pip install 'aleazero[train]'") from None
        return TorchNet(config, shape, columns)
    return (Mlp if config.kind == "mlp" else Towers)(config, shape, columns)


def value_weight_shapes(
    config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]
) -> dict[str, tuple[int, ...]]:
    """Every weight of such a network, by name."""
    return make_value_net(config, shape, columns).shapes()


class FlatNet:
    """A value network over one flat float32 vector; a subclass names its parts and its kernels."""

    settings: tuple[Any, ...]
    """What the kernels are told besides parameters and rows."""
    kernels: tuple[Callable[..., None], Callable[..., None]]
    """Forward and gradient."""

    def __init__(
        self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...], parts: Sequence[Part]
    ) -> None:
        self.config, self.shape, self.columns, self.table = config, shape, columns, as_table(columns)
        self._parts = tuple(parts)
        self._one = sum(math.prod(part.shape) for part in parts)
        self.size = config.phases * self._one
        """Parameters in all."""

    def initial(self, seed: int) -> Floats:
        """First parameters: spread in the layers, 0 in the outputs, so that every value starts in the middle."""
        luck = np.random.Generator(np.random.PCG64(seed))
        theta = np.zeros((self.config.phases, self._one), np.float32)
        for phase in theta:
            for part, view in self._views(phase):
                low, high = part.middle - part.spread, part.middle + part.spread
                view[:] = luck.uniform(low, high, part.shape) if part.spread else part.middle
        return theta.ravel()

    def forward(self, theta: Floats, features: Floats, phases: Ints | None = None) -> Floats:
        """Columns (rows, K) of features (rows, F), each row by the network of its phase, where there are several."""
        features, phases = self._rows(features, phases)
        out = np.empty((len(features), len(self.columns)), np.float32)
        self.kernels[0](self._by_phase(theta), *self.settings, features, phases, out)
        return out

    def gradient(
        self, theta: Floats, features: Floats, targets: Floats, out: Floats, phases: Ints | None = None
    ) -> NDArray[np.float64]:
        """Add the gradient of the summed loss to ``out``; returns the summed losses by column."""
        features, phases = self._rows(features, phases)
        targets = np.ascontiguousarray(targets, np.float32)
        if targets.shape != (len(features), len(self.columns)):
            raise ConfigError(f"targets have shape {targets.shape}, expected {(len(features), len(self.columns))}")
        losses = np.zeros(len(self.columns))
        self.kernels[1](self._by_phase(theta), *self.settings, features, phases, targets, self._by_phase(out), losses)
        return losses

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Every tensor's name and shape; of several phases, those of the later ones are numbered."""
        return {name: part.shape for name, part, _ in self._tensors(np.empty(self.size, np.float32))}

    def tensors(self, theta: Floats) -> dict[str, Floats]:
        """The parameters by name, as torch lays them out."""
        return {name: np.array(view) for name, _, view in self._tensors(theta)}

    def flatten(self, tensors: Mapping[str, Floats]) -> Floats:
        """The vector of such tensors."""
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
            raise ConfigError(f"no phases are given, expected one of {self.config.phases} for each row")
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
    """Layers of ReLU from the features to the columns, and a straight line beside them."""

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
    """A shared tower over each seat's block, and a small joint layer; for two-player games that are decided by score.

    The tower estimates what its seat will still score, m. The joint layer corrects that (y₁), and turns a margin into
    wins (y₂, y₀). With the margin column's scale s, and the mean of the others if there are several:

        margin = lead + (m_own - m_other + y₁) · s
        win = tanh(margin / 2s · exp(y₂) + y₀)

    The margin's target is the margin at the end.
    """

    def __init__(self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> None:
        if tuple(column.link for column in columns) != ("tanh", "linear"):
            said = ", ".join(f"{column.name} ({column.link})" for column in columns) or "none"
            raise ConfigError(f"columns of towers are {said}, expected a win (tanh) and a margin (linear)")
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
        told = (config.skip, config.sparse, shape.seats, joint, lead, shape.lead_unit)
        self.settings = (np.array(sizes, np.int64), self.table, *told)
        self.kernels = towers_forward, towers_gradient


@dataclass(frozen=True)
class Part:
    """A tensor within the vector: its name and shape in torch, where rows are outputs."""

    name: str
    shape: tuple[int, ...]
    turned: bool = False
    """Stands (in, out) in the vector."""
    spread: float = 0.0
    """Its first weights lie evenly between minus and plus this."""
    middle: float = 0.0
    """What they are spread around."""


def layer_parts(name: str, sizes: Sequence[int]) -> Iterable[Part]:
    """Weights and bias of each layer of ReLU, spread as torch does: wider ones, as He et al. have them, learn worse."""
    for layer, (size, width) in enumerate(pairwise(sizes)):
        spread = 1.0 / math.sqrt(size)
        yield Part(f"{name}.{layer}.weight", (width, size), turned=True, spread=spread)
        yield Part(f"{name}.{layer}.bias", (width,), spread=spread)
