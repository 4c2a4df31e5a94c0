"""A run of learning in a folder: rounds until all are done, checkpoints by number, and going on after a stop.

``learn.json`` says what is learnt, ``state.safetensors`` is where it stands (written whole, every half minute),
``net_00001000.safetensors`` the network after so many rounds, ``net.safetensors`` the newest, ``events.ndjson`` a line
for each checkpoint. A run that was killed goes on from the state and ends with the same networks: what a round does
depends on its number alone.

With minutes instead of rounds, the number of rounds is fixed once a twelfth of the time is over, before any rate has
begun to fall. It is written down, and a run with that many rounds gives the same networks.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from numpy.typing import NDArray

from aleazero.errors import AleaZeroError, CheckpointError, ConfigError
from aleazero.files import open_in_place, write_whole
from aleazero.games.base import Game
from aleazero.training.learner import read_state, write_state
from aleazero.untrusted import parse_json, read_regular

FORMAT: Final = 2
"""Version of the folder's files."""
PLAN, STATE, EVENTS, NEWEST, LOCK = "learn.json", "state.safetensors", "events.ndjson", "net.safetensors", ".lock"
SAVED_EVERY: Final = 30.0
"""Seconds between two states."""
MEASURED: Final = 1 / 12
"""Share of the minutes after which the number of rounds is fixed."""
CHECKPOINTS: Final = 10
UNKNOWN: Final = 2**40
"""Rounds, as long as their number is not fixed."""


@dataclass(frozen=True)
class Round:
    """What a round came to."""

    number: int
    """Rounds done, this one included."""
    turns: int
    games: int
    """That ended."""
    losses: Mapping[str, float]
    """By column, of the last step; none where tables learn."""
    learning_rate: float | None
    """None where steps adapt themselves."""
    mean_return: float | None
    """What player 0 got on average in the games that ended; None where none did."""
    evaluations: int | None = None
    """States that were valued; None where that is not counted."""


class Learner(Protocol):
    """What learns, round by round."""

    rounds: int
    """How many there will be in all."""
    rounds_done: int

    def round(self) -> Round:
        """Do a round, and tell what it came to."""

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on with the same result."""

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` told."""

    def save(self, path: Path) -> None:
        """Write the checkpoint that plays."""


@dataclass
class Run:
    """A run of learning, as its folder has it."""

    folder: Path
    plan: dict[str, Any]
    seconds: float = 0.0
    """Spent on rounds so far, but for the first of each process, which compiles."""

    @property
    def rounds(self) -> int | None:
        """How many rounds there will be; None while that is measured."""
        rounds: int | None = self.plan["rounds"]
        return rounds

    @property
    def owner(self) -> str:
        """Sixteen letters that stand for all that is learnt by, but for the number of rounds, which may be measured."""
        told = json.dumps({**self.plan, "rounds": None}, sort_keys=True)
        return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


OnRound = Callable[[Round, Run], None]
"""Called with what a round came to."""
OnCheckpoint = Callable[[Path, Run], Mapping[str, Any]]
"""Called with a checkpoint that was written; what it tells goes into the events."""


