"""Random numbers from counters: SplitMix64 for Python integers and for kernels, and the names of all streams.

A stream has a 64-bit key, derived from its name and numbers such as a seed and a simulation. The number at a place of
the stream depends on the key and the place only, so a repeated descent draws the same numbers again.

``mix``, ``extend_key``, ``unit``, ``bits_at`` and ``draw_at`` compute with Python integers. ``mix_bits``,
``extend_key_bits``, ``unit_bits``, ``rank_at`` and ``unit_at`` return the same numbers with unsigned 64-bit arithmetic,
inside compiled loops or on numpy scalars.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError

# -- named streams ---------------------------------------------------------------------------------------------------

STREAMS: Final[list[str]] = []
"""The words of all streams, filled by ``_stream``."""


def _stream(word: str) -> int:
    """Return the number of a stream: a word of at most 8 letters as an integer."""
    STREAMS.append(word)
    return int.from_bytes(word.encode("ascii"), "big")


# Every random result depends on these numbers: a constant may be renamed, its word may not change. A new stream needs a
# new word. LANE_TURNS and SEAT_ROTATION share a word, because another one would change results. Nothing uses both: one
# is the key of numpy generators in training, the other makes seeds of players in matches.

GAME_DICE: Final = _stream("played")  # chance events of a game that is played
DICE_ROLLS: Final = _stream("rolls")  # rolls of several dice inside one chance event

DESCENT: Final = _stream("descent")  # outcomes that simulations of a search draw
ROLLOUT: Final = _stream("rollout")  # playouts
NOISE: Final = _stream("noise")  # Dirichlet noise at the root
TIES: Final = _stream("ties")  # order of outcomes that are equally overdue
EXECUTED_MOVE: Final = _stream("executed")  # move drawn from a search result

PLAYER_DRAWS: Final = _stream("thoughts")  # players' own random numbers
AGENT_EPISODES: Final = _stream("episodes")  # seed of an agent in each episode
RANDOM_AGENT: Final = _stream("lots")  # actions of random agents
EPISODE_NUMBERS: Final = _stream("numbers")  # number of an episode, as agents see it

SELFPLAY_DICE: Final = _stream("selfdice")  # game dice of self-play
SELFPLAY_SEARCH: Final = _stream("selfthnk")  # seeds of its searches
SELFPLAY_MOVE: Final = _stream("selfmove")  # its executed moves
SELFPLAY_CAP: Final = _stream("selfcaps")  # whether a search is a full one
BRANCHING_GAMES: Final = _stream("branchs")  # random games that estimate the memory of a tree

EPOCHS: Final = _stream("epochs")  # order of samples in an epoch
UNIFORM_SAMPLES: Final = _stream("uniform")  # samples drawn with replacement

LANE_TURNS: Final = _stream("turns")  # dice and exploration of turns in afterstate training
LANE_STARTS: Final = _stream("scatter")  # first states of its games
LANE_SAMPLES: Final = _stream("order")  # order of its samples
CALIBRATION: Final = _stream("cali")  # games that measure the calibration of values
TABLE_LANES: Final = _stream("tuples")  # game dice in training of tables
FIT_SAMPLES: Final = _stream("samples")  # samples of a fit

MATCH_GAMES: Final = _stream("games")  # seeds of the games of a match
MATCH_SEATS: Final = _stream("seats")  # seeds of its players
SEAT_ROTATION: Final = _stream("turns")  # seeds of players, by rotation of the seats
UNSHARED_DICE: Final = _stream("fresh")  # game dice of pairs that do not share them
GATE_SEEDS: Final = _stream("gates")  # seeds of a gate's games
NAMED_SETS: Final = _stream("sets")  # named sets of seeds
GATE_RATES: Final = _stream("rates")  # simulated error rates of a gate's rule
WALKS: Final = _stream("walks")  # games whose positions are a fixed set
SAMPLED_TURNS: Final = _stream("mix")  # which player plays a turn of a sampled game
JUDGED_PLAYS: Final = _stream("judged")  # decisions of games that are judged
MEASURED_DICE: Final = _stream("dice")  # games of fast measurements

EVALUATIONS: Final = _stream("eval")  # seeds of the evaluations of a run

PLAYED_SEARCHES: Final = _stream("searches")  # seeds of searches in an interactive game
HINTS: Final = _stream("hints")  # seeds of searches for hints
REVIEWS: Final = _stream("reviews")  # seeds of searches and sampled outcomes that judge a played game

ROOT_EVALUATION: Final = (1 << 64) - 1
"""The simulation number of the root's own evaluation."""


