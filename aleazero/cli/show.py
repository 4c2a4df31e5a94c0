"""How positions, numbers and search results look in a terminal; JSON too.

Consoles read no markup, and print no control character: texts of games and of files go to them as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from aleazero.untrusted import UNSAFE, printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aleazero.games.base import Game, State
    from aleazero.search.result import SearchResult

BAR = 16
MOST_STEPS = 12
MOST_PLAYERS_SHOWN = 4

STOPPED = {
    "interrupted": "interrupted",
    "nodes": "the tree is full",
    "evaluations": "the evaluations are spent",
    "seconds": "the time is up",
}


class SafeConsole(Console):
    """A console that prints control characters of texts as escapes."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render as rich does; only rich's own segments may control the terminal."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


def make_console(stderr: bool = False) -> Console:
    """A console that colours only a terminal and only what we say."""
    return SafeConsole(highlight=False, markup=False, emoji=False, stderr=stderr)


def print_json(data: Any) -> None:
    """Pure JSON on stdout; NaN would not be JSON and is a bug."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    typer.echo(UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def quiet_table(*headers: tuple[str, str], title: str | None = None) -> Table:
    """A table of (header, justification) columns with a line under the headers."""
    table = Table(
        box=box.SIMPLE_HEAD,
        title=title,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        collapse_padding=True,
    )
    for header, justify in headers:
        table.add_column(header, justify=justify)  # type: ignore[arg-type]
    return table


def met_text(met: bool) -> Text:
    """Whether a target is met."""
    return Text("met", "green") if met else Text("missed", "bold red")


def facts_table() -> Table:
    """A table without lines: what, and what it is."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def share_bar(share: float, console: Console) -> str:
    """A share of 1 as a bar."""
    full = console.encoding.lower().startswith("utf")
    return ("█" if full else "#") * max(round(BAR * share), 1 if share > 0 else 0)


def value_text(value: float | None, game: Game, signed: bool = False) -> str:
    """A value in the game's units of return: signed where a player can lose; a dash where there is none."""
    if value is None or value != value:
        return "-"
    low_high = game.info.utility
    if low_high is not None and low_high[0] < 0:
        return f"{value:+.3f}"
    return f"{value:+,.2f}" if signed else f"{value:,.2f}"


def values_text(values: Any, game: Game, signed: bool = False) -> str:
    """Values by player."""
    if game.num_players == 1:
        return value_text(float(values[0]), game, signed)
    return "   ".join(f"player {p} {value_text(float(v), game, signed)}" for p, v in enumerate(values))


def mover_text(state: State) -> str:
    """Who moves."""
    player = state.current_player()
    return "chance to move" if player == -1 else f"player {player} to move"


def print_position(state: State, console: Console, heading: str | None = None) -> None:
    """The game, the board, and who moves."""
    console.print(Text(heading or repr(state.game), style="bold"), soft_wrap=True)
    console.print(Text(str(state)), soft_wrap=True)
    if not state.is_terminal():
        console.print(Text(mover_text(state), style="dim"))


def print_result(
    state: State, result: SearchResult, seconds: float, console: Console, top: int = 20, told: PlanDetails | None = None
) -> None:
    """The actions (or a chance root's outcomes), the values, the principal line, and what it cost."""
    planned = result.stats.simulations == 0 and result.stopped is None
    if planned:
        table = planned_outcomes if result.outcomes else planned_actions
        console.print(table(state, result, top, told))
    elif result.outcomes:
        console.print(outcomes_table(state, result, console, top))
    else:
        console.print(actions_table(state, result, console, top))
    facts = facts_table()
    facts.add_row("value", values_text(result.value, state.game))
    for name, gained in () if told is None else told.gains():
        facts.add_row(name, values_text(gained, state.game, signed=True))
    facts.add_row("line", line_text(result))
    if planned:
        facts.add_row("plan", planned_cost_text(result, seconds))
    else:
        facts.add_row("search", cost_text(result, seconds))
    console.print(facts)
    if result.stopped is not None:
        console.print(Text(stopped_text(result), style="bold yellow"))


@dataclass(frozen=True)
class PlanDetails:
    """What a plan over a value network shows in addition to values, by action or, at a chance node, by outcome.

    Numbers are in the mover's view; at a chance node, in that of player 0.
    """

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


