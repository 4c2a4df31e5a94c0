"""TD(λ) learning of n-tuple tables: values of afterstates, from many games that the tables play at the same time.

The game must be a one-player kernel game that describes its board. Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import CheckpointError, ConfigError, GameError
from aleazero.games.base import Game
from aleazero.games.kit import TupleShape
from aleazero.native.compile import loop_of
from aleazero.native.random import TABLE_LANES, stream_key
from aleazero.nets.checkpoint import TableInfo, write_checkpoint
from aleazero.nets.tables import TupleTables, require_board, shape_of
from aleazero.training.config import TupleConfig
from aleazero.training.learner import Round
from aleazero.training.table_loop import TupleLanes, make_lanes, make_learn, make_move, make_room

KEPT: Final = ("states", "games", "keys", "events", "plies", "noted", "index", "returns", "values")
"""Arrays of the lanes that are kept from one round to the next."""


class TupleLearner:
    """Tables in training, and their games in progress. ``shape`` replaces the tuples that the game defines."""

    def __init__(
        self, game: Game, config: TupleConfig | None = None, *, threads: int = 1, shape: TupleShape | None = None
    ) -> None:
        self.config = config or TupleConfig()
        shape = shape or shape_of(game)
        if threads < 1:
            raise ConfigError(f"threads is {threads}, expected at least 1")
        self.game, self.threads = require_board(game, shape), threads
        self.tuples = TupleTables(shape)
        self.coherence = np.zeros((shape.entries, 2), np.float32)
        self.lanes: TupleLanes = make_lanes(self.game, shape, self.config.lanes, self.config.horizon, self.config.moves)
        self.rounds, self.rounds_done = self.config.rounds, 0
        self._move = loop_of(self.game, "tuples_move", lambda _: make_move(self.game, shape), shape)
        self._learn = loop_of(self.game, "tuples_learn", lambda _: make_learn(shape), shape)
        self._rooms = [make_room(self.game, shape) for _ in range(threads)]
        self._key = np.uint64(stream_key(TABLE_LANES, self.config.seed))
        self._workers = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    @property
    def moves(self) -> int:
        """Moves played so far."""
        return self.rounds_done * self.config.lanes * self.config.moves

    def train(self, rounds: int) -> NDArray[np.float64]:
        """Train for this many rounds and return the scores of the games that ended."""
        ended: list[NDArray[np.float64]] = []
        with np.errstate(over="ignore"):
            for _ in range(rounds):
                self._together(self._move_some, self.threads)
                self._together(self._learn_one, len(self.tuples.shape.tuples))
                self.rounds_done += 1
                if self.lanes.ended.any():
                    numbers = np.arange(self.config.moves)
                    ended.append(self.lanes.scores[numbers < self.lanes.ended[:, None]])
        return np.concatenate(ended) if ended else np.zeros(0)

    def round(self) -> Round:
        """Train for one round."""
        scores = self.train(1)
        return Round(
            number=self.rounds_done,
            turns=self.config.lanes * self.config.moves,
            games=len(scores),
            losses={},
            learning_rate=None,
            mean_return=float(scores.mean()) if len(scores) else None,
        )

    def save(self, path: Path) -> None:
        """Write the tables."""
        training = {**self.config.model_dump(mode="json"), "rounds": self.rounds}
        about = TableInfo.of(self.game, self.tuples.shape, self.rounds_done, training)
        write_checkpoint(path, self.tuples.tensors(), about)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the complete state of training. Entries that were never updated are left out."""
        touched = np.flatnonzero(self.coherence[:, 1]).astype(np.int32)
        return {
            **self.tuples.tensors(),
            "coherence.index": touched,
            "coherence.sums": self.coherence[touched],
            "rounds": np.array([self.rounds_done], np.int64),
            **{f"lanes.{name}": getattr(self.lanes, name).copy() for name in KEPT},
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the result of ``state``, with the same settings."""
        expected = {name: array for name, array in self.state().items() if not name.startswith("tables.")}
        tables = {name: array for name, array in state.items() if name.startswith("tables.")}
        if set(state) - set(tables) != set(expected):
            odd = sorted((set(state) - set(tables)) ^ set(expected))
            raise CheckpointError(f"the state of training has other arrays than expected ({odd[0]})")
        for name, array in expected.items():
            free = int(name.startswith("coherence."))  # the first dimension can have any length
            if state[name].dtype != array.dtype or state[name].shape[free:] != array.shape[free:]:
                got = f"{state[name].dtype} {state[name].shape}"
                raise CheckpointError(f"{name} is {got}, expected {array.dtype} {array.shape} as in these settings")
        entries, touched = state["lanes.index"], state["coherence.index"]
        if not 0 <= entries.min() <= entries.max() < len(self.tuples.weights):
            raise CheckpointError(f"lanes.index is out of range, expected 0 to {len(self.tuples.weights) - 1}")
        if len(touched) and not 0 <= touched.min() <= touched.max() < len(self.coherence):
            raise CheckpointError(f"coherence.index is out of range, expected 0 to {len(self.coherence) - 1}")
        self.tuples.weights[:] = TupleTables.from_tensors(self.tuples.shape, tables).weights
        self.coherence[:] = 0.0
        self.coherence[touched] = state["coherence.sums"]
        self.rounds_done = int(state["rounds"][0])
        for name in KEPT:
            getattr(self.lanes, name)[:] = state[f"lanes.{name}"]

    def close(self) -> None:
        """Stop the threads."""
        if self._workers is not None:
            self._workers.shutdown()

    def _move_some(self, part: int) -> None:
        bounds = [self.config.lanes * n // self.threads for n in (part, part + 1)]
        settings, tables = (self.config.horizon, self.config.td_lambda), (self.tuples.features, self.tuples.weights)
        if self._move(self.lanes, *bounds, self._key, *settings, self._rooms[part], *tables) < 0:
            raise GameError(f"{self.game.name}: the rules list impossible actions or outcomes")

    def _learn_one(self, table: int) -> None:
        self._learn(self.lanes, table, self.tuples.weights, self.coherence)

    def _together(self, work: Callable[[int], None], parts: int) -> None:
        """Do all parts of a phase. With n threads, a thread does every n-th part."""

        def some(thread: int) -> None:
            for part in range(thread, parts, self.threads):
                work(part)

        others = [self._workers.submit(some, thread) for thread in range(1, self.threads)] if self._workers else []
        some(0)
        for other in others:
            other.result()
