"""Commands of backgammon: ``oracle bearoff …`` builds, shows and checks the bear-off tables."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import JsonFlag, argument, option, refuse_ignored
from aleazero.errors import ConfigError, PositionError, fields_named
from aleazero.untrusted import parse_digits

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.oracles.bearoff import OneSided, Play, TwoSided

SIZES = {"points": "--points", "checkers": "--checkers"}
PointsOption = Annotated[int, option("--points", "N", "Points per side, 1 to 12.")]
CheckersOption = Annotated[int, option("--checkers", "N", "Highest number of checkers per side, 1 to 14.")]
TableThreadsOption = Annotated[
    int | None,
    option("--threads", "N", "Threads. The table does not depend on it.", show_default="number of cores", min=1),
]
ONE_SIDED = "--one-sided has up to 15 checkers on 6 points"


def build(
    context: typer.Context,
    points: PointsOption = 6,
    checkers: CheckersOption = 6,
    one_sided: Annotated[
        bool,
        option("--one-sided", "", "Build the distributions of rolls for up to 15 checkers, for approximate values."),
    ] = False,
    estimate: Annotated[
        bool, option("--estimate", "", "Print the estimated size, memory and time, and build nothing.")
    ] = False,
    threads: TableThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Build a bear-off table and store it in the cache folder.

    The two-sided table has the exact equity of every pair of positions. A stored table is not built again. Tables with
    more than 2,000 positions per side have float32 numbers. A table that does not fit in memory is rejected.

    **Examples**

    - `aleazero oracle bearoff build`

    - `aleazero oracle bearoff build --checkers 10 --estimate`

    - `aleazero oracle bearoff build --one-sided`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import facts_table, make_console, print_json, time_text
    from aleazero.oracles.bearoff import OneSided, TwoSided, cost_text

    why = ONE_SIDED if one_sided else None
    refuse_ignored(context, {"points": why, "checkers": why, "estimate": why})
    if estimate:
        with fields_named(SIZES):
            cost = TwoSided.estimate(points, checkers, threads=threads)
        if json:
            print_json({"points": points, "checkers": checkers, **cost._asdict()})
        else:
            typer.echo(f"{points}x{checkers}: {cost_text(cost)}")
        return
    started = time.perf_counter()
    table: TwoSided | OneSided
    with fields_named(SIZES):
        if one_sided:
            with progress_bar("solving one-sided bear-off", "positions") as progress:
                table, path = OneSided.load_or_build(progress=progress, threads=threads), OneSided.path()
        else:
            with progress_bar(f"solving bear-off {points}x{checkers}", "pairs") as progress:
                table = TwoSided.load_or_build(points, checkers, progress=progress, threads=threads)
                path = TwoSided.path(points, checkers)
    facts = {
        "file": str(path),
        "positions": len(table.positions),
        "bytes": table.table.nbytes,
        "type": str(table.table.dtype),
        "seconds": time.perf_counter() - started,
    }
    if json:
        print_json(facts)
        return
    shown = facts_table()
    shown.add_row("table", str(facts["file"]))
    shown.add_row("positions", f"{facts['positions']:,} per side, {facts['type']}, {table.table.nbytes / 1e6:,.1f} MB")
    shown.add_row("time", time_text(time.perf_counter() - started))
    make_console().print(shown, soft_wrap=True)


def show(
    context: typer.Context,
    me: Annotated[
        str,
        argument(
            "ME",
            "Checkers of the side to roll by point, ace point first: `111102`. With counts of 10 or more, separate "
            "them by commas: `1,1,1,1,0,2`.",
        ),
    ],
    them: Annotated[str, argument("THEM", "Checkers of the other side, from its own view.")],
    dice: Annotated[
        str | None, option("--dice", "DICE", "Roll of ME, e.g. `31`. Without it, all 21 rolls are shown.")
    ] = None,
    checkers: Annotated[
        int, option("--checkers", "N", "Size of the table: highest number of checkers per side, 1 to 14.")
    ] = 6,
    approximate: Annotated[
        bool,
        option("--approximate", "", "Use the one-sided distributions, for up to 15 checkers. Values are approximate."),
    ] = False,
    top: Annotated[int, option("--top", "N", "Number of plays to show.", min=1)] = 10,
    json: JsonFlag = False,
) -> None:
    """Show the equity of a bear-off position, and the best play of a roll.

    The equity is the probability that the side to roll wins, minus that of losing, without a doubling cube. Without
    dice, the equity before the roll and that after each roll are shown. With dice, every play is listed with its
    equity.

    **Examples**

    - `aleazero oracle bearoff show 111102 200030`

    - `aleazero oracle bearoff show 111102 200030 --dice 31`

    - `aleazero oracle bearoff show 022335 033333 --approximate`
    """
    from aleazero.cli.show import make_console, print_json

    mine, theirs = read_counts(me, "ME"), read_counts(them, "THEM")
    if len(mine) != len(theirs):
        raise PositionError(f"ME has {len(mine)} points and THEM {len(theirs)}, expected the same number")
    of_plays = "--json prints all plays" if json else None if dice else "it requires --dice"
    refuse_ignored(context, {"top": of_plays})
    if approximate:
        why = "--approximate has no values after a roll"
        refuse_ignored(context, {"dice": why, "checkers": ONE_SIDED.replace("--one-sided", "--approximate")})
        data = _approximate_values(mine, theirs)
    else:
        data = _exact_values(mine, theirs, None if dice is None else read_dice(dice), checkers)
    if json:
        print_json(data)
        return
    _print_values(data, top, make_console())


def check(
    points: PointsOption = 6,
    checkers: CheckersOption = 6,
    pairs: Annotated[int, option("--pairs", "N", "Number of random pairs of positions.", min=1, max=10**6)] = 200,
    seed: Annotated[int, option("--seed", "SEED", "Seed of the random pairs.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Check a stored bear-off table.

    The file is compared with its checksum. The equities of random pairs are computed again from those of all positions
    after each of the 21 rolls, with a second move generator that shares no code with the one that built the table.

    **Example**

    - `aleazero oracle bearoff check --pairs 1000`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import facts_table, make_console, print_json
    from aleazero.oracles.bearoff import TwoSided, largest_residual

    with fields_named(SIZES):
        table = TwoSided.load(points, checkers)
    path = TwoSided.path(points, checkers)
    if table is None:
        what = "is damaged or has another version" if path.exists() else "does not exist"
        command = f"aleazero oracle bearoff build --points {points} --checkers {checkers}"
        raise ConfigError(f"the table {path} {what}: run {command}")
    with progress_bar("checking", "pairs") as progress:
        residual = largest_residual(table, pairs, seed, progress)
    tolerance = 1e-12 if table.table.dtype == "f8" else 2e-7
    data = {
        "file": str(path),
        "pairs": pairs,
        "residual": residual,
        "tolerance": tolerance,
        "valid": residual <= tolerance,
    }
    if json:
        print_json(data)
    else:
        facts = facts_table()
        facts.add_row("table", str(path))
        facts.add_row("checksum", "valid")
        facts.add_row("residual", f"{residual:.1e} at most on {pairs:,} pairs, expected at most {tolerance:.0e}")
        make_console().print(facts, soft_wrap=True)
    if residual > tolerance:
        raise typer.Exit(1)


def read_counts(text: str, what: str) -> list[int]:
    """Read the checkers by point: one digit each, or numbers separated by commas or spaces."""
    words = text.replace(",", " ").split()
    parts = list(words[0]) if len(words) == 1 and len(words[0]) > 1 else words
    counts = [parse_digits(part) for part in parts]
    if not counts or None in counts:
        raise PositionError(f"{what} is {text!r}, expected one digit per point, e.g. 111102, or numbers with commas")
    return [count for count in counts if count is not None]


def read_dice(text: str) -> tuple[int, int]:
    """Read two dice, e.g. ``31`` or ``3,1``."""
    digits = text.replace(",", "").replace("-", "").replace(" ", "")
    if len(digits) != 2 or any(digit not in "123456" for digit in digits):
        raise PositionError(f"--dice is {text!r}, expected two numbers from 1 to 6, e.g. 31")
    return int(digits[0]), int(digits[1])


def moves_text(play: Play) -> str:
    """Return the moves of a play in standard notation, e.g. ``6/3 1/off(2)``."""
    texts = [f"{start}/{end or 'off'}" for start, end in play.moves]
    counted = {text: texts.count(text) for text in texts}
    return " ".join(f"{text}({count})" if count > 1 else text for text, count in counted.items())


def _approximate_values(me: list[int], them: list[int]) -> dict[str, Any]:
    from aleazero.cli.progress import progress_bar
    from aleazero.oracles.bearoff import OneSided

    with progress_bar("solving one-sided bear-off", "positions") as progress:
        table = OneSided.load_or_build(progress=progress)
    return {
        "me": me,
        "them": them,
        "exact": False,
        "equity": table.approximate_equity(me, them),
        "mean_rolls": [table.mean_rolls(me), table.mean_rolls(them)],
    }


def _exact_values(me: list[int], them: list[int], dice: tuple[int, int] | None, checkers: int) -> dict[str, Any]:
    from aleazero.cli.progress import progress_bar
    from aleazero.oracles.bearoff import TwoSided

    with fields_named({**SIZES, "points": "ME"}), progress_bar("solving bear-off", "pairs") as progress:
        table = TwoSided.load_or_build(len(me), checkers, progress=progress)
    data: dict[str, Any] = {"me": me, "them": them, "exact": True, "equity": table.equity(me, them)}
    if dice is not None:
        plays = table.plays(me, them, dice)
        data["dice"] = list(dice)
        data["plays"] = [
            {
                "moves": moves_text(play),
                "after": play.after,
                "equity": play.equity,
                "loss": plays[0].equity - play.equity,
            }
            for play in plays
        ]
    elif any(me) and any(them):
        rolls = [(high, low) for high in range(6, 0, -1) for low in range(high, 0, -1)]
        best = {roll: table.plays(me, them, roll)[0] for roll in rolls}
        data["rolls"] = [
            {"dice": roll, "moves": moves_text(play), "equity": play.equity} for roll, play in best.items()
        ]
    return data


def _print_values(data: dict[str, Any], top: int, console: Console) -> None:
    from aleazero.cli.show import facts_table, note_hidden_rows, quiet_table

    facts = facts_table()
    note = "" if data["exact"] else ", approximate"
    facts.add_row("before the roll", f"equity {data['equity']:+.6f}, win {(1 + data['equity']) / 2:.4%}{note}")
    if "mean_rolls" in data:
        facts.add_row("expected rolls", " against ".join(f"{mean:.3f}" for mean in data["mean_rolls"]))
    console.print(facts)
    if "rolls" in data:
        table = quiet_table(("roll", "left"), ("best play", "left"), ("equity", "right"))
        for row in data["rolls"]:
            table.add_row("".join(map(str, row["dice"])), row["moves"], f"{row['equity']:+.6f}")
        console.print(table)
    if "plays" in data:
        table = quiet_table(("play", "left"), ("equity", "right"), ("loss", "right"))
        for row in data["plays"][:top]:
            table.add_row(row["moves"], f"{row['equity']:+.6f}", f"{row['loss']:.6f}" if row["loss"] else "")
        note_hidden_rows(table, len(data["plays"]) - top, "play")
        console.print(table)