def actions_table(state: State, result: SearchResult, console: Console, top: int) -> Table:
    """A row an action, the most visited first, the best marked."""
    table = quiet_table(("", "left"), ("action", "left"), ("visits", "right"), ("share", "right"), ("", "left"),
                        ("value", "right"), ("prior", "right"))  # fmt: skip
    policy = result.policy
    order = sorted(range(len(result.actions)), key=lambda i: (-result.visits[i], int(result.actions[i])))
    order.sort(key=lambda i: int(result.actions[i]) != result.best_action)
    for i in order[:top]:
        best = int(result.actions[i]) == result.best_action
        table.add_row(
            "*" if best else "",
            Text(state.action_to_string(int(result.actions[i]))),
            f"{result.visits[i]:,}",
            f"{policy[i]:.1%}",
            share_bar(float(policy[i]), console),
            value_text(float(result.q[i]), state.game),
            f"{result.priors[i]:.3f}",
            style="bold green" if best else None,
        )
    _note_hidden_rows(table, len(order) - top, "action")
    return table


def outcomes_table(state: State, result: SearchResult, console: Console, top: int) -> Table:
    """A row an outcome of a chance root, the likeliest first, with its value by player."""
    players = min(state.game.num_players, MOST_PLAYERS_SHOWN)
    names = ["value"] if players == 1 else [f"player {p}" for p in range(players)]
    table = quiet_table(("outcome", "left"), ("probability", "right"), ("visits", "right"), ("share", "right"),
                        ("", "left"), *((name, "right") for name in names))  # fmt: skip
    total = max(1, sum(o.visits for o in result.outcomes))
    most = max(1, *(o.visits for o in result.outcomes))
    for o in sorted(result.outcomes, key=lambda o: (-(o.probability or 0.0), o.outcome))[:top]:
        table.add_row(
            Text(state.action_to_string(o.outcome)),
            "-" if o.probability is None else f"{o.probability:.4f}",
            f"{o.visits:,}",
            f"{o.visits / total:.1%}",
            share_bar(o.visits / most, console),
            *(value_text(None if o.value is None else float(o.value[p]), state.game) for p in range(players)),
        )
    _note_hidden_rows(table, len(result.outcomes) - top, "outcome")
    return table


def planned_actions(state: State, result: SearchResult, top: int, told: PlanDetails | None = None) -> Table:
    """A row an action of a plan, the best first, with what it gives away; a dash where it was pruned."""
    more = {} if told is None else told.columns()
    table = quiet_table(("", "left"), ("action", "left"), ("value", "right"), ("behind", "right"),
                        *((name, "right") for name in more))  # fmt: skip
    best = max(float(q) for q in result.q if q == q)
    order = sorted(range(len(result.actions)), key=lambda i: (result.q[i] != result.q[i], -result.q[i]))
    order.sort(key=lambda i: int(result.actions[i]) != result.best_action)
    for i in order[:top]:
        chosen = int(result.actions[i]) == result.best_action
        q = float(result.q[i])
        table.add_row(
            "*" if chosen else "",
            Text(state.action_to_string(int(result.actions[i]))),
            value_text(q, state.game),
            "" if chosen else "-" if q != q else f"{best - q:,.3f}",
            *(texts.get(int(result.actions[i]), "") for texts in more.values()),
            style="bold green" if chosen else None,
        )
    _note_hidden_rows(table, len(order) - top, "action")
    return table


def planned_outcomes(state: State, result: SearchResult, top: int, told: PlanDetails | None = None) -> Table:
    """A row an outcome of a plan from a chance node, the likeliest first, with its value by player."""
    players = min(state.game.num_players, MOST_PLAYERS_SHOWN)
    names = ["value"] if players == 1 else [f"player {p}" for p in range(players)]
    more = {} if told is None else told.columns()
    table = quiet_table(("outcome", "left"), ("probability", "right"), *((name, "right") for name in (*names, *more)))
    for o in sorted(result.outcomes, key=lambda o: (-(o.probability or 0.0), o.outcome))[:top]:
        values = [None if o.value is None else float(o.value[p]) for p in range(players)]
        table.add_row(
            Text(state.action_to_string(o.outcome)),
            f"{o.probability:.4f}",
            *(value_text(value, state.game) for value in values),
            *(texts.get(o.outcome, "") for texts in more.values()),
        )
    _note_hidden_rows(table, len(result.outcomes) - top, "outcome")
    return table


def _note_hidden_rows(table: Table, hidden: int, what: str) -> None:
    if hidden > 0:
        table.caption, table.caption_justify = f"… {hidden} more {what}{'' if hidden == 1 else 's'}", "left"


