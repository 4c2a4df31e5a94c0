"""The recipe ``afterstate``: learn the values of states between turns, by planning every turn exactly.

A *lane* is a game in progress. In each round every lane plays one turn. The turn is planned exactly; the averaged
network evaluates the states where it can end. The expected value of the turn is the training target of the state where
it began. Then the network is trained for a few steps on the newest samples.

Threads play groups of lanes in parallel. Samples are collected in a fixed order and gradients are summed in parts of a
fixed size, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, GameError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.states import Rows, pack, rows_of, unpack
from aleazero.native.compile import cached_njit
from aleazero.native.random import LANE_SAMPLES, LANE_STARTS, LANE_TURNS, stream_key
from aleazero.nets.checkpoint import ValueInfo, write_checkpoint
from aleazero.nets.outcome import Column, Outcome, feature_schema, feature_shape
from aleazero.nets.value_net import make_value_net
from aleazero.nets.values import NetValues, exact_columns_of, require_phases
from aleazero.training.adam import average, step
from aleazero.training.config import AfterstateConfig
from aleazero.training.learner import Round
from aleazero.training.turns_compiled import SampledChance, turn_player_of

Floats = NDArray[np.float32]
MOST_SCATTERED: Final = 60
"""Maximum number of turns of random play before the first round."""
AVERAGED: Final = 0.02
"""Weights are averaged over at most about this fraction of the steps so far, so that early weights are forgotten."""
WARM_EXPLORE: Final = 0.3
"""Fraction of random turns in the warm-up."""
SQUARE: Final = 1e6
"""A delta that turns the Huber loss into a squared error."""
PART: Final = 128
"""Rows per gradient task of a thread."""


class AfterstateLearner:
    """A value network in training: its weight average, its optimizer, its samples and its games."""

    def __init__(self, game: Game, config: AfterstateConfig, threads: int = 1) -> None:
        self.game, self.config = game, config
        require_phases(config.net.phases, game)
        self.outcome, self.shape = Outcome.of(game), feature_shape(game)
        columns = self.outcome.columns if config.target == "turn" else _of_means(self.outcome.columns)
        self.net = make_value_net(config.net, self.shape, columns)
        self.sampled_chance = SampledChance(game) if config.plies == 0 else None
        self.turn_player = turn_player_of(self.game, 1 if config.plies == 0 else config.plies)
        self.theta = self.net.initial(config.seed)
        self.mean = self.theta.copy()
        self.values = NetValues(game, self.net, self.mean)
        """The values of the averaged weights."""
        self.values.exact = exact_columns_of(game) if config.exact else None
        self.moments = np.zeros((2, self.net.size), np.float32)
        self.rounds = config.rounds
        self.steps = self.rounds_done = self.seen = 0
        self._features = np.zeros((config.replay, self.shape.features), np.float32)
        self._phases = np.zeros(config.replay, np.int64)
        self._targets = np.zeros((config.replay, len(self.outcome.columns)), np.float32)
        self.first_rows = rows_of(game, [game.new_initial_state()])
        self.first_state = self.first_rows[0]
        self.first = self.values.see(self.first_rows)
        # Raises an error now if turns cannot be planned:
        self.turn_player.list_turn_ends(self.start_turns(self.first_rows, np.random.Generator(np.random.PCG64(0))))
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.groups = [LaneGroup(self, number) for number in range(config.lane_groups)]

    def start_turns(self, states: Rows, generator: np.random.Generator) -> Rows:
        """Return the states to plan turns from: these states, or if chance is sampled, those after the outcome."""
        if self.sampled_chance is None:
            return states
        return self.sampled_chance.play(states, generator.integers(2**64, size=len(states), dtype=np.uint64))

    # -- rounds ------------------------------------------------------------------------------------------------

    def round(self) -> Round:
        """Play a turn in every lane, then train the network."""
        if self.rounds_done == 0:
            self._each(LaneGroup.scatter, self.groups)
        config, rates = self.config, self.rates()
        samples = self._each(
            lambda group: group.play(self.rounds_done, rates["explore"], rates["margin"], rates["decay"]), self.groups
        )
        self._keep(samples)
        losses = self._learn(rates["learning_rate"])
        self.rounds_done += 1
        games = sum(sample.games for sample in samples)
        return Round(
            number=self.rounds_done,
            turns=config.lane_groups * config.lanes,
            games=games,
            losses={column.name: loss for column, loss in zip(self.outcome.columns, losses, strict=True)},
            learning_rate=rates["learning_rate"],
            mean_return=sum(sample.score for sample in samples) / games if games else None,
            evaluations=sum(sample.leaves for sample in samples),
        )

    def rates(self) -> dict[str, float]:
        """Return the scheduled settings of the next round."""
        config = self.config
        share = max(0.0, (self.rounds_done / self.rounds - config.hold) / (1.0 - config.hold))
        early = max(0.0, 1.0 - 2.0 * share)
        warm = self.rounds_done < config.warmup
        return {
            "explore": max(config.explore, WARM_EXPLORE) if warm else config.explore,
            "learning_rate": config.learning_rate * (1.0 + share * (config.final_rate - 1.0)),
            "decay": 1.0 if warm else config.td_lambda + share * (config.final_lambda - config.td_lambda),
            "margin": config.final_margin + early * (config.margin - config.final_margin),
        }

    def _keep(self, samples: Sequence[Sample]) -> None:
        """Write samples to the replay buffer, over the oldest; without a replay, replace all samples."""
        features = np.concatenate([sample.features for sample in samples])
        phases = np.concatenate([sample.phases for sample in samples])
        targets = np.concatenate([sample.targets for sample in samples])
        if not self.config.replay:
            self._features, self._phases, self._targets, self.seen = features, phases, targets, len(features)
            return
        rows = (self.seen + np.arange(len(features))) % self.config.replay
        self._features[rows], self._phases[rows], self._targets[rows] = features, phases, targets
        self.seen += len(rows)

    def _learn(self, rate: float) -> tuple[float, ...]:
        config = self.config
        held = min(self.seen, len(self._features))
        losses = np.full(len(self.outcome.columns), np.nan)
        if not held:
            return tuple(losses.tolist())
        generator = np.random.Generator(np.random.Philox(key=stream_key(LANE_SAMPLES, config.seed, self.rounds_done)))
        for _ in range(config.updates):
            rows = generator.integers(0, held, config.batch_size)
            losses = self._step(self._features[rows], self._phases[rows], self._targets[rows], rate)
        if not config.replay:
            self.seen = 0
        if not (np.isfinite(losses).all() and np.isfinite(self.theta).all() and np.isfinite(self.mean).all()):
            bad = np.flatnonzero(~np.isfinite(self._features[:held]).all(axis=0))
            if len(bad):
                raise GameError(
                    f"{self.game.name}: feature {bad[0]} is not finite in a state that was played, expected finite "
                    "numbers: `aleazero check` shows where"
                )
            raise ConfigError(
                f"training diverged in round {self.rounds_done + 1} (loss {losses.tolist()}), expected finite numbers: "
                "lower learning_rate"
            )
        return tuple(losses.tolist())

    def _step(self, features: Floats, phases: NDArray[np.int64], targets: Floats, rate: float) -> NDArray[np.float64]:
        """Update the weights with Adam on the mean loss, and their average; return the losses by column."""

        def part(start: int) -> tuple[Floats, NDArray[np.float64]]:
            gradient = np.zeros(self.net.size, np.float32)
            rows = slice(start, start + PART)
            return gradient, self.net.gradient(self.theta, features[rows], targets[rows], gradient, phases[rows])

        parts = self._each(part, range(0, len(features), PART))
        gradient, losses = parts[0]
        for more, loss in parts[1:]:
            gradient += more
            losses = losses + loss
        self.steps += 1
        first, second = self.moments
        step(self.theta, gradient, first, second, rate, self.steps, clip=self.config.clip, shrink=1.0 / len(features))
        average(self.mean, self.theta, max(1.0 - self.config.ema, 1.0 / (2.0 + AVERAGED * self.steps)))
        mean: NDArray[np.float64] = losses / len(features)
        return mean

    def _each(self, work: Callable[[Any], Any], items: Sequence[Any] | range) -> list[Any]:
        return list((map if self._pool is None else self._pool.map)(work, items))

    # -- checkpoints -------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the complete state of training, from which it resumes with bit-identical results."""
        held: dict[str, NDArray[Any]] = {
            "theta": self.theta,
            "mean": self.mean,
            "moments": self.moments,
            "counts": np.array([self.steps, self.rounds_done, self.seen], np.int64),
            **_sparse("features", self._features[: self.seen]),
            "phases": self._phases[: self.seen],
            "targets": self._targets[: self.seen],
        }
        for number, group in enumerate(self.groups):
            held |= {f"lane_group_{number}.{name}": array for name, array in group.state().items()}
        return {name: array.copy() for name, array in held.items()}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the result of ``state``."""
        self.theta[:], self.mean[:], self.moments[:] = held["theta"], held["mean"], held["moments"]
        self.steps, self.rounds_done, self.seen = (int(count) for count in held["counts"])
        kept = len(held["phases"])
        self._features[:kept] = _dense("features", held, self.shape.features)
        self._targets[:kept], self._phases[:kept] = held["targets"], held["phases"]
        for number, group in enumerate(self.groups):
            own = f"lane_group_{number}."
            group.restore({name.removeprefix(own): array for name, array in held.items() if name.startswith(own)})

    def save(self, path: Path) -> None:
        """Write the checkpoint used for play, with the averaged weights."""
        net = self.net
        about = ValueInfo.of(
            self.game,
            net.config,
            net.shape,
            feature_schema(self.game),
            net.columns,
            step=self.steps,
            training={**self.config.model_dump(mode="json"), "rounds": self.rounds},
        )
        write_checkpoint(path, net.tensors(self.mean), about)

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()


class LaneGroup:
    """A group of lanes, with the network inputs of their states."""

    features: Floats
    phases: NDArray[np.int64]
    viewers: NDArray[np.int64]
    base: NDArray[np.float64]
    """Returns so far by player."""

    def __init__(self, learner: AfterstateLearner, number: int) -> None:
        self._learner, self._number = learner, number
        lanes = learner.config.lanes
        self.states = np.repeat(learner.first_rows, lanes, axis=0)
        self.open_games = OpenGames(learner.game, lanes)
        self._room = np.empty((0, learner.shape.features), np.float32)
        """Memory for the inputs of all leaves. New memory in each round would cost more time than the inputs."""

    def play(self, round_: int, explore: float, margin: float, decay: float) -> Sample:
        """Play a turn in every lane; return its samples or, with the target ``lambda``, those of games that ended."""
        learner = self._learner
        outcome, config, first = learner.outcome, learner.config, learner.first
        generator = self._generator(LANE_TURNS, round_)
        draws = generator.random((len(self.states), learner.turn_player.draws))
        begun = learner.start_turns(self.states, generator)
        leaves, starts, known = learner.turn_player.list_turn_ends(begun)
        if len(self._room) < len(leaves):
            self._room = np.empty((len(leaves) + len(leaves) // 4, learner.shape.features), np.float32)
        ends = learner.values.see(leaves, self._room[: len(leaves)])
        columns = learner.values.columns(ends)
        # Columns whose expectations are targets too: margin or win levels of two players, or one column per seat.
        carried = columns[:, 1:] if outcome.kind == "two_player" or outcome.players == 1 else columns
        movers, value, others, chosen, explored = learner.turn_player.play_turns(
            begun,
            starts,
            known,
            outcome.values_by_player(columns, margin),
            np.ascontiguousarray(carried),
            draws,
            explore,
        )
        over = ends.over[chosen]
        if config.target == "turn":
            sample = self._sample(_expected(outcome, movers, value, others, margin), np.ones_like(over))
        elif config.target == "td":
            sample = self._sample(columns[chosen], ~explored)
        else:
            strayed = explored & (round_ >= config.warmup)
            self.open_games.add(self.states, columns[chosen], strayed)
            sample = self._sample_games(*self.open_games.end(over, decay))
        sample.games, sample.score = int(over.sum()), float(ends.returns[chosen][over, 0].sum())
        sample.leaves = len(leaves)
        self.states, self.features, self.phases = leaves[chosen], ends.features[chosen], ends.phases[chosen]
        self.viewers, self.base = ends.viewers[chosen], ends.returns[chosen]
        self.states[over] = learner.first_state
        self.features[over], self.phases[over] = first.features[0], first.phases[0]
        self.viewers[over], self.base[over] = first.viewers[0], first.returns[0]
        return sample

    def scatter(self) -> None:
        """Move every lane to a random turn of a random game, so that the lanes are not all at the same turn."""
        learner = self._learner
        kept, running = self.states.copy(), np.ones(len(self.states), np.bool_)
        for turn in range(MOST_SCATTERED):
            generator = self._generator(LANE_STARTS, turn)
            draws = generator.random((len(self.states), learner.turn_player.draws))
            begun = learner.start_turns(self.states, generator)
            leaves, starts, known = learner.turn_player.list_turn_ends(begun)
            worth, nothing = np.zeros((len(leaves), learner.game.num_players)), np.zeros((len(leaves), 0))
            *_, chosen, _ = learner.turn_player.play_turns(begun, starts, known, worth, nothing, draws, 1.0)
            over = learner.values.see(leaves[chosen]).over
            running &= ~over
            if not running.any():
                break
            self.states = leaves[chosen]
            self.states[over] = learner.first_state
            taken = running & (generator.random(len(running)) * (turn + 2) < 1.0)  # all turns of a game equally likely
            kept[taken] = self.states[taken]
        self.states = kept
        self.see()

    def see(self) -> None:
        """Compute the network inputs of the current states."""
        ends = self._learner.values.see(self.states)
        self.features, self.phases, self.viewers, self.base = ends.features, ends.phases, ends.viewers, ends.returns

    def _generator(self, use: int, round_: int) -> np.random.Generator:
        key = stream_key(use, self._learner.config.seed, round_, self._number)
        return np.random.Generator(np.random.Philox(key=key))

    def _sample(self, columns: NDArray[np.float64], used: NDArray[np.bool_]) -> Sample:
        """Return targets of the states where the turns began, from the point of view of their viewers."""
        seen = self._targets(columns, self.base, self.viewers)
        return Sample(self.features[used], self.phases[used], seen[used])

    def _sample_games(self, states: Rows, columns: NDArray[np.float64]) -> Sample:
        """Return targets of the turns of games that ended."""
        ends = self._learner.values.see(states)
        return Sample(ends.features, ends.phases, self._targets(columns, ends.returns, ends.viewers))

    def _targets(self, columns: NDArray[np.float64], base: NDArray[np.float64], viewers: NDArray[np.int64]) -> Floats:
        """Convert columns by player to targets by viewer; scores are counted from the state on."""
        outcome = self._learner.outcome
        rest = columns - base if outcome.kind == "score" else columns
        return outcome.by_viewer(rest, viewers).astype(np.float32)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state to resume from."""
        return {"states": pack(self._learner.game, self.states), **self.open_games.state()}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the result of ``state``."""
        self.states = unpack(self._learner.game, held["states"])
        self.see()
        self.open_games.restore(held)


@dataclass
class Sample:
    """States between turns as network inputs, with their targets."""

    features: Floats
    phases: NDArray[np.int64]
    targets: Floats
    games: int = 0
    """Games that ended."""
    score: float = 0.0
    """Sum of player 0's returns in these games."""
    leaves: int = 0
    """Number of states where the turns could have ended."""


