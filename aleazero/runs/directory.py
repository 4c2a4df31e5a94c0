"""The directory of a run: its files, its lock, and its state.

    config.yaml       all settings
    manifest.json     finished phases and their results, without times: equal runs have equal manifests
    events.ndjson     log of events with times
    models/           networks, by iteration
    learning/         state of the afterstate recipe within an iteration
    replay/           self-play samples
    gates/            report and recorded games of each gate
    evaluations/      results of evaluations, and notes of the game's kit for the report
    scalars.csv, tensorboard/, report.html, images/

One process at a time works in the directory. It writes the manifest atomically. Changed settings are written to
config.yaml first; the manifest has the schedule that it follows. If the two differ because the process was killed in
between, the schedule is updated when the run is opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from aleazero.errors import ConfigError, RunError
from aleazero.evaluation.match import NAMED
from aleazero.files import LOCK, file_hash, locked, odd_entry, os_errors_as, without_nan, write_file
from aleazero.games.base import Game
from aleazero.runs.config import RunConfig, as_yaml, check_config, make_config, parse
from aleazero.runs.events import EVENTS, Events
from aleazero.untrusted import parse_json, path_exists, read_regular
from aleazero.version import VERSION

FORMAT: Final = 4
"""Version of the directory's files."""
CONFIG, MANIFEST = "config.yaml", "manifest.json"
NO_RUN: Final = "{} is not a run, expected a directory made by `aleazero train`"
OTHER_RUN: Final = "{} is a run with {} {!r}, got {!r}: expected the same, or another directory"
NOTES: Final = Path("evaluations") / "notes.json"
STRICT: Final = ConfigDict(strict=True, extra="forbid")
LOOSE: Final = ConfigDict(strict=True, extra="ignore")
MISSING: Final[Any] = None
MAY_CHANGE: Final = {"iterations", "rounds", "minutes", "evaluate", "keep"}
"""Settings that may change when a run is resumed; iterations may not be fewer than those started."""


class _Estimate(BaseModel):
    """Required fields of a mean."""

    model_config = LOOSE
    count: int
    mean: FiniteFloat
    error: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat


class _Rating(BaseModel):
    """Required fields of a rating."""

    model_config = LOOSE
    name: str
    rating: FiniteFloat
    error: FiniteFloat
    low: FiniteFloat | None
    high: FiniteFloat | None


class _Measured(BaseModel):
    """Fields of an evaluation that are read; each may be missing, none may be null."""

    model_config = LOOSE
    network: int = 0
    opponents: dict[str, _Estimate] = {}
    score: _Estimate = MISSING
    regret: _Estimate = MISSING
    regret_per_game: _Estimate = MISSING
    ratings: list[_Rating] = []


class _Learned(BaseModel):
    """Required fields of learning rounds."""

    model_config = LOOSE
    rounds: Annotated[int, Field(ge=1)]


class _Played(BaseModel):
    """Required fields of self-play."""

    model_config = LOOSE
    network: int | None


RESULTS: Final[dict[str, type[BaseModel]]] = {
    "learn": _Learned,
    "selfplay": _Played,
    "evaluate": _Measured,
    "final": _Measured,
}
"""Required fields of the results of a phase, by phase."""


