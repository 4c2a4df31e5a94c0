"""Settings of a run, and their file: YAML with one strict schema, and changes from the command line.

An unknown key or an impossible value raises a ``ConfigError`` that names the key's path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import Field, field_serializer, field_validator

from aleazero.errors import AleaZeroError, ConfigError, fields_below, fields_named, nearest
from aleazero.evaluation.gate import gate_seeds
from aleazero.evaluation.gate_rules import GateConfig
from aleazero.evaluation.match import NAMED
from aleazero.evaluation.strength import NAMES, can_measure
from aleazero.files import os_errors_as
from aleazero.games.base import Game
from aleazero.games.registry import load_game
from aleazero.players.spec import parse_spec
from aleazero.search.config import SearchConfig
from aleazero.selfplay.config import SelfplayConfig
from aleazero.settings import Settings
from aleazero.training.config import TUPLES, AfterstateConfig, TrainConfig, TupleConfig, config_for
from aleazero.untrusted import is_there

UNKNOWN: Final = 2**40
"""Rounds, as long as their number is not fixed."""
MEASURED: Final = 1 / 12
"""Share of the minutes after which the number of rounds is fixed, at the latest."""
RUN_LEVEL: Final = ("seed", "rounds")
"""Settings of a recipe that the run has for itself."""
TAG: Final = "tag:yaml.org,2002:"
MERGE: Final = f"{TAG}merge"
PLAIN: Final = {f"{TAG}{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null", "merge")}
"""The values that a file may have: those of JSON."""
MOST_BYTES: Final = 1 << 16
"""Of a file."""
MOST_EXPANDED: Final = 1_000_000
"""Characters and values with every alias written out."""
DEEPEST: Final = 32
"""Levels of nesting."""
MOST_DIGITS: Final = 40
"""Of an integer, in any base."""


class AlphazeroConfig(Settings):
    """The recipe ``alphazero``: games with a search, and a fit, in each iteration."""

    games: int = Field(256, ge=1, description="Of self-play in an iteration.")
    first_games: int = Field(512, ge=1, description="In the first one, which knows nothing yet.")
    selfplay: SelfplayConfig = Field(default_factory=SelfplayConfig, description="How its games are played.")
    train: TrainConfig = Field(
        default_factory=TrainConfig, description="How a network is fitted; the seed is the run's."
    )
    inference: Literal["onnxruntime", "torch"] = Field("onnxruntime", description="What computes networks in play.")
    actor: Literal["newest", "champion"] = Field("newest", description="Whose network plays against itself.")
    start: Literal["newest", "champion"] = Field("newest", description="Whose weights a fit goes on from.")


class EvaluateConfig(Settings):
    """What is measured beside the gate."""

    every: int = Field(
        1, ge=1, description="In each iteration whose number is a multiple; the last is always measured."
    )
    pairs: int = Field(100, ge=2, description="Against each opponent, on the same luck with seats swapped.")
    against: tuple[str, ...] | None = Field(
        None,
        strict=False,
        description="Which of the fixed opponents: random, rollout, oracle; left out: all that the game has.",
    )
    reference_games: int = Field(
        2000,
        ge=0,
        description="Games of the fast measurement that the game has for networks of recipe `afterstate`; 0 for none.",
    )
    final_pairs: int = Field(
        0, ge=0, description="Of the champion when the run is over, on other luck, against each opponent."
    )
    final_reference_games: int = Field(
        0, ge=0, description="Games of the same fast measurement for the champion at the end of the run; 0 for none."
    )
    calibration_games: int = Field(
        1000, ge=0, description="Of a network against itself, for how right its values are (recipe afterstate)."
    )
    regret: bool = Field(True, description="Whether decisions are judged on the game's fixed set, where it has one.")


class KeepConfig(Settings):
    """What stays on disk."""

    models: int = Field(20, ge=1, description="Newest models; the champion stays in any case.")
    samples: int = Field(1_000_000, ge=1, description="Newest samples of self-play; the training window stays anyway.")


class RunConfig(Settings):
    """All that a run is."""

    game: str = Field(description="A game's name, or your own as path/file.py:NAME, from this file's folder.")
    params: dict[str, Any] = Field(default_factory=dict, description="Of the game.")
    recipe: Literal["afterstate", "alphazero"] = Field(
        "afterstate", description="afterstate: turns planned exactly; alphazero: self-play with a search."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Same seed and settings, same run to the bit.")
    iterations: int = Field(6, ge=1, lt=UNKNOWN, description="After each, a gate and an evaluation.")
    rounds: int | None = Field(
        None, ge=1, lt=UNKNOWN, description="Of the afterstate recipe, in all iterations together."
    )
    minutes: float | None = Field(
        None, gt=0, description="Instead of rounds: about how long is learnt, gates and evaluations excluded."
    )
    afterstate: AfterstateConfig | TupleConfig = Field(
        default_factory=AfterstateConfig,
        description="Settings of the recipe `afterstate`, for a network or for tables (`net.kind: tuples`). Defaults "
        "depend on the game.",
    )
    alphazero: AlphazeroConfig = Field(default_factory=AlphazeroConfig, description="Settings of that recipe.")
    play: str = Field(
        "", description="How a network plays in gates and evaluations, behind net:PATH, e.g. `sims=64,c=0.12`."
    )
    gate: GateConfig = Field(default_factory=GateConfig, description="What it takes to become the champion.")
    evaluate: EvaluateConfig = Field(
        default_factory=EvaluateConfig, description="What each iteration, and the champion, is measured by."
    )
    keep: KeepConfig = Field(default_factory=KeepConfig, description="How much of it stays on disk.")

    @field_validator("afterstate", mode="before")
    @classmethod
    def _read_afterstate(cls, given: Any) -> Any:
        """Choose the class: by ``net.kind``, or else by settings that only tables have.

        The game may choose the other one (``learning``), as it has defaults of its own. So only what is given counts,
        and is written to files.
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
        """The game that is learnt."""
        return load_game(self.game, **self.params)

    def learning(self, game: Game) -> AfterstateConfig | TupleConfig:
        """Return the settings of the recipe ``afterstate``, with the game's defaults for those that are not given."""
        given = self._as_given(self.afterstate)
        net = given.pop("net", {})
        with fields_below("afterstate"):
            return config_for(game, {**given, "seed": self.seed, "rounds": self.rounds or 1}, net)

    def check(self) -> Game:
        """Refuse what does not go together; the game."""
        game = self.load_game()
        self._check_play()
        if self.iterations > 1:  # the first network is champion without a gate
            with fields_below("gate"):
                self.gate.hypotheses(game)
        if self.gate.seed_set is not None:
            try:
                gate_seeds(self.gate, self.seed, 1)
            except ConfigError as error:
                raise ConfigError(f"gate.seed_set: {error}") from None
        against = self.evaluate.against
        for word in against or ():
            if word not in NAMES:
                raise ConfigError(f"evaluate.against has {word!r}, {nearest(word, NAMES)}")
        if against is not None and len(set(against)) != len(against):
            raise ConfigError(f"evaluate.against is {list(against)}, expected each opponent once")
        if self.evaluate.final_pairs == 1:
            raise ConfigError("evaluate.final_pairs is 1, expected at least 2, or 0 for none")
        if self.recipe == "alphazero":
            for name in ("rounds", "minutes", "afterstate"):
                value = self._as_given(self.afterstate) if name == "afterstate" else getattr(self, name)
                if value:
                    raise ConfigError(f"{name} is {value!r}, expected none with recipe alphazero")
            if self.alphazero.train.seed:
                raise ConfigError(
                    f"alphazero.train.seed is {self.alphazero.train.seed}, expected seed at the top of the file"
                )
            with fields_below("alphazero.selfplay"):
                self.alphazero.selfplay.full_simulations(game)
            if games := self.evaluate.final_reference_games:
                raise ConfigError(f"evaluate.final_reference_games is {games}, expected 0 with recipe alphazero")
        else:
            if (self.rounds is None) == (self.minutes is None):
                got = "neither" if self.rounds is None else "both"
                raise ConfigError(f"rounds and minutes: got {got}, expected one of them with recipe afterstate")
            if "alphazero" in self.model_fields_set:
                raise ConfigError("alphazero has settings, expected none with recipe afterstate")
            if self.rounds is not None and self.rounds < self.iterations:
                raise ConfigError(f"rounds is {self.rounds}, expected at least {self.iterations}, one an iteration")
            learning = self.learning(game)
            if self.minutes is not None and isinstance(learning, AfterstateConfig) and learning.hold < MEASURED:
                raise ConfigError(
                    f"afterstate.hold is {learning.hold}, expected at least {MEASURED:.3g}, or rounds in place of "
                    "minutes: the number of rounds is measured before any rate falls"
                )
            games = self.evaluate.final_reference_games
            if games and not can_measure(game):
                raise ConfigError(
                    f"evaluate.final_reference_games is {games}, expected 0: {game!r} has no fast measurement"
                )
        return game

    def _check_play(self) -> None:
        """Refuse settings of play that the recipe's networks do not have, before one is learnt."""
        given = dict(parse_spec(f"net:PATH,{self.play}", "play").settings) if self.play else {}
        searches = given.get("sims", 0 if self.recipe == "afterstate" else 1)
        inference = given.get("inference")
        if inference is not None and self.recipe == "afterstate":
            raise ConfigError(f"play: inference is {inference!r}, expected none: a value network computes itself")
        if inference not in (None, "onnxruntime", "torch"):
            raise ConfigError(f"play: inference is {inference!r}, expected onnxruntime or torch")
        if self.recipe == "alphazero" and "prior_temperature" in given:
            raise ConfigError("play has prior_temperature, expected none: networks of recipe alphazero have priors")
        for name in ("chance", "c", "prior_temperature"):
            if name in given and not searches:
                raise ConfigError(f"play has {name}, which is of a search, expected sims=N beside it")
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
    """The settings in a file, with ``key.inner=value`` changes; whole and possible, or an error by the key's path."""
    if path.suffix == ".py":
        raise ConfigError(
            f"{path} is a Python file, expected a config file in YAML: write `game: {path.name}` and `minutes: 6` into "
            f"{path.with_suffix('.yaml')}, or train without a config: `aleazero train "
            f"{path}`"
        )
    with os_errors_as(ConfigError, f"{path} cannot be read", "a file of settings"), path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    data = parse(content, str(path))
    for change in changes:
        apply_change(data, change)
    if isinstance(data.get("game"), int):
        data["game"] = str(data["game"])  # 2048 is a name
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
    """The settings, if each is possible; errors begin with where they stand, e.g. the name of a file."""
    try:
        return RunConfig(**data)
    except ConfigError as error:
        raise error.at(where) from None


