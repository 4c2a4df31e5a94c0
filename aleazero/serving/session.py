"""A game being played or studied, without a user interface: position, seats, dice, history with undo and redo, JSON.

The dice of the game are derived from (seed, viewer, number of rolls of this viewer). The random numbers of players are
derived separately, from seat and position, so no search can foresee a roll. The history lists every action and outcome
since ``start``, so a session can be rebuilt from it. Taking back a roll also takes back its count: the same roll
follows again, and dice after another action are those that this action would have had.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError, IllegalActionError, ReplayError, count_text
from aleazero.games.base import CHANCE_PLAYER, Game, State
from aleazero.games.game_dice import played_outcome
from aleazero.games.kit import kit_of
from aleazero.games.registry import parse_game_text
from aleazero.native.random import HINTS, PLAYED_SEARCHES, check_seed, stream_key
from aleazero.players.player import Player
from aleazero.players.spec import PlayerSpec, parse_spec
from aleazero.search.result import SearchResult
from aleazero.serving.steps import (
    FORMAT,
    KIND,
    LoadGame,
    Step,
    checked_step,
    load_recorded,
    possible_child,
    read_fields,
)

PERSON: Final = "human"
"""Text of a seat whose actions a person plays."""
CHAMPION: Final = "champion"
"""Text of a seat that the bundled network of the game plays."""


class Session:
    """A game being played or studied.

    Args:
        state: the position to start from, which is copied.
        seed: seed of the dice and of the players' searches.
        players: the player of each seat; for a seat without player the caller plays the actions with ``act``.
        temperature: 0 selects the most visited action of a search, 1 samples in proportion to the visits.
        seats: text of each seat: a player spec, or ``human`` for a person; None for persons in all seats. The texts are
            stored with the session. ``players`` alone decides which seats ``choose`` can move for.
        names: name of the player at each seat, for people; None to use the texts of the seats.
        source: text that ``load_game`` accepts, e.g. the file of a user's game; None for the name of the game.
        seconds: time limit of each search of the players, which is stored with the session; None for no limit.

    Raises:
        ConfigError: if a seat does not exist, or the number of seats, the seed or the temperature is invalid.
    """

    def __init__(
        self,
        state: State,
        seed: int,
        players: Mapping[int, Player] | None = None,
        *,
        temperature: float = 0.0,
        seats: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        source: str | None = None,
        seconds: float | None = None,
    ) -> None:
        game = state.game
        for seat in players or {}:
            if not 0 <= seat < game.num_players:
                raise ConfigError(f"seat is {seat}, expected one from 0 to {game.num_players - 1}")
        for what, texts in (("seats", seats), ("names", names)):
            if texts is not None and len(texts) != game.num_players:
                raise ConfigError(f"has {count_text(len(texts), 'text')}, expected {game.num_players}", field=what)
        check_seed(seed)
        for what, number in (("temperature", temperature), ("seconds", seconds or 0.0)):
            if not (math.isfinite(number) and number >= 0):
                raise ConfigError(f"is {number}, expected at least 0", field=what)
        self.seconds = seconds
        self.state, self.seed, self.players, self.temperature = state.clone(), seed, dict(players or {}), temperature
        self.seats = (PERSON,) * game.num_players if seats is None else tuple(seats)
        self.names = self.seats if names is None else tuple(names)
        self.source = parse_game_text(game.name if source is None else source)[0]
        self.start = state.to_text()
        self.history: list[dict[str, Any]] = []
        """Every action and outcome since ``start``."""
        self.undone: list[dict[str, Any]] = []
        """Steps that were taken back, the last one first. The next action or outcome that differs deletes them."""
        self._before: list[State] = []
        """The state before each step of ``history``."""
        self._rolls: dict[int, int] = {}
        """Number of rolls so far, by viewer."""

    @property
    def game(self) -> Game:
        """The game."""
        return self.state.game

    @property
    def ply(self) -> int:
        """Number of decisions so far."""
        return sum(step["kind"] == "decision" for step in self.history)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All actions and outcomes since ``start``."""
        return tuple(_step_of(entry) for entry in self.history)

    def set_seats(self, seats: Sequence[str], players: Mapping[int, Player]) -> None:
        """Replace the texts and the players of all seats; a seat with a name of its own keeps the name."""
        old = zip(self.names, self.seats, seats, strict=True)
        self.names = tuple(new if name == text else name for name, text, new in old)
        self.seats, self.players = tuple(seats), dict(players)

    def start_state(self) -> State:
        """Return a copy of the position at the start."""
        return (self._before[0] if self._before else self.state).clone()

    # -- playing -------------------------------------------------------------------------------------------------------

    def draw(self) -> str:
        """Draw one outcome at a chance node; return its name."""
        outcome = played_outcome(self.state, self.seed, self._rolls.get(self.state.viewer(), 0))
        return self._roll(outcome, self.state.child(outcome))

    def draw_all(self) -> list[str]:
        """Draw outcomes until a player decides or the game is over; return their names."""
        drawn = []
        while self.state.is_chance_node():
            drawn.append(self.draw())
        return drawn

    def act(self, action: int, result: SearchResult | None = None) -> str:
        """Play an action of the player to move, with the search or plan that chose it; return its name.

        Raises:
            IllegalActionError: the action is illegal, the game is over, or chance moves here; nothing changes.
        """
        if self.state.is_chance_node():
            raise IllegalActionError(f"{self.game.name}: chance moves here, got action {action}, expected a roll")
        return self._act(action, self.state.child(action), result)

    def set_outcome(self, outcome: int) -> str:
        """Enter the outcome of a chance node, e.g. dice rolled at a table, in place of drawing it; return its name.

        Raises:
            IllegalActionError: the outcome is impossible, or this is not a chance node; nothing changes.
            PositionError: the outcomes are too many to list, and this one leads to an impossible position.
        """
        if not self.state.is_chance_node():
            raise IllegalActionError(f"{self.game.name}: got outcome {outcome}, expected it at a chance node")
        return self._roll(outcome, possible_child(self.state, outcome))

    def choose(self) -> tuple[int, SearchResult | None]:
        """Let the player to move select an action; return it with the search or plan that selected it.

        Raises:
            KeyboardInterrupt: if Ctrl-C interrupts the search.
        """
        state, player = self.state, self.players[self.state.current_player()]
        legal = state.legal_actions()
        if len(legal) == 1:
            return legal[0], None
        seed = self._player_seed(PLAYED_SEARCHES)
        result = player.explain(state, seed)
        if result is None:
            return player.select(state, seed), None
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        return result.sample_action(self.temperature), result

    def hint(self, player: Player) -> SearchResult | None:
        """Return the search or plan of a player in this position; None if the player does neither."""
        return player.explain(self.state, self._player_seed(HINTS))

    # -- history -------------------------------------------------------------------------------------------------------

    def undo(self) -> Step | None:
        """Take back the last action or outcome; return it, or None at the start."""
        if not self.history:
            return None
        entry = self.history.pop()
        self.undone.append(entry)
        self.state = self._before.pop()
        if entry["kind"] == "chance":
            self._rolls[entry["viewer"]] -= 1
        return _step_of(entry)

    def redo(self) -> Step | None:
        """Play the last step that was taken back again; return it, or None if there is none."""
        if not self.undone:
            return None
        entry = self.undone[-1]
        self._record(self.state.child(_step_of(entry)[1]), entry)
        return _step_of(entry)

    def undo_decision(self, players: Collection[int] | None = None, *, complete_plays: bool = False) -> list[Step]:
        """Take back the last decision and all that followed; the position is then the one of this decision.

        Args:
            players: players whose decisions count; None for all.
            complete_plays: take back all actions since the last roll or the other player's action, e.g. a complete
                move in backgammon.

        Returns:
            The steps, the last one first; nothing changes and the list is empty if there is no such decision.
        """
        index = len(self.history) - 1
        while index >= 0 and not self._decides(index, players):
            index -= 1
        if complete_plays:
            while index > 0 and _step_of(self.history[index - 1])[0] == _step_of(self.history[index])[0]:
                index -= 1
        return [step for _ in range(len(self.history) - index) if (step := self.undo())] if index >= 0 else []

    def redo_decision(self, players: Collection[int] | None = None, *, complete_plays: bool = False) -> list[Step]:
        """Play steps again up to the next decision of one of these players; return them. Reverses ``undo_decision``."""
        done: list[Step] = []
        while (step := self.redo()) is not None:
            done.append(step)
            mover = self.state.current_player()
            if mover < 0 or (players is not None and mover not in players):
                continue
            if not (complete_plays and step[0] == mover and self.undone):
                break
        return done

    def _decides(self, index: int, players: Collection[int] | None) -> bool:
        player = _step_of(self.history[index])[0]
        return player != CHANCE_PLAYER and (players is None or player in players)

    def _act(self, action: int, after: State, result: SearchResult | None = None) -> str:
        name = self.state.action_to_string(action)
        self._record(after, {
            "kind": "decision", "player": self.state.current_player(), "action": action, "name": name,
            "value": None if result is None else [float(value) for value in result.value],
            "simulations": 0 if result is None else result.stats.simulations, "position": after.to_text(),
        })  # fmt: skip
        return name

    def _roll(self, outcome: int, after: State) -> str:
        viewer, name = self.state.viewer(), self.state.action_to_string(outcome)
        self._record(after, {
            "kind": "chance", "viewer": viewer, "count": self._rolls.get(viewer, 0), "outcome": outcome, "name": name,
            "position": after.to_text(),
        })  # fmt: skip
        return name

    def _record(self, after: State, entry: dict[str, Any]) -> None:
        if self.undone and _step_of(self.undone[-1]) == _step_of(entry):
            self.undone.pop()
        else:
            self.undone.clear()
        if entry["kind"] == "chance":
            self._rolls[entry["viewer"]] = entry["count"] + 1
        self._before.append(self.state)
        self.history.append(entry)
        self.state = after

    def _player_seed(self, stream: int) -> int:
        """Return the seed of the player to move, from which it derives one per position."""
        return stream_key(stream, self.seed, self.state.current_player())

    # -- JSON ----------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the session as JSON data, which ``from_dict`` reads. Searches and their values are left out."""
        return {
            "kind": KIND, "format": FORMAT, "game": self.source, "params": self.game.json_params(ReplayError),
            "rules_version": self.game.info.version, "seed": int(self.seed), "start": self.start,
            "steps": [list(step) for step in self.steps],
            "redo": [list(_step_of(entry)) for entry in reversed(self.undone)],
            "seats": list(self.seats), "names": list(self.names), "temperature": self.temperature,
            "seconds": self.seconds,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Any, *, load: LoadGame | None = None, what: str = "the session") -> Session:
        """Read a session and check all its steps against the rules.

        Args:
            data: JSON data, as ``to_dict`` returns it.
            load: loads the game from its text and parameters; default: ``load_game``, which runs a file that the text
                names. A server passes a function that allows its own games only.
            what: name of the data in error messages, e.g. that of a file.

        Returns:
            The session, without players: ``make_players`` makes those of its seats.

        Raises:
            ReplayError: the data is damaged, has another format, or a step is illegal. The message names the step and
                what was legal.
            GameError: the game cannot be loaded.
        """
        fields = read_fields(data, what)
        game = load_recorded(fields["game"], fields["params"], fields["rules_version"], what, load)
        try:
            state = game.state_from_text(fields["start"])
            session = cls(
                state, fields["seed"], temperature=float(fields["temperature"]), seats=fields["seats"],
                names=fields["names"], source=fields["game"], seconds=fields["seconds"],
            )  # fmt: skip
        except AleaZeroError as error:
            raise ReplayError(f"{what}: {error}") from None
        except Exception as error:  # the rules of a user's game may raise anything
            raise ReplayError(f"{what}: the rules raised {type(error).__name__}: {error}") from error
        steps = [*fields["steps"], *fields["redo"]]
        for number, (player, action) in enumerate(steps, 1):
            after = checked_step(session.state, player, action, f"{what}, step {number}")
            if player == CHANCE_PLAYER:
                session._roll(action, after)
            else:
                session._act(action, after)
        for _ in fields["redo"]:
            session.undo()
        return session


