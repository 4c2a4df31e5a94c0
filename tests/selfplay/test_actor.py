"""The actor: the games it plays are right, and depend on nothing but their numbers and the settings."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import ConfigError, EvaluatorError
from aleazero.games.luck import PlayedLuck
from aleazero.replay.check_episode import check_episode
from aleazero.selfplay.actor import Actor
from aleazero.selfplay.config import SelfplayConfig, Temperature, drawn

GAMES = {
    "pig": {"target": 20},
    "tic_tac_toe": {},
    "2048": {},
    "yatzy": {"players": 3},
    "examples/race.py": {},
    "examples/coins.py": {},
}


class Noisy:
    """Arbitrary fixed logits and values, row by row; afterstates are estimated too."""

    afterstates = 1

    def __init__(self, game: aleazero.Game) -> None:
        self.actions, self.players = game.num_actions, game.num_players

    def __call__(self, observations, legal_masks):
        seeds = np.asarray(observations, np.float64) @ np.arange(1, observations.shape[1] + 1)
        logits = np.sin(seeds[:, None] + np.arange(self.actions))
        return logits, 0.5 * np.cos(seeds[:, None] * 1.7 + np.arange(self.players))


def short(name: str) -> dict:
    """2048 played by arbitrary values is over soon enough; the others are short."""
    return {"simulations": 6, "parallel": 3, "temperature": Temperature(start=0.5)}


def played(name: str, numbers=range(5), evaluator=Noisy, **settings):
    game = aleazero.load_game(name, **GAMES[name])
    actor = Actor(game, evaluator(game), SelfplayConfig(**{**short(name), **settings}), seed=4, iteration=2)
    records = sorted(actor.play(numbers), key=lambda record: record.game_number)
    return game, records


@pytest.mark.parametrize("name", [name for name in GAMES if "coins" not in name])
def test_every_record_holds_when_its_game_is_played_again(name: str) -> None:
    game, records = played(name)
    assert [record.game_number for record in records] == list(range(5))
    for record in records:
        check_episode(record, game)
        decisions = ~record.afterstate
        assert (record.searched[decisions] == (record.legal_masks[decisions].sum(axis=1) > 1)).all()
        taught = record.policies[record.weights > 0]
        np.testing.assert_allclose(taught.sum(axis=1), 1.0, atol=1e-6)


def test_the_dice_are_played_luck_of_the_record_s_seed() -> None:
    game, records = played("yatzy", range(2))
    for record in records:
        luck, state = PlayedLuck(record.seed), game.new_initial_state()
        for player, action in record.steps:
            if player == -1:
                assert luck.draw(state) == action
            state.apply_action(int(action))
        np.testing.assert_array_equal(state.returns(), record.returns)


@pytest.mark.parametrize("name", ["pig", "yatzy"])
def test_a_game_depends_on_its_number_alone(name: str) -> None:
    _, wanted = played(name, range(6))
    for numbers, settings in ((range(6), {"parallel": 1}), ([5, 0, 3], {"parallel": 2}), (range(6), {"parallel": 6})):
        _, found = played(name, numbers, **settings)
        for record in found:
            assert record.equals(wanted[record.game_number])
    seeds = {record.seed for record in wanted}
    assert len(seeds) == 6


def test_another_iteration_or_seed_has_other_games() -> None:
    game = aleazero.load_game("pig", **GAMES["pig"])
    config = SelfplayConfig(simulations=4, parallel=2)
    found = [
        next(iter(Actor(game, Noisy(game), config, seed=seed, iteration=iteration).play([0])))
        for seed, iteration in ((1, 0), (1, 1), (2, 0), (1, 0))
    ]
    assert found[0].equals(found[3])
    assert not found[0].equals(found[1])
    assert not found[0].equals(found[2])


def test_afterstates_are_worth_what_the_search_found_behind_the_move() -> None:
    _game, records = played("pig", temperature=Temperature(start=0.0))
    record = records[0]
    for i in np.flatnonzero(record.afterstate):
        assert record.searched[i] == record.searched[i - 1]
        assert record.viewers[i] == record.viewers[i - 1]  # who acted
        if record.searched[i]:
            assert abs(record.root_values[i, 0]) <= 1
    # At temperature 0 the best action is played, so no afterstate is worth much less than its decision.
    both = record.searched & record.afterstate
    assert (record.root_values[both, 0] >= record.root_values[np.flatnonzero(both) - 1, 0] - 0.4).all()


def test_full_and_fast_searches() -> None:
    _, records = played("yatzy", range(3), full_share=0.4, fast_simulations=2)
    weights = np.concatenate([record.weights[record.searched & ~record.afterstate] for record in records])
    assert set(weights.tolist()) == {0.0, 1.0}
    assert 0.25 < weights.mean() < 0.55  # 270 draws with p = 0.4
    for record in records:
        assert not record.policies[record.weights == 0].any()


def test_simulations_by_class() -> None:
    _game, records = played("yatzy", [0], simulations_by_class={"mark": 40}, simulations=3, noise_alpha=0.0)
    record = records[0]
    shares = record.policies[record.weights > 0].max(axis=1)
    marks = record.legal_masks[record.weights > 0][:, 32:].any(axis=1)
    assert all(round(share * 40, 4) == round(share * 40) for share in shares[marks].tolist())
    assert all(abs(share * 3 - round(share * 3)) < 1e-5 for share in shares[~marks].tolist())
    with pytest.raises(ConfigError, match="simulations_by_class has 'roll', did you mean reroll"):
        played("yatzy", [0], simulations_by_class={"roll": 3})


def test_an_evaluator_that_fails_ends_it_with_its_error() -> None:
    def broken(game):
        def evaluate(observations, legal_masks):
            return np.full(legal_masks.shape, np.nan), np.zeros((len(legal_masks), game.num_players))

        return evaluate

    with pytest.raises(EvaluatorError, match="NaN"):
        played("pig", evaluator=broken)


@pytest.mark.parametrize(
    ("settings", "plies", "wanted"),
    [
        ({"kind": "constant", "start": 0.7}, (0, 99), (0.7, 0.7)),
        ({"kind": "step", "start": 1.0, "end": 0.1, "plies": 5}, (4, 5), (1.0, 0.1)),
        ({"kind": "linear", "start": 1.0, "end": 0.5, "plies": 10}, (0, 5, 10, 50), (1.0, 0.75, 0.5, 0.5)),
        ({"kind": "exponential", "start": 1.0, "end": 0.2, "plies": 4}, (0, 4, 8), (1.0, 0.6, 0.4)),
    ],
)
def test_temperature_schedules(settings, plies, wanted) -> None:
    schedule = Temperature(**settings)
    assert [schedule.at(ply) for ply in plies] == pytest.approx(list(wanted))


def test_moves_are_drawn_by_visits_to_the_power_of_one_over_the_temperature() -> None:
    visits = [1, 0, 4, 3]
    units = (np.arange(4000) + 0.5) / 4000
    for temperature in (1.0, 0.5, 2.0):
        weights = np.array(visits, float) ** (1 / temperature)
        found = np.bincount([drawn(visits, temperature, u) for u in units], minlength=4) / 4000
        np.testing.assert_allclose(found, weights / weights.sum(), atol=1e-3)
    assert {drawn(visits, 0, u) for u in (0.0, 0.5, 0.999)} == {2}
    assert drawn([2, 2], 0, 0.9) == 0
    assert drawn(visits, 1.0, np.nextafter(1.0, 0.0)) == 3


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="parallel is 0, expected"):
        SelfplayConfig(parallel=0)
    with pytest.raises(ConfigError, match="no setting 'sims'"):
        SelfplayConfig(sims=3)
    with pytest.raises(ConfigError, match="mark is 0, expected at least 1"):
        SelfplayConfig(simulations_by_class={"mark": 0})
