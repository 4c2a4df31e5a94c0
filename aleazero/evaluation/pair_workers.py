"""Processes that play pairs. Which one plays a pair does not change it, and pairs come back in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final

from aleazero.errors import AleaZeroError
from aleazero.evaluation.pairs import Contest, PlayedPair, play_chunk
from aleazero.games.base import Game
from aleazero.games.registry import load_game
from aleazero.interrupts import deaf_children
from aleazero.players.make import make_player
from aleazero.players.player import Player

Chunk = tuple[int, list[int]]
MOST_DEATHS: Final = 3


def play_chunks(contest: Contest, chunks: Sequence[Chunk], workers: int) -> Iterator[PlayedPair]:
    """Play chunks of pairs in some processes; each has at most one more chunk waiting for it.

    The processes stay for the next contest: to start one takes seconds. Where one dies, its chunks are played again.
    """
    left, waiting, deaths = deque(chunks), deque[tuple[Chunk, Future[list[PlayedPair]]]](), 0
    try:
        while left or waiting:
            try:
                while left and len(waiting) <= workers:
                    with deaf_children():  # the first chunks start processes
                        waiting.append((left[0], _pool(workers).submit(_play, contest, *left[0])))
                    left.popleft()
                played = waiting[0][1].result()
            except BrokenProcessPool:
                deaths += 1
                _pools.pop(workers).shutdown(cancel_futures=True)
                if deaths > MOST_DEATHS:
                    raise AleaZeroError(
                        f"{deaths} workers that played pairs died, expected them to end their games"
                    ) from None
                left.extendleft(chunk for chunk, _ in reversed(waiting))
                waiting.clear()
                continue
            waiting.popleft()
            yield from played
    finally:
        for _, future in waiting:
            future.cancel()


_pools: dict[int, ProcessPoolExecutor] = {}
"""Processes of this one, by how many."""


def _pool(workers: int) -> ProcessPoolExecutor:
    if workers not in _pools:
        context = multiprocessing.get_context("spawn")
        _pools[workers] = ProcessPoolExecutor(workers, context, _begin)
    return _pools[workers]


def _begin() -> None:
    """Leave Ctrl-C to the parent, and end with it, which a pool's processes do not where it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


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
