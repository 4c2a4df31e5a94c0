"""Output of the commands: consoles, JSON, positions, search results, pairs of games, and tables.

Consoles interpret no markup and print control characters as escapes, so texts of games and files are printed as they
are.
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

from aleazero.errors import count_text
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
    "nodes": "node limit reached",
    "evaluations": "evaluation limit reached",
    "seconds": "time limit reached",
}


def make_console(stderr: bool = False) -> Console:
    """Return a console without markup, emoji and automatic highlighting; only a terminal gets colors."""
    return SafeConsole(highlight=False, markup=False, emoji=False, stderr=stderr)


class SafeConsole(Console):
    """A console that prints control characters in texts as escapes."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render as rich does; only rich's own segments may control the terminal."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


def print_json(data: Any) -> None:
    """Print JSON to stdout. NaN is not JSON, and raises ValueError."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    typer.echo(UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_position(state: State, console: Console, heading: str | None = None) -> None:
    """Print the game, the board and the player to move."""
    console.print(Text(heading or repr(state.game), style="bold"), soft_wrap=True)
    console.print(Text(str(state)), soft_wrap=True)
    if not state.is_terminal():
        player = state.current_player()
        console.print(Text("chance to move" if player == -1 else f"player {player} to move", style="dim"))


@dataclass(frozen=True)
class PlanDetails:
    """What a plan with a value network shows in addition to values, by action or, at a chance node, by outcome.

    Numbers are from the mover's point of view; at a chance node, from that of player 0.
    """

    wins: Mapping[int, float] = field(default_factory=dict)
    """Win probability; a draw of n players counts 1/n."""
    margins: Mapping[int, float] = field(default_factory=dict)
    """Expected final margin in points, in two-player games with points."""
    levels: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """Probability to win or lose at least n points, by ``win_2`` etc., if a win can count more than one."""
    swings: Mapping[int, float] = field(default_factory=dict)
    """Standard deviation of the value caused by the next roll, if there is one inside the plan."""
    luck: NDArray[np.float64] | None = None
    """Value after the last roll minus the value before it, by player; None if unknown."""
    turn: NDArray[np.float64] | None = None
    """Change in value since the start of the turn, by player; None if unknown, or if only one roll was made."""

    def columns(self) -> dict[str, dict[int, str]]:
        """Return the columns of a table that are not empty: texts by header and by action or outcome."""
        levels = self.levels.items()
        found = {
            "win": {label: f"{win:.1%}" for label, win in self.wins.items()},
            "margin": {label: f"{margin:+.1f}" for label, margin in self.margins.items()},
            **{self._header(level): {a: f"{chance:.1%}" for a, chance in by.items()} for level, by in levels},
            "next roll": {label: f"± {swing:.3f}" for label, swing in self.swings.items()},
        }
        return {header: texts for header, texts in found.items() if texts}

    def _header(self, level: str) -> str:
        """Return ``win 2+`` for ``win_2`` if there is a ``win_3``."""
        side, points = level.split("_")
        return f"{side} {points}{'+' * (f'{side}_{int(points) + 1}' in self.levels)}"

    def gains(self) -> list[tuple[str, NDArray[np.float64]]]:
        """Return the known changes in value, by name."""
        return [(name, gain) for name, gain in (("luck", self.luck), ("turn", self.turn)) if gain is not None]

    def to_dict(self, result: SearchResult) -> dict[str, Any]:
        """Return plain data in the order of the result's actions or outcomes; None for missing parts."""
        labels = [o.outcome for o in result.outcomes] or result.actions.tolist()
        by_label = {"wins": self.wins, "margins": self.margins, "swings": self.swings}
        gains = {"luck": self.luck, "turn_so_far": self.turn}
        return {
            **{name: [found.get(label) for label in labels] if found else None for name, found in by_label.items()},
            "levels": {name: [found[label] for label in labels] for name, found in self.levels.items()} or None,
            **{name: None if gain is None else gain.tolist() for name, gain in gains.items()},
        }


def print_result(
    state: State,
    result: SearchResult,
    seconds: float,
    console: Console,
    top: int = 20,
    details: PlanDetails | None = None,
) -> None:
    """Print the table of actions or outcomes, the value, the principal variation and the cost."""
    from aleazero.players.make import MOST_SIMULATIONS

    table = _outcomes_table if result.outcomes else _actions_table
    console.print(table(state, result, console, top, details or PlanDetails()))
    facts = facts_table()
    facts.add_row("value", values_text(result.value, state.game))
    for name, gain in () if details is None else details.gains():
        facts.add_row(name, values_text(gain, state.game, signed=True))
    facts.add_row("principal variation", _variation_text(result))
    facts.add_row("plan" if _is_plan(result) else "search", _cost_text(result, seconds))
    console.print(facts)
    if result.stopped is not None:
        of = "" if result.config.num_simulations >= MOST_SIMULATIONS else f" of {result.config.num_simulations:,}"
        done = f"{result.stats.simulations:,}{of} simulations"
        console.print(Text(f"stopped early: {STOPPED[result.stopped]} after {done}", style="bold yellow"))


