"""Commands of one-player Yatzy: ``oracle yatzy …`` shows exact values, ``evaluate solitaire`` measures a player."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import (
    JsonFlag,
    PlayerArgument,
    PlayerSeedOption,
    SeedOption,
    ThreadsOption,
    argument,
    cores,
    option,
    refuse_ignored,
)
from aleazero.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.yatzy.measure import Scores
    from aleazero.games.base import State
    from aleazero.oracles.yatzy import YatzyOracle

INK, FAINT, BAR, MEAN = "#22272e", "#d9dde3", "#1565c0", "#b3395b"
STEP = 5
"""Points per bar of the plot."""


def expected(json: JsonFlag = False) -> None:
    """Print the expected score of one-player Yatzy under optimal play.

    **Example**

    - `aleazero oracle yatzy expected`
    """
    from aleazero.cli.show import print_json

    value = load_oracle().expected()
    if json:
        print_json({"expected": value})
        return
    typer.echo(f"{value:.10f}")


def show(
    context: typer.Context,
    position: Annotated[
        str,
        argument(
            "POSITION",
            "Position as in `aleazero analyse 'yatzy(players=1)' --position`: open or filled categories, upper "
            "total, dice.",
        ),
    ],
    top: Annotated[int, option("--top", "N", "Number of actions to show.", min=1)] = 47,
    json: JsonFlag = False,
) -> None:
    """Show a score card and the exact value of every action.

    Values are expected final scores under optimal play. All optimal actions are marked. If the position has no upper
    total, the lowest possible one is used.

    **Examples**

    - `aleazero oracle yatzy show 'open sixes house yatzy upper 40 / player 0 dice 22266 rerolls 1'`

    - `aleazero oracle yatzy show 'filled none upper 0 / player 0 dice 13346 rerolls 2' --top 5`

    - `aleazero oracle yatzy show 'filled ones upper 3 / player 0 to roll'` (before the roll)
    """
    from aleazero.cli.show import facts_table, make_console, print_json, print_position
    from aleazero.games.registry import load_game

    refuse_ignored(context, {"top": "--json prints all actions" if json else None})
    state = load_game("yatzy", players=1).state_from_text(position)
    state.require_running()
    data = _exact_values(state, load_oracle())
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


def _exact_values(state: State, oracle: YatzyOracle) -> dict[str, Any]:
    """Return the value of a position and, at a decision, of every action, the best first."""
    from aleazero.oracles.oracle import best_of

    actions: list[dict[str, Any]] = []
    if not state.is_chance_node():
        values = oracle.action_values(state)
        best, most = best_of(values), max(values.values())
        actions = [
            {"action": action, "name": state.action_to_string(action), "value": value, "best": action in best}
            | {"loss": 0.0 if action in best else most - value}
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

    from aleazero.cli.show import note_hidden_rows, quiet_table

    table = quiet_table(("", "left"), ("action", "left"), ("value", "right"), ("loss", "right"))
    for row in data["actions"][:top]:
        table.add_row(
            "*" if row["best"] else "",
            Text(row["name"]),
            f"{row['value']:.4f}",
            "" if row["best"] else f"{row['loss']:.4f}",
            style="bold green" if row["best"] else None,
        )
    note_hidden_rows(table, len(data["actions"]) - top, "action")
    return table


def simulate(
    games: Annotated[int, option("--games", "N", "Number of games.", min=1, max=10**8)] = 20_000,
    seed: SeedOption = 0,
    plot: Annotated[Path | None, option("--plot", "FILE", "Write a histogram of the scores to this .png file.")] = None,
    json: JsonFlag = False,
) -> None:
    """Simulate games under optimal play: mean, bonus rate, percentiles and histogram of the scores.

    **Examples**

    - `aleazero oracle yatzy simulate`

    - `aleazero oracle yatzy simulate --games 100000 --seed 7 --plot scores.png`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.match import game_seeds
    from aleazero.evaluation.yatzy.measure import Scores
    from aleazero.oracles.yatzy_simulate import simulate as play_games

    check_plot(plot)
    solved = load_oracle()
    with progress_bar("optimal play", "games") as progress:
        played = play_games(solved, game_seeds(seed, games), progress=progress)
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
        console.print(f"plot written to {plot}", soft_wrap=True)


def load_oracle() -> YatzyOracle:
    """Load the oracle, or build it with a progress bar."""
    from aleazero.cli.progress import progress_bar
    from aleazero.oracles.yatzy import load_or_build

    with progress_bar("solving yatzy", "sets") as progress:
        return load_or_build(progress)


