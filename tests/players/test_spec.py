from __future__ import annotations

import pytest

import aleazero
from aleazero.oracles.solve import Solution
from aleazero.players.make import make_plan, read_evaluator
from aleazero.players.spec import CHANCE_MODES, SETTINGS, PlayerSpec, parse_spec, read_chance


@pytest.mark.parametrize(
    ("text", "kind", "settings"),
    [
        ("random", "random", {}),
        ("search", "search", {}),
        ("search:sims=200,evaluator=rollout:4,chance=stratified,c=0.5", "search",
         {"sims": 200, "evaluator": "rollout:4", "chance": "stratified", "c": 0.5}),
        ("plan:horizon=turn, evaluator=oracle", "plan", {"horizon": "turn", "evaluator": "oracle"}),
        ("plan:plies=2,keep=3,margin=0.1", "plan", {"plies": 2, "keep": 3, "margin": 0.1}),
        ("human", "human", {}),
        ("playout", "playout", {}),
        ("mine.py:careful", "file", {"path": "mine.py", "name": "careful"}),
        ("some/where.py/mine.py:Careful", "file", {"path": "some/where.py/mine.py", "name": "Careful"}),
        ("net:mine.py", "net", {"path": "mine.py"}),
        ("net:dummy", "net", {"path": "dummy"}),
        ("net:runs/a:b/x=1.safetensors, sims=0", "net", {"path": "runs/a:b/x=1.safetensors", "sims": 0}),
        ("net:C:\\nets\\a,sims=64,c=2,chance=full,inference=torch", "net",
         {"path": "C:\\nets\\a", "sims": 64, "c": 2.0, "chance": "full", "inference": "torch"}),
    ],
)  # fmt: skip
def test_valid_specs(text, kind, settings):
    assert parse_spec(text) == PlayerSpec(kind, settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "player is '', known: greedy, human, net, oracle, plan, playout, random, search"),
        ("serch:sims=2", "player is 'serch:sims=2', did you mean search?"),
        ("search:", "no setting '' of search, known: c, chance, evaluations, evaluator, net, prior_temperature, selec"),
        ("search:simz=2", "no setting 'simz=2' of search, did you mean sims?"),
        ("search:sims", "got 'sims', expected sims=VALUE"),
        ("search:sims=", "got 'sims=', expected sims=VALUE"),
        ("search:sims=many", "sims is 'many', expected an integer"),
        ("search:c=x", "c is 'x', expected a number"),
        ("search:sims=2,sims=3", "sims is given twice, expected once"),
        ("search:evaluator=rolout", "evaluator is 'rolout', did you mean rollout"),
        ("search:evaluator=oracle:2", "evaluator is 'oracle:2', expected uniform, rollout, rollout:N"),
        ("search:chance=stratifed", "chance is 'stratifed', did you mean stratified?"),
        ("plan:sims=2", "no setting 'sims=2' of plan"),
        ("random:c=2", "no setting 'c=2' of random, known: none"),
        ("human:name=me", "no setting 'name=me' of human, known: none"),
        ("mine.py", "player is 'mine.py', expected path/file.py:NAME, a function or class in that file"),
        ("mine.py:", "expected path/file.py:NAME"),
        ("mine.py:a,b=2", "expected path/file.py:NAME"),
        ("file:mine", "player is 'file:mine', known: "),
        ("net", "player 'net': got no path, expected net:PATH,KEY=VALUE"),
        ("net:", "player 'net:': got no path"),
        ("net: ,sims=2", "got no path"),
        ("net:sims=2", "player 'net:sims=2': got no path"),
        ("net:dummy,path=x", "no setting 'path=x' of net, known: c, chance, inference, prior_temperature, sims"),
        ("net:dummy,evaluator=rollout", "no setting 'evaluator=rollout' of net"),
        ("net:dummy,sims=few", "sims is 'few', expected an integer"),
        ("net:dummy,chance=opn", "chance is 'opn', did you mean open"),
    ],
)
def test_invalid_specs_are_rejected(text, message):
    with pytest.raises(aleazero.ConfigError) as caught:
        parse_spec(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_errors_name_the_option():
    with pytest.raises(aleazero.ConfigError, match=r"^--opponent 'search:x=1': no setting"):
        parse_spec("search:x=1", "--opponent")


def test_every_setting_is_documented():
    from pathlib import Path

    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "specs.md").read_text(encoding="utf-8")
    assert [name for names in SETTINGS.values() for name in names if f"`{name}`" not in page] == []
    assert [kind for kind in SETTINGS if f"`{kind}" not in page] == []


@pytest.mark.parametrize("word", CHANCE_MODES)
def test_every_chance_mode_has_a_config(word):
    assert read_chance(word) == aleazero.ChanceConfig.preset(word)


def test_names_of_evaluators():
    game = aleazero.load_game("tic_tac_toe")
    assert read_evaluator("uniform", game) == aleazero.Uniform()
    assert read_evaluator("rollout", game) == aleazero.Rollout()
    assert make_plan(parse_spec("plan:horizon=turn"), game)[0] == aleazero.Rollout(100)
    assert read_evaluator("rollout:4", game) == aleazero.Rollout(4)
    assert isinstance(read_evaluator("oracle", game), Solution)


def test_errors_name_the_setting():
    with pytest.raises(aleazero.ConfigError, match=r"^--chance is 'opn', did you mean open"):
        read_chance("opn", "--chance")
