"""``aleazero play`` and ``aleazero watch``: play against the computer, watch it play, and show recorded games."""

from __future__ import annotations

import secrets
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    argument,
    bundled_text,
    load,
    option,
    read_game,
    read_state,
    refuse_ignored,
    with_options,
)
from aleazero.errors import AleaZeroError, ConfigError, ReplayError, count_text, fields_named

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.game_file import RecordedGame
    from aleazero.games.base import Game
    from aleazero.players.player import Player
    from aleazero.search.result import SearchResult
    from aleazero.serving.session import Session


def play(
    game: GameArgument,
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
    json: Annotated[bool, option("--json", "", "With --watch: print the game as JSON.")] = False,
) -> None:
    """Play against the computer, or watch it play.

    If the game has a bundled network, that is your opponent, with the plan that the start message shows.
    Otherwise, or with options of a search such as `--sims`, you play against a search. By default it has 2000
    simulations; the spec `search` alone has 200, as in `aleazero match`. An option that would have no effect is an
    error.

    Type a move by its name or id, `?` for a hint, `q` to stop. The start message shows other ways, e.g. `8/5 6/5` in
    backgammon. The dice depend only on the seed, the seat and the number of this seat's earlier chance events (in
    Yatzy: on the seed, seat, turn and roll). They do not depend on the actions. No search can foresee them.

    **Examples**

    - `aleazero play yatzy`

    - `aleazero play backgammon --opponent heuristic`

    - `aleazero play 'pig(target=50)'`

    - `aleazero play tic_tac_toe --seat 1 --sims 500`

    - `aleazero play pig --opponent plan:horizon=turn --evaluator rollout:50`

    - `aleazero play pig --watch --seed 7 --sims 5000`

    - `aleazero play 2048 --watch --json > game.json`
    """
    from aleazero.cli.progress import prepare
    from aleazero.cli.show import make_console, print_json
    from aleazero.games.kit import kit_of
    from aleazero.native.random import check_seed
    from aleazero.players.champions import champion_of
    from aleazero.players.make import EVALUATOR, make_player
    from aleazero.players.search import SearchPlayer
    from aleazero.players.spec import chance_name, parse_spec
    from aleazero.serving.session import Session

    if json and not watch:
        raise ConfigError("--json requires --watch")
    if watch and seat is not None:
        raise ConfigError(f"--seat is {seat}, which has no effect with --watch: the computer plays every seat")
    with blame_rules(game):
        the_game = read_game(game, param)
    options = {"sims": sims, "evaluations": evaluations, "chance": chance, "evaluator": evaluator, "c": c,
               "selection": selection}  # fmt: skip
    searched = any(one is not None for one in (*options.values(), seconds, temperature))
    bundled = champion_of(the_game) if opponent is None and not searched else None
    if opponent is None:
        limited = (sims, seconds, evaluations) != (None,) * 3
        opponent = bundled.engine if bundled is not None else "search" if limited else SEARCH
    kit = kit_of(the_game)
    spec = with_options(parse_spec(opponent, "--opponent", kit.players, kit.evaluators), options, the_game)
    seed = secrets.randbits(32) if seed is None else seed
    check_seed(seed, "--seed")
    with blame_rules(game):
        human = None if watch else seat or 0
        if human is not None and not 0 <= human < the_game.num_players:
            raise ConfigError(f"--seat is {seat}, expected a seat from 0 to {the_game.num_players - 1}")
        state = read_state(the_game, position, moves)
        state.require_running()
        given = {key: OPTIONS[key] for key, value in {**options, "max_seconds": seconds}.items() if value is not None}
        with fields_named(given):
            player = make_player(spec, the_game, max_seconds=seconds)
        config = player.config if isinstance(player, SearchPlayer) else None
        if config is not None:
            prepare(the_game, state)
        elif temperature is not None:
            raise ConfigError(f"--temperature is {temperature}, which has no effect: {spec} does not search")
        seats = {number: player for number in range(the_game.num_players) if number != human}
        session = Session(state, seed, seats, temperature=temperature or 0.0)
        terminal = TerminalGame(session, player, human, make_console(), str(spec), silent=json)
        if not json:
            name = str(spec) if bundled is None else f"{bundled_text(spec.settings)}, see aleazero models"
            terminal.console.print(f"computer: {name}", style="dim", soft_wrap=True)
        complete = terminal.play()
    if json:
        evaluated = spec.settings.get("evaluator", EVALUATOR) if spec.kind in ("search", "plan") else None
        print_json({
            "game": the_game.name, "params": the_game.params, "seed": seed, "start": session.start,
            "engine": str(spec), "simulations": None if config is None else config.num_simulations,
            "chance": chance_name(player.chance) if isinstance(player, SearchPlayer) else None,
            "evaluator": evaluated, "temperature": temperature or 0.0, "steps": session.history, "complete": complete,
            "returns": state.returns(),
        })  # fmt: skip


