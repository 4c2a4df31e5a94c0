"""The root of a search: the request, changes before the first simulation (allowed actions, noise), the result."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, IllegalActionError, PositionError
from aleazero.games.base import CHANCE, DECISION, Game, State
from aleazero.native.compile import cached_njit
from aleazero.native.random import GOLDEN_BITS, NOISE, check_seed, extend_key_bits, mix_bits, open_unit_bits, stream_key
from aleazero.search.config import SearchConfig
from aleazero.search.group import TreeHandle
from aleazero.search.result import OutcomeStats, SearchResult

_NOISE = np.uint64(stream_key(NOISE))


# Changes of a root between its evaluation and the first simulation, as bits:
LIMIT_ACTIONS: Final = 1  # remove all actions but the allowed ones
NOISE_AT_ROOT: Final = 2  # mix Dirichlet noise into the priors


@dataclass(frozen=True)
class Request:
    """A search to run."""

    state: State
    actions: list[int] | None
    """Allowed actions; None for all."""
    seed: int
    simulations: int | None = None
    """None for the configured number."""
    noise: bool = True
    """False for no Dirichlet noise, even if it is configured."""

    @cached_property
    def position(self) -> int:
        """A 64-bit hash of the state, the same in every process."""
        return position_of(self.state.key())


def position_of(state_key: bytes) -> int:
    """Return a 64-bit hash of the key of a state, the same in every process."""
    return int.from_bytes(hashlib.blake2b(state_key, digest_size=8).digest(), "little")


def make_request(
    game: Game,
    state: State,
    actions: Sequence[int] | None,
    seed: int,
    simulations: int | None = None,
    noise: bool = True,
) -> Request:
    """Return a request for a search of this game.

    Raises:
        PositionError: the state is not a running state of this game.
        ConfigError: seed or simulations are invalid.
        IllegalActionError: an allowed action is not legal.
    """
    if not isinstance(state, State):
        raise PositionError(f"state is {state!r}, expected a State, for example from game.state_from_text")
    check_seed(seed)
    if simulations is not None and (isinstance(simulations, bool) or not 1 <= simulations < 2**31):
        raise ConfigError(f"simulations is {simulations!r}, expected 1 to 2^31 - 1")
    if not same_game(state.game, game):
        raise PositionError(f"the state belongs to {state.game!r}, expected a state of {game!r}")
    if actions is not None:
        state.require_running()
        actions = check_allowed(state, actions)
    return Request(state, actions, int(seed), simulations, noise)


def same_game(one: Game, other: Game) -> bool:
    """Return whether states of one game may be searched as states of the other."""
    if one is other:
        return True
    homes = [getattr(getattr(game, "module", None), "__name__", None) for game in (one, other)]
    return type(one) is type(other) and repr(one) == repr(other) and homes[0] == homes[1]


def check_allowed(state: State, actions: Sequence[int]) -> list[int]:
    """Return the allowed actions, ascending. Raises IllegalActionError if there is none, or one is not legal."""
    legal = state.legal_actions()
    if state.kind() != DECISION:
        raise IllegalActionError(f"actions is {list(actions)}, expected None at a chance node")
    illegal = [action for action in actions if action not in legal]
    if illegal or not len(actions):
        got = f"action {illegal[0]}" if illegal else "no action"
        raise IllegalActionError(f"{state.game.name}: {got} to consider, expected some of {legal}")
    return sorted({int(action) for action in actions})


def noise_key(seed: int, position: int) -> int:
    """Return the key of the noise at the root of a search."""
    return stream_key(NOISE, seed, position)


def noise_keys(seeds: NDArray[np.uint64], state_keys: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return ``noise_key`` of many searches, from their seeds and the keys of their states."""
    digests = b"".join([hashlib.blake2b(key, digest_size=8).digest() for key in state_keys])
    keys: NDArray[np.uint64] = extend_key_bits(extend_key_bits(_NOISE, seeds), np.frombuffer(digests, "<u8"))
    return keys


