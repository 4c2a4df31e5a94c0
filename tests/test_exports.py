"""The public API: a change needs a new version and a line in the changelog."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import aleazero

PUBLIC = [
    "Agent",
    "AgentInput",
    "AleaZeroError",
    "CHANCE",
    "ChanceConfig",
    "CheckReport",
    "CheckpointError",
    "ConfigError",
    "ContractError",
    "DECISION",
    "ESTIMATE",
    "EXACT",
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
    "MANY",
    "NONE",
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
    "TERMINAL",
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


def test_public_names() -> None:
    assert sorted(aleazero.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(aleazero, name) is not None
    assert set(PUBLIC) <= set(dir(aleazero))


def test_type_checkers_and_lazy_imports_agree() -> None:
    tree = ast.parse(inspect.getsource(aleazero))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    assert {alias.name: node.module for node in block.body for alias in node.names} == aleazero._HOMES


def test_the_version_equals_that_of_the_package() -> None:
    from importlib.metadata import version

    assert version("aleazero") == aleazero.__version__


def test_importing_the_package_imports_no_heavy_library() -> None:
    heavy = ("numpy", "numba", "pydantic", "rich", "gymnasium", "pettingzoo", "jinja2", "matplotlib")
    code = f"import sys, aleazero; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_every_error_is_an_aleazero_error() -> None:
    for name in PUBLIC:
        if name.endswith("Error"):
            assert issubclass(getattr(aleazero, name), aleazero.AleaZeroError)
