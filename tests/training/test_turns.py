"""Turns of many games, compared with the generic planner."""

from __future__ import annotations

import types
from dataclasses import replace

import numpy as np
import pytest
import tree_game

import aleazero
from aleazero import ESTIMATE, Planner
from aleazero.errors import ConfigError, GameError
from aleazero.games.base import DECISION, MANY
from aleazero.games.kernel import KernelGame
from aleazero.training import turns as turns_module
from aleazero.training.turns import PlannedLanes, _expect
from aleazero.training.turns_compiled import CompiledLanes, SampledChance, turn_player_of

PRIME = 2**31 - 1


def arbitrary(vectors, players):
    """Return pseudo-random values by player, from integer arithmetic on the state."""
    rows = np.asarray(vectors, np.int64)
    weights = np.random.default_rng(5).integers(1, PRIME, (players, rows.shape[1]))
    values = ((rows[:, None, :] * weights) % PRIME).sum(axis=2) % PRIME / PRIME
    return values if players != 2 else np.stack((values[:, 0], -values[:, 0]), axis=1)


class Arbitrary:
    sees_states = True
    afterstates = ESTIMATE

    def __call__(self, states):
        players = states[0].game.num_players
        values = arbitrary([state.vector for state in states], players)
        turned = [np.roll(row, -state.viewer()) for row, state in zip(values, states, strict=True)]
        return np.zeros((len(states), states[0].game.num_actions)), np.array(turned)


def worth_of(game, leaves):
    """Return the values that the planner uses: returns of terminal states, else arbitrary values."""
    values = arbitrary(leaves, game.num_players)
    for row, vector in enumerate(leaves):
        state = game.state_from_vector(vector)
        if state.is_terminal():
            values[row] = state.returns()
    return values


CASES = {
    "pig": ("pig", {"target": 20}, None, ["0-0", "3-0 player 1", "17-12", "0-18 turn 6 player 0", "19-19 player 1"]),
    "pig-plies": ("pig", {"target": 20}, 2, ["0-0", "3-0 player 1", "17-12", "19-19 player 1"]),
    "dice": ("dice_game", {}, None, ["0", "7 rolling", "19 rolling", "12"]),
    "dice-plies": ("dice_game", {}, 2, ["0", "7 rolling", "15 rolling", "12"]),
}


@pytest.fixture(scope="module", params=list(CASES))
def case(request):
    name, params, plies, positions = CASES[request.param]
    game = aleazero.load_game(name, **params)
    states = [game.state_from_text(text) for text in positions]
    return game, plies, states, np.array([state.vector for state in states])


KINDS = pytest.mark.parametrize("planned", [PlannedLanes, CompiledLanes])


@KINDS
def test_expectations_equal_those_of_the_planner(case, planned):
    game, plies, states, vectors = case
    lanes = planned(game, plies)
    leaves, starts, known = lanes.list_turn_ends(vectors)
    assert leaves.dtype == np.int64
    assert len(starts) == len(vectors) + 1
    worth = worth_of(game, leaves)
    carried = np.concatenate((worth, np.ones((len(leaves), 1))), axis=1)
    draws = np.random.default_rng(0).random((len(vectors), lanes.draws))
    movers, value, others, chosen, explored = lanes.play_turns(vectors, starts, known, worth, carried, draws, 0.0)
    planner = Planner(game, Arbitrary(), plies=plies, solver="generic")
    for lane, state in enumerate(states):
        exact = planner.plan(state).value(state)
        np.testing.assert_allclose(value[lane], exact[movers[lane]], rtol=0, atol=1e-12)
        np.testing.assert_allclose(others[lane, :-1], exact, rtol=0, atol=1e-12)
        assert others[lane, -1] == pytest.approx(1.0)
        assert starts[lane] <= chosen[lane] < starts[lane + 1]
        assert movers[lane] == state.current_player() or state.kind() != DECISION
    assert not explored.any()


