"""Game-specific knowledge beyond the rules: ``GameKit``, and ``TupleShape`` for tables over tuples of cells.

General code contains no names of games. It calls ``kit_of(game)`` and has a default for each part of a kit.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aleazero.errors import ContractError
from aleazero.games.base import Game, State

MOST_ENTRIES = 2**31 - 1
"""Maximum number of entries in all tables: they are numbered in 32 bits."""

Oracle = Any
"""An ``oracles.oracle.Oracle``: games import nothing from the layers above them."""
Evaluator = Any
"""A ``search.evaluator.Evaluator``."""
Rows = Any
"""States as ``games.states.Rows``."""
Columns = Any
"""Floats (rows, columns)."""
Known = Any
"""Booleans (rows,)."""
Player = Any
"""A ``players.player.Player``."""


@dataclass(frozen=True)
class Example:
    """A position or a game that ``aleazero demo`` shows."""

    caption: str
    """One sentence that is printed above it."""
    position: str | None = None
    """The position as text; None for a game from its start."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the game."""


@dataclass(frozen=True)
class WrittenGame:
    """A game in a file format of its own, e.g. a match file."""

    steps: tuple[tuple[int, int], ...]
    """(player, action) pairs from the initial state; for chance the player is −1 and the action is the outcome."""
    names: tuple[str, ...]
    """Name of the player at each seat."""
    result: str = ""
    """How the game ended if the steps do not show it, e.g. by resignation."""


@dataclass(frozen=True)
class MoveWarning:
    """A kind of action of which a high share shows that a player has learned a bad habit."""

    counts: Callable[[State, int], bool]
    """``counts(state, action)`` returns whether a legal action at a decision belongs to this kind."""
    limit: float
    """A higher share of a player's decisions is a warning."""
    meaning: str
    """One sentence for the glossary of a report."""


@dataclass(frozen=True)
class ReviewThresholds:
    """Costs from which a review marks a decision, in units of the game's returns."""

    error: float
    """A decision that costs at least this is an error."""
    blunder: float
    """A decision that costs at least this is a blunder."""


@dataclass(frozen=True)
class GameKit:
    """Game-specific knowledge beyond the rules: exact values, players, positions, measurements, texts.

    All parts are optional. The file of a game defines ``kit(game) -> GameKit``, the class of an object game defines it
    as a static method, or the kit is passed to ``register_game``.
    """

    oracle: Callable[[], Oracle] | None = None
    """Returns the oracle of the game. Without it, a small game is solved completely."""
    no_oracle: str | None = None
    """Why the game has no oracle, for error messages. Such a game is not solved."""
    evaluators: Mapping[str, Callable[[Game, str | None], Evaluator]] = field(default_factory=dict)
    """More evaluators for player specs, by name.

    The spec ``NAME:ARGUMENT`` calls the function with the game and the argument; it is None for the spec ``NAME``.
    """
    exact_columns: Callable[[], Callable[[Rows], tuple[Columns, Known]]] | None = None
    """Returns a function that gives value networks the exact results of some states between turns.

    It is called with rows of states and returns the columns of ``nets.outcome`` from the view of player 0, and whether
    they are known (rows,).
    """
    reference: str | None = None
    """Spec of the player that stands in for an oracle if the game has none. Such a game is not solved."""
    reference_name: str = ""
    """Name of the reference player as an opponent, in results and reports; by default its spec."""
    players: Mapping[str, Callable[[Game, Mapping[str, str]], Player]] = field(default_factory=dict)
    """More kinds of players, by the name in their spec. Each function is called with the game and the settings."""
    positions: Mapping[str, Callable[[], Sequence[State]]] = field(default_factory=dict)
    """Fixed sets of decisions, by name, for measurements of regret. The first set is the default."""
    positions_oracle: Callable[[], Oracle] | None = None
    """Returns the oracle for the fixed positions, if ``oracle`` cannot evaluate them."""
    read_position: Callable[[Any], State] | None = None
    """Reads one entry of a JSON file of positions; default: a text for ``Game.state_from_text``."""
    classify: Callable[[State], tuple[str, str]] | None = None
    """Returns the kind of a decision and the stage of the game, for tables of regret."""
    judge: str | None = None
    """Spec of the player that judges others for error rates: a player with ``play_values`` (``evaluation.plays``)."""
    judged: Mapping[str, Callable[[], Sequence[Any]]] = field(default_factory=dict)
    """Fixed sets of decisions with stored values of all plays, by name, for error rates without a judge."""
    measure: Callable[[Any, int, int, int], Mapping[str, Any]] | None = None
    """Evaluates a value network quickly: ``measure(values, games, seed, threads)``.

    It returns JSON data by name: means with intervals of the ``score`` and the ``regret`` per game. If there is a
    ``reference`` it returns instead of the regret ``won``, the share of games won against it with its ``pair_table``,
    and ``reference_score``, the score of the reference.
    """
    move_warnings: Mapping[str, MoveWarning] = field(default_factory=dict)
    """Kinds of actions, by name, whose shares evaluations and reports show for every player."""
    format_play: Callable[[State, Sequence[int]], str] | None = None
    """Returns a play (the actions up to the next roll or player) as text; default: names of actions, with commas."""
    parse_play: Callable[[State, str], Sequence[int]] | None = None
    """Reads a play that a person types, and returns its actions; raises an ``AleaZeroError`` if it is not legal."""
    typing_help: str = ""
    """How to type moves, with examples, for the help of ``aleazero play``."""
    read_games: Mapping[str, Callable[[str], Sequence[WrittenGame]]] = field(default_factory=dict)
    """Readers of the game's own formats of recorded games, by the ending of the file, e.g. ``.mat``. Each is called
    with the text of a file and raises an ``AleaZeroError`` with the line of an error."""
    rolls_dice: bool = False
    """Whether outcomes are rolls of dice with six faces: the digits of their names, such as ``5-3``, are the faces.
    The playground draws them as dice."""
    terms: Mapping[str, str] = field(default_factory=dict)
    """The game's words in tables and results: ``value``, ``win``, ``win_2``, ``lose_2`` etc. for columns, and
    ``points_1``, ``points_2`` etc. for the name of a win by this many points."""
    afterstate: Mapping[str, Any] = field(default_factory=dict)
    """Default settings of the recipe ``afterstate`` for this game. Those of a config file take precedence."""
    prior_temperature: float | None = None
    """Temperature of the priors of value networks in a search, as a fraction of the range of returns; None for the
    general default."""
    net_search: Mapping[str, Any] = field(default_factory=dict)
    """Default settings (``SearchConfig``) of players that search with a value network. Specs take precedence."""
    review: ReviewThresholds | None = None
    """Thresholds of ``aleazero review``; None for fractions of the range of returns."""
    examples: Sequence[Example] = ()
    """Positions and games for ``aleazero demo``."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Explanations for the glossary of a report, by term. They replace general explanations of the same term."""


