"""``aleazero analyse``: search or plan one position and show the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    NetOption,
    ParamOption,
    PlanOption,
    PositionOption,
    SelectionOption,
    SimsOption,
    before_last_roll,
    blame_rules,
    read_game,
    read_plan,
    read_state,
    refuse_ignored,
    with_options,
)
from aleazero.errors import ConfigError, fields_named
from aleazero.files import os_errors_as

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aleazero.cli.show import PlanDetails
    from aleazero.games.base import State
    from aleazero.nets.planned import PlannedEvaluator
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
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="T", help="Stop after this time; not repeatable.")
    ] = None,
    evaluations: EvaluationsOption = None,
    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", help="Stop when the tree has this many nodes.")
    ] = None,
    chance: ChanceOption = None,
    evaluator: EvaluatorOption = None,
    net: NetOption = None,
    plan: PlanOption = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Same seed, same visit counts.")] = 0,
    c: ExplorationOption = None,
    selection: SelectionOption = None,
    top: Annotated[int, typer.Option("--top", metavar="N", help="Rows to show.", min=1)] = 20,
    tree: Annotated[
        Path | None,
        typer.Option("--tree", metavar="FILE", help="Write the searched tree too, as FILE.json or FILE.dot."),
    ] = None,
    tree_depth: Annotated[
        int, typer.Option("--tree-depth", metavar="N", help="Levels of it to write.", min=0, max=100)
    ] = 4,
    json: JsonFlag = False,
) -> None:
    """Search a position: what each action is worth, how luck falls, and the line expected.

    If a champion, a trained network, is bundled for the game, the turn is planned exactly over it instead, unless you
    give an option of a search (`--sims`, `--evaluator` and the like). An option without effect is an error.

    Values are in units of return; an action's is the mover's view. At a chance node the outcomes are shown
    with their probabilities. Ctrl-C ends the search and shows what was found so far.

    **Examples**

    - `aleazero analyse pig --position '12-30 turn 18' --sims 20000`

    - `aleazero analyse pig --moves 'roll 5 roll'` (a roll pending: the outcomes)

    - `aleazero analyse 2048 --moves '2@a1 2@b1' --seconds 2`

    - `aleazero analyse dice_game --chance open --evaluator uniform --c 0.05 --json`

    - `aleazero analyse pig --position '12-30 turn 18' --plan turn --evaluator rollout:100` (exact to the turn's end)

    - `aleazero analyse yatzy --net yatzy.safetensors --plan turn` (chances to win, and how much is luck)

    - `aleazero analyse my_game.py:my_game --tree tree.dot && dot -Tsvg tree.dot > tree.svg`
    """
    from aleazero.cli.progress import prepare, timed_plan, timed_search
    from aleazero.cli.show import make_console, print_json, print_position, print_result
    from aleazero.players.champions import CHAMPION, champion_of
    from aleazero.players.make import EVALUATOR, make_plan, make_search
    from aleazero.players.spec import PlayerSpec, parse_spec
    from aleazero.search.plan.planner import Planner

    refuse_ignored(context, {
        "tree_depth": "--tree is not given" if tree is None else None,
        "top": "--json prints all rows" if json else None,
    })  # fmt: skip
    _check_tree_file(tree)
    with blame_rules(game):
        the_game = read_game(game, param)
    if net is not None and evaluator is not None:
        raise ConfigError(f"--net is {net!r} beside --evaluator {evaluator!r}, expected one of the two")
    options = {"sims": sims, "evaluations": evaluations, "chance": chance, "c": c, "selection": selection,
               "evaluator": evaluator if net is None else f"net:{net}"}  # fmt: skip
    asked = any(one is not None for one in (*options.values(), seconds, nodes, plan, tree))
    champion = None if asked else champion_of(the_game)
    if champion is not None:
        plan, options["evaluator"] = champion.figures["horizon"], f"net:{CHAMPION}"
    if plan is not None:
        spec = with_options(PlayerSpec("plan", read_plan(plan)), options)
        if seconds is not None:
            raise ConfigError(f"--seconds is {seconds}, which has no effect: the player {str(spec)!r} does not search")
    else:
        budget = (sims, seconds, evaluations) != (None,) * 3
        spec = with_options(parse_spec("search" if budget else SEARCH), options)
    evaluated = spec.settings.get("evaluator", EVALUATOR)
    console = make_console()
    with blame_rules(game):
        state = read_state(the_game, position, moves)
        state.require_running()
        told = None
        if plan is None:
            with fields_named(OPTIONS):
                leaf_evaluator, config = make_search(spec, the_game, seed=seed, max_seconds=seconds, max_nodes=nodes)
            prepare(the_game, state)
            if not json:
                print_position(state, console)
            result, took = timed_search(the_game, state, leaf_evaluator, config)
        else:
            with fields_named(OPTIONS):
                leaf_evaluator, planned = make_plan(spec, the_game)
                # Plan details walk the states on the way, which a game's own solver of turns makes again each time; and
                # such a solver has no limit of nodes.
                solver: Any = "generic" if evaluated.startswith("net:") or nodes is not None else "auto"
                limit: dict[str, Any] = {} if nodes is None else {"max_nodes": nodes}
                planner = Planner(the_game, leaf_evaluator, solver=solver, seed=seed, **planned, **limit)
            the_plan, took = timed_plan(planner, state)
            result = the_plan.result()
            told = plan_details(planner, the_plan, before_last_roll(the_game, position, moves), leaf_evaluator)
            if not json:
                print_position(state, console)
        if tree is not None:
            _write_tree(result, tree, tree_depth)
        if json:
            more = {} if told is None else told.to_dict(result)
            data = as_data(state, result, took, evaluated) | {"engine": str(spec)}
            print_json(data | more | ({} if plan is None else {"plan": plan}))
            return
        print_result(state, result, took, console, top, told)
        if champion is not None:
            console.print("by the champion that ships (aleazero champions); --sims searches instead", style="dim")
    if tree is not None:
        console.print(f"tree written to {tree}", markup=False, soft_wrap=True)


def as_data(state: State, result: SearchResult, seconds: float, evaluator: str) -> dict[str, Any]:
    """An analysis as plain data: the result's own, with the position and all names."""
    return {
        "game": state.game.name,
        "params": state.game.params,
        "position": state.to_text(),
        "player": state.current_player(),
        "evaluator": evaluator,
        "seconds": seconds,
        "action_names": [state.action_to_string(int(action)) for action in result.actions],
        "outcome_names": [state.action_to_string(o.outcome) for o in result.outcomes],
        **result.to_dict(),
    }


def _check_tree_file(file: Path | None) -> None:
    """Complain before the search, not after it."""
    if file is None:
        return
    if file.suffix not in WRITERS:
        raise ConfigError(f"--tree is {str(file)!r}, expected a name ending in {' or '.join(WRITERS)}")
    if not file.parent.is_dir():
        raise ConfigError(f"--tree is {str(file)!r}, expected a folder that exists")


def _write_tree(result: SearchResult, file: Path, depth: int) -> None:
    cut = result.tree(depth=depth)
    with os_errors_as(ConfigError, f"cannot write {str(file)!r}"):
        file.write_text(getattr(cut, WRITERS[file.suffix])() + "\n", encoding="utf-8")


_ByLabel = dict[int, float]


def plan_details(planner: Planner, plan: Plan, before: State | None, evaluator: Any) -> PlanDetails | None:
    """Return chances to win, margins and gains of a plan; ``before`` is the state before the last roll, if known.

    None if the evaluator is not a value network.
    """
    from aleazero.cli.show import PlanDetails
    from aleazero.nets.planned import PlannedEvaluator

    if not isinstance(evaluator, PlannedEvaluator):
        return None
    state = plan.root
    whole_turn = planner.evaluator is evaluator.ends
    # Only between turns does the network know more than a value.
    told = _expectations(plan, evaluator) if whole_turn else ({}, {}, {})
    luck = turn = None
    start = evaluator.turn_start(state) if whole_turn else None
    if before is None and start is not None and _one_step(start, state):
        before, start = start, None
    if before is not None:
        luck = _gain(planner, before, state)
    elif start is not None:
        turn = _gain(planner, start, state)
    swings = {} if state.is_chance_node() else plan.swings(state)
    return PlanDetails(*told, swings, luck, turn)


def _expectations(plan: Plan, net: PlannedEvaluator) -> tuple[_ByLabel, _ByLabel, dict[str, _ByLabel]]:
    """Chances to win, margins, and chances to win or lose several points, by action or outcome."""
    import numpy as np

    state, outcome = plan.root, net.values.outcome
    if outcome.kind == "score":
        return {}, {}, {}
    expected = plan.expected(state, net.columns)
    player, players = max(0, state.current_player()), outcome.players
    sign = -1.0 if outcome.kind == "two_player" and player == 1 else 1.0
    column = 0 if outcome.kind == "two_player" else player
    wins = {label: (sign * float(told[column]) * (players - 1) + 1.0) / players for label, told in expected.items()}
    margins = {label: sign * float(told[1]) for label, told in expected.items()} if outcome.margin else {}
    seen = {label: outcome.by_viewer(told[None], np.array([player]))[0] for label, told in expected.items()}
    names = [column.name for column in outcome.columns] if outcome.levels > 1 else []
    levels = {name: {label: float(seen[label][k]) for label in seen} for k, name in enumerate(names) if k > 0}
    return wins, margins, levels


def _one_step(before: State, state: State) -> bool:
    """Whether a state lies right behind another one, where a roll is pending."""
    return before.is_chance_node() and any(before.child(o).key() == state.key() for o, _ in before.chance_outcomes())


def _gain(planner: Planner, before: State, state: State) -> NDArray[np.float64]:
    """The value of a state less that of an earlier one, both in the plan of the earlier one."""
    earlier = planner.plan(before)
    gain: NDArray[np.float64] = earlier.value(state) - earlier.value(before)
    return gain
