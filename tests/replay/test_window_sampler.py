"""The sampler: each sample once per epoch, equal batches for equal seeds, and resuming."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played_episodes import make_shard

from aleazero.errors import ReplayError
from aleazero.replay.shard import SAMPLE_COLUMNS
from aleazero.replay.window import BATCH_COLUMNS, Batch, Sampler, Window

NAME = "tic_tac_toe"
SMALL = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampled")
    for first in (0, 2, 4):
        make_shard(folder, NAME, first, first + 2)
    return Window(folder, 10**9)


def rows(sampler, batches):
    return [sampler.next().rows.tolist() for _ in range(batches)]


def equal(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("rows", *BATCH_COLUMNS))


def test_a_batch_has_every_column_of_its_rows(window):
    batch = Sampler(window, 16, seed=1).next()
    assert isinstance(batch, Batch)
    assert len(batch) == 16
    assert set(BATCH_COLUMNS) == set(SAMPLE_COLUMNS)
    for name in BATCH_COLUMNS:
        column = getattr(batch, name)
        assert np.array_equal(column, np.concatenate(window.columns(name))[batch.rows])
        assert column.flags.c_contiguous
        assert column.dtype == np.dtype(SAMPLE_COLUMNS[name][0])


@pytest.mark.parametrize("batch_size", [1, 7, 16, 100])
def test_an_epoch_contains_each_sample_once(window, batch_size):
    sampler = Sampler(window, batch_size, seed=3)
    needed = 3 * len(window)
    drawn = np.concatenate([sampler.next().rows for _ in range(-(-needed // batch_size))])
    epochs = drawn[:needed].reshape(3, len(window))
    assert (np.sort(epochs, axis=1) == np.arange(len(window))).all()
    assert not np.array_equal(epochs[0], epochs[1])
    assert not np.array_equal(epochs[0], np.arange(len(window)))


def test_the_same_seed_gives_the_same_batches(window):
    again = Window(window.folder, window.capacity)
    for order in ("epochs", "uniform"):
        assert rows(Sampler(window, 8, 5, order), 20) == rows(Sampler(again, 8, 5, order), 20)
        assert rows(Sampler(window, 8, 5, order), 20) != rows(Sampler(window, 8, 6, order), 20)
    assert rows(Sampler(window, 8, 5, "epochs"), 1) != rows(Sampler(window, 8, 5, "uniform"), 1)


def test_uniform_draws_with_replacement_and_evenly(window):
    sampler = Sampler(window, len(window), seed=2, order="uniform")
    drawn = np.array(rows(sampler, 200))
    assert any(len(set(batch)) < len(window) for batch in drawn.tolist())
    counts = np.bincount(drawn.ravel(), minlength=len(window))
    # Binomial(200·n, 1/n): mean 200, sd about 14; six of them for all rows at once.
    assert abs(counts - 200).max() < 6 * 200**0.5
    assert sampler.epoch == 0


@SMALL
@given(
    batch_size=st.integers(1, 90),
    before=st.integers(0, 12),
    seed=st.integers(0, 2**63),
    order=st.sampled_from(["epochs", "uniform"]),
)
def test_a_sampler_resumes_with_identical_batches(window, batch_size, before, seed, order):
    one = Sampler(window, batch_size, seed, order)
    for _ in range(before):
        one.next()
    kept = json.dumps(one.state())
    other = Sampler(Window(window.folder, window.capacity), batch_size, seed, order)
    other.restore(json.loads(kept))
    for _ in range(4):
        assert equal(one.next(), other.next())
    assert one.state() == other.state()


def test_a_state_of_another_sampler_is_rejected(window):
    sampler = Sampler(window, 8, seed=1)
    sampler.next()
    state = sampler.state()
    smaller = Window(window.folder, len(window) - 1)
    for other, what in (
        (Sampler(smaller, 8, 1), "window"),
        (Sampler(window, 8, 2), "seed"),
        (Sampler(window, 9, 1), "batch_size"),
        (Sampler(window, 8, 1, "uniform"), "order"),
    ):
        with pytest.raises(ReplayError, match=f"{what} in the state of the sampler is .*, expected"):
            other.restore(state)
    for change in ({"epoch": -1}, {"epoch": 1.0}, {"position": None}, {"position": True}):
        with pytest.raises(ReplayError, match="expected nonnegative integers"):
            sampler.restore(state | change)
    with pytest.raises(
        ReplayError, match=f"position in the state of the sampler is {len(window)}, expected below {len(window)}"
    ):
        sampler.restore(state | {"position": len(window)})
    assert sampler.state() == state


def test_invalid_arguments_are_rejected(window, tmp_path):
    with pytest.raises(ReplayError, match="batch_size is 0"):
        Sampler(window, 0, 1)
    with pytest.raises(ReplayError, match="seed is -1"):
        Sampler(window, 4, -1)
    with pytest.raises(ReplayError, match="order is 'random', expected 'epochs' or 'uniform'"):
        Sampler(window, 4, 1, "random")
    with pytest.raises(ReplayError, match="no game in"):
        Sampler(Window(tmp_path, 10), 4, 1)
    with pytest.raises(ReplayError, match="fits into a capacity of 4 samples"):
        Sampler(Window(window.folder, 4), 4, 1)
