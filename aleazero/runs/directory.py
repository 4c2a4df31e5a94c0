"""The directory of a run: who works there, what was done so far, and where things lie.

    config.yaml       all settings
    manifest.json     what was done, and what came of it: no times, so that equal runs have equal manifests
    events.ndjson     what happened when
    models/           networks, by iteration
    learning/         where the afterstate recipe stands within an iteration
    replay/           samples of self-play
    gates/            a report of each gate, and its games
    evaluations/      what was measured beside it, and notes of the game's kit for the report
    scalars.csv, tensorboard/, report.html, images/

One process at a time works there and writes the manifest, always whole. Settings that change are written to config.yaml
first; the manifest has the plan that it follows. Where that is another one, killed between the two files, the run is
planned anew when it is opened.
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
from aleazero.runs.events import EVENTS, Events, read_events
from aleazero.untrusted import is_there, parse_json, read_regular
from aleazero.version import VERSION

FORMAT: Final = 3
"""Version of the directory's files."""
CONFIG, MANIFEST = "config.yaml", "manifest.json"
NOTES: Final = Path("evaluations") / "notes.json"
STRICT: Final = ConfigDict(strict=True, extra="forbid")
LOOSE: Final = ConfigDict(strict=True, extra="ignore")
MISSING: Final[Any] = None
MAY_CHANGE: Final = {"iterations", "rounds", "minutes", "evaluate", "keep"}
"""Settings that may be others when a run goes on; iterations only more than before."""


class _Estimate(BaseModel):
    """What is read of a mean."""

    model_config = LOOSE
    count: int
    mean: FiniteFloat
    error: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat


class _Rating(BaseModel):
    """What is read of a rating."""

    model_config = LOOSE
    name: str
    rating: FiniteFloat
    error: FiniteFloat
    low: FiniteFloat | None
    high: FiniteFloat | None


class _Measured(BaseModel):
    """What is read of an evaluation; all of it may be missing, nothing may be null."""

    model_config = LOOSE
    network: int = 0
    opponents: dict[str, _Estimate] = {}
    score: _Estimate = MISSING
    regret: _Estimate = MISSING
    regret_per_game: _Estimate = MISSING
    ratings: list[_Rating] = []


class _Learnt(BaseModel):
    """What is read of rounds of learning."""

    model_config = LOOSE
    rounds: Annotated[int, Field(ge=1)]


class _Played(BaseModel):
    """What is read of self-play."""

    model_config = LOOSE
    network: int | None


RESULTS: Final[dict[str, type[BaseModel]]] = {
    "learn": _Learnt,
    "selfplay": _Played,
    "evaluate": _Measured,
    "final": _Measured,
}
"""What the results of a phase must hold at least, by phase: what is read again when a run goes on, or is looked at."""