def check_config(config: RunConfig, where: str | None = None) -> Game:
    """The game, if settings go together and with it."""
    try:
        return config.check()
    except ConfigError as error:
        raise error.at(where) from None
    except AleaZeroError as error:
        raise ConfigError(str(error), where=where) from None


def parse(text: str | bytes, where: str) -> dict[str, Any]:
    """YAML as a mapping."""
    content = text.encode() if isinstance(text, str) else text
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{where} has more than {MOST_BYTES:,} bytes, expected a file of settings")
    try:
        data = _load(content.decode())
    except UnicodeDecodeError:
        raise ConfigError(f"{where} is no text, expected YAML") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{where}{line}: {getattr(error, 'problem', None) or error}; expected YAML") from None
    except ValueError as error:  # a number that cannot be
        raise ConfigError(f"{where}: {error}; expected YAML") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise ConfigError(f"{where} holds {type(data).__name__}, expected settings as `key: value`")
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
    """All settings, defaults too, as a file that reads back to the same."""
    return _as_text(_of_recipe(config))


def in_full(config: RunConfig) -> str:
    """The same, with what suits the game in place of what the recipe leaves to it."""
    found = _of_recipe(config)
    if config.recipe == "afterstate":
        found["afterstate"] = config.learning(config.load_game()).model_dump(mode="json", exclude=set(RUN_LEVEL))
    return _as_text(found)


