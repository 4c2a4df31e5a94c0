"""Settings of a run, their YAML file with a strict schema, and changes from the command line.

An unknown key or an invalid value raises a ``ConfigError`` with the path of the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import Field, field_serializer, field_validator

from aleazero.errors import AleaZeroError, ConfigError, fields_below, fields_named, nearest
from aleazero.evaluation.gate import gate_seeds
from aleazero.evaluation.gate_rules import GateConfig
from aleazero.evaluation.match import NAMED
from aleazero.evaluation.strength import can_measure, strongest_opponent
from aleazero.files import os_errors_as
from aleazero.games.base import Game
from aleazero.games.registry import load_game
from aleazero.players.spec import parse_spec
from aleazero.search.config import SearchConfig
from aleazero.selfplay.config import SelfplayConfig
from aleazero.settings import Settings
from aleazero.training.config import TUPLES, AfterstateConfig, TrainConfig, TupleConfig, config_for
from aleazero.untrusted import path_exists

UNKNOWN: Final = 2**40
"""Number of rounds while it is not computed yet."""
MEASURED: Final = 1 / 12
"""Largest share of the minutes after which the number of rounds is computed."""
RUN_LEVEL: Final = ("seed", "rounds")
"""Settings of a recipe that are set at the top level of the file."""
TAG: Final = "tag:yaml.org,2002:"
MERGE: Final = f"{TAG}merge"
PLAIN: Final = {f"{TAG}{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null", "merge")}
"""Types of values that a file may have, those of JSON."""
MOST_BYTES: Final = 1 << 16
"""Largest size of a file."""
MOST_EXPANDED: Final = 1_000_000
"""Most characters and values of a file with every alias expanded."""
DEEPEST: Final = 32
"""Most levels of nesting."""
MOST_DIGITS: Final = 40
"""Most digits of an integer, in any base."""


class AlphazeroConfig(Settings):
    """Settings of the recipe ``alphazero``: each iteration plays games with a search, then fits a network."""

    games: int = Field(256, ge=1, description="Number of self-play games per iteration, from the second on.")
    first_games: int = Field(
        512, ge=1, description="Number of self-play games of the first iteration, which has no network yet."
    )
    selfplay: SelfplayConfig = Field(default_factory=SelfplayConfig, description="Settings of the self-play games.")
    train: TrainConfig = Field(
        default_factory=TrainConfig, description="Settings of the fit; its seed is the seed of the run."
    )
    inference: Literal["onnxruntime", "torch"] = Field(
        "onnxruntime", description="Library that evaluates the network in self-play."
    )
    actor: Literal["newest", "champion"] = Field("newest", description="Network that plays the self-play games.")
    start: Literal["newest", "champion"] = Field("newest", description="Network whose weights a fit starts from.")


class EvaluateConfig(Settings):
    """Settings of the evaluation of networks, which follows the gate."""

    every: int = Field(
        1, ge=1, description="Evaluate iterations whose number is a multiple of this; the last is always evaluated."
    )
    pairs: int = Field(
        100, ge=2, description="Number of pairs against each opponent; a pair plays the same dice with seats swapped."
    )
    against: tuple[str, ...] | None = Field(
        None,
        strict=False,
        description="Opponents: random, rollout, and oracle (solved games) or the game's reference player "
        "(solo-optimal in Yatzy). By default all that the game has.",
    )
    reference_games: int = Field(
        2000,
        ge=0,
        description="Number of games of the game's fast measurement, for networks of recipe `afterstate`; 0 for none.",
    )
    final_pairs: int = Field(
        0, ge=0, description="Number of pairs of the champion against each opponent at the end of the run; 0 for none."
    )
    final_reference_games: int = Field(
        0,
        ge=0,
        description="Number of games of the game's fast measurement of the champion at the end of the run; 0 for none.",
    )
    calibration_games: int = Field(
        1000,
        ge=0,
        description="Number of games of a network against itself that compare predicted values with results (recipe "
        "`afterstate`); 0 for none.",
    )
    regret: bool = Field(True, description="Whether to measure regret on fixed positions, if exact values are known.")


class KeepConfig(Settings):
    """Limits of the files that a run keeps."""

    models: int = Field(20, ge=1, description="Number of newest models to keep; the champion is always kept.")
    samples: int = Field(
        1_000_000, ge=1, description="Number of newest self-play samples to keep, at least the training window."
    )


class RunConfig(Settings):
    """Configuration of a training run, as in its YAML file.

    A run trains a network in each iteration, plays it against the champion in a gate, and evaluates it.
    """

    game: str = Field(
        description="Name of the game, or path/file.py:NAME of your own game, relative to the config file."
    )
    params: dict[str, Any] = Field(default_factory=dict, description="Parameters of the game, e.g. {players: 2}.")
    recipe: Literal["afterstate", "alphazero"] = Field(
        "afterstate",
        description="afterstate: learn values between turns, and plan each turn exactly. alphazero: self-play with a "
        "search, and a policy-value network.",
    )
    seed: int = Field(
        0, ge=0, lt=2**63, description="Seed of all random numbers; equal seeds and settings give bit-identical runs."
    )
    iterations: int = Field(
        6, ge=1, lt=UNKNOWN, description="Number of iterations; each ends with a gate and an evaluation."
    )
    rounds: int | None = Field(
        None,
        ge=1,
        lt=UNKNOWN,
        description="Number of learning rounds of all iterations together (recipe `afterstate`).",
    )
    minutes: float | None = Field(
        None,
        gt=0,
        description="Approximate minutes of learning, without gates and evaluations, in place of `rounds` (recipe "
        "`afterstate`).",
    )
    afterstate: AfterstateConfig | TupleConfig = Field(
        default_factory=AfterstateConfig,
        description="Settings of the recipe `afterstate`, for a network or for tables (`net.kind: tuples`). Defaults "
        "depend on the game.",
    )
    alphazero: AlphazeroConfig = Field(
        default_factory=AlphazeroConfig, description="Settings of the recipe `alphazero`."
    )
    play: str = Field(
        "", description="Settings of the network's player spec in gates and evaluations, e.g. `sims=64,c=0.12`."
    )
    gate: GateConfig = Field(
        default_factory=GateConfig,
        description="Settings of the gate, which decides whether a network becomes champion.",
    )
    evaluate: EvaluateConfig = Field(
        default_factory=EvaluateConfig, description="Settings of the evaluation of each network and of the champion."
    )
    keep: KeepConfig = Field(default_factory=KeepConfig, description="Limits of the files that the run keeps.")

    @field_validator("afterstate", mode="before")
    @classmethod
    def _read_afterstate(cls, given: Any) -> Any:
        """Choose the class by ``net.kind``, or else by settings that only tables have.

        The defaults depend on the game (``learning``), so only the given settings are kept and written to files.
        """
        if isinstance(given, AfterstateConfig | TupleConfig):
            return given
        if not isinstance(given, Mapping):
            raise ConfigError(f"afterstate is {given!r}, expected settings of the recipe, e.g. lanes: 64")
        for name in RUN_LEVEL:
            if name in given:
                raise ConfigError(f"afterstate.{name} is {given[name]!r}, expected {name} at the top of the file")
        net = given.get("net", {})
        if not isinstance(net, Mapping):
            raise ConfigError(f"afterstate.net is {net!r}, expected settings of a network, e.g. hidden: [64, 64]")
        others = given.keys() - AfterstateConfig.model_fields.keys()
        for_tables = others and others <= TupleConfig.model_fields.keys()
        kind = TupleConfig if net.get("kind", TUPLES if for_tables else None) == TUPLES else AfterstateConfig
        with fields_below("afterstate"):
            return kind(**given)

    @field_serializer("afterstate")
    def _as_given(self, afterstate: AfterstateConfig | TupleConfig) -> dict[str, Any]:
        given = afterstate.model_dump(mode="json", exclude_unset=True)
        if isinstance(afterstate, TupleConfig) and "net" in afterstate.model_fields_set:
            given["net"] = afterstate.net.model_dump(mode="json", exclude_unset=True)
        return given

    def load_game(self) -> Game:
        """Load the game of the run; later calls return the same game, so that a user's file is executed once."""
        return self._loaded_game

    @cached_property
    def _loaded_game(self) -> Game:
        return load_game(self.game, **self.params)

    def learning(self, game: Game) -> AfterstateConfig | TupleConfig:
        """Return the settings of the recipe ``afterstate``, with the game's defaults for missing settings."""
        given = self._as_given(self.afterstate)
        net = given.pop("net", {})
        with fields_below("afterstate"):
            return config_for(game, {**given, "seed": self.seed, "rounds": self.rounds or 1}, net)

    def check(self) -> Game:
        """Check the settings together and with the game.

        Returns:
            The game.

        Raises:
            ConfigError: if settings contradict each other or do not apply to the game.
        """
        game = self.load_game()
        self._check_play()
        self._check_gate_and_evaluation(game)
        if self.recipe == "alphazero":
            self._check_alphazero(game)
        else:
            self._check_afterstate(game)
        return game

    def _check_gate_and_evaluation(self, game: Game) -> None:
        if self.iterations > 1:  # the first network is champion without a gate
            with fields_below("gate"):
                self.gate.hypotheses(game)
        if self.gate.seed_set is not None:
            try:
                gate_seeds(self.gate, self.seed, 1)
            except ConfigError as error:
                raise ConfigError(f"gate.seed_set: {error}") from None
        against, known = self.evaluate.against, ("random", "rollout", strongest_opponent(game))
        for name in against or ():
            if name not in known:
                raise ConfigError(f"evaluate.against has {name!r}, {nearest(name, known)}")
        if against is not None and len(set(against)) != len(against):
            raise ConfigError(f"evaluate.against is {list(against)}, expected each opponent once")
        if self.evaluate.final_pairs == 1:
            raise ConfigError("evaluate.final_pairs is 1, expected at least 2, or 0 for none")

    def _check_alphazero(self, game: Game) -> None:
        for name in ("rounds", "minutes", "afterstate"):
            value = self._as_given(self.afterstate) if name == "afterstate" else getattr(self, name)
            if value:
                raise ConfigError(f"{name} is {value!r}, expected none with recipe alphazero")
        if self.alphazero.train.seed:
            raise ConfigError(
                f"alphazero.train.seed is {self.alphazero.train.seed}, expected seed at the top level of the file"
            )
        with fields_below("alphazero.selfplay"):
            self.alphazero.selfplay.full_simulations(game)
        if games := self.evaluate.final_reference_games:
            raise ConfigError(f"evaluate.final_reference_games is {games}, expected 0 with recipe alphazero")

    def _check_afterstate(self, game: Game) -> None:
        if (self.rounds is None) == (self.minutes is None):
            got = "neither" if self.rounds is None else "both"
            raise ConfigError(f"rounds and minutes: got {got}, expected one of them with recipe afterstate")
        if "alphazero" in self.model_fields_set:
            raise ConfigError("alphazero has settings, expected none with recipe afterstate")
        if self.rounds is not None and self.rounds < self.iterations:
            raise ConfigError(f"rounds is {self.rounds}, expected at least {self.iterations}, one per iteration")
        learning = self.learning(game)
        if self.minutes is not None and isinstance(learning, AfterstateConfig) and learning.hold < MEASURED:
            raise ConfigError(
                f"afterstate.hold is {learning.hold}, expected at least {MEASURED:.3g}, or rounds in place of "
                "minutes: the number of rounds is measured before any rate decays"
            )
        games = self.evaluate.final_reference_games
        if games and not can_measure(game):
            raise ConfigError(
                f"evaluate.final_reference_games is {games}, expected 0: {game!r} has no fast measurement"
            )

    def _check_play(self) -> None:
        """Check ``play`` before the first network is trained."""
        given = dict(parse_spec(f"net:PATH,{self.play}", "play").settings) if self.play else {}
        searches = given.get("sims", 0 if self.recipe == "afterstate" else 1)
        inference = given.get("inference")
        if inference is not None and self.recipe == "afterstate":
            raise ConfigError(f"play: inference is {inference!r}, expected none: value networks do not use it")
        if inference not in (None, "onnxruntime", "torch"):
            raise ConfigError(f"play: inference is {inference!r}, expected onnxruntime or torch")
        if self.recipe == "alphazero" and "prior_temperature" in given:
            raise ConfigError("play has prior_temperature, expected none: networks of recipe alphazero have priors")
        for name in ("chance", "c", "prior_temperature"):
            if name in given and not searches:
                raise ConfigError(f"play has {name}, which requires a search: add sims=N")
        if searches:
            with fields_named({"num_simulations": "play: sims", "c": "play: c"}):
                SearchConfig(num_simulations=searches, c=given.get("c", 1.0))


