"""The games in progress. Each row plays the result of its search, then chance and forced moves, then searches again.

Object games move one by one in Python (``PlainGames``). For kernel games all rows move in one compiled call
(``compiled_games.py``). ``PlainGames`` is the reference implementation: both give bit-identical records.

Every use of random numbers has its own stream, derived from (use, seed, iteration, game number, ply).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError
from aleazero.games.base import Game, State
from aleazero.games.game_dice import GameDice
from aleazero.native.random import (
    SELFPLAY_CAP,
    SELFPLAY_DICE,
    SELFPLAY_MOVE,
    SELFPLAY_SEARCH,
    extend_key,
    stream_key,
    unit,
)
from aleazero.search.driver import GroupDriver
from aleazero.search.result import SearchResult
from aleazero.search.root import make_request
from aleazero.selfplay.config import SelfplayConfig, sample_index
from aleazero.selfplay.record import EpisodeRecord, final_scores


class RunningGames(Protocol):
    """Games in progress. A row holds a game, and its search in the group of trees."""

    @property
    def decisions(self) -> int:
        """Number of searches started so far."""

    @property
    def evaluations(self) -> int:
        """Number of evaluated leaves in finished searches."""

    def start(self, row: int, number: int) -> None:
        """Start a game in a row."""

    def proceed(self) -> list[int]:
        """Move every row that was started or whose search has ended, until it searches or its game is over.

        Returns:
            The rows whose games are over. They stay so until another game is started there.
        """

    def record(self, row: int) -> EpisodeRecord:
        """Return the record of a game that is over, and free its row."""

    def clear(self) -> None:
        """Remove all games."""


@dataclass(frozen=True)
class Setting:
    """Arguments common to all games."""

    game: Game
    config: SelfplayConfig
    seed: int
    iteration: int
    values_known: bool
    """Whether values found by searches are recorded."""

    def stream(self, use: int, number: int) -> int:
        """Return the key of a random stream of a game."""
        return stream_key(use, self.seed, self.iteration, number)

    def too_long(self, number: int) -> GameError:
        """Return the error for a game that does not end."""
        return GameError(
            f"{self.game.name}: self-play game {number} is not over after {self.config.max_plies} decisions, expected "
            f"an end, or a higher max_plies"
        )

    def seats(self) -> NDArray[np.int64]:
        """Return the player at each seat relative to a viewer, shape (viewers, seats)."""
        seats = np.arange(self.game.num_players)
        turned: NDArray[np.int64] = (seats[:, None] + seats) % self.game.num_players
        return turned


class _Sample(NamedTuple):
    """A state of the game, and the result of its search."""

    step: int
    ply: int
    afterstate: bool
    observation: NDArray[np.float32]
    legal_mask: NDArray[np.bool_]
    policy: NDArray[np.float32]
    viewer: int
    value: NDArray[np.float64] | None
    """Value by player."""
    weight: float


@dataclass
class _Playing:
    """A game in progress."""

    number: int
    state: State
    dice: GameDice
    start: str
    keys: dict[int, int]
    """Keys of the random streams by use; each is extended by the ply."""
    steps: list[tuple[int, int]] = field(default_factory=list)
    ply: int = 0
    full: bool = True
    samples: list[_Sample] = field(default_factory=list)


class PlainGames:
    """Games of any kind, moved one by one in Python."""

    def __init__(self, setting: Setting, driver: GroupDriver) -> None:
        self._setting, self._driver = setting, driver
        self.decisions = self.evaluations = 0
        self._full_simulations = setting.config.full_simulations(setting.game)
        self._nothing = np.zeros(setting.game.num_actions, np.float32)
        self._playing: dict[int, _Playing] = {}
        self._started: list[int] = []

    def start(self, row: int, number: int) -> None:
        """Start a game in a row."""
        setting = self._setting
        state, dice = setting.game.new_initial_state(), GameDice(setting.stream(SELFPLAY_DICE, number))
        keys = {use: setting.stream(use, number) for use in (SELFPLAY_SEARCH, SELFPLAY_MOVE, SELFPLAY_CAP)}
        self._playing[row] = _Playing(number, state, dice, state.to_text(), keys)
        self._started.append(row)

    def clear(self) -> None:
        """Remove all games."""
        self._playing.clear()
        self._started.clear()

    def proceed(self) -> list[int]:
        """Move every row that was started or whose search has ended; return the rows whose games are over."""
        moved = sorted({*self._driver.ended(), *self._started})
        for row in moved:
            playing = self._playing[row]
            if row not in self._started:
                self._play_result(playing, self._driver.read(row))
            self._move_on(row, playing)
        self._started.clear()
        return [row for row in moved if self._playing[row].state.is_terminal()]

    def _move_on(self, row: int, playing: _Playing) -> None:
        """Play chance and forced moves until there is a choice, and start its search."""
        state = playing.state
        while not state.is_terminal():
            if state.is_chance_node():
                if not playing.samples or playing.samples[-1].step != len(playing.steps):
                    # A search calls the network at every chance node, so each one is a sample.
                    self._add_sample(playing, self._nothing, None, 0.0, afterstate=True)
                self._step(playing, -1, playing.dice.draw(state))
            elif len(legal := state.legal_actions()) == 1:
                self._add_sample(playing, self._nothing, None, 0.0)
                self._execute(playing, legal[0], None)
            else:
                self._search(row, playing)
                return

    def _search(self, row: int, playing: _Playing) -> None:
        config, state, ply = self._setting.config, playing.state.clone(), playing.ply
        playing.full = config.full_share >= 1 or unit(extend_key(playing.keys[SELFPLAY_CAP], ply)) < config.full_share
        full = self._full_simulations[state.decision_class()]
        simulations = full if playing.full else min(full, config.fast_simulations)
        seed = extend_key(playing.keys[SELFPLAY_SEARCH], ply)
        self.decisions += 1
        self._driver.begin(row, make_request(self._setting.game, state, None, seed, simulations, playing.full))

    def _play_result(self, playing: _Playing, result: SearchResult) -> None:
        """Add the result of the search to the samples, and play a move by its visits."""
        self.evaluations += result.evaluations
        policy, visits = self._nothing, result.visits.tolist()
        if playing.full:
            policy = np.zeros(self._setting.game.num_actions, np.float32)
            policy[result.actions] = result.visits / sum(visits)
        self._add_sample(playing, policy, result.value if self._setting.values_known else None, float(playing.full))
        temperature = self._setting.config.temperature.at(playing.ply)
        if temperature == 0:
            action = result.best_action
            assert action is not None
        else:
            u = unit(extend_key(playing.keys[SELFPLAY_MOVE], playing.ply))
            action = int(result.actions[sample_index(visits, temperature, u)])
        self._execute(playing, action, result)

    def _execute(self, playing: _Playing, action: int, result: SearchResult | None) -> None:
        """Play a move; if chance follows, the afterstate becomes a sample, with its value in the search."""
        self._step(playing, playing.state.current_player(), action)
        playing.ply += 1
        if playing.ply > self._setting.config.max_plies:
            raise self._setting.too_long(playing.number)
        if playing.state.is_chance_node():
            known = result is not None and self._setting.values_known
            value = result.value_after(action) if known and result is not None else None
            self._add_sample(playing, self._nothing, value, 0.0, afterstate=True)

    def _step(self, playing: _Playing, player: int, action: int) -> None:
        playing.steps.append((player, int(action)))
        playing.state.apply_action(int(action))

    def _add_sample(
        self,
        playing: _Playing,
        policy: NDArray[np.float32],
        value: NDArray[np.float64] | None,
        weight: float,
        afterstate: bool = False,
    ) -> None:
        state, step = playing.state, len(playing.steps)
        observation, mask = state.observation_tensor(), np.array(state.legal_actions_mask(), np.bool_)
        viewer, ply = state.viewer(), playing.ply
        playing.samples.append(_Sample(step, ply, afterstate, observation, mask, policy, viewer, value, weight))

    def record(self, row: int) -> EpisodeRecord:
        """Return the record of a game that is over, and free its row."""
        playing, game, seats = self._playing.pop(row), self._setting.game, self._setting.seats()
        samples = playing.samples
        viewers = np.array([sample.viewer for sample in samples], np.int8)
        values = np.zeros((len(samples), game.num_players), np.float32)
        for i, sample in enumerate(samples):
            if sample.value is not None:
                values[i] = sample.value[seats[sample.viewer]]
        return EpisodeRecord(
            game_number=playing.number,
            seed=playing.dice.seed,
            start=playing.start,
            steps=np.array(playing.steps, np.int32).reshape(-1, 2),
            returns=np.array(playing.state.returns()),
            step=np.array([sample.step for sample in samples], np.int32),
            ply=np.array([sample.ply for sample in samples], np.int32),
            afterstate=np.array([sample.afterstate for sample in samples], np.bool_),
            observations=_rows([sample.observation for sample in samples], np.float32, game.observation_size),
            legal_masks=_rows([sample.legal_mask for sample in samples], np.bool_, game.num_actions),
            policies=_rows([sample.policy for sample in samples], np.float32, game.num_actions),
            viewers=viewers,
            root_values=values,
            scores=_rows(final_scores(playing.state)[seats[viewers]], np.float32, game.num_players),
            weights=np.array([sample.weight for sample in samples], np.float32),
            searched=np.array([sample.value is not None for sample in samples], np.bool_),
        )


def _rows(rows: Any, dtype: Any, size: int) -> Any:
    """Return rows as an array of this width, also if there are none."""
    return np.array(rows, dtype).reshape(len(rows), size)
