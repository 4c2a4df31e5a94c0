"""A value network whose parameters are one flat vector, and the kernels that read it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.nets.columns import Column, FeatureShape, as_table
from aleazero.nets.value_config import ValueNetConfig

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
_NO_PHASES: Final = np.empty(0, np.int64)


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
