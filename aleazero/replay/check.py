"""Check a folder of shards: the numbers of every sample, and every game by replaying it with the rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import AleaZeroError, ReplayError
from aleazero.games.base import CHANCE_PLAYER, Game, State
from aleazero.games.game_dice import GameDice
from aleazero.games.registry import load_game
from aleazero.players.search import DUMMY
from aleazero.replay.shard import BrokenShard, Shard, broken
from aleazero.replay.shard_format import Origin
from aleazero.replay.window import Progress, open_folder
from aleazero.selfplay.record import EpisodeRecord, final_scores

SUM_TOLERANCE: Final = 1e-5
"""Tolerance of the sum of a policy, which is 1."""


@dataclass(frozen=True)
class ReplayReport:
    """Result of checking a folder of shards."""

    folder: Path
    shards: int
    """Number of shards that passed all checks. ``games`` and ``samples`` count these shards only."""
    games: int
    samples: int
    broken: list[BrokenShard]
    """The other shards, each with its first error."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "folder": str(self.folder),
            "shards": self.shards,
            "games": self.games,
            "samples": self.samples,
            "broken": [{"shard": each.path.name, "why": each.why} for each in self.broken],
        }


def check_replay(folder: Path, progress: Progress | None = None) -> ReplayReport:
    """Check every shard of a folder; ``progress`` is called after each replayed game."""
    folder = Path(folder)
    shards, bad = open_folder(folder)
    if not shards and not bad:
        raise ReplayError(f"no shards in {str(folder)!r}, expected at least one")
    total = sum(shard.games for shard in shards)
    loaded: dict[str, Game] = {}
    good: list[Shard] = []
    done = 0
    for shard in shards:
        try:
            text = shard.meta.game_text()
            if text not in loaded:
                loaded[text] = load_origin(shard.meta)
            check_shard(shard, loaded[text], progress, done, total)
            good.append(shard)
        except ReplayError as error:
            bad.append(broken(shard.path, error))
        done += shard.games
    return ReplayReport(
        folder,
        shards=len(good),
        games=sum(shard.games for shard in good),
        samples=sum(shard.meta.samples for shard in good),
        broken=sorted(bad, key=lambda each: each.path),
    )


def check_shard(shard: Shard, game: Game, progress: Progress | None = None, done: int = 0, total: int = 0) -> None:
    """Raise a ReplayError for the first error in the contents of a shard; ``done`` games of ``total`` came before."""
    check_numbers(shard, game)
    for played, record in enumerate(shard.records(), start=done + 1):
        check_episode(record, game)
        if progress is not None:
            progress(played, total)


def load_origin(origin: Origin) -> Game:
    """Load the game of samples; its rules and observations must have the same versions."""
    try:
        game = load_game(origin.game, **origin.params)
    except AleaZeroError as error:
        raise ReplayError(f"the game cannot be loaded: {error}") from None
    info = game.info
    if origin.rules_version != info.version:
        raise ReplayError(f"the rules are version {origin.rules_version}, expected {info.version} of {game!r}")
    if origin.observation_schema != info.observation_schema:
        raise ReplayError(
            f"the observations are {origin.observation_schema!r}, expected {info.observation_schema!r} of {game!r}"
        )
    return game


def check_numbers(shard: Shard, game: Game) -> None:
    """Raise a ReplayError for the first sample with an invalid number."""
    columns = shard.columns
    require_widths(shard, game)
    if shard.meta.model == DUMMY:
        searched = columns["searched"]
        _reject(shard, searched, searched, f"searched is {{}} in a game of {DUMMY!r}, which has no values, expected 0")
    for name in ("observations", "policies", "returns", "root_values", "scores", "weights"):
        _reject(shard, ~np.isfinite(columns[name]), columns[name], f"{name} has {{}}, expected finite numbers")
    _check_policies(shard)
    unsearched = ~columns["searched"][:, np.newaxis] & (columns["root_values"] != 0)
    _reject(shard, unsearched, columns["root_values"], "root_values has {} without a search, expected 0")
    _check_seats(shard, game.num_players)
    _check_range(shard, game.info.utility)