@dataclass
class Iteration:
    """State of an iteration."""

    __pydantic_config__ = STRICT
    number: int
    done: list[str] = field(default_factory=list)
    """Finished phases."""
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Results by phase."""
    model: str | None = None
    """Hash of the network."""
    champion: int | None = None
    """Iteration of the champion after the gate."""

    def check(self) -> None:
        """Raise a ValueError if no run can have this state."""
        where = f"iteration {self.number}"
        for phase, kind in RESULTS.items():
            if self.results.get(phase):
                try:
                    kind.model_validate(self.results[phase])
                except ValidationError as error:
                    first = error.errors()[0]
                    place = ".".join(map(str, (phase, *first["loc"])))
                    raise ValueError(f"{where}: {place}: {first['msg']}") from None
            elif phase in self.done and phase in ("learn", "selfplay"):
                raise ValueError(f"{where} has no results of {phase!r}")
        actor = self.results.get("selfplay", {}).get("network")
        for name, number, last in (
            ("champion", self.champion, self.number),
            ("selfplay.network", actor, self.number - 1),
        ):
            if number is not None and not 1 <= number <= last:
                raise ValueError(f"{where}: {name} is {number}, expected at least 1 and at most {last}")


@dataclass
class Schedule:
    """The settings that may change and that determine the remaining phases of a run."""

    __pydantic_config__ = STRICT
    iterations: Annotated[int, Field(ge=1)]
    minutes: Annotated[float, Field(gt=0)] | None
    final_pairs: int
    final_reference_games: int

    @classmethod
    def of(cls, config: RunConfig) -> Schedule:
        """Return the schedule of a configuration."""
        evaluate = config.evaluate
        return cls(config.iterations, config.minutes, evaluate.final_pairs, evaluate.final_reference_games)

    @property
    def final(self) -> tuple[int, int]:
        """Settings of the final evaluation of the champion."""
        return self.final_pairs, self.final_reference_games


@dataclass
class Manifest:
    """State of a run, as in manifest.json."""

    __pydantic_config__ = STRICT
    format: int
    version: str
    """Version of AleaZero that started the run."""
    game: str
    params: dict[str, Any]
    rules: str
    """Version of the rules, with a hash of the file if it is the user's."""
    recipe: str
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    settings: str
    """Hash of the settings that may not change."""
    plan: Schedule
    rounds: Annotated[int, Field(ge=1)] | None = None
    """Total number of learning rounds (recipe ``afterstate``); None until it is computed from the minutes."""
    seeds: str | None = None
    """Hash of the gate's seed file; None if it has none."""
    finished: bool = False
    iterations: list[Iteration] = field(default_factory=list)

    @classmethod
    def of(cls, config: RunConfig, game: Game) -> Manifest:
        """Return the manifest of a new run."""
        return cls(FORMAT, VERSION, config.game, config.params, rules_id(config.game, game), config.recipe,
                   config.seed, settings_hash(config), Schedule.of(config), config.rounds,
                   seeds_of(config))  # fmt: skip

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read the text of ``to_json``."""
        data = parse_json(text)
        if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
            raise RunError(f"its format is {data['format']}, expected {FORMAT}: another version of AleaZero wrote it")
        found = _adapter().validate_json(text)
        if [one.number for one in found.iterations] != list(range(1, len(found.iterations) + 1)):
            raise ValueError("its iterations are not consecutive")
        if found.finished and not found.iterations:
            raise ValueError("it is finished without an iteration")
        for one in found.iterations:
            one.check()
        return found

    def to_json(self) -> str:
        """Return the text of the file, the same for equal runs."""
        return json.dumps(without_nan(asdict(self)), indent=1, ensure_ascii=False) + "\n"

    @property
    def champion(self) -> int | None:
        """Iteration of the current champion."""
        found = [one.champion for one in self.iterations if one.champion is not None]
        return found[-1] if found else None


@cache
def _adapter() -> TypeAdapter[Manifest]:
    """Return the validator of manifests; making it takes longer than validating."""
    return TypeAdapter(Manifest)


@dataclass
class RunDirectory:
    """The directory of a run, locked by this process."""

    path: Path
    config: RunConfig
    manifest: Manifest
    events: Events

    @property
    def replay(self) -> Path:
        """Folder of self-play samples."""
        return self.path / "replay"

    def model(self, iteration: int) -> Path:
        """Return the file of an iteration's network."""
        return self.path / "models" / f"{iteration:04}.safetensors"

    def checked_model(self, iteration: int) -> Path:
        """Return the file of an iteration's network, after checking that it is the one that the run wrote."""
        path, expected = self.model(iteration), self.manifest.iterations[iteration - 1].model
        found = file_hash(path, RunError)
        if expected is not None and found != expected:
            raise RunError(f"{path} is not the file that the run wrote: its hash is {found}, expected {expected}")
        return path

    def require_same_seeds(self) -> None:
        """Check that the gate's seed file was not edited since the run started."""
        if (found := seeds_of(self.config)) != self.manifest.seeds:
            raise RunError(
                f"{self.config.gate.seed_set} was changed since the run started: its hash is {found}, expected "
                f"{self.manifest.seeds}; restore it, or start another run"
            )

    def iteration(self, number: int) -> Iteration:
        """Return the state of an iteration; the next iteration is added."""
        if number == len(self.manifest.iterations) + 1:
            self.manifest.iterations.append(Iteration(number))
        return self.manifest.iterations[number - 1]

    def write_manifest(self) -> None:
        """Write the manifest."""
        self.write(self.path / MANIFEST, self.manifest.to_json())

    def write(self, path: Path, text: str) -> None:
        """Write a file atomically."""
        write_file(path, text, RunError)


