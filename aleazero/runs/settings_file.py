"""Reading a file of settings: YAML, or the JSON that is in it, with changes from the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, get_args

import yaml

from aleazero.errors import AleaZeroError, ConfigError
from aleazero.evaluation.seed_sets import NAMED
from aleazero.games.base import Game
from aleazero.runs.config import RUN_LEVEL, RunConfig
from aleazero.search.config import Settings

MERGE: Final = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):
    """Refuses a key that is given twice, of which YAML's own loader takes the last in silence."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: list[Any] = []
    for where, _ in node.value:
        if where.tag == MERGE:  # `<<: *anchor` may be there again, and what it brings may be overruled
            continue
        key = loader.construct_object(where)
        if key in seen:
            raise yaml.MarkedYAMLError(problem=f"{key!r} is given twice", problem_mark=where.start_mark)
        seen.append(key)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)
# 1e-3, which is a number everywhere but in YAML 1.1


def read_config(path: Path, changes: Sequence[str] = ()) -> RunConfig:
    """The settings in a file, with ``key.inner=value`` changes; whole and possible, or an error by the key's path."""
    if path.suffix == ".py":
        raise ConfigError(
            f"{path} is a Python file, expected a config file in YAML: write `game: {path.name}` and `minutes: 6` into "
            f"{path.with_suffix('.yaml')}, or train without a config: `aleazero learn --game {path} --out "
            f"{Path('runs') / path.stem}`"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is no text, expected YAML") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}, expected a file of settings") from None
    data = parse(text, str(path))
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
    except AleaZeroError as error:
        raise ConfigError(f"{where}: {by_path(str(error))}") from None


def check_config(config: RunConfig, where: str) -> Game:
    """The game, if settings go together and with it."""
    try:
        return config.check()
    except AleaZeroError as error:
        raise ConfigError(f"{where}: {by_path(str(error))}") from None


def by_path(message: str) -> str:
    """An error of some settings in words of the file: the key's path in place of the settings' class."""
    name, colon, rest = message.partition(": ")
    path = {**_paths(RunConfig), **dict.fromkeys(("AfterstateConfig", "TupleConfig"), "afterstate"),
            "ValueNetConfig": "afterstate.net"}.get(name)  # fmt: skip
    if not colon or path is None:
        return message
    if rest.startswith("no setting"):
        return f"{path}: {rest}" if path else rest
    return f"{path}.{rest}".lstrip(".")


def _paths(config: type[Settings], path: str = "") -> dict[str, str]:
    """By name of a class of settings, where it stands in the file."""
    found = {config.__name__: path}
    for name, field in config.model_fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, Settings):
                found.update(_paths(kind, f"{path}.{name}".lstrip(".")))
    return found


def parse(text: str, where: str) -> dict[str, Any]:
    """YAML as a mapping."""
    try:
        data = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{where}{line}: {getattr(error, 'problem', None) or error}; expected YAML") from None
    except (ValueError, RecursionError) as error:  # a date or a number that cannot be
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
        data[keys[-1]] = yaml.load(value, _Loader) if value.strip() else value
    except (yaml.YAMLError, ValueError, RecursionError):
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
        if (folder / name).is_file():
            return str((folder / name).resolve())
    return name
