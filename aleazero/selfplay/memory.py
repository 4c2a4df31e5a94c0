"""How much memory the trees of self-play need, told before it starts: trees × nodes × bytes.

The nodes that a simulation adds follow from the settings, and from how many actions and outcomes the game has on
average, which a few random games tell. It is a rough guess: 0.4 to 4 times what was measured in six settings.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.luck import PlayedLuck, stream_key, unit
from aleazero.search.config import chance_of
from aleazero.search.listing import FEW
from aleazero.search.tree import EDGE, PLACES_PER_NODE, node_dtype
from aleazero.selfplay.config import SelfplayConfig

GAMES: Final = 4
STEPS: Final = 500
"""Random games that are looked at, and the most steps of each."""
BRANCHES: Final = 0x6272616E636873  # "branchs": their stream
TABLE_PLACE: Final = 4
OBJECT_NODE: Final = 2048
"""Bytes of a node of an object game, with its edges and state; 1.1 to 1.4 kB were measured with small states."""


def require_memory(game: Game, evaluator: Any, config: SelfplayConfig, workers: int, games: int) -> None:
    """Refuse settings whose trees would not fit the machine."""
    has = machine_memory()
    trees = min(workers * config.parallel, games)
    needed = trees * tree_size(game, evaluator, config)
    if has is not None and needed > has:
        chance = " or another chance than full" if config.chance is not None and config.chance.exact_up_to else ""
        raise ConfigError(
            f"{trees:,} games at once would need about {needed / 2**30:,.0f} GB, the machine has {has / 2**30:,.0f}: "
            f"expected fewer workers, parallel games or simulations{chance}"
        )


def tree_size(game: Game, evaluator: Any, config: SelfplayConfig) -> int:
    """About how many bytes a tree of a full search has."""
    search = config.search()
    chance = chance_of(search, game, evaluator)
    actions, outcomes = mean_branches(game)
    expanded = outcomes if 1 < outcomes <= chance.exact_up_to else 1.0
    nodes = min(search.max_nodes, 1 + round(search.num_simulations * (1 + expanded)))
    listed = max(expanded, min(outcomes, FEW)) if chance.lists_outcomes else 0.0  # those picked have edges
    edges = search.num_simulations * (expanded * actions + listed)
    if not isinstance(game, KernelGame):
        return nodes * OBJECT_NODE
    info = game.info
    state = info.state_size * np.dtype(info.state_dtype).itemsize
    per_node = node_dtype(info.num_players).itemsize + state + 8 * info.num_players + PLACES_PER_NODE * TABLE_PLACE
    return nodes * per_node + round(edges) * EDGE.itemsize


def mean_branches(game: Game) -> tuple[float, float]:
    """Actions of a decision and outcomes of a chance event, on average in random play; those listed only."""
    actions, outcomes = [1], [1]
    for number in range(GAMES):
        with suppress(Exception):  # rules that raise are told by whoever plays them
            _look_at(game, number, actions, outcomes)
    return sum(actions) / len(actions), sum(outcomes) / len(outcomes)


def _look_at(game: Game, number: int, actions: list[int], outcomes: list[int]) -> None:
    """Play a random game, and note how many actions and outcomes there are."""
    state, luck = game.new_initial_state(), PlayedLuck(stream_key(BRANCHES, number))
    for step in range(STEPS):
        if state.is_terminal():
            return
        if state.is_chance_node():
            if state.outcomes_listed():
                outcomes.append(len(state.chance_outcomes()))
            state.apply_action(luck.draw(state))
        else:
            legal = state.legal_actions()
            actions.append(len(legal))
            state.apply_action(legal[int(unit(stream_key(BRANCHES, number, step)) * len(legal))])


def machine_memory() -> int | None:
    """Bytes that the machine has, or that this process's group may use; None where it does not tell."""
    try:
        has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(has, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return has
