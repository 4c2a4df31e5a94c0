"""AleaZero: AlphaZero for games of chance. Rules in Python, searched at native speed with explicit chance nodes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aleazero.version import VERSION as __version__

if TYPE_CHECKING:  # the same names as below, for type checkers
    from aleazero.errors import (
        AleaZeroError,
        CheckpointError,
        ConfigError,
        ContractError,
        EvaluatorError,
        GameError,
        IllegalActionError,
        PositionError,
        ReplayError,
        RunError,
        UnknownGameError,
    )
    from aleazero.evaluation.gate import run_gate
    from aleazero.evaluation.gate_rules import GateConfig
    from aleazero.evaluation.match import PlayedGame, game_seeds, play_match
    from aleazero.evaluation.pairs import PairTable, play_pairs
    from aleazero.evaluation.ratings import PairResult, rate_players
    from aleazero.evaluation.regret import RegretReport, measure_regret
    from aleazero.games.base import (
        CHANCE,
        DECISION,
        ESTIMATE,
        EXACT,
        MANY,
        NONE,
        TERMINAL,
        Features,
        Game,
        GameInfo,
        State,
    )
    from aleazero.games.check import CheckReport, check_game
    from aleazero.games.game_dice import played_outcome
    from aleazero.games.kit import GameKit
    from aleazero.games.objects import from_openspiel
    from aleazero.games.registry import game_names, load_game, register_game
    from aleazero.nets.inference import load_net
    from aleazero.oracles.oracle import oracle_of
    from aleazero.oracles.solve import solve
    from aleazero.players.make import make_player
    from aleazero.players.player import Player
    from aleazero.runs.config import RunConfig
    from aleazero.search.config import ChanceConfig, SearchConfig, Widening
    from aleazero.search.evaluator import Evaluator, Rollout, Uniform
    from aleazero.search.forest import Finished, Forest
    from aleazero.search.plan.plan import Plan
    from aleazero.search.plan.planner import Planner
    from aleazero.search.result import OutcomeStats, SearchResult, SearchStats, SearchTree, Step
    from aleazero.search.search import Search
    from aleazero.selfplay.environment import (
        Agent,
        AgentInput,
        EnvConfig,
        Environment,
        EnvStep,
        make_agent,
        self_play_episode,
    )

# Names are imported when first used, so that `aleazero --help` does not wait for numba.
_NAMES = {
    "aleazero.errors": (
        "AleaZeroError CheckpointError ConfigError ContractError EvaluatorError GameError IllegalActionError "
        "PositionError ReplayError RunError UnknownGameError"
    ),
    "aleazero.evaluation.gate": "run_gate",
    "aleazero.evaluation.gate_rules": "GateConfig",
    "aleazero.evaluation.match": "PlayedGame game_seeds play_match",
    "aleazero.evaluation.pairs": "PairTable play_pairs",
    "aleazero.evaluation.ratings": "PairResult rate_players",
    "aleazero.evaluation.regret": "RegretReport measure_regret",
    "aleazero.games.base": "CHANCE DECISION ESTIMATE EXACT MANY NONE TERMINAL Features Game GameInfo State",
    "aleazero.games.check": "CheckReport check_game",
    "aleazero.games.kit": "GameKit",
    "aleazero.games.game_dice": "played_outcome",
    "aleazero.games.objects": "from_openspiel",
    "aleazero.games.registry": "game_names load_game register_game",
    "aleazero.nets.inference": "load_net",
    "aleazero.oracles.oracle": "oracle_of",
    "aleazero.oracles.solve": "solve",
    "aleazero.players.make": "make_player",
    "aleazero.players.player": "Player",
    "aleazero.runs.config": "RunConfig",
    "aleazero.search.config": "ChanceConfig SearchConfig Widening",
    "aleazero.search.evaluator": "Evaluator Rollout Uniform",
    "aleazero.search.forest": "Finished Forest",
    "aleazero.search.plan.plan": "Plan",
    "aleazero.search.plan.planner": "Planner",
    "aleazero.search.result": "OutcomeStats SearchResult SearchStats SearchTree Step",
    "aleazero.search.search": "Search",
    "aleazero.selfplay.environment": "Agent AgentInput EnvConfig EnvStep Environment make_agent self_play_episode",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "CHANCE", "DECISION", "ESTIMATE", "EXACT", "MANY", "NONE", "TERMINAL", "Agent", "AgentInput", "AleaZeroError",
    "ChanceConfig", "CheckReport", "CheckpointError", "ConfigError", "ContractError", "EnvConfig", "EnvStep",
    "Environment", "Evaluator", "EvaluatorError", "Features", "Finished", "Forest", "Game", "GameError", "GameInfo",
    "GameKit", "GateConfig", "IllegalActionError", "OutcomeStats", "PairResult", "PairTable", "Plan", "Planner",
    "PlayedGame", "Player", "PositionError", "RegretReport", "ReplayError", "Rollout", "RunConfig", "RunError",
    "Search", "SearchConfig", "SearchResult", "SearchStats", "SearchTree", "State", "Step", "Uniform",
    "UnknownGameError", "Widening", "__version__", "check_game", "from_openspiel", "game_names", "game_seeds",
    "load_game", "load_net", "make_agent", "make_player", "measure_regret", "oracle_of", "play_match", "play_pairs",
    "played_outcome", "rate_players", "register_game", "run_gate", "self_play_episode", "solve",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aleazero' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