@dataclass
class Iteration:
    """What an iteration came to."""

    __pydantic_config__ = STRICT
    number: int
    done: list[str] = field(default_factory=list)
    """Phases that are over."""
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of each phase."""
    model: str | None = None
    """The hash of the network that came of it."""
    champion: int | None = None
    """Whose network is the champion behind its gate, by iteration."""

    def check(self) -> None:
        """Raise a ValueError if it says what no run writes."""
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
    """Settings that may change and that the rest of a run was planned by; where they are others, it is planned anew."""

    __pydantic_config__ = STRICT
    iterations: Annotated[int, Field(ge=1)]
    minutes: Annotated[float, Field(gt=0)] | None
    final_pairs: int
    final_reference_games: int

    @classmethod
    def of(cls, config: RunConfig) -> Schedule:
        """What settings ask for."""
        evaluate = config.evaluate
        return cls(config.iterations, config.minutes, evaluate.final_pairs, evaluate.final_reference_games)

    @property
    def final(self) -> tuple[int, int]:
        """How the champion is measured when all is over."""
        return self.final_pairs, self.final_reference_games


@dataclass
class Manifest:
    """What was done in a run."""

    __pydantic_config__ = STRICT
    format: int
    version: str
    """Of the code that began it."""
    game: str
    params: dict[str, Any]
    rules: str
    """Which rules: their version, and a hash of the file where they are a user's own."""
    recipe: str
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    settings: str
    """A hash of the settings that may not change."""
    plan: Schedule
    rounds: Annotated[int, Field(ge=1)] | None = None
    """Of the afterstate recipe in all; None while that is measured."""
    seeds: str | None = None
    """A hash of the gate's file of seeds, where it has one."""
    finished: bool = False
    iterations: list[Iteration] = field(default_factory=list)

    @classmethod
    def of(cls, config: RunConfig, game: Game) -> Manifest:
        """Of a run that has not begun."""
        return cls(FORMAT, VERSION, config.game, config.params, rules_id(config.game, game), config.recipe,
                   config.seed, settings_hash(config), Schedule.of(config), config.rounds,
                   seeds_of(config))  # fmt: skip

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read back what ``to_json`` wrote."""
        data = parse_json(text)
        if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
            raise RunError(f"its format is {data['format']}, expected {FORMAT}: another version of AleaZero wrote it")
        found = _adapter().validate_json(text)
        if [one.number for one in found.iterations] != list(range(1, len(found.iterations) + 1)):
            raise ValueError("its iterations are not one behind the other")
        if found.finished and not found.iterations:
            raise ValueError("it is finished without an iteration")
        for one in found.iterations:
            one.check()
        return found

    def to_json(self) -> str:
        """As text, the same for equal runs."""
        return json.dumps(without_nan(asdict(self)), indent=1, ensure_ascii=False) + "\n"

    @property
    def champion(self) -> int | None:
        """Whose network is the best so far, by iteration."""
        found = [one.champion for one in self.iterations if one.champion is not None]
        return found[-1] if found else None


@cache
def _adapter() -> TypeAdapter[Manifest]:
    """What checks a manifest, made once: that takes longer than checking one."""
    return TypeAdapter(Manifest)


@dataclass
class RunDirectory:
    """A run's directory, held by this process."""

    path: Path
    config: RunConfig
    manifest: Manifest
    events: Events

    @property
    def replay(self) -> Path:
        """Samples of self-play."""
        return self.path / "replay"

    def model(self, iteration: int) -> Path:
        """The network of an iteration."""
        return self.path / "models" / f"{iteration:04}.safetensors"

    def checked_model(self, iteration: int) -> Path:
        """The network of an iteration that wrote one, if its file is still the same."""
        path, wrote = self.model(iteration), self.manifest.iterations[iteration - 1].model
        found = file_hash(path, RunError)
        if wrote is not None and found != wrote:
            raise RunError(f"{path} is another file than the run wrote: its hash is {found}, expected {wrote}")
        return path

    def require_same_seeds(self) -> None:
        """Refuse a file of the gate's seeds that was edited since the run began."""
        if (found := seeds_of(self.config)) != self.manifest.seeds:
            raise RunError(
                f"{self.config.gate.seed_set} is another file than the run began with: its hash is {found}, expected "
                f"{self.manifest.seeds}; put it back, or start another run"
            )

    def iteration(self, number: int) -> Iteration:
        """The entry of an iteration, which is begun if it was not."""
        if number == len(self.manifest.iterations) + 1:
            self.manifest.iterations.append(Iteration(number))
        return self.manifest.iterations[number - 1]

    def write_manifest(self) -> None:
        """Write down what was done."""
        self.write(self.path / MANIFEST, self.manifest.to_json())

    def write(self, path: Path, text: str) -> None:
        """Write a file whole."""
        write_file(path, text, RunError)