def turns(game, plies, rounds, lanes):
    """Yield rounds of random play: the states, the leaves, their values with the random numbers, and the results."""
    first = game.new_initial_state().vector.astype(np.int64)
    states, rng = np.repeat(first[None], lanes, axis=0), np.random.default_rng(7)
    reference = PlannedLanes(game, plies)
    for _ in range(rounds):
        leaves, starts, known = reference.list_turn_ends(states)
        worth = np.round(rng.random((len(leaves), game.num_players)), 2)  # some are equal
        inputs = worth, rng.random((len(leaves), 3)), rng.random((lanes, 2))
        yield states, (leaves, starts), inputs, reference.play_turns(states, starts, known, *inputs, 0.3)
        states = leaves[reference.play_turns(states, starts, known, *inputs, 1.0)[3]]
        states[[game.state_from_vector(one).is_terminal() for one in states]] = first


@pytest.mark.parametrize(
    ("name", "params", "plies"),
    [
        ("pig", {"target": 20}, None),
        ("pig", {"target": 20}, 2),
        ("dice_game", {}, None),
        pytest.param("tic_tac_toe", {}, 3, marks=pytest.mark.long),
    ],
)
def test_compiled_lanes_equal_planned_lanes(name, params, plies):
    game = aleazero.load_game(name, **params)
    compiled = CompiledLanes(game, plies)
    for states, (leaves, starts), (worth, carried, draws), played in turns(game, plies, rounds=25, lanes=9):
        ours, begins, known = compiled.list_turn_ends(states)
        assert (ours.dtype, ours.tobytes(), begins.tobytes()) == (leaves.dtype, leaves.tobytes(), starts.tobytes())
        again = compiled.play_turns(states, begins, known, worth, carried, draws, 0.3)
        assert [(one.dtype, one.tobytes()) for one in again] == [(one.dtype, one.tobytes()) for one in played]


def test_arrays_grow_on_demand():
    """Arrays of nodes and edges and the hash table grow from almost no space, in the middle of the lanes."""
    game = aleazero.load_game("pig", target=20)  # other tests compile it too
    compiled = CompiledLanes(game)
    for room in ((1, 1, 1), (1, 500, 1), (500, 1, 1), (16, 3, 9)):
        for states, (leaves, starts), _, _ in turns(game, None, rounds=4, lanes=6):
            compiled._room, compiled._nodes, compiled._edges = room
            ours, begins, known = compiled.list_turn_ends(states)
            np.testing.assert_array_equal(ours, leaves)
            np.testing.assert_array_equal(begins, starts)
            assert len(known.graph.table) >= 2 * np.diff(known.spans[:, 1]).max()


def slow_masses(game, leaves, worth, root, random):
    """Compute the probability of each leaf by walking through the full tree; ``random``: with random actions."""
    place = {vector.tobytes(): row for row, vector in enumerate(leaves)}
    mass = np.zeros(len(leaves))

    def value(state):
        if state.key() in place:
            return worth[place[state.key()]]
        if state.is_chance_node():
            return sum(p * value(state.child(o)) for o, p in state.chance_outcomes())
        mover = state.current_player()
        return max((value(state.child(a)) for a in state.legal_actions()), key=lambda v: v[mover])

    def go(state, share):
        if state.key() in place:
            mass[place[state.key()]] += share
        elif state.is_chance_node():
            for outcome, probability in state.chance_outcomes():
                go(state.child(outcome), share * probability)
        elif random:
            for action in state.legal_actions():
                go(state.child(action), share / len(state.legal_actions()))
        else:
            mover = state.current_player()
            go(max((state.child(a) for a in state.legal_actions()), key=lambda s: value(s)[mover]), share)

    go(root, 1.0)
    return mass


