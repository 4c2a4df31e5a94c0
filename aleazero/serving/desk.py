"""What a worker process keeps between requests: games, searches, planners and judges, in bounded numbers and sizes.

Compiling a game takes seconds, and a search reuses its memory. Loading and compiling have a time limit of their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aleazero.games.base import Game
from aleazero.games.registry import load_game
from aleazero.serving.requests import Limits, Sources
from aleazero.serving.work import Work

MOST_GAMES: Final = 12
"""Games that a worker keeps. Compiled code stays in memory, so a worker that loaded more games is replaced."""
MOST_ENGINES: Final = 24
"""Searches, planners, evaluators and judges that a worker keeps."""
MOST_WARM: Final = 1000
"""Things that are known to be compiled. Others get the time for compilation again, which is not needed."""
MOST_BYTES: Final = 128_000_000
"""Bytes of the trees of all searches that a worker keeps."""

_games: OrderedDict[Hashable, Game] = OrderedDict()
_engines: OrderedDict[Hashable, Any] = OrderedDict()
_bytes: dict[Hashable, int] = {}
_loaded: set[Hashable] = set()
_warm: set[Hashable] = set()
"""What is compiled in this process."""


@dataclass
class Desk:
    """What a request works with: files, limits, and kept games, searches and planners."""

    sources: Sources
    limits: Limits
    work: Work
    _prepares: bool = False

    def game(self, name: str, params: Mapping[str, Any]) -> tuple[Hashable, Game]:
        """Return the game of a name with or without parameters and of further ones, and the key by which it is kept."""
        text = self.sources.game_text(name)
        key = (text, repr(sorted(params.items())))
        return key, self._kept(_games, key, lambda: self._load(key, text, params), MOST_GAMES)

    def _load(self, key: Hashable, text: str, params: Mapping[str, Any]) -> Game:
        _loaded.add(key)
        if len(_loaded) > MOST_GAMES:
            self.work.retire()
        return load_game(text, **params)

    def engine(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return a kept search, planner, evaluator or judge, or make it."""
        found = self._kept(_engines, key, make, MOST_ENGINES)
        for dropped in _bytes.keys() - _engines.keys():
            del _bytes[dropped]
        return found

    def weigh(self, key: Hashable, size: int) -> None:
        """Record the bytes of a kept search. While all of them are too large, the oldest is dropped."""
        _bytes[key] = max(size, _bytes.get(key, 0))  # a search keeps the memory of its largest tree
        for old in [one for one in _engines if one in _bytes]:
            if sum(_bytes.values()) <= MOST_BYTES:
                return
            del _engines[old], _bytes[old]

    def _kept(self, store: OrderedDict[Hashable, Any], key: Hashable, make: Callable[[], Any], most: int) -> Any:
        if key in store:
            store.move_to_end(key)
        else:
            self.prepare()
            store[key] = make()
            if len(store) > most:
                store.popitem(last=False)
            self.begin()
        return store[key]

    def is_warm(self, key: Hashable) -> bool:
        """Return whether ``warmed`` was called with this key."""
        return key in _warm

    def warmed(self, key: Hashable) -> None:
        """Record that something is compiled."""
        if len(_warm) >= MOST_WARM:
            _warm.clear()
        _warm.add(key)

    def prepare(self) -> None:
        """Begin to load or compile something."""
        if not self._prepares:
            self._prepares = True
            self.work.preparing()

    def begin(self) -> None:
        """Begin to compute the answer: from now on the time limit of the request holds."""
        if self._prepares:
            self._prepares = False
            self.work.ready()
