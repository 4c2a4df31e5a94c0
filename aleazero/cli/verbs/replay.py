"""``aleazero replay``: what a folder of samples holds, and whether it is right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import JsonFlag

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.replay.shard import BrokenShard, Shard

BROKEN = 1
"""The exit code where shards are broken."""
FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="A folder of shards, as self-play writes them.", show_default=False)
]

app = typer.Typer(no_args_is_help=True, help="The samples of self-play: what there is, and whether it is right.")


@app.callback()
def replay() -> None:
    """The samples of self-play: what there is, and whether it is right."""


@app.command("check")
def check(folder: FolderArgument, json: JsonFlag = False) -> None:
    """Check every shard, number by number, and by playing every game again.

    Files are whole and undamaged; masks, policies and values say what they may; every step is allowed by the rules, and
    each observation, mask and return is what the rules say. Shards that are broken are listed, and the exit code is 1.
    The game's rules are run: check what you trust.

    **Examples**

    - `aleazero replay check runs/pig/replay`

    - `aleazero replay check runs/pig/replay --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.replay.check import check_replay

    with progress_bar("playing again", "games") as tell:
        report = check_replay(folder, tell)
    if json:
        print_json(report.to_dict())
    else:
        console = make_console()
        if report.shards:
            right = f"{_count(report.shards, 'shard')} right: {_count(report.games, 'game')} played again, "
            console.print(_text(f"{right}{_count(report.samples, 'sample')}", "bold green"), soft_wrap=True)
        _print_broken(report.broken, console)
    if report.broken:
        raise typer.Exit(BROKEN)


@app.command("show")
def show(folder: FolderArgument, json: JsonFlag = False) -> None:
    """Show how many games and samples there are, by iteration. The length of a game is in steps, chance included.

    **Example**

    - `aleazero replay show runs/pig/replay`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.errors import ReplayError
    from aleazero.replay.window import open_folder

    with progress_bar("reading", "shards") as tell:
        shards, broken = open_folder(folder, tell)
    if not shards and not broken:
        raise ReplayError(f"no shards in {str(folder)!r}, expected at least one")
    groups: dict[tuple[int, str, str], list[Shard]] = {}
    for shard in shards:
        groups.setdefault((shard.meta.iteration, shard.meta.model, shard.meta.game_text()), []).append(shard)
    rows = [
        {"iteration": iteration, "model": model, "game": game, **_sums(some)}
        for (iteration, model, game), some in groups.items()
    ]
    if json:
        told = [{"shard": each.path.name, "why": each.why} for each in broken]
        print_json({"folder": str(folder), "iterations": rows, "all": _sums(shards), "broken": told})
        return
    console = make_console()
    if shards:
        _print_table(rows, _sums(shards), console)
    _print_broken(broken, console)


def _print_table(rows: list[dict[str, Any]], total: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    for game in dict.fromkeys(row["game"] for row in rows):
        console.print(_text(game, "bold"), soft_wrap=True)
    table = quiet_table(("iteration", "right"), ("model", "left"), ("shards", "right"), ("games", "right"),
                        ("samples", "right"), ("length", "right"))  # fmt: skip
    for index, row in enumerate(rows):
        table.add_row(str(row["iteration"]), _text(row["model"]), *_cells(row), end_section=index == len(rows) - 1)
    table.add_row("all", "", *_cells(total), style="bold")
    console.print(table)


def _sums(shards: list[Shard]) -> dict[str, Any]:
    games = sum(shard.games for shard in shards)
    steps = sum(len(shard.columns["steps"]) for shard in shards)
    samples = sum(shard.meta.samples for shard in shards)
    return {"shards": len(shards), "games": games, "samples": samples, "mean_length": steps / games if games else 0.0}


def _cells(row: dict[str, Any]) -> list[str]:
    return [f"{row['shards']:,}", f"{row['games']:,}", f"{row['samples']:,}", f"{row['mean_length']:,.1f}"]


def _print_broken(broken: list[BrokenShard], console: Console) -> None:
    if broken:
        console.print(_text(f"{_count(len(broken), 'shard')} broken", "bold red"))
    for each in broken:
        console.print(_text(f"{each.path.name}: {' '.join(each.why.split())}"), soft_wrap=True)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _text(words: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(words, style=style)
