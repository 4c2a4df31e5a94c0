"""Bundled networks: each is the champion of a run, with its measured strength."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aleazero.errors import CheckpointError, ConfigError
from aleazero.games.base import Game
from aleazero.games.registry import is_bundled

FOLDER: Final = Path(__file__).parent.parent / "champions"
CHAMPION: Final = "champion"
"""Stands for the path of the bundled network in player specs."""


@dataclass(frozen=True)
class Champion:
    """A bundled network and its figures."""

    path: Path
    figures: Mapping[str, Any]
    """Game, recipe, settings and results of its run."""

    @property
    def game(self) -> str:
        """Name and parameters of the game."""
        params = ", ".join(f"{name}={value}" for name, value in self.figures["params"].items())
        return f"{self.figures['game']}({params})"

    @property
    def engine(self) -> str:
        """Player spec of the network; a player that plans or searches can explain its choice."""
        player = self.figures["player"]
        return f"net:{CHAMPION}" if player is None else f"{player},net={CHAMPION}"

    def plays(self, game: Game) -> bool:
        """Return whether the network is for this game."""
        return is_bundled(game) and (game.name, game.params) == (self.figures["game"], self.figures["params"])


def champions(folder: Path = FOLDER) -> list[Champion]:
    """Return all bundled networks, sorted by name."""
    return [Champion(file.with_suffix(".safetensors"), _figures(file)) for file in sorted(folder.glob("*.json"))]


def _figures(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        size = file.with_suffix(".safetensors").stat().st_size
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{file.name} of the package is damaged: {error}; reinstall aleazero") from None
    missing = {"game", "params", "horizon", "player"} - found.keys() if isinstance(found, dict) else {"everything"}
    if missing or not size:
        what = ", ".join(sorted(missing)) or "its network"
        raise CheckpointError(f"{file.name} of the package is damaged: {what} is missing; reinstall aleazero")
    return found  # type: ignore[no-any-return]


def champion_of(game: Game) -> Champion | None:
    """Return the bundled network for a game; None if there is none."""
    return next((one for one in champions() if one.plays(game)), None)


def champion_path(game: Game) -> Path:
    """Return the file of the bundled network for a game."""
    found = champion_of(game)
    if found is None:
        known = ", ".join(one.game for one in champions()) or "none"
        raise ConfigError(f"no bundled network for {game!r}, expected the path of a network (bundled: {known})")
    return found.path
