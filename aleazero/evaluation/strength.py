"""How strong a player or a network is, by all measures of a game.

A player is measured against fixed opponents on the same dice, and by regret at fixed positions if exact values are
known. A value network is also measured by the game's own fast measurement, and by the calibration of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError, nearest
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.pairs import PairTable, play_pairs
from aleazero.evaluation.regret import RegretReport, measure_regret, read_positions
from aleazero.evaluation.statistics import Mean
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame
from aleazero.games.kit import kit_of
from aleazero.games.states import rows_of, states_of
from aleazero.native.random import CALIBRATION, WALKS, stream_key
from aleazero.nets.checkpoint import load_tables
from aleazero.nets.outcome import MARGIN
from aleazero.nets.table_play import TuplePlay
from aleazero.nets.tables import TupleTables, has_board
from aleazero.nets.values import NetValues
from aleazero.oracles.oracle import Oracle, oracle_of
from aleazero.players.make import make_player
from aleazero.processes import Pool, open_pool
from aleazero.training.targets import Tenths, tenths
from aleazero.training.turns_compiled import turn_player_of

ROLLOUT: Final = "search:sims=200,evaluator=rollout"
NAMES: Final = ("random", "rollout", "oracle")
MOST_GAMES: Final = 200
MOST_STATES: Final = 100_000
"""Of a game that is solved in passing."""
MOST_TURNS: Final = 2000
"""Of a game of a calibration; one that is not over by then does not count."""
Progress = Callable[[str, int, int], None]
"""Called with the opponent's name, and pairs done and of all."""


@dataclass(frozen=True)
class StrengthReport:
    """What was measured of a player."""

    player: str
    game: Game
    seed: int
    against: dict[str, tuple[str, PairTable]]
    """By opponent's name: its text, and the pairs."""
    regret: RegretReport | None
    """At fixed positions; None if nothing judges them."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        regret = None if self.regret is None else self.regret.overall.to_dict()
        return {
            "player": self.player,
            "game": self.game.name,
            "params": self.game.params,
            "seed": self.seed,
            "against": {name: {"spec": spec, **table.to_dict()} for name, (spec, table) in self.against.items()},
            "regret": regret,
        }


def evaluate_player(
    player: str,
    game: Game,
    *,
    pairs: int = 100,
    against: Sequence[str] | None = None,
    regret: bool = True,
    seed: int = 0,
    player_seed: int = 0,
    workers: int | Pool = 1,
    threads: int = 1,
    source: str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> StrengthReport:
    """Measure a player, given by text, against the fixed opponents of a game (or some of them, by name).

    All meet the same dice, those of ``seed``. ``name`` is what the report calls the player. Without ``regret`` only
    games are played.
    """
    known = fixed_opponents(game)
    chosen = list(known) if against is None else list(against)
    for word in chosen:
        if word not in known:
            raise ConfigError(f"no opponent {word!r} in {game!r}, {nearest(word, known)}")
    judged = _regret(player, game, player_seed, threads) if regret else None
    met = {}
    with open_pool(workers) as pool:
        for word in chosen:

            def tell(done: int, of: int, word: str = word) -> None:
                if progress is not None:
                    progress(word, done, of)

            tell(0, pairs)
            met[word] = known[word], play_pairs(
                game, player, known[word], game_seeds(seed, pairs), player_seed=player_seed, workers=pool,
                threads=threads, source=source, progress=tell,
            )  # fmt: skip
    return StrengthReport(name or player, game, seed, met, judged)


def _regret(player: str, game: Game, seed: int, threads: int) -> RegretReport | None:
    """What decisions at fixed positions lose, if exact values are known, or what the game's kit has in their place."""
    oracle = positions_oracle(game, max_states=MOST_STATES)
    if oracle is None:
        return None
    chooser = make_player(player, game, threads=threads)
    return measure_regret(chooser, fixed_positions(game), oracle, seed=seed, classify=kit_of(game).classify)


def fixed_opponents(game: Game) -> dict[str, str]:
    """By name the spec of each: ``random``, ``rollout`` (a search of 200 playouts) and ``oracle``, if there is one.

    The reference player of a game's kit takes the oracle's place.
    """
    found = {"random": "random", "rollout": ROLLOUT}
    reference = kit_of(game).reference
    if reference is not None:
        return {**found, "oracle": reference}
    return found if oracle_of(game, max_states=MOST_STATES) is None else {**found, "oracle": "oracle"}


def positions_oracle(game: Game, **limits: int) -> Oracle | None:
    """What judges decisions at the fixed positions of a game; None if there is nothing. ``limits`` are of oracle_of."""
    own = kit_of(game).positions_oracle
    return oracle_of(game, **limits) if own is None else own()


