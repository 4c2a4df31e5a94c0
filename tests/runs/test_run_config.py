"""Settings of a run: a strict config file, with errors that name the path of the setting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from aleazero.errors import ConfigError
from aleazero.runs.config import as_yaml, in_full, read_config, schema
from aleazero.training.config import AfterstateConfig, TupleConfig

PIG = "game: pig\nrounds: 20\n"
CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


def read(tmp_path, text, *changes):
    file = tmp_path / "run.yaml"
    file.write_text(text, encoding="utf-8")
    return read_config(file, changes)


def test_missing_settings_have_valid_defaults(tmp_path):
    config = read(tmp_path, PIG)
    assert (config.recipe, config.iterations, config.seed) == ("afterstate", 6, 0)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("lanes: 8, net: {hidden: [4], kind: mlp}", AfterstateConfig),
        ("horizon: 3, lanes: 8", TupleConfig),
        ("net: {kind: tuples}, lanes: 8", TupleConfig),
        ("", AfterstateConfig),
    ],
)
def test_settings_of_recipes_are_typed_and_written_as_given(tmp_path, text, kind):
    config = read(tmp_path, f"game: 2048\nrounds: 20\niterations: 1\nafterstate: {{{text}}}\n")
    assert type(config.afterstate) is kind
    assert config.model_dump(mode="json")["afterstate"] == yaml.safe_load(f"{{{text}}}")
    assert read(tmp_path, as_yaml(config)) == config


def test_a_limit_in_minutes_requires_constant_rates_at_first(tmp_path):
    hold = "afterstate: {hold: 0.05}\n"
    assert read(tmp_path, PIG + hold).afterstate.hold == 0.05
    with pytest.raises(ConfigError, match=r"afterstate.hold is 0.05, expected at least 0.0833, or rounds in place"):
        read(tmp_path, "game: pig\nminutes: 3\n" + hold)


def test_settings_are_changed_by_their_path(tmp_path):
    config = read(tmp_path, PIG, "seed=3", "params.target=30", "afterstate.net.hidden=[8]", "gate.pairs=12")
    assert (config.seed, config.params, config.gate.pairs) == (3, {"target": 30}, 12)
    assert config.learning(config.load_game()).net.hidden == (8,)


def test_a_change_may_be_written_as_in_the_file(tmp_path):
    changes = ("evaluate.against=[random, rollout]", "afterstate.learning_rate=2e-3", "play=sims=8,c=1")
    config = read(tmp_path, PIG, "gate={pairs: 12, alpha: 1E-2}", *changes)
    assert config.evaluate.against == ("random", "rollout")
    assert (config.gate.pairs, config.gate.alpha, config.play) == (12, 0.01, "sims=8,c=1")
    assert config.learning(config.load_game()).learning_rate == 0.002


def test_scientific_notation_is_a_number(tmp_path):
    config = read(tmp_path, PIG + "afterstate: {learning_rate: 1e-3}\n")
    assert config.learning(config.load_game()).learning_rate == 0.001


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PIG + "sede: 1\n", r"run.yaml: no setting 'sede', did you mean seed"),
        (PIG + "gate: {pears: 3}\n", r"gate: no setting 'pears', did you mean pairs"),
        (PIG + "gate: {pairs: 0}\n", r"gate.pairs is 0, expected greater than or equal to"),
        (PIG + "iterations: 0\n", r"iterations is 0, expected greater than or equal to 1"),
        (PIG + "iterations: many\n", r"iterations is 'many', expected a valid integer"),
        (PIG + "iterations: 21\n", r"rounds is 20, expected at least 21"),
        (PIG + "minutes: 1\n", r"rounds and minutes: got both, expected one"),
        ("game: pig\n", r"rounds and minutes: got neither, expected one"),
        ("rounds: 3\n", r"run.yaml: game is missing"),
        ("game: pigg\nrounds: 3\n", r"pigg"),
        (PIG + "params: {targets: 3}\n", r"targets"),
        (
            PIG + "afterstate: {target: tdd}\n",
            r"run.yaml: afterstate.target is 'tdd', expected 'turn', 'lambda' or 'td'",
        ),
        (PIG + "afterstate: {targett: td}\n", r"afterstate: no setting 'targett', did you mean target"),
        (PIG + "afterstate: {net: {kind: big}}\n", r"afterstate.net.kind is 'big'"),
        (PIG + "afterstate: 3\n", r"afterstate is 3, expected settings of the recipe"),
        (PIG + "afterstate: {lanes: 2, horizon: 3}\n", r"afterstate: no setting 'horizon'"),
        (PIG + "afterstate: {lanes: 2, horizn: 3}\n", r"afterstate: no setting 'horizn'"),
        ("game: 2048\nrounds: 20\niterations: 1\nafterstate: {explore: 0.5}\n", r"afterstate: no setting 'explore'"),
        (PIG + "afterstate: {net: {kind: tuples, hidden: [3]}}\n", r"afterstate.net: no setting 'hidden', known: kind"),
        (PIG + "afterstate: {net: 3}\n", r"afterstate.net is 3, expected settings of a network"),
        (PIG + "afterstate: {seed: 3}\n", r"afterstate.seed is 3, expected seed at the top"),
        (
            "game: pig\nrecipe: alphazero\nalphazero: {train: {seed: 3}}\n",
            r"alphazero.train.seed is 3, expected seed at the top",
        ),
        (PIG + "recipe: alphazero\n", r"rounds is 20, expected none with recipe alphazero"),
        (PIG + "alphazero: {games: 3}\n", r"alphazero has settings, expected none with recipe afterstate"),
        (PIG + "game: pig\n", r"line 3: 'game' is given twice"),
        ("- a\n", r"has a list, expected settings"),
        ("", r"has a NoneType, expected settings"),
        ("a: [\n", r"line 2: .*expected YAML"),
        ("game: pig\nrounds: " + "9" * 5000, r"expected YAML"),
        ("game: pig\nrounds: 2026-13-45\n", r"line 2: a value has the type 'timestamp', expected text in quotes"),
        ("game: " + "[" * 3000 + "]" * 3000, r"nests more than 32 levels deep; expected YAML"),
        (PIG.replace("20", "9" * 30), r"rounds is 9+, expected less than"),
        (PIG + "play: sims=many\n", r"play 'net:PATH,sims=many': sims is 'many'"),
        (
            PIG + "play: inference=torch\n",
            r"play: inference is 'torch', expected none: value networks do not use it",
        ),
        (PIG + "play: c=2\n", r"play has c, which requires a search: add sims=N"),
        (PIG + "play: sims=8,c=-2\n", r"c is -2.0, expected greater than or equal to 0"),
        ("game: pig\nrecipe: alphazero\nplay: inference=foo\n", r"inference is 'foo', expected onnxruntime or torch"),
        ("game: pig\nrecipe: alphazero\nplay: prior_temperature=1\n", r"play has prior_temperature, expected none"),
        ("game: pig\nrecipe: alphazero\nplay: 'sims=0,c=1'\n", r"play has c, which requires a search"),
        (PIG + "evaluate: {against: [random, random]}\n", r"expected each opponent once"),
        (PIG + "gate: {seed_set: tiny}\n", r"gate.seed_set: no seed set 'tiny'"),
        (
            "game: pig\nrecipe: alphazero\nalphazero: {selfplay: {chance: nope}}\n",
            r"run.yaml: alphazero.selfplay.chance is 'nope'",
        ),
        (PIG + "gate: {seed_set: small, rule: fixed, pairs: 500}\n", r"has 100 seeds, expected 500"),
        ("game: 2048\nrounds: 20\n", r"gate.gain1 is None, expected a number of points"),
        (PIG + "evaluate: {against: [randon]}\n", r"evaluate.against has 'randon', did you mean random"),
        ("game: yatzy\nrounds: 20\nevaluate: {against: [oracle]}\n", r"'oracle', known: random, rollout, solo-optimal"),
        (PIG + "evaluate: {final_pairs: 1}\n", r"evaluate.final_pairs is 1, expected at least 2"),
        ("game: pig\nrecipe: alphazero\nalphazero: {selfplay: {simulations_by_class: {rol: 3}}}\n", r"'rol'"),
    ],
)
def test_errors_name_the_path_of_the_setting(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("seed", "expected KEY=VALUE"),
        ("=3", "expected KEY=VALUE"),
        ("params=" + "[" * 5000, r"params is '.*', expected a valid dictionary"),
        ("seed.x=3", "seed is 1, expected settings inside it"),
    ],
)
def test_invalid_changes_are_rejected(tmp_path, change, message):
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, PIG + "seed: 1\n", change)


def test_missing_and_binary_files_are_rejected(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is not a text file, expected YAML"):
        read_config(tmp_path / "bytes.yaml")


@pytest.mark.parametrize("text", [PIG, "game: pig\nrecipe: alphazero\nalphazero: {games: 7}\n"])
def test_settings_read_back_as_they_are_written(tmp_path, text):
    config = read(tmp_path, text)
    assert read(tmp_path, as_yaml(config)) == config


def test_a_users_game_is_found_next_to_the_config_file(tmp_path):
    game = (Path(__file__).parents[2] / "examples" / "race.py").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(game, encoding="utf-8")
    config = read(tmp_path, "game: mine.py\nrounds: 20\n")
    assert config.game == str((tmp_path / "mine.py").resolve())
    assert config.load_game().name == "race"


def test_a_game_and_seeds_from_the_command_line_are_relative_to_the_current_folder(tmp_path, monkeypatch):
    game = (Path(__file__).parents[2] / "examples" / "race.py").read_text(encoding="utf-8")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.py").write_text(game, encoding="utf-8")
    (tmp_path / "seeds.txt").write_text("1\n2\n")
    monkeypatch.chdir(tmp_path / "here")
    config = read(tmp_path, "game: x\nrounds: 20\ngate: {seed_set: seeds.txt}\n", "game=mine.py")
    assert config.game == str((tmp_path / "here" / "mine.py").resolve())
    assert config.gate.seed_set == str((tmp_path / "seeds.txt").resolve())


def test_yaml_anchors_are_merged_and_overridden(tmp_path):
    config = read(tmp_path, "params: &p {target: 30}\ngame: pig\nrounds: 20\nevaluate: {<<: {pairs: 3}, pairs: 4}\n")
    assert (config.params, config.evaluate.pairs) == ({"target": 30}, 4)


def test_every_setting_has_a_description_in_the_schema():
    found = schema()
    json.dumps(found)
    kinds = [one["$ref"] for one in found["properties"]["afterstate"]["anyOf"]]
    assert kinds == ["#/$defs/AfterstateConfig", "#/$defs/TupleConfig"]
    assert "learning_rate" in found["$defs"]["AfterstateConfig"]["properties"]
    assert "horizon" in found["$defs"]["TupleConfig"]["properties"]
    groups = {"run": found, **found["$defs"]}
    assert [
        (group, name)
        for group, held in groups.items()
        for name, setting in held["properties"].items()
        if not setting.get("description")
    ] == []
    assert not any("seed" in groups[name]["properties"] for name in ("AfterstateConfig", "TupleConfig", "TrainConfig"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_full_config_reads_back_to_the_same_settings(path, tmp_path):
    config = read_config(path)
    again = read(tmp_path, in_full(config))
    assert again.model_dump(exclude={"afterstate"}) == config.model_dump(exclude={"afterstate"})
    if config.recipe == "afterstate":
        assert again.afterstate
        assert again.learning(again.load_game()) == config.learning(config.load_game())


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_bundled_configs_are_valid(path):
    config = read_config(path)
    assert yaml.safe_load(as_yaml(config))["recipe"] == config.recipe
