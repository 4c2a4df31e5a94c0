"""Backgammon's bear-off tables and the solution of hypergammon as parts of its ``GameKit``.

A bear-off table holds values *before* a roll. Four evaluators use it in a search:

- ``bearoff`` (way A): exact values at chance nodes, below which nothing is expanded. Decisions have equal priors and
  the value 0, so the rest of a turn is searched. With an argument, ``bearoff:EVALUATOR`` (way C), all states that are
  not chance nodes in the table are valued by that evaluator.
- ``bearoff-rolled`` (way B): exact values after the roll, at decisions.
- ``bearoff-mismatch`` (way D): the values before the roll at decisions, where they are wrong. It is for measurements of
  this error only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aleazero.errors import ConfigError
from aleazero.games.backgammon.board import BEAROFF, KIND, PLAYER
from aleazero.games.base import CHANCE, DECISION, Game, State
from aleazero.games.kernel import KernelGame
from aleazero.games.states import vectors_of
from aleazero.native.compile import made_once

if TYPE_CHECKING:
    from aleazero.oracles.backgammon import BearoffTable
    from aleazero.search.hybrid import Hybrid

A, B, D = "bearoff", "bearoff-rolled", "bearoff-mismatch"


def exact_parts(game: Game) -> dict[str, Any]:
    """Return the parts of the kit that use exact values."""
    from aleazero.oracles.backgammon import backgammon_oracle, no_oracle

    why = no_oracle(game)
    return {
        "oracle": partial(backgammon_oracle, game) if why is None else None,
        "no_oracle": why,
        "evaluators": {A: at_chance_nodes, B: after_rolls, D: mismatch},
        "exact_columns": partial(exact_columns, game),
    }


def bearoff_table(game: Game) -> BearoffTable:
    """Return the bear-off table of a game, loaded once."""
    from aleazero.oracles.backgammon import BearoffTable

    return made_once(game, "bearoff table", lambda: BearoffTable(game.info.constants["CHECKERS"]))


def at_chance_nodes(game: Game, outside: str | None) -> Hybrid:
    """Return the evaluator of ways A and C."""
    from aleazero.players.make import read_evaluator

    table = bearoff_table(game)

    def values(states: Sequence[State]) -> Any:
        rows = vectors_of(states)
        found, known = table.before_roll(rows)
        return np.stack((-found, found), axis=1), known & (rows[:, KIND] == CHANCE)  # the viewer moved last

    evaluator = "uniform" if outside is None else read_evaluator(outside, game)
    return _hybrid(game, values, evaluator, chance=True)


def after_rolls(game: Game, outside: str | None) -> Hybrid:
    """Return the evaluator of way B."""
    _require_none(B, outside)
    table = bearoff_table(game)

    def values(states: Sequence[State]) -> Any:
        rows = vectors_of(states)
        found, known = table.after_roll(rows)
        return np.stack((found, -found), axis=1), known

    return _hybrid(game, values, "uniform", decisions=True)


def mismatch(game: Game, outside: str | None) -> Hybrid:
    """Return the evaluator of way D, whose values are wrong."""
    _require_none(D, outside)
    table = bearoff_table(game)

    def values(states: Sequence[State]) -> Any:
        rows = vectors_of(states)
        found, known = table.before_roll(rows)
        return np.stack((found, -found), axis=1), known & (rows[:, KIND] == DECISION)

    return _hybrid(game, values, "uniform", decisions=True)


def exact_columns(game: Game) -> Callable[[Any], tuple[Any, Any]]:
    """Return a function of rows of states between turns: the exact results, if no gammon is possible any more."""
    table = bearoff_table(game)

    def columns(rows: Any) -> tuple[Any, Any]:
        values, known = table.before_roll(rows)
        known &= table.no_gammons(rows) & (rows[:, KIND] == CHANCE)
        found = np.zeros((len(rows), 2 * game.info.levels - 1))
        found[:, 0] = np.where(rows[:, PLAYER] == 0, values, -values)  # a win or a loss; nothing counts 2 or 3 points
        return found, known

    return columns


def _hybrid(game: Game, values: Any, outside: Any, **covers: bool) -> Hybrid:
    from aleazero.search.hybrid import Hybrid

    assert isinstance(game, KernelGame)
    complete = game.info.constants["START"] == BEAROFF and bearoff_table(game).complete
    return Hybrid(game, values, outside, complete=complete, **covers)


def _require_none(name: str, argument: str | None) -> None:
    if argument is not None:
        raise ConfigError(f"is {name}:{argument!s}, expected {name} without an argument", field="evaluator")