def schema() -> dict[str, Any]:
    """Return the JSON schema of a config file."""
    found = RunConfig.model_json_schema()
    for name in ("AfterstateConfig", "TupleConfig"):
        for setting in RUN_LEVEL:
            del found["$defs"][name]["properties"][setting]
    del found["$defs"]["TrainConfig"]["properties"]["seed"]
    return found


def read_config(path: Path, changes: Sequence[str] = ()) -> RunConfig:
    """Read and check a config file, with ``key.inner=value`` changes.

    Raises:
        ConfigError: if the file cannot be read, or a setting is unknown, invalid or does not apply to the game.
    """
    if path.suffix == ".py":
        raise ConfigError(
            f"{path} is a Python file, expected a config file in YAML: write `game: {path.name}` and `minutes: 6` into "
            f"{path.with_suffix('.yaml')}, or train without a config: `aleazero train "
            f"{path}`"
        )
    with os_errors_as(ConfigError, f"{path} cannot be read", "a config file"), path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    data = parse(content, str(path))
    for change in changes:
        apply_change(data, change)
    if isinstance(data.get("game"), int):
        data["game"] = str(data["game"])  # the name 2048
    if isinstance(data.get("game"), str):
        name, colon, inner = data["game"].partition(":")
        if name.endswith(".py"):
            data["game"] = f"{file_near(path.parent, name)}{colon}{inner}"
    gate = data.get("gate")
    if isinstance(gate, dict) and isinstance(gate.get("seed_set"), str) and gate["seed_set"] not in NAMED:
        gate["seed_set"] = file_near(path.parent, gate["seed_set"])
    config = make_config(data, str(path))
    check_config(config, str(path))
    return config


