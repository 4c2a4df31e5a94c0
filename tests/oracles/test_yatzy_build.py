"""Building the table of the oracle: bit-identical for any number of threads, with progress."""

import numpy as np
import pytest

from aleazero.games.yatzy.card import possible_totals
from aleazero.oracles.yatzy import build_values


def test_late_positions_do_not_depend_on_the_number_of_threads(oracle):
    told = []
    alone = build_values(lambda done, of: told.append((done, of)), threads=1, most_open=4)
    together = build_values(threads=3, most_open=4)
    np.testing.assert_array_equal(alone, together)
    solved = 15 + 105 + 455 + 1365
    assert told[-1] == (solved, solved)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    few = np.array([mask.bit_count() <= 4 for mask in range(2**15)])
    np.testing.assert_array_equal(alone[few], oracle.table[few])
    assert np.isnan(alone[~few]).all()


def test_only_reachable_combinations_have_a_value(oracle):
    for avail in (0, 1, 0x7FFF, 0x1FF, 0x5555, 0x3FFF):
        assert np.flatnonzero(np.isfinite(oracle.table[avail])).tolist() == sorted(possible_totals(avail))


@pytest.mark.long
def test_the_built_table_equals_the_stored_one(oracle):
    np.testing.assert_array_equal(build_values(threads=2), oracle.table)
