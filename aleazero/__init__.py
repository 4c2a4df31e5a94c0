"""AleaZero: AlphaZero for games of chance. Rules in Python, searched at native speed with explicit chance nodes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when first used, so that `aleazero --help` does not wait for numba.
_HOMES = {
    "aleazero.errors": (
        "AleaZeroError",
        "ConfigError",
        "ContractError",
        "EvaluatorError",
        "GameError",
        "IllegalActionError",
        "PositionError",
        "UnknownGameError",
    ),
    "aleazero.games.base": ("CHANCE", "DECISION", "MANY", "TERMINAL", "Game", "GameInfo", "State"),
    "aleazero.games.contract": ("CheckReport", "check_game"),
    "aleazero.games.luck": ("played_outcome",),
    "aleazero.games.openspiel": ("from_openspiel",),
    "aleazero.games.registry": ("game_names", "load_game", "register_game"),
    "aleazero.search.config": ("ChanceConfig", "SearchConfig"),
    "aleazero.search.evaluator": ("ESTIMATE", "EXACT", "NONE", "Evaluator", "Rollout", "Uniform"),
    "aleazero.search.export": ("SearchTree",),
    "aleazero.search.result": ("OutcomeStats", "SearchResult", "SearchStats", "Step"),
    "aleazero.search.search": ("Search",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # noqa: PLE0604

if TYPE_CHECKING:
    from aleazero.errors import (
        AleaZeroError,
        ConfigError,
        ContractError,
        EvaluatorError,
        GameError,
        IllegalActionError,
        PositionError,
        UnknownGameError,
    )
    from aleazero.games.base import CHANCE, DECISION, MANY, TERMINAL, Game, GameInfo, State
    from aleazero.games.contract import CheckReport, check_game
    from aleazero.games.luck import played_outcome
    from aleazero.games.openspiel import from_openspiel
    from aleazero.games.registry import game_names, load_game, register_game
    from aleazero.search.config import ChanceConfig, SearchConfig
    from aleazero.search.evaluator import ESTIMATE, EXACT, NONE, Evaluator, Rollout, Uniform
    from aleazero.search.export import SearchTree
    from aleazero.search.result import OutcomeStats, SearchResult, SearchStats, Step
    from aleazero.search.search import Search


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'aleazero' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
