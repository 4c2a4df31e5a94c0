"""``aleazero play``: you against the search, or the search against itself."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.episode import HINTS, SEARCHES, Episode
from aleazero.cli.failure import rules_of
from aleazero.cli.options import (
    ChanceOption,
    EngineOption,
    EvaluatorOption,
    ExplorationOption,
    GameArgument,
    MovesOption,
    ParamOption,
    PositionOption,
    SelectionOption,
)
from aleazero.errors import AleaZeroError, ConfigError, PositionError
from aleazero.players.words import TYPED

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.games.base import Game, State
    from aleazero.players.spec import PlayerSpec
    from aleazero.search.config import SearchConfig
    from aleazero.search.plan import Plan
    from aleazero.search.result import SearchResult

SIMULATIONS = 2000
SEARCHED = ("closed", "rollout", 0.0)
"""How a search treats chance, values leaves and picks its move where nothing is said."""
HELP = f"{TYPED}; ? for a hint, q to stop"


class Stopped(Exception):
    """The game ends before its end: the user wants to, or there is nobody left to ask."""


@dataclass
class SearchPlayer:
    """A player that searches anew at each decision; a forced move costs nothing."""

    game: Game
    evaluator: Any
    config: SearchConfig
    temperature: float

    def choose(self, episode: Episode) -> tuple[int, SearchResult | None]:
        """The action to play and the search behind it."""
        legal = episode.state.legal_actions()
        if len(legal) == 1:
            return legal[0], None
        result = self.search(episode, SEARCHES)
        if result.stopped == "interrupted":
            raise Stopped
        return result.sample_action(self.temperature), result

    def search(self, episode: Episode, stream: int) -> SearchResult:
        """Search the position with a seed of this ply and stream."""
        from aleazero.search.search import Search

        config = self.config.model_copy(update={"seed": episode.search_seed(stream)})
        return Search(self.game, self.evaluator, config).run(episode.state)


class PlanPlayer(SearchPlayer):
    """A player that plans exactly; one plan serves all decisions of a turn."""

    def __init__(self, game: Game, evaluator: Any, config: SearchConfig, settings: dict[str, Any]) -> None:
        from aleazero.search.planner import Planner

        super().__init__(game, evaluator, config, 0.0)
        Planner(game, evaluator, **settings)  # complain, and compile, before the game begins
        self._settings = settings
        self._plan: Plan | None = None

    def search(self, episode: Episode, stream: int) -> SearchResult:
        """What the turn's plan says of the position; a new plan where there is none."""
        from aleazero.search.planner import Planner

        if self._plan is None or not self._covers(self._plan, episode.state):
            planner = Planner(self.game, self.evaluator, **self._settings, seed=episode.search_seed(stream))
            self._plan = planner.plan(episode.state.clone())
        return self._plan.result(episode.state)

    def _covers(self, plan: Plan, state: State) -> bool:
        """Whether the plan sees as far from a state as a new one would."""
        if "plies" in self._settings:
            return False
        try:
            plan.action(state)
        except PositionError:
            return False
        return True


class WordlessPlayer(SearchPlayer):
    """A player with nothing to show for its moves: ``random``, ``greedy``, ``oracle``, ``human`` or ``net``."""

    def __init__(self, game: Game, engine: str, config: SearchConfig) -> None:
        from aleazero.players.make import make_player

        super().__init__(game, None, config, 0.0)
        self._engine, self._player = engine, make_player(engine, game)

    def choose(self, episode: Episode) -> tuple[int, SearchResult | None]:
        """The action to play."""
        return self._player.select(episode.state, episode.search_seed(SEARCHES)), None

    def search(self, episode: Episode, stream: int) -> SearchResult:
        """There is none to show."""
        raise ConfigError(f"{self._engine} has no search to show, expected --engine search or plan for a hint")


