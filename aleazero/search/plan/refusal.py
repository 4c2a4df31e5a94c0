"""What is wrong with a plan, in words; both planners use the same."""

from __future__ import annotations

from aleazero.errors import AleaZeroError, ConfigError, ContractError, GameError
from aleazero.games.base import State
from aleazero.search.plan.loop import (
    BAD_ACTIONS,
    BAD_PLAYOUT,
    BAD_PROBABILITIES,
    CYCLE,
    MANY_OUTCOMES,
    NOBODY_TO_ASK,
    TOO_MANY_NODES,
)


def refusal(status: int, name: str, where: State, max_nodes: int) -> AleaZeroError:
    """The error of a status of the planning loop, met at a state."""
    position = where.to_text()
    if status == TOO_MANY_NODES:
        return GameError(
            f"{name}: more than {max_nodes} states within the horizon, expected fewer plies (plies=1), pruning (keep, "
            f"margin) or a higher max_nodes"
        )
    if status == MANY_OUTCOMES:
        return GameError(
            f"{name}: the outcomes in {position!r} are too many to list, expected listed chance: use Search instead"
        )
    if status == CYCLE:
        return GameError(
            f"{name}: within the horizon play can return to a state it was in, expected none twice on a way: plan "
            f"fewer plies (plies=1) with an evaluator that values chance nodes, define turn(state) if a turn can end "
            f"by chance, or use aleazero.oracles.solve"
        )
    if status == NOBODY_TO_ASK:
        return ConfigError(
            f"{name}: {position!r} lies on the frontier and there is no evaluator, expected an evaluator or a horizon "
            f"that reaches the end of the game"
        )
    if status == BAD_ACTIONS:
        return ContractError(
            f"{name}: the legal actions in {position!r} are invalid, expected 1 to num_actions of them, ids from 0"
        )
    if status == BAD_PLAYOUT:
        return ContractError(
            f"{name}: a playout from {position!r} met an impossible action, expected what check_game demands: it tells "
            f"where"
        )
    assert status == BAD_PROBABILITIES, status
    return ContractError(
        f"{name}: the outcomes in {position!r} are invalid, expected 1 to max_outcomes of them, ids of at least 0, and "
        f"probabilities of at least 0 that sum to 1"
    )
