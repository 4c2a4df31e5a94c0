"""A session in a terminal: prompts, commands such as undo and save, and one line per move with its dice."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aleazero.errors import AleaZeroError, ConfigError, count_text

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.players.player import Player
    from aleazero.search.result import SearchResult
    from aleazero.serving.judgement import Judge
    from aleazero.serving.session import Session


class Roll(NamedTuple):
    """An outcome of the dice in a played game."""

    roller: int
    name: str
    position: str
    """The position after it."""


class Stopped(Exception):
    """Raised if the user stops the game."""


class TerminalGame:
    """A session in a terminal: reads the users' moves, lets the players move, and prints each move with its dice.

    Args:
        session: the game in progress; persons type the moves of seats without a player.
        player: gives the hints; None if there are none.
        console: prints the game.
        name: spec of ``player``.
        silent: print nothing.
        save: file that the session is written to after every move; None for no file.
        opened: file that the session was read from; the command ``save`` without a name writes to it.
    """

    def __init__(
        self,
        session: Session,
        player: Player | None,
        console: Console,
        name: str = "",
        *,
        silent: bool = False,
        save: Path | None = None,
        opened: Path | None = None,
    ) -> None:
        self.session, self.player, self.console, self.name, self.silent = session, player, console, name, silent
        self.persons = [seat for seat in range(session.game.num_players) if seat not in session.players]
        self.you = self.persons[0] if len(self.persons) == 1 else None
        """Seat of the user; None if there is not exactly one."""
        self._autosave, self._file = save, save or opened
        self._own = {file.resolve() for file in (save, opened) if file is not None}
        """Files that the command ``save`` may replace."""
        self._saved = None if opened is None else session.steps
        """Steps in the saved file; None if there is none."""
        self._judge: Judge | None = None
        """Judge of the reviews, made for the first one."""
        self._rest: list[int] = []
        """Further actions of the play that a user typed."""
        self._width = 8
        """Width of the names of actions."""

    def play(self) -> bool:
        """Play to the end; return False if the user stops the game."""
        from aleazero.cli.show import outcome_of_game, print_position
        from aleazero.files import remove_leftovers

        session = self.session
        if not self.silent:
            heading = f"{session.game!r}, seed {session.seed}"
            if not self.persons:
                print_position(session.state, self.console, heading)
                self.console.print()
            else:
                self._print(heading, "bold")
                whose = f"you are player {self.you}" if self.you is not None else "the players share this terminal"
                self._print(f"{whose}: {self._help()}", "dim")
        if self._autosave is not None:
            remove_leftovers(self._autosave)
            self._write(self._autosave)
        try:
            while not session.state.is_terminal():
                if session.state.is_chance_node():
                    self._print_move(self._draw_all())
                    self._save()
                else:
                    self._take_turn()
                if session.state.is_terminal() and not self.silent:
                    self.console.print()
                    print_position(session.state, self.console, repr(session.game))
                    self._print(outcome_of_game(session.state, self.you), "bold green")
                    self._read_commands()
        except (Stopped, KeyboardInterrupt, EOFError):
            self._print(f"\nstopped after {count_text(session.ply, 'move')}{self._kept()}", "yellow")
            return False
        return True

    # -- moves ---------------------------------------------------------------------------------------------------------

    def _take_turn(self) -> None:
        """Play one action of the player to move, or a command that changes the position."""
        from aleazero.cli.show import value_text

        session = self.session
        mover = session.state.current_player()
        typed = mover in self.persons
        if typed and not self._rest:
            self._rest = self._read_play()
            if not self._rest:
                self._save()
                return
        action, result = (self._rest.pop(0), None) if typed else session.choose()
        forced = len(session.state.legal_actions()) == 1
        name = session.act(action, result)
        value = None if result is None else float(result.value[mover])
        note = "forced" if forced and not typed else ""
        if value is not None:
            note = value_text(value, session.game)
        position = session.state.to_text()
        number = f"{session.ply:>4}"
        self._print_move(self._draw_all(), mover, number, name, note, position)
        self._save()

    def _draw_all(self) -> list[Roll]:
        """Draw outcomes until a player decides or the game is over."""
        from aleazero.games.game_dice import roller_of

        drawn, session = [], self.session
        while (roller := roller_of(session.state)) is not None:
            drawn.append(Roll(roller, session.draw(), session.state.to_text()))
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
            who = "you" if player == self.you else f"player {player}"
            if mover is None and self.session.game.num_players == 1:
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

    # -- input ---------------------------------------------------------------------------------------------------------

    def _read_play(self) -> list[int]:
        """Return the actions that the user types, or the only one at an empty line; [] if a command moved instead."""
        from aleazero.players.basic import read_play

        state = self.session.state
        self.console.print()
        self._print(str(state))
        legal = state.legal_actions()
        names = {state.action_to_string(action).casefold() for action in legal}
        while True:
            self._print(self._prompt(), "bold")
            typed = self.console.input("> ").strip()
            if typed.casefold() not in names:  # an action may have the name of a command
                moved = self._run_command(typed)
                if moved is not None:
                    if moved:
                        return []
                    continue
            if not typed and len(legal) == 1:
                return legal
            try:
                return read_play(state, typed)
            except AleaZeroError as error:
                self._print(str(error) if typed else self._help(), "yellow")

    def _read_commands(self) -> None:
        """Run the commands that the user types after the end of the game, until one takes back a move."""
        while self.persons:
            self._print("r to review the game, u to take back, save FILE, Enter to stop", "dim")
            try:
                typed = self.console.input("> ").strip()
                if not typed or self._run_command(typed):
                    return
            except (Stopped, KeyboardInterrupt, EOFError):
                return

    def _run_command(self, typed: str) -> bool | None:
        """Run a command; return whether the position changed, or None if the text is not a command."""
        word, _, rest = typed.partition(" ")
        word, rest = word.casefold(), rest.strip()
        if word == "save":
            self._save_to(rest)
            return False
        if rest:
            return None
        if word in ("q", "quit"):
            raise Stopped
        if word in ("l", "list") and self._lists() and not self.session.state.is_terminal():
            self._print(self._list_plays())
            return False
        if word in ("?", "help") and not self.session.state.is_terminal():
            self._print(self._help(), "dim")
            self._show_hint()
            return False
        if word in ("r", "review"):
            self._review()
            return False
        if word in ("u", "undo", "redo"):
            return self._go(back=word != "redo")
        return None

    def _go(self, back: bool) -> bool:
        """Take back moves up to the last decision of a person, or play them again; return whether there are any."""
        session = self.session
        move = session.undo_decision if back else session.redo_decision
        steps = move(self.persons, complete_plays=self._lists())
        if not steps:
            self._print("there is no move of yours to take back" if back else "there is nothing to redo", "yellow")
            return False
        self._rest = []
        done = "taken back" if back else "played again"
        self._print(f"{count_text(len(steps), 'step')} {done}, now after {count_text(session.ply, 'move')}", "yellow")
        return True

    def _prompt(self) -> str:
        """Return the line above the input: the only action, an example, or the names of the actions."""
        from aleazero.games.kit import play_text
        from aleazero.players.basic import action_names, first_play

        state = self.session.state
        legal = state.legal_actions()
        who = "" if self.you is not None else f"player {state.current_player()}, "
        if len(legal) == 1:
            return f"{who}your only move is {state.action_to_string(legal[0])}: press Enter"
        if self._lists():
            return f"{who}your move, e.g. {play_text(state, first_play(state))} (l lists all):"
        return f"{who}your move ({action_names(state, legal)}):"

    def _lists(self) -> bool:
        """Return whether the user types complete plays of possibly several actions, which are listed on demand."""
        from aleazero.games.kit import kit_of

        return kit_of(self.session.game).parse_play is not None

    def _list_plays(self) -> str:
        from aleazero.evaluation.plays import plays_of
        from aleazero.games.kit import play_text

        state = self.session.state
        return ", ".join(play_text(state, play.actions) for play in plays_of(state))

    def _help(self) -> str:
        from aleazero.games.kit import kit_of
        from aleazero.players.basic import TYPED

        how = kit_of(self.session.game).typing_help or TYPED
        more = "u to take back, redo, r to review, save FILE, q to stop"
        return f"{how}; ? for a hint, {'l for a list, ' * self._lists()}{more}"

    def _show_hint(self) -> None:
        from aleazero.cli.show import print_result

        try:
            print_result(self.session.state, *self._hint(), self.console)
        except AleaZeroError as error:
            self._print(str(error), "yellow")

    def _hint(self) -> tuple[SearchResult, float]:
        import time

        started = time.perf_counter()
        result = None if self.player is None else self.session.hint(self.player)
        if result is None:
            raise ConfigError(f"{self.name} has no search to show, expected --opponent search or plan for a hint")
        return result, time.perf_counter() - started

    def _review(self) -> None:
        """Print the worst decisions and the totals of the game so far."""
        from aleazero.cli.options import cores
        from aleazero.cli.progress import progress_bar
        from aleazero.cli.show_review import print_summary
        from aleazero.serving.judge import make_judge
        from aleazero.serving.review import review_game
        from aleazero.serving.session_file import studied

        if not self.session.steps:
            self._print("there is no move to review", "yellow")
            return
        try:
            self._judge = self._judge or make_judge(self.session.game, threads=cores())
            with progress_bar("judging", "steps") as show:
                review = review_game(studied(self.session), self._judge, progress=lambda done, of: show(done, of))
        except KeyboardInterrupt:
            self._print("the review was stopped", "yellow")
            return
        except AleaZeroError as error:  # e.g. a plan with too many states
            self._print(f"the game cannot be reviewed: {error}", "yellow")
            return
        print_summary(review, self.console)

    # -- files ---------------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        """Write the session to the file of ``--save``, if there is one; an error does not end the game."""
        if self._autosave is None:
            return
        try:
            self._write(self._autosave)
        except ConfigError as error:
            self._print(str(error), "yellow")

    def _save_to(self, name: str) -> None:
        """Write the session to a new file, or again to a file of this game."""
        try:
            file = Path(name).expanduser() if name else self._file
            if file is None:
                self._print("save has no file, expected save FILE", "yellow")
                return
            require_new(file, "save", self._own)
            self._write(file)
        except (ConfigError, RuntimeError) as error:  # RuntimeError: no such user in ~user
            self._print(str(error), "yellow")
            return
        self._file = file
        self._own.add(file.resolve())
        self._print(f"saved to {file}", "green")

    def _write(self, file: Path) -> None:
        from aleazero.serving.session_file import write_session

        write_session(self.session, file)
        self._saved = self.session.steps

    def _kept(self) -> str:
        """Return where a stopped game is saved."""
        import shlex

        if self._file is None:
            return ""
        if self._saved == self.session.steps:
            return f", saved: continue with `aleazero play --load {shlex.quote(str(self._file))}`"
        return f", not saved: {self._file} has another position"


def require_new(file: Path, what: str, own: set[Path]) -> None:
    """Raise a ConfigError if a session cannot be written to a file, or would replace a file that is not its own."""
    from aleazero.untrusted import path_exists

    try:
        is_own, fits = file.resolve() in own, path_exists(file.parent) and file.parent.is_dir() and not file.is_dir()
        exists = fits and file.is_file()
    except (OSError, RuntimeError, ValueError):  # too long, a loop of symbolic links, a NUL character
        is_own = fits = exists = False
    if is_own:
        return
    if not fits:
        raise ConfigError(f"{what} is {str(file)!r}, expected a file in a folder that exists")
    if exists:
        raise ConfigError(f"{what} is {str(file)!r}, which exists, expected a new file or the one of --load")