def _is_plan(result: SearchResult) -> bool:
    return result.stats.simulations == 0 and result.stopped is None


def _actions_table(state: State, result: SearchResult, console: Console, top: int, details: PlanDetails) -> Table:
    """One row per action, the best first: by value for a plan (a dash if pruned), by visits for a search."""
    plan, more = _is_plan(result), details.columns()
    names = ["value", "loss", *more] if plan else ["visits", "share", "", "value", "prior"]
    table = quiet_table(("", "left"), ("action", "left"), *((name, "right" if name else "left") for name in names))
    best = max((float(q) for q in result.q if q == q), default=0.0)

    def rank(i: int) -> tuple[bool, bool, float, int]:
        q, action = float(result.q[i]), int(result.actions[i])
        merit = (q != q, -q) if plan else (False, -float(result.visits[i]))
        return (action != result.best_action, *merit, action)

    for i in sorted(range(len(result.actions)), key=rank)[:top]:
        action, q = int(result.actions[i]), float(result.q[i])
        chosen = action == result.best_action
        value = value_text(q, state.game)
        if plan:
            loss = "" if chosen else "-" if q != q else f"{best - q:,.3f}"
            cells = [value, loss, *(texts.get(action, "") for texts in more.values())]
        else:
            share = float(result.policy[i])
            cells = [f"{result.visits[i]:,}", f"{share:.1%}", share_bar(share, console), value]
            cells.append(f"{result.priors[i]:.3f}")
        name = Text(state.action_to_string(action))
        table.add_row("*" if chosen else "", name, *cells, style="bold green" if chosen else None)
    note_hidden_rows(table, len(result.actions) - top, "action")
    return table


