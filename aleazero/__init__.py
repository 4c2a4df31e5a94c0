"""AleaZero: AlphaZero for games of chance. Rules in Python, searched at native speed with explicit chance nodes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aleazero.version import VERSION as __version__

if TYPE_CHECKING:
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
    from aleazero.evaluation.regret import (
        RegretReport,
        measure_regret,
    )
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
    from aleazero.games.check import (
        CheckReport,
        check_game,
    )
    from aleazero.games.kit import (
        GameKit,
    )
    from aleazero.games.luck import (
        played_outcome,
    )
    from aleazero.games.objects import (
        from_openspiel,
    )
    from aleazero.games.registry import (
        game_names,
        load_game,
        register_game,
    )
    from aleazero.nets.inference import load_net
    from aleazero.oracles.oracle import (
        oracle_of,
    )
    from aleazero.oracles.solve import (
        solve,
    )
    from aleazero.players.make import (
        make_player,
    )
    from aleazero.players.player import (
        Player,
    )
    from aleazero.runs.config import RunConfig
    from aleazero.search.config import (
        ChanceConfig,
        SearchConfig,
        Widening,
    )
    from aleazero.search.evaluator import Evaluator, Rollout, Uniform
    from aleazero.search.forest import (
        Finished,
        Forest,
    )
    from aleazero.search.plan.plan import Plan
    from aleazero.search.plan.planner import Planner
    from aleazero.search.result import OutcomeStats, SearchResult, SearchStats, SearchTree, Step
    from aleazero.search.search import (
        Search,
    )
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
_HOMES = {
    "AleaZeroError": "aleazero.errors",
    "CheckpointError": "aleazero.errors",
    "ConfigError": "aleazero.errors",
    "ContractError": "aleazero.errors",
    "EvaluatorError": "aleazero.errors",
    "GameError": "aleazero.errors",
    "IllegalActionError": "aleazero.errors",
    "PositionError": "aleazero.errors",
    "ReplayError": "aleazero.errors",
    "RunError": "aleazero.errors",
    "UnknownGameError": "aleazero.errors",
    "CHANCE": "aleazero.games.base",
    "DECISION": "aleazero.games.base",
    "MANY": "aleazero.games.base",
    "TERMINAL": "aleazero.games.base",
    "Game": "aleazero.games.base",
    "GameInfo": "aleazero.games.base",
    "State": "aleazero.games.base",
    "CheckReport": "aleazero.games.check",
    "check_game": "aleazero.games.check",
    "played_outcome": "aleazero.games.luck",
    "from_openspiel": "aleazero.games.objects",
    "game_names": "aleazero.games.registry",
    "load_game": "aleazero.games.registry",
    "register_game": "aleazero.games.registry",
    "GameKit": "aleazero.games.kit",
    "oracle_of": "aleazero.oracles.oracle",
    "solve": "aleazero.oracles.solve",
    "ChanceConfig": "aleazero.search.config",
    "Widening": "aleazero.search.config",
    "SearchConfig": "aleazero.search.config",
    "ESTIMATE": "aleazero.search.evaluator",
    "EXACT": "aleazero.search.evaluator",
    "NONE": "aleazero.search.evaluator",
    "Evaluator": "aleazero.search.evaluator",
    "Rollout": "aleazero.search.evaluator",
    "Uniform": "aleazero.search.evaluator",
    "SearchTree": "aleazero.search.result",
    "Features": "aleazero.games.base",
    "Finished": "aleazero.search.forest",
    "Forest": "aleazero.search.forest",
    "Plan": "aleazero.search.plan.plan",
    "Planner": "aleazero.search.plan.planner",
    "OutcomeStats": "aleazero.search.result",
    "SearchResult": "aleazero.search.result",
    "SearchStats": "aleazero.search.result",
    "Step": "aleazero.search.result",
    "Search": "aleazero.search.search",
    "Player": "aleazero.players.player",
    "make_player": "aleazero.players.make",
    "Agent": "aleazero.selfplay.environment",
    "AgentInput": "aleazero.selfplay.environment",
    "make_agent": "aleazero.selfplay.environment",
    "EnvConfig": "aleazero.selfplay.environment",
    "EnvStep": "aleazero.selfplay.environment",
    "Environment": "aleazero.selfplay.environment",
    "self_play_episode": "aleazero.selfplay.environment",
    "PlayedGame": "aleazero.evaluation.match",
    "play_match": "aleazero.evaluation.match",
    "RegretReport": "aleazero.evaluation.regret",
    "measure_regret": "aleazero.evaluation.regret",
    "GateConfig": "aleazero.evaluation.gate_rules",
    "PairResult": "aleazero.evaluation.ratings",
    "PairTable": "aleazero.evaluation.pairs",
    "RunConfig": "aleazero.runs.config",
    "game_seeds": "aleazero.evaluation.match",
    "load_net": "aleazero.nets.inference",
    "play_pairs": "aleazero.evaluation.pairs",
    "rate_players": "aleazero.evaluation.ratings",
    "run_gate": "aleazero.evaluation.gate",
}

__all__ = [
    "CHANCE",
    "DECISION",
    "ESTIMATE",
    "EXACT",
    "MANY",
    "NONE",
    "TERMINAL",
    "Agent",
    "AgentInput",
    "AleaZeroError",
    "ChanceConfig",
    "CheckReport",
    "CheckpointError",
    "ConfigError",
    "ContractError",
    "EnvConfig",
    "EnvStep",
    "Environment",
    "Evaluator",
    "EvaluatorError",
    "Features",
    "Finished",
    "Forest",
    "Game",
    "GameError",
    "GameInfo",
    "GameKit",
    "GateConfig",
    "IllegalActionError",
    "OutcomeStats",
    "PairResult",
    "PairTable",
    "Plan",
    "Planner",
    "PlayedGame",
    "Player",
    "PositionError",
    "RegretReport",
    "ReplayError",
    "Rollout",
    "RunConfig",
    "RunError",
    "Search",
    "SearchConfig",
    "SearchResult",
    "SearchStats",
    "SearchTree",
    "State",
    "Step",
    "Uniform",
    "UnknownGameError",
    "Widening",
    "__version__",
    "check_game",
    "from_openspiel",
    "game_names",
    "game_seeds",
    "load_game",
    "load_net",
    "make_agent",
    "make_player",
    "measure_regret",
    "oracle_of",
    "play_match",
    "play_pairs",
    "played_outcome",
    "rate_players",
    "register_game",
    "run_gate",
    "self_play_episode",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aleazero' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
