"""What a shard says of itself: who made its samples, which games they are of, and a checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aleazero.errors import ReplayError
from aleazero.games.base import Game
from aleazero.games.registry import game_names
from aleazero.untrusted import parse_json
from aleazero.version import VERSION

FORMAT: Final = 1
"""Version of the shards' columns and of their meaning."""


class Origin(BaseModel):
    """What made the samples: a game with its rules, and a model."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())

    game: str
    """What ``load_game`` takes: a name, or ``path/file.py:NAME``."""
    params: dict[str, Any]
    rules_version: int
    observation_schema: str
    model: str
    """Who played: the id of a model."""
    settings: str = ""
    """A digest of the seed and the settings of self-play: games of the same model and number differ by them."""
    code_version: str = VERSION

    @classmethod
    def of(cls, game: Game, model: str, spec: str | None = None, settings: str = "") -> Origin:
        """The origin of a game's samples; ``spec`` is what a user's own game was loaded by."""
        info = game.info
        if spec is None and game.name not in game_names():
            raise ReplayError(f"{game.name} is not known by name, expected what it was loaded by, path/file.py:NAME")
        try:
            params = json.loads(json.dumps(game.params, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ReplayError(f"{game!r}: parameters must be JSON to be stored, got one that is not: {error}") from None
        return cls(
            game=spec or game.name,
            params=params,
            rules_version=info.version,
            observation_schema=info.observation_schema,
            model=model,
            settings=settings,
        )

    def same_game(self, other: Origin) -> bool:
        """Whether samples of both may stand in one batch."""
        return self._of_the_game() == other._of_the_game()

    def game_text(self) -> str:
        """The game, its parameters and the versions in a few words."""
        settings = ", ".join(f"{key}={value!r}" for key, value in sorted(self.params.items()))
        schema = f", observations {self.observation_schema}" if self.observation_schema else ""
        return f"{self.game}({settings}) version {self.rules_version}{schema}"

    def _of_the_game(self) -> tuple[Any, ...]:
        return self.game, self.params, self.rules_version, self.observation_schema


class ShardMeta(Origin):
    """An origin, and which samples these are."""

    format: int
    iteration: int = Field(ge=0)
    first_game: int = Field(ge=0)
    last_game: int = Field(ge=0)
    """One behind the last."""
    samples: int = Field(ge=0)
    checksum: str
    """SHA-256 of all that a shard holds: what is said here, and of each tensor its name, type, shape and bytes."""

    def to_text(self) -> str:
        """JSON, the same for the same contents."""
        return json.dumps(self.model_dump(), sort_keys=True, allow_nan=False)


def parse_meta(text: str) -> ShardMeta:
    """Read what ``to_text`` wrote."""
    try:
        found = parse_json(text)["format"]
    except (ValueError, KeyError, TypeError):
        raise ReplayError(f"the metadata is {text!r:.80}, expected that of a shard") from None
    if found != FORMAT:
        raise ReplayError(f"the format is {found!r:.80}, expected {FORMAT}")
    try:
        return ShardMeta.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "all"
        raise ReplayError(f"the metadata's {name} is {first['input']!r:.80}: {first['msg']}") from None


def checksum_of(meta: ShardMeta, columns: Mapping[str, NDArray[Any]]) -> str:
    """The checksum that a shard of these contents has."""
    said = json.dumps(meta.model_dump(exclude={"checksum"}), sort_keys=True)
    digest = hashlib.sha256(said.encode())
    for name, column in sorted(columns.items()):
        digest.update(f"\0{name} {column.dtype.str} {column.shape}\0".encode())
        digest.update(np.ascontiguousarray(column).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
