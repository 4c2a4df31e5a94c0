"""Strength of a player or a network, by all measures that a game has.

A player plays against fixed opponents with the same dice. If exact values are known, its regret is measured on fixed
positions. A value network is also evaluated by the game's own fast measurement, and by the calibration of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError, nearest
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.pairs import PairTable, SeatedGame, open_pairs
from aleazero.evaluation.regret import RegretReport, measure_regret, read_positions
from aleazero.evaluation.statistics import Mean
from aleazero.games.base import CHANCE_PLAYER, Game, State
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
from aleazero.training.turns_compiled import SampledChance, turn_player_of

ROLLOUT: Final = "search:sims=200,evaluator=rollout"
ORACLE: Final = "oracle"
RANDOM_GAMES: Final = 200
"""Number of random games from which fixed positions are taken."""
MOST_STATES: Final = 100_000
"""Largest game that is solved to get an oracle."""
MOST_TURNS: Final = 2000
"""Most turns of a calibration game; longer games are not counted."""
Progress = Callable[[str, int, int], None]
"""Called with the name of the opponent, the pairs played so far, and the total."""


@dataclass(frozen=True)
class StrengthReport:
    """Results of a player against fixed opponents, and its regret."""

    player: str
    game: Game
    seed: int
    against: dict[str, tuple[str, PairTable]]
    """Spec and pairs of each opponent, by its name."""
    regret: RegretReport | None
    """Regret on fixed positions; None if no exact values are known."""
    moves: Mapping[str, MoveShare] = field(default_factory=dict)
    """Shares of the player's decisions in all games, by the names of ``GameKit.move_warnings``."""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        regret = None if self.regret is None else self.regret.overall.to_dict()
        return {
            "player": self.player,
            "game": self.game.name,
            "params": self.game.params,
            "seed": self.seed,
            "against": {name: {"spec": spec, **table.to_dict()} for name, (spec, table) in self.against.items()},
            "regret": regret,
            **({"moves": {name: share.to_dict() for name, share in self.moves.items()}} if self.moves else {}),
        }


@dataclass(frozen=True)
class MoveShare:
    """The share of a kind of action among the decisions of a player."""

    count: int
    decisions: int
    limit: float
    """A higher share is a warning."""

    @property
    def share(self) -> float:
        """The share, 0 without decisions."""
        return self.count / max(1, self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"share": self.share, "count": self.count, "decisions": self.decisions, "limit": self.limit,
                "warning": self.share > self.limit}  # fmt: skip


def count_moves(game: Game, games: Iterable[SeatedGame]) -> dict[str, MoveShare]:
    """Return the shares of the kinds of actions that the game's kit warns of, in the games of a first player.

    Args:
        game: the game.
        games: games of pairs; only the seats of the first player count.

    Returns:
        The share of each kind among all decisions, by the names of ``GameKit.move_warnings``.
    """
    warnings = kit_of(game).move_warnings
    counts, decisions = dict.fromkeys(warnings, 0), 0
    for played in games if warnings else ():
        state = game.new_initial_state()
        for player, action in played.steps:
            if player != CHANCE_PLAYER and played.seating[player]:
                decisions += 1
                for name, warning in warnings.items():
                    counts[name] += warning.counts(state, action)
            state._apply(action)
    return {name: MoveShare(counts[name], decisions, warning.limit) for name, warning in warnings.items()}


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
    """Evaluate a player against the fixed opponents of a game (``against``: names, None for all) with the same dice.

    ``regret`` also measures the regret on fixed positions, if exact values are known. ``name`` is the player's name in
    the report. The other arguments are those of ``play_pairs``.
    """
    known = fixed_opponents(game)
    names = list(known) if against is None else list(against)
    for opponent in names:
        if opponent not in known:
            raise ConfigError(f"no opponent {opponent!r} in {game!r}, {nearest(opponent, known)}")
    measured = _regret(player, game, player_seed, threads) if regret else None
    played: dict[str, tuple[str, PairTable]] = {}
    games: list[SeatedGame] = []
    with open_pool(workers) as pool:
        for opponent in names:

            def report(done: int, of: int, opponent: str = opponent) -> None:
                if progress is not None:
                    progress(opponent, done, of)

            report(0, pairs)
            found = []
            contest = open_pairs(
                game, player, known[opponent], game_seeds(seed, pairs), player_seed=player_seed, workers=pool,
                threads=threads, source=source,
            )  # fmt: skip
            with closing(contest):
                for pair in contest:
                    found.append(pair)
                    report(len(found), pairs)
            played[opponent] = known[opponent], PairTable.of(found, game)
            if kit_of(game).move_warnings:
                games += [one for pair in found for one in pair.games]
    return StrengthReport(name or player, game, seed, played, measured, count_moves(game, games))


def _regret(player: str, game: Game, seed: int, threads: int) -> RegretReport | None:
    oracle = positions_oracle(game, max_states=MOST_STATES)
    if oracle is None:
        return None
    chooser = make_player(player, game, threads=threads)
    return measure_regret(chooser, fixed_positions(game), oracle, seed=seed, classify=kit_of(game).classify)


