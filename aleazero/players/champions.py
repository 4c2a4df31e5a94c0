"""Networks that ship with the package: each is the champion of a run, with what was measured of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aleazero.errors import CheckpointError, ConfigError
from aleazero.games.base import Game
from aleazero.games.registry import ships

FOLDER: Final = Path(__file__).parent.parent / "champions"
CHAMPION: Final = "champion"
"""What stands for a network's path where the one that ships is meant."""


@dataclass(frozen=True)
class Champion:
    """A network that ships, and its figures."""

    path: Path
    figures: Mapping[str, Any]
    """Of the run that it won: the game, the recipe, the settings, and how strong it is."""

    @property
    def game(self) -> str:
        """What it plays, with parameters."""
        params = ", ".join(f"{name}={value}" for name, value in self.figures["params"].items())
        return f"{self.figures['game']}({params})"

    @property
    def engine(self) -> str:
        """The text of the player that it is; one that plans can say what it thinks."""
        horizon = self.figures["horizon"]
        return f"net:{CHAMPION}" if horizon is None else f"plan:horizon={horizon},net={CHAMPION}"

    def plays(self, game: Game) -> bool:
        """Whether this is its game."""
        return ships(game) and (game.name, game.params) == (self.figures["game"], self.figures["params"])


def champions(folder: Path = FOLDER) -> list[Champion]:
    """All that ship, by name."""
    return [Champion(file.with_suffix(".safetensors"), _figures(file)) for file in sorted(folder.glob("*.json"))]


def _figures(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        size = file.with_suffix(".safetensors").stat().st_size
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{file.name} of the package is damaged: {error}; install it again") from None
    missing = {"game", "params", "horizon"} - found.keys() if isinstance(found, dict) else {"everything"}
    if missing or not size:
        what = ", ".join(sorted(missing)) or "its network"
        raise CheckpointError(f"{file.name} of the package is damaged: {what} is missing; install it again")
    return found  # type: ignore[no-any-return]


def champion_of(game: Game) -> Champion | None:
    """The one that plays a game; None where there is none."""
    return next((one for one in champions() if one.plays(game)), None)


def champion_path(game: Game) -> Path:
    """The file of the one that plays a game."""
    found = champion_of(game)
    if found is None:
        known = ", ".join(one.game for one in champions()) or "none"
        raise ConfigError(
            f"no champion ships for {game!r}, expected a network's file (there are champions of: {known})"
        )
    return found.path
