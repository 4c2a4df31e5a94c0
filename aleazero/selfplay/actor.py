"""The actor: many games at once against oneself, searched in one forest; each leaves a record of its samples.

What a game does depends on (run seed, iteration, number of the game) and the settings alone: every use of luck has a
stream of its own, keyed by these and the ply, and no search depends on the searches beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError
from aleazero.games.base import CHANCE, TERMINAL, Game
from aleazero.games.luck import PlayedLuck
from aleazero.native.random import SELFPLAY_CAP as CAP
from aleazero.native.random import SELFPLAY_DICE as DICE
from aleazero.native.random import SELFPLAY_MOVE as MOVE
from aleazero.native.random import SELFPLAY_SEARCH as THOUGHT
from aleazero.native.random import extend_key, stream_key, unit
from aleazero.search.config import chance_of, largest_visit
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.forest import Forest
from aleazero.search.result import SearchResult
from aleazero.selfplay.boards import CLASS, COUNT, KIND, PLAYER, VIEWER, make_boards
from aleazero.selfplay.config import SelfplayConfig, drawn
from aleazero.selfplay.record import EpisodeRecord, final_scores


class _Sample(NamedTuple):
    """What is noted of a state."""

    step: int
    ply: int
    afterstate: bool
    observation: NDArray[np.float32]
    legal_mask: NDArray[np.bool_]
    policy: NDArray[np.float32]
    viewer: int
    value: NDArray[np.float64] | None
    """By player."""
    weight: float


@dataclass
class _Playing:
    """A game under way."""

    number: int
    seed: int
    luck: PlayedLuck
    start: str
    keys: dict[int, int]
    """Of the streams that are extended by the ply, by use."""
    steps: list[tuple[int, int]] = field(default_factory=list)
    ply: int = 0
    full: bool = True
    samples: list[_Sample] = field(default_factory=list)


class Actor:
    """Plays games of one iteration against itself, with one evaluator at every seat."""

    def __init__(
        self,
        game: Game,
        evaluator: Any,
        config: SelfplayConfig | None = None,
        *,
        seed: int = 0,
        iteration: int = 0,
        values_known: bool = True,
    ) -> None:
        """``values_known``: whether what the searches find is worth learning; not so where the evaluator is blank."""
        self.game, self.config = game, config or SelfplayConfig()
        self.seed, self.iteration = seed, iteration
        evaluator = resolve_evaluator(evaluator)
        search = self.config.search()
        lanes = self.config.parallel
        leaves = search.in_flight * largest_visit(chance_of(search, game, evaluator), game)
        batch = max(leaves, lanes * search.in_flight)
        self._forest = Forest(game, evaluator, search, trees=lanes, batch_size=batch)
        self._boards = make_boards(game, lanes)
        self._full_simulations = self.config.full_simulations(game)
        seats = np.arange(game.num_players)
        self._seats = (seats[:, None] + seats) % game.num_players  # by viewer: who sits at each place behind
        self._values_known = values_known
        self._nothing = np.zeros(game.num_actions, np.float32)
        self.decisions = self.evaluations = 0
        """Searched so far, and the leaves that the evaluator was asked about."""

    def play(self, numbers: Iterable[int]) -> Iterator[EpisodeRecord]:
        """Play the games of these numbers; records come as games end. A number is asked for when there is room."""
        waiting = iter(numbers)
        free = list(range(self.config.parallel))[::-1]
        searching: dict[int, tuple[int, _Playing]] = {}
        more = True
        while True:
            while free and more:
                number = next(waiting, None)
                if number is None:
                    more = False
                    break
                row = free.pop()
                playing = self._begin(row, number)
                if (ticket := self._go_on(row, playing)) is not None:
                    searching[ticket] = (row, playing)
                else:
                    yield self._record(row, playing)
                    free.append(row)
            if not searching:
                return
            for finished in self._forest.collect():
                row, playing = searching.pop(finished.ticket)
                if finished.result is None:
                    assert finished.error is not None
                    self._forest.close()
                    raise finished.error
                self._play_result(row, playing, finished.result)
                del finished  # or its tree would be copied when the next takes its place
                if (ticket := self._go_on(row, playing)) is not None:
                    searching[ticket] = (row, playing)
                else:
                    yield self._record(row, playing)
                    free.append(row)

    def warm_up(self) -> None:
        """Compile what must be compiled, or take it from the cache."""
        self._boards.start(0)

    def _begin(self, row: int, number: int) -> _Playing:
        seed = stream_key(DICE, self.seed, self.iteration, number)
        self._boards.start(row)
        keys = {use: stream_key(use, self.seed, self.iteration, number) for use in (THOUGHT, MOVE, CAP)}
        return _Playing(number, seed, PlayedLuck(seed), self._boards.state(row).to_text(), keys)

    def _go_on(self, row: int, playing: _Playing) -> int | None:
        """Play chance and forced moves until there is a choice; the ticket of its search, or None at the end."""
        boards = self._boards
        while True:
            kind = boards.facts[row, KIND]
            if kind == TERMINAL:
                return None
            if kind == CHANCE:
                if not playing.samples or playing.samples[-1].step != len(playing.steps):
                    # The search asks a network at every chance node, so it must have seen every one.
                    self._note(row, playing, self._nothing, None, 0.0, afterstate=True)
                self._step(row, playing, -1, playing.luck.draw(boards.state(row), int(boards.facts[row, VIEWER])))
            elif boards.facts[row, COUNT] == 1:
                self._note(row, playing, self._nothing, None, 0.0)
                self._execute(row, playing, int(boards.masks[row].argmax()), None)
            else:
                return self._search(row, playing)

    def _search(self, row: int, playing: _Playing) -> int:
        config, ply = self.config, playing.ply
        playing.full = config.full_share >= 1 or unit(extend_key(playing.keys[CAP], ply)) < config.full_share
        full = self._full_simulations[self._boards.facts[row, CLASS]]
        simulations = full if playing.full else min(full, config.fast_simulations)
        self.decisions += 1
        seed, state = extend_key(playing.keys[THOUGHT], ply), self._boards.state(row)
        return self._forest.submit(state, seed=seed, simulations=simulations, noise=playing.full)

    def _play_result(self, row: int, playing: _Playing, result: SearchResult) -> None:
        """Note what the search found, and execute a move drawn from its visits."""
        self.evaluations += result.evaluations
        policy, visits = self._nothing, result.visits.tolist()
        if playing.full:
            policy = np.zeros(self.game.num_actions, np.float32)
            policy[result.actions] = result.visits / sum(visits)
        self._note(row, playing, policy, result.value if self._values_known else None, float(playing.full))
        temperature = self.config.temperature.at(playing.ply)
        if temperature == 0:
            action = result.best_action
            assert action is not None
        else:
            u = unit(extend_key(playing.keys[MOVE], playing.ply))
            action = int(result.actions[drawn(visits, temperature, u)])
        self._execute(row, playing, action, result)

    def _execute(self, row: int, playing: _Playing, action: int, result: SearchResult | None) -> None:
        """Play a move; where chance follows, the afterstate is a sample too, worth what the search found behind it."""
        self._step(row, playing, int(self._boards.facts[row, PLAYER]), action)
        playing.ply += 1
        if playing.ply > self.config.max_plies:
            raise GameError(
                f"{self.game.name}: game {playing.number} of self-play is not over after {self.config.max_plies} "
                f"decisions, expected an end, or a higher max_plies"
            )
        if self._boards.facts[row, KIND] == CHANCE:
            value = None if result is None or not self._values_known else result.value_behind(action)
            self._note(row, playing, self._nothing, value, 0.0, afterstate=True)

    def _step(self, row: int, playing: _Playing, player: int, action: int) -> None:
        playing.steps.append((player, int(action)))
        self._boards.step(row, action)

    def _note(
        self,
        row: int,
        playing: _Playing,
        policy: NDArray[np.float32],
        value: NDArray[np.float64] | None,
        weight: float,
        afterstate: bool = False,
    ) -> None:
        boards = self._boards
        observation, mask = boards.observations[row].copy(), boards.masks[row].copy()
        step, ply, viewer = len(playing.steps), playing.ply, int(boards.facts[row, VIEWER])
        playing.samples.append(_Sample(step, ply, afterstate, observation, mask, policy, viewer, value, weight))

    def _record(self, row: int, playing: _Playing) -> EpisodeRecord:
        state = self._boards.state(row)
        samples, players = playing.samples, self.game.num_players
        count = len(samples)
        returns, scores = np.array(state.returns()), final_scores(state)
        viewers = np.array([sample.viewer for sample in samples], np.int8)
        values = np.zeros((count, players), np.float32)
        for i, sample in enumerate(samples):
            if sample.value is not None:
                values[i] = sample.value[self._seats[sample.viewer]]
        return EpisodeRecord(
            game_number=playing.number,
            seed=playing.seed,
            start=playing.start,
            steps=np.array(playing.steps, np.int32).reshape(-1, 2),
            returns=returns,
            step=np.array([sample.step for sample in samples], np.int32),
            ply=np.array([sample.ply for sample in samples], np.int32),
            afterstate=np.array([sample.afterstate for sample in samples], np.bool_),
            observations=_rows([sample.observation for sample in samples], np.float32, self.game.observation_size),
            legal_masks=_rows([sample.legal_mask for sample in samples], np.bool_, self.game.num_actions),
            policies=_rows([sample.policy for sample in samples], np.float32, self.game.num_actions),
            viewers=viewers,
            root_values=values,
            scores=scores[self._seats[viewers]].astype(np.float32).reshape(count, players),
            weights=np.array([sample.weight for sample in samples], np.float32),
            searched=np.array([sample.value is not None for sample in samples], np.bool_),
        )


def _rows(rows: list[Any], dtype: Any, size: int) -> Any:
    """Rows of one size as an array, also where there are none."""
    return np.array(rows, dtype).reshape(len(rows), size)
