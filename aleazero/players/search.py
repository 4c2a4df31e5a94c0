"""Players that search, plan, or select the action with a network's highest logit.

Players that search or plan can explain their choice. A plan without playouts is used for all decisions of a turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import NONE, Game, State
from aleazero.players.champions import CHAMPION, champion_path
from aleazero.players.player import Allowed, BasePlayer, own_seed
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.evaluator import PLAN_PLAYOUTS, Evaluator, Rollout, evaluate_batch, resolve_evaluator
from aleazero.search.forest import Forest
from aleazero.search.plan.plan import Plan
from aleazero.search.plan.planner import Planner
from aleazero.search.result import SearchResult
from aleazero.search.search import Search
from aleazero.untrusted import path_exists

TREES: Final = 32
"""Most searches at the same time."""
LEAVES: Final = 4_000_000
"""Most leaves of all searches together, which limits their memory to a few gigabytes."""


class SearchPlayer(BasePlayer):
    """Selects the most visited action of a search; ``threads`` do not change the actions.

    ``timed`` allows ``max_seconds`` in the config; a player with a time limit does not repeat its actions.
    """

    def __init__(
        self, game: Game, evaluator: Any, config: SearchConfig, threads: int = 1, *, timed: bool = False
    ) -> None:
        if config.max_seconds is not None and not timed:
            raise ConfigError(
                f"max_seconds is {config.max_seconds}, expected num_simulations or max_evaluations: a player with a "
                "time limit does not repeat its actions"
            )
        self.config, self._game, self._evaluator = config, game, resolve_evaluator(evaluator)
        self.chance = chance_of(config, game, self._evaluator)
        leaves = config.num_simulations * largest_visit(self.chance, game)
        trees = max(1, min(TREES, LEAVES // min(leaves, config.max_evaluations or leaves)))
        self._forest = None if timed else Forest(game, evaluator, config, trees=trees, threads=threads)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Search all states, each with its own seed."""
        own_seeds = [own_seed(state, seed) for state, seed in zip(states, seeds, strict=True)]
        if self._forest is None:
            rows = zip(states, own_seeds, allowed, strict=True)
            return [_best(self._search().run(state, some, seed)) for state, seed, some in rows]
        return [_best(result) for result in self._forest.run(states, seeds=own_seeds, actions=allowed)]

    def explain(self, state: State, seed: int) -> SearchResult:
        """Return the search that ``select`` uses; Ctrl-C ends it early."""
        return self._search().run(state, seed=own_seed(state, seed))

    def _search(self) -> Search:
        return Search(self._game, self._evaluator, self.config)


def _best(result: SearchResult) -> int:
    assert result.best_action is not None  # it is a decision
    return int(result.best_action)


KEPT_PLANS: Final = 256