def make_players(
    seats: Sequence[str], game: Game, *, max_seconds: float | None = None, what: str = "seat"
) -> dict[int, Player]:
    """Make the players of the seats that have one, from their texts; equal texts share one player.

    Args:
        seats: text of each seat: a player spec, ``champion`` for the bundled network, or ``human`` for a person.
        game: the game.
        max_seconds: time limit of each search.
        what: name of a seat in error messages, before its number.

    Raises:
        ConfigError: a text is invalid, the game has no bundled network, or a player with a time limit does not search.
    """
    from aleazero.players.make import make_player

    made: dict[str, Player] = {}
    for seat, text in enumerate(seats):
        if text != PERSON and text not in made:
            made[text] = make_player(parse_seat(text, game, f"{what} {seat}"), game, max_seconds=max_seconds)
    return {seat: made[text] for seat, text in enumerate(seats) if text != PERSON}


def parse_seat(text: str, game: Game, what: str = "seat") -> PlayerSpec:
    """Return the player spec of a seat's text, or that of the bundled network for ``champion``.

    ``what`` is the name of the seat in error messages.
    """
    from aleazero.players.champions import champion_of

    if text == CHAMPION:
        champion = champion_of(game)
        if champion is None:
            raise ConfigError(f"{what} is {text!r}, expected a player spec: {game!r} has no bundled network")
        text = champion.engine
    kit = kit_of(game)
    return parse_spec(text, what, kit.players, kit.evaluators)


def _step_of(entry: Mapping[str, Any]) -> Step:
    """Return an entry of a history as player and action."""
    return (CHANCE_PLAYER, entry["outcome"]) if entry["kind"] == "chance" else (entry["player"], entry["action"])
