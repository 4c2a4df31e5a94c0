"""What the tests of the search share: both backends, and a way to search a small tree."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for tests/tree_game.py
sys.path.insert(0, str(Path(__file__).resolve().parent))  # for tests of the rooms, which import from others
sys.path.insert(0, str(Path(__file__).resolve().parent / "plain"))

from tree_game import Node, start, tree_game

import aleazero

SAMPLED = object()
"""Chance as in the core search: outcomes are drawn, and what was drawn is backed up."""


@pytest.fixture(params=["plain", "compiled"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def search_tree(backend: str) -> Callable[..., Any]:
    """``search_tree(root, evaluator, players=2, utility=(-1, 1), loop="closed", chance=…, **config) -> SearchResult``.

    ``chance`` is whatever ``SearchConfig`` takes, or the settings of a ``ChanceConfig`` as a dict; without it chance is
    sampled in the ``loop`` given.
    """

    def run(
        root: Node,
        evaluator: Any,
        players: int = 2,
        utility: tuple[float, float] | None = (-1.0, 1.0),
        loop: str = "closed",
        chance: Any = SAMPLED,
        **config: Any,
    ) -> Any:
        game = tree_game(players=players, utility=utility)
        if chance is SAMPLED:
            chance = {"loop": loop, "pick": "sample"}
        if isinstance(chance, dict):
            chance = aleazero.ChanceConfig(**chance)
        settings = aleazero.SearchConfig(chance=chance, **config)
        search = aleazero.Search(game, evaluator=evaluator, config=settings, backend=backend)
        return search.run(start(game, root))

    return run