class Roll(NamedTuple):
    """An outcome of the dice in a played game."""

    roller: int
    name: str
    position: str
    """The position after it."""


class Stopped(Exception):
    """Raised if the user stops the game."""


class TerminalGame:
    """A session in a terminal: reads the user's moves, lets the players move, and prints each move with its dice.

    Args:
        session: the game in progress.
        player: gives the hints.
        human: seat of the user; None to watch.
        console: prints the game.
        name: spec of ``player``.
        silent: print nothing.
    """

    def __init__(
        self,
        session: Session,
        player: Player,
        human: int | None,
        console: Console,
        name: str = "",
        *,
        silent: bool = False,
    ) -> None:
        self.session, self.player, self.human, self.console = session, player, human, console
        self.name, self.silent = name, silent
        self._rest: list[int] = []
        """Further actions of the play that the user typed."""
        self._width = 8
        """Width of the names of actions."""

    def play(self) -> bool:
        """Play to the end; return False if the user stops the game."""
        from aleazero.cli.show import outcome_of_game, print_position

        session = self.session
        if not self.silent:
            heading = f"{session.state.game!r}, seed {session.seed}"
            if self.human is None:
                print_position(session.state, self.console, heading)
                self.console.print()
            else:
                self._print(heading, "bold")
                self._print(f"you are player {self.human}: {self._help()}", "dim")
        try:
            self._print_move(self._draw_all())
            while not session.state.is_terminal():
                self._take_turn()
        except (Stopped, KeyboardInterrupt, EOFError):
            self._print(f"\nstopped after {count_text(session.ply, 'move')}", "yellow")
            return False
        if not self.silent:
            self.console.print()
            print_position(session.state, self.console, repr(session.state.game))
            self._print(outcome_of_game(session.state, self.human), "bold green")
        return True

    def _take_turn(self) -> None:
        from aleazero.cli.show import value_text

        session = self.session
        mover = session.state.current_player()
        yours = mover == self.human
        if yours and not self._rest:
            self._rest = self._read_play()
        action, result = (self._rest.pop(0), None) if yours else session.choose()
        forced = len(session.state.legal_actions()) == 1
        name = session.act(action, result)
        value = None if result is None else float(result.value[mover])
        note = "forced" if forced and not yours else ""
        if value is not None:
            note = value_text(value, session.state.game)
        position = session.state.to_text()
        self._print_move(self._draw_all(), mover, f"{session.ply:>4}", name, note, position)

    def _draw_all(self) -> list[Roll]:
        """Draw outcomes until a player decides or the game is over."""
        from aleazero.games.game_dice import roller_of

        drawn, state = [], self.session.state
        while (roller := roller_of(state)) is not None:
            drawn.append(Roll(roller, self.session.draw(), state.to_text()))
        return drawn

    def _print_move(
        self, drawn: list[Roll], mover: int | None = None, number: str = "", name: str = "", note: str = "",
        position: str = "",
    ) -> None:  # fmt: skip
        """Print a move, its value for the mover, and the outcomes drawn after it; one line per player that rolls.

        ``position`` is the position after the move and before the outcomes. Without a move there are only outcomes.
        """
        from rich.text import Text

        if self.silent:
            return
        lines = [(roller, list(rolls)) for roller, rolls in groupby(drawn, key=lambda roll: roll.roller)]
        if mover is not None and (not lines or lines[0][0] != mover):
            lines.insert(0, (mover, []))
        for player, rolls in lines:
            who = "you" if player == self.human else f"player {player}"
            if mover is None and self.session.state.game.num_players == 1:
                who = "chance"
            line = Text(f"{number:<5}")
            line.append(f"{who:<10}", "bold cyan" if who == "you" else "cyan")
            self._width = max(self._width, len(name))
            line.append(f"{name:<{self._width}} ", "bold")
            line.append(f"{note:>8}  ", "green")
            line.append(f"{' '.join(f'({roll.name})' for roll in rolls):<8} ", "magenta")
            line.append(rolls[-1].position if rolls else position, "dim")
            if self.console.is_terminal:
                self.console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
            else:
                self.console.print(line, soft_wrap=True)
            number = name = note = ""

    def _print(self, text: str, style: str = "") -> None:
        from rich.text import Text

        if not self.silent:
            self.console.print(Text(text, style), soft_wrap=True)

    def _read_play(self) -> list[int]:
        """Return the actions that the user types, or the only one at an empty line."""
        from aleazero.cli.show import print_result
        from aleazero.players.basic import read_play

        state = self.session.state
        self.console.print()
        self._print(str(state))
        legal = state.legal_actions()
        while True:
            self._print(self._prompt(), "bold")
            typed = self.console.input("> ").strip()
            if typed.casefold() in ("q", "quit"):
                raise Stopped
            if typed.casefold() in ("l", "list") and self._lists():
                self._print(self._list_plays())
                continue
            if typed in ("?", "help"):
                self._print(self._help(), "dim")
                try:
                    print_result(state, *self._hint(), self.console)
                except ConfigError as error:
                    self._print(str(error), "yellow")
                continue
            if not typed and len(legal) == 1:
                return legal
            try:
                return read_play(state, typed)
            except AleaZeroError as error:
                self._print(str(error) if typed else self._help(), "yellow")

    def _prompt(self) -> str:
        """Return the line above the input: the only action, an example, or the names of the actions."""
        from aleazero.games.kit import play_text
        from aleazero.players.basic import action_names, first_play

        state = self.session.state
        legal = state.legal_actions()
        if len(legal) == 1:
            return f"your only move is {state.action_to_string(legal[0])}: press Enter"
        if self._lists():
            return f"your move, e.g. {play_text(state, first_play(state))} (l lists all):"
        return f"your move ({action_names(state, legal)}):"

    def _lists(self) -> bool:
        """Return whether the user types complete plays of possibly several actions, which are listed on demand."""
        from aleazero.games.kit import kit_of

        return kit_of(self.session.state.game).parse_play is not None

    def _list_plays(self) -> str:
        from aleazero.evaluation.plays import plays_of
        from aleazero.games.kit import play_text

        state = self.session.state
        return ", ".join(play_text(state, play.actions) for play in plays_of(state))

    def _help(self) -> str:
        from aleazero.games.kit import kit_of
        from aleazero.players.basic import TYPED

        how = kit_of(self.session.state.game).typing_help or TYPED
        return f"{how}; ? for a hint, {'l for a list, ' * self._lists()}q to stop"

    def _hint(self) -> tuple[SearchResult, float]:
        import time

        started = time.perf_counter()
        result = self.session.hint(self.player)
        if result is None:
            raise ConfigError(f"{self.name} has no search to show, expected --opponent search or plan for a hint")
        return result, time.perf_counter() - started