@contextmanager
def open_directory(path: Path, config: RunConfig | None) -> Iterator[RunDirectory]:
    """Open and lock the directory of a new run, or of a run to resume.

    Without ``config`` a run is resumed with its own settings. Settings other than those of ``MAY_CHANGE`` must be the
    same as in the run, if it has saved any training.
    """
    if config is None and not path_exists(path / MANIFEST):
        raise RunError(NO_RUN.format(path))
    if "," in str(path):
        raise RunError(f"{path} has a comma, expected none: player specs have the form net:PATH,KEY=VALUE")
    if path_exists(path) and path.is_dir():
        if not (path / MANIFEST).exists():
            _require_empty(path, config)
        require_no_links(path)
    with locked(path, RunError):
        for leftover in path.rglob(".*.tmp"):  # of a process that was killed while writing
            if leftover.is_file():
                leftover.unlink()
        manifest = read_manifest(path) if (path / MANIFEST).exists() else None
        if manifest is not None and (config is None or not _nothing_saved(path, manifest)):
            _require_this_version(path, manifest)
            stored = read_own_config(path)
            config = stored if config is None else config
            game = check_config(config, str(path / CONFIG))
            _require_same(path, manifest, stored, config, game)
            _reschedule(manifest, config)
        else:
            assert config is not None
            replaced, manifest = manifest, Manifest.of(config, config.check())
            if replaced not in (None, manifest):  # other settings: the old events belong to another run
                with os_errors_as(RunError, f"{path / EVENTS} cannot be removed"):
                    (path / EVENTS).unlink(missing_ok=True)
        run = RunDirectory(path, config, manifest, Events(path / EVENTS))
        run.require_same_seeds()
        run.write(path / CONFIG, as_yaml(config))
        run.write_manifest()
        yield run


