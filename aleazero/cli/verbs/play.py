"""``aleazero play`` and ``aleazero watch``: play against the computer, watch it play, and show recorded games."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
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
    JsonFlag,
    MovesOption,
    ParamOption,
    PositionOption,
    SecondsOption,
    SelectionOption,
    argument,
    bundled_text,
    game_argument,
    load,
    option,
    read_game,
    read_state,
    refuse_ignored,
    with_options,
)
from aleazero.errors import ConfigError, ReplayError, fields_named

if TYPE_CHECKING:
    from aleazero.games.base import Game
    from aleazero.players.player import Player
    from aleazero.players.spec import PlayerSpec
    from aleazero.serving.session import Session
    from aleazero.serving.session_file import StudiedGame


def play(
    context: typer.Context,
    game: Annotated[str | None, game_argument(" Optional with `--load`, because the file names its game.")] = None,
    seat: Annotated[int | None, option("--seat", "N", "Your seat; seat 0 moves first.", show_default="0")] = None,
    watch: Annotated[bool, option("--watch", "", "Let the computer play every seat.")] = False,
    position: PositionOption = None,
    moves: MovesOption = None,
    param: ParamOption = None,
    opponent: Annotated[
        str | None,
        option(
            "--opponent",
            "PLAYER",
            "Player spec of the computer: `search:sims=500,c=2`, a plan as `plan:horizon=turn` or "
            "`plan:plies=2`, a network as `net:FILE,sims=64`, `greedy`, `random`, `human`, or `oracle` if the game is "
            "solved.",
            show_default=f"the bundled network, or {SEARCH}",
        ),
    ] = None,
    sims: Annotated[
        int | None,
        option(
            "--sims",
            "N",
            "Simulations per search.",
            show_default="2000, or that of --opponent; no limit with --seconds; 10 × N with --evaluations N",
        ),
    ] = None,
    seconds: SecondsOption = None,
    evaluations: EvaluationsOption = None,
    chance: ChanceOption = None,
    evaluator: EvaluatorOption = None,
    temperature: Annotated[
        float | None,
        option(
            "--temperature",
            "T",
            "Move selection of a player that searches: 0 plays the most visited action, 1 draws in proportion to "
            "the visits.",
            show_default="0",
            min=0,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        option(
            "--seed", "SEED", "Seed of the dice. The same seed gives the same dice.", show_default="random, printed"
        ),
    ] = None,
    c: ExplorationOption = None,
    selection: SelectionOption = None,
    opened: Annotated[
        Path | None,
        option(
            "--load", "FILE", "Continue a saved game, with its seats, players and dice. Other players can be given."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        option(
            "--save", "FILE", "Save the game to this file after every move. It is a new file, or the one of --load."
        ),
    ] = None,
    json: Annotated[bool, option("--json", "", "With --watch: print the game as JSON.")] = False,
) -> None:
    """Play against the computer, or watch it play.

    If the game has a bundled network, it is your opponent. Otherwise, or with options of a search such as `--sims`, you
    play against a search, by default of 2000 simulations per move. With `--opponent search` the default is 200, as in
    `aleazero match`. The first line of the output describes the opponent. An option that would have no effect is an
    error.

    Type a move by its name or id, `?` for a hint, `u` to take back your last move, `redo` to play it again, `r` to
    review the game so far, `save FILE` to save it and `q` to stop. The start message shows other ways to type a move,
    e.g. `8/5 6/5` in backgammon.

    The dice depend only on the seed, the seat and the number of this seat's earlier chance events (in Yatzy: on the
    seed, seat, turn and roll). They do not depend on the actions. No search can foresee them. After `u` the same dice
    follow.

    **Examples**

    - `aleazero play yatzy`

    - `aleazero play backgammon --opponent heuristic`

    - `aleazero play 'pig(target=50)'`

    - `aleazero play tic_tac_toe --seat 1 --sims 500`

    - `aleazero play pig --opponent plan:horizon=turn --evaluator rollout:50`

    - `aleazero play pig --watch --seed 7 --sims 5000`

    - `aleazero play 2048 --watch --json > game.json`

    - `aleazero play yatzy --save game.json`, later `aleazero play --load game.json --save game.json`
    """
    from aleazero.cli.progress import prepare
    from aleazero.cli.show import make_console, print_json
    from aleazero.cli.terminal_game import TerminalGame, require_new
    from aleazero.native.random import check_seed
    from aleazero.players.search import SearchPlayer
    from aleazero.serving.session import Session, make_players

    if json and not watch:
        raise ConfigError("--json requires --watch")
    if watch and seat is not None:
        raise ConfigError(f"--seat is {seat}, which has no effect with --watch: the computer plays every seat")
    if game is None and opened is None:
        raise ConfigError("got no GAME, expected one, or --load FILE")
    own = None if opened is None else "--load continues a game that has its own"
    refuse_ignored(context, {"position": own, "moves": own, "seed": own, "param": own if game is None else None})
    if save is not None:
        require_new(save, "--save", set() if opened is None else {opened.resolve()})
    seed = secrets.randbits(32) if seed is None else seed
    check_seed(seed, "--seed")
    before = None if opened is None else _load_session(opened, game, param)
    with blame_rules(str(game) if before is None else before.source):
        options = {"sims": sims, "evaluations": evaluations, "chance": chance, "evaluator": evaluator, "c": c,
                   "selection": selection}  # fmt: skip
        the_game = before.game if before is not None else read_game(str(game), param)
        where = "seat" if opened is None else f"{opened.name}: seat"
        seats, spec, bundled = _seats(
            the_game, before, opponent, options, seat, watch=watch, seconds=seconds, temperature=temperature,
            where=where,
        )  # fmt: skip
        if before is None:
            state = read_state(the_game, position, moves)
            session = Session(state, seed, source=game, temperature=temperature or 0.0, seconds=seconds)
        else:
            session = before
            session.seconds = before.seconds if seats == before.seats and seconds is None else seconds
            session.temperature = before.temperature if temperature is None else temperature
        session.state.require_running()
        given = {key: OPTIONS[key] for key, value in {**options, "max_seconds": seconds}.items() if value is not None}
        engine = str(spec)
        with fields_named(given):  # also the player of the hints, which has no seat in a one-player game
            players = make_players((*seats, engine), the_game, max_seconds=session.seconds, what=where)
        player = players.pop(len(seats), None)
        session.set_seats(seats, players)
        if isinstance(player, SearchPlayer):
            prepare(the_game, session.state)
        elif temperature is not None:
            raise ConfigError(f"--temperature is {temperature}, which has no effect: {engine} does not search")
        terminal = TerminalGame(session, player, make_console(), engine, silent=json, save=save, opened=opened)
        if not json and player is not None:
            name = f"{bundled_text(spec)}, see aleazero models" if bundled else engine
            terminal.console.print(f"computer: {name}", style="dim", soft_wrap=True)
        complete = terminal.play()
    if json:
        print_json(_record(session, engine, player, complete))


def _load_session(file: Path, game: str | None, param: list[str] | None) -> Session:
    """Read the game of ``--load``; a game on the command line must be the same."""
    from aleazero.serving.session_file import only_this, read_session

    named = None if game is None else read_game(game, param)
    session = read_session(file, load=only_this(named, file.name, load))
    if session.state.is_terminal():
        raise ReplayError(f"{file.name}: the game is over, expected one in progress")
    return session


def _seats(
    game: Game, before: Session | None, opponent: str | None, options: dict[str, Any], seat: int | None, *, watch: bool,
    seconds: float | None, temperature: float | None, where: str,
) -> tuple[tuple[str, ...], PlayerSpec, bool]:  # fmt: skip
    """Return the text of each seat, the player that gives hints, and whether it is the bundled network by default.

    A loaded game keeps its seats, unless an option changes a player or your seat. ``where`` is the name of its seats in
    error messages, before the number.
    """
    from aleazero.players.champions import champion_of
    from aleazero.serving.session import PERSON, parse_seat

    found = () if before is None else before.seats
    searched = any(one is not None for one in (*options.values(), seconds, temperature))
    kept = before is not None and not (searched or watch or seat is not None or opponent is not None)
    bundled, what = None, "--opponent"
    played = next((number for number, text in enumerate(found) if text != PERSON), None)
    if opponent is None and played is not None:
        opponent, what = found[played], f"{where} {played}"
    if opponent is None:
        limited = seconds is not None or any(options[name] is not None for name in ("sims", "evaluations"))
        bundled = None if searched else champion_of(game)
        opponent = bundled.engine if bundled is not None else "search" if limited else SEARCH
    spec = with_options(parse_seat(opponent, game, what), options, game)
    if kept:
        return found, spec, bundled is not None
    human = seat
    if seat is None and not watch:
        human = found.index(PERSON) if PERSON in found else 0
    if human is not None and not 0 <= human < game.num_players:
        raise ConfigError(f"--seat is {seat}, expected a seat from 0 to {game.num_players - 1}")
    seats = tuple(PERSON if number == human else str(spec) for number in range(game.num_players))
    return seats, spec, bundled is not None


def _record(session: Session, engine: str, player: Player | None, complete: bool) -> dict[str, Any]:
    """Return a watched game as JSON data."""
    from aleazero.games.kit import kit_of
    from aleazero.players.make import EVALUATOR
    from aleazero.players.search import SearchPlayer
    from aleazero.players.spec import chance_name, parse_spec

    game, config, chance = session.game, None, None
    if isinstance(player, SearchPlayer):
        config, chance = player.config, chance_name(player.chance)
    kit = kit_of(game)
    spec = parse_spec(engine, kinds=kit.players, evaluators=kit.evaluators)
    return {
        "game": game.name, "params": game.params, "seed": session.seed, "start": session.start,
        "engine": engine, "simulations": None if config is None else config.num_simulations, "chance": chance,
        "evaluator": spec.settings.get("evaluator", EVALUATOR) if spec.kind in ("search", "plan") else None,
        "temperature": session.temperature, "steps": session.history, "complete": complete,
        "returns": session.state.returns(),
    }  # fmt: skip


def watch(
    context: typer.Context,
    file: Annotated[
        Path,
        argument("FILE", "Games of `aleazero match --save`, `gate --replays` or `play --save`, or a `.mat` file."),
    ],
    index: Annotated[int, option("--index", "N", "Index of the game in the file, from 0.")] = 0,
    delay: Annotated[float, option("--delay", "SECONDS", "Pause between steps.", min=0, max=60)] = 0.0,
    json: JsonFlag = False,
) -> None:
    """Show a recorded game step by step, with the board after each action and roll.

    Every step is checked against the rules. The game's rules are executed, so watch only files that you trust.

    **Examples**

    - `aleazero gate pig greedy random --replays games.json`, then `aleazero watch games.json`

    - `aleazero watch games.json --index 3 --delay 0.5`
    """
    from aleazero.cli.show import print_json
    from aleazero.serving.session_file import read_studied

    refuse_ignored(context, {"delay": "--json prints all steps at once" if json else None})
    with fields_named({"index": "--index"}):
        (one,) = read_studied(file, load=load, index=index)
    with blame_rules(one.text):
        steps = list(_named_steps(one))
    if json:
        print_json({
            "game": one.text, "params": one.game.params, "number": index, **one.info, "seed": one.seed,
            "players": list(one.names), "steps": steps, "returns": one.end().returns(),
        })  # fmt: skip
        return
    _show_steps(one, steps, delay)


def _named_steps(one: StudiedGame) -> Iterator[dict[str, Any]]:
    """Yield the first position, and each step with its name and the position after it."""
    state = one.start
    yield {"step": 0, "player": None, "name": "", "position": state.to_text(), "board": str(state)}
    for number, (player, action) in enumerate(one.steps, 1):
        name, state = state.action_to_string(action), state.child(action)
        yield {"step": number, "player": player, "action": action, "name": name, "position": state.to_text(),
               "board": str(state)}  # fmt: skip


def _show_steps(one: StudiedGame, steps: list[dict[str, Any]], delay: float) -> None:
    import time

    from rich.text import Text

    from aleazero.cli.show import make_console

    console = make_console()
    facts = [f"{name} {value}" for name, value in {**one.info, "seed": one.seed}.items() if value is not None]
    console.print(Text(", ".join([repr(one.game), one.source, *facts]), style="bold"), soft_wrap=True)
    for seat, name in enumerate(one.names):
        console.print(Text(f"player {seat}: {name}", style="dim"), soft_wrap=True)
    for step in steps:
        if step["player"] is not None:
            who = "chance" if step["player"] < 0 else f"player {step['player']}"
            console.print(Text(f"\n{step['step']:>4}  {who}: {step['name']}", style="cyan"), soft_wrap=True)
            if delay:
                time.sleep(delay)
        console.print(Text(step["board"]), soft_wrap=True)
    end = one.end()
    returns = "   ".join(f"player {seat} {value:+g}" for seat, value in enumerate(end.returns()))
    how = f"the game is over: {returns}" if end.is_terminal() else one.result or "the game is not over"
    console.print(Text(f"\n{how}", style="bold green"), soft_wrap=True)
