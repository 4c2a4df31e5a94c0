"""Generate the set of judged decisions of backgammon that ``aleazero evaluate errors backgammon --set`` uses.

Positions come from games of each source against itself; one of eight decisions is taken, each position with its dice
once. bgsage values every move: with 3 plies if its network puts the move at most ``REACH`` below the best one or its
own filter selects it, else by the network alone. The file is reproducible. It takes about 170 ms of CPU per decision::

    python -m benchmarks.backgammon.judged_set
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aleazero.evaluation.backgammon import SETS_FOLDER
from aleazero.evaluation.backgammon.engines import REACH
from aleazero.evaluation.errors import JudgedState, load_set, make_judge, own_decisions, save_set
from aleazero.evaluation.plays import Judge, Play
from aleazero.games.backgammon.board import HIGH, LOW
from aleazero.games.backgammon.position_id import position_id
from aleazero.games.base import State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.registry import load_game
from aleazero.players.make import make_player

JUDGE, NETWORK = "bgsage:ply=3", "bgsage:ply=1"
SOURCES: Final = ("gnubg:ply=0=1500", "heuristic=1000")
SEED: Final = 5
PROGRESS: Final = 50


def main() -> None:
    """Generate the set, or extend one."""
    parser = argparse.ArgumentParser(description="Generate the set of judged decisions of backgammon.")
    parser.add_argument("--source", action="append", metavar="SPEC=N", help=f"players and decisions, default {SOURCES}")
    parser.add_argument("--extend", type=Path, help="a set whose decisions come first and are not judged again")
    parser.add_argument("--out", type=Path, default=SETS_FOLDER / "standard.safetensors")
    given = parser.parse_args()
    game = load_game("backgammon")
    assert isinstance(game, KernelGame)
    judged = [] if given.extend is None else load_set(given.extend, game)
    judges = [make_judge(spec, game) for spec in (JUDGE, NETWORK)]
    seen = {key_of(one.state) for one in judged}
    for text in given.source or SOURCES:
        spec, _, number = text.rpartition("=")
        found = 0
        for state, plays in _decisions(spec, game):
            if found == int(number):
                break
            if key_of(state) in seen:
                continue
            seen.add(key_of(state))
            judged.append(JudgedState(state, _values(judges, state, plays), spec))
            found += 1
            if found % PROGRESS == 0:
                sys.stderr.write(f"{spec}: {found} of {number}\n")
    note = (
        f"decisions of games of each source against itself, seed {SEED}; moves within {REACH} of the best one by "
        f"{NETWORK} are valued by {JUDGE}, others by {NETWORK}"
    )
    save_set(given.out, judged, JUDGE, note)


def key_of(state: State) -> tuple[str, int, int]:
    """Return the position from the view of the mover, and the dice."""
    assert isinstance(state, KernelState)
    return position_id(state), int(state.vector[HIGH]), int(state.vector[LOW])


def _decisions(spec: str, game: KernelGame) -> Iterator[tuple[State, list[Play]]]:
    player, chunk = make_player(spec, game), 0
    while True:
        for state, plays, _ in own_decisions(player, game, chunk, SEED):
            yield state, plays
        chunk += 1


def _values(judges: list[Judge], state: State, plays: list[Play]) -> NDArray[np.float32]:
    judge, network = judges
    quick = network.play_values(state, plays, ())
    near = [number for number, value in enumerate(quick) if value >= max(quick) - REACH]
    return np.array(judge.play_values(state, plays, near), np.float32)


if __name__ == "__main__":
    main()
