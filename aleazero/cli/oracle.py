"""``aleazero oracle``: exact values, looked up and played out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import JsonFlag

if TYPE_CHECKING:
    from aleazero.games.base import State
    from aleazero.oracles.yatzy import YatzyOracle

app = typer.Typer(no_args_is_help=True, help="Exact values: of every decision of one-player Yatzy.")
yatzy = typer.Typer(
    no_args_is_help=True,
    help="One-player Yatzy, solved exactly. The first use builds a table (some seconds) and keeps it.",
)
app.add_typer(yatzy, name="yatzy")


@app.callback()
def oracle() -> None:
    """Exact values: of every decision of one-player Yatzy."""


@yatzy.command("expected")
def expected(json: JsonFlag = False) -> None:
    """Print the expected score of a game under best play.

    **Example**

    - `aleazero oracle yatzy expected`
    """
    from aleazero.cli.show import print_json

    value = load_oracle().expected()
    if json:
        print_json({"expected": value})
        return
    typer.echo(f"{value:.10f}")


@yatzy.command("show")
def show(
    position: Annotated[
        str,
        typer.Argument(
            metavar="POSITION",
            help="What is open or filled, the upper total, the dice; as `analyse yatzy -p players=1` takes it.",
            show_default=False,
        ),
    ],
    top: Annotated[int, typer.Option("--top", metavar="N", help="Actions to show.", min=1)] = 47,
    json: JsonFlag = False,
) -> None:
    """Show a position's score card and the exact value of every action, the best first.

    Values are expected final scores: what is on the card, and what best play adds to it. Actions that tie for the best
    are all marked. A total that is left out is the lowest possible.

    **Examples**

    - `aleazero oracle yatzy show 'open sixes house yatzy upper 40 / player 0 dice 22266 rerolls 1'`

    - `aleazero oracle yatzy show 'filled none upper 0 / player 0 dice 13346 rerolls 2' --top 5`

    - `aleazero oracle yatzy show 'filled ones upper 3 / player 0 to roll'` (what it is worth before the roll)
    """
    from aleazero.cli.show import facts_table, make_console, print_json, print_position
    from aleazero.games.registry import load_game

    state = load_game("yatzy", players=1).state_from_text(position)
    state.require_running()
    data = values_of(state, load_oracle())
    if json:
        print_json(data)
        return
    console = make_console()
    print_position(state, console)
    if data["actions"]:
        console.print(_actions_table(data, top))
    facts = facts_table()
    facts.add_row("value", f"{data['value']:.4f}")
    facts.add_row("to come", f"{data['value'] - data['total']:.4f}")
    console.print(facts)


def values_of(state: State, oracle: YatzyOracle) -> dict[str, Any]:
    """What the oracle knows of a position: its value, and at a decision that of every action, the best first."""
    from aleazero.oracles.judge import YatzyJudge, best_of

    actions: list[dict[str, Any]] = []
    if not state.is_chance_node():
        values = YatzyJudge(oracle).action_values(state)
        best, most = best_of(values), max(values.values())
        actions = [
            {"action": action, "name": state.action_to_string(action), "value": value, "best": action in best}
            | {"behind": 0.0 if action in best else most - value}
            for action, value in sorted(values.items(), key=lambda item: (item[0] not in best, -item[1], item[0]))
        ]
    return {
        "position": state.to_text(),
        "total": state.returns()[0],
        "value": oracle.value(state),
        "actions": actions,
    }


def _actions_table(data: dict[str, Any], top: int) -> Any:
    from rich.text import Text

    from aleazero.cli.show import quiet_table

    table = quiet_table(("", "left"), ("action", "left"), ("value", "right"), ("behind", "right"))
    for row in data["actions"][:top]:
        table.add_row(
            "*" if row["best"] else "",
            Text(row["name"]),
            f"{row['value']:.4f}",
            "" if row["best"] else f"{row['behind']:.4f}",
            style="bold green" if row["best"] else None,
        )
    hidden = len(data["actions"]) - top
    if hidden > 0:
        table.caption, table.caption_justify = f"… {hidden} more action{'' if hidden == 1 else 's'}", "left"
    return table


@yatzy.command("simulate")
def simulate(
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games to play.", min=1, max=10**8)] = 20_000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the dice: same seed, same games.")] = 0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the scores there too.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Play many games under best play: mean, bonus, percentiles and how the scores spread.

    **Examples**

    - `aleazero oracle yatzy simulate`

    - `aleazero oracle yatzy simulate --games 100000 --seed 7 --plot scores.png`
    """
    from aleazero.cli.plot_scores import check_plot, draw_scores
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json, print_scores
    from aleazero.evaluation.match import game_seeds
    from aleazero.evaluation.scores import Scores
    from aleazero.oracles.yatzy_simulate import simulate as play_games

    check_plot(plot)
    solved = load_oracle()
    with progress_bar("best play", "games") as tell:
        played = play_games(solved, game_seeds(seed, games), progress=tell)
    scores, value = Scores(played.totals, played.bonuses), solved.expected()
    if plot is not None:
        draw_scores(scores, value, plot)
    off = (scores.mean.mean - value) / scores.mean.error if scores.mean.error else None
    if json:
        print_json({"games": games, "seed": seed, "expected": value, "errors_off": off, **scores.to_dict()})
        return
    console = make_console()
    facts = {"expected": f"{value:.2f}" + ("" if off is None else f", {off:+.1f} standard errors off")}
    print_scores(scores, console, facts)
    if plot is not None:
        console.print(f"plot written to {plot}", markup=False, soft_wrap=True)


def load_oracle() -> YatzyOracle:
    """The oracle; while it is built, a bar."""
    from aleazero.cli.progress import progress_bar
    from aleazero.oracles.yatzy import load_or_build

    with progress_bar("solving yatzy", "sets") as tell:
        return load_or_build(tell)