def watch(
    context: typer.Context,
    file: Annotated[Path, argument("FILE", "Recorded games, written by `aleazero gate --replays`.")],
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
    from aleazero.evaluation.game_file import GameFile
    from aleazero.serving.session import recorded_steps

    refuse_ignored(context, {"delay": "--json prints all steps at once" if json else None})
    games = GameFile.read(file)
    if not 0 <= index < len(games.games):
        raise ConfigError(f"--index is {index}, expected 0 to {len(games.games) - 1}, the games of {file.name}")
    with blame_rules(games.game):
        loaded = load(games.game, games.params)
        if loaded.info.version != games.rules_version:
            raise ReplayError(
                f"{file.name}: got rules of version {games.rules_version}, expected {loaded.info.version} of {loaded!r}"
            )
        record = games.games[index]
        try:
            steps = list(recorded_steps(record, loaded))
        except ReplayError as error:
            raise ReplayError(f"{file.name}, game {index}, {error}") from None
    if json:
        print_json({
            "game": games.game, "params": games.params, "number": index, "pair": record.pair, "seed": record.seed,
            "players": list(record.players), "steps": steps, "returns": list(record.returns),
        })  # fmt: skip
        return
    _show_steps(record, loaded, steps, f"game {index} of {len(games.games)}", delay)


def _show_steps(record: RecordedGame, game: Game, steps: list[dict[str, Any]], which: str, delay: float) -> None:
    import time

    from rich.text import Text

    from aleazero.cli.show import make_console

    console = make_console()
    console.print(Text(f"{game!r}, {which}, pair {record.pair}, seed {record.seed}", style="bold"), soft_wrap=True)
    for seat, name in enumerate(record.players):
        console.print(Text(f"player {seat}: {name}", style="dim"), soft_wrap=True)
    for step in steps:
        if step["player"] is not None:
            who = "chance" if step["player"] < 0 else f"player {step['player']}"
            console.print(Text(f"\n{step['step']:>4}  {who}: {step['name']}", style="cyan"), soft_wrap=True)
            if delay:
                time.sleep(delay)
        console.print(Text(step["board"]), soft_wrap=True)
    returns = "   ".join(f"player {seat} {value:+g}" for seat, value in enumerate(record.returns))
    console.print(Text(f"\nthe game is over: {returns}", style="bold green"), soft_wrap=True)
