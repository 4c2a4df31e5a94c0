from __future__ import annotations

import pytest


@pytest.mark.long  # starts two servers and a browser
def test_clicks_are_timed_while_pages_search_and_live_searches_are_compared(run_json):
    data = run_json("web", "--sessions", "3", "--seconds", "0.5", "--game", "dice_game", "--sims", "300000",
                    "--rounds", "1")  # fmt: skip
    assert (data["workers"], data["results"], data["lost"]) == (2, 3, 0)
    for rows in (data["idle"], data["busy"]):
        assert [row["click"] for row in rows] == ["roll", "undo", "node of the tree"]
        assert all(0 < row["median"] <= row["longest"] for row in rows)
    (one,) = data["rounds"]
    assert data["share"] == pytest.approx(100 * one["live"] / one["alone"])
    assert [row["what"] for row in data["targets"]] == [
        "median of the slowest click", "clicks and searches that were lost", "speed of a live search",
    ]  # fmt: skip
