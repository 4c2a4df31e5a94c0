"""Playing a recorded game again: each step must be allowed, and each sample what the rules say at its step."""

from __future__ import annotations

import numpy as np

from aleazero.errors import AleaZeroError, ReplayError
from aleazero.games.base import CHANCE_PLAYER, Game, State
from aleazero.games.luck import PlayedLuck
from aleazero.selfplay.record import EpisodeRecord, final_scores


def check_episode(record: EpisodeRecord, game: Game) -> None:
    """Raise a ReplayError where a game's samples are not in order, or are not what the rules say."""
    where = f"game {record.game_number}"
    _check_order(record, where)
    try:
        _replay(record, game, where)
    except ReplayError:
        raise
    except AleaZeroError as error:
        raise ReplayError(f"{where}: {error}") from None
    except Exception as error:  # the rules of a user's game may raise anything
        raise ReplayError(f"{where}: the rules raised {type(error).__name__}: {error}") from error


def _check_order(record: EpisodeRecord, where: str) -> None:
    for name, least in (("step", 1), ("ply", 0)):
        numbers = getattr(record, name)
        falling = np.flatnonzero(np.diff(numbers) < least)
        if len(falling):
            before, behind = numbers[falling[0] : falling[0] + 2]
            raise ReplayError(f"{where}: {name} goes from {before} to {behind}, expected to ascend")
    for step in record.step[[0, -1]] if len(record) else ():
        if not 0 <= step < len(record.steps):
            raise ReplayError(f"{where}: step is {step}, expected 0 to {len(record.steps) - 1}")


def _replay(record: EpisodeRecord, game: Game, where: str) -> None:
    state = game.state_from_text(record.start)
    rows = {int(step): row for row, step in enumerate(record.step)}
    decisions, luck = 0, PlayedLuck(record.seed)
    chosen = False  # whether the step before was a choice of a player, which is what a search looks at
    for index, (player, action) in enumerate(record.steps.tolist()):
        if state.is_terminal():
            raise ReplayError(f"{where}: the game is over after {index} steps, expected {len(record.steps)}")
        if index in rows:
            _check_sample(record, rows[index], state, decisions, f"{where}, step {index}")
        mover = state.current_player()
        drawn = luck.draw(state) if mover == CHANCE_PLAYER else action
        choice = mover != CHANCE_PLAYER and len(state.legal_actions()) > 1
        if index in rows and record.searched[rows[index]] and not (chosen if mover == CHANCE_PLAYER else choice):
            raise ReplayError(f"{where}, step {index}: searched is true where there was no choice, expected false")
        if player != mover:
            raise ReplayError(f"{where}, step {index}: player {player} moves, expected {mover}")
        try:
            state.apply_action(action)
        except AleaZeroError as error:
            raise ReplayError(f"{where}, step {index}: {error}") from None
        if action != drawn:
            raise ReplayError(f"{where}, step {index}: the outcome is {action}, expected {drawn} by the game's seed")
        chosen = choice
        decisions += mover != CHANCE_PLAYER
    if not state.is_terminal():
        raise ReplayError(f"{where}: the game is not over after its {len(record.steps)} steps")
    if state.returns() != record.returns.tolist():
        raise ReplayError(f"{where}: the returns are {record.returns.tolist()}, expected {state.returns()}")
    scores = final_scores(state).astype(np.float32)
    for row, viewer in enumerate(record.viewers.tolist()):
        if not np.array_equal(record.scores[row], np.roll(scores, -viewer)):
            got, expected = record.scores[row].tolist(), np.roll(scores, -viewer).tolist()
            raise ReplayError(f"{where}, step {record.step[row]}: the scores are {got}, expected {expected}")


def _check_sample(record: EpisodeRecord, row: int, state: State, decisions: int, where: str) -> None:
    for name, true in (
        ("afterstate", np.bool_(state.is_chance_node())),
        ("viewers", np.int64(state.viewer())),
        ("ply", np.int64(decisions)),
        ("legal_masks", state.legal_actions_mask()),
        ("observations", state.observation_tensor()),
    ):
        stored = getattr(record, name)[row]
        if np.shape(stored) != np.shape(true):
            raise ReplayError(f"{where}: {name} has {np.size(stored)} numbers, expected {np.size(true)}")
        wrong = np.flatnonzero(stored != true)
        if len(wrong):
            got, expected = np.ravel(stored)[wrong[0]], np.ravel(true)[wrong[0]]
            place = f" at {wrong[0]}" if np.ndim(true) else ""
            raise ReplayError(f"{where}: {name} has {got}{place}, expected {expected}")
