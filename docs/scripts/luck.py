"""Measure luck and luck-adjusted results in self-play of every bundled game, judged as ``aleazero review`` does.

Run ``.venv/bin/python docs/scripts/luck.py [GAME ...]`` (about half an hour for all games). It prints one line per game
and writes ``luck.json`` and the table of ``docs/guides/review.md``.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from page_tables import rewrite, table

from aleazero.games.registry import load_game
from aleazero.players.make import make_player
from aleazero.serving.judge import make_judge
from aleazero.serving.review import review_game
from aleazero.serving.session import Session
from aleazero.serving.session_file import studied

HERE = Path(__file__).resolve().parent
KEPT, PAGE = HERE / "luck.json", HERE.parent / "guides" / "review.md"
GAMES = {
    "yatzy(players=1)": ("greedy", 400),
    "yatzy": ("greedy", 200),
    "pig(target=50)": ("greedy", 400),
    "dice_game": ("greedy", 1000),
    "backgammon": ("heuristic", 100),
    "azul": ("net:champion", 400),
    "2048": ("greedy", 100),
    "tic_tac_toe": ("random", 100),
}
"""Player of all seats and number of games."""


def measure(name: str, spec: str, games: int) -> dict[str, Any]:
    """Play and review games; return the judge, and the luck and the results of the first player in figures."""
    game = load_game(name)
    player, judge = make_player(spec, game), make_judge(game, threads=os.cpu_count() or 1)
    luck, results = [], []
    for seed in range(games):
        session = Session(game.new_initial_state(), seed, dict.fromkeys(range(game.num_players), player))
        while not session.state.is_terminal():
            session.draw_all()
            if not session.state.is_terminal():
                session.act(*session.choose())
        totals = review_game(studied(session), judge).ledger.totals[0]
        luck.append(totals.luck)
        results.append(totals.result)
    return {"player": spec, "judge": judge.name, **figures(np.array(luck), np.array(results))}


def figures(luck: NDArray[np.float64], results: NDArray[np.float64]) -> dict[str, float]:
    """Return the mean luck, the standard deviation of luck, and that of results before and after the adjustment."""
    return {
        "games": len(luck), "mean": luck.mean(), "luck": luck.std(ddof=1), "results": results.std(ddof=1),
        "adjusted": (results - luck).std(ddof=1),
    }  # fmt: skip


def line_of(name: str, found: dict[str, Any]) -> list[str]:
    """Return the row of a game."""
    before, after, games = found["results"], found["adjusted"], found["games"]
    digits = max(0, 2 - math.floor(math.log10(before)))
    error = 1.96 * found["luck"] / games**0.5
    judge = found["judge"].split(" ")[0]
    return [
        f"`{name}`", found["player"], f"`{judge}`", f"{games:,}", f"{found['mean']:.{digits}f} ± {error:.{digits}f}",
        f"{before:,.{digits}f}", f"{after:,.{digits}f}", f"{100 * (1 - after**2 / before**2):.0f} %",
    ]  # fmt: skip


def luck_table(data: dict[str, Any]) -> str:
    """Return the table of all games."""
    headers = ["game", "player", "judge", "games", "mean luck, 95 %", "sd of results", "sd, luck-adjusted",
               "less variance"]  # fmt: skip
    return table(headers, [line_of(name, data[name]) for name in GAMES if name in data], 3)


def main(names: list[str]) -> None:
    """Measure these games, or all."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for name in names or GAMES:
        kept[name] = measure(name, *GAMES[name])
        print(" | ".join(line_of(name, kept[name])), flush=True)  # noqa: T201 -- a script
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    rewrite(PAGE, {"luck": luck_table}, kept)


if __name__ == "__main__":
    main(sys.argv[1:])