def read_manifest(path: Path) -> Manifest:
    """Read the manifest of a run; this needs no lock."""
    file = path / MANIFEST
    with os_errors_as(RunError, f"{file} cannot be read"):
        try:
            content = read_regular(file)
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(NO_RUN.format(path)) from None
    try:
        return Manifest.from_json(content.decode())
    except RunError as error:
        raise RunError(f"{file}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise RunError(f"{file} is damaged: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as error:
        raise RunError(f"{file} is damaged: {str(error)[:100]}") from None


def read_notes(path: Path) -> dict[str, str]:
    """Read the notes of the game's kit for the report of a run, by term.

    They are read from a file of the run, because a report must not execute the code of a game.
    """
    file = path / NOTES
    if not path_exists(file):
        return {}
    try:
        with os_errors_as(RunError, f"{file} cannot be read"):
            notes = parse_json(read_regular(file))
    except ValueError as error:
        raise RunError(f"{file} is damaged: {str(error)[:100]}") from None
    if not isinstance(notes, dict) or not all(isinstance(note, str) for note in notes.values()):
        raise RunError(f"{file} is damaged: expected sentences by term")
    return notes


def read_own_config(path: Path) -> RunConfig:
    """Read the settings of a run without loading its game."""
    file = path / CONFIG
    try:
        with os_errors_as(RunError, f"{file} cannot be read"):
            text = read_regular(file).decode()
    except UnicodeDecodeError:
        raise RunError(f"{file} is not a text file, expected YAML") from None
    return make_config(parse(text, str(file)), str(file))


def settings_hash(config: RunConfig) -> str:
    """Return a hash of the settings that may not change."""
    found = config.model_dump(mode="json", exclude=MAY_CHANGE)
    return hashlib.blake2b(json.dumps(found, sort_keys=True).encode(), digest_size=8).hexdigest()


def rules_id(spec: str, game: Game) -> str:
    """Return the version of the rules, with a hash of the file if it is the user's."""
    file = Path(spec.partition(":")[0])
    if file.suffix != ".py":
        return str(game.info.version)
    return f"{game.info.version}-{file_hash(file, RunError)}"


def seeds_of(config: RunConfig) -> str | None:
    """Return a hash of the gate's seed file; None for fresh seeds and named sets."""
    seed_set = config.gate.seed_set
    return None if seed_set is None or seed_set in NAMED else file_hash(Path(seed_set), RunError)


def require_no_links(path: Path) -> None:
    """Reject a directory with a symbolic link, a pipe or a device inside, which could lead writes outside of it."""
    if (odd := odd_entry(path)) is not None:
        kind = "a symbolic link" if odd.is_symlink() else "neither a file nor a directory"
        raise RunError(f"{odd} is {kind}, expected only files and directories inside a run: remove it")


def _require_empty(path: Path, config: RunConfig | None) -> None:
    """Check that a directory without manifest has no files, except leftovers of a new run that was killed."""
    ours = (LOCK, CONFIG, f".{CONFIG}.*.tmp", f".{MANIFEST}.*.tmp")
    found = sorted(one.name for one in path.iterdir() if not any(fnmatch(one.name, name) for name in ours))
    if found:
        raise RunError(f"{path} contains {found[0]}, expected a new directory, or the directory of a run")
    file = path / CONFIG
    if config is not None and file.is_file() and read_regular(file) != as_yaml(config).encode():
        raise RunError(f"{file} would be overwritten, expected a directory without it: choose another one with --out")


def _nothing_saved(path: Path, manifest: Manifest) -> bool:
    """Return whether a run ended before it saved any training, so that other settings may replace it."""
    return not manifest.iterations and {one.name for one in path.iterdir()} <= {LOCK, CONFIG, MANIFEST, EVENTS}


def _require_this_version(path: Path, manifest: Manifest) -> None:
    """Check that the run was started by this version of AleaZero; another may train differently."""
    if manifest.version != VERSION:
        raise RunError(
            f"{path} is a run of AleaZero {manifest.version}, this is {VERSION}: "
            f"install aleazero=={manifest.version} to resume it, or start another run"
        )


def _require_same(path: Path, manifest: Manifest, stored: RunConfig, config: RunConfig, game: Game) -> None:
    """Check that game and settings are those of the run, except for settings that may change."""
    rules = rules_id(config.game, game)
    for name, had, got in (("game", manifest.game, config.game), ("params", manifest.params, config.params),
                           ("rules", manifest.rules, rules), ("recipe", manifest.recipe, config.recipe)):  # fmt: skip
        if had != got:
            raise RunError(OTHER_RUN.format(path, name, had, got))
    if settings_hash(config) != manifest.settings:
        name, had, got = _difference(stored.model_dump(mode="json"), config.model_dump(mode="json"))
        if not name:
            raise RunError(f"{path / CONFIG} was edited, expected the settings that the run started with")
        raise RunError(OTHER_RUN.format(path, name, had, got))
    if config.iterations < len(manifest.iterations):
        raise ConfigError(
            f"iterations is {config.iterations}, expected at least {len(manifest.iterations)}, which have started"
        )


def _reschedule(manifest: Manifest, config: RunConfig) -> None:
    """Apply changed settings: more iterations or rounds, or another final evaluation."""
    had, plan = manifest.plan, Schedule.of(config)
    done, wanted = len(manifest.iterations), plan.iterations
    if config.rounds is not None:
        manifest.rounds = config.rounds
    elif manifest.rounds is not None:
        share = wanted / had.iterations
        if had.minutes is not None and plan.minutes is not None and had.minutes != plan.minutes:
            share = plan.minutes / had.minutes
        manifest.rounds = max(wanted, round(manifest.rounds * share))
    rounds = [one.results["learn"]["rounds"] for one in manifest.iterations if "learn" in one.done]
    count = len(rounds)
    if manifest.rounds is not None and 0 < count < wanted and manifest.rounds * (count + 1) <= rounds[-1] * wanted:
        raise ConfigError(
            f"rounds is {manifest.rounds}, expected more in {wanted} iterations, e.g. "
            f"{-(-rounds[-1] * wanted // count)}: {rounds[-1]} are done in {count}"
        )
    if count == wanted:
        name, before, after = "minutes", str(had.minutes), str(plan.minutes)
        if config.rounds is not None:
            name, before, after = "rounds", str(rounds[-1]), str(config.rounds)
        if before != after:
            raise ConfigError(
                f"{name} is {after}, expected {before}: all iterations ({count}) are trained. To train longer, also "
                "increase iterations, or start another run"
            )
    if manifest.finished:
        last = manifest.iterations[-1]
        if any(plan.final) and ("final" not in last.done or plan.final != had.final):
            last.done = [phase for phase in last.done if phase != "final"]
            last.results.pop("final", None)
        manifest.finished = wanted == done and ("final" in last.done or not any(plan.final))
    manifest.plan = plan


def _difference(had: Any, wanted: Any, name: str = "") -> tuple[str, Any, Any]:
    """Return the first setting that differs but may not change: its path, and both values."""
    if isinstance(had, dict) and isinstance(wanted, dict):
        for key in {**had, **wanted}:
            if had.get(key) != wanted.get(key) and (name or key not in MAY_CHANGE):
                return _difference(had.get(key), wanted.get(key), f"{name}.{key}".lstrip("."))
    return name, had, wanted
