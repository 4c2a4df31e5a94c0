"""The actor: its games are valid, and depend only on their numbers and the settings."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import ConfigError, EvaluatorError, GameError
from aleazero.games.game_dice import GameDice
from aleazero.native.random import SELFPLAY_SEARCH, stream_key
from aleazero.replay.check import check_episode
from aleazero.search.memory import tree_size
from aleazero.selfplay import actor as actor_module
from aleazero.selfplay.actor import Actor, machine_memory, require_memory
from aleazero.selfplay.config import SelfplayConfig, Temperature, sample_index

GAMES = {
    "pig": {"target": 20},
    "tic_tac_toe": {},
    "2048": {},
    "yatzy": {"players": 3},
    "examples/race.py": {},
    "examples/coins.py": {},
}


class Noisy:
    """An evaluator with arbitrary fixed logits and values that also evaluates afterstates."""

    afterstates = 1

    def __init__(self, game: aleazero.Game) -> None:
        self.actions, self.players = game.num_actions, game.num_players

    def __call__(self, observations, legal_masks):
        seeds = np.asarray(observations, np.float64) @ np.arange(1, observations.shape[1] + 1)
        logits = np.sin(seeds[:, None] + np.arange(self.actions))
        return logits, 0.5 * np.cos(seeds[:, None] * 1.7 + np.arange(self.players))


def short(name: str) -> dict:
    """Return settings for short games."""
    return {"simulations": 6, "parallel": 3, "temperature": Temperature(start=0.5)}


def played(name: str, numbers=range(5), evaluator=Noisy, **settings):
    game = aleazero.load_game(name, **GAMES[name])
    actor = Actor(game, evaluator(game), SelfplayConfig(**{**short(name), **settings}), seed=4, iteration=2)
    records = sorted(actor.play(numbers), key=lambda record: record.game_number)
    return game, records


@pytest.mark.parametrize("name", [name for name in GAMES if "coins" not in name])
def test_every_record_passes_the_replay_check(name: str) -> None:
    game, records = played(name)
    assert [record.game_number for record in records] == list(range(5))
    for record in records:
        check_episode(record, game)
        decisions = ~record.afterstate
        assert (record.searched[decisions] == (record.legal_masks[decisions].sum(axis=1) > 1)).all()
        targets = record.policies[record.weights > 0]
        np.testing.assert_allclose(targets.sum(axis=1), 1.0, atol=1e-6)


def test_the_dice_are_the_game_dice_of_the_recorded_seed() -> None:
    game, records = played("yatzy", range(2))
    for record in records:
        dice, state = GameDice(record.seed), game.new_initial_state()
        for player, action in record.steps:
            if player == -1:
                assert dice.draw(state) == action
            state.apply_action(int(action))
        np.testing.assert_array_equal(state.returns(), record.returns)


@pytest.mark.parametrize("name", ["pig", "yatzy"])
def test_a_game_depends_only_on_its_number(name: str) -> None:
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


def test_afterstate_values_are_those_of_the_searched_action() -> None:
    _game, records = played("pig", temperature=Temperature(start=0.0))
    record = records[0]
    for i in np.flatnonzero(record.afterstate):
        assert record.searched[i] == record.searched[i - 1]
        assert record.viewers[i] == record.viewers[i - 1]  # the player that acted
        if record.searched[i]:
            assert abs(record.root_values[i, 0]) <= 1
    # At temperature 0 the best action is played, so no afterstate has a much lower value than its decision.
    both = record.searched & record.afterstate
    assert (record.root_values[both, 0] >= record.root_values[np.flatnonzero(both) - 1, 0] - 0.4).all()


def test_full_and_fast_searches() -> None:
    _, records = played("yatzy", range(3), full_share=0.4, fast_simulations=2)
    weights = np.concatenate([record.weights[record.searched & ~record.afterstate] for record in records])
    assert set(weights.tolist()) == {0.0, 1.0}
    assert 0.25 < weights.mean() < 0.55  # 270 draws with p = 0.4
    for record in records:
        assert not record.policies[record.weights == 0].any()


def test_simulations_per_search_class() -> None:
    _game, records = played("yatzy", [0], simulations_by_class={"mark": 40}, simulations=3, noise_alpha=0.0)
    record = records[0]
    shares = record.policies[record.weights > 0].max(axis=1)
    marks = record.legal_masks[record.weights > 0][:, 32:].any(axis=1)
    assert all(round(share * 40, 4) == round(share * 40) for share in shares[marks].tolist())
    assert all(abs(share * 3 - round(share * 3)) < 1e-5 for share in shares[~marks].tolist())
    with pytest.raises(ConfigError, match="simulations_by_class has 'roll', did you mean reroll"):
        played("yatzy", [0], simulations_by_class={"roll": 3})


NATURAL = """
from aleazero import CHANCE, DECISION, TERMINAL, GameInfo

