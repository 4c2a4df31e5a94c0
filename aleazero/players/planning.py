"""The player that plans exactly; where nothing is drawn, one plan serves all decisions of a turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aleazero.errors import PositionError
from aleazero.games.base import Game, State
from aleazero.players.player import Thinker, own_seed
from aleazero.search.evaluator import Rollout, resolve_evaluator
from aleazero.search.plan import Plan
from aleazero.search.planner import Planner

KEPT_PLANS: Final = 256


class PlanPlayer(Thinker):
    """Plays the best action of a plan; ``settings`` are those of ``Planner``."""

    def __init__(self, game: Game, evaluator: Any, settings: Mapping[str, Any]) -> None:
        self._game, self._settings = game, dict(settings)
        self._evaluator = None if evaluator is None else resolve_evaluator(evaluator)
        self._planner = Planner(game, self._evaluator, **self._settings)
        self._draws = isinstance(self._evaluator, Rollout)
        self._serves_turn = not self._draws and self._settings.get("plies") is None
        self._plans: OrderedDict[int, Plan] = OrderedDict()
        """The last plan of each seed: a seed is one seat in one game."""

    def choose(self, states: Sequence[State], seeds: Sequence[int]) -> list[int]:
        """What the plans say, those at hand and new ones."""
        if self._draws:
            return [self._drawn(state, own_seed(state, seed)) for state, seed in zip(states, seeds, strict=True)]
        selected = [self._planned(state, seed) for state, seed in zip(states, seeds, strict=True)]
        rows = [row for row, action in enumerate(selected) if action is None]
        plans = self._planner.plan_many([states[row].clone() for row in rows]) if rows else []
        for row, plan in zip(rows, plans, strict=True):
            selected[row] = plan.action(states[row])
            self._keep(seeds[row], plan)
        return [action for action in selected if action is not None]

    def _drawn(self, state: State, seed: int) -> int:
        """The action of a plan whose frontier is valued by playouts: their luck is that of this position."""
        return Planner(self._game, self._evaluator, **self._settings, seed=seed).plan(state.clone()).action(state)

    def _planned(self, state: State, seed: int) -> int | None:
        """What the plan at hand says, if the state is inside its turn."""
        plan = self._plans.get(seed)
        if plan is None:
            return None
        try:
            return plan.action(state)
        except PositionError:
            return None

    def _keep(self, seed: int, plan: Plan) -> None:
        if self._serves_turn:
            self._plans[seed] = plan
            self._plans.move_to_end(seed)
            if len(self._plans) > KEPT_PLANS:
                self._plans.popitem(last=False)