def read_result(tree: TreeHandle, request: Request, config: SearchConfig, stopped: str | None) -> SearchResult:
    """Return the result of a search."""
    actions, visits, q, priors = tree.root_actions()
    return SearchResult(
        actions=actions,
        visits=visits,
        q=q,
        priors=priors,
        value=tree.root_value(),
        outcomes=[] if len(actions) or tree.kind() != CHANCE else _outcomes(request.state, tree),
        stopped=stopped,
        config=config,
        seed=request.seed,
        position=request.position,
        view=tree.view(),
    )


def _outcomes(state: State, tree: TreeHandle) -> list[OutcomeStats]:
    """Return every outcome of a chance root; if they cannot be listed, those that were drawn."""
    found = tree.root_outcomes()
    chances: dict[int, float] = dict(state.chance_outcomes()) if state.outcomes_listed() else {}
    stats = []
    for outcome in chances or sorted(found):
        visits, total = found.get(outcome, (0, None))
        value = None if total is None or not visits else total / visits
        stats.append(OutcomeStats(outcome, chances.get(outcome), visits, value))
    return stats


# -- noise -------------------------------------------------------------------------------------------------------------

_mix_bits, _open_unit_bits = cached_njit()(mix_bits), cached_njit()(open_unit_bits)


def dirichlet_noise(key: int, alpha: float, count: int) -> NDArray[np.float64]:
    """Return ``count`` shares that sum to 1, from a symmetric Dirichlet distribution."""
    shares = np.empty(count)
    with np.errstate(over="ignore"):
        _fill_shares(np.uint64(key), float(alpha), shares)
    return shares


def mix_root_noise(nodes: Any, edges: Any, places: list[int], keys: list[int], alpha: float, share: float,
                   closed: bool) -> None:  # fmt: skip
    """Mix noise into the priors at the roots of the trees at these places, each by its key, in compiled code."""
    with np.errstate(over="ignore"):
        _mix_noise(nodes, edges, np.array(places, np.int64), np.array(keys, np.uint64), alpha, share, closed)


@cached_njit()
def _mix_noise(nodes: Any, edges: Any, places: Any, keys: Any, alpha: float, share: float, closed: bool) -> None:
    noise = np.empty(edges.shape[1])
    for i in range(len(places)):
        root = nodes[places[i], 0]
        if root.kind != DECISION or root.num_edges < 1:
            continue
        count = root.num_edges
        shares = noise[:count]
        _fill_shares(keys[i], alpha, shares)
        scale = 1.0 if closed else float(count)
        for slot in range(count):
            edge = edges[places[i], root.first_edge + slot]
            edge.prior = (1.0 - share) * edge.prior + share * shares[slot] * scale


@cached_njit()
def _fill_shares(key: Any, alpha: float, shares: Any) -> None:
    """Write Dirichlet shares, from gamma variates by Marsaglia and Tsang (2000).

    They are computed in logarithms, because those of small alphas would underflow.
    """
    boosted = alpha + 1.0 if alpha < 1.0 else alpha
    d = boosted - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    state = key
    most = -math.inf
    for i in range(len(shares)):
        logarithm = -math.inf
        if alpha < 1.0:
            state += GOLDEN_BITS
            extra = math.log(_unit(state)) / alpha
        else:
            extra = 0.0
        while logarithm == -math.inf:
            state += GOLDEN_BITS
            first = _unit(state)
            state += GOLDEN_BITS
            second = _unit(state)
            state += GOLDEN_BITS
            u = _unit(state)
            x = math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)
            v = 1.0 + c * x
            if v > 0.0:
                cube = v * v * v
                if math.log(u) < 0.5 * x * x + d - d * cube + d * math.log(cube):
                    logarithm = math.log(d * cube) + extra
        shares[i] = logarithm
        most = max(most, logarithm)
    total = 0.0
    for i in range(len(shares)):
        shares[i] = math.exp(shares[i] - most)
        total += shares[i]
    for i in range(len(shares)):
        shares[i] /= total


@cached_njit()
def _unit(state: Any) -> Any:
    return _open_unit_bits(_mix_bits(state))
