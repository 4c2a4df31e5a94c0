"""The judge of a game, with whose values its decisions and rolls are reviewed: the oracle, a plan or a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from aleazero.errors import ConfigError, nearest
from aleazero.evaluation.plays import plays_of
from aleazero.games.base import Game, State
from aleazero.games.kit import kit_of
from aleazero.oracles.oracle import Oracle, oracle_of, require_oracle
from aleazero.players.champions import CHAMPION, champion_of
from aleazero.players.make import NET_SIMULATIONS, make_plan, make_search, search_config
from aleazero.players.search import LEAVES, read_any_net
from aleazero.players.spec import PlayerSpec, parse_spec
from aleazero.serving.estimates import PlanJudge, SearchJudge
from aleazero.serving.judgement import Judge, JudgedPlay, JudgedRoll, Vector, final_value, judged, probability_of

SIMULATIONS: Final = 1000
"""Simulations per search of the default judge of games without oracle and network."""
MOST_SOLVED: Final = 300_000
"""States of a game that is solved for the default judge; larger games are solved only for the judge ``oracle``."""
JUDGES: Final = ("oracle", "plan", "net", "search")


def make_judge(game: Game, spec: str | None = None, *, threads: int = 1, max_nodes: int | None = None) -> Judge:
    """Make the judge of a game.

    Args:
        game: the game.
        spec: ``oracle``, ``plan:KEY=VALUE,...``, ``net:FILE`` or ``search:KEY=VALUE,...``, as for players. None for the
            oracle if the game has one or has at most ``MOST_SOLVED`` states, else the player of the bundled network,
            else a search.
        threads: threads of the searches; they do not change the values.
        max_nodes: maximum number of nodes of a search tree, and of leaves of all trees at the same time; None for the
            default of searches.

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
        return _make(parsed, game, threads, max_nodes)
    except ConfigError as error:
        raise error.at(f"judge {spec!r}") from None


def _make(spec: PlayerSpec, game: Game, threads: int, max_nodes: int | None) -> Judge:
    if spec.kind == "oracle":
        return OracleJudge(require_oracle(game))
    if spec.kind == "plan":
        evaluator, settings = make_plan(spec, game)
        return PlanJudge(game, evaluator, settings, _text(spec))
    if spec.kind == "search":
        limits = {} if max_nodes is None else {"max_nodes": max_nodes}
        evaluator, config = make_search(spec, game, **limits)
        return SearchJudge(game, evaluator, config, _text(spec), threads, max_nodes or LEAVES)
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
