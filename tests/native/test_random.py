"""Random streams: both implementations of SplitMix64 are equal and uniform, and every stream has a unique word."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import aleazero
from aleazero.errors import ConfigError
from aleazero.native import random
from aleazero.native.random import (
    DESCENT,
    GOLDEN,
    MASK,
    STREAMS,
    bits_at,
    check_seed,
    draw_at,
    extend_key,
    extend_key_bits,
    mix,
    mix_bits,
    open_unit_bits,
    rank_at,
    stream_key,
    unit,
    unit_at,
    unit_bits,
)

PACKAGE = Path(aleazero.__file__).parent
words = st.integers(0, MASK)


@given(words, words, st.integers(0, 10_000))
def test_python_and_kernels_agree(key: int, part: int, place: int) -> None:
    with np.errstate(over="ignore"):
        assert int(mix_bits(np.uint64(key))) == mix(key)
        assert int(extend_key_bits(np.uint64(key), np.uint64(part))) == extend_key(key, part)
        assert (
            int(rank_at(np.uint64(key), np.int64(place)))
            == bits_at(key, place)
            == mix((key + GOLDEN * (place + 1)) & MASK)
        )
        assert unit_at(np.uint64(key), np.int64(place)) == draw_at(key, place)
    assert unit_bits(np.uint64(key)) == unit(key)
    assert open_unit_bits(np.uint64(key)) == pytest.approx(unit(key) + 2.0**-54, abs=2.0**-53)
    assert stream_key(key, part) == extend_key(stream_key(key), part)


def test_splitmix_has_the_published_outputs() -> None:
    """The first outputs of SplitMix64 from state 0 and from state 1234567 are known."""
    state, outputs = 0, []
    for _ in range(3):
        state = (state + GOLDEN) & MASK
        outputs.append(mix(state))
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mix((1234567 + GOLDEN) & MASK) == 6457827717110365317


def test_keys_depend_on_the_place() -> None:
    assert stream_key(1, 2) != stream_key(2, 1)
    assert stream_key(0) != stream_key(0, 0)


def test_units_are_inside_their_interval() -> None:
    assert unit(0) == 0.0 < unit(MASK) < 1.0
    # The largest number is rounded to 1.0, whose logarithm is 0; only 0.0 would be a problem.
    assert 0.0 < open_unit_bits(np.uint64(0)) < open_unit_bits(np.uint64(MASK)) <= 1.0


@pytest.mark.parametrize("seed", [True, -1, 1 << 64, 0.5, "1", None])
def test_values_that_are_not_seeds_are_rejected(seed) -> None:
    with pytest.raises(ConfigError, match=r"number is .*, expected 0 to 2\^64 - 1"):
        check_seed(seed, "number")
    for good in (0, MASK, np.uint64(MASK), np.int64(3)):
        check_seed(good)


# -- named streams ---------------------------------------------------------------------------------------------


def test_every_stream_has_a_unique_word() -> None:
    """Only one pair shares a word, as the table explains."""
    assert {word for word, times in Counter(STREAMS).items() if times > 1} == {"turns"}
    assert random.LANE_TURNS == random.SEAT_ROTATION
    numbers = {name: value for name, value in vars(random).items() if isinstance(value, int) and value in NUMBERS}
    assert len(numbers) == len(STREAMS) == 39
    assert len({stream_key(number, 7) for number in NUMBERS}) == len(NUMBERS) == 38


NUMBERS = {int.from_bytes(word.encode(), "big") for word in STREAMS}


def test_the_words_never_change() -> None:
    """All published results depend on them."""
    assert sorted(set(STREAMS)) == [
        *("branchs", "cali", "descent", "dice", "episodes", "epochs", "eval", "executed", "fresh", "games", "gates"),
        *(
            "hints",
            "judged",
            "lots",
            "mix",
            "noise",
            "numbers",
            "order",
            "played",
            "rates",
            "reviews",
            "rollout",
            "rolls",
            "samples",
        ),
        *("scatter", "searches", "seats", "selfcaps", "selfdice", "selfmove", "selfthnk", "sets", "thoughts", "ties"),
        *("tuples", "turns", "uniform", "walks"),
    ]
    assert (DESCENT, random.TIES, random.GAME_DICE) == (0x64657363656E74, 0x74696573, 0x706C61796564)
    assert all(0 < number < 2**63 for number in NUMBERS)


def test_no_other_module_defines_streams_or_splitmix() -> None:
    """No other module of the library has a word as a number, or the constants of SplitMix64."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path != Path(random.__file__):
            for digits in re.findall(r"\b0x([0-9A-Fa-f]{6,16})\b", text):
                assert re.search(rb"^[a-z]+$", bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))) is None, path
            assert "BF58476D1CE4E5B9" not in text.upper(), path
            assert "9007199254740992" not in text, path


def test_draws_are_uniform_over_simulations_depths_and_seeds() -> None:
    """A Kolmogorov-Smirnov test along neighbouring keys and places."""
    by_simulation = [draw_at(stream_key(DESCENT, 3, i), 0) for i in range(5000)]
    by_seed = [draw_at(stream_key(DESCENT, i, 0), 0) for i in range(5000)]
    by_depth = [draw_at(stream_key(DESCENT, 3, 0), d) for d in range(5000)]
    for draws in (by_simulation, by_seed, by_depth):
        assert stats.kstest(draws, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(5000)
