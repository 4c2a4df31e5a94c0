"""The root: what a search is asked, what is done there first, and what is read there at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from aleazero.errors import ConfigError, IllegalActionError, PositionError
from aleazero.games.base import CHANCE, DECISION, Game, State
from aleazero.native.random import NOISE, check_seed, stream_key
from aleazero.search.config import SearchConfig
from aleazero.search.engine import Group, GrownTree
from aleazero.search.result import OutcomeStats, SearchResult


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
        return int.from_bytes(hashlib.blake2b(self.state.key(), digest_size=8).digest(), "little")


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


def touches_root(request: Request, config: SearchConfig) -> bool:
    """Whether something is done at the root between its evaluation and the first simulation."""
    return request.actions is not None or (request.noise and config.noise_alpha > 0)


def touch_roots(group: Group, requests: dict[int, Request], config: SearchConfig) -> None:
    """Narrow the actions of the roots at these places, and mix noise into their priors, as asked for."""
    keys: dict[int, int] = {}
    for place, request in requests.items():
        if request.actions is not None:
            group.trees[place].restrict(request.actions)
        if request.noise and config.noise_alpha > 0:
            keys[place] = stream_key(NOISE, request.seed, request.position)
    if keys:
        group.mix_noise(list(keys), list(keys.values()))


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