def describe():
    return GameInfo("natural", num_players=1, num_actions=2, max_outcomes=2, utility=(0, 2), state_size=2)
def init(state): state[0] = CHANCE
def kind(state): return state[0]
def to_play(state): return 0
def legal(state, out):
    out[0], out[1] = 0, 1
    return 2
def apply(state, action): state[0], state[1] = TERMINAL, action
def outcomes(state, ids, probabilities):
    ids[0], ids[1], probabilities[0], probabilities[1] = 0, 1, 0.5, 0.5
    return 2
def apply_outcome(state, outcome):
    state[0] = TERMINAL if outcome == 1 else DECISION
    state[1] = 2 * outcome
def returns(state, out): out[0] = state[1]
"""


@pytest.mark.usefixtures("interpreted")
def test_a_game_may_end_before_the_first_decision(tmp_path) -> None:
    (tmp_path / "natural.py").write_text(NATURAL, encoding="utf-8")
    game = aleazero.load_game(f"{tmp_path}/natural.py")
    records = list(Actor(game, "uniform", SelfplayConfig(simulations=4, parallel=2)).play(range(12)))
    assert {int((~record.afterstate).sum()) for record in records} == {0, 1}
    for record in records:
        check_episode(record, game)
        assert record.afterstate[0]  # the first roll is a chance node


def test_an_actor_can_play_again_after_interrupted_games() -> None:
    game = aleazero.load_game("pig", **GAMES["pig"])
    actor = Actor(game, Noisy(game), SelfplayConfig(**short("pig")), seed=4, iteration=2)
    games = actor.play(range(5))
    next(games)
    games.close()
    found = sorted(actor.play(range(5)), key=lambda record: record.game_number)
    for record, wanted in zip(found, played("pig")[1], strict=True):
        assert record.equals(wanted)


def test_afterstates_carry_the_value_of_the_executed_action() -> None:
    game, records = played("pig", [0])
    record = records[0]
    config = SelfplayConfig(**short("pig"))
    state, decisions = game.new_initial_state(), 0
    for number, (player, action) in enumerate(record.steps.tolist()):
        if player >= 0:
            at = np.flatnonzero((record.step == number) & ~record.afterstate)[0]
            after = np.flatnonzero((record.step == number + 1) & record.afterstate)
            if record.searched[at]:
                key = stream_key(SELFPLAY_SEARCH, 4, 2, 0, decisions)
                result = aleazero.Search(game, Noisy(game), config.search()).run(state, seed=key)
                np.testing.assert_allclose(record.root_values[at], np.roll(result.value, -player), atol=1e-6)
                if len(after):
                    wanted = np.roll(result.value_after(action), -player)
                    np.testing.assert_allclose(record.root_values[after[0]], wanted, atol=1e-6)
            decisions += 1
        state.apply_action(action)
    assert decisions > 3


def test_an_error_of_the_evaluator_is_raised() -> None:
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


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0", Temperature(start=0.0)),
        ("0.3", Temperature(start=0.3)),
        ("step:1:0:12", Temperature(kind="step", start=1.0, end=0.0, plies=12)),
        ("linear:1.0:0.1:30", Temperature(kind="linear", start=1.0, end=0.1, plies=30)),
        ("exponential:2:0.5:4", Temperature(kind="exponential", start=2.0, end=0.5, plies=4)),
    ],
)
def test_temperature_from_text(text, wanted) -> None:
    assert Temperature.parse(text) == wanted


@pytest.mark.parametrize("text", ["", "hot", "linear", "linear:1:0", "linear:1:0:3:4", "linear:1:0:2.5", "line:1:0:3"])
def test_texts_that_are_not_a_temperature_are_rejected(text) -> None:
    with pytest.raises(ConfigError, match=r"expected a number, or step, linear or exponential with START:END:PLIES"):
        Temperature.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [("-1", "start is -1.0"), ("nan", "start is nan"), ("step:1:-1:3", "end is -1.0"), ("linear:1:0:0", "plies is 0")],
)
def test_invalid_temperatures_are_rejected(text, message) -> None:
    with pytest.raises(ConfigError, match=message):
        Temperature.parse(text)


def test_moves_are_sampled_by_visits_and_temperature() -> None:
    visits = [1, 0, 4, 3]
    units = (np.arange(4000) + 0.5) / 4000
    for temperature in (1.0, 0.5, 2.0):
        weights = np.array(visits, float) ** (1 / temperature)
        found = np.bincount([sample_index(visits, temperature, u) for u in units], minlength=4) / 4000
        np.testing.assert_allclose(found, weights / weights.sum(), atol=1e-3)
    assert {sample_index(visits, 0, u) for u in (0.0, 0.5, 0.999)} == {2}
    assert sample_index([2, 2], 0, 0.9) == 0
    assert sample_index(visits, 1.0, np.nextafter(1.0, 0.0)) == 3


@pytest.mark.parametrize("name", ["pig", "yatzy", "tic_tac_toe"])
def test_evaluations_are_counted(name: str) -> None:
    game = aleazero.load_game(name, **GAMES[name])
    rows = []

    class Counting(Noisy):
        any_size = True  # batches are not padded

        def __call__(self, observations, legal_masks):
            rows.append(len(observations))
            return super().__call__(observations, legal_masks)

    for chance in ("sampling", "full"):
        rows.clear()
        actor = Actor(game, Counting(game), SelfplayConfig(simulations=6, parallel=3, chance=chance))
        list(actor.play(range(3)))
        assert actor.evaluations == sum(rows) > 0
        if name == "tic_tac_toe":
            assert actor.evaluations < 7 * actor.decisions  # terminal states are not evaluated


def test_a_game_that_does_not_end_is_an_error() -> None:
    _game, records = played("pig", [0])
    plies = int((records[0].steps[:, 0] >= 0).sum())
    played("pig", [0], max_plies=plies)
    with pytest.raises(GameError, match=f"pig: self-play game 0 is not over after {plies - 1} decisions"):
        played("pig", [0], max_plies=plies - 1)


def test_invalid_settings_are_rejected() -> None:
    with pytest.raises(ConfigError, match="parallel is 0, expected"):
        SelfplayConfig(parallel=0)
    with pytest.raises(ConfigError, match="no setting 'sims'"):
        SelfplayConfig(sims=3)
    with pytest.raises(ConfigError, match="mark is 0, expected at least 1"):
        SelfplayConfig(simulations_by_class={"mark": 0})


def test_settings_that_need_too_much_memory_are_rejected(monkeypatch) -> None:
    yatzy, config = aleazero.load_game("yatzy"), SelfplayConfig(simulations=64, parallel=128, chance="full")
    a_tree = tree_size(yatzy, None, config.search())
    monkeypatch.setattr(actor_module, "machine_memory", lambda: 256 * a_tree)
    require_memory(yatzy, None, config, workers=2, games=10**6)
    require_memory(yatzy, None, config, workers=3, games=256)  # at most 256 games at once
    with pytest.raises(ConfigError, match=r"384 games at once .* GB, .*: expected fewer workers, .* mode than full$"):
        require_memory(yatzy, None, config, workers=3, games=10**6)
    with pytest.raises(ConfigError, match=r"expected fewer workers, parallel games or simulations$"):
        require_memory(yatzy, None, SelfplayConfig(simulations=10**6), workers=2, games=10**6)
    monkeypatch.setattr(actor_module, "machine_memory", lambda: None)
    require_memory(yatzy, None, config, workers=10**6, games=10**9)


def test_available_memory_is_positive() -> None:
    assert machine_memory() is None or machine_memory() > 2**26
