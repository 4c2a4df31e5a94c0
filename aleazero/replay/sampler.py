"""The sampler: batches of a window's samples, the same for the same seed, and to be taken up again where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ReplayError
from aleazero.native.random import EPOCHS, UNIFORM_SAMPLES
from aleazero.replay.window import Rows, Window

Order = Literal["epochs", "uniform"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some samples, a row each; values by seat are from the viewer on."""

    rows: Rows
    """Where they stand in the window."""
    observations: NDArray[np.float32]
    legal_masks: NDArray[np.bool_]
    policies: NDArray[np.float32]
    returns: NDArray[np.float32]
    """By seat: what the game came to."""
    root_values: NDArray[np.float32]
    scores: NDArray[np.float32]
    weights: NDArray[np.float32]
    """Of the policies as targets."""
    searched: NDArray[np.bool_]
    afterstate: NDArray[np.bool_]
    viewers: NDArray[np.int8]
    step: NDArray[np.int32]
    ply: NDArray[np.int32]
    game: NDArray[np.int64]
    iteration: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)


BATCH_COLUMNS: Final = tuple(field.name for field in fields(Batch) if field.name != "rows")


class Sampler:
    """Batches of one size. ``epochs``: all samples shuffled, each once before any comes again, also across the edge of
    two batches. ``uniform``: every row drawn from all samples."""

    def __init__(self, window: Window, batch_size: int, seed: int, order: Order = "epochs") -> None:
        if batch_size < 1:
            raise ReplayError(f"batch_size is {batch_size}, expected at least 1")
        if order not in ("epochs", "uniform"):
            raise ReplayError(f"order is {order!r}, expected 'epochs' or 'uniform'")
        if seed < 0:
            raise ReplayError(f"seed is {seed}, expected at least 0")
        _ = window.origin  # raises where there is no sample
        self.window = window
        self.batch_size = batch_size
        self.seed = seed
        self.order = order
        self.epoch = 0
        """Times that the samples were gone through; counted in ``epochs`` only."""
        self.position = 0
        """Samples given in this epoch; in ``uniform``, batches given."""
        self._shuffled: tuple[int, Rows] | None = None

    def next(self) -> Batch:
        """The next batch, read from the window's files."""
        rows = self._draw() if self.order == "uniform" else self._shuffle()
        return Batch(rows=rows, **self.window.take(BATCH_COLUMNS, rows))

    def state(self) -> dict[str, Any]:
        """Where the sampler stands, as plain data, for JSON."""
        return {**self._identity(), "epoch": self.epoch, "position": self.position}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where a sampler of the same window, seed, batch size and order stood."""
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise ReplayError(
                    f"the sampler's state is of another {name}: got {state.get(name)!r}, expected {value!r}"
                )
        epoch, position = state.get("epoch"), state.get("position")
        if type(epoch) is not int or type(position) is not int or epoch < 0 or position < 0:
            raise ReplayError(f"the sampler's state is epoch {epoch!r}, position {position!r}, expected whole numbers")
        if self.order == "epochs" and position >= len(self.window):
            raise ReplayError(f"the sampler's position is {position}, expected less than {len(self.window)}")
        self.epoch, self.position = epoch, position

    def _identity(self) -> dict[str, Any]:
        return {
            "window": self.window.fingerprint(),
            "seed": self.seed,
            "batch_size": self.batch_size,
            "order": self.order,
        }

    def _draw(self) -> Rows:
        generator = np.random.default_rng([UNIFORM_SAMPLES, self.seed, self.position])
        self.position += 1
        return generator.integers(len(self.window), size=self.batch_size)

    def _shuffle(self) -> Rows:
        parts: list[Rows] = []
        missing = self.batch_size
        while missing:
            part = self._permutation()[self.position : self.position + missing]
            parts.append(part)
            missing -= len(part)
            self.position += len(part)
            if self.position == len(self.window):
                self.epoch, self.position = self.epoch + 1, 0
        return np.concatenate(parts)

    def _permutation(self) -> Rows:
        if self._shuffled is None or self._shuffled[0] != self.epoch:
            generator = np.random.default_rng([EPOCHS, self.seed, self.epoch])
            self._shuffled = self.epoch, generator.permutation(len(self.window))
        return self._shuffled[1]
