"""``aleazero play`` and ``aleazero watch``: play against the computer, watch it play, and show recorded games."""

from __future__ import annotations

import secrets
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
    OpponentOption,
    ParamOption,
    PositionOption,
    SelectionOption,
    SimsOption,
    blame_rules,
    load,
    read_game,
    read_state,
    with_options,
)
from aleazero.errors import AleaZeroError, ConfigError, ReplayError, fields_named

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.game_file import RecordedGame
    from aleazero.games.base import Game
    from aleazero.players.player import Player
    from aleazero.search.result import SearchResult
    from aleazero.serving.session import Session


class Stopped(Exception):
    """The user stops the game before its end."""


def play(
    game: GameArgument,
    seat: Annotated[
        int | None, typer.Option("--seat", metavar="P", help="Your seat: 0 moves first [default: 0].")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Watch the computer play every seat.")] = False,
    position: PositionOption = None,
    moves: MovesOption = None,
    param: ParamOption = None,
    sims: SimsOption = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="T", help="Limit the time of each search; not repeatable.")
    ] = None,
    evaluations: EvaluationsOption = None,
    opponent: OpponentOption = None,
    chance: ChanceOption = None,
    evaluator: EvaluatorOption = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            metavar="T",
            help="For a player that searches: 0 plays the most visited action, 1 plays by visits [default: 0].",
            min=0,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="S", help="Seed of the dice [default: a new one, shown]; same seed, same dice."),
    ] = None,
    c: ExplorationOption = None,
    selection: SelectionOption = None,
    json: Annotated[bool, typer.Option("--json", help="With --watch: print the record of the game as JSON.")] = False,
) -> None:
    """Play against the computer, or watch it play.

    The computer plays `--opponent`. Without it the bundled champion of the game plays, which plans every turn exactly.
    If there is none, or if you give an option of a search (`--sims`, `--evaluator` and the like), `search:sims=2000`
    plays. Options apply if the player spec does not set them; an option without effect is an error.

    Type a move by its name or id, `?` to see what the search thinks, `q` to stop. The dice are drawn from a
    stream that no search can read, and depend only on the seed and on how often you rolled.

    **Examples**

    - `aleazero play pig --param target=50`

    - `aleazero play tic_tac_toe --seat 1 --sims 500`

    - `aleazero play pig --watch --seed 7 --sims 5000`

    - `aleazero play pig --opponent plan:horizon=turn --evaluator rollout:50`

    - `aleazero play yatzy --opponent greedy`

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
    champion = champion_of(the_game) if opponent is None and not searched else None
    if opponent is None:
        budget = (sims, seconds, evaluations) != (None,) * 3
        opponent = champion.engine if champion is not None else "search" if budget else SEARCH
    spec = with_options(parse_spec(opponent, "--opponent", kit_of(the_game).players), options)
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
            who = f"{spec} plays" if champion is None else "the champion that ships plays (aleazero champions)"
            terminal.console.print(who, style="dim", soft_wrap=True, markup=False, highlight=False)
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


class TerminalGame:
    """A session in a terminal: asks the person, lets the players choose, and prints each move with its dice.

    ``human`` is the person's seat, None to watch. ``player`` gives the hints; ``name`` is its spec.
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

    def play(self) -> bool:
        """Play to the end; False where it was stopped before."""
        from aleazero.cli.show import outcome_of_game, print_position

        session = self.session
        if not self.silent:
            heading = f"{session.state.game!r}, seed {session.seed}"
            if self.human is None:
                print_position(session.state, self.console, heading)
                self.console.print()
            else:
                self._say(heading, "bold")
                self._say(f"you are player {self.human}: {_help()}", "dim")
        try:
            self._say_move("", "chance", session.draw_all())
            while not session.state.is_terminal():
                self._take_turn()
        except (Stopped, KeyboardInterrupt, EOFError):
            self._say(f"\nstopped after {session.ply} move{'' if session.ply == 1 else 's'}", "yellow")
            return False
        if not self.silent:
            self.console.print()
            print_position(session.state, self.console, repr(session.state.game))
            self._say(outcome_of_game(session.state), "bold green")
        return True

    def _take_turn(self) -> None:
        from aleazero.cli.show import value_text

        session = self.session
        mover = session.state.current_player()
        yours = mover == self.human
        action, result = (self._ask(), None) if yours else session.choose()
        forced = len(session.state.legal_actions()) == 1
        name = session.act(action, result)
        value = None if result is None else float(result.value[mover])
        note = "forced" if forced and not yours else ""
        if value is not None:
            note = value_text(value, session.state.game)
        who = "you" if yours else f"player {mover}"
        self._say_move(f"{session.ply:>4}", who, session.draw_all(), name, note)

    def _say_move(self, number: str, who: str, drawn: list[str], name: str = "", note: str = "") -> None:
        """Print one line: the move, its value for the mover, the outcomes drawn after it, and the position."""
        from rich.text import Text

        if self.silent or not (name or drawn):
            return
        line = Text(f"{number:<5}")
        line.append(f"{who:<10}", "bold cyan" if who == "you" else "cyan")
        line.append(f"{name:<8} ", "bold")
        line.append(f"{note:>8}  ", "green")
        line.append(f"{' '.join(f'({outcome})' for outcome in drawn):<8} ", "magenta")
        line.append(self.session.state.to_text(), "dim")
        if self.console.is_terminal:
            self.console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        else:
            self.console.print(line, soft_wrap=True)

    def _say(self, text: str, style: str = "") -> None:
        from rich.text import Text

        if not self.silent:
            self.console.print(Text(text, style), soft_wrap=True)

    def _ask(self) -> int:
        """The human's move as typed, or the only one at an empty line."""
        from aleazero.cli.show import print_result
        from aleazero.players.basic import action_names, read_move

        state = self.session.state
        self.console.print()
        self._say(str(state))
        legal = state.legal_actions()
        while True:
            self._say(f"your move ({action_names(state, legal)}):", "bold")
            word = self.console.input("> ").strip()
            if word.casefold() in ("q", "quit"):
                raise Stopped
            if word in ("?", "help"):
                self._say(_help(), "dim")
                try:
                    print_result(state, *self._hint(), self.console)
                except ConfigError as error:
                    self._say(str(error), "yellow")
                continue
            if not word and len(legal) == 1:
                return legal[0]
            try:
                return read_move(state, word)
            except AleaZeroError as error:
                self._say(str(error) if word else _help(), "yellow")

    def _hint(self) -> tuple[SearchResult, float]:
        import time

        started = time.perf_counter()
        result = self.session.hint(self.player)
        if result is None:
            raise ConfigError(f"{self.name} has no search to show, expected --opponent search or plan for a hint")
        return result, time.perf_counter() - started