# -- Python integers -------------------------------------------------------------------------------------------------

MASK: Final = (1 << 64) - 1
GOLDEN: Final = 0x9E3779B97F4A7C15
_FIRST: Final = 0xBF58476D1CE4E5B9
_SECOND: Final = 0x94D049BB133111EB
_UNIT: Final = 1.0 / 9007199254740992.0


def mix(z: int) -> int:
    """Return SplitMix64's finaliser of 64 bits."""
    z = ((z ^ (z >> 30)) * _FIRST) & MASK
    z = ((z ^ (z >> 27)) * _SECOND) & MASK
    return z ^ (z >> 31)


def extend_key(key: int, part: int) -> int:
    """Return the key of a tuple with one more number, from the key of the tuple."""
    return mix((key + GOLDEN + part) & MASK)


def stream_key(*parts: int) -> int:
    """Return a 64-bit key for a tuple of numbers, each mixed in at its place."""
    key = 0
    for part in parts:
        key = extend_key(key, part)
    return key


def unit(bits: int) -> float:
    """Return the top 53 of 64 bits as a number in [0, 1)."""
    return (bits >> 11) * _UNIT


def bits_at(key: int, place: int) -> int:
    """Return the 64 bits at a place of the stream with this key."""
    return mix((key + GOLDEN * (place + 1)) & MASK)


def draw_at(key: int, place: int) -> float:
    """Return the number in [0, 1) at a place of the stream with this key."""
    return unit(bits_at(key, place))


def check_seed(seed: Any, name: str = "seed") -> None:
    """Raise ConfigError if a value is not a seed; ``name`` is its name in the message."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= MASK:
        raise ConfigError(f"is {seed!r}, expected 0 to 2^64 - 1", field=name)


# -- kernels ---------------------------------------------------------------------------------------------------------

GOLDEN_BITS: Final = np.uint64(GOLDEN)
_FIRST_BITS: Final = np.uint64(_FIRST)
_SECOND_BITS: Final = np.uint64(_SECOND)
_S11, _S27, _S30, _S31 = (np.uint64(n) for n in (11, 27, 30, 31))


def mix_bits(z: Any) -> Any:
    """Return SplitMix64's finaliser of 64 bits."""
    z = (z ^ (z >> _S30)) * _FIRST_BITS
    z = (z ^ (z >> _S27)) * _SECOND_BITS
    return z ^ (z >> _S31)


def extend_key_bits(key: Any, part: Any) -> Any:
    """Return the key of a tuple with one more number, from the key of the tuple."""
    return mix_bits(key + GOLDEN_BITS + part)


def unit_bits(bits: Any) -> float:
    """Return the top 53 of 64 bits as a number in [0, 1)."""
    return float(bits >> _S11) * _UNIT


def open_unit_bits(bits: Any) -> float:
    """Return the top 53 of 64 bits as a number in (0, 1), of which a logarithm can be taken."""
    return (float(bits >> _S11) + 0.5) * _UNIT


def rank_at(key: Any, place: Any) -> Any:
    """Return the 64 bits at a place of the stream with this key."""
    return mix_bits(key + GOLDEN_BITS * np.uint64(place + 1))


def unit_at(key: Any, place: Any) -> float:
    """Return the number in [0, 1) at a place of the stream with this key."""
    return unit_bits(rank_at(key, place))
