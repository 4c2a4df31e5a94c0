"""Reviews of studied games: the ledger of each game, its rows for tables, and values as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from aleazero.games.base import Game, State, counts_wins
from aleazero.games.kit import ReviewThresholds, kit_of
from aleazero.serving.judgement import Judge
from aleazero.serving.ledger import Decision, Ledger, PlayerTotals, Roll, ledger_of
from aleazero.serving.scale import Scale
from aleazero.serving.session_file import StudiedGame

KIND: Final = "aleazero review"
FORMAT: Final = 1
Progress = Callable[[int, int], None]
SURE: Final = 1.0 - 1e-9
"""A roll with a higher probability is not shown: it has one outcome."""


def scale_of(game: Game) -> Scale:
    """Return the scale of a game: the win chance if it is won or lost, else its unit of returns."""
    low, high = game.info.utility or (0.0, 1.0)
    is_win_chance, bounded = counts_wins(game) and game.num_players > 1, game.info.utility is not None
    unit = (high - low) / 100 if is_win_chance else 1.0
    return Scale(
        name="win chance" if is_win_chance else kit_of(game).terms.get("value", "expected score"),
        is_win_chance=is_win_chance,
        low=low if is_win_chance else 0.0,
        unit=unit,
        span=(high - low) / unit if bounded else None,
        digits=1 if is_win_chance or not bounded or high - low >= 100 else 3 if high - low <= 10 else 2,
        has_luck=game.info.max_outcomes > 0,
    )


def roll_text(roll: Roll) -> str:
    """Return the name of an outcome in a column of rolls."""
    return roll.name.removeprefix("roll-")


@dataclass(frozen=True)
class ReviewRow:
    """A decision with the rolls before it; or rolls of another player, or at the end of the game."""

    number: int
    player: int
    rolls: tuple[Roll, ...]
    decision: Decision | None
    state: State
    """The position after the rolls and before the decision."""
    value: tuple[float, ...]
    """Value of this position by player."""

    @property
    def luck(self) -> float | None:
        """Luck of the player that rolled; None without a roll."""
        return sum(roll.luck[self.player] for roll in self.rolls) if self.rolls else None


@dataclass(frozen=True)
class Review:
    """A studied game and its ledger."""

    studied: StudiedGame
    ledger: Ledger

    @property
    def rows(self) -> list[ReviewRow]:
        """The game in rows, for tables and pages."""
        return list(_rows(self.studied, self.ledger))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        one = self.studied
        return {
            "source": one.source, "players": list(one.names), "seed": one.seed, "start": one.start.to_text(),
            "recorded_result": one.result or None, **one.info, **self.ledger.to_dict(),
        }  # fmt: skip


def review_game(
    studied: StudiedGame, judge: Judge, thresholds: ReviewThresholds | None = None, progress: Progress | None = None
) -> Review:
    """Judge all decisions and rolls of a studied game, see ``ledger_of``; players of the same name get their seat."""
    given = studied.names
    names = [_with_seat(name, seat) if given.count(name) > 1 else name for seat, name in enumerate(given)]
    return Review(studied, ledger_of(studied.start, studied.steps, judge, thresholds, names=names, progress=progress))


def _with_seat(name: str, seat: int) -> str:
    return f"{name} (player {seat})"


def review_data(reviews: Sequence[Review], file: str) -> dict[str, Any]:
    """Return the reviews of a file as JSON data."""
    game = reviews[0].studied.game
    return {
        "kind": KIND, "format": FORMAT, "file": file, "game": game.name, "params": game.params,
        "games": [review.to_dict() for review in reviews],
        "players": [asdict(totals) for totals in totals_by_name(reviews)],
    }  # fmt: skip


def totals_by_name(reviews: Sequence[Review]) -> list[PlayerTotals]:
    """Return the totals of all games by the name of the player, or by seat if all players have the same name."""
    several_names = len({name for review in reviews for name in review.studied.names}) > 1
    groups: dict[str, list[PlayerTotals]] = {}
    for review in reviews:
        for seat, (name, totals) in enumerate(zip(review.studied.names, review.ledger.totals, strict=True)):
            by_name = several_names or len(review.studied.names) == 1
            groups.setdefault(name if by_name else _with_seat(name, seat), []).append(totals)
    return [_joined(number, name, group) for number, (name, group) in enumerate(groups.items())]


def _joined(number: int, name: str, group: Sequence[PlayerTotals]) -> PlayerTotals:
    """Add the totals of several games; results are means per game."""
    count, regret = sum(one.decisions for one in group), sum(one.regret for one in group)
    results = [one.result for one in group if one.result is not None]
    adjusted = [one.luck_adjusted for one in group if one.luck_adjusted is not None]
    best = sum(one.best * one.decisions for one in group if one.best is not None)
    return PlayerTotals(
        player=number,
        name=name,
        decisions=count,
        regret=regret,
        regret_per_decision=regret / count if count else None,
        best=best / count if count else None,
        errors=sum(one.errors for one in group),
        blunders=sum(one.blunders for one in group),
        luck=sum(one.luck for one in group) / len(group),
        result=sum(results) / len(results) if results else None,
        luck_adjusted=sum(adjusted) / len(adjusted) if adjusted else None,
    )


def _rows(studied: StudiedGame, ledger: Ledger) -> Iterator[ReviewRow]:
    state, number = studied.start.clone(), 0
    waiting: list[Roll] = []
    value = ledger.end

    def row(decision: Decision | None) -> ReviewRow:
        nonlocal number, waiting
        number, rolls, waiting = number + 1, tuple(waiting), []
        player = decision.player if decision is not None else rolls[-1].player
        return ReviewRow(number, player, rolls, decision, state.clone(), value)

    for entry, ahead in zip(ledger.entries, _values_ahead(ledger), strict=True):
        if isinstance(entry, Roll):
            if waiting and waiting[-1].player != entry.player:
                yield row(None)
            if (entry.probability or 0.0) < SURE:
                waiting.append(entry)
            value = tuple(a + b for a, b in zip(entry.value, entry.luck, strict=True))
            state.apply_action(entry.outcome)
            continue
        if waiting and waiting[-1].player != entry.player:
            yield row(None)
        value = ahead
        yield row(entry)
        for action in entry.actions:
            state.apply_action(action)
    if waiting:
        value = ledger.end
        yield row(None)


def _values_ahead(ledger: Ledger) -> list[tuple[float, ...]]:
    """Return the value before each entry; before a forced play it is that of the next entry."""
    found, value = [], ledger.end
    for entry in reversed(ledger.entries):
        value = value if entry.value is None else entry.value
        found.append(value)
    return found[::-1]