def make_config(data: dict[str, Any], where: str | None = None) -> RunConfig:
    """Check each setting and return the configuration; errors start with ``where``, e.g. the name of a file."""
    try:
        return RunConfig(**data)
    except ConfigError as error:
        raise error.at(where) from None


def check_config(config: RunConfig, where: str | None = None) -> Game:
    """Check the settings together and with the game, and return the game; errors start with ``where``."""
    try:
        return config.check()
    except ConfigError as error:
        raise error.at(where) from None
    except AleaZeroError as error:
        raise ConfigError(str(error), where=where) from None


def parse(text: str | bytes, where: str) -> dict[str, Any]:
    """Parse YAML settings."""
    content = text.encode() if isinstance(text, str) else text
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{where} has more than {MOST_BYTES:,} bytes, expected a config file")
    try:
        data = _load(content.decode())
    except UnicodeDecodeError:
        raise ConfigError(f"{where} is not a text file, expected YAML") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{where}{line}: {getattr(error, 'problem', None) or error}; expected YAML") from None
    except ValueError as error:  # e.g. an invalid date or number
        raise ConfigError(f"{where}: {error}; expected YAML") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise ConfigError(f"{where} has a {type(data).__name__}, expected settings as `key: value`")
    return data


def apply_change(data: dict[str, Any], change: str) -> None:
    """Set ``key.inner=value``."""
    name, equals, value = change.partition("=")
    keys = name.strip().split(".")
    if not equals or not all(keys):
        raise ConfigError(f"--set is {change!r}, expected KEY=VALUE, e.g. seed=3 or gate.pairs=200")
    for key in keys[:-1]:
        inner = data.setdefault(key, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set is {change!r}, but {key} is {inner!r}, expected settings inside it")
        data = inner
    try:
        data[keys[-1]] = _load(value) if value.strip() else value
    except (yaml.YAMLError, ValueError):
        data[keys[-1]] = value


def as_yaml(config: RunConfig) -> str:
    """Return all settings, including defaults, as a file that reads back to the same configuration."""
    return _as_text(config, {})


def in_full(config: RunConfig) -> str:
    """Return all settings as a file, including the defaults that depend on the game."""
    if config.recipe != "afterstate":
        return as_yaml(config)
    learning = config.learning(config.load_game()).model_dump(mode="json", exclude=set(RUN_LEVEL))
    return _as_text(config, {"afterstate": learning})


def _as_text(config: RunConfig, changes: Mapping[str, Any]) -> str:
    other_recipe = {"alphazero"} if config.recipe == "afterstate" else {"afterstate"}
    found = {**config.model_dump(mode="json", exclude=other_recipe), **changes}
    text: str = yaml.safe_dump(found, sort_keys=False, allow_unicode=True)
    return text


def file_near(folder: Path, name: str) -> str:
    """Return the absolute path of a file in the folder or else in the current one; the name if it is in neither."""
    for place in (folder / name, Path.cwd() / name):
        if path_exists(place) and place.is_file():
            return str(place.resolve())
    return name


class _Loader(yaml.SafeLoader):
    """Rejects repeated keys, of which YAML's own loader silently takes the last."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for where, _ in node.value:
        if where.tag == MERGE:  # `<<: *anchor` may be repeated, and its keys may be overridden
            continue
        if where.tag != f"{TAG}str":
            raise yaml.MarkedYAMLError(problem="a key is not text", problem_mark=where.start_mark)
        if where.value in seen:
            raise yaml.MarkedYAMLError(problem=f"{where.value!r} is given twice", problem_mark=where.start_mark)
        seen.add(where.value)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)
# 1e-3, which YAML 1.1 does not read as a number


def _load(text: str) -> Any:
    """Load YAML after checking its size; raises YAMLError or ValueError."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node, {})
        return loader.construct_document(node)
    except RecursionError:
        raise ValueError(f"it nests more than {DEEPEST} levels deep") from None
    finally:
        loader.dispose()


def _check_size(node: yaml.Node, known: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    """Return the size and depth of a node with aliases expanded; raise an error if it is too large.

    ``known`` has the results of other nodes; None for those whose computation is in progress.
    """
    if id(node) in known:
        if (found := known[id(node)]) is None:
            raise yaml.MarkedYAMLError(problem="an alias is inside its own anchor", problem_mark=node.start_mark)
        return found
    known[id(node)] = None
    inside: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        inside = [one for pair in node.value for one in pair]
    elif isinstance(node, yaml.SequenceNode):
        inside = node.value
    sizes = [_check_size(one, known) for one in inside]
    size = 1 + len(node.value) + sum(one for one, _ in sizes)
    levels = 1 + max((one for _, one in sizes), default=0)
    problem = ""
    if node.tag not in PLAIN:
        problem = f"a value has the type {node.tag.removeprefix(TAG)[:40]!r}, expected text in quotes"
    elif levels > DEEPEST:
        problem = f"it nests more than {DEEPEST} levels deep"
    elif node.tag == f"{TAG}int" and size > MOST_DIGITS:
        problem = f"a number has more than {MOST_DIGITS} digits"
    elif size > MOST_EXPANDED:
        problem = f"it has more than {MOST_EXPANDED:,} characters with aliases expanded"
    if problem:
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    known[id(node)] = size, levels
    return size, levels
