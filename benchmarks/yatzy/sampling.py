"""How the fixed sets of Yatzy were made: from games of mixed strength, evenly by stage and kind.

Each turn of a game is played by the oracle, by greed or by lot, so that positions of good and of poor play are there. A
game gives at most one position to each of the nine cells of (stage, kind). At marks the positions of a cell are dealt
out by the category that is best, so that each is asked for. Same name, same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aleazero.evaluation.match import game_seed
from aleazero.evaluation.yatzy.positions import FOLDER, KINDS, PREFIX, STAGES, Position, solitaire, write_set
from aleazero.games.base import State
from aleazero.games.luck import PlayedLuck
from aleazero.games.yatzy.rules import MOST_REROLLS
from aleazero.native.random import SAMPLED_TURNS, stream_key, unit
from aleazero.oracles.oracle import Oracle, best_of, require_oracle
from aleazero.oracles.yatzy import decision_of
from aleazero.players.make import make_player
from aleazero.players.player import Player

SETS: Final = {"small": (17, 1), "standard": (170, 2)}
"""By name: positions a cell, and the seed of the games."""
STRENGTHS: Final = ("oracle", "oracle", "oracle", "greedy", "random")
SPARE: Final = 3
"""At marks so many times more positions are found as are taken, to have each category."""

Cell = tuple[str, str]


def sample_set(name: str, judge: Oracle) -> list[Position]:
    """The positions of a set that ships, made anew."""
    return sample_positions(*SETS[name], judge)


def sample_positions(a_cell: int, seed: int, judge: Oracle) -> list[Position]:
    """So many positions of each cell, from the games of a seed."""
    cells = [(stage, kind) for stage in STAGES for kind in reversed(KINDS)]
    wanted = {cell: a_cell * (SPARE if cell[1] == "mark" else 1) for cell in cells}
    pools: dict[Cell, list[Position]] = {cell: [] for cell in cells}
    players = {word: make_player(word, solitaire()) for word in dict.fromkeys(STRENGTHS)}
    number = 0
    while any(len(pools[cell]) < wanted[cell] for cell in cells):
        for cell, position in _one_each(_decisions(players, seed, number), seed, number).items():
            if len(pools[cell]) < wanted[cell] and position not in pools[cell]:
                pools[cell].append(position)
        number += 1
    chosen = [pools[cell] if cell[1] != "mark" else _by_best_mark(pools[cell], a_cell, judge) for cell in cells]
    return [position for some in chosen for position in some]


def _one_each(decisions: list[State], seed: int, number: int) -> dict[Cell, Position]:
    """For each cell that a game passes through, one of its positions there, by lot."""
    passed: dict[Cell, list[Position]] = {}
    for state in decisions:
        position = Position(*decision_of(state))
        if len(state.legal_actions()) > 1:
            passed.setdefault((position.stage, position.kind), []).append(position)
    draw = unit(stream_key(SAMPLED_TURNS, seed, number))
    return {cell: positions[int(draw * len(positions))] for cell, positions in passed.items()}


def _decisions(players: Mapping[str, Player], seed: int, number: int) -> list[State]:
    """The decisions of a game whose turns are played by players of mixed strength."""
    state, luck, turn = solitaire().new_initial_state(), PlayedLuck(game_seed(seed, number)), 0
    found: list[State] = []
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(luck.draw(state))
            continue
        found.append(state.clone())
        turn += decision_of(state)[3] == MOST_REROLLS
        own_seed = stream_key(SAMPLED_TURNS, seed, number, turn)
        player = players[STRENGTHS[int(unit(own_seed) * len(STRENGTHS))]]
        state.apply_action(player.select(state, own_seed))
    return found


def _by_best_mark(pool: list[Position], count: int, judge: Oracle) -> list[Position]:
    """Some of a pool of marks: in turn one for each category that is best, as long as there is one."""
    by_best: dict[int, list[Position]] = {}
    for position in pool:
        by_best.setdefault(best_of(judge.action_values(position.state()))[0], []).append(position)
    chosen: list[Position] = []
    while len(chosen) < count:
        for category in sorted(by_best):
            if by_best[category]:
                chosen.append(by_best[category].pop(0))
    return chosen[:count]


def write_sets() -> None:
    """Write the sets that ship anew."""
    judge = require_oracle(solitaire())
    for name in SETS:
        write_set(FOLDER / f"{PREFIX}{name}.json", sample_set(name, judge))


if __name__ == "__main__":
    write_sets()
