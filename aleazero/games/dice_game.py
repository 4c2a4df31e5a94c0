"""The dice game: roll to add a die to the score, or stop; the game ends at 20. One player; the return is the score."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Game, GameInfo
from aleazero.games.kit import Example, GameKit
from aleazero.games.scene import Button, Die, Label, Line, Move, Rect, Scene, Shape

Vector = NDArray[np.int64]

# The state vector: the score and the kind of state.
SCORE, KIND = 0, 1
ROLL, STOP = 0, 1
FACES = 6
END = 20
HIGHEST = END - 1 + FACES


def describe() -> GameInfo:
    """Describe the game. It has no parameters."""
    return GameInfo(
        name="dice_game",
        num_players=1,
        num_actions=2,
        max_outcomes=FACES,
        utility=(0.0, float(HIGHEST)),
        state_size=2,
        state_dtype="int8",
        observation_size=2,
        observation_schema="dice_game-1",
    )


def kind(state: Vector) -> int:
    """CHANCE before a roll, DECISION, or TERMINAL."""
    return state[KIND]


def to_play(state: Vector) -> int:
    """The only player."""
    return 0


def legal(state: Vector, out: Vector) -> int:
    """Rolling and stopping are always legal."""
    out[0] = ROLL
    out[1] = STOP
    return 2


def apply(state: Vector, action: int) -> None:
    """Rolling leads to a chance node, stopping ends the game."""
    state[KIND] = CHANCE if action == ROLL else TERMINAL


def outcomes(state: Vector, ids: Vector, probabilities: NDArray[np.float64]) -> int:
    """Outcome ids are the faces 1 to 6."""
    for i in range(FACES):
        ids[i] = i + 1
        probabilities[i] = 1.0 / FACES
    return FACES


def sample(state: Vector, u: float) -> int:
    """A face for a uniform number u in [0, 1)."""
    return 1 + int(u * FACES)


def apply_outcome(state: Vector, outcome: int) -> None:
    """Add the face; at 20 or more the game is over."""
    state[SCORE] += outcome
    state[KIND] = TERMINAL if state[SCORE] >= END else DECISION


def returns(state: Vector, out: NDArray[np.float64]) -> None:
    """The score so far."""
    out[0] = state[SCORE]


def observe(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """The score as a fraction of the highest score, 25; 1 before a roll."""
    out[0] = state[SCORE] / HIGHEST
    out[1] = 1.0 if state[KIND] == CHANCE else 0.0


def action_text(state: Vector, action: int) -> str:
    """``roll`` or ``stop``."""
    return ("roll", "stop")[action]


def outcome_text(state: Vector, outcome: int) -> str:
    """The face."""
    return str(outcome)


def text(state: Vector) -> str:
    """``12``, ``12 rolling`` at a chance node, ``12 over`` at the end."""
    return f"{state[SCORE]}" + {CHANCE: " rolling", TERMINAL: " over"}.get(int(state[KIND]), "")


def parse(line: str) -> Vector:
    """Read what ``text`` writes."""
    match = re.fullmatch(r"\s*([0-9]{1,9})(?:\s+(rolling|over))?\s*", line)
    if match is None:
        raise PositionError(f"dice_game: cannot read position {line!r}, expected e.g. '12' or '12 rolling'")
    kind_of = {"rolling": CHANCE, "over": TERMINAL}.get(match[2], DECISION)
    state = np.array([int(match[1]), kind_of], np.int64)
    check(state)  # large numbers would otherwise be reported as not fitting their type
    return state


def check(state: Vector) -> None:
    """Reject numbers that no play reaches."""
    highest = HIGHEST if state[KIND] == TERMINAL else END - 1
    if state[KIND] not in (DECISION, CHANCE, TERMINAL) or not 0 <= state[SCORE] <= highest:
        raise PositionError(
            f"dice_game: {text(state)!r} of kind {state[KIND]} cannot happen, expected a score below {END}, or up to "
            f"{HIGHEST} and 'over'"
        )


def render(state: Vector) -> str:
    """The score and a bar that is full at 20."""
    score = int(state[SCORE])
    filled = min(END, score)
    note = {CHANCE: "  rolling", TERMINAL: "  over"}.get(int(state[KIND]), "")
    return f"{'█' * filled}{'░' * (END - filled)} {score}{note}"


def draw(state: Vector) -> Scene:
    """The score on a track that ends at 20, and buttons to roll and to stop."""
    score, step = int(state[SCORE]), 340 / HIGHEST
    rolling, running = bool(state[KIND] == CHANCE), bool(state[KIND] == DECISION)
    status = "a die is rolled" if rolling else "roll or stop" if running else "the game is over"
    shapes: list[Shape] = [
        Label(180, 34, str(score), 48, bold=True),
        Label(180, 72, status, 16, "faint"),
        *([Die(286, 12, 56, 0), Label(314, 40, "?", 28)] if rolling else []),
        Rect(10, 96, 340, 24, "field", 5),
        Rect(10, 96, step * score, 24, "player0", 5),
        Line(10 + step * END, 90, 10 + step * END, 126, "ink"),
        Label(10 + step * END, 136, str(END), 14, "faint"),
        Label(10, 136, "0", 14, "faint", "start"),
        Label(350, 136, str(HIGHEST), 14, "faint", "end"),
    ]
    for action, what in ((ROLL, "roll the die"), (STOP, f"stop with {score} points")):
        name = action_text(state, action)
        shapes.append(Button(10 + 175 * action, 156, 165, 48, name, running, part=name, title=what, key=name[0]))
    moves = [Move(action, (action_text(state, action),)) for action in (ROLL, STOP) if running]
    return Scene(360, 214, shapes, moves, f"dice game, {score} points, {status}")


def kit(game: Game) -> GameKit:
    """Examples for the demo."""
    return GameKit(
        rolls_dice=True,
        examples=(Example("16 points of at most 25: stop, or roll once more?", "16"),),
    )