def fixed_positions(game: Game, name: str | None = None, *, count: int = 200) -> list[State]:
    """Decisions with a choice that are always the same.

    Args:
        game: the game.
        name: a set of the game's kit, or a file ending in ``.json``; None for the kit's first set, or if it has none,
            ``count`` decisions from games of random play.
        count: most decisions from games of random play.

    Raises:
        ConfigError: there is no such set or file.
        PositionError: an entry of the file is not a position of the game.
    """
    sets = kit_of(game).positions
    if name is not None and name.endswith(".json"):
        return read_positions(Path(name), kit_of(game).read_position or partial(_from_text, game))
    if name is not None and name not in sets:
        raise ConfigError(f"no set {name!r} of {game!r}, {nearest(name, sets)} (or a file ending in .json)")
    if sets:
        return list(sets[name or next(iter(sets))]())
    players = [make_player("random", game)] * game.num_players
    found: dict[bytes, State] = {}
    for played in play_match(game, players, game_seeds(WALKS, MOST_GAMES), player_seed=WALKS):
        state = game.new_initial_state()
        for _, action in played.steps:
            if not state.is_chance_node() and len(state.legal_actions()) > 1:
                found.setdefault(state.key(), state.clone())
            state.apply_action(action)
    states = list(found.values())
    return states[:: max(1, len(states) // count)][:count]


def _from_text(game: Game, text: object) -> State:
    if not isinstance(text, str):
        raise PositionError(f"got {str(text)[:100]!r}, expected a position as text")
    return game.state_from_text(text)


def can_measure(game: Game) -> bool:
    """Whether ``measure_values`` measures anything."""
    return has_board(game) or kit_of(game).measure is not None


def measure_values(path: Path, game: Game, *, games: int = 2000, seed: int = 0, threads: int = 1) -> dict[str, Any]:
    """Measure a checkpoint of the afterstate recipe in a moment; empty if the game has no measurement.

    Boards with tables: ``score``, looking one move ahead. Others: what the ``measure`` of the game's kit returns.
    """
    if has_board(game):
        played = measure_tables(game, load_tables(path, game), max(2, games // 10), seed=seed, threads=threads)
        return {"score": played.mean.to_dict()}
    measure = kit_of(game).measure
    return {} if measure is None else dict(measure(NetValues.load(path, game), games, seed, threads))


@dataclass(frozen=True)
class TupleScores:
    """What some games came to."""

    scores: NDArray[np.float64]
    tops: NDArray[np.int64]
    """The highest cell at the end, by game."""

    @property
    def mean(self) -> Mean:
        """The mean score."""
        return Mean.of(self.scores)

    def share(self, top: int) -> float:
        """The share of games that reached such a cell."""
        return float((self.tops >= top).mean())

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        shares = {str(top): self.share(top) for top in np.unique(self.tops).tolist()}
        return {"score": self.mean.to_dict(), "share_with_cell": shares}


def measure_tables(
    game: Game, tuples: TupleTables, games: int, *, plies: int = 1, seed: int = 0, threads: int = 1
) -> TupleScores:
    """Play so many games by the tables, looking ``plies`` moves ahead."""
    assert isinstance(game, KernelGame)
    ends = TuplePlay(game, tuples, plies, threads).play(game_seeds(seed, games))
    scores = np.array([state.returns()[0] for state in states_of(game, ends)])
    return TupleScores(scores, ends[:, : tuples.shape.cells].max(axis=1))


def calibrate(values: NetValues, games: int, *, seed: int = 0) -> Tenths:
    """A network's games against itself: what it predicts for player 0 before each turn, and how the game ended.

    Of a duel that is won or lost, the win; else the return.
    """
    lanes, game = turn_player_of(values.game, values.plies), values.game
    states = np.repeat(rows_of(game, [game.new_initial_state()]), games, axis=0)
    running, came = np.arange(games), np.full(games, np.nan)
    predicted: list[NDArray[np.float64]] = []
    whose: list[NDArray[np.int64]] = []
    for turn in range(MOST_TURNS):
        predicted.append(values.columns(values.see(states))[:, 0])
        whose.append(running)
        leaves, starts, known = lanes.list_turn_ends(states)
        ends = values.see(leaves)
        columns = values.columns(ends)
        luck = np.random.Generator(np.random.Philox(key=stream_key(CALIBRATION, seed, turn)))
        draws = luck.random((games, lanes.draws))[running]
        worth, nothing = values.outcome.values_by_player(columns, MARGIN), np.zeros((len(leaves), 0))
        *_, chosen, _ = lanes.play_turns(states, starts, known, worth, nothing, draws, 0.0)
        over = ends.over[chosen]
        came[running[over]] = columns[chosen[over], 0]
        states, running = leaves[chosen[~over]], running[~over]
        if not len(running):
            break
    told, ended = np.concatenate(predicted), came[np.concatenate(whose)]
    counts = ~np.isnan(ended)
    return tenths(told[counts], ended[counts])
