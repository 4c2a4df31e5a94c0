from __future__ import annotations

SMALL = ("engine", "--game", "pig(target=20)", "--moves", "roll 5", "--sims", "200", "--seconds", "0.05",
         "--rounds", "1", "--minutes", "0.02")  # fmt: skip


def test_throughput_and_memory_of_the_engine(run_json) -> None:
    data = run_json(*SMALL)
    (row,) = data["throughput"]
    assert row["simulations"] == 200
    assert min(row["library_per_second"], row["engine_per_second"], row["wall_share"], row["share"]) > 0
    assert data["memory"]["requests"] > 0
    assert [target["what"] for target in data["targets"]] == ["engine compared with the library", "growth of memory"]


def test_errors_are_one_line(refused) -> None:
    assert "--sims is 'few', expected numbers" in refused("engine", "--sims", "few")
    assert "no game 'pgi'" in refused("engine", "--game", "pgi")
