"""Gates: verdicts and reports, which are byte-identical in other processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.gate import gate_seeds, run_gate
from aleazero.evaluation.gate_rules import GateConfig
from aleazero.evaluation.match import load_seed_set, seeds_hash

PIG = aleazero.load_game("pig", target=20)
FEW = GateConfig(pairs=40)
CODE = """
import sys, aleazero
from aleazero.evaluation.gate import run_gate
from aleazero.evaluation.gate_rules import GateConfig
if __name__ == "__main__":
    game = aleazero.load_game("pig", target=20)
    report = run_gate(game, "greedy", "random", GateConfig(pairs=40), seed=3, replays=2, workers=2)
    sys.stdout.buffer.write(report.to_bytes() + report.games.to_bytes())
"""


def test_a_report_is_byte_identical_in_another_process(tmp_path):
    first = run_gate(PIG, "greedy", "random", FEW, seed=3, replays=2)
    file = tmp_path / "code.py"
    file.write_text(CODE)
    there = subprocess.run([sys.executable, str(file)], capture_output=True, env=os.environ, check=False)
    assert there.returncode == 0, there.stderr.decode()
    assert there.stdout == first.to_bytes() + first.games.to_bytes()
    other = run_gate(PIG, "greedy", "random", FEW, seed=3, iteration=1)
    assert other.data["seeds"]["sha256"] != first.data["seeds"]["sha256"]
    first.write(tmp_path / "gate_report.json")
    assert json.loads((tmp_path / "gate_report.json").read_bytes()) == first.data


def test_verdicts_and_results():
    report = run_gate(PIG, "greedy", "random", FEW)
    assert (report.promoted, report.decided, report.data["verdict"]) == (True, True, "promoted")
    assert report.table.count < 40
    assert report.data["results"]["pairs"] == report.data["seeds"]["count"] == report.table.count
    assert "an equal candidate is promoted in at most 5.0% of gates" in report.error_rates["in_words"]
    same = run_gate(PIG, "greedy", "greedy", GateConfig(pairs=400))
    assert (same.promoted, same.decided) == (False, True)
    undecided = run_gate(PIG, "random", "random", GateConfig(pairs=12))
    assert (undecided.promoted, undecided.decided) == (False, False)
    assert "undecided after 12 pairs" in undecided.data["reason"]
    assert "which keeps the champion" in undecided.error_rates["in_words"]
    fixed = run_gate(PIG, "greedy", "random", GateConfig(rule="fixed", pairs=30))
    assert (fixed.promoted, fixed.table.count) == (True, 30)
    assert "promoted in about 5.0%" in fixed.error_rates["in_words"]


def test_error_rates_name_a_threshold_below_one_half():
    report = run_gate(PIG, "greedy", "random", GateConfig(pairs=40, score0=0.45))
    text = report.error_rates["in_words"]
    assert text.startswith(
        "a candidate with a score of 0.45 is promoted in at most 5.0% of gates; an equal candidate in about "
    )
    assert "; a candidate with a score of 0.55 is rejected in" in text


def test_error_rates_of_a_non_inferiority_gate():
    report = run_gate(PIG, "greedy", "greedy", GateConfig(pairs=400, score0=0.45, score1=0.5))
    assert report.promoted
    rates = report.error_rates
    start = "a candidate with a score of 0.45 is promoted in at most 5.0% of gates; an equal candidate is rejected"
    assert rates["in_words"].startswith(start)
    assert rates["no_better"]["mean"] == 0.45
    assert rates["no_better"]["promoted"] <= 0.065  # three standard errors of 2,000 simulated gates
    assert rates["equal"] == rates["better"]
    assert rates["better"]["promoted"] >= 0.9


def test_one_player_gates_compare_scores():
    game = aleazero.load_game("dice_game")
    report = run_gate(game, "oracle", "random", GateConfig(pairs=60))
    assert report.data["test"]["unit"] == "returns"
    gain = report.data["results"]["points"]["difference"]["mean"]
    assert gain == pytest.approx(float(report.table.gains.mean()), abs=1e-5)
    assert report.promoted == (report.data["verdict"] == "promoted")


def test_reports_contain_names_instead_of_paths(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("\n".join(str(number) for number in range(1, 15)))
    config = GateConfig(rule="fixed", pairs=12, seed_set=str(file))
    report = run_gate(PIG, "greedy", "random", config, names=("net 7", "net 5"), replays=1)
    assert (report.data["candidate"], report.data["champion"]) == ("net 7", "net 5")
    assert report.data["seeds"] == {"from": "mine.txt", "count": 12, "sha256": seeds_hash(range(1, 13))}
    assert str(tmp_path) not in report.to_bytes().decode()
    assert report.games.games[0].players == ("net 7", "net 5")
    assert report.games.games[1].players == ("net 5", "net 7")
    with pytest.raises(ConfigError, match="has 14 seeds, expected 20, one per pair"):
        run_gate(PIG, "greedy", "random", GateConfig(rule="fixed", pairs=20, seed_set=str(file)))
    assert gate_seeds(GateConfig(seed_set="small"), 0, 0) == load_seed_set("small")


def test_independent_dice_differ_from_shared_dice():
    shared, fresh = (
        run_gate(PIG, "greedy", "random", GateConfig(rule="fixed", pairs=30, deterministic_chance=shared))
        for shared in (True, False)
    )
    assert shared.data["results"]["pair_table"] != fresh.data["results"]["pair_table"]
