"""The player that plans exactly; where nothing is drawn, one plan serves all decisions of a turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aleazero.games.base import Game, State
from aleazero.players.player import Allowed, Thinker, own_seed
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

    def select_many(
        self, states: Sequence[State], seeds: Sequence[int], actions: Sequence[Sequence[int] | None] | None = None
    ) -> list[int]:
        """The actions to play at some decisions; where a plan serves the turn, it answers forced moves too."""
        if actions is None and self._serves_turn:
            return self.choose(states, seeds, [None] * len(states))
        return super().select_many(states, seeds, actions)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """What the plans say, those at hand and new ones."""
        rows = list(zip(states, seeds, allowed, strict=True))
        selected = [
            self._planned(state, seed) if some is None and not self._draws else self._alone(state, seed, some)
            for state, seed, some in rows
        ]
        new = [row for row, action in enumerate(selected) if action is None]
        plans = self._planner.plan_many([states[row].clone() for row in new]) if new else []
        for row, plan in zip(new, plans, strict=True):
            known = plan.action_within(states[row])
            selected[row] = plan.action(states[row]) if known is None else known  # which says what is wrong
            self._keep(seeds[row], plan)
        return [action for action in selected if action is not None]

    def _alone(self, state: State, seed: int, allowed: Allowed) -> int | None:
        """The action of a plan for this decision only: its playouts have luck of their own, or a few actions are
        allowed, all of which the plan of the turn may have pruned.
        """
        planner = self._planner
        if self._draws:
            planner = Planner(self._game, self._evaluator, **self._settings, seed=own_seed(state, seed))
        return planner.run(state.clone(), allowed).best_action

    def _planned(self, state: State, seed: int) -> int | None:
        """What the plan at hand says, if the state is inside its turn."""
        plan = self._plans.get(seed)
        return None if plan is None else plan.action_within(state)

    def _keep(self, seed: int, plan: Plan) -> None:
        if self._serves_turn:
            self._plans[seed] = plan
            self._plans.move_to_end(seed)
            if len(self._plans) > KEPT_PLANS:
                self._plans.popitem(last=False)
