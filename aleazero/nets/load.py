"""From a file to a network that answers."""

from __future__ import annotations

from pathlib import Path

from aleazero.games.base import Game
from aleazero.nets.checkpoint import read_checkpoint, require_match
from aleazero.nets.inference import Net


def load_net(path: str | Path, game: Game, inference: str = "onnxruntime") -> Net:
    """The network of a checkpoint, if it was trained on this game, by these rules, from these observations."""
    weights, about = read_checkpoint(Path(path))
    require_match(about, game, str(path))
    return Net(weights, about, inference)
