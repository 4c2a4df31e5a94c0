"""Generate the fixed position sets of Yatzy from games of mixed strength, evenly by stage and kind of decision.

Each turn of a game is played by the oracle, the greedy player or the random player, so that the sets contain positions
of good and of poor play. A game contributes at most one position to each of the nine cells (stage, kind). Scoring
decisions are balanced by the best category. The files are reproducible.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aleazero.evaluation.match import game_seed
from aleazero.evaluation.yatzy.positions import FOLDER, KINDS, PREFIX, STAGES, Position, solitaire, write_set
from aleazero.games.base import State
from aleazero.games.game_dice import GameDice
from aleazero.games.yatzy.rules import MOST_REROLLS
from aleazero.native.random import SAMPLED_TURNS, stream_key, unit
from aleazero.oracles.oracle import Oracle, best_of, require_oracle
from aleazero.oracles.yatzy import decision_of
from aleazero.players.make import make_player
from aleazero.players.player import Player

SETS: Final = {"small": (17, 1), "standard": (170, 2)}
"""Positions per cell and seed of the games, by name of the set."""
STRENGTHS: Final = ("oracle", "oracle", "oracle", "greedy", "random")
SPARE: Final = 3
"""Factor by which more scoring decisions are collected than used, so that every category can be represented."""

Cell = tuple[str, str]


def sample_set(name: str, oracle: Oracle) -> list[Position]:
    """Generate the positions of a bundled set."""
    return sample_positions(*SETS[name], oracle)


def sample_positions(per_cell: int, seed: int, oracle: Oracle) -> list[Position]:
    """Return this many positions per cell, from the games of a seed."""
    cells = [(stage, kind) for stage in STAGES for kind in reversed(KINDS)]
    wanted = {cell: per_cell * (SPARE if cell[1] == "mark" else 1) for cell in cells}
    pools: dict[Cell, list[Position]] = {cell: [] for cell in cells}
    players = {spec: make_player(spec, solitaire()) for spec in dict.fromkeys(STRENGTHS)}
    number = 0
    while any(len(pools[cell]) < wanted[cell] for cell in cells):
        for cell, position in _one_each(_decisions(players, seed, number), seed, number).items():
            if len(pools[cell]) < wanted[cell] and position not in pools[cell]:
                pools[cell].append(position)
        number += 1
    chosen = [pools[cell] if cell[1] != "mark" else _by_best_score(pools[cell], per_cell, oracle) for cell in cells]
    return [position for some in chosen for position in some]


def _one_each(decisions: list[State], seed: int, number: int) -> dict[Cell, Position]:
    """Return one random position for each cell that a game passes through."""
    passed: dict[Cell, list[Position]] = {}
    for state in decisions:
        position = Position(*decision_of(state))
        if len(state.legal_actions()) > 1:
            passed.setdefault((position.stage, position.kind), []).append(position)
    draw = unit(stream_key(SAMPLED_TURNS, seed, number))
    return {cell: positions[int(draw * len(positions))] for cell, positions in passed.items()}


def _decisions(players: Mapping[str, Player], seed: int, number: int) -> list[State]:
    """Return the decisions of a game whose turns are played by players of mixed strength."""
    state, dice, turn = solitaire().new_initial_state(), GameDice(game_seed(seed, number)), 0
    found: list[State] = []
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(dice.draw(state))
            continue
        found.append(state.clone())
        turn += decision_of(state)[3] == MOST_REROLLS
        own_seed = stream_key(SAMPLED_TURNS, seed, number, turn)
        player = players[STRENGTHS[int(unit(own_seed) * len(STRENGTHS))]]
        state.apply_action(player.select(state, own_seed))
    return found


def _by_best_score(pool: list[Position], count: int, oracle: Oracle) -> list[Position]:
    """Select scoring decisions from a pool, alternating between the categories that are best."""
    by_best: dict[int, list[Position]] = {}
    for position in pool:
        by_best.setdefault(best_of(oracle.action_values(position.state()))[0], []).append(position)
    chosen: list[Position] = []
    while len(chosen) < count:
        for category in sorted(by_best):
            if by_best[category]:
                chosen.append(by_best[category].pop(0))
    return chosen[:count]


def write_sets() -> None:
    """Write the bundled sets again."""
    oracle = require_oracle(solitaire())
    for name in SETS:
        write_set(FOLDER / f"{PREFIX}{name}.json", sample_set(name, oracle))


if __name__ == "__main__":
    write_sets()
