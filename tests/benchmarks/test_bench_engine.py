from __future__ import annotations

SMALL = ("engine", "--game", "pig(target=20)", "--moves", "roll 5", "--sims", "200", "--seconds", "0.05",
         "--rounds", "1", "--requests", "20", "--minutes", "0.02")  # fmt: skip


def test_throughput_and_memory_of_the_engine(run_json) -> None:
    data = run_json(*SMALL)
    row, mixed = data["throughput"]
    assert (row["simulations"], mixed["simulations"], mixed["requests"]) == (200, None, 20)
    for one in (row, mixed):
        assert min(one["library_per_second"], one["engine_per_second"], one["wall_share"], one["share"]) > 0
    assert data["memory"]["requests"] > 0
    assert [target["what"] for target in data["targets"]] == ["engine compared with the library", "growth of memory"]


def test_errors_are_one_line(refused) -> None:
    assert "--sims is 'few', expected numbers" in refused("engine", "--sims", "few")
    assert "no game 'pgi'" in refused("engine", "--game", "pgi")
