"""Pig: roll a die as often as you like; a 1 loses the turn's points, holding banks them. First to the target wins.

With no points to bank the only legal action is to roll, and with enough points to win it is to hold. This removes no
sensible choice and keeps turns finite. OpenSpiel's pig allows holding with no points and ends the game at a horizon;
all other rules are the same.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError, PositionError
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Game, GameInfo
from aleazero.games.kit import Example, GameKit
from aleazero.games.scene import Button, Die, Label, Move, Rect, Scene, Shape

Vector = NDArray[np.int64]

TARGET = 100

# The state vector: the two scores, the turn's points, the player whose turn it is, and the kind of state.
SCORE, TURN, PLAYER, KIND = 0, 2, 3, 4
ROLL, HOLD = 0, 1
FACES = 6
LARGEST_SOLVED = 78
"""Largest target with at most a million states: about 2 T² (T + 2) with target T."""


def describe(target: int = 100) -> GameInfo:
    """Describe the game; ``target`` is the score that wins, from 2 to 10,000."""
    if not isinstance(target, int) or not 2 <= target <= 10_000:
        raise GameError(f"pig: target is {target!r}, expected an integer from 2 to 10000")
    return GameInfo(
        name="pig",
        num_players=2,
        num_actions=2,
        max_outcomes=FACES,
        utility=(-1.0, 1.0),
        state_size=5,
        state_dtype="int16",
        observation_size=5,
        observation_schema="pig-1",
        constants={"TARGET": target},
    )


def kind(state: Vector) -> int:
    """CHANCE before a roll, DECISION, or TERMINAL."""
    return state[KIND]


def to_play(state: Vector) -> int:
    """The player whose turn it is, also at chance nodes."""
    return state[PLAYER]


def legal(state: Vector, out: Vector) -> int:
    """Only rolling without points in this turn; only holding with enough points to win; else both."""
    if state[TURN] == 0:
        out[0] = ROLL
        return 1
    if state[SCORE + state[PLAYER]] + state[TURN] >= TARGET:
        out[0] = HOLD
        return 1
    out[0] = ROLL
    out[1] = HOLD
    return 2


def apply(state: Vector, action: int) -> None:
    """Rolling leads to a chance node; holding banks the points and wins or passes the turn."""
    if action == ROLL:
        state[KIND] = CHANCE
        return
    player = state[PLAYER]
    state[SCORE + player] += state[TURN]
    state[TURN] = 0
    if state[SCORE + player] >= TARGET:
        state[KIND] = TERMINAL
    else:
        state[PLAYER] = 1 - player


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
    """A 1 ends the turn and loses its points; any other face adds to them."""
    state[KIND] = DECISION
    if outcome == 1:
        state[TURN] = 0
        state[PLAYER] = 1 - state[PLAYER]
    else:
        state[TURN] += outcome


def returns(state: Vector, out: NDArray[np.float64]) -> None:
    """1 for the winner, −1 for the loser, 0 before the end."""
    out[0] = 0.0
    out[1] = 0.0
    if state[KIND] == TERMINAL:
        winner = state[PLAYER]
        out[winner] = 1.0
        out[1 - winner] = -1.0


def points(state: Vector, out: NDArray[np.float64]) -> None:
    """The banked points as a fraction of the target."""
    out[0] = state[SCORE] / TARGET
    out[1] = state[SCORE + 1] / TARGET


def observe(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """Own score, other score and the turn's points as fractions of the target; own turn; 1 before a roll."""
    out[0] = state[SCORE + player] / TARGET
    out[1] = state[SCORE + 1 - player] / TARGET
    out[2] = state[TURN] / TARGET
    out[3] = 1.0 if state[PLAYER] == player else 0.0
    out[4] = 1.0 if state[KIND] == CHANCE else 0.0


def action_text(state: Vector, action: int) -> str:
    """``roll`` or ``hold``."""
    return ("roll", "hold")[action]


def outcome_text(state: Vector, outcome: int) -> str:
    """The face."""
    return str(outcome)


def text(state: Vector) -> str:
    """``12-30 turn 7 player 0``, followed by ``rolling`` at a chance node and by ``over`` at the end."""
    line = f"{state[SCORE]}-{state[SCORE + 1]} turn {state[TURN]} player {state[PLAYER]}"
    return line + {CHANCE: " rolling", TERMINAL: " over"}.get(int(state[KIND]), "")


def parse(line: str) -> Vector:
    """Read what ``text`` writes; ``turn`` and ``player`` are optional and 0 by default."""
    match = re.fullmatch(
        r"\s*([0-9]{1,6})\s*-\s*([0-9]{1,6})(?:\s+turn\s+([0-9]{1,6}))?(?:\s+player\s+([01]))?(?:\s+(rolling|over))?\s*",
        line,
    )
    if match is None:
        raise PositionError(f"pig: cannot read position {line!r}, expected e.g. '12-30 turn 7 player 0'")
    first, second, turn, player = (int(match[i] or 0) for i in range(1, 5))
    kind_of = {"rolling": CHANCE, "over": TERMINAL}.get(match[5], DECISION)
    return np.array([first, second, turn, player, kind_of], np.int64)