class PlanPlayer(BasePlayer):
    """Selects the best action of a plan; ``settings`` are further arguments of ``Planner``."""

    def __init__(self, game: Game, evaluator: Any, settings: Mapping[str, Any]) -> None:
        self._game, self._settings = game, dict(settings)
        self._evaluator = None if evaluator is None else resolve_evaluator(evaluator, PLAN_PLAYOUTS)
        self._planner = Planner(game, self._evaluator, **self._settings)
        self._draws = isinstance(self._evaluator, Rollout)
        self._serves_turn = not self._draws and self._settings.get("plies") is None
        self._plans: OrderedDict[int, Plan] = OrderedDict()
        """The last plan of each seed; a seed belongs to one seat in one game."""

    def select_many(
        self, states: Sequence[State], seeds: Sequence[int], actions: Sequence[Sequence[int] | None] | None = None
    ) -> list[int]:
        """Select an action in each state; a plan for the turn also has its forced moves."""
        if actions is None and self._serves_turn:
            return self.choose(states, seeds, [None] * len(states))
        return super().select_many(states, seeds, actions)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the best actions of the kept plans, and of new ones."""
        rows = list(zip(states, seeds, allowed, strict=True))
        selected = [
            self._planned(state, seed) if some is None and not self._draws else self._plan_once(state, seed, some)
            for state, seed, some in rows
        ]
        new = [row for row, action in enumerate(selected) if action is None]
        plans = self._planner.plan_many([states[row].clone() for row in new]) if new else []
        for row, plan in zip(new, plans, strict=True):
            known = plan.action_within(states[row])
            selected[row] = plan.action(states[row]) if known is None else known  # raises an error with the reason
            self._keep(seeds[row], plan)
        return [action for action in selected if action is not None]

    def explain(self, state: State, seed: int) -> SearchResult | None:
        """Return the result of the plan that ``select`` uses."""
        plan = self._plans.get(seed)
        if plan is None or plan.action_within(state) is None:
            plan = self._planner_at(state, seed).plan(state.clone())
            self._keep(seed, plan)
        return plan.result(state)

    def _planner_at(self, state: State, seed: int) -> Planner:
        """Return the planner of a decision; one with playouts has its own random stream for each decision."""
        if not self._draws:
            return self._planner
        return Planner(self._game, self._evaluator, **self._settings, seed=own_seed(state, seed))

    def _plan_once(self, state: State, seed: int, allowed: Allowed) -> int | None:
        """Return the action of a plan for this decision only, with playouts or a subset of the actions.

        A plan for the turn may have pruned all actions of the subset.
        """
        return self._planner_at(state, seed).run(state.clone(), allowed).best_action

    def _planned(self, state: State, seed: int) -> int | None:
        """Return the action of the kept plan; None if the state is outside of its turn."""
        plan = self._plans.get(seed)
        return None if plan is None else plan.action_within(state)

    def _keep(self, seed: int, plan: Plan) -> None:
        if self._serves_turn:
            self._plans[seed] = plan
            self._plans.move_to_end(seed)
            if len(self._plans) > KEPT_PLANS:
                self._plans.popitem(last=False)


DUMMY: Final = "dummy"


class ZeroNet:
    """A network that returns equal logits and values of zero."""

    afterstates = NONE

    def __init__(self, game: Game) -> None:
        self._actions, self._players = game.num_actions, game.num_players

    def __call__(self, observations: Any, legal_masks: Any, /) -> tuple[Any, Any]:
        """Return zeros."""
        rows = len(observations)
        return np.zeros((rows, self._actions), np.float32), np.zeros((rows, self._players), np.float32)


def read_any_net(path: str, game: Game, inference: str | None = None, prior_temperature: float | None = None) -> Any:
    """Read a policy-value network or a value network; the path ``champion`` is the bundled network for the game.

    ``prior_temperature`` applies to the priors of value networks.
    """
    path = str(champion_path(game)) if path == CHAMPION else path
    file = Path(path).expanduser()
    if path != DUMMY and path_exists(file):
        from aleazero.nets.inference import load_net

        return load_net(file, game, inference, prior_temperature)
    net = read_net(path, game, inference)  # the dummy, or an error
    if prior_temperature is not None:
        text = f"is {prior_temperature}, expected none: {path} has its own priors"
        raise ConfigError(text, field="prior_temperature")
    return net


def read_net(path: str, game: Game, inference: str | None = None) -> Evaluator:
    """Read the policy-value network at a path, or ``dummy``; ``inference`` is the library that evaluates it."""
    if path == DUMMY:
        if inference is not None:
            raise ConfigError(f"is {inference!r}, expected none: {DUMMY} does not use it", field="inference")
        return ZeroNet(game)
    if not path_exists(Path(path).expanduser()):
        raise ConfigError(f"no network at {path!r}, expected a file, or {DUMMY}")
    from aleazero.nets.inference import load_policy_net

    return load_policy_net(Path(path).expanduser(), game, inference)


class NetPlayer(BasePlayer):
    """Selects the action with the highest logit of a policy-value network; among ties the lowest id."""

    def __init__(self, net: Evaluator, game: Game) -> None:
        self._net, self._game = net, game

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the actions with the highest logits."""
        observations = np.stack([state.observation_tensor() for state in states])
        return self.best_actions(
            observations, [some or state.legal_actions() for state, some in zip(states, allowed, strict=True)]
        )

    def best_actions(self, observations: NDArray[np.float32], allowed: Sequence[Sequence[int]]) -> list[int]:
        """Return for each row the allowed action with the highest logit."""
        masks = np.zeros((len(allowed), self._game.num_actions), np.bool_)
        for row, some in enumerate(allowed):
            masks[row, some] = True
        logits, _ = evaluate_batch(self._net, observations, masks, None, self._game.num_players)
        return [int(action) for action in np.where(masks, logits, -np.inf).argmax(axis=1)]
