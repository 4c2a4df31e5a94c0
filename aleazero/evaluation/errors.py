"""Error rate: the value that a player's decisions lose, judged by a stronger player.

A decision is a complete play (see ``plays``) with at least two choices. Its loss is the value of the best play minus
that of the chosen one, both by the judge. The error rate is the mean loss × 1000. Unlike regret it needs no exact
values. Decisions come from the player's own games, or from a set that stores the judge's values of all plays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError, nearest
from aleazero.evaluation.match import PlayedGame, game_seed, play_in_parallel
from aleazero.evaluation.plays import Judge, Play, plays_of
from aleazero.evaluation.regret import by_class
from aleazero.evaluation.statistics import Mean
from aleazero.files import os_errors_as, write_atomic
from aleazero.games.base import CHANCE_PLAYER, DECISION, Game, State
from aleazero.games.kit import kit_of
from aleazero.games.registry import load_game_once
from aleazero.native.random import JUDGED_PLAYS, stream_key
from aleazero.players.make import make_player
from aleazero.players.player import Player
from aleazero.players.spec import parse_spec
from aleazero.processes import Pool, open_pool

CHUNK: Final = 16
"""Number of games that are played, or positions that are decided, at the same time."""
SHARE: Final = 8
"""One of this many decisions of a game is judged, so that they come from many games."""
MOST_CHUNKS: Final = 100_000
"""Limit of the games that are played for decisions."""
WORST: Final = 10
SET_FORMAT: Final = 1
"""Version of the files of judged decisions."""
ERROR_UNIT: Final = 1000.0
PR_UNIT: Final = 500.0
Progress = Callable[[int, int], None]
"""Called with the number of decisions so far, and the total."""


class Loss(NamedTuple):
    """A judged decision of a player."""

    position: str
    kind: str
    source: str
    """Player whose game the position comes from; empty in the player's own games."""
    chosen: str
    best: str
    loss: float


@dataclass(frozen=True)
class ErrorSummary:
    """Losses of a group of decisions."""

    loss: Mean
    best: float
    """Share of decisions without loss."""

    @classmethod
    def of(cls, losses: Sequence[Loss]) -> ErrorSummary:
        """Summarize at least one decision."""
        numbers = np.array([one.loss for one in losses])
        return cls(Mean.of(numbers), float((numbers == 0.0).mean()))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data: the mean loss × 1000 with its standard error and interval, and × 500 as ``pr``."""
        mean = self.loss.to_dict()
        rate = {name: ERROR_UNIT * mean[name] for name in ("mean", "error", "low", "high")}
        return {
            "count": self.loss.count,
            "error_rate": {**rate, "low": max(0.0, rate["low"])},
            "pr": PR_UNIT * self.loss.mean,
            "best": self.best,
        }


@dataclass(frozen=True)
class ErrorReport:
    """Losses of a player's decisions."""

    losses: tuple[Loss, ...]

    @property
    def overall(self) -> ErrorSummary:
        """Summary of all decisions."""
        return ErrorSummary.of(self.losses)

    @property
    def by_kind(self) -> dict[str, ErrorSummary]:
        """Summaries by kind of decision, in order of first occurrence."""
        return self._by("kind")

    @property
    def by_source(self) -> dict[str, ErrorSummary]:
        """Summaries by source of the position; empty in the player's own games."""
        return {name: group for name, group in self._by("source").items() if name}

    @property
    def worst(self) -> list[Loss]:
        """The ten decisions with the highest loss; decisions without loss are left out."""
        return sorted((one for one in self.losses if one.loss > 0.0), key=lambda one: -one.loss)[:WORST]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "overall": self.overall.to_dict(),
            "by_kind": {name: group.to_dict() for name, group in self.by_kind.items()},
            "by_source": {name: group.to_dict() for name, group in self.by_source.items()},
            "worst": [one._asdict() for one in self.worst],
        }

    def _by(self, part: str) -> dict[str, ErrorSummary]:
        names = dict.fromkeys(getattr(one, part) for one in self.losses)
        return {name: ErrorSummary.of([one for one in self.losses if getattr(one, part) == name]) for name in names}


def judge_of(game: Game, spec: str | None = None) -> str:
    """Return the spec of a judge, by default that of the game's kit.

    Raises:
        ConfigError: no spec is given and the game has no judge, or the spec is invalid.
    """
    used = kit_of(game).judge if spec is None else spec
    if used is None:
        raise ConfigError(f"{game!r} has no judge, expected --judge with a player that values positions, e.g. oracle")
    parse_spec(used, "--judge", kit_of(game).players)
    return used


def make_judge(spec: str, game: Game) -> Judge:
    """Make a judge from a player spec.

    Raises:
        ConfigError: the spec is invalid, or this player does not value positions.
    """
    judge: Any = make_player(spec, game)
    if not hasattr(judge, "play_values"):
        known = kit_of(game).judge or "oracle"
        raise ConfigError(f"the player {spec!r} cannot judge: it has no values of positions, expected e.g. {known}")
    found: Judge = judge
    return found


