"""Positions from outside: each vector is rejected with a PositionError, or all methods of its state work."""

import random
import types
from pathlib import Path

import numpy as np
import pytest

from aleazero.errors import AleaZeroError, PositionError
from aleazero.games.base import DECISION, GameInfo
from aleazero.games.registry import load_game

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = [
    *[("pig", {}), ("pig", {"target": 2}), ("tic_tac_toe", {}), ("dice_game", {}), ("2048", {})],
    *[("backgammon", {}), ("backgammon", {"checkers": 3}), ("backgammon", {"start": "bearoff"})],
    *[("yatzy", {"players": players}) for players in (1, 2, 4)],
    *[(f"{EXAMPLES}/{name}.py", {}) for name in ("five_dice", "race", "tag", "shut_the_box", "short_2048", "bust")],
]
IDS = [f"{Path(name).stem}{''.join(f'-{value}' for value in params.values())}" for name, params in GAMES]


def played(game, draw, games=10):
    """Return the vectors of a few random games."""
    vectors = []
    for _ in range(games):
        state = game.new_initial_state()
        vectors.append(state.vector.copy())
        while not state.is_terminal():
            step(state, draw)
            vectors.append(state.vector.copy())
    return vectors


def step(state, draw):
    chance = state.is_chance_node()
    state.apply_action(state.sample_outcome(draw.random()) if chance else draw.choice(state.legal_actions()))


def mutated(game, vectors, draw):
    """Return a vector of a game with some numbers changed, or random small numbers."""
    limits = np.iinfo(game.info.state_dtype)
    vector = draw.choice(vectors).copy()
    if draw.random() < 0.1:
        return np.array([draw.randint(-3, 20) for _ in vector])
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        place = draw.randrange(len(vector))
        near = (vector[place] + 1, vector[place] - 1, -vector[place], draw.choice(vectors)[place])
        vector[place] = draw.choice((*near, draw.randint(-2, 3), draw.randint(-40, 40), limits.min, limits.max))
    return vector


def use(state):
    """Call the methods of a state."""
    game, legal = state.game, state.legal_actions()
    assert 0 <= state.viewer() < game.num_players
    assert len(state.returns()) == game.num_players
    assert bool(legal) != state.is_terminal()
    assert np.isfinite(state.observation_tensor()).all()
    assert str(state)
    assert [state.string_to_action(state.action_to_string(action)) for action in legal[:3]] == legal[:3]
    if state.kind() == DECISION:
        assert state.legal_actions_mask().sum() == len(legal)
        assert state.playout_action(0.99) in legal
        assert 0 <= state.decision_class() < len(game.info.decision_classes)
    features = game.info.features
    if not state.is_terminal():
        assert 0 <= state.phase() < len(game.info.phases)
        if features is not None:
            out = np.full(features.size(game.num_players), np.nan, np.float32)
            game.kernels.features(state.vector, state.viewer(), out)
            assert np.isfinite(out).all()
    assert game.deserialize(state.serialize()).key() == state.key()
    assert game.state_from_text(state.to_text()).key() == state.key()


def fuzz(name, params, vectors, plays):
    game, draw = load_game(name, **params), random.Random(15)
    seeds, accepted = played(game, draw), 0
    for _ in range(vectors):
        vector = mutated(game, seeds, draw)
        try:
            state = game.state_from_vector(vector)
        except AleaZeroError:
            continue
        accepted += 1
        try:
            use(state)
            for _ in range(5_000 if accepted <= plays else 0):
                if state.is_terminal():
                    break
                step(state, draw)
                if draw.random() < 0.1:
                    use(state)
            assert accepted > plays or state.is_terminal()
        except Exception as error:
            raise AssertionError(f"{game} accepts {vector.tolist()}") from error
    # Unchanged vectors are among them, so that some are accepted.
    assert 0 < accepted < vectors


@pytest.mark.parametrize(("name", "params"), GAMES, ids=IDS)
def test_vectors_are_rejected_or_work(name, params):
    fuzz(name, params, vectors=1_500, plays=12)


