"""The search's streams: the compiled arithmetic equals the one over Python's integers, and numbers are even."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aleazero.games.luck import GOLDEN, MASK, PLAYED, mix, stream_key, unit
from aleazero.search.result import EXECUTED
from aleazero.search.streams import DESCENT, NOISE, ROLLOUT, extend_key_bits, mix_bits, unit_at

words = st.integers(0, MASK)


@given(words, words, st.integers(0, 10_000))
def test_both_arithmetics_agree(key: int, part: int, place: int) -> None:
    with np.errstate(over="ignore"):
        assert int(mix_bits(np.uint64(key))) == mix(key)
        assert int(extend_key_bits(np.uint64(stream_key(key)), np.uint64(part))) == stream_key(key, part)
        assert unit_at(np.uint64(key), np.int64(place)) == unit(mix((key + GOLDEN * (place + 1)) & MASK))


def test_splitmix_is_the_published_one() -> None:
    """The first outputs of SplitMix64 from state 0 are known."""
    state, outputs = 0, []
    for _ in range(3):
        state = (state + GOLDEN) & MASK
        outputs.append(mix(state))
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_streams_have_names_of_their_own() -> None:
    names = {DESCENT, ROLLOUT, NOISE, EXECUTED, PLAYED}
    assert len(names) == 5
    assert len({stream_key(name, 7) for name in names}) == 5


def test_draws_are_even_over_simulations_depths_and_seeds() -> None:
    """Neighbouring keys and places must not show: a Kolmogorov-Smirnov test along each of them."""
    by_simulation = [unit(mix((stream_key(DESCENT, 3, i) + GOLDEN) & MASK)) for i in range(5000)]
    by_seed = [unit(mix((stream_key(DESCENT, i, 0) + GOLDEN) & MASK)) for i in range(5000)]
    by_depth = [unit(mix((stream_key(DESCENT, 3, 0) + GOLDEN * (d + 1)) & MASK)) for d in range(5000)]
    for draws in (by_simulation, by_seed, by_depth):
        assert stats.kstest(draws, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(5000)
