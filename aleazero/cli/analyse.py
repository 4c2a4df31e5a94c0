"""``aleazero analyse``: search one position and show what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.failure import rules_of
from aleazero.cli.options import (
    ChanceOption,
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
)
from aleazero.errors import ConfigError

if TYPE_CHECKING:
    from aleazero.games.base import State
    from aleazero.search.result import SearchResult

SIMULATIONS = 2000
SEARCHED = ("closed", "rollout")
"""How a search treats chance and values leaves where nothing is said."""
WRITERS = {".json": "to_json", ".dot": "to_dot"}


def analyse(
    game: GameArgument,
    position: PositionOption = None,
    moves: MovesOption = None,
    param: ParamOption = None,
    sims: Annotated[
        int | None,
        typer.Option(
            "--sims", metavar="N", help=f"Simulations [default: {SIMULATIONS}, or no limit beside another budget]."
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="T", help="Stop after this time; not repeatable.")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option("--evaluations", metavar="N", help="Stop after this many leaf evaluations.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", help="Stop when the tree has this many nodes.")
    ] = None,
    chance: ChanceOption = SEARCHED[0],
    evaluator: EvaluatorOption = SEARCHED[1],
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

    Where a trained network ships for the game, the champion, the turn is planned exactly over it instead, unless you
    ask for something of a search (`--sims`, `--evaluator` and the like).

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
    from aleazero.cli.outlook import outlook
    from aleazero.cli.searching import prepare, timed_plan, timed_search
    from aleazero.cli.show import make_console, print_json, print_position, print_result
    from aleazero.cli.specs import before_last_roll, read_config, read_evaluator, read_game, read_plan, read_state
    from aleazero.players.champions import CHAMPION, champion_of
    from aleazero.search.planner import Planner

    _check_tree_file(tree)
    with rules_of(game):
        the_game = read_game(game, param)
    asked = (sims, seconds, evaluations, nodes, net, plan, c, selection, tree)
    champion = champion_of(the_game) if asked == (None,) * 9 and (chance, evaluator) == SEARCHED else None
    if champion is not None:
        net, plan = CHAMPION, champion.figures["horizon"]
    if net is not None:
        if evaluator != SEARCHED[1]:
            raise ConfigError(f"--net is {net!r} beside --evaluator {evaluator!r}, expected one of the two")
        evaluator = f"net:{net}"
    read_evaluator(evaluator)
    planned = None if plan is None else {**read_plan(plan), "seed": seed}
    if planned is not None:
        _refuse_with_plan({"--sims": sims, "--seconds": seconds, "--evaluations": evaluations, "--c": c,
                           "--selection": selection, "--chance": None if chance == "closed" else chance})  # fmt: skip
        planned |= {} if nodes is None else {"max_nodes": nodes}
    config = read_config(
        chance, sims=sims, otherwise=SIMULATIONS, seed=seed, c=c, selection=selection,
        max_seconds=seconds, max_evaluations=evaluations, max_nodes=nodes,
    )  # fmt: skip
    console = make_console()
    with rules_of(game):
        state = read_state(the_game, position, moves)
        state.require_running()
        leaf_evaluator = read_evaluator(evaluator, the_game)
        told = None
        if planned is None:
            prepare(the_game, state)
            if not json:
                print_position(state, console)
            result, took = timed_search(the_game, state, leaf_evaluator, config)
        else:
            # An outlook walks the states on the way, which a game's own solver of turns makes anew each time.
            solver: Any = "generic" if evaluator.startswith("net:") else "auto"
            planner = Planner(the_game, leaf_evaluator, solver=solver, **planned)
            the_plan, took = timed_plan(planner, state)
            result = the_plan.result()
            told = outlook(planner, the_plan, before_last_roll(the_game, position, moves), leaf_evaluator)
            if not json:
                print_position(state, console)
        if tree is not None:
            _write_tree(result, tree, tree_depth)
        if json:
            more = {} if told is None else told.to_dict(result)
            print_json(as_data(state, result, took, evaluator) | more | ({} if plan is None else {"plan": plan}))
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


def _refuse_with_plan(given: dict[str, Any]) -> None:
    """A plan is exact: what a search may be told, it has no use for."""
    for option, value in given.items():
        if value is not None:
            raise ConfigError(f"{option} is {value!r} beside --plan, expected none: a plan does not simulate")


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
    try:
        file.write_text(getattr(cut, WRITERS[file.suffix])() + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {str(file)!r}: {error.strerror or error}") from error