def play(
    game: GameArgument,
    player: Annotated[int, typer.Option("--player", metavar="P", help="Your seat: 0 moves first.")] = 0,
    watch: Annotated[bool, typer.Option("--watch", help="Watch the search play every seat.")] = False,
    position: PositionOption = None,
    moves: MovesOption = None,
    param: ParamOption = None,
    sims: Annotated[
        int | None, typer.Option("--sims", metavar="N", help=f"Simulations a move [default: {SIMULATIONS}].")
    ] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", metavar="T", help="Time a move instead.")] = None,
    engine: EngineOption = None,
    chance: ChanceOption = SEARCHED[0],
    evaluator: EvaluatorOption = SEARCHED[1],
    temperature: Annotated[
        float, typer.Option("--temperature", metavar="T", help="0 plays the most visited; 1 plays by visits.", min=0)
    ] = SEARCHED[2],
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="S", help="Seed of the dice [default: a new one, shown]; same seed, same dice."),
    ] = None,
    c: ExplorationOption = None,
    selection: SelectionOption = None,
    json: Annotated[bool, typer.Option("--json", help="With --watch: print the record of the game as JSON.")] = False,
) -> None:
    """Play against the computer, or watch it play.

    Where a trained network ships for the game, the champion, it plays, and plans every turn exactly. Else, and
    whenever you ask for something of a search (`--sims`, `--evaluator` and the like), a search plays.

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
    from aleazero.cli.specs import read_config, read_evaluator, read_game, read_state
    from aleazero.players.champions import champion_of
    from aleazero.players.spec import parse_spec

    if json and not watch:
        raise ConfigError("--json is the record of a watched game, expected --watch beside it")
    with rules_of(game):
        the_game = read_game(game, param)
    searches = (sims, seconds, c, selection) != (None,) * 4 or (chance, evaluator, temperature) != SEARCHED
    champion = champion_of(the_game) if engine is None and not searches else None
    if engine is None:
        engine = "search" if champion is None else champion.engine
    spec = parse_spec(engine, "--engine")
    if spec.kind == "net" and sims is not None:
        raise ConfigError(f"--sims is {sims}, expected it in the engine's own text: net:PATH,sims={sims}")
    # What the engine's text sets goes before the options; a network's settings are its own.
    own = {} if spec.kind == "net" else dict(spec.settings)
    evaluator, chance, sims = (own.pop(name, otherwise) for name, otherwise in
                               (("evaluator", evaluator), ("chance", chance), ("sims", sims)))  # fmt: skip
    read_evaluator(evaluator)
    config = read_config(
        chance, sims=sims, otherwise=SIMULATIONS, c=own.pop("c", c), selection=own.pop("selection", selection),
        max_seconds=seconds, max_evaluations=own.pop("evaluations", None),
    )  # fmt: skip
    seed = secrets.randbits(32) if seed is None else seed
    with rules_of(game):
        if not 0 <= player < the_game.num_players:
            raise ConfigError(f"--player is {player}, expected a seat from 0 to {the_game.num_players - 1}")
        state = read_state(the_game, position, moves)
        state.require_running()
        searcher: SearchPlayer
        if spec.kind == "search":
            prepare(the_game, state)
            leaves = read_evaluator(evaluator, the_game, own.pop("prior_temperature", None))
            searcher = SearchPlayer(the_game, leaves, config, temperature)
        elif spec.kind == "net" and (net := value_net(spec, the_game)) is not None:
            searcher = PlanPlayer(the_game, net, config, net.horizon())
        elif spec.kind == "plan":
            searcher = PlanPlayer(the_game, read_evaluator(evaluator, the_game), config, own)
        else:
            searcher = WordlessPlayer(the_game, engine, config)
        episode = Episode(state, seed)
        table = Table(episode, searcher, None if watch else player, make_console(), silent=json)
        if champion is not None and not json:
            table.console.print("the champion that ships plays (aleazero champions)", style="dim", soft_wrap=True)
        complete = table.play()
    if json:
        print_json({
            "game": the_game.name, "params": the_game.params, "seed": seed, "start": episode.start,
            "engine": engine, "simulations": config.num_simulations, "chance": chance, "evaluator": evaluator,
            "temperature": temperature, "steps": episode.record, "complete": complete, "returns": state.returns(),
        })  # fmt: skip


def value_net(spec: PlayerSpec, game: Game) -> Any:
    """The network of a player that plans over it, and so can tell what it thinks; None for other players."""
    from aleazero.nets.planned import PlannedNet
    from aleazero.players.net import read_any_net

    net = read_any_net(spec.settings["path"], game) if set(spec.settings) == {"path"} else None
    return net if isinstance(net, PlannedNet) else None


class Table:
    """Where a game is played: it asks the seats in turn and prints each move with the luck that follows."""

    def __init__(
        self, episode: Episode, searcher: SearchPlayer, human: int | None, console: Console, silent: bool = False
    ) -> None:
        self.episode, self.searcher, self.human, self.console = episode, searcher, human, console
        self.silent = silent

    def play(self) -> bool:
        """Play to the end; False where it was stopped before."""
        from aleazero.cli.show import outcome_of_game, print_position

        episode = self.episode
        if not self.silent:
            heading = f"{self.searcher.game!r}, seed {episode.seed}"
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
            print_position(episode.state, self.console, repr(self.searcher.game))
            self._say(outcome_of_game(episode.state), "bold green")
        return True

    def _take_turn(self) -> None:
        from aleazero.cli.show import value_text

        episode = self.episode
        mover = episode.state.current_player()
        yours = mover == self.human
        action, result = (self._ask(), None) if yours else self.searcher.choose(episode)
        forced = len(episode.state.legal_actions()) == 1
        name = episode.act(action, result)
        value = None if result is None else float(result.value[mover])
        note = value_text(value, self.searcher.game) if value is not None else "forced" if forced and not yours else ""
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
        result = self.searcher.search(self.episode, HINTS)
        return result, time.perf_counter() - started