def _help() -> str:
    from aleazero.players.basic import TYPED

    return f"{TYPED}; ? for a hint, q to stop"


def watch(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Games, as `aleazero gate --replays` writes them.", show_default=False),
    ],
    game: Annotated[int, typer.Option("--game", metavar="N", help="Which game of the file, from 0.")] = 0,
    delay: Annotated[float, typer.Option("--delay", metavar="T", help="Seconds between steps.", min=0, max=60)] = 0.0,
    json: JsonFlag = False,
) -> None:
    """Show a played game step by step: who did what, the luck that came, and the board after it.

    Every step is checked against the rules. The game's rules are run: watch what you trust.

    **Examples**

    - `aleazero gate greedy random --game pig --replays games.json`, then `aleazero watch games.json`

    - `aleazero watch games.json --game 3 --delay 0.5`
    """
    from aleazero.cli.show import print_json
    from aleazero.evaluation.game_file import GameFile
    from aleazero.serving.session import recorded_steps

    games = GameFile.read(file)
    if not 0 <= game < len(games.games):
        raise ConfigError(f"--game is {game}, expected one of the {len(games.games)} games of {file.name}, from 0")
    with blame_rules(games.game):
        loaded = load(games.game, games.params)
        if loaded.info.version != games.rules_version:
            raise ReplayError(
                f"{file.name}: got rules of version {games.rules_version}, expected {loaded.info.version} of {loaded!r}"
            )
        record = games.games[game]
        try:
            told = list(recorded_steps(record, loaded))
        except ReplayError as error:
            raise ReplayError(f"{file.name}, game {game}, {error}") from None
    if json:
        print_json({
            "game": games.game, "params": games.params, "number": game, "pair": record.pair, "seed": record.seed,
            "players": list(record.players), "steps": told, "returns": list(record.returns),
        })  # fmt: skip
        return
    _show(record, loaded, told, f"game {game} of {len(games.games)}", delay)


def _show(record: RecordedGame, game: Game, told: list[dict[str, Any]], which: str, delay: float) -> None:
    import time

    from rich.text import Text

    from aleazero.cli.show import make_console

    console = make_console()
    console.print(Text(f"{game!r}, {which}, pair {record.pair}, seed {record.seed}", style="bold"), soft_wrap=True)
    for seat, name in enumerate(record.players):
        console.print(Text(f"player {seat}: {name}", style="dim"), soft_wrap=True)
    for step in told:
        if step["player"] is not None:
            who = "chance" if step["player"] < 0 else f"player {step['player']}"
            console.print(Text(f"\n{step['step']:>4}  {who}: {step['name']}", style="cyan"), soft_wrap=True)
            if delay:
                time.sleep(delay)
        console.print(Text(step["board"]), soft_wrap=True)
    returns = "   ".join(f"player {seat} {value:+g}" for seat, value in enumerate(record.returns))
    console.print(Text(f"\nthe game is over: {returns}", style="bold green"), soft_wrap=True)
