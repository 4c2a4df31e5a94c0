"""The verbs of learning: selfplay, fit, match."""

from __future__ import annotations

import json

import pytest

PIG = ("--game", "pig", "-p", "target=12")


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """A folder of samples and a network, made by the verbs themselves."""
    from typer.testing import CliRunner

    from aleazero.cli.main import app

    folder = tmp_path_factory.mktemp("learnt")
    runner = CliRunner()
    replay, net = str(folder / "replay"), str(folder / "net.safetensors")
    played = runner.invoke(app, ["selfplay", *PIG, "--games", "12", "--sims", "6", "--out", replay, "--json"])
    assert played.exit_code == 0, played.output
    fitted = runner.invoke(
        app, ["fit", "--replay", replay, "--out", net, "--steps", "4", "--width", "8", "--batch", "16", "--json"]
    )
    assert fitted.exit_code == 0, fitted.output
    return folder, json.loads(played.stdout), json.loads(fitted.stdout)


def test_selfplay_and_fit_tell_what_they_did(learnt, run, run_json) -> None:
    folder, played, fitted = learnt
    assert played["games"] == 12
    assert played["samples"] == fitted["samples"] > 0
    assert played["evaluations"] > played["decisions"] > 0
    assert fitted["step"] == 4
    assert len(fitted["calibration"]) == 10
    again = run_json("selfplay", *PIG, "--games", "12", "--sims", "6", "--out", str(folder / "replay"))
    assert again["games"] == 0  # all were there
    shown = run("fit", "--replay", str(folder / "replay"), "--start", str(folder / "net.safetensors"), "--out",
                str(folder / "next.safetensors"), "--steps", "2", "--batch", "16")  # fmt: skip
    assert shown.exit_code == 0
    assert "step     6" in shown.stdout
    assert "Values, by tenths" in shown.stdout
    shown = run("selfplay", *PIG, "--net", str(folder / "net.safetensors"), "--iteration", "1", "--games", "3",
                "--sims", "4", "--out", str(folder / "replay"), "--workers", "1", "--full-share", "0.5",
                "--temperature", "linear:1:0.1:9")  # fmt: skip
    assert shown.exit_code == 0
    assert "(3 played now," in " ".join(shown.stdout.split())


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--width", "9"), "width is 9, expected 8 as "),
        (("--blocks", "1"), "blocks is 1, expected 2 as "),
        (("--no-afterstates",), "afterstates is False, expected True as "),
        (("--margin",), "margin is True, expected False as "),
    ],
)
def test_a_form_that_contradicts_the_start_is_refused(learnt, run, option, said, tmp_path) -> None:
    words = ("fit", "--replay", str(learnt[0] / "replay"), "--start", str(learnt[0] / "net.safetensors"), "--out",
             str(tmp_path / "next.safetensors"), "--steps", "1", "--batch", "16")  # fmt: skip
    refused = run(*words, *option)
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    assert run(*words, "--width", "8", "--no-margin").exit_code == 0  # what is said again may be true


def test_the_window_is_opened_once(learnt, run_json, tmp_path, monkeypatch) -> None:
    from aleazero.replay import window

    opened, newest = [], window._newest
    monkeypatch.setattr(window, "_newest", lambda *where: opened.append(where) or newest(*where))
    run_json("fit", "--replay", str(learnt[0] / "replay"), "--out", str(tmp_path / "net.safetensors"), "--steps", "1",
             "--batch", "16", "--width", "8", "--window", "77")  # fmt: skip
    assert opened == [(learnt[0] / "replay", 77)]


def test_an_oracle_may_teach_values(learnt, run, run_json) -> None:
    words = ("fit", "--replay", str(learnt[0] / "replay"), "--out", str(learnt[0] / "exact.safetensors"), "--steps",
             "1", "--batch", "16", "--width", "8", "--target", "exact")  # fmt: skip
    data = run_json(*words)
    assert (data["exact"]["share"], data["exact"]["other_loss"]) == (1.0, None)
    low, high = sorted((data["value_loss"], data["afterstate_loss"]))  # all are covered: a mean of both, in one step
    assert 0 < low < data["exact"]["loss"] < high
    assert "oracle   covers 100.0% of the samples, loss there " in run(*words).stdout
    assert learnt[2]["exact"] is None


def test_the_network_plays_everywhere(learnt, run, run_json) -> None:
    net = str(learnt[0] / "net.safetensors")
    data = run_json("match", f"net:{net},sims=4", "random", *PIG, "--games", "5")
    assert [row["games"] for row in data["players"]] == [6, 6]  # in pairs
    assert sum(row["wins"] for row in data["players"]) == 6
    assert data == run_json("match", f"net:{net},sims=4", "random", *PIG, "--games", "5", "--threads", "2")
    assert "mean return" in run("match", "random", "random", *PIG, "--games", "2").stdout
    result = run("analyse", "pig", "-p", "target=12", "--evaluator", f"net:{net}", "--sims", "20")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("selfplay", "--game", "pgi", "--out", "x"), "no game 'pgi', did you mean pig?"),
        (("selfplay", *PIG, "--out", "x", "--net", "nowhere"), "no network at 'nowhere'"),
        (("selfplay", *PIG, "--out", "x", "--sims-by-class", "mark"), "--sims-by-class has 'mark', expected CLASS=N"),
        (("selfplay", *PIG, "--out", "x", "--sims-by-class", "mark=3"), "known: decision"),
        (("selfplay", *PIG, "--out", "x", "--chance", "luck"), "--chance is 'luck', known: "),
        (("selfplay", *PIG, "--out", "x", "--full-share", "0"), "--full-share is 0.0, expected"),
        (("selfplay", *PIG, "--out", "x", "--temperature", "warm"), "temperature is 'warm', expected a number, or"),
        (("selfplay", *PIG, "--out", "x", "--temperature", "-1"), "--temperature: start is -1.0, expected"),
        (
            (
                "selfplay",
                "--game",
                "yatzy",
                "--out",
                "x",
                "--chance",
                "full",
                "--sims",
                "20000",
                "--games",
                "100000",
                "--parallel",
                "50000",
            ),
            "expected fewer workers, parallel games or simulations or another chance mode than full",
        ),
        (("fit", "--replay", "nowhere", "--out", "x"), "no folder 'nowhere'"),
        (("fit", "--replay", ".", "--out", "x", "--target", "luck"), "--target is 'luck', expected"),
        (("match", "random", *PIG), "got 1 players, expected 2"),
        (("match", "random", "randam", *PIG), "did you mean random?"),
        (("match", "random", "net:nowhere", *PIG), "no network at 'nowhere'"),
        (("analyse", "pig", "--evaluator", "net:"), "expected net:PATH"),
    ],
)
def test_bad_words_are_one_line(run, words, said, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_network_is_refused(learnt, run) -> None:
    net = str(learnt[0] / "net.safetensors")
    result = run("match", f"net:{net}", "random", "--game", "tic_tac_toe")
    assert result.exit_code == 2
    assert "has game 'pig', expected 'tic_tac_toe'" in result.stderr
