"""``aleazero replay``: show and check a folder of training samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import JsonFlag, argument
from aleazero.errors import count_text

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.replay.shard import BrokenShard, Shard

BROKEN = 1
"""Exit code if shards are damaged."""
FolderArgument = Annotated[Path, argument("DIR", "Folder of shards, written by `aleazero selfplay`.")]


def check(folder: FolderArgument, json: JsonFlag = False) -> None:
    """Check every shard (file of samples): its numbers, and every game by replaying it.

    Checks that files are complete, that masks, policies and values are valid, that the rules allow every step, and that
    they give the same observations, masks and returns. Damaged shards are listed, and the exit code is then 1. The
    game's rules are executed, so check only files that you trust.

    **Examples**

    - `aleazero replay check runs/pig/replay`

    - `aleazero replay check runs/pig/replay --json`
    """
    from rich.text import Text

    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.replay.check import check_replay

    with progress_bar("replaying", "games") as progress:
        report = check_replay(folder, progress)
    if json:
        print_json(report.to_dict())
    else:
        console = make_console()
        if report.shards:
            parts = [count_text(report.games, "game"), count_text(report.samples, "sample")]
            valid = f"{count_text(report.shards, 'shard')} valid: {', '.join(parts)} checked"
            console.print(Text(valid, "bold green"), soft_wrap=True)
        _print_broken(report.broken, console)
    if report.broken:
        raise typer.Exit(BROKEN)


def show(folder: FolderArgument, json: JsonFlag = False) -> None:
    """Show the number of games and samples by iteration. The length of a game counts actions and rolls.

    **Example**

    - `aleazero replay show runs/pig/replay`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.errors import ReplayError
    from aleazero.replay.window import open_folder

    with progress_bar("reading", "shards") as progress:
        shards, broken = open_folder(folder, progress)
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
        damaged = [{"shard": each.path.name, "why": each.why} for each in broken]
        print_json({"folder": str(folder), "iterations": rows, "all": _sums(shards), "broken": damaged})
        return
    console = make_console()
    if shards:
        _print_table(rows, _sums(shards), console)
    _print_broken(broken, console)


def _print_table(rows: list[dict[str, Any]], total: dict[str, Any], console: Console) -> None:
    from rich.text import Text

    from aleazero.cli.show import quiet_table

    for game in dict.fromkeys(row["game"] for row in rows):
        console.print(Text(game, "bold"), soft_wrap=True)
    table = quiet_table(("iteration", "right"), ("model", "left"), ("shards", "right"), ("games", "right"),
                        ("samples", "right"), ("length", "right"))  # fmt: skip
    for index, row in enumerate(rows):
        table.add_row(str(row["iteration"]), Text(row["model"]), *_cells(row), end_section=index == len(rows) - 1)
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
    from rich.text import Text

    if broken:
        console.print(Text(f"{count_text(len(broken), 'shard')} damaged", "bold red"))
    for each in broken:
        console.print(Text(f"{each.path.name}: {' '.join(each.why.split())}"), soft_wrap=True)