# -- the player's own games --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnGames:
    """A task for worker processes: games of a player against itself, and their judge."""

    game: str
    """Text that ``load_game`` accepts."""
    params: Mapping[str, Any]
    player: str
    judge: str
    seed: int
    player_seed: int
    threads: int


def measure_errors(
    player: str,
    judge: str,
    game: Game,
    *,
    decisions: int = 1500,
    seed: int = 0,
    player_seed: int = 0,
    workers: int | Pool = 1,
    threads: int = 1,
    source: str | None = None,
    progress: Progress | None = None,
) -> ErrorReport:
    """Measure the error rate of a player in its games against itself.

    Args:
        player: spec of the player.
        judge: spec of the judge.
        game: the game.
        decisions: number of decisions to judge; one in eight decisions of the games is judged.
        seed: seed of the dice, and of the choice of decisions.
        player_seed: seed of the player's own random numbers.
        workers: number of processes, or an open pool. It does not change the result.
        threads: threads of the player's searches. It does not change the result.
        source: text that ``load_game`` accepts, for other processes; by default the name of the game.
        progress: called with the decisions judged so far and the total.

    Returns:
        The loss of each decision, with summaries.

    Raises:
        ConfigError: a spec is invalid, or the judge cannot judge.
    """
    make_player(player, game)  # raises before the first game
    make_judge(judge, game)
    job = OwnGames(source or game.name, game.params, player, judge, seed, player_seed, threads)
    losses: list[Loss] = []
    with closing(_open_losses(job, game, workers)) as found:
        for chunk in found:
            losses += chunk[: decisions - len(losses)]
            if progress is not None:
                progress(len(losses), decisions)
            if len(losses) == decisions:
                break
    if not losses:
        raise PositionError(f"{game!r} has no decisions with several plays, expected at least one")
    return ErrorReport(tuple(losses))


def _open_losses(job: OwnGames, game: Game, workers: int | Pool) -> Generator[list[Loss]]:
    """Yield the losses of each chunk of games, in order."""
    numbers = range(MOST_CHUNKS)
    if (workers.count if isinstance(workers, Pool) else workers) == 1:
        yield from (losses for _, losses in _losses_of_chunks(job, game, iter(numbers)))
        return
    waiting: dict[int, list[Loss]] = {}
    following = 0
    with open_pool(workers) as pool, closing(pool.run(judge_chunks, job, numbers)) as found:
        for number, losses in found:
            waiting[number] = losses
            while following in waiting:
                yield waiting.pop(following)
                following += 1


def judge_chunks(job: OwnGames, numbers: Iterator[int]) -> Iterator[tuple[int, list[Loss]]]:
    """Play and judge chunks of games in a worker process."""
    yield from _losses_of_chunks(job, load_game_once(job.game, job.params), numbers)


def _losses_of_chunks(job: OwnGames, game: Game, numbers: Iterator[int]) -> Iterator[tuple[int, list[Loss]]]:
    player, judge = make_player(job.player, game, threads=job.threads), make_judge(job.judge, game)
    for number in numbers:
        found = own_decisions(player, game, number, job.seed, job.player_seed)
        yield (
            number,
            [_loss(state, plays, chosen, judge.play_values(state, plays, [chosen])) for state, plays, chosen in found],
        )


def own_decisions(
    player: Player, game: Game, chunk: int, seed: int = 0, player_seed: int = 0
) -> Iterator[tuple[State, list[Play], int]]:
    """Play a chunk of games of a player against itself; yield decision states, their plays and the chosen play."""
    games = [
        PlayedGame(number, game_seed(seed, number), game.new_initial_state())
        for number in range(CHUNK * chunk, CHUNK * (chunk + 1))
    ]
    play_in_parallel(games, [[player] * game.num_players] * CHUNK, [player_seed] * CHUNK)
    for played in games:
        state, start, last = game.new_initial_state(), None, CHANCE_PLAYER
        for number, (mover, action) in enumerate(played.steps):
            begins = mover not in (CHANCE_PLAYER, last)
            if begins and stream_key(JUDGED_PLAYS, seed, played.number, number) % SHARE == 0:
                start = state.clone()
            state._apply(action)
            last = mover
            if start is not None and state.current_player() != mover:
                plays = plays_of(start)
                if len(plays) > 1:
                    yield start, plays, _number_of(state, plays)
                start = None


# -- fixed sets --------------------------------------------------------------------------------------------------------


class JudgedState(NamedTuple):
    """A decision state with the judge's value of every play, in the order of ``plays_of``."""

    state: State
    values: NDArray[np.float32]
    source: str
    """Spec of the player whose games the state comes from."""


def judged_set(game: Game, name: str) -> list[JudgedState]:
    """Return a set of decisions of the game's kit by name, or from a file ending in ``.safetensors``.

    Raises:
        ConfigError: there is no such set or file.
        PositionError: a position does not belong to the game.
    """
    sets = kit_of(game).judged
    if name.endswith(".safetensors"):
        return load_set(Path(name), game)
    if name not in sets:
        raise ConfigError(f"no set {name!r} of {game!r}, {nearest(name, sets)} (or a file ending in .safetensors)")
    return list(sets[name]())


