"""Value networks as evaluators: as they are between turns, and by a plan of the rest of the turn everywhere else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import CHANCE, DECISION, ESTIMATE, Game, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.states import Rows, rows_of, state_of, states_of
from aleazero.nets.outcome import MARGIN
from aleazero.nets.values import NetValues, TableValues
from aleazero.search.plan.horizon import turn_of
from aleazero.search.plan.plan import Plan, best_label
from aleazero.search.plan.planner import Planner, by_player
from aleazero.search.plan.turn_solver import starts_of

Values = NDArray[np.float64]
TEMPERATURE: Final = 0.01
"""Of priors; measured settings did not differ in strength (docs/evaluators.md)."""
KEPT_TURNS: Final = 256


class TurnEndEvaluator:
    """The values of states between turns, and of no others: for a plan whose horizon is the turn."""

    sees_states = True
    afterstates = ESTIMATE
    any_size = True

    def __init__(self, values: NetValues | TableValues) -> None:
        self.values = values
        self._actions = values.game.num_actions
        self.ended = self._ended if values.outcome.margin else None
        """What ends of the game are worth to a plan, by player: with the margin, as states between turns are."""

    def _ended(self, states: Sequence[State]) -> Values:
        return self.values.outcome.values_by_player(self.columns(states), MARGIN)

    def columns(self, states: Sequence[State]) -> Values:
        """The columns of the outcome, by player."""
        return self.values.columns(self.values.see(rows_of(self.values.game, states)))

    def __call__(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Equal logits; values in seats relative to the viewer."""
        ends = self.values.see(rows_of(self.values.game, states))
        worth = self.values.outcome.values_by_player(self.values.columns(ends), MARGIN)
        return np.zeros((len(states), self._actions)), by_player(worth, -ends.viewers)


class PlannedEvaluator:
    """Values everywhere: where the network knows nothing, the rest of the turn is planned exactly.

    Priors are a softmax of the plan's action values, in units of ``prior_temperature`` times the range of returns, or
    where they have no bounds, times the position's own value.
    """

    sees_states = True
    afterstates = ESTIMATE
    any_size = True

    def __init__(self, values: NetValues | TableValues, prior_temperature: float = TEMPERATURE) -> None:
        if not (math.isfinite(prior_temperature) and prior_temperature > 0):
            raise ConfigError(f"is {prior_temperature}, expected a number above 0", field="prior_temperature")
        self.values = values
        self.game = values.game
        self._temperature = prior_temperature
        self._counts_turns = turn_of(values.game.new_initial_state()) is not None
        self.ends = TurnEndEvaluator(values)
        self.ended = self.ends.ended
        self._planner = Planner(self.game, self.ends, plies=values.plies)
        self._plan_of_turn = lru_cache(maxsize=KEPT_TURNS)(self._plan_turn)

    @classmethod
    def load(
        cls, path: str | Path, game: Game, prior_temperature: float | None = None, tables: bool = False
    ) -> PlannedEvaluator:
        """The network (or tables) of a checkpoint, if it was taught this game."""
        known = TableValues.load(path, game) if tables else NetValues.load(path, game)
        return cls(known, TEMPERATURE if prior_temperature is None else prior_temperature)

    def __call__(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Logits, and values in seats relative to the viewer."""
        rows = rows_of(self.game, states)
        logits = np.zeros((len(rows), self.game.num_actions))
        values = np.empty((len(rows), self.game.num_players))
        starts = None if self.values.plies is not None else self._starts(rows)
        known = self._known(rows, starts)
        if known.any():
            _, values[known] = self.ends(states_of(self.game, rows[known]))
        unknown = np.flatnonzero(~known)
        others = [state_of(self.game, rows[row]) for row in unknown]
        for row, state, plan in zip(unknown, others, self._plans(others, unknown, starts), strict=True):
            if state.kind() == DECISION:
                following, mover = plan.action_values(state), state.current_player()
                value = following[best_label(following, mover)]
                behind = np.array([other[mover] for other in following.values()]) - value[mover]
                logits[row, list(following)] = behind / (self._temperature * self._range(float(value[mover])))
            else:
                value = plan.value(state)
            values[row] = np.roll(value, -state.viewer())
        return logits, values

    def _range(self, value: float) -> float:
        """Of returns; where they have no bounds, as much as this position is worth."""
        low, high = self.game.info.utility or (0.0, max(1.0, abs(value)))
        return high - low

    def columns(self, states: Sequence[State]) -> Values:
        """The columns of the outcome, by player, of states between turns or at the end of the game."""
        return self.ends.columns(states)

    def turn_start(self, state: State) -> State | None:
        """The state that the turn of a state began from; None where it is that, or the game cannot say."""
        rows = rows_of(self.game, [state])
        starts = self._starts(rows)
        return None if starts is None or np.array_equal(starts, rows) else state_of(self.game, starts[0])

    def horizon(self) -> dict[str, Any]:
        """How far to plan over this network alone, as settings of a Planner."""
        return {"horizon": "turn"} if self.values.plies is None else {"plies": self.values.plies}

    def for_plan(self, horizon: str, plies: int | None, prunes: bool) -> TurnEndEvaluator | PlannedEvaluator:
        """What a planner asks: the network itself, where plans end between turns."""
        whole_turns = horizon == "turn" and plies is None and self.values.plies is None
        return self.ends if whole_turns and not prunes else self

    def _starts(self, rows: Rows) -> NDArray[np.int64] | None:
        return starts_of(self.game, rows) if isinstance(self.game, KernelGame) else None

    def _known(self, rows: Rows, starts: NDArray[np.int64] | None) -> NDArray[np.bool_]:
        """Which states the network was taught: first ones of turns, or, where a turn is one action, afterstates."""
        if starts is not None:
            known: NDArray[np.bool_] = (starts == rows).all(axis=1)
            return known
        by_action = self.values.plies is not None or (self.game.num_players == 1 and not self._counts_turns)
        return np.array([by_action and state_of(self.game, row).kind() == CHANCE for row in rows], np.bool_)

    def _plans(self, states: list[State], rows: Any, starts: NDArray[np.int64] | None) -> list[Plan]:
        """A plan that holds each state: of its whole turn, which other states may share, or from itself on."""
        if starts is not None:
            return [self._plan_of_turn(starts[row].tobytes()) for row in rows]
        return self._planner.plan_many(states)

    def _plan_turn(self, start: bytes) -> Plan:
        assert isinstance(self.game, KernelGame)
        return self._planner.plan(KernelState(self.game, np.frombuffer(start, np.int64).copy()))
