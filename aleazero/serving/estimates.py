"""Judges that estimate values by plans or searches.

Their value of a roll never depends on the outcome that was played, so the luck that they find is zero on average,
whatever their accuracy:

- Listed outcomes: all of them are valued in the same way, and the expectation is their mean by probability.
- Other outcomes: the expectation is the mean over outcomes drawn with a seed that depends only on the position.

Several rolls in a row, e.g. a refill of Azul, can have too many outcomes to list. Then the value before each of them is
the mean over drawn outcomes of all that follow, so the noise of these means cancels within the refill.

Estimates are limited to the range of the game's returns. A network that also values the margin can exceed it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError, PositionError
from aleazero.games.base import Game, State
from aleazero.native.random import REVIEWS, draw_at, stream_key
from aleazero.players.player import own_seed
from aleazero.players.search import LEAVES, TREES
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.forest import Forest
from aleazero.search.plan.plan import Plan
from aleazero.search.plan.planner import Planner
from aleazero.search.result import SearchResult
from aleazero.serving.judgement import (
    Judge,
    JudgedPlay,
    JudgedRoll,
    Vector,
    final_value,
    judged,
    limited,
    probability_of,
)

MOST_LISTED: Final = 1000
"""Outcomes of rolls in a row that are listed."""


class EstimatingJudge(Judge):
    """Judges by plans or searches."""

    draws: int = 16
    """Outcomes that are drawn for the expectation before a roll, if they cannot be listed."""

    def judge_rolls(self, states: Sequence[State], outcomes: Sequence[int]) -> list[JudgedRoll]:
        """Judge rolls by all outcomes if they can be listed, else by drawn ones; see ``Judge.judge_rolls``."""
        listed = [row for row, state in enumerate(states) if can_list(state)]
        judged = self._judge_listed([states[row] for row in listed], [outcomes[row] for row in listed])
        found = dict(zip(listed, judged, strict=True))
        others = [row for row in range(len(states)) if row not in found]
        values = iter(self.values([one for row in others for one in (states[row], states[row].child(outcomes[row]))]))
        for row in others:
            expected, after = next(values), next(values)
            found[row] = JudgedRoll(expected, after - expected, probability_of(states[row], outcomes[row]))
        return [found[row] for row in range(len(states))]

    def values(self, states: Sequence[State]) -> list[Vector]:
        """Return values; that of a roll can be the mean over drawn outcomes, see ``Judge.values``."""
        different = {state.key(): state for state in states}  # the state after a roll can be the one before the next
        ends = {
            key: [state] if self._values_at_once(state) else drawn_ends(state, self.draws)
            for key, state in different.items()
        }
        running = [end.clone() for some in ends.values() for end in some if not end.is_terminal()]
        values = iter(self._values(running))
        found = {
            key: np.mean([final_value(end) if end.is_terminal() else next(values) for end in some], axis=0)
            for key, some in ends.items()
        }
        return [found[state.key()] for state in states]

    def _values_at_once(self, state: State) -> bool:
        """Return whether ``_values`` is given this state, and not the states after drawn outcomes."""
        return can_list(state)

    @abstractmethod
    def _judge_listed(self, states: Sequence[State], outcomes: Sequence[int]) -> list[JudgedRoll]:
        """Judge rolls whose outcomes can be listed."""

    @abstractmethod
    def _values(self, states: Sequence[State]) -> list[Vector]:
        """Return the values of states that are not terminal."""


class PlanJudge(EstimatingJudge):
    """Judges by plans; the values past the horizon come from an evaluator.

    Decisions are judged with the given settings. If these count plies, rolls are judged with one ply and without
    pruning: the roll and the best play after it.
    """

    kind, batch = "plan", 4

    def __init__(self, game: Game, evaluator: Any, settings: Mapping[str, Any], name: str) -> None:
        self.name = name
        self._planner = Planner(game, evaluator, **settings)
        rest = {key: value for key, value in settings.items() if key not in ("plies", "keep", "margin")}
        rolls = rest if settings.get("plies") is None else {**rest, "plies": 1}
        self._rolls = self._planner if rolls == dict(settings) else Planner(game, evaluator, **rolls)

    def judge_plays(self, states: Sequence[State], plays: Sequence[Sequence[int]]) -> list[JudgedPlay]:
        """Judge decisions by plans, see ``Judge.judge_plays``."""
        plans = self._planner.plan_many([state.clone() for state in states])
        return [self._judge_play(*row) for row in zip(states, plays, plans, strict=True)]

    def _judge_listed(self, states: Sequence[State], outcomes: Sequence[int]) -> list[JudgedRoll]:
        """Judge rolls; all outcomes of a roll are part of one plan."""
        found = []
        for state, outcome, plan in zip(states, outcomes, self._plan(states), strict=True):
            chances = dict(state.chance_outcomes())
            values = {label: limited(value, state) for label, value in plan.action_values(state).items()}
            expected = np.sum([chances[label] * value for label, value in values.items()], axis=0)
            found.append(JudgedRoll(expected, values[outcome] - expected, chances[outcome]))
        return found

    def _values(self, states: Sequence[State]) -> list[Vector]:
        return [limited(plan.value(state), state) for state, plan in zip(states, self._plan(states), strict=True)]

    def _plan(self, states: Sequence[State]) -> list[Plan]:
        return self._rolls.plan_many([state.clone() for state in states]) if states else []

    def _judge_play(self, state: State, play: Sequence[int], plan: Plan) -> JudgedPlay:
        rows = []
        root, at = plan, state.clone()
        for action in play:
            canonical = at.canonical_action(action)
            values, plan = self._action_values(at, canonical, plan)
            rows.append((values, canonical))
            at.apply_action(action)
        complete = {one.actions: float(limited(one.value, state)) for one in root.result(state).plays}
        return judged(state, play, limited(root.value(state), state), rows, complete)

    def _action_values(self, state: State, action: int, plan: Plan) -> tuple[dict[int, float], Plan]:
        """Return the values of the actions; a pruned action is planned for itself."""
        mover = state.current_player()
        try:
            values = plan.action_values(state)
        except PositionError:  # the play left the plan by a pruned action
            plan = self._planner.plan(state.clone())
            values = plan.action_values(state)
        found = {label: float(value[mover]) for label, value in values.items()}
        if action not in found:
            found[action] = float(self._planner.run(state.clone(), [action]).value[mover])
        return {label: float(limited(value, state)) for label, value in found.items()}, plan


class SearchJudge(EstimatingJudge):
    """Judges by searches.

    A search finds the best action. If another one was chosen, both get a search of their own with the same number of
    simulations, so that neither profits from being selected. A roll is judged by two independent searches from the
    chance node. The luck of each outcome is multiplied by the share of the differences between outcomes on which both
    searches agree, because the rest is noise.
    """

    kind, batch, draws = "search", 32, 8

    def __init__(
        self, game: Game, evaluator: Any, config: SearchConfig, name: str, threads: int = 1, most_leaves: int = LEAVES
    ) -> None:
        if config.max_seconds is not None:
            raise ConfigError("is set, expected sims or evaluations: a judge repeats its values", field="max_seconds")
        self.name = name
        leaves = config.num_simulations * largest_visit(chance_of(config, game, resolve_evaluator(evaluator)), game)
        trees = max(1, min(TREES, most_leaves // min(leaves, config.max_evaluations or leaves)))
        self._forest = Forest(game, evaluator, config, trees=trees, threads=threads)

    def judge_plays(self, states: Sequence[State], plays: Sequence[Sequence[int]]) -> list[JudgedPlay]:
        """Judge decisions by searches, action by action; see ``Judge.judge_plays``."""
        points = [_along(state, play) for state, play in zip(states, plays, strict=True)]
        flat = [point for some in points for point in some]
        searched = iter(self._search_actions(flat))
        found = []
        for state, play, some in zip(states, plays, points, strict=True):
            mine = [next(searched) for _ in some]
            rows = [(values, action) for (_, values), (_, action) in zip(mine, some, strict=True)]
            found.append(judged(state, play, mine[0][0], rows, {}))
        return found

    def _judge_listed(self, states: Sequence[State], outcomes: Sequence[int]) -> list[JudgedRoll]:
        """Judge rolls by two searches from each chance node."""
        halves = [self._run(states, half) for half in (1, 2)]
        return [_agreed(*row) for row in zip(states, outcomes, zip(*halves, strict=True), strict=True)]

    def _values(self, states: Sequence[State]) -> list[Vector]:
        return [limited(result.value, state) for state, result in zip(states, self._run(states, 0), strict=True)]

    def _values_at_once(self, state: State) -> bool:
        return not state.is_chance_node()  # a search from a decision looks further, so both must start there

    def _search_actions(self, points: Sequence[tuple[State, int]]) -> list[tuple[Vector, dict[int, float]]]:
        """Return the value of each state by player, and the values of its actions for the mover.

        No action counts more than the better one of the search's choice and the action that was played: the means of
        other actions have few visits.
        """
        results = self._run([state for state, _ in points], 0)
        rivals = [[int(result.best_action or 0), action] for (_, action), result in zip(points, results, strict=True)]
        again = [(row, action) for row, some in enumerate(rivals) if some[0] != some[1] for action in some]
        refined = self._run([points[row][0] for row, _ in again], 3, [[action] for _, action in again])
        known = dict(zip(again, refined, strict=True))
        found = []
        for row, ((state, _), result) in enumerate(zip(points, results, strict=True)):
            mover = state.current_player()
            values = {int(a): float(q) for a, q in zip(result.actions, result.q, strict=True) if not np.isnan(q)}
            for action in rivals[row]:
                if (row, action) in known:
                    values[action] = float(known[row, action].value[mover])
            most = max(values[action] for action in rivals[row])
            bounded = {action: float(limited(min(value, most), state)) for action, value in values.items()}
            found.append((limited(result.value, state), bounded))
        return found

    def _run(self, states: Sequence[State], stream: int, actions: Any = None) -> list[SearchResult]:
        seeds = [own_seed(state, stream_key(REVIEWS, stream)) for state in states]
        return self._forest.run(states, seeds=seeds, actions=actions) if states else []


def _along(state: State, play: Sequence[int]) -> list[tuple[State, int]]:
    """Return the states of a play in which the mover has a choice, each with the action; at least the first."""
    found, at = [], state.clone()
    for number, action in enumerate(play):
        if number == 0 or len(at.legal_actions()) > 1:
            found.append((at.clone(), at.canonical_action(action)))
        at.apply_action(action)
    return found


def _agreed(state: State, outcome: int, halves: tuple[SearchResult, SearchResult]) -> JudgedRoll:
    """Judge a roll by two searches from the chance node; outcomes that one of them did not visit have no luck."""
    chances = dict(state.chance_outcomes())
    first, second = (
        {one.outcome: limited(one.value, state) for one in half.outcomes if one.value is not None} for half in halves
    )
    labels = [label for label in chances if label in first and label in second]
    expected = limited(np.mean([half.value for half in halves], axis=0), state)
    if not labels:
        return JudgedRoll(expected, np.zeros_like(expected), chances[outcome])
    weights = np.array([chances[label] for label in labels])
    weights /= weights.sum()
    one, two = (np.array([half[label] for label in labels]) for half in (first, second))
    one, two = one - weights @ one, two - weights @ two  # [outcomes, players]
    both = (one + two) / 2
    spread = float(weights @ (both**2).sum(axis=1))
    share = float(weights @ (one * two).sum(axis=1)) / spread if spread > 0.0 else 0.0
    luck = min(1.0, max(0.0, share)) * both[labels.index(outcome)] if outcome in labels else np.zeros_like(expected)
    return JudgedRoll(expected, luck, chances[outcome])


def can_list(state: State) -> bool:
    """Return whether the outcomes of all rolls in a row from a state can be listed; True if it is not a roll."""
    at, total = state, 1
    while at.is_chance_node() and total <= MOST_LISTED:
        if not at.outcomes_listed():
            return False
        outcomes = at.chance_outcomes()
        total *= max(2, len(outcomes))  # 2, so that this ends
        at = at.child(outcomes[0][0])
    return total <= MOST_LISTED


def drawn_ends(state: State, draws: int) -> list[State]:
    """Return states after all rolls in a row, drawn with a seed that depends only on the position."""
    key, ends = own_seed(state, stream_key(REVIEWS, 4)), []
    for place in range(draws):
        end, draw_key = state.clone(), stream_key(place, key)
        for number in count():
            if not end.is_chance_node():
                break
            end.apply_action(end.sample_outcome(draw_at(draw_key, number)))
        ends.append(end)
    return ends
