"""Statuses of all loops of the search, evaluator kinds, and the errors that statuses stand for.

Kernels cannot raise. They return a status, and the Python code that called the loop raises ``error_for(status, …)``.
Functions that return an index, a count or an id return one of the negative statuses in its place.
"""

from __future__ import annotations

from typing import Final

from aleazero.errors import AleaZeroError, ConfigError, ContractError, GameError, PositionError
from aleazero.games.base import EXACT, NONE

# -- status of a tree or a plan ----------------------------------------------------------------------------------------

# Why it stopped:
DONE: Final = 0  # all simulations are done; the plan is solved; a kernel succeeded
WAITING: Final = 1  # its leaves wait for the evaluator
FULL: Final = 2  # max_nodes is reached
EVALUATIONS_SPENT: Final = 3  # max_evaluations is reached
PAUSED: Final = 4  # as many simulations are done (or nodes expanded) as were requested for now
FAILED: Final = 5  # an error is kept for it

# What ``advance`` does with a tree next:
IDLE: Final = 6  # nothing: it has no state
TO_START: Final = 7  # start at its state
READY: Final = 8  # continue
ANSWERED: Final = 9  # store the evaluations of its leaves, then continue

# -- results of one descent --------------------------------------------------------------------------------------------

AT_LEAF: Final = 10  # it reached its leaves
COLLISION: Final = 11  # it reached a leaf that waits for its evaluation
NO_ROOM: Final = 12  # there is no room for a new node

# -- more room is needed, then the same call continues -----------------------------------------------------------------

GROW_NODES: Final = -1
GROW_EDGES: Final = -2

# -- errors ------------------------------------------------------------------------------------------------------------

BAD_OUTCOMES: Final = -3  # a list of outcomes or a sampled outcome is invalid
UNLISTED_OUTCOMES: Final = -4  # a list of outcomes is needed, and the game has none here
BAD_ACTIONS: Final = -5  # the list of legal actions is invalid
BAD_PLAYOUT: Final = -6  # a playout takes an action that does not exist
BROKEN_RULES: Final = -7  # a kind, player, action, prior or return of a state is invalid
ENDLESS_CHANCE: Final = -8  # too many chance events follow each other
GAME_OVER: Final = -9  # a search starts at a terminal state
TOO_MANY_NODES: Final = -10  # a plan has more states than allowed
CYCLE: Final = -11  # the graph of a plan has a cycle
NO_EVALUATOR: Final = -12  # a plan needs a value of a state, and there is no evaluator

# -- evaluator kinds ---------------------------------------------------------------------------------------------------

EXTERNAL: Final = 0  # outside of the loop: called from Python with batches of leaves
UNIFORM: Final = 1  # inside the loop: equal priors, returns so far
ROLLOUT: Final = 2  # inside the loop: equal priors or those of the game, playouts
NO_KIND: Final = -1  # none: a plan whose frontier holds terminal states only

TRUST_NONE: Final = int(NONE)
TRUST_EXACT: Final = int(EXACT)
"""``games.base.Trust`` as plain integers, which kernels compare."""

MAX_CHANCE_RUN: Final = 256
"""Maximum number of chance events in a row within one descent. More are treated as an endless loop."""


def error_for(status: int, game: str, position: str | None = None, max_nodes: int = 0) -> AleaZeroError:
    """Return the error that a status stands for.

    Args:
        status: one of the errors above.
        game: name of the game.
        position: text of the state at which a plan stopped; None in a search, where it is not known.
        max_nodes: maximum number of states of a plan.
    """
    here = "of a chance event" if position is None else f"in {position!r}"
    if status == BAD_OUTCOMES:
        return ContractError(
            f"{game}: the outcomes {here} are invalid, expected 1 to max_outcomes of them, ids from 0 to 2^31 - 1, and "
            f"probabilities of at least 0 that sum to 1 (or a sample function, if they are too many to list)"
        )
    if status == UNLISTED_OUTCOMES and position is None:
        return ConfigError(
            f"{game}: the game does not list its outcomes, expected chance settings without pick=stratified, "
            f"exact_up_to and backup=expectation. Set lists_outcomes=False in the game's info to get such defaults"
        )
    if status == UNLISTED_OUTCOMES:
        return GameError(
            f"{game}: the game does not list its outcomes {here}, expected a list: use Search instead of a plan"
        )
    if status == BAD_ACTIONS:
        return ContractError(
            f"{game}: the legal actions {here} are invalid, expected 1 to num_actions of them, ids from 0"
        )
    if status == BAD_PLAYOUT:
        start = "a leaf" if position is None else repr(position)
        return ContractError(
            f"{game}: a playout from {start} chose an invalid action, expected rules that pass check_game, which "
            f"reports the state"
        )
    if status == BROKEN_RULES:
        return ContractError(
            f"{game}: the rules returned an invalid kind, player, action, prior or return, expected rules that pass "
            f"check_game, which reports the state"
        )
    if status == ENDLESS_CHANCE:
        return ContractError(f"{game}: more than {MAX_CHANCE_RUN} chance events in a row, expected a decision")
    if status == GAME_OVER:
        return PositionError(f"{game}: the game is over in this position, expected a running game")
    if status == TOO_MANY_NODES:
        return GameError(
            f"{game}: more than {max_nodes} states within the horizon, expected fewer plies (plies=1), pruning (keep, "
            f"margin) or a higher max_nodes"
        )
    if status == CYCLE:
        return GameError(
            f"{game}: the game can return to an earlier state within the horizon, expected no cycles: plan fewer plies "
            f"(plies=1) with an evaluator that values chance nodes, define turn(state) if a turn can end by chance, or "
            f"use aleazero.solve"
        )
    assert status == NO_EVALUATOR, status
    return ConfigError(
        f"{game}: {position!r} is past the horizon and there is no evaluator, expected an evaluator or a horizon that "
        f"reaches the end of the game"
    )
