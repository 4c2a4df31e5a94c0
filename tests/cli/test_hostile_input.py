"""Hostile input: typed text and files of others end in one line, without control characters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runs"))  # for run_by_hand.py

from run_by_hand import run_by_hand

from aleazero.errors import LONGEST

LONG = "x" * 300
DIGITS = "9" * 5000
CONFIGS = Path(__file__).parents[2] / "configs"
ESCAPES = "\x1b[31mred\x1b]0;title\x07\x9b1m\u202e"
MARK = "\nopen(__file__ + '.ran', 'w').close()\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["analyse", "pig", "-p", f"target={'[' * 20_000}"], "expected an integer from 2 to 10000"),
        (["analyse", "pig", "-p", "target=1" + "0" * 400], "expected an integer from 2 to 10000"),
        (["analyse", "pig", "--plan", DIGITS], "expected turn, game or a number of plies"),
        (["analyse", "pig", "--evaluator", f"rollout:{DIGITS}"], "rollout:N with N from 1 to"),
        (["analyse", "2048", "--position", f"{DIGITS} . . ./. . . ./. . . ./. . . ."], "2048: cannot read position"),
        (["match", "pig", f"net:{LONG}", "random"], "no network at"),
        (["gate", "pig", "random", "greedy", "--out", f"{LONG}/x"], "File name too long"),
        (["gate", "pig", "random", "greedy", "--seed-set", LONG], "no seed set"),
        (["train", str(CONFIGS / "pig.yaml"), "--out", LONG], "File name too long"),
        (["resume", LONG], "File name too long"),
        (["replay", "check", LONG], "no folder"),
        (["selfplay", "pig", "--games", "1", "--out", LONG], "File name too long"),
        (["check", f"{LONG}.py"], "no file"),
        (["runs", "show", ESCAPES], r"\x1b[31mred\x1b]0;title\x07\x9b1m\u202e is not a run"),
    ],
)  # fmt: skip
def test_typed_input_ends_in_one_short_line(refused, words, expected):
    line = refused(*words)
    assert expected in line
    assert len(line) <= LONGEST + len("error: ")
    assert not set(line) & set(ESCAPES) - set("[31mred]0;title")


def test_an_invalid_cache_folder_is_one_line(refused, monkeypatch, tmp_path):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path / LONG))
    assert refused("cache", "info").endswith("File name too long")
    assert refused("cache", "clear").endswith("File name too long")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("words", [["games"], ["games", "--json"], ["--version"], ["--help"]])
def test_a_full_disk_is_one_line(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "aleazero.cli.main", *words], stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=120)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith("No space left on device\n")
    assert done.stderr.count("\n") == 1


def test_a_closed_pipe_ends_silently():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "aleazero.cli.main", "games"], stdout=write, stderr=subprocess.PIPE,
                          text=True, timeout=120)  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_invalid_utf8_is_an_unknown_move():
    command = [sys.executable, "-m", "aleazero.cli.main", "play", "tic_tac_toe", "--opponent", "random", "--seed", "1"]
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}  # as in a UTF-8 locale
    done = subprocess.run(command, input=b"\xff\xfe\n4\nq\n", capture_output=True, timeout=120, env=strict)
    assert done.returncode == 0, done.stderr
    assert b"no action" in done.stdout
    assert b"Traceback" not in done.stderr


def edited(path: Path, change) -> Path:
    """Return a run whose manifest was changed by hand."""
    run_by_hand(path, iterations=2)
    file = path / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(json.dumps(manifest))
    return path


def measured(manifest):
    return manifest["iterations"][-1]["results"]["evaluate"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda m: m["iterations"][-1].update(champion=99), "champion is 99, expected at least 1 and at most 2"),
        (lambda m: m["iterations"][-1]["results"].pop("learn"), "iteration 2 has no results of 'learn'"),
        (lambda m: m["iterations"][-1]["results"].update(learn={}), "iteration 2 has no results of 'learn'"),
        (lambda m: measured(m).update(ratings=5), "evaluate.ratings: Input should be a valid list"),
        (lambda m: measured(m).update(ratings=[{}]), "evaluate.ratings.0.name: Field required"),
        (lambda m: measured(m)["opponents"].update(random=float("nan")), "evaluate.opponents.random"),
        (lambda m: measured(m)["opponents"].update(random=7), "evaluate.opponents.random"),
        (lambda m: measured(m).update(score=None), "evaluate.score"),
        (lambda m: m.update(seed=10**400), "an integer has 401 digits"),
        (lambda m: m.update(seed=-1), "seed: Input should be greater than or equal to 0"),
        (lambda m: m.update(iterations=[], finished=True), "finished without an iteration"),
        (lambda m: m.update(params=json.loads("[" * 900 + "]" * 900)), "nests more than 64 levels deep"),
    ],
)  # fmt: skip
def test_an_edited_manifest_is_damaged(refused, tmp_path, change, expected):
    path = edited(tmp_path / "run", change)
    for words in (["runs", "show", str(path)], ["report", str(path)], ["resume", str(path)]):
        line = refused(*words)
        assert "manifest.json is damaged: " in line
        assert expected in line


def hostile(manifest):
    manifest.update(game=f"pig{ESCAPES}", params={"[/red]": ESCAPES}, recipe="[/red]$\\frac{x$")
    opponents = measured(manifest)["opponents"]
    opponents["$\\frac{x$" + ESCAPES] = opponents["random"]
    opponents["[/red]" + "x" * 2000] = opponents["random"]


def test_texts_of_a_run_are_printed_without_escapes_and_markup(run, tmp_path):
    path = edited(tmp_path / "runs" / "one", hostile)
    for words in (["runs", "show", str(path)], ["runs", "list", str(path.parent)],
                  ["runs", "compare", str(path), str(path)], ["runs", "show", str(path), "--json"]):  # fmt: skip
        result = run(*words)
        assert result.exit_code == 0, result.output
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(result.output)
    assert json.loads(result.stdout)["game"] == f"pig{ESCAPES}"


def test_names_in_a_report_are_not_formulas(run, tmp_path):
    path = run_by_hand(tmp_path / "run", iterations=2)
    text = (path / "events.ndjson").read_text()
    name = json.dumps("$\\frac{x$" + ESCAPES)[1:-1]
    (path / "events.ndjson").write_text(
        text.replace('"rollout"', f'"{name}"').replace('"random"', f'"{"[/red]" * 300}"')
    )
    result = run("report", str(path))
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    assert "\x1b" not in (path / "report.html").read_text()


def test_a_users_config_is_not_overwritten(refused, tmp_path):
    own = tmp_path / "mine" / "config.yaml"
    own.parent.mkdir()
    own.write_text("# mine\ngame: pig\nrounds: 10\n")
    line = refused("train", str(own), "--out", str(own.parent))
    assert line.endswith(
        "config.yaml would be overwritten, expected a directory without it: choose another one with --out"
    )
    assert own.read_text() == "# mine\ngame: pig\nrounds: 10\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".lock", ".lock is a symbolic link"),
        ("config.yaml", "config.yaml would be overwritten"),
        ("events.ndjson", "contains events.ndjson, expected a new directory"),
    ],
)
def test_training_does_not_follow_links(refused, tmp_path, name, expected):
    precious = tmp_path / "precious"
    precious.write_text("not yours")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).symlink_to(precious)
    assert expected in refused("train", "pig", "--rounds", "1", "--out", str(tmp_path / "run"))
    assert precious.read_text() == "not yours"


def test_which_commands_execute_the_game_of_a_config(run, tmp_path):
    """As documented for files of others."""
    rules = tmp_path / "rules.py"
    rules.write_text((CONFIGS.parent / "examples" / "race.py").read_text() + MARK)
    config = tmp_path / "c.yaml"
    config.write_text("game: rules.py\nrounds: 10\n")
    ran = tmp_path / "rules.py.ran"
    for words in (["config", "check", str(config)], ["config", "show", str(config)]):
        assert run(*words).exit_code == 0
        assert ran.exists()
        ran.unlink()
    path = edited(tmp_path / "runs" / "one", lambda manifest: manifest.update(game=str(rules)))
    (path / "config.yaml").write_text((path / "config.yaml").read_text().replace("game: pig", f"game: {rules}"))
    for words in (["runs", "show", str(path)], ["runs", "list", str(path.parent)], ["report", str(path)],
                  ["runs", "compare", str(path), str(path)], ["runs", "tensorboard", str(path)]):  # fmt: skip
        assert run(*words).exit_code == 0
        assert not ran.exists(), words
    assert run("resume", str(path)).exit_code == 2  # it is not the run that the manifest says
    assert ran.exists()
