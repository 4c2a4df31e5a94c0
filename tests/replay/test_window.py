"""The window: the newest games that fit into a capacity, mapped from files."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played_episodes import damage, episode, episodes, make_shard, origin_of

from aleazero.errors import ReplayError
from aleazero.replay.shard import SAMPLE_COLUMNS, shard_name, write_shard
from aleazero.replay.window import Window
from aleazero.selfplay.record import SHAPES

NAME = "tic_tac_toe"
ALL = 10**9
SMALL = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def folder(tmp_path):
    """Two iterations of four games each, in shards of two."""
    for iteration in (0, 1):
        for first in (0, 2):
            make_shard(tmp_path, NAME, first, first + 2, iteration=iteration)
    return tmp_path


def games_in_order():
    return [(iteration, game) for iteration in (0, 1) for game in range(4)]


def games_of(window):
    rows = window.game_spans()[:, 0]
    if not len(rows):
        return []
    taken = window.take(["iteration", "game"], rows)
    return list(zip(taken["iteration"].tolist(), taken["game"].tolist(), strict=True))


def test_all_samples_from_the_oldest_to_the_newest(folder):
    window = Window(folder, ALL)
    assert len(window) == 2 * sum(len(record) for record in episodes(NAME, 0, 4))
    assert games_of(window) == games_in_order()
    everything = np.concatenate(window.columns("observations"))
    assert np.array_equal(everything, np.concatenate([record.observations for record in episodes(NAME, 0, 4)] * 2))
    assert window.broken == []
    assert window.origin.model == "model-1"
    assert [shard.path.name for shard in window.shards] == [
        shard_name(iteration, number) for iteration in (0, 1) for number in (0, 1)
    ]


def test_every_capacity_holds_the_newest_complete_games(folder):
    lengths = [len(episode(NAME, game)) for _, game in games_in_order()]
    for capacity in range(1, sum(lengths) + 2):
        window = Window(folder, capacity)
        fit = next(first for first in range(9) if sum(lengths[first:]) <= capacity)
        assert games_of(window) == games_in_order()[fit:]
        assert len(window) == sum(lengths[fit:]) <= capacity


def test_game_spans_are_in_order(folder):
    window = Window(folder, len(Window(folder, ALL)) - 1)
    spans = window.game_spans()
    assert spans[0, 0] == 0
    assert spans[-1, 1] == len(window)
    assert (spans[1:, 0] == spans[:-1, 1]).all()
    for (begin, end), (_, game) in zip(spans, games_in_order()[1:], strict=True):
        taken = window.take(["step", "ply", "root_values"], np.arange(begin, end))
        assert np.array_equal(taken["step"], episode(NAME, game).step)
        assert np.array_equal(taken["ply"], episode(NAME, game).ply)
        assert np.array_equal(taken["root_values"], episode(NAME, game).root_values)


@SMALL
@given(data=st.data())
def test_take_returns_rows_of_the_columns(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "taken"
    if not folder.exists():
        for number in range(4):
            make_shard(folder, NAME, number, number + 1)
    capacity = data.draw(st.integers(len(episode(NAME, 3)), 60))
    window = Window(folder, capacity)
    rows = data.draw(st.lists(st.integers(0, len(window) - 1), max_size=30))
    taken = window.take(list(SAMPLE_COLUMNS), np.array(rows, np.int64))
    for name in SAMPLE_COLUMNS:
        whole = np.concatenate(window.columns(name))
        assert np.array_equal(taken[name], whole[rows])
        assert taken[name].dtype == whole.dtype
        assert taken[name].flags.c_contiguous
        assert taken[name].flags.writeable


def test_columns_are_mapped_not_read(folder):
    for piece in Window(folder, ALL).columns("policies"):
        owner = piece
        while isinstance(getattr(owner, "base", None), np.ndarray):
            owner = owner.base
        assert isinstance(owner, np.memmap)


def test_a_window_does_not_change_with_the_folder(folder):
    window = Window(folder, ALL)
    before, mark = len(window), window.fingerprint()
    make_shard(folder, NAME, 4, 6, iteration=1)
    for path in folder.glob("shard_00000_*"):
        path.unlink()
    assert len(window) == before
    assert np.isfinite(np.concatenate(window.columns("observations"))).all()
    assert window.fingerprint() == mark != Window(folder, ALL).fingerprint()


def test_the_fingerprint_depends_on_the_samples_of_the_window(folder):
    everything = Window(folder, ALL)
    assert everything.fingerprint() == Window(folder, len(everything)).fingerprint()
    assert everything.fingerprint() != Window(folder, len(everything) - 1).fingerprint()


def test_damaged_shards_are_reported_and_replaced_by_older_ones(folder):
    broken = folder / shard_name(1, 0)
    broken.write_bytes(broken.read_bytes()[:-1])
    window = Window(folder, len(episode(NAME, 1)) + sum(len(episode(NAME, game)) for game in (2, 3)) + 2 * 9)
    assert [each.path for each in window.broken] == [broken]
    assert games_of(window)[-2:] == [(1, 2), (1, 3)]
    assert all(iteration == 0 for iteration, _ in games_of(window)[:-2])
    assert len(games_of(window)) > 2


def test_shards_of_another_game_are_reported_and_left_out(folder):
    damage(folder / shard_name(0, 1), rules_version=9)
    make_shard(folder, "pig", 0, 1, iteration=0, number=0)
    window = Window(folder, ALL)
    assert games_of(window) == [(1, game) for game in range(4)]
    pig, rules = sorted(window.broken, key=lambda each: each.path)
    assert pig.why.startswith("the game is pig(target=20) version 1, observations pig-1, expected tic_tac_toe()")
    assert pig.why.endswith(f"as in {shard_name(1, 1)}")
    assert "version 9" in rules.why


def test_rows_of_another_width_are_reported_and_left_out(folder):
    damage(folder / shard_name(0, 0), lambda c: c.update(observations=c["observations"][:, :3].copy()))
    window = Window(folder, ALL)
    assert games_of(window)[0] == (0, 2)
    assert window.broken[0].why.startswith("observations: rows are (3,), expected (")


def test_duplicate_games_are_counted_once(folder):
    make_shard(folder, NAME, 2, 4, iteration=1, number=7)
    window = Window(folder, ALL)
    assert games_of(window) == games_in_order()
    assert [each.why for each in window.broken] == [f"game 2 is also in {shard_name(1, 7)}"]


def test_games_without_samples_have_no_span(tmp_path):
    record = episode(NAME)
    per_sample = [name for name, (_, dims) in SHAPES.items() if dims[0] == "samples"]
    empty = replace(record, game_number=1, **{name: getattr(record, name)[:0] for name in per_sample})
    write_shard(tmp_path / shard_name(0, 0), [record, empty], origin_of(NAME), 0)
    write_shard(tmp_path / shard_name(0, 1), [replace(empty, game_number=2)], origin_of(NAME), 0)
    window = Window(tmp_path, ALL)
    assert window.game_spans().tolist() == [[0, len(record)]]
    assert len(window) == len(record)


def test_a_window_without_samples(tmp_path):
    window = Window(tmp_path, ALL)
    assert len(window) == 0
    assert window.game_spans().shape == (0, 2)
    assert window.columns("ply") == []
    with pytest.raises(ReplayError, match=r"no game in '.*' fits into a capacity of 1000000000 samples$"):
        _ = window.origin
    with pytest.raises(ReplayError, match="no game in"):
        window.take(["ply"], np.array([], np.int64))
    (tmp_path / shard_name(0, 0)).write_bytes(b"")
    with pytest.raises(ReplayError, match=r"shard_00000_00000\.safetensors: the file has 0 bytes"):
        _ = Window(tmp_path, ALL).origin


def test_invalid_arguments_are_rejected(folder):
    with pytest.raises(ReplayError, match="capacity is 0, expected at least 1"):
        Window(folder, 0)
    with pytest.raises(ReplayError, match="no folder"):
        Window(folder / "nowhere", 5)
    window = Window(folder, ALL)
    with pytest.raises(ReplayError, match="no column 'outcome', known: observations"):
        window.columns("outcome")
    for rows in ([-1], [0, len(window)]):
        with pytest.raises(ReplayError, match=r"got rows .*, expected 0 to"):
            window.take(["ply"], np.array(rows))
