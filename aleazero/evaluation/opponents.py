"""The opponents that every player of a game is measured against, and the positions where its regret is."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from aleazero.errors import GameError
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.yatzy_sets import load_set
from aleazero.games.base import Game, State
from aleazero.native.random import WALKS
from aleazero.oracles.judge import Judge, SolvedJudge, judge_of
from aleazero.oracles.solve import solve
from aleazero.players.make import make_player

ROLLOUT: Final = "search:sims=200,evaluator=rollout"
NAMES: Final = ("random", "rollout", "oracle")
MOST_GAMES: Final = 200
MOST_STATES: Final = 100_000
"""Of a game that is solved in passing."""


def fixed_opponents(game: Game) -> dict[str, str]:
    """By name the text of each: ``random``, ``rollout`` (a search of 200 playouts) and ``oracle``, where there is one.

    In Yatzy for several, the oracle's is the player who is best alone.
    """
    found = {"random": "random", "rollout": ROLLOUT}
    if game.name == "yatzy" and game.num_players > 1:
        return {**found, "oracle": "alone"}
    return found if oracle_of(game) is None else {**found, "oracle": "oracle"}


@lru_cache(maxsize=4)
def oracle_of(game: Game) -> Judge | None:
    """What knows the exact value of every action, where that is known or found at once."""
    if game.name == "yatzy":
        return judge_of(game) if game.num_players == 1 else None
    if not game.info.lists_outcomes or game.info.utility is None:
        return None
    try:
        return SolvedJudge(solve(game, max_states=MOST_STATES))
    except GameError:
        return None


def fixed_positions(game: Game, count: int = 200) -> list[State]:
    """Decisions with a choice that are always the same: Yatzy's small set, else from games that are played by lot."""
    if game.name == "yatzy" and game.num_players == 1:
        return [position.state() for position in load_set("small")]
    players = [make_player("random", game)] * game.num_players
    found: dict[bytes, State] = {}
    for played in play_match(game, players, game_seeds(WALKS, MOST_GAMES), player_seed=WALKS):
        state = game.new_initial_state()
        for _, action in played.steps:
            if not state.is_chance_node() and len(state.legal_actions()) > 1:
                found.setdefault(state.key(), state.clone())
            state.apply_action(action)
    states = list(found.values())
    return states[:: max(1, len(states) // count)][:count]
