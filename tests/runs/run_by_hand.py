"""Directories of runs without training, with the files that a report needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from aleazero.runs.directory import FORMAT
from aleazero.version import VERSION

RATES = "an equal candidate is promoted in at most 5.0% of gates; a candidate with a score of 0.55 is rejected in 12.5%"
NOON = 1_790_000_000.0


def estimate(mean: float, spread: float, count: int = 40) -> dict[str, Any]:
    return {"count": count, "mean": mean, "error": spread / 2, "low": mean - spread, "high": mean + spread}


def evaluation(number: int, networks: int | None = None) -> dict[str, Any]:
    """Return the results of an evaluation, with different numbers everywhere."""
    kinds = {name: {**estimate(0.3 / number + 0.011 * k, 0.0123, 50 + k), "optimal": 0.81 + 0.013 * k, "tied": k}
             for k, name in enumerate(("reroll 1", "mark/keep"))}  # fmt: skip
    rated = [("oracle", 333.3), *((f"network {n}", 201.4 + n) for n in range(1, (networks or number) + 1)),
             ("rollout", 120.6), ("random", 0.0)]  # fmt: skip
    return {
        "opponents": {"random": estimate(0.81 + number / 100, 0.0417), "rollout": estimate(0.62 + number / 100, 0.051),
                      "oracle": estimate(0.4137 + number / 100, 0.0611)},
        "points": {"random": [231.25 + number, 46.125]},
        "score": estimate(203.57 + 3 * number, 4.21, 2000),
        "regret": {**estimate(0.3 / number, 0.0071, 101), "optimal": 0.8713, "tied": 3, "by_kind": kinds},
        "calibration": [[-0.93 + 0.19 * k, -0.91 + 0.17 * k + number / 1000, 77 + k] for k in range(10)],
        "ratings": [{"name": name, "rating": rating, "error": 20.2 if rating else 0.0, "low": rating - 40.4,
                     "high": rating + 41.3, "pairs": 40 + place} for place, (name, rating) in enumerate(rated)],
    }  # fmt: skip


def gate(number: int, in_points: bool = False) -> dict[str, Any]:
    if number == 1:
        return {"champion": 1, "promoted": True, "pairs": 0}
    promoted = number % 2 == 0
    gain = {"gain": estimate(1.25 * (1 if promoted else -1), 0.511, 90 + number)} if in_points else {}
    return {"champion": number if promoted else number - 1, "against": number - 1 - (not promoted and number > 3),
            "promoted": promoted, "decided": number != 3, "pairs": 90 + number,
            "score": estimate(0.5 + 0.0317 * (1 if promoted else -1), 0.0271, 90 + number), **gain,
            "error_rates": {"in_words": RATES}}  # fmt: skip


def phase(number: int, name: str, seconds: float, results: dict[str, Any]) -> dict[str, Any]:
    time = NOON + 100 * number + seconds
    return {"event": "phase", "time": time, "iteration": number, "phase": name, "seconds": seconds, "results": results}


def afterstate_events(number: int) -> list[dict[str, Any]]:
    rounds = [{"event": "learning", "time": NOON + 100 * number + step, "iteration": number,
               "round": 10 * number + step, "turns_per_second": 1234.5 * step, "seconds": 60.0 * number + step,
               "losses": {"win": 0.67 / step, "win_2": 0.0123 * step}, "learning_rate": 0.004, "mean_return": None}
              for step in range(1, 4)]  # fmt: skip
    return [*rounds, phase(number, "learn", 61.7, {"rounds": 10 * number + 3})]


def alphazero_events(number: int) -> list[dict[str, Any]]:
    at = {"time": NOON + 100 * number, "iteration": number}
    tenths = [[-0.95 + 0.2 * k, -0.9 + 0.19 * k, 30 + k] for k in range(10)]
    summary = {"step": 30 * number, "samples": 900 * number, "policy_loss": 0.69 / number, "value_loss": 0.91 / number,
            "afterstate_loss": 0.88 / number, "margin_loss": 0.0, "target_entropy": 0.613, "model_entropy": 0.6421,
            "kl": 0.0312, "calibration": tenths, "sample_age": 0.5, "learning_rate": 0.001,
            "samples_per_second": 4321.0 + number, "exact": None}  # fmt: skip
    return [
        {"event": "selfplay", **at, "games": 32, "seconds": 7.25, "evaluations": 9157, "decisions": 800},
        phase(number, "selfplay", 7.5, {"games": 32, "network": None}),
        {"event": "fit", **at, **summary},
        phase(number, "fit", 11.3, {"step": 30 * number, "samples": 900 * number, "start_network": None}),
    ]


def run_by_hand(
    path: Path,
    recipe: str = "afterstate",
    iterations: int = 4,
    *,
    done: int | None = None,
    every: int = 1,
    final: bool = False,
    in_points: bool = False,
    **config: Any,
) -> Path:
    """Write the directory of a run with ``done`` finished iterations, evaluated after ``every`` iterations.

    ``final``: the champion was evaluated at the end. ``in_points``: gates compare returns.
    """
    done = iterations if done is None else done
    path.mkdir(parents=True)
    events: list[dict[str, Any]] = [{"event": "started", "time": NOON, "iterations": iterations}]
    history: list[dict[str, Any]] = []
    for number in range(1, done + 1):
        trained = afterstate_events(number) if recipe == "afterstate" else alphazero_events(number)
        measured = evaluation(number) if number % every == 0 or number == iterations else {}
        gated = gate(number, in_points)
        events += [*trained, phase(number, "gate", 12.5, gated), phase(number, "evaluate", 20.25, measured)]
        ended = [one for one in events if one["event"] == "phase" and one["iteration"] == number]
        history.append({"number": number, "done": [one["phase"] for one in ended],
                        "results": {one["phase"]: one["results"] for one in ended}, "model": f"36fc8c684548{number:04}",
                        "champion": gate(number)["champion"]})  # fmt: skip
    if final:
        found = {"network": history[-1]["champion"], "opponents": {"random": estimate(0.9375, 0.03, 900)},
                 "score": estimate(31.5, 0.25, 900)}  # fmt: skip
        events.append(phase(iterations, "final", 44.5, found))
        history[-1]["done"].append("final")
        history[-1]["results"]["final"] = found
    if done == iterations:
        events.append({"event": "finished", "time": NOON + 999, "champion": history[-1]["champion"]})
    manifest = {"format": FORMAT, "version": VERSION, "game": "pig", "params": {"target": 30}, "rules": "1",
                "recipe": recipe, "seed": 2**62 + 1, "settings": "108cccd76cc32315",
                "rounds": 43 if recipe == "afterstate" else None, "finished": done == iterations,
                "plan": {"iterations": iterations, "minutes": 2.5 if recipe == "afterstate" else None,
                         "final_pairs": 0, "final_reference_games": 0},
                "iterations": history}  # fmt: skip
    settings = {"game": "pig", "params": {"target": 30}, "recipe": recipe, "seed": 2**62 + 1, "iterations": iterations,
                "minutes": 2.5 if recipe == "afterstate" else None, "play": "", "gate": {"pairs": 100},
                "evaluate": {"every": every, "against": None, "regret": True}, **config}  # fmt: skip
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (path / "config.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    write_events(path, events)
    return path


def write_events(path: Path, events: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(event) + "\n" for event in events)
    (path / "events.ndjson").write_text(text, encoding="utf-8")


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "events.ndjson").read_text(encoding="utf-8").splitlines()]
