"""Our search beside OpenSpiel's, on the games both have: same position, same simulations, runs interleaved.

Both select by UCT with the same weight (c = 1.5 on returns of −1 to 1, which is 0.75 on our 0 to 1). Rules
differ in one place: OpenSpiel's pig lets a player hold nothing, so its random playouts are longer; the mean
lengths of both are measured too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aleazero.cli.measure import best_seconds, opening
from aleazero.errors import ConfigError

if TYPE_CHECKING:
    from aleazero.games.base import State

SHARED = {"pig": [0, 4], "tic_tac_toe": [], "2048": []}
"""Games both have, and OpenSpiel's action ids that lead to the position we measure from."""

LOOKS = {"pig": "Turn total: 5", "tic_tac_toe": "...\n...\n..."}
"""What OpenSpiel's text of that position must hold: a board converted wrongly would be no comparison."""

PLAYOUTS = 200


class Constant:
    """An evaluator for OpenSpiel's Python search: equal priors and zero values, as our ``uniform``."""

    def evaluate(self, state: Any) -> Any:
        """Zero for each player."""
        import numpy

        return numpy.zeros(state.num_players())

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Equal shares; the true ones at a chance node."""
        if state.is_chance_node():
            return list(state.chance_outcomes())
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]


def find_openspiel() -> Any | None:
    """OpenSpiel's module, where it is installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    return pyspiel


def compare(pyspiel: Any, name: str, sims: int, seconds: float) -> list[dict[str, Any]]:
    """Ours with rollouts beside the C++ bot's, and ours with equal values beside the Python search's."""
    game = pyspiel.load_game(name)
    if game.get_type().reward_model != pyspiel.GameType.RewardModel.TERMINAL:
        why = "OpenSpiel's searches refuse games that score before the end"
        return [{"game": name, "rival": None, "skipped": why}]
    theirs = game.new_initial_state()
    for action in SHARED[name]:
        theirs.apply_action(action)
    if LOOKS[name] not in str(theirs):
        raise ConfigError(f"OpenSpiel's {name} reads {str(theirs)!r}, expected {LOOKS[name]!r} in it")
    ours = opening(name)
    rows = []
    for evaluator, rival, run in (
        ("rollout", "C++ MCTSBot, rollouts", _cpp_bot(pyspiel, game, theirs, sims)),
        ("uniform", "Python MCTS, constant", _python_search(game, theirs, sims)),
    ):
        race = _race(_ours(ours, evaluator, sims), run, sims, seconds)
        rows.append({"game": name, "evaluator": evaluator, "rival": rival, **race})
    rows[0]["playout_steps"] = {"ours": _playout_steps(ours), "theirs": _playout_steps(theirs)}
    return rows


def _race(ours: Callable[[], Any], theirs: Callable[[], Any], sims: int, seconds: float) -> dict[str, Any]:
    mine, other = best_seconds([ours, theirs], seconds)
    return {
        "simulations": sims,
        "ours_per_second": sims / mine,
        "theirs_per_second": sims / other,
        "ratio": other / mine,
    }


def _ours(state: State, evaluator: str, sims: int) -> Callable[[], Any]:
    from aleazero.cli.searching import prepare, whole_search
    from aleazero.search.config import SearchConfig

    prepare(state.game, state)
    config = SearchConfig(num_simulations=sims, seed=1, selection="uct", c=0.75)
    return lambda: whole_search(state.game, state, evaluator, config)


def _cpp_bot(pyspiel: Any, game: Any, state: Any, sims: int) -> Callable[[], Any]:
    def run() -> None:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 7)
        pyspiel.MCTSBot(game, evaluator, 1.5, sims, 1000, False, 7, False).mcts_search(state)

    return run


def _python_search(game: Any, state: Any, sims: int) -> Callable[[], Any]:
    import numpy
    from open_spiel.python.algorithms import mcts

    def run() -> None:
        bot = mcts.MCTSBot(game, 1.5, sims, Constant(), solve=False, random_state=numpy.random.RandomState(1))
        bot.mcts_search(state)

    return run


def _playout_steps(state: Any) -> float:
    """Mean number of actions and outcomes in a random playout."""
    dice = random.Random(1)
    steps = 0
    for _ in range(PLAYOUTS):
        walker = state.clone()
        while not walker.is_terminal():
            steps += 1
            walker.apply_action(dice.choice(walker.legal_actions()))
    return steps / PLAYOUTS
