from __future__ import annotations

import json
from collections import Counter

import pytest

import aleazero
from aleazero.evaluation.yatzy.positions import (
    FOLDER,
    KINDS,
    STAGES,
    Position,
    classify,
    load_set,
    set_names,
    write_set,
)
from aleazero.oracles.oracle import best_of

GOOD = {"avail_mask": 0x7FFF, "upper_total_cap": 0, "dice_sorted": [1, 2, 3, 4, 6], "rerolls_left": 2}


def test_bundled_sets():
    assert set_names() == ["small", "standard"]
    assert {name: len(load_set(name)) for name in set_names()} == {"small": 153, "standard": 1530}


@pytest.mark.parametrize("name", ["small", "standard"])
def test_positions_are_reachable_and_unique(name):
    positions = load_set(name)
    assert len(set(positions)) == len(positions)
    cells = Counter((position.stage, position.kind) for position in positions)
    assert cells == {(stage, kind): len(positions) // 9 for stage in STAGES for kind in KINDS}
    for position in positions:
        state = position.state()
        assert len(state.legal_actions()) > 1
        assert classify(state) == (position.kind, position.stage)


@pytest.mark.parametrize(("name", "least", "ties"), [("small", 2, 2), ("standard", 20, 15)])
def test_every_category_is_the_best_scoring_decision_in_some_position(oracle, name, least, ties):
    judge = oracle
    best = [(position, best_of(judge.action_values(position.state()))) for position in load_set(name)]
    marks = Counter(action - 32 for position, actions in best if position.kind == "mark" for action in actions)
    assert sorted(marks) == list(range(15))
    assert min(marks.values()) >= least
    assert sum(len(actions) > 1 for _, actions in best) == ties


def test_stages_and_kinds():
    position = Position(0x7FFF, 0, (1, 2, 3, 4, 6), 2)
    assert (position.stage, position.kind) == ("opening", "reroll 1")
    stages = [Position((1 << n) - 1, 63, (1, 1, 1, 1, 1), 0).stage for n in (11, 10, 6, 5, 1)]
    assert stages == ["opening", "middle", "middle", "end", "end"]


def test_a_set_reads_back_as_written(tmp_path):
    positions = load_set("small")[:5]
    write_set(tmp_path / "mine.json", positions)
    assert load_set(str(tmp_path / "mine.json")) == positions
    rows = json.loads((tmp_path / "mine.json").read_text())
    assert rows[0] == {**positions[0]._asdict(), "dice_sorted": list(positions[0].dice_sorted)}
    assert [file.name for file in tmp_path.iterdir()] == ["mine.json"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**GOOD, "avail_mask": 0, "upper_total_cap": 40}, "got a finished board"),
        ({**GOOD, "avail_mask": 0x8000}, "expected a mask from 0 to 32767"),
        ({**GOOD, "upper_total_cap": 5}, "got the upper total 5 with no upper category filled"),
        ({**GOOD, "dice_sorted": [1, 2, 3, 4]}, "got the dice [1, 2, 3, 4], expected 5 from 1 to 6, ascending"),
        ({**GOOD, "dice_sorted": [2, 1, 3, 4, 5]}, "ascending"),
        ({**GOOD, "dice_sorted": [1, 2, 3, 4, 7]}, "from 1 to 6"),
        ({**GOOD, "dice_sorted": "12346"}, "got the dice"),
        ({**GOOD, "rerolls_left": 3}, "3 rerolls left"),
        ({**GOOD, "rerolls_left": 10**30}, "expected smaller numbers"),
        ({**GOOD, "rerolls_left": True}, "expected integers"),
        ({**GOOD, "avail_mask": 1.5}, "expected integers"),
        ({**GOOD, "total": 3}, "expected avail_mask, upper_total_cap, dice_sorted, rerolls_left"),
        ({}, "got {}, expected avail_mask"),
        (7, "got 7, expected avail_mask"),
    ],
)
def test_invalid_positions_are_rejected(tmp_path, row, message):
    file = tmp_path / "bad.json"
    file.write_text(json.dumps([GOOD, row]))
    with pytest.raises(aleazero.PositionError) as caught:
        load_set(str(file))
    assert str(caught.value).startswith("bad.json, position 1: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "[", "{}", "[]", "3", "[" * 100_000, "\ufeff[]"])
def test_invalid_files_are_rejected(tmp_path, text):
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(aleazero.PositionError, match="expected a list of positions"):
        load_set(str(file))


def test_unknown_sets_are_rejected():
    with pytest.raises(aleazero.ConfigError, match="no set 'smal', did you mean small"):
        load_set("smal")
    with pytest.raises(aleazero.ConfigError, match=r"cannot read 'none.json': No such file"):
        load_set("none.json")


def test_the_sets_are_package_data():
    from pathlib import Path

    assert FOLDER.is_relative_to(Path(aleazero.__file__).parent)
