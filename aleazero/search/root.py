"""The root: what a search is asked, what is done there first, and what is read there at the end."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, IllegalActionError, PositionError
from aleazero.games.base import CHANCE, DECISION, Game, State
from aleazero.native.compile import cached_njit
from aleazero.native.random import GOLDEN_BITS, NOISE, check_seed, extend_key_bits, mix_bits, open_unit_bits, stream_key
from aleazero.search.config import SearchConfig
from aleazero.search.group import Group, GrownTree
from aleazero.search.result import OutcomeStats, SearchResult
from aleazero.search.status import PLANTED
from aleazero.search.tree.arrays import EVALUATIONS, NO_NODE, SEED, Roots, Tree

_NOISE = np.uint64(stream_key(NOISE))


NARROW: Final = 1


NOISE_AT_ROOT: Final = 2
"""What is done at a root between its evaluation and the first simulation: drop actions, mix noise into the priors."""


@dataclass(frozen=True)
class Request:
    """What is to be searched."""

    state: State
    actions: list[int] | None
    """Those to consider; None for all."""
    seed: int
    simulations: int | None = None
    """None for as many as are configured."""
    noise: bool = True
    """Whether the root's priors are disturbed, where noise is configured."""

    @cached_property
    def position(self) -> int:
        """Sixty-four bits that stand for the state, in every process the same."""
        return position_of(self.state.key())


def position_of(state_key: bytes) -> int:
    """Sixty-four bits that stand for the key of a state, in every process the same."""
    return int.from_bytes(hashlib.blake2b(state_key, digest_size=8).digest(), "little")


def make_request(
    game: Game,
    state: State,
    actions: Sequence[int] | None,
    seed: int,
    simulations: int | None = None,
    noise: bool = True,
) -> Request:
    """A request, once it is found to be one of this game."""
    if not isinstance(state, State):
        raise PositionError(f"state is {state!r}, expected a State: game.state_from_text reads a position")
    check_seed(seed)
    if simulations is not None and (isinstance(simulations, bool) or not 1 <= simulations < 2**31):
        raise ConfigError(f"simulations is {simulations!r}, expected 1 to 2^31 - 1")
    if not same_game(state.game, game):
        raise PositionError(f"the state is of {state.game!r}, expected one of {game!r}")
    if actions is not None:
        state.require_running()
        actions = narrowed(state, actions)
    return Request(state, actions, int(seed), simulations, noise)


def same_game(one: Game, other: Game) -> bool:
    """Whether states of one game may be searched as the other's."""
    if one is other:
        return True
    homes = [getattr(getattr(game, "module", None), "__name__", None) for game in (one, other)]
    return type(one) is type(other) and repr(one) == repr(other) and homes[0] == homes[1]


def narrowed(state: State, actions: Sequence[int]) -> list[int]:
    """The actions to consider, ascending; each must be legal."""
    legal = state.legal_actions()
    if state.kind() != DECISION:
        raise IllegalActionError(f"actions is {list(actions)}, expected None at a chance node")
    wrong = [action for action in actions if action not in legal]
    if wrong or not len(actions):
        got = f"action {wrong[0]}" if wrong else "no action"
        raise IllegalActionError(f"{state.game.name}: {got} to consider, expected some of {legal}")
    return sorted({int(action) for action in actions})


def noise_key(seed: int, position: int) -> int:
    """The key of the noise at the root of a search."""
    return stream_key(NOISE, seed, position)


def noise_keys(seeds: NDArray[np.uint64], state_keys: Sequence[bytes]) -> NDArray[np.uint64]:
    """``noise_key`` of many searches, from their seeds and the keys of their states."""
    digests = b"".join([hashlib.blake2b(key, digest_size=8).digest() for key in state_keys])
    keys: NDArray[np.uint64] = extend_key_bits(extend_key_bits(_NOISE, seeds), np.frombuffer(digests, "<u8"))
    return keys


def prepare_roots(group: Group, narrowed: dict[int, list[int]], noisy: list[int], noise_keys: list[int]) -> None:
    """Drop all but some actions of the roots at some places, and mix noise into the priors at some, by their keys."""
    for place, actions in narrowed.items():
        group.trees[place].restrict(actions)
    if noisy:
        group.mix_noise(noisy, noise_keys)


def read_result(tree: GrownTree, request: Request, config: SearchConfig, stopped: str | None) -> SearchResult:
    """What a tree has found."""
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


