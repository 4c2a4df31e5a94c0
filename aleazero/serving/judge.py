"""Judges: the values with which decisions and rolls of a game are reviewed.

A judge is the oracle of the game, a plan with a network, or a search. Its value of a roll never depends on the outcome
that was played, so the luck that it finds is zero on average, whatever its accuracy:

- Listed outcomes: all of them are valued in the same way, and the expectation is their mean by probability.
- Other outcomes: the expectation is the mean over outcomes drawn with a seed that depends only on the position.

Several rolls in a row, e.g. a refill of Azul, can have too many outcomes to list. Then the value before each of them is
the mean over drawn outcomes of all that follow, so the noise of these means cancels within the refill.

Estimates are limited to the range of the game's returns. A network that also values the margin can exceed it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError, nearest
from aleazero.evaluation.plays import plays_of
from aleazero.games.base import Game, State
from aleazero.games.kit import kit_of
from aleazero.native.random import REVIEWS, draw_at, stream_key
from aleazero.oracles.oracle import Oracle, best_of, oracle_of, require_oracle
from aleazero.players.champions import CHAMPION, champion_of
from aleazero.players.make import NET_SIMULATIONS, make_plan, make_search, search_config
from aleazero.players.player import own_seed
from aleazero.players.search import LEAVES, TREES, read_any_net
from aleazero.players.spec import PlayerSpec, parse_spec
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.forest import Forest
from aleazero.search.plan.plan import Plan
from aleazero.search.plan.planner import Planner
from aleazero.search.result import SearchResult

Vector = NDArray[np.float64]
"""Expected return of each player, shape (players,)."""
SIMULATIONS: Final = 1000
"""Simulations per search of the default judge of games without oracle and network."""
MOST_SOLVED: Final = 300_000
"""States of a game that is solved for the default judge; larger games are solved only for the judge ``oracle``."""
MOST_LISTED: Final = 1000
"""Outcomes of rolls in a row that are listed."""
ALTERNATIVES: Final = 5
"""Plays that are listed for each decision."""
JUDGES: Final = ("oracle", "plan", "net", "search")


@dataclass(frozen=True)
class JudgedPlay:
    """A judged play: the actions of a player until the next roll or the next player."""

    value: Vector
    """Value before the play, under the best play, by player."""
    costs: tuple[float, ...]
    """For each action the value of the best action minus that of the chosen one, for the mover; 0 for all that tie."""
    best: tuple[int, ...]
    """Actions of the best play; the chosen ones if they tie for the best."""
    alternatives: tuple[tuple[tuple[int, ...], float], ...]
    """The best plays and the chosen one, the best first, each with its value for the mover."""


@dataclass(frozen=True)
class JudgedRoll:
    """A judged outcome of a chance node."""

    expected: Vector
    """Expectation before the roll, by player."""
    luck: Vector
    """Value after the roll minus the expectation before it, by player."""
    probability: float | None
    """Probability of the outcome; None if outcomes cannot be listed."""


class Judge(ABC):
    """Values decisions and rolls; ``make_judge`` makes one."""

    name: str
    """What judges, for results, e.g. ``oracle (exact values)``."""
    kind: str
    """``oracle``, ``plan`` or ``search``."""
    exact: bool = False
    """Whether all values are exact."""
    batch: int = 1
    """Decisions or rolls that are best judged together."""

    @abstractmethod
    def judge_plays(self, states: Sequence[State], plays: Sequence[Sequence[int]]) -> list[JudgedPlay]:
        """Judge decisions: at each state, the actions that the mover played until a roll or another player."""

    @abstractmethod
    def judge_rolls(self, states: Sequence[State], outcomes: Sequence[int]) -> list[JudgedRoll]:
        """Judge the outcomes that were played at chance nodes."""

    @abstractmethod
    def values(self, states: Sequence[State]) -> list[Vector]:
        """Return the expected return of each player in any states, under best play."""


def make_judge(game: Game, spec: str | None = None, *, threads: int = 1) -> Judge:
    """Make the judge of a game.

    Args:
        game: the game.
        spec: ``oracle``, ``plan:KEY=VALUE,...``, ``net:FILE`` or ``search:KEY=VALUE,...``, as for players. None for the
            oracle if the game has one or has at most ``MOST_SOLVED`` states, else the player of the bundled network,
            else a search.
        threads: threads of the searches; they do not change the values.

    Raises:
        ConfigError: the spec is invalid, or the game has no oracle and the spec requires one.
    """
    if spec is None:
        oracle = oracle_of(game, max_states=MOST_SOLVED)
        if oracle is not None:
            return OracleJudge(oracle)
        champion = champion_of(game)
        spec = f"search:sims={SIMULATIONS}" if champion is None else champion.engine
    if (kind := spec.partition(":")[0].strip()) not in JUDGES:
        raise ConfigError(f"judge is {spec!r}, {nearest(kind, JUDGES)}")
    parsed = parse_spec(spec, "judge", (), kit_of(game).evaluators)
    try:
        return _make(parsed, game, threads)
    except ConfigError as error:
        raise error.at(f"judge {spec!r}") from None


def _make(spec: PlayerSpec, game: Game, threads: int) -> Judge:
    if spec.kind == "oracle":
        return OracleJudge(require_oracle(game))
    if spec.kind == "plan":
        evaluator, settings = make_plan(spec, game)
        return PlanJudge(game, evaluator, settings, _text(spec))
    if spec.kind == "search":
        evaluator, config = make_search(spec, game)
        return SearchJudge(game, evaluator, config, _text(spec), threads)
    from aleazero.nets.planned import PlannedEvaluator

    given = dict(spec.settings)
    net = read_any_net(given.pop("path"), game, given.pop("inference", None), given.pop("prior_temperature", None))
    if isinstance(net, PlannedEvaluator) and not given.get("sims"):
        return PlanJudge(game, net, net.horizon(), _text(spec))
    if given.get("sims") == 0:
        raise ConfigError("is 0, expected at least 1: the values of actions come from a search", field="sims")
    return SearchJudge(game, net, search_config(given, NET_SIMULATIONS, net), _text(spec), threads)


def _text(spec: PlayerSpec) -> str:
    """Return the spec; a judge with the bundled network is named by it."""
    rest = str(spec).replace(f",net={CHAMPION}", "").replace(f"net={CHAMPION}", "")
    return str(spec) if rest == str(spec) else f"{rest} with the bundled network"


# -- the oracle ------------------------------------------------------------------------------------------------


class OracleJudge(Judge):
    """Judges by exact values."""

    kind, exact, batch = "oracle", True, 16
    name = "oracle (exact values)"

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def judge_plays(self, states: Sequence[State], plays: Sequence[Sequence[int]]) -> list[JudgedPlay]:
        """Judge decisions by exact values, see ``Judge.judge_plays``."""
        return [self._judge_play(state, play) for state, play in zip(states, plays, strict=True)]

    def judge_rolls(self, states: Sequence[State], outcomes: Sequence[int]) -> list[JudgedRoll]:
        """Judge rolls by exact values, see ``Judge.judge_rolls``."""
        found = []
        for state, outcome in zip(states, outcomes, strict=True):
            expected = self._value(state)
            luck = self._value(state.child(outcome)) - expected
            found.append(JudgedRoll(expected, luck, probability_of(state, outcome)))
        return found

    def values(self, states: Sequence[State]) -> list[Vector]:
        """Return exact values, see ``Judge.values``."""
        return [self._value(state) for state in states]

    def _value(self, state: State) -> Vector:
        return final_value(state) if state.is_terminal() else np.asarray(self._oracle.values(state), np.float64)

    def _judge_play(self, state: State, play: Sequence[int]) -> JudgedPlay:
        mover, value, rows = state.current_player(), self._value(state), []
        at = state.clone()
        for action in play:
            rows.append((self._oracle.action_values(at), at.canonical_action(action)))
            at.apply_action(action)
        values: dict[tuple[int, ...], float] = {}
        several = state.game.num_players > 1  # in one-player games each action is a play
        if several and any(state.child(action).current_player() == mover for action in rows[0][0]):
            values = {one.actions: float(self._value(one.end)[mover]) for one in plays_of(state)}
        return judged(state, play, value, rows, values)


# -- plans -----------------------------------------------------------------------------------------------------


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


# -- searches --------------------------------------------------------------------------------------------------


class SearchJudge(EstimatingJudge):
    """Judges by searches.

    A search finds the best action. If another one was chosen, both get a search of their own with the same number of
    simulations, so that neither profits from being selected. A roll is judged by two independent searches from the
    chance node. The luck of each outcome is multiplied by the share of the differences between outcomes on which both
    searches agree, because the rest is noise.
    """

    kind, batch, draws = "search", 32, 8

    def __init__(self, game: Game, evaluator: Any, config: SearchConfig, name: str, threads: int = 1) -> None:
        if config.max_seconds is not None:
            raise ConfigError("is set, expected sims or evaluations: a judge repeats its values", field="max_seconds")
        self.name = name
        leaves = config.num_simulations * largest_visit(chance_of(config, game, resolve_evaluator(evaluator)), game)
        trees = max(1, min(TREES, LEAVES // min(leaves, config.max_evaluations or leaves)))
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


# -- parts of all judges ---------------------------------------------------------------------------------------


def judged(
    state: State,
    play: Sequence[int],
    value: Vector,
    rows: Sequence[tuple[Mapping[int, float], int]],
    plays: Mapping[tuple[int, ...], float],
) -> JudgedPlay:
    """Return the judgement of a play.

    Args:
        state: the decision at which it starts.
        play: its actions.
        value: value of the state by player.
        rows: for each action with a choice the values of all actions for the mover, and the action.
        plays: values of complete plays; empty if each play is one action.
    """
    costs = tuple(
        0.0 if action in best_of(values) else max(values.values()) - values[action] for values, action in rows
    )
    chosen = tuple(play)
    reached = rows[-1][0][rows[-1][1]]
    listed = dict(plays) or {(action,): number for action, number in rows[0][0].items()}
    ordered = sorted(listed.items(), key=lambda item: (-item[1], item[0]))
    end = _after(state, chosen).key()
    others = [(actions, number) for actions, number in ordered if actions != chosen[: len(actions)] or plays]
    others = [
        (actions, number) for actions, number in others[: ALTERNATIVES + 1] if _after(state, actions).key() != end
    ]
    alternatives = sorted([*others[: ALTERNATIVES - 1], (chosen, reached)], key=lambda item: -item[1])
    best = chosen if sum(costs) == 0.0 else ordered[0][0]
    return JudgedPlay(np.asarray(value, np.float64), costs, best, tuple(alternatives))


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


def probability_of(state: State, outcome: int) -> float | None:
    """Return the probability of an outcome; None if outcomes cannot be listed."""
    return dict(state.chance_outcomes())[outcome] if state.outcomes_listed() else None


def limited(values: Any, state: State) -> Any:
    """Return values within the range of the game's returns."""
    return np.asarray(values) if state.game.info.utility is None else np.clip(values, *state.game.info.utility)


def final_value(state: State) -> Vector:
    """Return the returns of a terminal state."""
    return np.array(state.returns(), np.float64)


def _after(state: State, actions: Sequence[int]) -> State:
    at = state.clone()
    for action in actions:
        at.apply_action(action)
    return at
