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
from aleazero.search.result import SearchResult

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

    def explain(self, state: State, seed: int) -> SearchResult | None:
        """Return what the plan by which ``select`` chooses with this seed says of a state."""
        plan = self._plans.get(seed)
        if plan is None or plan.action_within(state) is None:
            plan = self._planner_at(state, seed).plan(state.clone())
            self._keep(seed, plan)
        return plan.result(state)

    def _planner_at(self, state: State, seed: int) -> Planner:
        """The planner of a decision: playouts draw from a stream of their own."""
        if not self._draws:
            return self._planner
        return Planner(self._game, self._evaluator, **self._settings, seed=own_seed(state, seed))

    def _alone(self, state: State, seed: int, allowed: Allowed) -> int | None:
        """The action of a plan for this decision only: its playouts have luck of their own, or a few actions are
        allowed, all of which the plan of the turn may have pruned.
        """
        return self._planner_at(state, seed).run(state.clone(), allowed).best_action

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
