"""Mean scores of the greedy and the random player of Azul over many paired games, in compiled code.

    python docs/scripts/azul_scores.py --pairs 10000 --seed 1

The refills are those of ``aleazero match`` with the same seed. Random players draw from streams of their own.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import aleazero
from aleazero.games.azul.board import BOARD, BOARDS, SCORE
from aleazero.games.azul.policy import best
from aleazero.games.base import CHANCE, TERMINAL
from aleazero.games.kernel import KernelGame, Kernels
from aleazero.native.compile import loop_of
from aleazero.native.random import extend_key_bits, unit_at

MATCHES = (("greedy", "greedy"), ("random", "random"), ("greedy", "random"))


def make_play(kernels: Kernels) -> Callable[..., int]:
    """Make ``play(seeds, greedy, first, state, actions, scores, returns) -> drafts`` of a game for two players."""
    init, kind_of, to_play, legal = kernels.init, kernels.kind, kernels.to_play, kernels.legal
    apply, apply_outcome, returns_of = kernels.apply, kernels.apply_outcome, kernels.returns
    played_outcome = kernels.played_outcome_bits
    assert played_outcome is not None

    def play(seeds: Any, greedy: Any, key: Any, state: Any, actions: Any, scores: Any, returns: Any) -> Any:
        """Play one game per seed; ``greedy`` is true for the seats of the greedy player."""
        drafts = np.int64(0)
        for game in range(len(seeds)):
            state[:] = 0
            init(state)
            own = extend_key_bits(key, seeds[game])
            while kind_of(state) != TERMINAL:
                if kind_of(state) == CHANCE:
                    apply_outcome(state, played_outcome(state, seeds[game], 0))
                    continue
                count = legal(state, actions)
                if greedy[to_play(state)]:
                    action = best(state, actions, count)
                else:
                    action = actions[int(unit_at(own, drafts) * count)]
                apply(state, action)
                drafts += 1
            for player in range(2):
                scores[game, player] = state[BOARDS + BOARD * player + SCORE]
            returns_of(state, returns[game])
        return drafts

    return play


def main() -> None:
    """Play all matches and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    game = aleazero.load_game("azul")
    assert isinstance(game, KernelGame)
    play = loop_of(game, "scores", make_play)
    seeds = np.array(aleazero.game_seeds(wanted.seed, wanted.pairs), np.uint64)
    state, actions = np.zeros(game.info.state_size, np.int64), np.zeros(game.num_actions, np.int64)
    play(seeds[:0], np.array([True, True]), np.uint64(0), state, actions, np.zeros((0, 2)), np.zeros((0, 2)))
    for match in MATCHES:
        sides = []  # for both seatings: scores and returns of the first player, then of the second
        drafts, started = 0, time.process_time()
        for turn in range(2):
            greedy = np.array([name == "greedy" for name in (match if turn == 0 else match[::-1])])
            scores, returns = np.zeros((len(seeds), 2)), np.zeros((len(seeds), 2))
            drafts += play(seeds, greedy, np.uint64(turn), state, actions, scores, returns)
            sides.append((scores, returns) if turn == 0 else (scores[:, ::-1], returns[:, ::-1]))
        took = time.process_time() - started
        means = (sides[0][0] + sides[1][0]) / 2
        won = (sides[0][1][:, 0] + sides[1][1][:, 0]) / 4 + 0.5
        errors = 1.96 * means.std(axis=0, ddof=1) / np.sqrt(len(seeds))
        shown = " : ".join(f"{mean:.2f} ± {error:.2f}" for mean, error in zip(means.mean(axis=0), errors, strict=True))
        score = f"{won.mean():.2%} ± {1.96 * won.std(ddof=1) / np.sqrt(len(seeds)):.2%}"
        text = f"{' v '.join(match)}: scores {shown}; won {score}; {drafts / took:,.0f} drafts/s"
        sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
