from __future__ import annotations

import json

import pytest

from benchmarks import selfplay

SMALL = ("selfplay", "--game", "pig", "-p", "target=20", "--seconds", "0.1", "--parallel", "4", "--sims", "4",
         "--width", "8", "--blocks", "1")  # fmt: skip


def check(data) -> None:
    assert [row["inference"] for row in data["inference"]] == ["onnxruntime", "torch"]
    for row in data["inference"]:
        assert row["leaves"] > row["decisions"] > 0
        assert 0 < row["share"] < 1
    assert [target["what"] for target in data["targets"]] == [
        "self-play compared with its network",
        "two workers compared with one",
    ]


def test_self_play_compared_with_its_network(run, monkeypatch, tmp_path) -> None:
    """All results are measured in this process, one after the other."""
    monkeypatch.setattr(selfplay, "measure_selfplay", lambda request, n: [selfplay.main(request) for _ in range(n)])
    file = tmp_path / "selfplay.json"
    result = run(*SMALL, "--json", str(file))
    assert result.exit_code == 0, result.output
    assert "two workers: " in result.stdout
    check(json.loads(file.read_text(encoding="utf-8")))


@pytest.mark.long  # four processes, each of which imports torch
def test_workers_are_processes(run_json) -> None:
    check(run_json(*SMALL))


def test_errors_are_one_line(refused) -> None:
    assert "chance is 'luck'" in refused("selfplay", "--chance", "luck")