def fixed_opponents(game: Game) -> dict[str, str]:
    """Return the specs of the fixed opponents, by name.

    They are ``random``, ``rollout`` (a search with 200 playouts), and ``oracle`` if exact values are known. A game with
    a reference player has that player in place of the oracle.
    """
    found = {"random": "random", "rollout": ROLLOUT}
    reference = kit_of(game).reference
    if reference is not None:
        return {**found, strongest_opponent(game): reference}
    return found if oracle_of(game, max_states=MOST_STATES) is None else {**found, ORACLE: ORACLE}


def strongest_opponent(game: Game) -> str:
    """Return the name of the reference player, or else of the oracle, which only solved games have."""
    kit = kit_of(game)
    return ORACLE if kit.reference is None else kit.reference_name or kit.reference


def positions_oracle(game: Game, **limits: int) -> Oracle | None:
    """Return the exact values for a game's fixed positions; None if there are none. ``limits``: see ``oracle_of``."""
    own = kit_of(game).positions_oracle
    return oracle_of(game, **limits) if own is None else own()


def fixed_positions(game: Game, name: str | None = None, *, count: int = 200) -> list[State]:
    """Return a fixed set of decision states with more than one action.

    Args:
        game: the game.
        name: a set of the game's kit, or a file ending in ``.json``; None for the kit's first set, or, if it has none,
            decisions from random games.
        count: most decisions from random games.

    Raises:
        ConfigError: if there is no such set or file.
        PositionError: if an entry of the file is not a position of the game.
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
    for played in play_match(game, players, game_seeds(WALKS, RANDOM_GAMES), player_seed=WALKS):
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
    """Return whether ``measure_values`` has a measurement for this game."""
    return has_board(game) or kit_of(game).measure is not None


def measure_values(path: Path, game: Game, *, games: int = 2000, seed: int = 0, threads: int = 1) -> dict[str, Any]:
    """Run the fast measurement of a checkpoint of the recipe ``afterstate``; empty if the game has none.

    For tables this is the mean score with one ply of search, else the result of the ``measure`` of the game's kit.
    """
    if has_board(game):
        played = measure_tables(game, load_tables(path, game), max(2, games // 10), seed=seed, threads=threads)
        return {"score": played.mean.to_dict()}
    measure = kit_of(game).measure
    return {} if measure is None else dict(measure(NetValues.load(path, game), games, seed, threads))


@dataclass(frozen=True)
class TupleScores:
    """Final scores of games played with tables."""

    scores: NDArray[np.float64]
    tops: NDArray[np.int64]
    """The highest cell at the end of each game."""

    @property
    def mean(self) -> Mean:
        """The mean score."""
        return Mean.of(self.scores)

    def share(self, top: int) -> float:
        """Return the share of games whose highest cell is at least ``top``."""
        return float((self.tops >= top).mean())

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        shares = {str(top): self.share(top) for top in np.unique(self.tops).tolist()}
        return {"score": self.mean.to_dict(), "share_with_cell": shares}


def measure_tables(
    game: Game, tuples: TupleTables, games: int, *, plies: int = 1, seed: int = 0, threads: int = 1
) -> TupleScores:
    """Play games with tables, searching ``plies`` moves ahead."""
    assert isinstance(game, KernelGame)
    ends = TuplePlay(game, tuples, plies, threads).play(game_seeds(seed, games))
    scores = np.array([state.returns()[0] for state in states_of(game, ends)])
    return TupleScores(scores, ends[:, : tuples.shape.cells].max(axis=1))


def calibrate(values: NetValues, games: int, *, seed: int = 0) -> Tenths:
    """Play games of a network against itself; compare its predictions for player 0 before each turn with the results.

    The predicted number is the probability of a win if the game's returns only count wins, else the return.
    """
    lanes, game = turn_player_of(values.game, values.plies), values.game
    sampled = SampledChance(game) if values.samples_chance else None
    states = np.repeat(rows_of(game, [game.new_initial_state()]), games, axis=0)
    running, result = np.arange(games), np.full(games, np.nan)
    predictions: list[NDArray[np.float64]] = []
    game_numbers: list[NDArray[np.int64]] = []
    for turn in range(MOST_TURNS):
        predictions.append(values.columns(values.see(states))[:, 0])
        game_numbers.append(running)
        random = np.random.Generator(np.random.Philox(key=stream_key(CALIBRATION, seed, turn)))
        draws = random.random((games, lanes.draws))[running]
        if sampled is not None:
            states = sampled.play(states, random.integers(2**64, size=games, dtype=np.uint64)[running])
        leaves, starts, known = lanes.list_turn_ends(states)
        ends = values.see(leaves)
        columns = values.columns(ends)
        worth, nothing = values.outcome.values_by_player(columns, MARGIN), np.zeros((len(leaves), 0))
        *_, chosen, _ = lanes.play_turns(states, starts, known, worth, nothing, draws, 0.0)
        over = ends.over[chosen]
        result[running[over]] = columns[chosen[over], 0]
        states, running = leaves[chosen[~over]], running[~over]
        if not len(running):
            break
    predicted, results = np.concatenate(predictions), result[np.concatenate(game_numbers)]
    ended = ~np.isnan(results)
    return tenths(predicted[ended], results[ended])