def check(state: Vector) -> None:
    """Reject numbers that no play reaches."""
    first, second, turn, player, kind_of = (int(number) for number in state)
    if player not in (0, 1) or kind_of not in (DECISION, CHANCE, TERMINAL):
        raise PositionError(f"pig: got player {player} and kind {kind_of}, expected 0 or 1 and 0, 1 or 2")
    own, other = (first, second) if player == 0 else (second, first)
    if kind_of == TERMINAL:
        possible = TARGET <= own < TARGET + FACES and other < TARGET and turn == 0
    else:
        possible = max(own, other) < TARGET and own + turn < TARGET + (0 if kind_of == CHANCE else FACES)
    if not possible or min(first, second, turn) < 0:
        raise PositionError(
            f"pig: {text(state)!r} cannot happen, expected scores below {TARGET} and a turn's points, or a winner and "
            f"'over'"
        )
    if turn == 1:
        raise PositionError(f"pig: {text(state)!r} cannot happen, got 1 point this turn, expected 0 or at least 2")


def render(state: Vector) -> str:
    """The two scores with bars, and the turn's points."""
    lines = []
    for player in (0, 1):
        score = int(state[SCORE + player])
        filled = min(30, 30 * score // TARGET)
        mark = "→" if state[PLAYER] == player and state[KIND] != TERMINAL else " "
        turn = f" +{state[TURN]}" if mark == "→" and state[TURN] else ""
        lines.append(f"{mark} player {player} {'█' * filled}{'░' * (30 - filled)} {score}/{TARGET}{turn}")
    return "\n".join(lines)


def draw(state: Vector) -> Scene:
    """A bar for each score with the turn's points at its end, and buttons to roll and to hold."""
    turn, player, running = int(state[TURN]), int(state[PLAYER]), bool(state[KIND] != TERMINAL)
    status = f"player {player} {'decides' if state[KIND] == DECISION else 'rolls' if running else 'has won'}"
    shapes: list[Shape] = []
    for who in (0, 1):
        score, top, moving = int(state[SCORE + who]), 8 + 66 * who, running and who == player
        width = [340 * min(1.0, points / TARGET) for points in (score, score + turn * moving)]
        shapes += [
            Label(10, top + 12, f"player {who}{', on turn' * moving}", 16, anchor="start", bold=moving),
            Label(350, top + 12, f"{score} / {TARGET}", 16, anchor="end", bold=moving),
            Rect(10, top + 28, 340, 22, "field", 5),
            Rect(10, top + 28, width[1], 22, "paper", 5, outline=f"player{who}"),
            Rect(10, top + 28, width[0], 22, f"player{who}", 5),
        ]
    color = f"player{player}"
    shapes += [
        Rect(10, 148, 340, 96, "board", 10),
        Label(180, 174, "points in this turn" if running else "the game is over", 14, "faint"),
        Label(180, 210, str(turn) if running else status, 40 if running else 24, color, bold=True),
        *([Die(274, 168, 56, 0), Label(302, 196, "?", 28)] if state[KIND] == CHANCE else []),
    ]
    moves = []
    actions = np.zeros(2, np.int64)
    allowed = actions[: legal(state, actions)].tolist() if state[KIND] == DECISION else []
    for action, what in ((ROLL, "roll the die"), (HOLD, f"hold and bank {turn}")):
        name = action_text(state, action)
        left = 10 + 175 * action
        shapes.append(Button(left, 256, 165, 48, name, action in allowed, part=name, title=what, key=name[0]))
        moves += [Move(action, (name,))] if action in allowed else []
    return Scene(360, 314, shapes, moves, f"pig, {status}, {state[SCORE]} to {state[SCORE + 1]}, {turn} in this turn")


def kit(game: Game) -> GameKit:
    """Examples for the demo, and why a long game has no oracle."""
    short = {"target": 30}  # the same for all examples, so that the search is compiled once
    position = "14-22 turn 12 player 0"
    return GameKit(
        rolls_dice=True,
        no_oracle=None
        if game.params["target"] <= LARGEST_SOLVED
        else (
            f"it has more than 1,000,000 states, expected a target of at most {LARGEST_SOLVED} or, in Python, "
            "aleazero.solve(game, max_states=N)"
        ),
        examples=(
            Example("12 points in this turn, 8 points behind: hold or roll again?", position, short),
            Example("The same position after choosing to roll: the value of each face", f"{position} rolling", short),
            Example("A game of pig to 30", None, short),
        ),
    )