@contextmanager
def open_run(folder: Path, game: Game, spec: str, settings: Mapping[str, Any], minutes: float | None) -> Iterator[Run]:
    """The run in a folder, new or to go on with; nobody else may work there meanwhile.

    ``settings`` are all that the networks depend on, with ``rounds`` (None where minutes are given).
    """
    plan = {
        "format": FORMAT,
        "game": spec,
        "params": json.loads(json.dumps(game.params)),
        "rules_version": game.info.version,
        "minutes": minutes,
        **json.loads(json.dumps(settings)),
    }
    if (folder / "manifest.json").exists():
        raise ConfigError(f"{folder} holds a run of `aleazero train`, expected another folder: name one with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}, expected a folder") from None
    for name in (LOCK, PLAN, STATE, EVENTS, NEWEST):
        if (folder / name).is_symlink():
            raise ConfigError(f"{folder / name} is a symbolic link, expected a file, or none: remove it")
    try:
        lock = open_in_place(folder / LOCK, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        why = f"{folder / LOCK} cannot be written: {error.strerror or error}"
        raise ConfigError(f"{why}, expected a file, or none") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError(f"{folder} is in use by another process, expected a folder of its own") from None
        yield Run(folder, _settled(folder, plan))


def _settled(folder: Path, plan: dict[str, Any]) -> dict[str, Any]:
    """The plan in the folder, if it is the same; else this one, written down."""
    path = folder / PLAN
    try:
        found = parse_json(read_regular(path))
        known = {name: found[name] for name in plan}
        if not (known["rounds"] is None or (isinstance(known["rounds"], int) and known["rounds"] > 0)):
            raise ValueError(f"rounds is {known['rounds']!r}")
    except FileNotFoundError:
        if (folder / STATE).exists():
            raise ConfigError(f"{path} is missing beside {STATE}, expected both, or another folder") from None
        _write_json(path, plan)
        return plan
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is damaged: {error}; expected what `learn` wrote, or another folder") from None
    fixed = {"rounds": known["rounds"]} if plan["rounds"] is None else {}
    differing = _difference(known, {**plan, **fixed})
    if differing is None:
        return known
    if not (folder / STATE).exists() and not _checkpoints(folder):  # nothing came of it
        _write_json(path, plan)
        return plan
    name, had, wanted = differing
    raise ConfigError(
        f"{folder} holds a run with {name.removeprefix('settings.')} {had!r}, got {wanted!r}: expected the same "
        "settings, or another folder"
    )


def _difference(had: Any, wanted: Any, name: str = "") -> tuple[str, Any, Any] | None:
    """The first setting that differs: its name, and both values."""
    if not (isinstance(had, dict) and isinstance(wanted, dict)):
        return None if had == wanted else (name, had, wanted)
    found = (_difference(had.get(key), wanted.get(key), f"{name}.{key}".lstrip(".")) for key in {**had, **wanted})
    return next((one for one in found if one is not None), None)


def learn(
    learner: Learner, run: Run, on_round: OnRound | None = None, on_checkpoint: OnCheckpoint | None = None
) -> Path:
    """Do the rounds that are missing; the newest checkpoint."""
    read_events(run.folder)  # damage shows now, not at the first checkpoint
    run.seconds = read_state(run.folder / STATE, learner, run.owner) or 0.0
    learner.rounds = run.rounds or UNKNOWN
    saved, compiled = time.monotonic(), False
    while run.rounds is None or learner.rounds_done < run.rounds:
        began = time.perf_counter()
        try:
            told = learner.round()
        except AleaZeroError as error:
            raise type(error)(f"{error}; {_last_good(run.folder)}") from None
        run.seconds += time.perf_counter() - began if compiled else 0.0
        compiled = True
        if run.rounds is None and run.seconds >= MEASURED * 60.0 * run.plan["minutes"]:
            run.plan["rounds"] = max(learner.rounds_done + 1, round(learner.rounds_done / MEASURED))
            learner.rounds = run.plan["rounds"]
            _write_json(run.folder / PLAN, run.plan)
        if on_round is not None:
            on_round(told, run)
        if run.rounds is not None and _checkpoint_due(learner.rounds_done, run.rounds):
            _checkpoint(learner, run, told, on_checkpoint)
            saved = time.monotonic()
        elif time.monotonic() - saved >= SAVED_EVERY:
            write_state(run.folder / STATE, learner, run.seconds, run.owner)
            saved = time.monotonic()
    return run.folder / NEWEST


def _checkpoint_due(done: int, rounds: int) -> bool:
    return done == rounds or done % max(1, -(-rounds // CHECKPOINTS)) == 0


def _checkpoint(learner: Learner, run: Run, told: Round, on_checkpoint: OnCheckpoint | None) -> None:
    path = run.folder / f"net_{learner.rounds_done:08}.safetensors"
    learner.save(path)
    _write(run.folder / NEWEST, path.read_bytes())
    more = {} if on_checkpoint is None else dict(on_checkpoint(path, run))
    line = _as_json({"checkpoint": path.name, "seconds": run.seconds, **asdict(told), **more})
    # Whatever a killed run wrote of later rounds is told again.
    lines = [*(old for old in read_events(run.folder) if old["number"] < told.number), line]
    _write(run.folder / EVENTS, "".join(f"{json.dumps(one)}\n" for one in lines).encode())
    write_state(run.folder / STATE, learner, run.seconds, run.owner)


def read_events(folder: Path) -> list[dict[str, Any]]:
    """What a run says of its checkpoints."""
    try:
        events = [parse_json(line) for line in read_regular(folder / EVENTS).splitlines()]
        for event in events:
            int(event["number"])
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{folder / EVENTS} is damaged: {error}; expected a line of JSON for each checkpoint, or no such file"
        ) from None
    return events


def _as_json(value: Any) -> Any:
    """JSON has no NaN: null."""
    if isinstance(value, Mapping):
        return {name: _as_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _last_good(folder: Path) -> str:
    found = _checkpoints(folder)
    return f"the last good checkpoint is {found[-1]}" if found else "no checkpoint was written before"


def _checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("net_*.safetensors"))


def _write_json(path: Path, data: Any) -> None:
    _write(path, (json.dumps(data, indent=1) + "\n").encode())


def _write(path: Path, data: bytes) -> None:
    try:
        write_whole(path, [data])
    except OSError as error:
        raise CheckpointError(f"{path} cannot be written: {error.strerror or error}") from None