def measure_on_set(
    player: Player, judged: Sequence[JudgedState], *, seed: int = 0, progress: Progress | None = None
) -> ErrorReport:
    """Measure the error rate of a player on a set of decisions whose plays have stored values.

    Args:
        player: the player.
        judged: the decisions, see ``load_set``.
        seed: seed of the player's own random numbers.
        progress: called with the decisions so far and the total.

    Returns:
        The loss of each decision, with summaries.
    """
    losses: list[Loss] = []
    for first in range(0, len(judged), CHUNK):
        chunk = judged[first : first + CHUNK]
        ends = _play(player, [one.state for one in chunk], seed)
        for one, end in zip(chunk, ends, strict=True):
            plays = plays_of(one.state)
            losses.append(_loss(one.state, plays, _number_of(end, plays), one.values, one.source))
        if progress is not None:
            progress(len(losses), len(judged))
    return ErrorReport(tuple(losses))


def _play(player: Player, states: Sequence[State], seed: int) -> list[State]:
    """Return the states after the plays of a player."""
    ends = [state.clone() for state in states]
    movers = [state.current_player() for state in states]
    while waiting := [row for row, end in enumerate(ends) if end.current_player() == movers[row]]:
        actions = player.select_many([ends[row] for row in waiting], [seed] * len(waiting))
        for row, action in zip(waiting, actions, strict=True):
            ends[row].apply_action(action)
    return ends


def save_set(path: Path, judged: Sequence[JudgedState], judge: str, note: str) -> None:
    """Write a set of decisions; ``note`` describes how it was made."""
    from safetensors.numpy import save

    sources = list(dict.fromkeys(one.source for one in judged))
    info = {"format": SET_FORMAT, "judge": judge, "sources": sources, "note": note}
    tensors: dict[str, NDArray[Any]] = {
        "positions": np.frombuffer("\n".join(one.state.to_text() for one in judged).encode(), np.uint8),
        "sources": np.array([sources.index(one.source) for one in judged], np.uint8),
        "counts": np.array([len(one.values) for one in judged], np.int32),
        "values": np.concatenate([one.values for one in judged]).astype(np.float32),
    }
    write_atomic(path, [save(tensors, {"aleazero": json.dumps(info)})])


def load_set(path: Path, game: Game) -> list[JudgedState]:
    """Read a set of decisions that ``save_set`` wrote.

    Raises:
        ConfigError: the file cannot be read, or is not a set.
        PositionError: a position does not belong to the game, or has another number of plays.
    """
    from safetensors import SafetensorError, safe_open

    problem = f"cannot read the set {str(path)!r}"
    try:
        with os_errors_as(ConfigError, problem), safe_open(path, "numpy") as file:
            info = json.loads((file.metadata() or {}).get("aleazero", "{}"))
            texts, sources, counts, values = (
                file.get_tensor(name) for name in ("positions", "sources", "counts", "values")
            )
        if info["format"] != SET_FORMAT:
            raise ConfigError(f"{problem}: its format is {info['format']!r}, expected {SET_FORMAT}")
        names = [str(info["sources"][number]) for number in sources]
        lines = texts.tobytes().decode().split("\n")
        starts = np.cumsum(counts)
        if not len(lines) == len(names) == len(counts) or starts[-1] != len(values) or min(counts) < 2:
            raise ValueError("its tensors do not fit together")
        if not np.isfinite(values).all():
            raise ValueError("a value is not finite")
    except (SafetensorError, ValueError, LookupError, TypeError) as error:
        raise ConfigError(f"{problem}: {error}, expected a file of judged decisions") from None
    found = []
    for line, name, part in zip(lines, names, np.split(values, starts[:-1]), strict=True):
        state = game.state_from_text(line)
        if state.kind() != DECISION or len(plays_of(state)) != len(part):
            raise PositionError(f"{path.name}: {line!r} does not have {len(part)} plays, expected another set")
        found.append(JudgedState(state, part, name))
    return found


# -- losses ------------------------------------------------------------------------------------------------------------


def _number_of(end: State, plays: Sequence[Play]) -> int:
    key = end.key()
    return next(number for number, play in enumerate(plays) if play.end.key() == key)


def _loss(state: State, plays: Sequence[Play], chosen: int, values: Any, source: str = "") -> Loss:
    best = int(np.argmax(values))
    kind, _ = (kit_of(state.game).classify or by_class)(state)
    loss = float(values[best]) - float(values[chosen])
    return Loss(state.to_text(), kind, source, play_text(state, plays[chosen]), play_text(state, plays[best]), loss)


def play_text(state: State, play: Play) -> str:
    """Return the names of the actions of a play."""
    names, after = [], state.clone()
    for action in play.actions:
        names.append(after.action_to_string(action))
        after._apply(action)
    return ", ".join(names)
