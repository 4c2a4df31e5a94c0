"""Processes that play pairs. Which one plays a pair does not change it, and pairs come back in order."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from aleazero.errors import AleaZeroError
from aleazero.evaluation.pairs import Contest, PlayedPair, play_chunk
from aleazero.games.base import Game
from aleazero.games.registry import load_game
from aleazero.players.make import make_player
from aleazero.players.player import Player

Chunk = tuple[int, list[int]]


def play_chunks(contest: Contest, chunks: Sequence[Chunk], workers: int) -> Iterator[PlayedPair]:
    """Play chunks of pairs in some processes; each has at most one more chunk waiting for it."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(chunks)), context, _leave_interrupts)
    waiting: deque[Future[list[PlayedPair]]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(_play, contest, *chunk))
            if len(waiting) > workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool:
        raise AleaZeroError("a worker that played pairs died, expected it to end its games") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear


_contests: dict[str, tuple[Game, list[Player]]] = {}
"""The players of this process."""


def _play(contest: Contest, start: int, seeds: list[int]) -> list[PlayedPair]:
    key = repr(contest)
    if key not in _contests:
        _contests.clear()
        game = load_game(contest.game, **contest.params)
        specs = (contest.first, contest.second)
        _contests[key] = game, [make_player(spec, game, threads=contest.threads) for spec in specs]
    game, players = _contests[key]
    return play_chunk(game, players, start, seeds, contest.player_seed, contest.deterministic_chance)
