"""Reading a file of settings: YAML, or the JSON that is in it, with changes from the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from aleazero.errors import AleaZeroError, ConfigError
from aleazero.evaluation.seed_sets import NAMED
from aleazero.files import os_errors_as
from aleazero.games.base import Game
from aleazero.runs.config import RUN_LEVEL, RunConfig
from aleazero.untrusted import is_there

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


def read_config(path: Path, changes: Sequence[str] = ()) -> RunConfig:
    """The settings in a file, with ``key.inner=value`` changes; whole and possible, or an error by the key's path."""
    if path.suffix == ".py":
        raise ConfigError(
            f"{path} is a Python file, expected a config file in YAML: write `game: {path.name}` and `minutes: 6` into "
            f"{path.with_suffix('.yaml')}, or train without a config: `aleazero learn --game {path} --out "
            f"{Path('runs') / path.stem}`"
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
            data["game"] = f"{_beside(path, name)}{colon}{inner}"
    gate = data.get("gate")
    if isinstance(gate, dict) and isinstance(gate.get("seed_set"), str) and gate["seed_set"] not in NAMED:
        gate["seed_set"] = _beside(path, gate["seed_set"])
    config = make_config(data, str(path))
    check_config(config, str(path))
    return config


def make_config(data: dict[str, Any], where: str) -> RunConfig:
    """The settings, if each is possible; errors begin with where they stand."""
    try:
        return RunConfig(**data)
    except ConfigError as error:
        raise error.at(where) from None
    except AleaZeroError as error:
        raise ConfigError(f"{where}: {error}") from None


def check_config(config: RunConfig, where: str) -> Game:
    """The game, if settings go together and with it."""
    try:
        return config.check()
    except ConfigError as error:
        raise error.at(where) from None
    except AleaZeroError as error:
        raise ConfigError(f"{where}: {error}") from None


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


def _beside(path: Path, name: str) -> str:
    """A file is looked for beside the settings first, then from here; its path becomes absolute."""
    for folder in (path.parent, Path.cwd()):
        if is_there(folder / name) and (folder / name).is_file():
            return str((folder / name).resolve())
    return name
