"""Value targets by name: what a state is taught to be worth, computed from the game it was met in.

Each sample of a game is a decision, or the afterstate that followed one; V is what the search found there. From the end
of the game backwards:

- ``outcome``: what the game came to.
- ``root``: V.
- ``mix``: (1 − share)·outcome + share·V.
- ``td``: G = (1 − lambda)·V + lambda·(the G of the sample behind it), with the outcome behind the last.
- ``expectation``: the V of the afterstate behind a decision, with all outcomes weighed; an afterstate's own V.
- ``exact``: the value of an oracle, if one covers the state; else ``td``.

Where nothing was searched (a forced move), the target is that of the sample behind it; in ``mix``, the outcome.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import AleaZeroError, ConfigError, PositionError, ReplayError, nearest
from aleazero.games.base import Game, State
from aleazero.native.compile import cached_njit
from aleazero.oracles.oracle import require_oracle
from aleazero.replay.window import Window
from aleazero.selfplay.record import EpisodeRecord

OUTCOME, ROOT, MIX, TD, EXPECTATION = range(5)
NAMES: Final = {"outcome": OUTCOME, "root": ROOT, "mix": MIX, "td": TD, "expectation": EXPECTATION}
Tenths = list[tuple[float, float, int]]
"""Predicted, came, and how many, from the lowest prediction to the highest."""


def value_targets(window: Window, name: str, share: float = 0.5, decay: float = 0.9) -> NDArray[np.float32]:
    """(samples, players): targets for every sample of a window, by seat from the viewer on."""
    if name not in NAMES:
        raise ConfigError(f"value target is {name!r}, {nearest(name, NAMES)}")
    columns = ("returns", "root_values", "searched", "afterstate", "viewers")
    returns, values, searched, afterstate, viewers = (np.concatenate(window.columns(column)) for column in columns)
    out = np.zeros_like(returns)
    _targets(NAMES[name], share, decay, window.game_spans(), returns, values, searched, afterstate, viewers, out)
    return out


def exact_targets(window: Window, game: Game, decay: float = 0.9) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """(samples, players) targets by seat from the viewer on, and (samples,) whether an oracle gave them.

    Every game of the window is played again. A game without an oracle is refused.
    """
    judge = require_oracle(game)
    targets, covered = value_targets(window, "td", decay=decay), np.zeros(len(window), np.bool_)
    row = 0
    for record in window.records():
        for state in sampled_states(record, game):
            try:
                targets[row] = np.roll(judge.values(state), -state.viewer())
                covered[row] = True
            except PositionError:  # play from the first state never comes here
                pass
            row += 1
    return targets, covered


def tenths(predicted: NDArray[Any], came: NDArray[Any]) -> Tenths:
    """The means of both in ten groups by what was predicted."""
    order = np.argsort(predicted, kind="stable")
    return [
        (float(predicted[part].mean()), float(came[part].mean()), len(part))
        for part in np.array_split(order, 10)
        if len(part)
    ]


def sampled_states(record: EpisodeRecord, game: Game) -> Iterator[State]:
    """The state of each sample, in order. It is one state that is played on: look before the next is asked for."""
    state = game.state_from_text(record.start)
    sampled = set(record.step.tolist())
    for index, (_, action) in enumerate(record.steps.tolist()):
        if index in sampled:
            yield state
        try:
            state.apply_action(action)
        except AleaZeroError as error:
            raise ReplayError(f"game {record.game_number}, step {index}: {error}") from None


@cached_njit()
def _targets(name: int, share: float, decay: float, spans: Any, returns: Any, values: Any, searched: Any,
             afterstate: Any, viewers: Any, out: Any) -> None:  # fmt: skip
    """Targets, game by game, backwards; ``behind`` is by absolute seat."""
    players = returns.shape[1]
    behind, found = np.zeros(players), np.zeros(players)
    for game in range(len(spans)):
        first, last = spans[game]
        for i in range(last - 1, first - 1, -1):
            viewer = viewers[i]
            for seat in range(players):
                player = (viewer + seat) % players
                outcome = np.float64(returns[i, seat])
                if i == last - 1:
                    behind[player] = outcome
                value = np.float64(values[i, seat])
                if name == OUTCOME or (name == MIX and not searched[i]):
                    found[player] = outcome
                elif name == MIX:
                    found[player] = (1.0 - share) * outcome + share * value
                elif not searched[i]:
                    found[player] = behind[player]
                elif name == ROOT:
                    found[player] = value
                elif name == TD:
                    found[player] = (1.0 - decay) * value + decay * behind[player]
                else:
                    follows = i + 1 < last and afterstate[i + 1] and searched[i + 1] and not afterstate[i]
                    found[player] = behind[player] if follows else value
            for seat in range(players):
                out[i, seat] = found[(viewer + seat) % players]
            behind[:] = found