@contextmanager
def open_directory(path: Path, config: RunConfig | None) -> Iterator[RunDirectory]:
    """Hold a run's directory: a new one for these settings, or one that goes on.

    Without settings the run goes on with its own. Settings that differ from the run's are refused, but for those of
    ``MAY_CHANGE``.
    """
    if config is None and not is_there(path / MANIFEST):
        raise RunError(f"{path} holds no run, expected a directory that `aleazero train` made")
    if "," in str(path):
        raise RunError(f"{path} has a comma, expected none: players are written net:PATH,KEY=VALUE")
    if is_there(path) and path.is_dir():
        if not (path / MANIFEST).exists():
            _require_empty(path, config)
        require_no_links(path)
    with locked(path, RunError):
        for left in path.rglob(".*.tmp"):  # by a process that was killed while it wrote
            if left.is_file():
                left.unlink()
        manifest = read_manifest(path) if (path / MANIFEST).exists() else None
        if manifest is not None and (config is None or not _nothing_done(path, manifest)):
            _require_this_version(path, manifest)
            held = read_own_config(path)
            config = held if config is None else config
            game = check_config(config, str(path / CONFIG))
            _require_same(path, manifest, held, config, game)
            _reschedule(manifest, config)
        else:
            assert config is not None
            manifest = Manifest.of(config, config.check())
        run = RunDirectory(path, config, manifest, Events(path / EVENTS))
        run.require_same_seeds()
        run.write(path / CONFIG, as_yaml(config))
        run.write_manifest()
        yield run


def read_manifest(path: Path) -> Manifest:
    """What was done in a run; anybody may read it."""
    file = path / MANIFEST
    with os_errors_as(RunError, f"{file} cannot be read"):
        try:
            content = read_regular(file)
        except FileNotFoundError:
            raise RunError(f"{path} holds no run, expected a directory that `aleazero train` made") from None
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
    """The notes that the game's kit had for the report of a run, by term.

    They are read from the run's own file: a report must not load a game, whose code may be somebody else's.
    """
    file = path / NOTES
    if not is_there(file):
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
    """The settings of a run; whether its game can be played is another question."""
    file = path / CONFIG
    try:
        with os_errors_as(RunError, f"{file} cannot be read"):
            text = read_regular(file).decode()
    except UnicodeDecodeError:
        raise RunError(f"{file} is no text, expected YAML") from None
    return make_config(parse(text, str(file)), str(file))


def settings_hash(config: RunConfig) -> str:
    """Sixteen letters that stand for the settings that may not change."""
    found = config.model_dump(mode="json", exclude=MAY_CHANGE)
    return hashlib.blake2b(json.dumps(found, sort_keys=True).encode(), digest_size=8).hexdigest()


def rules_id(spec: str, game: Game) -> str:
    """The version of the rules, and where they are a user's own file, its hash."""
    file = Path(spec.partition(":")[0])
    if file.suffix != ".py":
        return str(game.info.version)
    return f"{game.info.version}-{file_hash(file, RunError)}"


def seeds_of(config: RunConfig) -> str | None:
    """A hash of the gate's file of seeds; none where they are fresh, or have a name."""
    seed_set = config.gate.seed_set
    return None if seed_set is None or seed_set in NAMED else file_hash(Path(seed_set), RunError)


def require_no_links(path: Path) -> None:
    """Refuse a run's directory with a symbolic link, a pipe or a device inside: writing there would leave it."""
    if (odd := odd_entry(path)) is not None:
        kind = "a symbolic link" if odd.is_symlink() else "neither a file nor a directory"
        raise RunError(f"{odd} is {kind}, expected only files and directories inside a run: remove it")


def _require_empty(path: Path, config: RunConfig | None) -> None:
    """Of what a new run begins with, a process that was killed may have left something."""
    ours = (LOCK, CONFIG, f".{CONFIG}.*.tmp", f".{MANIFEST}.*.tmp")
    found = sorted(one.name for one in path.iterdir() if not any(fnmatch(one.name, name) for name in ours))
    if found:
        raise RunError(f"{path} holds {found[0]}, expected a new directory, or one of a run")
    file = path / CONFIG
    if config is not None and file.is_file() and read_regular(file) != as_yaml(config).encode():
        raise RunError(f"{file} would be overwritten, expected a directory without it: name another one with --out")