def check_episode(record: EpisodeRecord, game: Game) -> None:
    """Raise a ReplayError if samples of a game are out of order or contradict the rules."""
    where = f"game {record.game_number}"
    _check_order(record, where)
    try:
        _replay(record, game, where)
    except ReplayError:
        raise
    except AleaZeroError as error:
        raise ReplayError(f"{where}: {error}") from None
    except Exception as error:  # the rules of a user's game may raise anything
        raise ReplayError(f"{where}: the rules raised {type(error).__name__}: {error}") from error


def require_widths(shard: Shard, game: Game) -> None:
    """Raise a ReplayError if rows do not have the sizes of the game."""
    lengths = {"returns": game.num_players, "legal_masks": game.num_actions, "observations": game.observation_size}
    for name, expected in lengths.items():
        if (got := shard.columns[name].shape[1]) != expected:
            raise ReplayError(f"{name}: {got} numbers per row, expected {expected} in {game!r}")


def _check_policies(shard: Shard) -> None:
    columns = shard.columns
    after, weights = columns["afterstate"], columns["weights"]
    masks, policies = columns["legal_masks"], columns["policies"]
    legal = masks.sum(axis=1)
    sums = policies.sum(axis=1, dtype=np.float64)
    _reject(shard, ~after & (legal == 0), legal, "legal_masks has {} actions at a decision, expected at least 1")
    _reject(shard, after & (legal > 0), legal, "legal_masks has {} actions at an afterstate, expected none")
    _reject(shard, weights < 0, weights, "weights has {}, expected at least 0")
    _reject(shard, after & (weights > 0), weights, "weights has {} at an afterstate, expected 0")
    _reject(shard, policies < 0, policies, "policies has {}, expected at least 0")
    _reject(shard, (policies > 0) & ~masks, policies, "policies has {} for an illegal action, expected 0")
    off = (weights > 0) & (abs(sums - 1) > SUM_TOLERANCE)
    _reject(shard, off, sums, "policies sum to {}, expected 1")
    _reject(shard, (weights == 0) & (sums != 0), sums, "policies sum to {} where the weight is 0, expected 0")


def _check_seats(shard: Shard, players: int) -> None:
    """Check viewers, and that returns and scores by player are equal in all samples of a game."""
    columns = shard.columns
    viewers = columns["viewers"].astype(np.int64)
    _reject(shard, (viewers < 0) | (viewers >= players), viewers, f"viewers has {{}}, expected 0 to {players - 1}")
    lengths = np.diff(columns["sample_offsets"])
    absolute = (np.arange(players) - viewers[:, np.newaxis]) % players
    returns = np.take_along_axis(columns["returns"], absolute, axis=1)
    final = np.repeat(columns["game_returns"].astype(np.float32), lengths, axis=0)
    _reject(shard, returns != final, returns, "returns has {}, expected the final returns relative to the viewer")
    scores = np.take_along_axis(columns["scores"], absolute, axis=1)
    first = scores[np.repeat(np.minimum(columns["sample_offsets"][:-1], max(len(scores) - 1, 0)), lengths)]
    _reject(shard, scores != first, scores, "scores has {}, expected equal final scores in all samples of a game")


def _check_range(shard: Shard, utility: tuple[float, float] | None) -> None:
    returns = shard.columns["game_returns"]
    low, high = utility or (-np.inf, np.inf)
    bad = ~np.isfinite(returns) | (returns < low) | (returns > high)
    if bad.any():
        index = int(np.flatnonzero(bad.any(axis=1))[0])
        number, got = shard.columns["game_numbers"][index], returns[index].tolist()
        raise ReplayError(f"game {number}: the returns are {got}, expected numbers from {low:g} to {high:g}")


