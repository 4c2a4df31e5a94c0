"""``aleazero analyse``: search or plan from one position and show the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import (
    OPTIONS,
    SEARCH,
    ChanceOption,
    EvaluationsOption,
    EvaluatorOption,
    ExplorationOption,
    GameArgument,
    JsonFlag,
    MovesOption,
    ParamOption,
    PositionOption,
    SecondsOption,
    SelectionOption,
    SimsOption,
    bundled_text,
    option,
    read_game,
    read_plan,
    read_state,
    refuse_ignored,
    with_options,
)
from aleazero.errors import ConfigError, count_text, fields_named
from aleazero.files import os_errors_as

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aleazero.cli.show import PlanDetails
    from aleazero.games.base import Game, State
    from aleazero.players.spec import PlayerSpec
    from aleazero.search.config import SearchConfig
    from aleazero.search.plan.plan import Plan
    from aleazero.search.plan.planner import Planner
    from aleazero.search.result import SearchResult

WRITERS = {".json": "to_json", ".dot": "to_dot"}


def analyse(
    context: typer.Context,
    game: GameArgument,
    position: PositionOption = None,
    moves: MovesOption = None,
    param: ParamOption = None,
    sims: SimsOption = None,
    seconds: SecondsOption = None,
    evaluations: EvaluationsOption = None,
    nodes: Annotated[int | None, option("--nodes", "N", "Largest number of nodes of the tree or plan.")] = None,
    chance: ChanceOption = None,
    evaluator: EvaluatorOption = None,
    net: Annotated[
        str | None, option("--net", "FILE", "Evaluate leaves with this network (`--evaluator net:FILE`).")
    ] = None,
    plan: Annotated[
        str | None,
        option(
            "--plan",
            "HORIZON",
            "Plan instead of searching: list all outcomes up to HORIZON, which is `turn`, `game`, or a number of plies "
            "such as `2`. The evaluator values the states at the horizon; `rollout` takes the mean of 100 playouts.",
        ),
    ] = None,
    seed: Annotated[int, option("--seed", "SEED", "Random seed. The same seed gives the same result.")] = 0,
    c: ExplorationOption = None,
    selection: SelectionOption = None,
    top: Annotated[int, option("--top", "N", "Number of rows to show.", min=1)] = 20,
    tree: Annotated[
        Path | None, option("--tree", "FILE", "Write the searched tree to FILE, which ends in .json or .dot.")
    ] = None,
    tree_depth: Annotated[int, option("--tree-depth", "N", "Depth of the written tree.", min=0, max=100)] = 4,
    json: JsonFlag = False,
) -> None:
    """Evaluate a position: action values, outcome probabilities and the principal variation.

    The first line of the output shows the method. If the game has a bundled network, the turn is planned exactly with
    it, or searched in games whose turns cannot be planned. Otherwise, or with options of a search such as `--sims` or
    `--evaluator`, a search runs. With `--plan` a plan runs, and `--evaluator` values the states at its end. An option
    that would have no effect is an error.

    Values are expected returns. The value of an action is from the point of view of the player to move. A plan with a
    value network also shows win probabilities, and complete plays if a player acts several times in a row. At a chance
    node, outcomes are sorted by the column luck: how much each changes the value for the player in the
    column title. Ctrl-C ends a search and shows its result so far.

    **Examples**

    - `aleazero analyse pig --position '12-30 turn 18' --sims 20000`

    - `aleazero analyse 'pig(target=50)' --moves 'roll 5 roll'` (before a roll: its outcomes)

    - `aleazero analyse 2048 --moves '2@a1 2@b1' --seconds 2`

    - `aleazero analyse dice_game --chance open --evaluator uniform --c 0.05 --json`

    - `aleazero analyse pig --position '12-30 turn 18' --plan turn --evaluator rollout:1000`

    - `aleazero analyse yatzy --moves 13336` (with the bundled network: win probabilities and luck)

    - `aleazero analyse backgammon --position '4HPwATDgc/ABMA dice 3-1'` (a position id of GNU Backgammon)

    - `aleazero analyse my_game.py:my_game --tree tree.dot && dot -Tsvg tree.dot > tree.svg`
    """
    from aleazero.cli.progress import prepare, timed_plan, timed_search
    from aleazero.cli.show import make_console, print_json, print_position, print_result
    from aleazero.players.champions import CHAMPION, champion_of
    from aleazero.players.make import EVALUATOR, make_plan, make_search
    from aleazero.players.spec import PlayerSpec, parse_spec
    from aleazero.search.plan.planner import Planner
    from aleazero.serving.plain_data import result_data

    refuse_ignored(context, {
        "tree_depth": "it requires --tree" if tree is None else None,
        "top": "--json prints all rows" if json else None,
    })  # fmt: skip
    _check_tree_file(tree)
    if net is not None and evaluator is not None:
        raise ConfigError(f"--net is {net!r} and --evaluator is {evaluator!r}, expected only one of them")
    with blame_rules(game):
        the_game = read_game(game, param)
    options = {"sims": sims, "evaluations": evaluations, "chance": chance, "c": c, "selection": selection,
               "evaluator": evaluator if net is None else f"net:{net}"}  # fmt: skip
    bundled, searched = None, None
    if all(one is None for one in (*options.values(), seconds, nodes, plan, tree)):
        bundled = champion_of(the_game)
    if bundled is not None:
        engine = parse_spec(bundled.engine)
        if engine.kind == "search":
            searched = engine
        else:
            plan, options["evaluator"] = bundled.figures["horizon"], f"net:{CHAMPION}"
    if plan is not None:
        spec = with_options(PlayerSpec("plan", read_plan(plan)), options, the_game)
    elif searched is not None:
        spec = searched
    else:
        limited = (sims, seconds, evaluations) != (None,) * 3
        spec = with_options(parse_spec("search" if limited else SEARCH), options, the_game)
    evaluated = spec.settings.get("evaluator", EVALUATOR)
    draws = evaluated.startswith("rollout") and spec.settings.get("horizon") != "game"
    refuse_ignored(context, {
        "seconds": f"{str(spec)!r} does not search" if plan is not None else None,
        "seed": f"{str(spec)!r} draws nothing at random; --sims searches" if plan is not None and not draws else None,
    })  # fmt: skip
    console = make_console()
    with blame_rules(game):
        state = read_state(the_game, position, moves)
        state.require_running()
        details = None
        if plan is None:
            with fields_named(OPTIONS):
                leaf_evaluator, config = make_search(spec, the_game, seed=seed, max_seconds=seconds, max_nodes=nodes)
            prepare(the_game, state)
            if not json:
                text = bundled_text(spec) if bundled else _search_text(config, the_game, leaf_evaluator, evaluated)
                console.print(text, style="dim", soft_wrap=True)
                print_position(state, console)
            result, took = timed_search(the_game, state, leaf_evaluator, config, None if json else console)
        else:
            with fields_named(OPTIONS):
                leaf_evaluator, planned = make_plan(spec, the_game)
                # A game's own solver of turns has no limit of nodes, and solves the turn again for each detail.
                generic = evaluated.startswith("net:") or nodes is not None
                limit: dict[str, Any] = {} if nodes is None else {"max_nodes": nodes}
                planner = Planner(the_game, leaf_evaluator, solver="generic" if generic else "auto", seed=seed,
                                  **planned, **limit)  # fmt: skip
            the_plan, took = timed_plan(planner, state)
            result = the_plan.result()
            details = plan_details(planner, the_plan, _before_last_roll(the_game, position, moves), leaf_evaluator)
            if not json:
                console.print(
                    _plan_text(spec, the_game, leaf_evaluator, evaluated, bundled is not None),
                    style="dim",
                    soft_wrap=True,
                )
                print_position(state, console)
        if tree is not None:
            _write_tree(result, tree, tree_depth)
        if json:
            more = {} if details is None else details.to_dict(result)
            data = result_data(state, result) | {"evaluator": evaluated, "seconds": took, "engine": str(spec)}
            print_json(data | more | ({} if plan is None else {"plan": plan}))
            return
        print_result(state, result, took, console, top, details)
    if tree is not None:
        console.print(f"tree written to {tree}", soft_wrap=True)


def _check_tree_file(file: Path | None) -> None:
    """Reject a file that cannot be written before the search."""
    if file is None:
        return
    if file.suffix not in WRITERS:
        raise ConfigError(f"--tree is {str(file)!r}, expected a name ending in {' or '.join(WRITERS)}")
    if not file.parent.is_dir():
        raise ConfigError(f"--tree is {str(file)!r}, expected a file in a folder that exists")


def _search_text(config: SearchConfig, game: Game, evaluator: Any, name: str) -> str:
    """Describe a search: limits, evaluator and chance mode."""
    from aleazero.cli.show import time_text
    from aleazero.players.make import MOST_SIMULATIONS
    from aleazero.players.spec import chance_name
    from aleazero.search.config import chance_of

    parts = [f"{config.num_simulations:,} simulations"] if config.num_simulations < MOST_SIMULATIONS else []
    if config.max_evaluations is not None:
        parts.append(f"at most {config.max_evaluations:,} evaluations")
    if config.max_seconds is not None:
        parts.append(f"at most {time_text(config.max_seconds)}")
    parts.append(_evaluator_text(name))
    if game.info.max_outcomes:
        parts.append(f"{chance_name(chance_of(config, game, evaluator))} chance")
    return f"search: {', '.join(parts)}"


def _plan_text(spec: PlayerSpec, game: Game, evaluator: Any, name: str, bundled: bool) -> str:
    """Describe a plan: horizon and evaluator."""
    from aleazero.search.evaluator import Rollout

    if bundled:
        return bundled_text(spec)
    horizon = spec.settings.get("horizon")
    far = f"{spec.settings['plies']} plies" if horizon is None else f"horizon {horizon}"
    if horizon == "game":
        return f"plan: {far}, exact values"
    playouts = f" with {count_text(evaluator.playouts, 'playout')} per state" if isinstance(evaluator, Rollout) else ""
    chance = ", exact chance" if game.info.max_outcomes else ""
    return f"plan: {far}, {_evaluator_text(name.partition(':')[0] if playouts else name)}{playouts}{chance}"


def _evaluator_text(name: str) -> str:
    return f"network {Path(name.removeprefix('net:')).name}" if name.startswith("net:") else f"{name} evaluator"


def _before_last_roll(game: Game, position: str | None, moves: str | None) -> State | None:
    """Return the state before the last move, if that was a roll; otherwise None."""
    from aleazero.games.base import moves_of

    given = moves_of(moves or "")
    if not given:
        return None
    before = read_state(game, position, ",".join(given[:-1]) + ",")
    return before if before.is_chance_node() else None


def _write_tree(result: SearchResult, file: Path, depth: int) -> None:
    cut = result.tree(depth=depth)
    with os_errors_as(ConfigError, f"cannot write {str(file)!r}"):
        file.write_text(getattr(cut, WRITERS[file.suffix])() + "\n", encoding="utf-8")


def plan_details(planner: Planner, plan: Plan, before: State | None, evaluator: Any) -> PlanDetails | None:
    """Return the changes in value by rolls, for a plan with a value network; None for others.

    ``before`` is the state before the last roll, if it is known.
    """
    from aleazero.cli.show import PlanDetails
    from aleazero.nets.planned import PlannedEvaluator

    if not isinstance(evaluator, PlannedEvaluator):
        return None
    state = plan.root
    whole_turn = planner.evaluator is evaluator.ends
    luck = turn = None
    start = evaluator.turn_start(state) if whole_turn else None
    if before is None and start is not None and _one_roll(start, state):
        before, start = start, None
    if before is not None:
        luck = _gain(planner, before, state)
    elif start is not None:
        turn = _gain(planner, start, state)
    swings = {} if state.is_chance_node() else plan.swings(state)
    return PlanDetails(swings, luck, turn)


def _one_roll(before: State, state: State) -> bool:
    """Return whether a state follows from another one by a single roll."""
    return before.is_chance_node() and any(before.child(o).key() == state.key() for o, _ in before.chance_outcomes())


def _gain(planner: Planner, before: State, state: State) -> NDArray[np.float64]:
    """Return the value of a state minus that of an earlier one, both in the plan from the earlier one."""
    earlier = planner.plan(before)
    gain: NDArray[np.float64] = earlier.value(state) - earlier.value(before)
    return gain
