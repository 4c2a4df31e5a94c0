"""``aleazero play``: you against the search, or the search against itself."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated

import typer

from aleazero.cli.episode import HINTS, SEARCHES, Episode
from aleazero.cli.failure import rules_of
from aleazero.cli.options import (
    SEARCH,
    ChanceOption,
    EngineOption,
    EvaluationsOption,
    EvaluatorOption,
    ExplorationOption,
    GameArgument,
    MovesOption,
    ParamOption,
    PositionOption,
    SelectionOption,
    SimsOption,
)
from aleazero.errors import AleaZeroError, ConfigError, fields_named
from aleazero.players.words import TYPED

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.players.player import Player
    from aleazero.search.result import SearchResult

HELP = f"{TYPED}; ? for a hint, q to stop"


class Stopped(Exception):
    """The game ends before its end: the user wants to, or there is nobody left to ask."""


def play(
    game: GameArgument,
    player: Annotated[
        int | None, typer.Option("--player", metavar="P", help="Your seat: 0 moves first [default: 0].")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Watch the search play every seat.")] = False,
    position: PositionOption = None,
    moves: MovesOption = None,
    param: ParamOption = None,
    sims: SimsOption = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="T", help="Limit the time of each search; not repeatable.")
    ] = None,
    evaluations: EvaluationsOption = None,
    engine: EngineOption = None,
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

    The computer plays `--engine`. Without it the bundled champion of the game plays, which plans every turn exactly. If
    there is none, or if you give an option of a search (`--sims`, `--evaluator` and the like), `search:sims=2000`
    plays. Options apply where the text of the player sets nothing; an option without effect is an error.

    Type a move by its name or id, `?` to see what the search thinks, `q` to stop. The dice are drawn from a
    stream that no search can read, and depend only on the seed and on how often you rolled.

    **Examples**

    - `aleazero play pig --param target=50`

    - `aleazero play tic_tac_toe --player 1 --sims 500`

    - `aleazero play pig --watch --seed 7 --sims 5000`

    - `aleazero play pig --engine plan:horizon=turn --evaluator rollout:50`

    - `aleazero play yatzy --engine greedy`

    - `aleazero play 2048 --watch --json > game.json`
    """
    from aleazero.cli.searching import prepare
    from aleazero.cli.show import make_console, print_json
    from aleazero.cli.specs import OPTIONS, read_game, read_state, with_options
    from aleazero.games.luck import check_seed
    from aleazero.players.champions import champion_of
    from aleazero.players.make import EVALUATOR, make_player
    from aleazero.players.searching import SearchPlayer
    from aleazero.players.spec import parse_spec
    from aleazero.players.words import chance_name

    if json and not watch:
        raise ConfigError("--json is the record of a watched game, expected --watch beside it")
    if watch and player is not None:
        raise ConfigError(f"--player is {player}, which has no effect with --watch: the computer plays every seat")
    with rules_of(game):
        the_game = read_game(game, param)
    options = {"sims": sims, "evaluations": evaluations, "chance": chance, "evaluator": evaluator, "c": c,
               "selection": selection}  # fmt: skip
    searched = any(one is not None for one in (*options.values(), seconds, temperature))
    champion = champion_of(the_game) if engine is None and not searched else None
    if engine is None:
        budget = (sims, seconds, evaluations) != (None,) * 3
        engine = champion.engine if champion is not None else "search" if budget else SEARCH
    spec = with_options(parse_spec(engine, "--engine"), options)
    seed = secrets.randbits(32) if seed is None else seed
    check_seed(seed, "--seed")
    with rules_of(game):
        seat = 0 if player is None else player
        if not 0 <= seat < the_game.num_players:
            raise ConfigError(f"--player is {player}, expected a seat from 0 to {the_game.num_players - 1}")
        state = read_state(the_game, position, moves)
        state.require_running()
        given = {key: OPTIONS[key] for key, value in {**options, "max_seconds": seconds}.items() if value is not None}
        with fields_named(given):
            engine_player = make_player(spec, the_game, max_seconds=seconds)
        config = engine_player.config if isinstance(engine_player, SearchPlayer) else None
        if config is not None:
            prepare(the_game, state)
        elif temperature is not None:
            raise ConfigError(f"--temperature is {temperature}, which has no effect: {spec} does not search")
        episode = Episode(state, seed)
        table = Table(episode, engine_player, None if watch else seat, make_console(), str(spec), silent=json,
                      temperature=temperature or 0.0)  # fmt: skip
        if not json:
            who = f"{spec} plays" if champion is None else "the champion that ships plays (aleazero champions)"
            table.console.print(who, style="dim", soft_wrap=True, markup=False, highlight=False)
        complete = table.play()
    if json:
        evaluated = spec.settings.get("evaluator", EVALUATOR) if spec.kind in ("search", "plan") else None
        print_json({
            "game": the_game.name, "params": the_game.params, "seed": seed, "start": episode.start,
            "engine": str(spec), "simulations": None if config is None else config.num_simulations,
            "chance": chance_name(engine_player.chance) if isinstance(engine_player, SearchPlayer) else None,
            "evaluator": evaluated, "temperature": temperature or 0.0, "steps": episode.record, "complete": complete,
            "returns": state.returns(),
        })  # fmt: skip


