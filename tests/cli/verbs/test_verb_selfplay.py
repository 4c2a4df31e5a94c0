"""The commands selfplay and fit, and the network that they make."""

from __future__ import annotations

import json

import pytest

PIG = "pig(target=20)"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder of samples and a network, made by the verbs themselves."""
    from typer.testing import CliRunner

    from aleazero.cli.main import app

    folder = tmp_path_factory.mktemp("trained")
    runner = CliRunner()
    replay, net = str(folder / "replay"), str(folder / "net.safetensors")
    played = runner.invoke(app, ["selfplay", PIG, "--games", "12", "--sims", "6", "--out", replay, "--json"])
    assert played.exit_code == 0, played.output
    fitted = runner.invoke(
        app, ["fit", replay, "--out", net, "--steps", "4", "--width", "8", "--batch-size", "16", "--json"]
    )
    assert fitted.exit_code == 0, fitted.output
    return folder, json.loads(played.stdout), json.loads(fitted.stdout)


def test_selfplay_and_fit_print_their_results(trained, run, run_json) -> None:
    folder, played, fitted = trained
    assert played["games"] == 12
    assert played["samples"] == fitted["samples"] > 0
    assert played["evaluations"] > played["decisions"] > 0
    assert fitted["step"] == 4
    assert len(fitted["calibration"]) == 10
    again = run_json("selfplay", PIG, "--games", "12", "--sims", "6", "--out", str(folder / "replay"))
    assert again["games"] == 0  # all were there
    shown = run("fit", str(folder / "replay"), "--start", str(folder / "net.safetensors"), "--out",
                str(folder / "next.safetensors"), "--steps", "2", "--batch-size", "16")  # fmt: skip
    assert shown.exit_code == 0
    assert "step     6" in shown.stdout
    assert "Calibration, by tenths" in shown.stdout
    shown = run("selfplay", PIG, "--net", str(folder / "net.safetensors"), "--iteration", "1", "--games", "3",
                "--sims", "4", "--out", str(folder / "replay"), "--workers", "1", "--full-share", "0.5",
                "--temperature", "linear:1:0.1:9")  # fmt: skip
    assert shown.exit_code == 0
    assert "(3 new," in " ".join(shown.stdout.split())


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (("--width", "9"), "width is 9, expected 8 as "),
        (("--blocks", "1"), "blocks is 1, expected 2 as "),
        (("--no-afterstates",), "afterstates is False, expected True as "),
        (("--margin",), "margin is True, expected False as "),
    ],
)
def test_a_shape_that_contradicts_the_start_is_rejected(trained, run, option, expected, tmp_path) -> None:
    words = ("fit", str(trained[0] / "replay"), "--start", str(trained[0] / "net.safetensors"), "--out",
             str(tmp_path / "next.safetensors"), "--steps", "1", "--batch-size", "16")  # fmt: skip
    refused = run(*words, *option)
    assert refused.exit_code == 2
    assert expected in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    assert run(*words, "--width", "8", "--no-margin").exit_code == 0


def test_the_window_is_opened_once(trained, run_json, tmp_path, monkeypatch) -> None:
    from aleazero.replay import window

    opened, newest = [], window._newest
    monkeypatch.setattr(window, "_newest", lambda *where: opened.append(where) or newest(*where))
    run_json("fit", str(trained[0] / "replay"), "--out", str(tmp_path / "net.safetensors"), "--steps", "1",
             "--batch-size", "16", "--width", "8", "--window", "77")  # fmt: skip
    assert opened == [(trained[0] / "replay", 77)]


def test_an_oracle_can_be_the_target(trained, run, run_json) -> None:
    words = ("fit", str(trained[0] / "replay"), "--out", str(trained[0] / "exact.safetensors"), "--steps",
             "1", "--batch-size", "16", "--width", "8", "--target", "exact")  # fmt: skip
    data = run_json(*words)
    assert (data["exact"]["share"], data["exact"]["other_loss"]) == (1.0, None)
    low, high = sorted((data["value_loss"], data["afterstate_loss"]))  # all are covered: a mean of both, in one step
    assert 0 < low < data["exact"]["loss"] < high
    assert "oracle   covers 100.0% of the samples, loss there " in run(*words).stdout
    assert trained[2]["exact"] is None


def test_the_network_plays_everywhere(trained, run, run_json) -> None:
    net = str(trained[0] / "net.safetensors")
    data = run_json("match", PIG, f"net:{net},sims=4", "random", "--pairs", "3")
    assert [row["games"] for row in data["players"]] == [6, 6]
    assert sum(row["wins"] for row in data["players"]) == 6
    assert data == run_json("match", PIG, f"net:{net},sims=4", "random", "--pairs", "3", "--threads", "2")
    assert "mean return" in run("match", PIG, "random", "random", "--pairs", "1").stdout
    result = run("analyse", PIG, "--evaluator", f"net:{net}", "--sims", "20")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("selfplay", "pgi", "--out", "x"), "no game 'pgi', did you mean pig?"),
        (("selfplay", PIG, "--out", "x", "--net", "nowhere"), "no network at 'nowhere'"),
        (("selfplay", PIG, "--out", "x", "--sims-by-class", "mark"), "--sims-by-class has 'mark', expected CLASS=N"),
        (("selfplay", PIG, "--out", "x", "--sims-by-class", "mark=3"), "known: decision"),
        (("selfplay", PIG, "--out", "x", "--chance", "luck"), "--chance is 'luck', known: "),
        (("selfplay", PIG, "--out", "x", "--full-share", "0"), "--full-share is 0.0, expected"),
        (("selfplay", PIG, "--out", "x", "--temperature", "warm"), "temperature is 'warm', expected a number, or"),
        (("selfplay", PIG, "--out", "x", "--temperature", "-1"), "--temperature: start is -1.0, expected"),
        (
            (
                "selfplay",
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
        (("fit", "nowhere", "--out", "x"), "no folder 'nowhere'"),
        (("fit", ".", "--out", "x", "--target", "luck"), "--target is 'luck', expected"),
        (("match", PIG, "random"), "got 1 player, expected 2"),
        (("match", PIG, "random", "randam"), "did you mean random?"),
        (("match", PIG, "random", "net:nowhere"), "no network at 'nowhere'"),
        (("analyse", "pig", "--evaluator", "net:"), "expected net:PATH"),
    ],
)
def test_bad_input_is_one_line(run, words, expected, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert expected in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_network_of_another_game_is_rejected(trained, run) -> None:
    net = str(trained[0] / "net.safetensors")
    result = run("match", "tic_tac_toe", f"net:{net}", "random")
    assert result.exit_code == 2
    assert "has game 'pig', expected 'tic_tac_toe'" in result.stderr
