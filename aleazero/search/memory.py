"""Estimate of the memory of a tree before a search."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import numpy as np

from aleazero.games.base import Game
from aleazero.games.game_dice import GameDice
from aleazero.games.kernel import KernelGame
from aleazero.native.random import BRANCHING_GAMES, stream_key, unit
from aleazero.search.config import SearchConfig, chance_of
from aleazero.search.tree.arrays import EDGE, ENTRIES_PER_NODE, FIRST_OUTCOMES, node_dtype

RANDOM_GAMES: Final = 4
RANDOM_STEPS: Final = 500
"""Number of random games from which branching is estimated, and the maximum length of each."""
TABLE_ENTRY: Final = 4
OBJECT_NODE: Final = 2048
"""Assumed bytes per node of an object game, with edges and state (measured with small states: 1.1 to 1.4 kB)."""


def tree_size(game: Game, evaluator: Any, search: SearchConfig) -> int:
    """Return an estimate of the bytes of a tree.

    The nodes per simulation are estimated from the settings and from the mean numbers of actions and outcomes in a few
    random games. In six measured settings the estimate was 0.4 to 4 times the real size.
    """
    chance = chance_of(search, game, evaluator)
    actions, outcomes = mean_branches(game)
    expanded = outcomes if 1 < outcomes <= chance.exact_up_to else 1.0
    nodes = min(search.max_nodes, 1 + round(search.num_simulations * (1 + expanded)))
    listed = max(expanded, min(outcomes, FIRST_OUTCOMES)) if chance.lists_outcomes else 0.0
    edges = search.num_simulations * (expanded * actions + listed)
    if not isinstance(game, KernelGame):
        return nodes * OBJECT_NODE
    info = game.info
    state = info.state_size * np.dtype(info.state_dtype).itemsize
    per_node = node_dtype(info.num_players).itemsize + state + 8 * info.num_players + ENTRIES_PER_NODE * TABLE_ENTRY
    return nodes * per_node + round(edges) * EDGE.itemsize


def mean_branches(game: Game) -> tuple[float, float]:
    """Return the mean numbers of actions per decision and of listed outcomes per chance event, in random games."""
    actions, outcomes = [1], [1]
    for number in range(RANDOM_GAMES):
        with suppress(Exception):  # errors in the rules are reported when the game is played
            _count_branches(game, number, actions, outcomes)
    return sum(actions) / len(actions), sum(outcomes) / len(outcomes)


def _count_branches(game: Game, number: int, actions: list[int], outcomes: list[int]) -> None:
    """Play a random game and append the numbers of actions and outcomes."""
    state, dice = game.new_initial_state(), GameDice(stream_key(BRANCHING_GAMES, number))
    for step in range(RANDOM_STEPS):
        if state.is_terminal():
            return
        if state.is_chance_node():
            if state.outcomes_listed():
                outcomes.append(len(state.chance_outcomes()))
            state.apply_action(dice.draw(state))
        else:
            legal = state.legal_actions()
            actions.append(len(legal))
            state.apply_action(legal[int(unit(stream_key(BRANCHING_GAMES, number, step)) * len(legal))])