NOTHING: Final = GameKit()
_given: dict[Any, Any] = {}
"""By source of a game (class, module, or name of a module): the kit, a function of the game, or a module's name."""


def give_kit(source: Any, kit: GameKit | Callable[[Game], GameKit] | str | None) -> None:
    """Set the kit of a game.

    Args:
        source: the class, the module, or the name of the module of the game.
        kit: the kit, a function of the game, or the name of a module that defines ``kit``; None to use the ``kit`` that
            the game's own module or class defines.
    """
    _given[source] = kit


def kit_of(game: Game) -> GameKit:
    """Return the kit of a game; an empty kit if it has none. The kit is stored with the game object.

    A kit passed to ``register_game`` takes precedence over ``kit`` in the game's own module or class, and this over the
    kit of a bundled game.
    """
    if game._kit is None:
        game._kit = _make(game)
    kit: GameKit = game._kit
    return kit


def _make(game: Game) -> GameKit:
    source = getattr(game, "module", None) or getattr(game, "state_class", None)
    found = _given.get(source)
    if found is None:  # the function of a kernel game is bound to its parameters
        found = game.kernels.kit if hasattr(game, "kernels") else getattr(source, "kit", None)
    if found is None:
        found = _given.get(getattr(source, "__name__", None))
    if isinstance(found, str):
        found = importlib.import_module(found).kit
    if found is None:
        return NOTHING
    made = found(game) if callable(found) else found
    if not isinstance(made, GameKit):
        raise ContractError(f"{game.name}: the kit is {made!r}, expected a GameKit or a function that returns one")
    return made


def play_text(state: State, actions: Sequence[int]) -> str:
    """Return a play, which is one or more actions of a player, as text; in the game's own form if its kit has one."""
    own = kit_of(state.game).format_play
    if own is not None:
        return own(state, actions)
    texts, after = [], state.clone()
    for action in actions:
        texts.append(after.action_to_string(action))
        after.apply_action(action)
    return ", ".join(texts)


@dataclass(frozen=True)
class TupleShape:
    """The board of a game for n-tuple tables: its size, the cells of each table, and the symmetries."""

    cells: int
    """Number of cells. The board is the beginning of the state vector."""
    values: int
    """Cells have the values 0 to values − 1; numbers outside are clipped."""
    tuples: tuple[tuple[int, ...], ...]
    """The cells of each table; the first varies slowest."""
    symmetries: tuple[tuple[int, ...], ...]
    """Permutations of the cells that do not change the value of a board, including the identity."""

    def __post_init__(self) -> None:
        if self.cells < 1 or self.values < 2 or not self.tuples or not self.symmetries:
            raise ContractError(f"{self} is empty, expected cells, at least 2 values, tuples and symmetries")
        for cells in self.tuples:
            if not cells or len(set(cells)) < len(cells) or not set(cells) <= set(range(self.cells)):
                raise ContractError(f"a tuple is {cells}, expected different cells of 0 to {self.cells - 1}")
        for places in self.symmetries:
            if sorted(places) != list(range(self.cells)):
                raise ContractError(f"a symmetry is {places}, expected each cell of 0 to {self.cells - 1} once")
        if self.entries > MOST_ENTRIES:
            raise ContractError(f"the tables have {self.entries} entries, expected at most {MOST_ENTRIES}")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of entries of each table."""
        return tuple(self.values ** len(cells) for cells in self.tuples)

    @property
    def entries(self) -> int:
        """Number of entries of all tables."""
        return sum(self.sizes)