def _of_recipe(config: RunConfig) -> dict[str, Any]:
    return config.model_dump(mode="json", exclude={"alphazero"} if config.recipe == "afterstate" else {"afterstate"})


def _as_text(found: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(found, sort_keys=False, allow_unicode=True)
    return text


def file_near(folder: Path, name: str) -> str:
    """Return the absolute path of a file that is in the folder, or else in the current one; the name if in neither."""
    for place in (folder / name, Path.cwd() / name):
        if is_there(place) and place.is_file():
            return str(place.resolve())
    return name


class _Loader(yaml.SafeLoader):
    """Refuses a key that is given twice, of which YAML's own loader takes the last in silence."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for where, _ in node.value:
        if where.tag == MERGE:  # `<<: *anchor` may be there again, and what it brings may be overruled
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
# 1e-3, which is a number everywhere but in YAML 1.1


def _load(text: str) -> Any:
    """The value of a YAML text, which is measured before it is made; raises YAMLError or ValueError."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _measure(node, {})
        return loader.construct_document(node)
    except RecursionError:
        raise ValueError(f"it nests more than {DEEPEST} levels deep") from None
    finally:
        loader.dispose()


def _measure(node: yaml.Node, known: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    """Characters and values of a node, and its levels, with aliases written out; an error if they are too many.

    ``known`` has the nodes that were measured, with None for those that are being measured.
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
    measured = [_measure(one, known) for one in inside]
    size = 1 + len(node.value) + sum(one for one, _ in measured)
    levels = 1 + max((one for _, one in measured), default=0)
    problem = ""
    if node.tag not in PLAIN:
        problem = f"a value has the type {node.tag.removeprefix(TAG)[:40]!r}, expected text in quotes"
    elif levels > DEEPEST:
        problem = f"it nests more than {DEEPEST} levels deep"
    elif node.tag == f"{TAG}int" and size > MOST_DIGITS:
        problem = f"a number has more than {MOST_DIGITS} digits"
    elif size > MOST_EXPANDED:
        problem = f"it has more than {MOST_EXPANDED:,} characters with aliases written out"
    if problem:
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    known[id(node)] = size, levels
    return size, levels