class OpenGames:
    """The turns of all games in progress, for targets that are computed at the end of a game."""

    def __init__(self, game: Game, lanes: int) -> None:
        self._game = game
        self.lengths = np.zeros(lanes, np.int64)
        self._turns: dict[str, NDArray[Any]] = {}
        """By name: an array (lanes, turns, ...), of which a lane uses as many turns as its length."""

    def add(self, states: Rows, values: NDArray[np.float64], strayed: NDArray[np.bool_]) -> None:
        """Add a turn of every lane.

        Args:
            states: the states where the turns began.
            values: the columns by player of the states where they ended.
            strayed: whether they were played with random actions.
        """
        turn = {"states": self._short(states), "values": values, "strayed": strayed}
        room = self._turns["strayed"].shape[1] if self._turns else 0
        if self.lengths.max(initial=0) >= room:
            for name, array in turn.items():
                longer = np.zeros((len(array), max(16, 2 * room), *array.shape[1:]), array.dtype)
                if name in self._turns:
                    longer[:, :room] = self._turns[name]
                self._turns[name] = longer
        rows = np.arange(len(self.lengths))
        for name, array in turn.items():
            self._turns[name][rows, self.lengths] = array
        self.lengths += 1

    def end(self, over: NDArray[np.bool_], decay: float) -> tuple[Rows, NDArray[np.float64]]:
        """Return states and targets by player of lanes whose games are over: G = (1 - lambda)·V + lambda·(next G).

        If the next turn was played with random actions, its G says nothing about good play, and G = V.
        """
        states, targets = [self._turns["states"][0, :0]], [self._turns["values"][0, :0]]
        for lane in np.flatnonzero(over):
            held = {name: array[lane, : self.lengths[lane]] for name, array in self._turns.items()}
            found = held["values"].copy()
            _mix_backwards(found, held["strayed"], decay)
            states.append(held["states"][~held["strayed"]])
            targets.append(found[~held["strayed"]])
        self.lengths[over] = 0
        return np.concatenate(states), np.concatenate(targets)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state to resume from: the turns of all games, one game after the other."""
        held: dict[str, NDArray[Any]] = {"lengths": self.lengths}
        if self.lengths.any():
            used = self._used(self._turns["strayed"].shape[1])
            held |= {f"trail_{name}": array[used] for name, array in self._turns.items()}
            held["trail_states"] = pack(self._game, held["trail_states"])
        return held

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the result of ``state``."""
        self.lengths, self._turns = np.array(held["lengths"]), {}
        used = self._used(int(self.lengths.max(initial=0)))
        for name in ("states", "values", "strayed") if used.any() else ():
            array = held[f"trail_{name}"]
            turns = self._short(unpack(self._game, array)) if name == "states" else array
            self._turns[name] = np.zeros((*used.shape, *turns.shape[1:]), turns.dtype)
            self._turns[name][used] = turns

    def _used(self, room: int) -> NDArray[np.bool_]:
        return np.arange(room) < self.lengths[:, None]  # (lanes, room)

    def _short(self, states: Rows) -> Rows:
        """Return the rows in the data type of the game, which is shorter."""
        return states.astype(self._game.info.state_dtype) if isinstance(self._game, KernelGame) else states


