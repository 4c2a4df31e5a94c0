"""Value targets: the values that a network is trained to predict for the states of a game.

Each sample of a game is a decision, or the afterstate that followed it; V is the value that the search found there.
Targets are computed from the end of the game backwards:

- ``outcome``: the final return.
- ``root``: V.
- ``mix``: (1 − share)·outcome + share·V.
- ``td``: G = (1 − lambda)·V + lambda·(G of the next sample). The last sample uses the final return.
- ``expectation``: for a decision, the V of the afterstate after it, which averages over all outcomes; for an
  afterstate, its own V.
- ``exact``: the value of an oracle if it covers the state, else ``td``.
- ``mismatch``: as ``exact``, but a decision has the exact value of the chance node before it, as if the outcome were
  not known yet. These targets are wrong. They are for measurements of what this mistake costs.

A sample without a search (a forced move) takes the target of the next sample; in ``mix``, the final return.
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
"""(mean prediction, mean result, count) of ten groups, from the lowest predictions to the highest."""


def value_targets(window: Window, name: str, share: float = 0.5, decay: float = 0.9) -> NDArray[np.float32]:
    """Return targets for every sample of a window, by seat relative to the viewer, shape (samples, players)."""
    if name not in NAMES:
        raise ConfigError(f"value target is {name!r}, {nearest(name, NAMES)}")
    columns = ("returns", "root_values", "searched", "afterstate", "viewers")
    returns, values, searched, afterstate, viewers = (np.concatenate(window.columns(column)) for column in columns)
    out = np.zeros_like(returns)
    _targets(NAMES[name], share, decay, window.game_spans(), returns, values, searched, afterstate, viewers, out)
    return out


@cached_njit()
def _targets(name: int, share: float, decay: float, spans: Any, returns: Any, values: Any, searched: Any,
             afterstate: Any, viewers: Any, out: Any) -> None:  # fmt: skip
    """Compute targets backwards within each game; ``later`` (the target of the next sample) is by player."""
    players = returns.shape[1]
    later, found = np.zeros(players), np.zeros(players)
    for game in range(len(spans)):
        first, last = spans[game]
        for i in range(last - 1, first - 1, -1):
            viewer = viewers[i]
            for seat in range(players):
                player = (viewer + seat) % players
                outcome = np.float64(returns[i, seat])
                if i == last - 1:
                    later[player] = outcome
                value = np.float64(values[i, seat])
                if name == OUTCOME or (name == MIX and not searched[i]):
                    found[player] = outcome
                elif name == MIX:
                    found[player] = (1.0 - share) * outcome + share * value
                elif not searched[i]:
                    found[player] = later[player]
                elif name == ROOT:
                    found[player] = value
                elif name == TD:
                    found[player] = (1.0 - decay) * value + decay * later[player]
                else:
                    follows = i + 1 < last and afterstate[i + 1] and searched[i + 1] and not afterstate[i]
                    found[player] = later[player] if follows else value
            for seat in range(players):
                out[i, seat] = found[(viewer + seat) % players]
            later[:] = found


def exact_targets(
    window: Window, game: Game, decay: float = 0.9, *, mismatch: bool = False
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the targets ``exact`` (samples, players) and whether each is a value of the oracle (samples,).

    Targets are by seat relative to the viewer. Every game of the window is replayed. ``mismatch`` returns the targets
    ``mismatch``, which are wrong for decisions.
    """
    oracle = require_oracle(game)
    targets, covered = value_targets(window, "td", decay=decay), np.zeros(len(window), np.bool_)
    row = 0
    for record in window.records():
        for state, before in sampled_states(record, game):
            valued = before if mismatch and before is not None and not state.is_chance_node() else state
            try:
                targets[row] = np.roll(oracle.values(valued), -state.viewer())
                covered[row] = True
            except PositionError:  # the oracle does not cover states that play from the start cannot reach
                pass
            row += 1
    return targets, covered


def sampled_states(record: EpisodeRecord, game: Game) -> Iterator[tuple[State, State | None]]:
    """Yield the state of each sample in order, and the last chance node before it; None if there is none.

    The state is one object, which changes when the next one is requested.
    """
    state, before = game.state_from_text(record.start), None
    sampled = set(record.step.tolist())
    for index, (_, action) in enumerate(record.steps.tolist()):
        if index in sampled:
            yield state, before
        if state.is_chance_node():
            before = state.clone()
        try:
            state.apply_action(action)
        except AleaZeroError as error:
            raise ReplayError(f"game {record.game_number}, step {index}: {error}") from None


def tenths(predicted: NDArray[Any], came: NDArray[Any]) -> Tenths:
    """Return the mean prediction and the mean result in ten groups of equal size, sorted by prediction."""
    order = np.argsort(predicted, kind="stable")
    return [
        (float(predicted[part].mean()), float(came[part].mean()), len(part))
        for part in np.array_split(order, 10)
        if len(part)
    ]
