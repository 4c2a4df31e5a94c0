"""Options that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

from aleazero.errors import ConfigError, nearest

SEARCH = "search:sims=2000"
"""The player of `play` and `analyse` if the user names none and no champion is bundled."""
GameArgument = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A name from `aleazero games`, your own game as `path/file.py:NAME`, or `openspiel:NAME`.",
        show_default=False,
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="KEY=VALUE", help="A parameter of the game, e.g. `target=50`; may be repeated."
    ),
]
PositionOption = Annotated[
    str | None,
    typer.Option(
        "--position", metavar="TEXT", help="Start here instead, e.g. `'12-30 turn 7'` in pig.", show_default=False
    ),
]
MovesOption = Annotated[
    str | None,
    typer.Option(
        "--moves",
        metavar="'MOVE …'",
        help="Then apply these actions and outcomes by name, by the name's last part (`13336` for `roll-13336`) or by "
        "id, e.g. `'roll 5 hold'`; commas where names have spaces.",
        show_default=False,
    ),
]
SimsOption = Annotated[
    int | None,
    typer.Option(
        "--sims",
        metavar="N",
        help="Simulations of each search [default: 2000; with --evaluations ten times as many as those; with --seconds "
        "no limit].",
    ),
]
EvaluationsOption = Annotated[
    int | None,
    typer.Option(
        "--evaluations",
        metavar="N",
        help="Stop a search after N evaluations: one of the root, and one or more for each simulation that reaches a "
        "new leaf; at least 2.",
    ),
]
ChanceOption = Annotated[
    str | None,
    typer.Option(
        "--chance",
        metavar="SPEC",
        help="`sampling`, `stratified`, `progressive`, `full`: a child for each outcome. `open`: "
        "outcomes share statistics (the best plan blind to them) [default: `sampling` with `uniform` and `rollout`, "
        "else `stratified`, or `progressive` if the game cannot list its outcomes].",
        show_default=False,
    ),
]
EvaluatorOption = Annotated[
    str | None,
    typer.Option(
        "--evaluator",
        metavar="SPEC",
        help="What values a leaf: `uniform`, `rollout`, `rollout:4` (4 playouts), `oracle` where there is one, or a "
        "network as `net:PATH` [default: `rollout`].",
        show_default=False,
    ),
]
NetOption = Annotated[
    str | None,
    typer.Option("--net", metavar="PATH", help="A network that values leaves: short for `--evaluator net:PATH`."),
]
ExplorationOption = Annotated[
    float | None,
    typer.Option("--c", metavar="C", help="Weight of exploration, with values scaled to 0..1 [default: 1.5]."),
]
SelectionOption = Annotated[
    str | None,
    typer.Option(
        "--selection", metavar="puct|uct", help="`puct` follows the priors, `uct` ignores them [default: puct]."
    ),
]
PLAN_HELP = "`turn`, `game`, or a number of plies"
PlanOption = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="SPEC",
        help=f"Plan exactly instead of searching, as far as {PLAN_HELP}; the evaluator values what lies there.",
        show_default=False,
    ),
]
OpponentOption = Annotated[
    str | None,
    typer.Option(
        "--opponent",
        metavar="SPEC",
        help="The computer's player: `search`, `search:sims=500,c=2`, the exact planner as `plan:horizon=turn` or "
        "`plan:plies=2` (and `keep=3`, `margin=0.1` to prune), a network as `net:PATH,sims=64`, `greedy`, `random`, "
        "`human`, or `oracle` if the game is solved [default: the bundled champion, or `search:sims=2000`].",
        show_default=False,
    ),
]
GameOption = Annotated[
    str,
    typer.Option(
        "--game",
        metavar="GAME",
        help="A name from `aleazero games`, or your own as `path/file.py:NAME`.",
        show_default=False,
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", help="Threads of a search [default: all cores]; results do not change.", min=1
    ),
]
LuckOption = Annotated[
    str,
    typer.Option(
        "--luck",
        metavar="shared|fresh",
        help="`shared`: the games of a pair have the same luck, keyed by the event. `fresh`: each game has its own.",
    ),
]
PairWorkersOption = Annotated[
    int, typer.Option("--workers", metavar="N", help="Processes that play; results do not change.", min=1)
]


def shares_luck(word: str) -> bool:
    """What ``--luck`` says."""
    if word not in ("shared", "fresh"):
        raise ConfigError(f"--luck is {word!r}, {nearest(word, ('shared', 'fresh'))}")
    return word == "shared"


def cores() -> int:
    """Those that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