def _nothing_done(path: Path, manifest: Manifest) -> bool:
    """Whether a run was stopped, e.g. by an error, before it learned anything: other settings may take its place."""
    if manifest.iterations or not {one.name for one in path.iterdir()} <= {LOCK, CONFIG, MANIFEST, EVENTS}:
        return False
    events = read_events(path / EVENTS)
    return bool(events) and events[-1]["event"] == "stopped"


def _require_this_version(path: Path, manifest: Manifest) -> None:
    """Refuse to go on where other code began: it may learn otherwise. Looking at a run does not ask."""
    if manifest.version != VERSION:
        raise RunError(
            f"{path} holds a run of AleaZero {manifest.version}, got {VERSION}: expected the same; "
            f"install aleazero=={manifest.version} to go on, or start another run"
        )


def _require_same(path: Path, manifest: Manifest, held: RunConfig, config: RunConfig, game: Game) -> None:
    rules = rules_id(config.game, game)
    for name, had, got in (("game", manifest.game, config.game), ("params", manifest.params, config.params),
                           ("rules", manifest.rules, rules), ("recipe", manifest.recipe, config.recipe)):  # fmt: skip
        if had != got:
            raise RunError(f"{path} holds a run with {name} {had!r}, got {got!r}: expected the same, or another run")
    if settings_hash(config) != manifest.settings:
        name, before, after = _difference(held.model_dump(mode="json"), config.model_dump(mode="json"))
        if not name:
            raise RunError(f"{path / CONFIG} was changed by hand, expected the settings that the run began with")
        raise RunError(
            f"{path} holds a run with {name} {before!r}, got {after!r}: expected the same settings, or another run"
        )
    if config.iterations < len(manifest.iterations):
        raise ConfigError(
            f"iterations is {config.iterations}, expected at least {len(manifest.iterations)}: so many are done"
        )


def _reschedule(manifest: Manifest, config: RunConfig) -> None:
    """What is to be done by settings that changed: more iterations and rounds, or another look at the champion."""
    had, plan = manifest.plan, Schedule.of(config)
    done, wanted = len(manifest.iterations), plan.iterations
    if config.rounds is not None:
        manifest.rounds = config.rounds
    elif manifest.rounds is not None:
        share = wanted / had.iterations
        if had.minutes is not None and plan.minutes is not None and had.minutes != plan.minutes:
            share = plan.minutes / had.minutes
        manifest.rounds = max(wanted, round(manifest.rounds * share))
    learnt = [one.results["learn"]["rounds"] for one in manifest.iterations if "learn" in one.done]
    over = len(learnt)
    if manifest.rounds is not None and 0 < over < wanted and manifest.rounds * (over + 1) <= learnt[-1] * wanted:
        raise ConfigError(
            f"rounds is {manifest.rounds}, expected more in {wanted} iterations, e.g. "
            f"{-(-learnt[-1] * wanted // over)}: {learnt[-1]} are done in {over}"
        )
    if manifest.finished:
        last = manifest.iterations[-1]
        if any(plan.final) and ("final" not in last.done or plan.final != had.final):
            last.done = [phase for phase in last.done if phase != "final"]
            last.results.pop("final", None)
        manifest.finished = wanted == done and ("final" in last.done or not any(plan.final))
    manifest.plan = plan


def _difference(had: Any, wanted: Any, name: str = "") -> tuple[str, Any, Any]:
    """The first setting that differs, of those that may not."""
    if isinstance(had, dict) and isinstance(wanted, dict):
        for key in {**had, **wanted}:
            if had.get(key) != wanted.get(key) and (name or key not in MAY_CHANGE):
                return _difference(had.get(key), wanted.get(key), f"{name}.{key}".lstrip("."))
    return name, had, wanted