@pytest.mark.long
@pytest.mark.parametrize(("name", "params"), GAMES, ids=IDS)
def test_many_vectors_are_rejected_or_work(name, params):
    fuzz(name, params, vectors=10_000, plays=500)


@pytest.mark.parametrize(
    ("name", "params", "text"),
    [
        ("pig", {"target": 20}, "pig(target=20)@1:22,10,0,328,2"),
        ("tic_tac_toe", {}, "tic_tac_toe()@1:1,1,1,0,2,0,2,1,31,1,2,1"),
        ("2048", {}, f"2048()@1:{','.join(['0', '1', '1', '2', '-1'] + ['0'] * 12 + ['52'])}"),
        ("2048", {}, f"2048()@1:{','.join(['17', '17'] + ['0'] * 14 + ['1', '0'])}"),
        ("dice_game", {}, "dice_game()@1:100,2"),
        ("backgammon", {}, f"backgammon(checkers=15, start='standard')@1:{','.join(['0'] * 40 + ['1'])}"),
        (f"{EXAMPLES}/five_dice.py", {}, "0,0,0,-1,0,0,2,1"),
        (f"{EXAMPLES}/race.py", {}, "12,12,0,2,0"),
        (f"{EXAMPLES}/shut_the_box.py", {}, "511,45,0,1"),
    ],
)
def test_numbers_that_no_play_reaches_are_rejected(name, params, text):
    game = load_game(name, **params)
    with pytest.raises(PositionError):
        game.deserialize(text)
    with pytest.raises(PositionError):
        game.state_from_vector([int(word) for word in text.rpartition(":")[2].split(",")])


@pytest.mark.parametrize(("name", "params"), GAMES, ids=IDS)
def test_bundled_games_and_examples_have_a_check(name, params):
    assert "check" in load_game(name, **params).kernels.uncompiled


def pick_game(**functions):
    """A game in which one of three numbers of a table is picked, with some functions replaced."""
    table = np.array([1.0, 2.0, 3.0])

    def apply(state, action):
        state[0] = 2
        state[1] = action

    def legal(state, out):
        out[:] = range(3)
        return 3

    def returns(state, out):
        out[0] = table[state[1]]

    module = types.ModuleType("pick")
    module.describe = lambda: GameInfo(name="pick", num_players=1, num_actions=3, state_size=2, state_dtype="int8")
    module.kind, module.to_play = lambda state: state[0], lambda state: 0
    module.apply, module.legal, module.returns = apply, legal, returns
    for name, function in functions.items():
        setattr(module, name, function)
    return load_game(module)


def test_rules_that_fail_on_a_vector_reject_it_even_without_a_check():
    game = pick_game()
    assert game.state_from_vector([2, 2]).returns() == [3.0]
    with pytest.raises(PositionError, match=r"the rules fail on the numbers \[2, 3\] with IndexError"):
        game.state_from_vector([2, 3])
    with pytest.raises(PositionError, match="expected at least one"):
        pick_game(legal=lambda state, out: 0).state_from_vector([0, 0])


def reject(state):
    if state[1] == 1:
        raise PositionError("pick: 1 is never picked")


def test_check_is_called_for_vectors_texts_and_serialized_states():
    game = pick_game(check=reject, text=lambda state: "{} {}".format(*state), parse=lambda line: line.split())
    for enter in (game.state_from_vector, lambda numbers: game.state_from_text("{} {}".format(*numbers)),
                  lambda numbers: game.deserialize("{},{}".format(*numbers))):  # fmt: skip
        assert enter([2, 2]).returns() == [3.0]
        with pytest.raises(PositionError, match="1 is never picked"):
            enter([2, 1])


def test_a_parser_or_check_that_fails_rejects_the_position():
    with pytest.raises(PositionError, match="cannot read position 'x': ZeroDivisionError"):
        pick_game(parse=lambda line: 1 // 0).state_from_text("x")
    with pytest.raises(PositionError, match="with ZeroDivisionError"):
        pick_game(check=lambda state: 1 // 0).state_from_vector([2, 2])
    with pytest.raises(PositionError, match="not integers"):
        pick_game(parse=lambda line: line.split()).state_from_text("2 x")
