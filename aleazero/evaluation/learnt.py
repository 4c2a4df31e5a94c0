"""How good a network (or tables) is that was learnt by the afterstate recipe, where something can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aleazero.evaluation.tuple_scores import judge_tuples
from aleazero.games.base import Game
from aleazero.nets.checkpoint import load_tables
from aleazero.nets.tables import has_board
from aleazero.nets.values import NetValues


def can_judge(game: Game) -> bool:
    """Whether ``judge_learnt`` has anything to tell."""
    return has_board(game) or (game.name == "yatzy" and game.num_players <= 2)


def judge_learnt(path: Path, game: Game, *, games: int = 2000, seed: int = 0, threads: int = 1) -> dict[str, Any]:
    """What can be measured of a checkpoint in a moment; nothing where there is nothing to tell by.

    Yatzy alone: ``regret`` a game, and ``score``. In a duel: share ``won`` against the player who is best alone.
    Boards: ``score``, looking one move ahead.
    """
    if has_board(game):
        played = judge_tuples(game, load_tables(path, game), max(2, games // 10), seed=seed, threads=threads)
        return {"score": played.mean.to_dict()}
    if not can_judge(game):
        return {}
    from aleazero.evaluation.yatzy_turns import judge_alone, judge_duels
    from aleazero.oracles.yatzy import load_or_build

    values, oracle = NetValues.load(path, game), load_or_build()
    if game.num_players == 1:
        alone = judge_alone(values, oracle, games, seed=seed, threads=threads)
        return {"regret": alone.regret.to_dict(), "score": alone.score.to_dict()}
    duels = judge_duels(values, oracle, max(2, games // 2), seed=seed, threads=threads)
    won = {**duels.won.to_dict(), "pair_table": duels.table}
    return {"won": won, "score": duels.score.to_dict(), "oracle_score": duels.oracle_score.to_dict()}
