"""The ledger of a game: what each decision cost, what each roll brought, and the totals of each player.

The cost of a decision is its regret: the value of the best action minus that of the chosen one, for the player to move.
The luck of a roll is the value after it minus the expectation before it, for each player. The luck-adjusted result of a
player is the result minus the sum of the player's luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final, Literal

from aleazero.errors import ConfigError
from aleazero.games.base import CHANCE_PLAYER, Game, State
from aleazero.games.game_dice import roller_of
from aleazero.games.kit import ReviewThresholds, kit_of, play_text
from aleazero.serving.judgement import Judge, JudgedPlay, JudgedRoll
from aleazero.serving.steps import Step, checked_step

Progress = Callable[[int, int], None]
"""Called with the judged steps so far and their total. An exception that it raises ends the review."""
ERROR: Final = 0.02
BLUNDER: Final = 0.05
"""Default thresholds, as fractions of the range of returns; without bounds, of the value at the start."""
Mark = Literal["", "error", "blunder"]


@dataclass(frozen=True)
class Alternative:
    """A play that was possible, with its value for the mover."""

    name: str
    actions: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class Decision:
    """A play: the actions of a player until the next roll or the next player."""

    step: int
    """Number of its first step, from 1."""
    player: int
    actions: tuple[int, ...]
    name: str
    position: str
    """The position before it."""
    forced: bool
    """Whether the player had no choice. Forced plays cost nothing and are not counted."""
    cost: float
    """Value of the best play minus that of this one, for the player."""
    is_best: bool
    mark: Mark
    best: str
    """Name of the best play."""
    value: tuple[float, ...] | None
    """Value before it, under the best play, by player; None if it is forced."""
    alternatives: tuple[Alternative, ...]
    """The best plays and this one, the best first."""
    kind: Literal["decision"] = "decision"


@dataclass(frozen=True)
class Roll:
    """An outcome of a chance node."""

    step: int
    """Number of its step, from 1."""
    player: int
    """The player that rolled."""
    outcome: int
    name: str
    position: str
    """The position before it."""
    probability: float | None
    """None if outcomes cannot be listed."""
    value: tuple[float, ...]
    """Expectation before it, by player."""
    luck: tuple[float, ...]
    """Value after it minus the expectation before it, by player."""
    kind: Literal["roll"] = "roll"


@dataclass(frozen=True)
class PlayerTotals:
    """Totals of one player."""

    player: int
    name: str
    decisions: int
    """Decisions with a choice."""
    regret: float
    """Sum of the costs of all decisions."""
    regret_per_decision: float | None
    best: float | None
    """Share of decisions with a choice that were best."""
    errors: int
    """Decisions marked as errors, without blunders."""
    blunders: int
    luck: float
    result: float | None
    """Return of the player; None if the game is not over."""
    luck_adjusted: float | None
    """Result minus luck."""


@dataclass(frozen=True)
class Ledger:
    """A reviewed game."""

    judge: str
    """What judged it."""
    judge_kind: str
    """``oracle``, ``plan`` or ``search``."""
    exact: bool
    """Whether the values of the judge are exact."""
    thresholds: ReviewThresholds
    entries: tuple[Decision | Roll, ...]
    """All plays and rolls in order."""
    totals: tuple[PlayerTotals, ...]
    returns: tuple[float, ...] | None
    """Returns of the game; None if it is not over."""
    end: tuple[float, ...]
    """Value of the last position by player."""

    @property
    def decisions(self) -> list[Decision]:
        """Decisions with a choice, in order."""
        return [entry for entry in self.entries if isinstance(entry, Decision) and not entry.forced]

    @property
    def rolls(self) -> list[Roll]:
        """All rolls, in order."""
        return [entry for entry in self.entries if isinstance(entry, Roll)]

    @property
    def worst(self) -> list[Decision]:
        """Decisions that cost something, the worst first."""
        return sorted((one for one in self.decisions if one.cost > 0.0), key=lambda one: -one.cost)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        return asdict(self)


def ledger_of(
    start: State,
    steps: Sequence[Step],
    judge: Judge,
    thresholds: ReviewThresholds | None = None,
    *,
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Ledger:
    """Judge a game, or the beginning of one.

    Args:
        start: its first position; it is not changed.
        steps: all actions and outcomes.
        judge: values decisions and rolls, see ``make_judge``.
        thresholds: costs from which a decision is marked, in units of returns; None for those of the game.
        names: name of each player; None for ``player 0`` etc.
        progress: called with the judged steps so far and their total.

    Raises:
        ReplayError: a step is illegal; the message has its number and what was legal.
        ConfigError: the thresholds are invalid.
    """
    check_thresholds(thresholds)
    game = start.game
    plays = list(plays_in(start, steps))
    choices = [one for one in plays if one.player != CHANCE_PLAYER and one.has_choice]
    rolls = [one for one in plays if one.player == CHANCE_PLAYER]
    total, done = sum(len(one.actions) for one in (*choices, *rolls)), 0
    judgements: dict[int, JudgedPlay | JudgedRoll] = {}
    for group, judges_rolls in ((choices, False), (rolls, True)):
        for first in range(0, len(group), judge.batch):
            part = group[first : first + judge.batch]
            states = [one.state for one in part]
            found: Sequence[JudgedPlay | JudgedRoll] = (
                judge.judge_rolls(states, [one.actions[0] for one in part])
                if judges_rolls
                else judge.judge_plays(states, [one.actions for one in part])
            )
            judgements |= {one.step: judgement for one, judgement in zip(part, found, strict=True)}
            done += sum(len(one.actions) for one in part)
            if progress is not None:
                progress(done, total)
    last = after_steps(start, plays)
    end = tuple(float(value) for value in judge.values([last])[0])
    limits = thresholds or thresholds_of(game, _first_value(judgements, end))
    entries = tuple(_entry(one, judgements.get(one.step), limits) for one in plays)
    returns = tuple(last.returns()) if last.is_terminal() else None
    by_name = names or [f"player {number}" for number in range(game.num_players)]
    totals = tuple(_totals(number, by_name[number], entries, returns) for number in range(game.num_players))
    return Ledger(judge.name, judge.kind, judge.exact, limits, entries, totals, returns, end)


@dataclass(frozen=True)
class PlayedPlay:
    """Actions of a player until the next roll or the next player; or one outcome."""

    step: int
    player: int
    """−1 for an outcome."""
    state: State
    """The state before it."""
    actions: tuple[int, ...]
    has_choice: bool


def plays_in(start: State, steps: Sequence[Step]) -> Iterator[PlayedPlay]:
    """Yield the plays and outcomes of a game, after checking every step against the rules."""
    at, number = start.clone(), 0
    for _, run in groupby(enumerate(steps, 1), key=partial(_play_key, start.game.num_players == 1)):
        taken: list[int] = []
        before, has_choice = at, False
        for number, (player, action) in run:
            after = checked_step(at, player, action, f"step {number}")
            has_choice |= player != CHANCE_PLAYER and len(at.legal_actions()) > 1
            taken.append(action if player == CHANCE_PLAYER else at.canonical_action(action))
            at = after
        yield PlayedPlay(number - len(taken) + 1, before.current_player(), before, tuple(taken), has_choice)


def _play_key(alone: bool, item: tuple[int, Step]) -> int:
    """Return the same number for consecutive actions of one play; in one-player games each action is a play."""
    number, (player, _) = item
    return number if alone or player == CHANCE_PLAYER else -1 - player


def after_steps(start: State, plays: Sequence[PlayedPlay]) -> State:
    """Return the state after all plays."""
    at = plays[-1].state.clone() if plays else start.clone()
    for action in plays[-1].actions if plays else ():
        at.apply_action(action)
    return at


def check_thresholds(thresholds: ReviewThresholds | None) -> None:
    """Raise ConfigError if these are not thresholds."""
    if thresholds is not None and not 0 < thresholds.error <= thresholds.blunder < float("inf"):
        raise ConfigError(
            f"thresholds are error {thresholds.error:g} and blunder {thresholds.blunder:g}, "
            "expected numbers with 0 < error ≤ blunder"
        )


def thresholds_of(game: Game, value: float = 0.0) -> ReviewThresholds:
    """Return the default thresholds of a game; ``value`` is that of the first position, for unbounded returns."""
    own = kit_of(game).review
    if own is not None:
        return own
    span = abs(value) or 1.0 if game.info.utility is None else game.info.utility[1] - game.info.utility[0]
    return ReviewThresholds(ERROR * span, BLUNDER * span)


def thresholds_with(game: Game, error: float | None, blunder: float | None) -> ReviewThresholds | None:
    """Return thresholds of which one or both are given; None for the defaults of the game.

    Raises:
        ConfigError: ``error`` exceeds ``blunder``.
    """
    if error is None and blunder is None:
        return None
    default = thresholds_of(game)
    low = error if error is not None else min(default.error, blunder or 0.0)
    found = ReviewThresholds(low, blunder if blunder is not None else max(default.blunder, low))
    check_thresholds(found)
    return found


def _first_value(judgements: dict[int, JudgedPlay | JudgedRoll], end: Sequence[float]) -> float:
    if not judgements:
        return max(abs(value) for value in end)
    first = judgements[min(judgements)]
    return float(max(abs(first.value if isinstance(first, JudgedPlay) else first.expected)))


def _entry(play: PlayedPlay, judgement: JudgedPlay | JudgedRoll | None, limits: ReviewThresholds) -> Decision | Roll:
    state, position = play.state, play.state.to_text()
    if isinstance(judgement, JudgedRoll):
        return Roll(
            play.step, roller_of(state) or 0, play.actions[0], state.action_to_string(play.actions[0]), position,
            judgement.probability, _floats(judgement.expected), _floats(judgement.luck),
        )  # fmt: skip
    name = play_text(state, play.actions)
    if judgement is None:
        return Decision(play.step, play.player, play.actions, name, position, True, 0.0, True, "", name, None, ())
    cost = float(sum(judgement.costs))
    mark: Mark = "blunder" if cost >= limits.blunder else "error" if cost >= limits.error else ""
    alternatives = tuple(
        Alternative(play_text(state, actions), actions, float(value)) for actions, value in judgement.alternatives
    )
    return Decision(
        play.step, play.player, play.actions, name, position, False, cost, cost == 0.0, mark,
        play_text(state, judgement.best), _floats(judgement.value), alternatives,
    )  # fmt: skip


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _totals(
    player: int, name: str, entries: Sequence[Decision | Roll], returns: Sequence[float] | None
) -> PlayerTotals:
    mine = [one for one in entries if isinstance(one, Decision) and one.player == player and not one.forced]
    luck = float(sum(one.luck[player] for one in entries if isinstance(one, Roll)))
    regret, count = float(sum(one.cost for one in mine)), len(mine)
    result = None if returns is None else float(returns[player])
    return PlayerTotals(
        player=player,
        name=name,
        decisions=count,
        regret=regret,
        regret_per_decision=regret / count if count else None,
        best=sum(one.is_best for one in mine) / count if count else None,
        errors=sum(one.mark == "error" for one in mine),
        blunders=sum(one.mark == "blunder" for one in mine),
        luck=luck,
        result=result,
        luck_adjusted=None if result is None else result - luck,
    )