class Table:
    """Where a game is played: it asks the seats in turn and prints each move with the luck that follows.

    ``name`` is the text of the player; ``temperature`` applies to the visits of its searches.
    """

    def __init__(
        self,
        episode: Episode,
        player: Player,
        human: int | None,
        console: Console,
        name: str = "",
        *,
        silent: bool = False,
        temperature: float = 0.0,
    ) -> None:
        self.episode, self.player, self.human, self.console = episode, player, human, console
        self.name, self.silent, self.temperature = name, silent, temperature

    def choose(self) -> tuple[int, SearchResult | None]:
        """The action that the player plays, and the search or plan behind it; a forced move costs nothing."""
        state, seed = self.episode.state, self.episode.player_seed(SEARCHES)
        legal = state.legal_actions()
        if len(legal) == 1:
            return legal[0], None
        result = self.player.explain(state, seed)
        if result is None:
            return self.player.select(state, seed), None
        if result.stopped == "interrupted":
            raise Stopped
        return result.sample_action(self.temperature), result

    def play(self) -> bool:
        """Play to the end; False where it was stopped before."""
        from aleazero.cli.show import outcome_of_game, print_position

        episode = self.episode
        if not self.silent:
            heading = f"{self.episode.state.game!r}, seed {episode.seed}"
            if self.human is None:
                print_position(episode.state, self.console, heading)
                self.console.print()
            else:
                self._say(heading, "bold")
                self._say(f"you are player {self.human}: {HELP}", "dim")
        try:
            self._say_luck("", "chance", self._draw_all())
            while not episode.state.is_terminal():
                self._take_turn()
        except (Stopped, KeyboardInterrupt, EOFError):
            self._say(f"\nstopped after {episode.ply} move{'' if episode.ply == 1 else 's'}", "yellow")
            return False
        if not self.silent:
            self.console.print()
            print_position(episode.state, self.console, repr(self.episode.state.game))
            self._say(outcome_of_game(episode.state), "bold green")
        return True

    def _take_turn(self) -> None:
        from aleazero.cli.show import value_text

        episode = self.episode
        mover = episode.state.current_player()
        yours = mover == self.human
        action, result = (self._ask(), None) if yours else self.choose()
        forced = len(episode.state.legal_actions()) == 1
        name = episode.act(action, result)
        value = None if result is None else float(result.value[mover])
        note = "forced" if forced and not yours else ""
        if value is not None:
            note = value_text(value, episode.state.game)
        who = "you" if yours else f"player {mover}"
        self._say_luck(f"{episode.ply:>4}", who, self._draw_all(), name, note)

    def _draw_all(self) -> list[str]:
        """Let chance move until somebody decides, or the game is over."""
        drawn = []
        while self.episode.state.is_chance_node():
            drawn.append(self.episode.draw())
        return drawn

    def _say_luck(self, number: str, who: str, drawn: list[str], name: str = "", note: str = "") -> None:
        """One line: the move, what it is worth to the mover, the luck that followed, and the position."""
        from rich.text import Text

        if self.silent or not (name or drawn):
            return
        line = Text(f"{number:<5}")
        line.append(f"{who:<10}", "bold cyan" if who == "you" else "cyan")
        line.append(f"{name:<8} ", "bold")
        line.append(f"{note:>8}  ", "green")
        line.append(f"{' '.join(f'({outcome})' for outcome in drawn):<8} ", "magenta")
        line.append(self.episode.state.to_text(), "dim")
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
        from aleazero.players.human import names_of, understood

        state = self.episode.state
        self.console.print()
        self._say(str(state))
        legal = state.legal_actions()
        while True:
            self._say(f"your move ({names_of(state, legal)}):", "bold")
            word = self.console.input("> ").strip()
            if word.casefold() in ("q", "quit"):
                raise Stopped
            if word in ("?", "help"):
                self._say(HELP, "dim")
                try:
                    print_result(state, *self._hint(), self.console)
                except ConfigError as error:
                    self._say(str(error), "yellow")
                continue
            if not word and len(legal) == 1:
                return legal[0]
            try:
                return understood(state, word)
            except AleaZeroError as error:
                self._say(str(error) if word else HELP, "yellow")

    def _hint(self) -> tuple[SearchResult, float]:
        import time

        started = time.perf_counter()
        result = self.player.explain(self.episode.state, self.episode.player_seed(HINTS))
        if result is None:
            raise ConfigError(f"{self.name} has no search to show, expected --engine search or plan for a hint")
        return result, time.perf_counter() - started
