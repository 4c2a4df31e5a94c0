from __future__ import annotations

import pytest

import aleazero
from aleazero.players.basic import GreedyPlayer, HumanPlayer, OraclePlayer, RandomPlayer
from aleazero.players.make import MOST_SIMULATIONS
from aleazero.players.search import NetPlayer, PlanPlayer, SearchPlayer
from aleazero.players.spec import parse_spec


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("random", RandomPlayer),
        ("greedy", GreedyPlayer),
        ("oracle", OraclePlayer),
        ("search:sims=20,evaluator=uniform,c=2,selection=uct", SearchPlayer),
        ("search:evaluations=50,chance=stratified", SearchPlayer),
        ("search:sims=20,evaluator=oracle", SearchPlayer),
        ("plan:horizon=turn,evaluator=uniform", PlanPlayer),
        ("plan:plies=1,keep=1", PlanPlayer),
        ("net:dummy", SearchPlayer),
        ("net:dummy,sims=5,c=2,chance=full", SearchPlayer),
        ("net:dummy,sims=0", NetPlayer),
    ],
)
def test_a_spec_makes_a_player(spec, kind):
    game = aleazero.load_game("dice_game")
    player = aleazero.make_player(spec, game)
    assert type(player) is kind
    assert player.select(game.state_from_text("14"), 0) in (0, 1)


def test_settings_reach_the_search():
    game = aleazero.load_game("dice_game")
    config = aleazero.make_player("search:sims=20,c=2,selection=uct", game).config
    assert (config.num_simulations, config.c, config.selection, config.chance) == (20, 2.0, "uct", None)
    config = aleazero.make_player("search:evaluations=50,chance=open", game).config
    assert (config.num_simulations, config.max_evaluations, config.chance.loop) == (500, 50, "open")


def test_settings_reach_the_search_of_a_network():
    game = aleazero.load_game("dice_game")
    assert aleazero.make_player("net:dummy", game).config == aleazero.SearchConfig(num_simulations=64)
    config = aleazero.make_player("net:dummy,sims=9,c=2,chance=open", game).config
    assert (config.num_simulations, config.c, config.chance.loop) == (9, 2.0, "open")


def test_a_spec_makes_a_human_player():
    assert type(aleazero.make_player("human", aleazero.load_game("pig"))) is HumanPlayer


@pytest.mark.parametrize(
    ("spec", "game", "message"),
    [
        ("search:sims=0", "pig", "player 'search:sims=0': sims is 0, expected"),
        ("search:c=-1", "pig", "c is -1"),
        ("plan:horizon=round", "pig", "horizon is 'round'"),
        ("plan:plies=0", "pig", "plies is 0"),
        ("plan:plies=2,horizon=turn", "pig", "plies is 2 and horizon is 'turn', expected one of them"),
        ("plan:horizon=game,evaluator=uniform", "pig", "evaluator is 'uniform', which has no effect with horizon=game"),
        ("search:evaluations=1", "pig", "evaluations is 1, expected at least 2: one for the root, and enough for one"),
        ("search:evaluations=0", "pig", "evaluations is 0, expected"),
        ("search:evaluations=6,chance=full", "pig", "evaluations is 6, expected at least 7"),
        ("search:net=dummy,selection=uct,prior_temperature=1", "pig", "prior_temperature has no effect with selection"),
        (
            "net:no/such.file",
            "pig",
            "player 'net:no/such.file': no network at 'no/such.file', expected a file, or dummy",
        ),
        ("net:dummy,sims=-1", "pig", "sims is -1, expected"),
        ("net:dummy,sims=0,c=1", "pig", "c requires a search, expected none with sims=0"),
        ("net:dummy,sims=0,chance=full", "pig", "chance requires a search"),
        ("net:dummy,inference=torch", "pig", "inference is 'torch', expected none: dummy does not use it"),
        ("oracle", "yatzy", "yatzy(players=2) has no oracle: its exact values are not known; the player 'solo' is its"),
        ("search:evaluator=oracle", "2048", "2048() has no oracle: only games with listed outcomes and bounded"),
    ],
)
def test_players_that_a_game_does_not_have_are_rejected(spec, game, message):
    with pytest.raises(aleazero.ConfigError) as caught:
        aleazero.make_player(spec, aleazero.load_game(game))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_instead_of_a_game_is_rejected():
    with pytest.raises(aleazero.ConfigError, match="expected a Game"):
        aleazero.make_player("random", "pig")


@pytest.mark.parametrize("spec", ["search:sims=30", "plan:horizon=turn", "plan:plies=1,evaluator=uniform", "net:dummy"])
def test_explanations_match_the_selected_action(spec):
    game = aleazero.load_game("pig")
    player = aleazero.make_player(spec, game)
    for turn in (3, 17, 20, 24):
        state = game.state_from_text(f"50-60 turn {turn}")
        result = player.explain(state, 5)
        assert result.best_action == player.select(state, 5) == aleazero.make_player(spec, game).select(state, 5)


@pytest.mark.parametrize("spec", ["random", "greedy", "oracle", "human", "net:dummy,sims=0"])
def test_other_players_explain_nothing(spec):
    game = aleazero.load_game("pig", target=10)
    assert aleazero.make_player(spec, game).explain(game.state_from_text("0-0 turn 3"), 1) is None


def test_a_time_limit_requires_a_search():
    game = aleazero.load_game("dice_game")
    player = aleazero.make_player("search", game, max_seconds=0.01)
    assert player.config.num_simulations == MOST_SIMULATIONS
    assert player.select(game.state_from_text("14"), 0) in (0, 1)
    for spec in ("greedy", "plan", "net:dummy,sims=0"):
        with pytest.raises(aleazero.ConfigError, match=r"max_seconds (is|requires)"):
            aleazero.make_player(spec, game, max_seconds=1.0)


@pytest.mark.parametrize(
    "text",
    [
        "random",
        "search:sims=5,evaluator=rollout:4,c=2.0",
        "plan:horizon=turn,net=some/file",
        "net:some/file,sims=64",
        "net:dummy",
    ],
)
def test_a_spec_reads_back_as_written(text):
    assert str(parse_spec(text)) == text


def test_the_fewest_evaluations_allow_one_simulation():
    game = aleazero.load_game("pig")
    for text, evaluations in (("search:evaluations=2", 2), ("search:evaluations=7,chance=full", 7)):
        player = aleazero.make_player(text, game)
        for turn in (3, 20):
            stats = player.explain(game.state_from_text(f"50-60 turn {turn}"), 0).stats
            assert stats.simulations >= 1
            assert stats.evaluations <= evaluations
