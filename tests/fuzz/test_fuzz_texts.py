"""Mutated texts of games, positions, moves, players and options: they are accepted, or raise an error in one line."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from mutations import NUMBERS, WORDS, counts, garbled, survives

from aleazero.cli.options import read_params, read_plan
from aleazero.errors import ConfigError
from aleazero.games.registry import load_game
from aleazero.players.make import make_player
from aleazero.players.spec import check_evaluator, read_chance
from aleazero.selfplay.config import Temperature

EXAMPLES = sorted(
    path for path in (Path(__file__).parents[2] / "examples").glob("*.py") if not path.stem.startswith("engine_")
)
GAMES = (("dice_game", {}), ("pig", {"target": 20}), ("tic_tac_toe", {}), ("2048", {}), ("yatzy", {"players": 1}),
         ("backgammon", {}), ("yatzy", {"players": 2}), *((str(path), {}) for path in EXAMPLES))  # fmt: skip
PLAYERS = (
    "random", "greedy", "oracle", "human", "solo", "search", "search:sims=200,evaluator=rollout", "net:dummy",
    "search:evaluations=50,chance=stratified,c=1.5,selection=uct", "plan:horizon=turn,evaluator=uniform",
    "plan:plies=1,keep=3,margin=0.5,evaluator=rollout:5", "net:dummy,sims=16", "search:net=dummy,prior_temperature=0.5",
    "net:champion", "net:/nowhere/net.safetensors,inference=torch", "search:evaluator=oracle",
    "search:evaluator=net:dummy",
)  # fmt: skip
OPTIONS = ("turn", "3", "uniform", "rollout:5", "target=50", "x=[1]", "closed", "linear:1:0.1:20")
ODD = (-1, 1, 2, 9, 31, 127, 300, 2**31, 2**63 - 1, -(2**63))


@cache
def positions(number):
    """Return a game with texts, serialized states and vectors of random play."""
    game, rng = load_game(GAMES[number][0], **GAMES[number][1]), Random(number)
    found, state = [], game.new_initial_state()
    for _ in range(60):
        found.append((state.to_text(), state.serialize(), getattr(state, "vector", np.zeros(0)).copy()))
        if state.is_terminal():
            state = game.new_initial_state()
        state.apply_action(rng.choice(state.legal_actions()))
    return game, found


def use(state):
    """Call the methods of an accepted state, and play a few moves."""
    for _ in range(4):
        str(state), state.to_text(), state.returns(), state.viewer(), state.observation_tensor(), state.serialize()
        if state.is_terminal():
            return
        actions = state.legal_actions()
        [state.action_to_string(action) for action in actions[:20]]
        state.apply_action(actions[len(actions) // 2])


@counts(400)
def test_games(count, bounded):
    texts = ("pig(target=50)", "yatzy(players=1)", "2048()", f"{EXAMPLES[0]}(heads=0.5, most=3)")
    for seed in range(count):
        rng = Random(f"games {seed}")
        survives(f"game {seed}", load_game, garbled(rng, rng.choice(texts)))


@counts(600)
def test_positions(count, bounded):
    accepted = 0
    for seed in range(count):
        rng = Random(f"positions {seed}")
        game, found = positions(rng.randrange(len(GAMES)))
        text, serialized, vector = rng.choice(found)
        states = [
            survives(f"text {seed} of {game!r}", game.state_from_text, garbled(rng, text)),
            survives(f"serialized {seed} of {game!r}", game.deserialize, garbled(rng, serialized)),
        ]
        if len(vector):
            numbers = vector.copy()
            for _ in range(rng.choice((1, 1, 3))):
                numbers[rng.randrange(len(numbers))] = rng.choice(ODD)
            states.append(survives(f"vector {seed} of {game!r}", game.state_from_vector, numbers))
        for state in filter(None, states):
            accepted += 1
            survives(f"state {seed} of {game!r}: {state.serialize()}", use, state)
    assert accepted > count / 10


@counts(400)
def test_moves(count, bounded):
    for seed in range(count):
        rng = Random(f"moves {seed}")
        game, found = positions(rng.randrange(len(GAMES)))
        state = game.state_from_text(rng.choice(found)[0])
        names = [] if state.is_terminal() else [state.action_to_string(action) for action in state.legal_actions()[:50]]
        moves = garbled(rng, ",".join(rng.sample(names, min(len(names), 3))))
        survives(f"moves {seed} of {game!r}", state.play, moves)


@counts(600)
def test_players(count, bounded):
    games = [load_game("pig", target=10), load_game(str(EXAMPLES[0]))]
    for game in games:
        make_player("search", game)  # compiled before the time is limited
    for seed in range(count):
        rng = Random(f"players {seed}")
        survives(f"player {seed}", make_player, garbled(rng, rng.choice(PLAYERS)), rng.choice(games))


@counts(600)
def test_options(count, bounded):
    for seed in range(count):
        rng = Random(f"options {seed}")
        text = garbled(rng, rng.choice(OPTIONS))
        for call in (read_plan, check_evaluator, read_chance, Temperature.parse, parameter):
            survives(f"option {seed}", call, text)
        deep = "[" * rng.choice((10, 1000, 100_000)) + rng.choice(WORDS + NUMBERS)
        survives(f"option {seed}", parameter, f"x={deep}")


def parameter(text):
    """Parse a parameter, and check that it can be printed and written."""
    found = read_params([text])
    return repr(found), json.dumps(found)


def test_survives_fails_for_other_errors():
    with pytest.raises(AssertionError, match="a bug: ValueError: invalid literal"):
        survives("a bug", int, "y")
    with pytest.raises(ConfigError):
        read_plan("y")
    assert survives("refused", read_plan, "y") is None
