from __future__ import annotations


def test_self_play_compared_with_its_network(run_json) -> None:
    data = run_json("selfplay", "--game", "pig", "-p", "target=20", "--seconds", "0.2", "--parallel", "4",
                    "--sims", "4", "--width", "8", "--blocks", "1")  # fmt: skip
    assert [row["inference"] for row in data["inference"]] == ["onnxruntime", "torch"]
    for row in data["inference"]:
        assert row["leaves"] > row["decisions"] > 0
        assert 0 < row["share"] < 1
    assert [target["what"] for target in data["targets"]] == [
        "self-play compared with its network",
        "two workers compared with one",
    ]


def test_errors_are_one_line(refused) -> None:
    assert "chance is 'luck'" in refused("selfplay", "--chance", "luck")
