"""Players of a game's kit."""

from __future__ import annotations

import pytest

import aleazero
from aleazero import ConfigError, GameKit
from aleazero.games import pig
from aleazero.games.kit import give_kit
from aleazero.players.make import read_evaluator
from aleazero.players.spec import PlayerSpec, parse_spec
from aleazero.search.evaluator import Rollout


@pytest.fixture
def game():
    def last(game, settings):
        if settings.get("fail"):
            raise ValueError("no")
        return lambda state, seed: state.legal_actions()[int(settings.get("place", "-1"))]

    def ready(game, settings):
        return aleazero.make_player("random", game)

    give_kit(pig, GameKit(players={"last": last, "ready": ready, "no": lambda game, settings: 3}))
    game = aleazero.load_game("pig")
    yield game
    give_kit(pig, None)


def test_a_function_of_state_and_seed_is_a_player(game):
    state = game.state_from_text("12-30 turn 18")
    assert aleazero.make_player("last", game).select(state, 1) == state.legal_actions()[-1]
    assert aleazero.make_player("last:place=0", game).select(state, 1) == state.legal_actions()[0]
    assert aleazero.make_player("ready", game).select(state, 1) in state.legal_actions()


def test_settings_are_strings_and_read_back():
    spec = parse_spec("last:place=0,a=b", kinds=["last"])
    assert spec == PlayerSpec("last", {"place": "0", "a": "b"})
    assert str(spec) == "last:place=0,a=b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("last:fail=yes", "player 'last:fail=yes': player last of pig raised ValueError: no"),
        ("last:place", "got 'place', expected place=VALUE"),
        ("lst", "player is 'lst', did you mean last?"),
        ("no", "expected a player, or a function"),
    ],
)
def test_errors_are_reported_in_one_line(game, text, message):
    with pytest.raises(ConfigError) as caught:
        aleazero.make_player(text, game)
    assert message in str(caught.value)


def test_other_games_do_not_have_the_kits_player():
    with pytest.raises(ConfigError, match="player is 'last', did you mean play"):
        aleazero.make_player("last", aleazero.load_game("dice_game"))
    with pytest.raises(ConfigError, match="no player 'last', did you mean play"):
        aleazero.make_player(PlayerSpec("last"), aleazero.load_game("dice_game"))


def test_evaluators_of_a_kit_are_part_of_specs():
    """The function is called with the game and the text after the colon."""
    made = []

    def flat(game, argument):
        made.append((game.name, argument))
        return "uniform" if argument is None else read_evaluator(argument, game)

    give_kit(pig, GameKit(evaluators={"flat": flat}))
    try:
        game = aleazero.load_game("pig")
        assert read_evaluator("flat", game) == "uniform"
        assert read_evaluator("flat:rollout:3", game) == Rollout(3)
        assert made == [("pig", None), ("pig", "rollout:3")]
        aleazero.make_player("plan:horizon=turn,evaluator=flat:uniform", game)
        assert made[-1] == ("pig", "uniform")
        with pytest.raises(ConfigError, match=r"evaluator is 'flta', did you mean flat\?"):
            aleazero.make_player("search:evaluator=flta", game)
        assert parse_spec("search:evaluator=flat", evaluators=["flat"]).settings == {"evaluator": "flat"}
    finally:
        give_kit(pig, None)
    with pytest.raises(ConfigError, match="evaluator is 'flat'"):
        parse_spec("search:evaluator=flat")