def line_text(result: SearchResult) -> Text:
    """The principal line by name; outcomes in parentheses."""
    steps = result.principal_variation()
    line = Text()
    for step in steps[:MOST_STEPS]:
        outcome = step.player == -1
        name = f"({step.text.strip('()')})" if outcome else step.text
        line.append(name, style="dim" if outcome else "")
        line.append(" ")
    return line.append("…") if len(steps) > MOST_STEPS else line


def time_text(seconds: float) -> str:
    """A time in seconds, or in milliseconds where it is short."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1000 * seconds:.1f} ms"


def planned_cost_text(result: SearchResult, seconds: float) -> str:
    """Nodes, evaluations, depth and time; the rate is that of nodes."""
    stats = result.stats
    rate = f"{stats.nodes / seconds:,.0f}/s" if seconds > 0 else "-"
    asked = f"{stats.evaluations:,} evaluation{'' if stats.evaluations == 1 else 's'}"
    return f"{stats.nodes:,} nodes, {asked}, depth {stats.depth}, {time_text(seconds)} ({rate})"


def cost_text(result: SearchResult, seconds: float) -> str:
    """Simulations, nodes, depth and time."""
    stats = result.stats
    rate = f"{stats.simulations / seconds:,.0f}/s" if seconds > 0 else "-"
    return (
        f"{stats.simulations:,} simulations, {stats.nodes:,} nodes, depth {stats.depth}, {time_text(seconds)} ({rate})"
    )


def stopped_text(result: SearchResult) -> str:
    """Why a search ended early, and how far it got."""
    why = STOPPED.get(str(result.stopped), str(result.stopped))
    planned, done = result.config.num_simulations, result.stats.simulations
    of = "" if planned >= 2**31 - 2 else f" of {planned:,}"
    return f"stopped early: {why} after {done:,}{of} simulations; this is what was found so far"


def outcome_of_game(state: State) -> str:
    """How a game ended: the returns, and who won."""
    returns = state.returns()
    text = values_text(returns, state.game)
    if len(returns) == 1:
        return f"the game is over: {text}"
    best = max(returns)
    winners = [p for p, value in enumerate(returns) if value == best]
    verdict = f"player {winners[0]} wins" if len(winners) == 1 else "a draw"
    return f"the game is over, {verdict}: {text}"


def print_pairs(told: dict[str, Any], console: Console, more: dict[str, str] | None = None) -> None:
    """What ``PairTable.to_dict`` tells, and some facts more, above it."""
    facts = facts_table()
    for name, words in (more or {}).items():
        facts.add_row(name, words)
    for name, words in pair_facts(told).items():
        facts.add_row(name, words)
    most = max(told["pair_table"].values())
    for number, (score, count) in enumerate(told["pair_table"].items()):
        facts.add_row(
            "pairs by score" if number == 0 else "", f"{score:<6} {count:>7,}  {share_bar(count / most, console)}"
        )
    console.print(facts, soft_wrap=True)


def pair_facts(told: dict[str, Any]) -> dict[str, str]:
    """The facts by name."""
    facts = {
        "score": f"{mean_text(told['score'], '.3f')}, {told['pairs']:,} pairs ({told['games']:,} games)",
        "games": f"{told['wins']:,} won, {told['draws']:,} drawn, {told['losses']:,} lost",
        "elo": elo_text(told["elo"]),
        "returns": f"{mean_text(told['return_difference'], '+,.3f')} ahead",
    }
    if "points" in told:
        points = told["points"]
        ahead = mean_text(points["difference"], "+,.2f")
        facts["points"] = f"{points['first']:,.2f} against {points['second']:,.2f}, {ahead} ahead"
    return facts


def mean_text(told: dict[str, Any], form: str) -> str:
    """A mean with its interval of 95 %."""
    if told["low"] is None:
        return format(told["mean"], form)
    return f"{told['mean']:{form}} ({told['low']:{form}} to {told['high']:{form}})"


def elo_text(elo: dict[str, float | None]) -> str:
    """A difference of ratings with its interval; where a score of 0 or 1 is possible, it has no end."""
    low = "-∞" if elo["low"] is None else f"{elo['low']:+.0f}"
    high = "+∞" if elo["high"] is None else f"{elo['high']:+.0f}"
    return f"({low} to {high})" if elo["mean"] is None else f"{elo['mean']:+.0f} ({low} to {high})"
