"""``aleazero evaluate``: measure a player against fixed opponents, exact values, and the values of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import (
    GameArgument,
    JsonFlag,
    PairWorkersOption,
    ParamOption,
    PlayerArgument,
    PlayerSeedOption,
    SeedOption,
    ThreadsOption,
    cores,
    option,
    read_game,
    refuse_ignored,
)

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.errors import ErrorReport, ErrorSummary
    from aleazero.evaluation.regret import RegretReport, RegretSummary


def strength(
    game: GameArgument,
    player: PlayerArgument,
    pairs: Annotated[int, option("--pairs", "N", "Pairs against each opponent.", min=2, max=10**6)] = 100,
    against: Annotated[
        str | None,
        option("--against", "NAMES", "Opponents, e.g. `random,rollout,oracle`.", show_default="all that the game has"),
    ] = None,
    seed: SeedOption = 0,
    player_seed: PlayerSeedOption = 0,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Play against fixed opponents, and measure regret at fixed positions.

    The opponents are random play, a search with 200 playouts per decision, and the oracle or the reference player of
    the game. All opponents are played on the same seeds, in pairs with the seats swapped. Regret is measured if exact
    action values are known.

    **Examples**

    - `aleazero evaluate strength 'pig(target=30)' greedy`

    - `aleazero evaluate strength yatzy net:net.safetensors --pairs 500 --against random --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.strength import evaluate_player
    from aleazero.games.base import counts_wins
    from aleazero.games.kit import kit_of
    from aleazero.native.random import check_seed
    from aleazero.players.spec import parse_spec

    loaded = read_game(game, param)
    kit = kit_of(loaded)
    parse_spec(player, "PLAYER", kit.players, kit.evaluators)
    check_seed(seed, "--seed")
    check_seed(player_seed, "--player-seed")
    names = None if against is None else [name.strip() for name in against.split(",")]
    with blame_rules(game), progress_bar("playing", "pairs") as show:
        report = evaluate_player(
            player, loaded, pairs=pairs, against=names, seed=seed, player_seed=player_seed, workers=workers,
            threads=threads or cores(), source=game, progress=lambda name, done, of: show(done, of, f"against {name}"),
        )  # fmt: skip
    if json:
        print_json(report.to_dict())
    else:
        _show_strength(report.to_dict(), kit.notes, make_console(), returns=not counts_wins(loaded))


def regret(
    game: GameArgument,
    player: PlayerArgument,
    set_name: Annotated[
        str | None,
        option(
            "--set",
            "NAME",
            "Set of positions: a name, or a file that ends in .json.",
            show_default="the game's first set, or positions of random play",
        ),
    ] = None,
    seed: Annotated[int, option("--seed", "SEED", "Seed of the player's own random choices.")] = 0,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure the regret of a player's decisions, compared with the exact value of every action.

    Regret is in units of return per decision and does not depend on dice. The 95 % confidence interval covers the
    choice of positions and the player's own random choices. All actions that share the highest value are optimal.

    **Examples**

    - `aleazero evaluate regret 'pig(target=30)' greedy`

    - `aleazero evaluate regret 'yatzy(players=1)' search:sims=500,evaluator=rollout --set standard`

    - `aleazero evaluate regret path/file.py mine.py:careful --set mine.json --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.regret import measure_regret
    from aleazero.evaluation.strength import fixed_positions, positions_oracle
    from aleazero.games.kit import kit_of
    from aleazero.native.random import check_seed
    from aleazero.oracles.oracle import require_oracle
    from aleazero.players.make import make_player
    from aleazero.players.spec import parse_spec

    check_seed(seed, "--seed")
    with blame_rules(game), progress_bar("deciding", "decisions") as show:
        loaded = read_game(game, param)
        kit = kit_of(loaded)
        parse_spec(player, "PLAYER", kit.players, kit.evaluators)
        states = fixed_positions(loaded, set_name)
        oracle = positions_oracle(loaded) or require_oracle(loaded)
        chooser = make_player(player, loaded, threads=threads or cores())
        report = measure_regret(chooser, states, oracle, seed=seed, classify=kit.classify, progress=show)
    used = set_name or next(iter(kit.positions), "random play")
    if json:
        given = {"game": game, "params": loaded.params, "set": used, "player": player, "seed": seed}
        print_json({**given, **report.to_dict()})
        return
    _show_regret(report, make_console(), f"{player}, set {used} of {loaded!r}")


def errors(
    context: typer.Context,
    game: GameArgument,
    player: PlayerArgument,
    judge: Annotated[
        str | None,
        option(
            "--judge",
            "SPEC",
            "Player spec of the judge: an engine of the game, e.g. `bgsage:ply=3`, or `oracle`.",
            show_default="the judge of the game",
        ),
    ] = None,
    set_name: Annotated[
        str | None,
        option(
            "--set",
            "NAME",
            "Set of decisions with stored values: a name, or a .safetensors file.",
            show_default="decisions of the player's own games",
        ),
    ] = None,
    decisions: Annotated[
        int, option("--decisions", "N", "Decisions to judge in the player's own games.", min=2, max=10**7)
    ] = 1500,
    seed: SeedOption = 0,
    player_seed: PlayerSeedOption = 0,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure the error rate of a player: the value that its decisions lose, as judged by a stronger player.

    The player plays against itself, and a judge values all possible plays at one decision in eight. A play is a
    sequence of actions up to the next roll or player. Decisions with a single play do not count. With `--set`, the
    positions are fixed and their values are stored, so no judge is needed. The error rate is the mean loss × 1000 and
    PR is the mean loss × 500, in units of return per decision.

    **Examples**

    - `aleazero evaluate errors backgammon pubeval --set standard`

    - `aleazero evaluate errors backgammon gnubg:ply=0 --judge bgsage:ply=3 --decisions 500 --json`

    - `aleazero evaluate errors 'pig(target=30)' greedy --judge oracle`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.errors import judge_of, judged_set, measure_errors, measure_on_set
    from aleazero.games.kit import kit_of
    from aleazero.native.random import check_seed
    from aleazero.players.make import make_player
    from aleazero.players.spec import parse_spec

    fixed = None if set_name is None else "the positions and values of --set are fixed"
    refuse_ignored(context, {"judge": fixed, "decisions": fixed, "seed": fixed, "workers": fixed})
    check_seed(seed, "--seed")
    check_seed(player_seed, "--player-seed")
    given: dict[str, Any]
    with blame_rules(game), progress_bar("judging", "decisions") as show:
        loaded = read_game(game, param)
        kit = kit_of(loaded)
        parse_spec(player, "PLAYER", kit.players, kit.evaluators)
        if set_name is not None:
            chooser = make_player(player, loaded, threads=threads or cores())
            report = measure_on_set(chooser, judged_set(loaded, set_name), seed=player_seed, progress=show)
            given, where = {"set": set_name}, f"set {set_name} of {loaded!r}"
        else:
            used = judge_of(loaded, judge)
            report = measure_errors(
                player, used, loaded, decisions=decisions, seed=seed, player_seed=player_seed, workers=workers,
                threads=threads or cores(), source=game, progress=show,
            )  # fmt: skip
            given, where = {"judge": used, "seed": seed}, f"its games of {loaded!r}, judged by {used}"
    if json:
        given = {"game": game, "params": loaded.params, "player": player, "player_seed": player_seed, **given}
        print_json({**given, **report.to_dict()})
        return
    _show_errors(report, make_console(), f"{player}, {where}")


def _show_strength(data: dict[str, Any], notes: Mapping[str, str], console: Console, returns: bool) -> None:
    """Print the results; ``returns``: also mean returns, if the game does not count points."""
    from rich.text import Text

    from aleazero.cli.show import elo_text, facts_table, mean_text, quiet_table

    params = ", ".join(f"{key}={value}" for key, value in data["params"].items())
    console.print(Text(f"{data['player']} at {data['game']}({params})", style="bold"), soft_wrap=True)
    points = any("points" in one for one in data["against"].values())
    more = [("points", "right"), ("opponent", "right")] if points else [("mean return", "right")] if returns else []
    table = quiet_table(("against", "left"), ("pairs", "right"), ("score", "right"), ("Elo", "right"), *more)
    for name, one in data["against"].items():
        scores = [f"{one['points'][side]:,.1f}" for side in ("first", "second")] if points else []
        if returns and not points:
            scores = [mean_text(one["mean_return"], "+,.3f")]
        table.add_row(name, f"{one['pairs']:,}", mean_text(one["score"], ".3f"), elo_text(one["elo"]), *scores)
    console.print(table)
    if data["regret"] is not None:
        regret = data["regret"]
        facts = facts_table()
        facts.add_row(
            "regret",
            f"{mean_text(regret, '.4f')} per decision, {regret['optimal']:.1%} of {regret['count']:,} optimal",
        )
        console.print(facts)
    if "moves" in data:
        facts = facts_table()
        for name, one in data["moves"].items():
            verdict = f"above the limit of {one['limit']:.0%}" if one["warning"] else f"limit {one['limit']:.0%}"
            facts.add_row(name, f"{one['share']:.1%} of {one['decisions']:,} decisions ({verdict})")
        console.print(facts)
    for term, note in notes.items():
        console.print(Text(f"{term}: {note}", style="dim"))


def _show_regret(report: RegretReport, console: Console, heading: str) -> None:
    from rich.text import Text

    from aleazero.cli.show import quiet_table

    console.print(Text(heading, style="bold"), soft_wrap=True)
    table = quiet_table(("", "left"), ("decisions", "right"), ("regret", "right"), ("95 % interval", "right"),
                        ("optimal", "right"), ("tied", "right"))  # fmt: skip
    table.add_row("all", *_group_cells(report.overall), style="bold", end_section=True)
    for groups in (report.by_kind, report.by_stage):
        for name, group in groups.items():
            table.add_row(name, *_group_cells(group))
        table.add_section()
    console.print(table)
    if report.worst:
        console.print(Text("largest regrets", style="bold"))
        for decision in report.worst:
            best = " or ".join(decision.best)
            console.print(Text(f"{decision.regret:7.3f}  {decision.action}, optimal {best}"), soft_wrap=True)
            console.print(Text(f"         {decision.position}", style="dim"), soft_wrap=True)


def _group_cells(group: RegretSummary) -> list[Any]:
    interval = f"{max(0.0, group.regret.low):.3f} to {group.regret.high:.3f}"
    return [f"{group.regret.count:,}", f"{group.regret.mean:.3f}", interval, f"{group.optimal:.1%}", str(group.tied)]


def _show_errors(report: ErrorReport, console: Console, heading: str) -> None:
    from rich.text import Text

    from aleazero.cli.show import quiet_table

    console.print(Text(heading, style="bold"), soft_wrap=True)
    table = quiet_table(("", "left"), ("decisions", "right"), ("error rate", "right"), ("standard error", "right"),
                        ("PR", "right"), ("best play", "right"))  # fmt: skip
    table.add_row("all", *_error_cells(report.overall), style="bold", end_section=True)
    for groups in (report.by_kind, report.by_source):
        for name, group in groups.items():
            table.add_row(Text(name), *_error_cells(group))
        table.add_section()
    console.print(table)
    if report.worst:
        console.print(Text("largest losses", style="bold"))
        for one in report.worst:
            console.print(Text(f"{one.loss:7.3f}  {one.chosen}, best {one.best}"), soft_wrap=True)
            console.print(Text(f"         {one.position}", style="dim"), soft_wrap=True)


def _error_cells(group: ErrorSummary) -> list[str]:
    data = group.to_dict()
    rate = data["error_rate"]
    return [f"{data['count']:,}", f"{rate['mean']:.2f}", f"{rate['error']:.2f}", f"{data['pr']:.2f}",
            f"{data['best']:.1%}"]  # fmt: skip