def _outcomes(state: State, tree: GrownTree) -> list[OutcomeStats]:
    """Every outcome of a chance root; where they cannot be listed, those that were drawn."""
    found = tree.root_outcomes()
    chances: dict[int, float] = dict(state.chance_outcomes()) if state.outcomes_listed() else {}
    stats = []
    for outcome in chances or sorted(found):
        visits, total = found.get(outcome, (0, None))
        value = None if total is None or not visits else total / visits
        stats.append(OutcomeStats(outcome, chances.get(outcome), visits, value))
    return stats


# -- the functions below run inside compiled code ---------------------------------------------------------------


class Searches(NamedTuple):
    """The searches of a compiled group, for compiled code that starts many and reads their results. b trees."""

    trees: Tree  # all of them
    roots: Roots
    statuses: Any  # (b,) int64
    pauses: Any  # (b,) int64
    limits: Any  # (b,) int64: simulations
    to_prepare: Any  # (b,) int8: NARROW, NOISE_AT_ROOT


def start_search(searches: Searches, b: Any, state: Any, seed: Any, simulations: Any, chunk: Any, noisy: Any) -> None:
    """Start a search at a free place. With noise it pauses at the root, to be given it there, else after a chunk."""
    trees = searches.trees
    for i in range(len(state)):
        trees.states[b, 0, i] = state[i]
    trees.luck[b, SEED] = seed
    searches.limits[b] = simulations
    searches.to_prepare[b] = NOISE_AT_ROOT if noisy else 0
    searches.pauses[b] = 0 if noisy else chunk
    searches.statuses[b] = PLANTED


def evaluations_of(searches: Searches, b: Any) -> Any:
    """Leaves of a search that the evaluator was called with."""
    return searches.trees.counters[b, EVALUATIONS]


def best_slot(roots: Roots, b: Any) -> Any:
    """Where the action of ``SearchResult.best_action`` stands among the root's: most visits, q, prior, lowest id."""
    best = np.int64(0)
    for slot in range(1, roots.counts[b]):
        visits, most = roots.visits[b, slot], roots.visits[b, best]
        q, best_q = roots.q[b, slot], roots.q[b, best]
        if visits != most:
            better = visits > most
        elif q != best_q and not (np.isnan(q) and np.isnan(best_q)):
            better = q > best_q or np.isnan(best_q)
        else:
            better = roots.priors[b, slot] > roots.priors[b, best]  # actions ascend: an equal one comes too late
        if better:
            best = np.int64(slot)
    return best


def read_value_after(trees: Tree, b: Any, action: Any, out: Any) -> bool:
    """The mean by player after an action of the root (closed loop); whether it was tried."""
    root = trees.nodes[b, 0]
    for slot in range(root.num_edges):
        edge = trees.edges[b, root.first_edge + slot]
        if edge.action == action:
            if edge.child == NO_NODE or trees.nodes[b, edge.child].visits == 0:
                return False
            for p in range(len(out)):
                out[p] = trees.nodes[b, edge.child].value_sums[p] / trees.nodes[b, edge.child].visits
            return True
    return False


_mix_bits, _open_unit_bits = cached_njit()(mix_bits), cached_njit()(open_unit_bits)


def dirichlet_noise(key: int, alpha: float, count: int) -> NDArray[np.float64]:
    """So many shares that sum to 1, of concentration alpha."""
    shares = np.empty(count)
    with np.errstate(over="ignore"):
        _fill(np.uint64(key), float(alpha), shares)
    return shares


def disturb_roots(nodes: Any, edges: Any, places: list[int], keys: list[int], alpha: float, share: float,
                  closed: bool) -> None:  # fmt: skip
    """Blend noise into the priors at the roots of the trees at these places, each by its key, in native code."""
    with np.errstate(over="ignore"):
        _disturb(nodes, edges, np.array(places, np.int64), np.array(keys, np.uint64), alpha, share, closed)


@cached_njit()
def _disturb(nodes: Any, edges: Any, places: Any, keys: Any, alpha: float, share: float, closed: bool) -> None:
    noise = np.empty(edges.shape[1])
    for i in range(len(places)):
        root = nodes[places[i], 0]
        if root.kind != DECISION or root.num_edges < 1:
            continue
        count = root.num_edges
        shares = noise[:count]
        _fill(keys[i], alpha, shares)
        scale = 1.0 if closed else float(count)
        for slot in range(count):
            edge = edges[places[i], root.first_edge + slot]
            edge.prior = (1.0 - share) * edge.prior + share * shares[slot] * scale


@cached_njit()
def _fill(key: Any, alpha: float, shares: Any) -> None:
    """Gamma variates by the method of Marsaglia and Tsang (2000), in logarithms: small alphas would underflow."""
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
