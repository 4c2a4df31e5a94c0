"""What a plan over a value network tells beside values: chances to win, margins, and how much is luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aleazero.games.base import CHANCE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aleazero.games.base import State
    from aleazero.nets.planned import PlannedEvaluator
    from aleazero.search.plan import Plan
    from aleazero.search.planner import Planner
    from aleazero.search.result import SearchResult


_ByLabel = dict[int, float]


@dataclass(frozen=True)
class Outlook:
    """By action, or by outcome where a roll is pending: the mover's view (of a pending roll: player 0's)."""

    wins: Mapping[int, float] = field(default_factory=dict)
    """Chances to win, where games are won; a draw of n players counts 1/n."""
    margins: Mapping[int, float] = field(default_factory=dict)
    """Points ahead at the end, where a duel counts points."""
    levels: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """Chances to win or lose so many points or more, by ``win_2`` and the like, where a win may count more than one."""
    swings: Mapping[int, float] = field(default_factory=dict)
    """Standard deviation of the value by the roll that follows, where one follows inside the plan."""
    luck: NDArray[np.float64] | None = None
    """What the last roll brought, by player, where it is known: the value behind it less the value before it."""
    turn: NDArray[np.float64] | None = None
    """What the turn brought so far, by luck and by choice, where its start is known and more than a roll ago."""

    def columns(self) -> dict[str, dict[int, str]]:
        """Columns of a table, by header; none that is empty."""
        levels = self.levels.items()
        found = {
            "win": {label: f"{win:.1%}" for label, win in self.wins.items()},
            "margin": {label: f"{margin:+.1f}" for label, margin in self.margins.items()},
            **{self._header(level): {a: f"{chance:.1%}" for a, chance in by.items()} for level, by in levels},
            "next roll": {label: f"± {swing:.3f}" for label, swing in self.swings.items()},
        }
        return {header: texts for header, texts in found.items() if texts}

    def _header(self, level: str) -> str:
        """``win 2+`` for ``win_2``, where more can be won."""
        side, points = level.split("_")
        return f"{side} {points}{'+' * (f'{side}_{int(points) + 1}' in self.levels)}"

    def gains(self) -> list[tuple[str, NDArray[np.float64]]]:
        """What was gained by player, by name."""
        return [(name, gain) for name, gain in (("luck", self.luck), ("turn", self.turn)) if gain is not None]

    def to_dict(self, result: SearchResult) -> dict[str, Any]:
        """As plain data, in the order of the result's actions or outcomes; None where there is none."""
        labels = [o.outcome for o in result.outcomes] or result.actions.tolist()
        by_label = {"wins": self.wins, "margins": self.margins, "swings": self.swings}
        gains = {"luck": self.luck, "turn_so_far": self.turn}
        return {
            **{name: [found.get(label) for label in labels] if found else None for name, found in by_label.items()},
            "levels": {name: [found[label] for label in labels] for name, found in self.levels.items()} or None,
            **{name: None if gain is None else gain.tolist() for name, gain in gains.items()},
        }


def outlook(planner: Planner, plan: Plan, before: State | None, evaluator: Any) -> Outlook | None:
    """What a plan tells beside its values; ``before`` is the state before the last roll, if that is known.

    None where no value network is asked.
    """
    from aleazero.nets.planned import PlannedEvaluator

    if not isinstance(evaluator, PlannedEvaluator):
        return None
    state = plan.root
    whole_turn = planner.evaluator is evaluator.ends
    # Only between turns does the network know more than a value.
    told = _expectations(plan, evaluator) if whole_turn else ({}, {}, {})
    luck = turn = None
    start = evaluator.turn_start(state) if whole_turn else None
    if before is None and start is not None and _one_step(start, state):
        before, start = start, None
    if before is not None:
        luck = _gain(planner, before, state)
    elif start is not None:
        turn = _gain(planner, start, state)
    swings = {} if state.kind() == CHANCE else plan.swings(state)
    return Outlook(*told, swings, luck, turn)


def _expectations(plan: Plan, net: PlannedEvaluator) -> tuple[_ByLabel, _ByLabel, dict[str, _ByLabel]]:
    """Chances to win, margins, and chances to win or lose several points, by action or outcome."""
    import numpy as np

    state, outcome = plan.root, net.values.outcome
    if outcome.kind == "score":
        return {}, {}, {}
    expected = plan.expected(state, net.columns)
    player, players = max(0, state.current_player()), outcome.players
    sign = -1.0 if outcome.kind == "duel" and player == 1 else 1.0
    column = 0 if outcome.kind == "duel" else player
    wins = {label: (sign * float(told[column]) * (players - 1) + 1.0) / players for label, told in expected.items()}
    margins = {label: sign * float(told[1]) for label, told in expected.items()} if outcome.margin else {}
    seen = {label: outcome.by_viewer(told[None], np.array([player]))[0] for label, told in expected.items()}
    names = [column.name for column in outcome.columns] if outcome.levels > 1 else []
    levels = {name: {label: float(seen[label][k]) for label in seen} for k, name in enumerate(names) if k > 0}
    return wins, margins, levels


def _one_step(before: State, state: State) -> bool:
    """Whether a state lies right behind another one, where a roll is pending."""
    return before.kind() == CHANCE and any(before.child(o).key() == state.key() for o, _ in before.chance_outcomes())


def _gain(planner: Planner, before: State, state: State) -> NDArray[np.float64]:
    """The value of a state less that of an earlier one, both in the plan of the earlier one."""
    earlier = planner.plan(before)
    gain: NDArray[np.float64] = earlier.value(state) - earlier.value(before)
    return gain