def _reject(shard: Shard, bad: NDArray[np.bool_], values: NDArray[Any], problem: str) -> None:
    """Raise an error for the first value marked in ``bad``."""
    if bad.any():
        place = tuple(np.argwhere(bad)[0])
        game, step = shard.columns["game"][place[0]], shard.columns["step"][place[0]]
        raise ReplayError(f"game {game}, step {step}: {problem.format(f'{float(values[place]):.6g}')}")


def _check_order(record: EpisodeRecord, where: str) -> None:
    for name, least in (("step", 1), ("ply", 0)):
        numbers = getattr(record, name)
        falling = np.flatnonzero(np.diff(numbers) < least)
        if len(falling):
            before, after = numbers[falling[0] : falling[0] + 2]
            raise ReplayError(f"{where}: {name} goes from {before} to {after}, expected to increase")
    for step in record.step[[0, -1]] if len(record) else ():
        if not 0 <= step < len(record.steps):
            raise ReplayError(f"{where}: step is {step}, expected 0 to {len(record.steps) - 1}")


def _replay(record: EpisodeRecord, game: Game, where: str) -> None:
    state = game.state_from_text(record.start)
    rows = {int(step): row for row, step in enumerate(record.step)}
    decisions, dice = 0, GameDice(record.seed)
    chosen = False  # whether the previous step was a choice of a player, so that there was a search
    for index, (player, action) in enumerate(record.steps.tolist()):
        if state.is_terminal():
            raise ReplayError(f"{where}: the game is over after {index} steps, expected {len(record.steps)}")
        if index in rows:
            _check_sample(record, rows[index], state, decisions, f"{where}, step {index}")
        mover = state.current_player()
        drawn = dice.draw(state) if mover == CHANCE_PLAYER else action
        choice = mover != CHANCE_PLAYER and len(state.legal_actions()) > 1
        if index in rows and record.searched[rows[index]] and not (chosen if mover == CHANCE_PLAYER else choice):
            raise ReplayError(f"{where}, step {index}: searched is true without a choice, expected false")
        if player != mover:
            raise ReplayError(f"{where}, step {index}: player {player} moves, expected {mover}")
        try:
            state.apply_action(action)
        except AleaZeroError as error:
            raise ReplayError(f"{where}, step {index}: {error}") from None
        if action != drawn:
            raise ReplayError(f"{where}, step {index}: the outcome is {action}, expected {drawn} for the game's seed")
        chosen = choice
        decisions += mover != CHANCE_PLAYER
    if not state.is_terminal():
        raise ReplayError(f"{where}: the game is not over after its {len(record.steps)} steps")
    if state.returns() != record.returns.tolist():
        raise ReplayError(f"{where}: the returns are {record.returns.tolist()}, expected {state.returns()}")
    scores = final_scores(state).astype(np.float32)
    for row, viewer in enumerate(record.viewers.tolist()):
        if not np.array_equal(record.scores[row], np.roll(scores, -viewer)):
            got, expected = record.scores[row].tolist(), np.roll(scores, -viewer).tolist()
            raise ReplayError(f"{where}, step {record.step[row]}: the scores are {got}, expected {expected}")


def _check_sample(record: EpisodeRecord, row: int, state: State, decisions: int, where: str) -> None:
    for name, true in (
        ("afterstate", np.bool_(state.is_chance_node())),
        ("viewers", np.int64(state.viewer())),
        ("ply", np.int64(decisions)),
        ("legal_masks", state.legal_actions_mask()),
        ("observations", state.observation_tensor()),
    ):
        stored = getattr(record, name)[row]
        if np.shape(stored) != np.shape(true):
            raise ReplayError(f"{where}: {name} has {np.size(stored)} numbers, expected {np.size(true)}")
        bad = np.flatnonzero(stored != true)
        if len(bad):
            got, expected = np.ravel(stored)[bad[0]], np.ravel(true)[bad[0]]
            place = f" at {bad[0]}" if np.ndim(true) else ""
            raise ReplayError(f"{where}: {name} has {got}{place}, expected {expected}")
