"""The compiled search equals the plain one, seed for seed, over games and settings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero import ChanceConfig, Rollout, SearchConfig, Uniform


class Hashed:
    """An evaluator whose logits and values are arbitrary but fixed functions of the observation."""

    def __init__(self, actions: int, players: int, afterstates: int = 0, decisions: int = 1) -> None:
        self.actions, self.players = actions, players
        self.afterstates, self.decisions = afterstates, decisions

    def __call__(self, observations, legal_masks):
        seeds = (np.abs(np.asarray(observations, np.float64)) @ np.arange(1, observations.shape[1] + 1)) * 7.3
        logits = np.cos(np.outer(seeds + 1.0, np.arange(1, self.actions + 1)))
        values = np.sin(np.outer(seeds + 2.0, np.arange(1, self.players + 1)))
        return logits * 3.0, values


POSITIONS = {
    "dice_game": ["0", "14", "15 rolling"],
    "pig": ["0-0 turn 0 player 0", "5-9 turn 7 player 1", "12-3 turn 4 player 0 rolling"],
    "tic_tac_toe": ["x.o/.x./o.."],
    "2048": ["4 2 0 0/2 4 8 0/0 0 2 0/16 2 0 0"],
}
GAMES = {"dice_game": {}, "pig": {"target": 20}, "tic_tac_toe": {}, "2048": {}}

SETTINGS = {
    "default": {},
    "uct": {"selection": "uct", "c": 0.7},
    "first play": {"first_play": 0.3, "c": 0.4},
    "greedy": {"c": 0.0},
    "noise": {"noise_alpha": 0.3, "noise_fraction": 0.5},
    "shallow": {"max_depth": 3},
    "in flight": {"in_flight": 5},
    "virtual loss": {"in_flight": 4, "in_flight_mode": "virtual_loss"},
    "many in flight": {"in_flight": 64},
    "few nodes": {"max_nodes": 40},
    "few evaluations": {"max_evaluations": 33, "in_flight": 4},
    "uct in flight": {"selection": "uct", "in_flight": 3},
}


def same(first, second, depth=6) -> None:
    """Every number of two results, to the bit, and their trees up to a depth."""
    for name in ("actions", "visits", "q", "priors", "value"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert first.best_action == second.best_action
    for action in first.actions:
        np.testing.assert_array_equal(first.value_after(action), second.value_after(action))
    assert first.stopped == second.stopped
    left, right = dict(vars(first.stats)), dict(vars(second.stats))
    del left["tree_bytes"], right["tree_bytes"]
    assert left == right
    assert first.tree(depth=depth).root == second.tree(depth=depth).root
    for a, b in zip(first.outcomes, second.outcomes, strict=True):
        assert (a.outcome, a.probability, a.visits) == (b.outcome, b.probability, b.visits)
        np.testing.assert_array_equal(a.value, b.value)
    assert [vars(s)["text"] for s in first.principal_variation()] == [
        vars(s)["text"] for s in second.principal_variation()
    ]


def both(game, evaluator, position, actions=None, **settings):
    config = SearchConfig(**{"num_simulations": 150, "seed": 11, **settings})
    state = game.state_from_text(position) if isinstance(position, str) else position
    searches = [aleazero.Search(game, evaluator, config, backend=backend) for backend in ("compiled", "plain")]
    results = [search.run(state, actions) for search in searches]
    same(*results)
    assert [search._driver.group.trees[0].in_flight() for search in searches] == [0, 0]
    return results[0]


def evaluator_named(name: str, game: aleazero.Game):
    sizes = (game.num_actions, game.num_players)
    return {
        "uniform": Uniform(),
        "rollout": Rollout(playouts=2, max_steps=30),
        "net": Hashed(*sizes),
        "estimate": Hashed(*sizes, afterstates=1),
        "exact": Hashed(*sizes, afterstates=2),
        "exact decisions": Hashed(*sizes, decisions=2),
    }[name]


@pytest.mark.parametrize("loop", ["closed", "open"])
@pytest.mark.parametrize("name", list(GAMES))
@pytest.mark.parametrize("setting", list(SETTINGS))
def test_every_setting_on_every_game(name: str, setting: str, loop: str) -> None:
    game = aleazero.load_game(name, **GAMES[name])
    for evaluator in ("uniform", "rollout", "net"):
        for position in POSITIONS[name]:
            chance = ChanceConfig(loop=loop, pick="sample")
            both(game, evaluator_named(evaluator, game), position, chance=chance, **SETTINGS[setting])


@pytest.mark.parametrize("loop", ["closed", "open"])
@pytest.mark.parametrize("evaluator", ["estimate", "exact", "exact decisions"])
@pytest.mark.parametrize("name", ["dice_game", "pig", "2048"])
@pytest.mark.parametrize("in_flight", [1, 6])
def test_afterstate_values(name: str, evaluator: str, loop: str, in_flight: int) -> None:
    game = aleazero.load_game(name, **GAMES[name])
    for position in POSITIONS[name]:
        chance = ChanceConfig(loop=loop, pick="sample")
        both(game, evaluator_named(evaluator, game), position, chance=chance, in_flight=in_flight)


@pytest.mark.parametrize("name", ["dice_game", "pig", "tic_tac_toe"])
@pytest.mark.parametrize("setting", ["default", "noise", "in flight", "virtual loss", "few evaluations"])
def test_first_play_by_logits(name: str, setting: str) -> None:
    game = aleazero.load_game(name, **GAMES[name])
    evaluator = evaluator_named("estimate", game)
    evaluator.logit_unit = 0.2
    others = 0
    for chance in (ChanceConfig(), ChanceConfig.preset("stratified")):
        for position in POSITIONS[name]:
            settings = {**SETTINGS[setting], "chance": chance}
            by_logits = both(game, evaluator, position, first_play="logits", **settings)
            assert np.isnan(by_logits.q[by_logits.visits == 0]).all()
            others += by_logits.visits.tolist() != both(game, evaluator, position, **settings).visits.tolist()
    assert others > 0 or name == "pig"  # with two actions, both are tried at once


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_limited_root_actions(loop: str) -> None:
    game = aleazero.load_game("tic_tac_toe")
    chance = ChanceConfig(loop=loop, pick="sample")
    result = both(game, evaluator_named("net", game), "x.o/.x./o..", actions=[7, 1], chance=chance, noise_alpha=1.0)
    assert result.actions.tolist() == [1, 7]
    assert result.priors.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_seeds(seed: int) -> None:
    game = aleazero.load_game("pig", target=20)
    loop = ("closed", "open")[seed % 2]
    both(game, Rollout(), "5-9 turn 7 player 1", seed=seed * 977, num_simulations=400,
         chance=ChanceConfig(loop=loop, pick="sample"))  # fmt: skip


def test_growth_does_not_change_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that starts with room for 8 nodes ends as one that had room from the start."""
    game = aleazero.load_game("2048")
    state = game.state_from_text(POSITIONS["2048"][0])
    for loop in ("closed", "open"):
        for in_flight in (1, 7):
            config = SearchConfig(
                num_simulations=1500, seed=5, in_flight=in_flight, chance=ChanceConfig(loop=loop, pick="sample")
            )
            roomy = aleazero.Search(game, "uniform", config)
            roomy.run(state)
            with monkeypatch.context() as patch:
                patch.setattr("aleazero.search.tree.group.FIRST_NODES", 8)
                tight = aleazero.Search(game, "uniform", config)
            assert len(tight._driver.group.trees[0].arrays.nodes) == 8
            same(tight.run(state), roomy.run(state))
            assert len(tight._driver.group.trees[0].arrays.nodes) > 1000


def test_pauses_do_not_change_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    game = aleazero.load_game("pig", target=20)
    state = game.new_initial_state()
    for in_flight in (1, 16):
        config = SearchConfig(num_simulations=700, in_flight=in_flight)
        usual = aleazero.Search(game, "rollout", config).run(state)
        for seconds in (-1.0, 1e9):
            monkeypatch.setattr("aleazero.search.driver.CHUNK_SECONDS", seconds)
            same(aleazero.Search(game, "rollout", config).run(state), usual)


def test_a_plain_search_can_be_stopped_and_reports_when_no_leaf_is_left_to_evaluate() -> None:
    game = aleazero.load_game(str(Path(__file__).parents[3] / "examples" / "coins.py"))
    state = game.new_initial_state()
    search = aleazero.Search(game, "rollout", SearchConfig(num_simulations=20_000))  # its whole tree has 20 nodes
    assert search.run(state, stop=lambda: True).stopped == "interrupted"
    seen: list[int] = []
    search.run(state, progress=lambda found: seen.append(int(found.visits.sum())), progress_seconds=0.01)
    assert len(seen) > 2
    assert seen == sorted(seen)