def _outcomes_table(state: State, result: SearchResult, console: Console, top: int, details: PlanDetails) -> Table:
    """One row per outcome of a chance root, from the largest gain to the largest loss of the player that rolls.

    If there are more than ``top``, those in the middle are left out.
    """
    plan, more, roller = _is_plan(result), details.columns(), max(0, state.viewer())
    players = min(state.game.num_players, MOST_PLAYERS_SHOWN)
    values = ["value"] if players == 1 else [f"player {p}" for p in range(players)]
    names = ["probability", *([] if plan else ["visits"]), *values]
    names += ["luck" if players == 1 else f"luck of {roller}", *more]
    table = quiet_table(("outcome", "left"), *((name, "right") for name in names))
    luck = {o.outcome: float(o.value[roller] - result.value[roller]) for o in result.outcomes if o.value is not None}
    order = sorted(result.outcomes, key=lambda o: (o.outcome not in luck, -luck.get(o.outcome, 0.0), o.outcome))
    hidden = max(0, len(order) - top)
    if hidden:
        known = len(luck) if len(luck) > top else len(order)
        order = order[: top - top // 2] + order[known - top // 2 : known]
    for place, o in enumerate(order):
        table.add_row(
            Text(state.action_to_string(o.outcome)),
            "-" if o.probability is None else f"{o.probability:.4f}",
            *([] if plan else [f"{o.visits:,}"]),
            *(value_text(None if o.value is None else float(o.value[p]), state.game) for p in range(players)),
            value_text(luck.get(o.outcome), state.game, signed=True),
            *(texts.get(o.outcome, "") for texts in more.values()),
            end_section=hidden > 0 and place == top - top // 2 - 1,
        )
    note_hidden_rows(table, hidden, "outcome", " with less effect on the value")
    return table


def _variation_text(result: SearchResult) -> Text:
    """Return the moves of the principal variation, outcomes in parentheses."""
    steps = result.principal_variation()
    line = Text()
    for step in steps[:MOST_STEPS]:
        outcome = step.player == -1
        line.append(f"({step.text.strip('()')})" if outcome else step.text, style="dim" if outcome else "")
        line.append(" ")
    return line.append("…") if len(steps) > MOST_STEPS else line


def _cost_text(result: SearchResult, seconds: float) -> str:
    """Return simulations or evaluations, nodes, depth, time and rate."""
    stats = result.stats
    if _is_plan(result):
        amount, done = stats.nodes, f"{stats.nodes:,} nodes, {count_text(stats.evaluations, 'evaluation')}"
    else:
        amount, done = stats.simulations, f"{stats.simulations:,} simulations, {stats.nodes:,} nodes"
    rate = f"{amount / seconds:,.0f}/s" if seconds > 0 else "-"
    return f"{done}, depth {stats.depth}, {time_text(seconds)} ({rate})"


def outcome_of_game(state: State) -> str:
    """Return the result of a finished game: the winner and the returns."""
    returns = state.returns()
    text = values_text(returns, state.game)
    if len(returns) == 1:
        return f"the game is over: {text}"
    winners = [p for p, value in enumerate(returns) if value == max(returns)]
    verdict = f"player {winners[0]} wins" if len(winners) == 1 else "a draw"
    return f"the game is over, {verdict}: {text}"


def print_pairs(data: Mapping[str, Any], console: Console, heading: Mapping[str, str] | None = None) -> None:
    """Print the data of a ``PairTable``, after some facts of the caller."""
    facts = facts_table()
    for name, text in {**(heading or {}), **_pair_facts(data)}.items():
        facts.add_row(name, text)
    most = max(data["pair_table"].values())
    for number, (score, count) in enumerate(data["pair_table"].items()):
        row = f"{score:<6} {count:>7,}  {share_bar(count / most, console)}"
        facts.add_row("" if number else "pairs by score", row)
    console.print(facts, soft_wrap=True)


def _pair_facts(data: Mapping[str, Any]) -> dict[str, str]:
    facts = {
        "score": f"{mean_text(data['score'], '.3f')}, {data['pairs']:,} pairs ({data['games']:,} games)",
        "games": f"{data['wins']:,} won, {data['draws']:,} drawn, {data['losses']:,} lost",
        "Elo": elo_text(data["elo"]),
        "mean return": mean_text(data["mean_return"], "+,.3f"),
        "return difference": mean_text(data["return_difference"], "+,.3f"),
    }
    if "points" in data:
        points = data["points"]
        difference = mean_text(points["difference"], "+,.2f")
        facts["points"] = f"{points['first']:,.2f} against {points['second']:,.2f}, difference {difference}"
    return facts


def mean_text(data: Mapping[str, Any], form: str) -> str:
    """Return a mean with its 95 % confidence interval."""
    if data["low"] is None:
        return format(data["mean"], form)
    return f"{data['mean']:{form}} ({data['low']:{form}} to {data['high']:{form}})"


def elo_text(elo: Mapping[str, float | None]) -> str:
    """Return an Elo difference with its interval, which is unbounded if a score of 0 or 1 is possible."""
    low = "-∞" if elo["low"] is None else f"{elo['low']:+.0f}"
    high = "+∞" if elo["high"] is None else f"{elo['high']:+.0f}"
    return f"({low} to {high})" if elo["mean"] is None else f"{elo['mean']:+.0f} ({low} to {high})"


def value_text(value: float | None, game: Game, signed: bool = False) -> str:
    """Return a value in the game's units of return, with a sign if returns can be negative; a dash for none."""
    if value is None or value != value:
        return "-"
    low_high = game.info.utility
    if low_high is not None and low_high[0] < 0:
        return f"{value:+.3f}"
    return f"{value:+,.2f}" if signed else f"{value:,.2f}"


def values_text(values: Any, game: Game, signed: bool = False) -> str:
    """Return values by player."""
    if game.num_players == 1:
        return value_text(float(values[0]), game, signed)
    return "   ".join(f"player {p} {value_text(float(v), game, signed)}" for p, v in enumerate(values))


def time_text(seconds: float) -> str:
    """Return a duration, e.g. ``12.3 ms``, ``0.52 s``, ``9 s``, ``1 min 20 s`` or ``2 h 5 min``.

    A short time that is an integer has no decimals.
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.1f} ms"
    if seconds < 5 and not isinstance(seconds, int):
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def share_bar(share: float, console: Console) -> str:
    """Return a bar for a share of 1."""
    letter = "█" if console.encoding.lower().startswith("utf") else "#"
    return letter * max(round(BAR * share), 1 if share > 0 else 0)


def quiet_table(*headers: tuple[str, str], title: str | None = None) -> Table:
    """Return a table of (header, justification) columns with one line below the headers."""
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


def note_hidden_rows(table: Table, hidden: int, noun: str, more: str = "") -> None:
    """Add a caption with the number of rows that are not shown, if there are any."""
    if hidden > 0:
        table.caption, table.caption_justify = f"… {count_text(hidden, f'more {noun}')}{more}", "left"


def facts_table() -> Table:
    """Return a table of names and texts without lines."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table
