"""Value networks as evaluators of any state: the rest of a turn is planned, and the network evaluates its ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import CHANCE, DECISION, ESTIMATE, Game, State
from aleazero.games.kernel import KernelGame, Kernels, KernelState
from aleazero.games.kit import kit_of
from aleazero.games.states import Rows, rows_of, state_of, states_of
from aleazero.native.compile import loop_of
from aleazero.nets.next_states import NextStateLists, choose_best
from aleazero.nets.outcome import MARGIN
from aleazero.nets.values import NetValues, TableValues
from aleazero.search.plan.horizon import turn_of
from aleazero.search.plan.plan import Plan, best_label
from aleazero.search.plan.planner import Planner, by_player
from aleazero.search.plan.turn_solver import starts_of

Values = NDArray[np.float64]
TEMPERATURE: Final = 0.01
"""Temperature of the priors, if the kit of the game has none."""
KEPT_TURNS: Final = 256
CHUNK: Final = 1024
"""States that are evaluated together. Values do not depend on it."""


class TurnEndEvaluator:
    """Evaluates states between turns only, for plans whose horizon is the turn."""

    sees_states = True
    afterstates = ESTIMATE
    any_size = True

    def __init__(self, values: NetValues | TableValues) -> None:
        self.values = values
        self._actions = values.game.num_actions
        self.ended = self._ended if values.outcome.margin else None
        """Values of terminal states by player, including the margin as between turns; None to use the returns."""
        self.describes = values.outcome.kind != "score"
        """Whether the columns of the outcome have a meaning of their own, see ``describe``."""

    def __call__(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Return equal logits, and values by seat relative to the viewer."""
        return np.zeros((len(states), self._actions)), self.state_values(states)

    def state_values(self, states: Sequence[State]) -> Values:
        """Return the values only, by seat relative to the viewer."""
        rows = rows_of(self.values.game, states)
        found = np.empty((len(rows), self.values.game.num_players))
        for start in range(0, len(rows), CHUNK):  # the inputs of a chunk stay in the processor cache
            ends = self.values.see(rows[start : start + CHUNK])
            values = self.values.outcome.values_by_player(self.values.columns(ends), MARGIN)
            found[start : start + CHUNK] = by_player(values, -ends.viewers)
        return found

    def columns(self, states: Sequence[State]) -> Values:
        """Return the columns of the outcome by player."""
        return self.values.columns(self.values.see(rows_of(self.values.game, states)))

    def describe(self, columns: Values, player: int) -> dict[str, Values]:
        """Return what columns by player mean to a player, see ``Outcome.describe``."""
        return self.values.outcome.describe(columns, player)

    def _ended(self, states: Sequence[State]) -> Values:
        return self.values.outcome.values_by_player(self.columns(states), MARGIN)