def solitaire(
    player: PlayerArgument,
    games: Annotated[int, option("--games", "N", "Number of games.", min=1, max=10**7)] = 100,
    seed: SeedOption = 0,
    player_seed: PlayerSeedOption = 0,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Play one-player Yatzy, and compare the scores with optimal play on the same dice.

    **Examples**

    - `aleazero evaluate solitaire greedy --games 200`

    - `aleazero evaluate solitaire search:sims=1000,chance=stratified --games 20 --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, mean_text, print_json
    from aleazero.evaluation.yatzy.measure import play_solitaire
    from aleazero.evaluation.yatzy.positions import solitaire as load_solitaire
    from aleazero.games.kit import kit_of
    from aleazero.native.random import check_seed
    from aleazero.players.make import make_player
    from aleazero.players.spec import parse_spec

    game = load_solitaire()
    kit = kit_of(game)
    parse_spec(player, "PLAYER", kit.players, kit.evaluators)
    check_seed(seed, "--seed")
    check_seed(player_seed, "--player-seed")
    oracle = load_oracle()
    chooser = make_player(player, game, threads=threads or cores())
    with progress_bar("playing", "games") as progress:
        report = play_solitaire(chooser, games, oracle, seed=seed, player_seed=player_seed, progress=progress)
    if json:
        print_json({"player": player, "games": games, "seed": seed, "player_seed": player_seed, **report.to_dict()})
        return
    loss = mean_text(report.loss.to_dict(), ".2f")
    facts = {"optimal play": f"{report.best.mean.mean:.2f} on the same dice", "loss": loss}
    print_scores(report.scores, make_console(), facts)


def print_scores(scores: Scores, console: Console, more: Mapping[str, str]) -> None:
    """Print mean, bonus rate, percentiles and histogram."""
    from aleazero.cli.show import facts_table, mean_text, quiet_table, share_bar
    from aleazero.evaluation.yatzy.measure import BIN

    facts = facts_table()
    facts.add_row("games", f"{len(scores.totals):,}")
    facts.add_row("mean", mean_text(scores.mean.to_dict(), ".2f"))
    for name, text in more.items():
        facts.add_row(name, text)
    facts.add_row("bonus", f"{scores.bonus_rate:.1%}")
    facts.add_row("percentiles", "  ".join(f"{percent}%: {score:.0f}" for percent, score in scores.percentiles.items()))
    console.print(facts)
    table = quiet_table(("score", "right"), ("games", "right"), ("share", "right"), ("", "left"))
    counts = scores.histogram
    most = max(counts.values())
    for low, count in counts.items():
        table.add_row(
            f"{low}-{low + BIN - 1}",
            f"{count:,}",
            f"{count / len(scores.totals):.1%}",
            share_bar(count / most, console),
        )
    console.print(table)


def check_plot(file: Path | None) -> None:
    """Reject a file that cannot be written before the games are played."""
    if file is None:
        return
    if file.suffix != ".png":
        raise ConfigError(f"--plot is {str(file)!r}, expected a name ending in .png")
    if not file.parent.is_dir():
        raise ConfigError(f"--plot is {str(file)!r}, expected a file in a folder that exists")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ConfigError("--plot requires matplotlib: pip install matplotlib") from None


def draw_scores(scores: Scores, expected: float, file: Path) -> None:
    """Draw a histogram of the scores, with and without the bonus, and the expected score."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from aleazero.files import write_file

    edges = range(int(scores.totals.min()) // STEP * STEP, int(scores.totals.max()) + STEP + 1, STEP)
    with plt.rc_context({
        "savefig.dpi": 130, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK,
        "axes.titlesize": 9.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "text.color": INK,
        "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 0.6, "axes.axisbelow": True, "legend.frameon": False,
    }):  # fmt: skip
        figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
        parts = [scores.totals[scores.bonuses], scores.totals[~scores.bonuses]]
        labels = [f"with the bonus ({scores.bonus_rate:.1%})", "without"]
        axes.hist(parts, bins=list(edges), stacked=True, color=[BAR, "#e07b00"], label=labels)
        axes.axvline(expected, color=MEAN, linewidth=1.5, label=f"expected: {expected:.2f}")
        axes.set_title(f"One-player Yatzy, optimal play: {len(scores.totals):,} games, mean {scores.mean.mean:.2f}")
        axes.set_xlabel("final score")
        axes.set_ylabel(f"games per {STEP} points")
        axes.legend(loc="upper left")
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        plt.close(figure)
    write_file(file, picture.getvalue(), ConfigError)
