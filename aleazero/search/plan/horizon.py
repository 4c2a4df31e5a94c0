"""The horizon: where a plan ends.

Every node of a plan has a *layer*, 0 at the root, which grows by the rule of the horizon. The same state at two layers
is two nodes, because different futures are planned from it. A state is past the horizon if its layer reaches the limit.
With the rule MOVER it is also past the horizon if another player decides there. Past the horizon:

- a terminal state has its returns;
- a decision is valued by the evaluator;
- a chance node is valued by an evaluator that values afterstates. With any other, its outcomes are averaged exactly,
  and the states that follow are past the horizon too.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from aleazero.errors import ConfigError
from aleazero.games.base import DECISION, State
from aleazero.games.kernel import KernelState

# Rules by which layers are counted:
NOTHING: Final = 0
"""To the end of the game: only terminal states are past the horizon."""
MOVER: Final = 1
"""A turn, by the mover: a decision of another player than the root's is past the horizon."""
TURN: Final = 2
"""A turn, by the game's own count: the first state of another turn than the root's, and all that follows."""
CHANCE_RUNS: Final = 3
"""Plies: a chance node after a decision begins a new layer. So does a state of another ``turn`` after a state of the
same kind; other chance events in a row are one."""
DECISIONS: Final = 4
"""Plies of a game without chance, or the turn of a single player: each action begins a new layer."""


HORIZONS = ("turn", "game")
NO_LIMIT: Final = 2**31 - 1


class Horizon(NamedTuple):
    """The horizon of one plan, as both planners read it."""

    counts: int
    limit: int
    mover: int
    """The player whose turn it is at the root: the one that decides there, or at a chance node acted last."""
    turn: int


def check_horizon(horizon: Any, plies: Any) -> None:
    """Raise ConfigError if this is not a horizon."""
    if horizon not in HORIZONS:
        raise ConfigError(f"is {horizon!r}, expected {' or '.join(HORIZONS)} (or plies=N)", field="horizon")
    if plies is None:
        return
    if isinstance(plies, bool) or not isinstance(plies, int) or not 1 <= plies < NO_LIMIT:
        raise ConfigError(f"is {plies!r}, expected an integer of at least 1", field="plies")
    if horizon != "turn":
        raise ConfigError(f"is {plies} and horizon is {horizon!r}, expected one of the two", field="plies")


def horizon_at(root: State, horizon: str, plies: int | None) -> Horizon:
    """Return the horizon of a plan from this root."""
    game = root.game
    mover = root.viewer()
    if plies is not None:
        return Horizon(CHANCE_RUNS if game.info.max_outcomes else DECISIONS, plies, mover, 0)
    if horizon == "game":
        return Horizon(NOTHING, NO_LIMIT, mover, 0)
    turn = turn_of(root)
    if turn is not None:
        return Horizon(TURN, 1, mover, turn)
    return Horizon(DECISIONS, 1, mover, 0) if game.num_players == 1 else Horizon(MOVER, NO_LIMIT, mover, 0)


def one_action(root: State) -> Horizon:
    """Return the horizon right after the root's actions."""
    return Horizon(DECISIONS, 1, root.viewer(), 0)


def turn_of(state: State) -> int | None:
    """Return the turn by the game's own ``turn``, a kernel or a method; None if it has none."""
    if isinstance(state, KernelState):
        turn = state.game.kernels.turn
        return None if turn is None else int(turn(state.vector))
    own = getattr(getattr(state, "wrapped", None), "turn", None)
    return int(own()) if callable(own) else None


def may_prune(horizon: Horizon, kind: int, layer: int) -> bool:
    """Return whether pruning applies to a node: a decision not in the last layer, all of whose actions are valued."""
    counted = horizon.counts in (CHANCE_RUNS, DECISIONS)
    return kind == DECISION and not (counted and layer >= horizon.limit - 1)
