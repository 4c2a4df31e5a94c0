from __future__ import annotations

import aleazero


def test_the_table_names_every_game_and_parameter(run):
    text = run("games").stdout
    for name in aleazero.game_names():
        assert name in text
    assert "target=100" in text
    assert "no chance" in text
    assert max(map(len, text.splitlines())) <= 80


def test_json(run_json):
    rows = {row["name"]: row for row in run_json("games")}
    assert sorted(rows) == aleazero.game_names()
    pig = rows["pig"]
    assert (pig["players"], pig["actions"], pig["chance"], pig["max_outcomes"]) == (2, 2, True, 6)
    assert pig["params"] == {"target": 100}
    assert pig["description"].startswith("Roll as long as you dare")
    assert rows["tic_tac_toe"]["chance"] is False
    assert all(row["description"] and "\n" not in row["description"] for row in rows.values())