def _sparse(name: str, rows: Floats) -> dict[str, NDArray[Any]]:
    """Return the nonzero numbers of network inputs (rows, F), for a file. Most inputs of a state are 0."""
    used = rows != 0
    columns = np.nonzero(used)[1].astype(np.uint32)
    return {f"{name}.counts": used.sum(axis=1, dtype=np.uint32), f"{name}.columns": columns, name: rows[used]}


def _dense(name: str, held: Mapping[str, NDArray[Any]], features: int) -> Floats:
    """Return the network inputs (rows, F) that ``_sparse`` converted."""
    counts = held[f"{name}.counts"]
    rows = np.zeros((len(counts), features), np.float32)
    rows[np.repeat(np.arange(len(counts)), counts), held[f"{name}.columns"]] = held[name]
    return rows


@cached_njit(nogil=True, error_model="numpy")
def _mix_backwards(values: Any, strayed: Any, decay: float) -> None:
    """Replace the values (turns, columns) by the targets of ``OpenGames.end``, the last turn first."""
    for turn in range(len(values) - 2, -1, -1):
        if not strayed[turn + 1]:
            for column in range(values.shape[1]):
                values[turn, column] += decay * (values[turn + 1, column] - values[turn, column])


def _expected(
    outcome: Outcome, movers: NDArray[np.int64], value: NDArray[np.float64], others: NDArray[np.float64], margin: float
) -> NDArray[np.float64]:
    """Return the expectations of all columns by player."""
    if outcome.kind == "two_player":
        value = np.where(movers == 0, value, -value)[:, None]
        rest = (others * outcome.weights(margin)).sum(axis=1, keepdims=True)
        return np.concatenate((value - rest, others), axis=1)
    return value[:, None] if outcome.players == 1 else others


def _of_means(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns with squared errors, which learn the mean of noisy targets; the Huber loss would not."""
    return tuple(column.model_copy(update={"delta": SQUARE}) for column in columns)