@pytest.mark.parametrize("random", [False, True])
def test_reach_probabilities_equal_those_of_the_full_tree(random):
    game = aleazero.load_game("pig", target=20)
    root = game.state_from_text("6-9")
    leaves, _, ((arrays, ends),) = PlannedLanes(game).list_turn_ends(root.vector[None])
    worth = worth_of(game, leaves)
    nodes = int(arrays.counters[0])
    values, mass = np.zeros((nodes, 2)), np.zeros(nodes)
    values[ends] = worth
    mover, free = _expect(arrays.nodes, arrays.edges, arrays.order, random, values, mass)
    assert (mover, free) == (0, True)
    assert mass[ends].sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(mass[ends], slow_masses(game, leaves, worth, root, random), rtol=0, atol=1e-12)


@KINDS
def test_exploring_turns_do_not_change_the_other_turns(planned):
    """Exploration must not depend on the length of a turn, or long turns would be missing from the samples."""
    game = aleazero.load_game("pig", target=20)
    root, lanes, count = game.state_from_text("6-9").vector, planned(game), 4000
    leaves, starts, known = lanes.list_turn_ends(root[None])
    worth = worth_of(game, leaves)
    draws = np.random.default_rng(3).random((count, 1, 2))

    def play(explore):
        found = [lanes.play_turns(root[None], starts, known, worth, worth, one, explore) for one in draws]
        return np.array([one[3][0] for one in found]), np.array([one[4][0] for one in found])

    chosen, explored = play(0.3)
    greedy, none = play(0.0)
    assert not none.any()
    assert explored.mean() == pytest.approx(0.3, abs=0.03)
    np.testing.assert_array_equal(chosen[~explored], greedy[~explored])
    assert (chosen[explored] != greedy[explored]).mean() > 0.2


@KINDS
def test_turns_without_a_choice_never_explore(planned):
    game = aleazero.load_game("dice_game")
    pig = aleazero.load_game("pig", target=20)
    lanes, forced = planned(pig), pig.state_from_text("19-3 player 0").vector[None]  # roll, then hold
    leaves, starts, known = lanes.list_turn_ends(forced)
    worth = worth_of(pig, leaves)
    assert not lanes.play_turns(forced, starts, known, worth, worth, np.zeros((1, 2)), 1.0)[4][0]
    lanes, free = planned(game), game.state_from_text("3").vector[None]
    leaves, starts, known = lanes.list_turn_ends(free)
    worth = worth_of(game, leaves)
    assert lanes.play_turns(free, starts, known, worth, worth, np.zeros((1, 2)), 1.0)[4][0]


@KINDS
def test_the_error_for_a_large_turn_names_the_setting(monkeypatch, planned):
    monkeypatch.setattr(turns_module, "MOST_NODES", 20)
    game = aleazero.load_game("pig", target=20)
    first = game.new_initial_state().vector[None]
    with pytest.raises(GameError, match=r"pig: a turn has more than 20 states, expected plies=1 \(`train"):
        planned(game).list_turn_ends(first)
    with pytest.raises(GameError, match=r"a plan of plies=9 has .*expected fewer plies, or `aleazero train` with"):
        planned(game, 9).list_turn_ends(first)
    assert len(planned(game, 1).list_turn_ends(first)[0]) == 1


@pytest.mark.usefixtures("interpreted")
@KINDS
def test_a_turn_number_shared_by_two_players_is_rejected(planned):
    """With both players in one turn, play returns to earlier states, and no setting of training would help."""
    game = KernelGame(aleazero.load_game("pig").module, {"target": 6})
    game.kernels.turn = lambda state: 0
    first = game.new_initial_state().vector[None]
    with pytest.raises(GameError, match=r"turn\(state\) is equal for decisions of players 0 and 1, expected"):
        planned(game).list_turn_ends(first)


def many_outcomes(state, ids, probabilities):
    return MANY


def describe_many():
    return replace(tree_game.describe(), name="unlisted", constants={}, lists_outcomes=False)