class PlannedEvaluator:
    """Evaluates any state: by the network if it was trained on such states, else by an exact plan of the turn.

    Priors are a softmax of the action values of the plan, divided by ``prior_temperature`` and by the range of the
    returns. If the returns have no bounds, the absolute value of the position takes the place of the range.
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
        self.logit_unit = None if values.game.info.utility is None else float(prior_temperature * self._range(0.0))
        self.search_settings = kit_of(values.game).net_search
        """Defaults of ``SearchConfig`` for players that search with this evaluator."""
        self._counts_turns = turn_of(values.game.new_initial_state()) is not None
        self.ends = TurnEndEvaluator(values)
        self.ended, self.describes, self.describe = self.ends.ended, self.ends.describes, self.ends.describe
        self._planner = Planner(self.game, self.ends, plies=values.plies)
        self._plan_of_turn = lru_cache(maxsize=KEPT_TURNS)(self._plan_turn)
        self._next = NextStateLists(self.game, values.plies) if isinstance(self.game, KernelGame) else None

    @classmethod
    def load(
        cls, path: str | Path, game: Game, prior_temperature: float | None = None, tables: bool = False
    ) -> PlannedEvaluator:
        """Load a value network (or tables) that was trained on this game."""
        values = TableValues.load(path, game) if tables else NetValues.load(path, game)
        own = kit_of(game).prior_temperature if prior_temperature is None else prior_temperature
        return cls(values, TEMPERATURE if own is None else own)

    def __call__(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Return logits, and values by seat relative to the viewer."""
        rows = rows_of(self.game, states)
        logits = np.zeros((len(rows), self.game.num_actions))
        values = np.empty((len(rows), self.game.num_players))
        starts = None if self.values.plies is not None else self._starts(rows)
        known = self._known(rows, starts)
        if known.any():
            _, values[known] = self.ends(states_of(self.game, rows[known]))
        if starts is None and self._next is not None:
            known |= self._value_decisions(rows, known, logits, values)
        unknown = np.flatnonzero(~known)
        others = [state_of(self.game, rows[row]) for row in unknown]
        for row, state, plan in zip(unknown, others, self._plans(others, unknown, starts), strict=True):
            if state.kind() == DECISION:
                following, mover = plan.action_values(state), state.current_player()
                value = following[best_label(following, mover)]
                losses = np.array([other[mover] for other in following.values()]) - value[mover]
                logits[row, list(following)] = losses / (self._temperature * self._range(float(value[mover])))
            else:
                value = plan.value(state)
            values[row] = np.roll(value, -state.viewer())
        return logits, values

    def _value_decisions(
        self, rows: Rows, known: NDArray[np.bool_], logits: Values, values: Values
    ) -> NDArray[np.bool_]:
        """Value decisions whose turn is over after any action, without a plan for each; return which ones.

        The results are those of plans.
        """
        assert self._next is not None
        found = np.zeros(len(rows), np.bool_)
        others = np.flatnonzero(~known)
        unbounded = self.game.info.utility is None
        scale = self._temperature * (1.0 if unbounded else self._range(0.0))
        for part in self._next.parts(rows[others]):
            worth = self.values.outcome.values_by_player(self.values.columns(self.values.see(part.states)), MARGIN)
            part = part._replace(rows=others[part.rows])
            choose_best(worth, part, scale, not unbounded, logits, values)
            found[part.rows] = True
        return found

    def state_values(self, states: Sequence[State]) -> Values:
        """Return the values only, by seat relative to the viewer."""
        rows = rows_of(self.game, states)
        known = self.values.plies is not None and self._known(rows, None).all()
        return self.ends.state_values(states) if known else self(states)[1]

    def _range(self, value: float) -> float:
        """Return the range of the returns; if they have no bounds, the absolute value of this position."""
        low, high = self.game.info.utility or (0.0, max(1.0, abs(value)))
        return high - low

    def columns(self, states: Sequence[State]) -> Values:
        """Return the columns of the outcome by player; inside a turn, their expectations by the plan of the turn."""
        rows = rows_of(self.game, states)
        starts = None if self.values.plies is not None else self._starts(rows)
        known = self._known(rows, starts) | np.array([state.is_terminal() for state in states], np.bool_)
        columns = np.empty((len(rows), len(self.values.outcome.columns)))
        if known.any():
            columns[known] = self.ends.columns(states_of(self.game, rows[known]))
        unknown = np.flatnonzero(~known)
        others = [state_of(self.game, rows[row]) for row in unknown]
        for row, state, plan in zip(unknown, others, self._plans(others, unknown, starts), strict=True):
            columns[row] = plan.expected_at(state, self.ends.columns)
        return columns

    def turn_start(self, state: State) -> State | None:
        """Return the first state of the turn; None if ``state`` is it, or if the game does not define it."""
        rows = rows_of(self.game, [state])
        starts = self._starts(rows)
        return None if starts is None or np.array_equal(starts, rows) else state_of(self.game, starts[0])

    def horizon(self) -> dict[str, Any]:
        """Return the planner settings that match the states this network was trained on."""
        return {"horizon": "turn"} if self.values.plies is None else {"plies": self.values.plies}

    def for_plan(self, horizon: str, plies: int | None, prunes: bool) -> TurnEndEvaluator | PlannedEvaluator:
        """Return the evaluator for a planner: the network without further plans, if its plans end between turns."""
        own = self.values.plies
        between = plies is own if plies is None or own is None else plies % own == 0
        return self.ends if between and horizon == "turn" and not prunes else self

    def _starts(self, rows: Rows) -> NDArray[np.int64] | None:
        return starts_of(self.game, rows) if isinstance(self.game, KernelGame) else None

    def _known(self, rows: Rows, starts: NDArray[np.int64] | None) -> NDArray[np.bool_]:
        """Mark the states that the network was trained on: turn starts, or afterstates if a turn is one action."""
        if starts is not None:
            known: NDArray[np.bool_] = (starts == rows).all(axis=1)
            return known
        by_action = self.values.plies is not None or (self.game.num_players == 1 and not self._counts_turns)
        if by_action and isinstance(self.game, KernelGame):
            kinds = np.empty(len(rows), np.int64)
            loop_of(self.game, "kinds", make_kinds)(np.ascontiguousarray(rows, np.int64), kinds)
            chance: NDArray[np.bool_] = kinds == CHANCE
            return chance
        return np.array([by_action and state_of(self.game, row).kind() == CHANCE for row in rows], np.bool_)

    def _plans(self, states: list[State], rows: Any, starts: NDArray[np.int64] | None) -> list[Plan]:
        """Return a plan that contains each state: of its complete turn, which is cached, or from the state on."""
        if starts is not None:
            return [self._plan_of_turn(starts[row].tobytes()) for row in rows]
        return self._planner.plan_many(states)

    def _plan_turn(self, start: bytes) -> Plan:
        assert isinstance(self.game, KernelGame)
        return self._planner.plan(KernelState(self.game, np.frombuffer(start, np.int64).copy()))


def make_kinds(kernels: Kernels) -> Callable[..., int]:
    """Make ``kinds_of(states, kinds)`` of a game."""
    kind_of = kernels.kind

    def kinds_of(states: Any, kinds: Any) -> int:
        for row in range(len(states)):
            kinds[row] = kind_of(states[row])
        return 0

    return kinds_of