@pytest.mark.usefixtures("interpreted")
@KINDS
def test_the_error_for_unlisted_outcomes_names_the_setting(planned):
    module = types.ModuleType("unlisted")
    for name in ("kind", "to_play", "viewer", "legal", "apply", "apply_outcome", "returns", "observe"):
        setattr(module, name, getattr(tree_game, name))
    module.outcomes, module.describe = many_outcomes, describe_many
    root = tree_game.chance([(0, 1, tree_game.terminal(1, -1)), (1, 1, tree_game.terminal(-1, 1))])
    game = KernelGame(module, {})
    with pytest.raises(GameError, match="unlisted: a chance node has too many outcomes to list, expected `aleazero"):
        planned(game).list_turn_ends(tree_game.encode(root)[None])


def test_turn_player_by_game():
    assert isinstance(turn_player_of(aleazero.load_game("pig")), CompiledLanes)
    assert isinstance(turn_player_of(aleazero.from_openspiel("pig")), PlannedLanes)


def test_a_game_with_its_own_turn_player_rejects_plies():
    with pytest.raises(ConfigError, match="plies is 2, expected none: yatzy plays its own turns"):
        turn_player_of(aleazero.load_game("yatzy"), 2)


# -- sampled chance ----------------------------------------------------------------------------------------------------


def ends_by_enumeration(state, mover):
    """Return the states that the mover's decisions can lead to, up to the next chance event, as bytes."""
    if state.kind() != DECISION:
        return {state.key()}
    assert state.current_player() == mover
    return set().union(*(ends_by_enumeration(state.child(action), mover) for action in state.legal_actions()))


def test_sampled_turns_equal_an_enumeration_of_their_decisions():
    """Backgammon has turns of one action, of two (doubles), and none (the game ends at the root)."""
    game = aleazero.load_game("backgammon", checkers=3)
    chance, lanes = SampledChance(game), turn_player_of(game, 1)
    states = np.repeat(game.new_initial_state().vector.astype(np.int64)[None], 12, axis=0)
    rng, over, doubles = np.random.default_rng(4), 0, 0
    for _ in range(30):
        begun = chance.play(states, rng.integers(2**64, size=len(states), dtype=np.uint64))
        leaves, starts, known = lanes.list_turn_ends(begun)
        for lane, row in enumerate(begun):
            root = game.state_from_vector(row)
            mine = {game.state_from_vector(leaf).key() for leaf in leaves[starts[lane] : starts[lane + 1]]}
            assert mine == ends_by_enumeration(root, root.current_player())
            doubles += root.vector[28] == root.vector[29] > 0
        worth = worth_of(game, leaves)
        movers, value, _, chosen, _ = lanes.play_turns(
            begun, starts, known, worth, np.zeros((len(leaves), 0)), rng.random((len(states), lanes.draws)), 0.0
        )
        for lane in range(len(states)):
            own = worth[starts[lane] : starts[lane + 1], movers[lane]]
            assert value[lane] == own.max() == worth[chosen[lane], movers[lane]]
        states = leaves[chosen]
        ended = np.array([game.state_from_vector(one).is_terminal() for one in states])
        over += ended.sum()
        states[ended] = game.new_initial_state().vector
    assert over > 5
    assert doubles > 10


@pytest.mark.parametrize("name", ["pig", "dice_game"])
def test_sampled_outcomes_have_their_probabilities(name):
    """Six equally likely outcomes: each comes about 1,000 times in 6,000 (standard deviation 29)."""
    game = aleazero.load_game(name)
    first = game.new_initial_state()
    while not first.is_chance_node():
        first = first.child(first.legal_actions()[0])
    states = np.repeat(first.vector.astype(np.int64)[None], 6000, axis=0)
    after = SampledChance(game).play(states, np.random.default_rng(1).integers(2**64, size=6000, dtype=np.uint64))
    _, counts = np.unique(after, axis=0, return_counts=True)
    assert len(counts) == len(first.chance_outcomes())
    assert abs(counts - 6000 / len(counts)).max() < 6 * 29


def test_games_without_chance_cannot_sample_it():
    with pytest.raises(ConfigError, match=r"plies is 0, expected at least 1: tic_tac_toe has no chance events"):
        SampledChance(aleazero.load_game("tic_tac_toe"))
