"""The recipe ``afterstate``: learn what states between turns are worth, by planning every turn exactly.

In each round every lane plays a turn, planned over the averaged network's values of where it can end. What the turn is
expected to bring is the target of the state it began from. Then the network takes some steps on the newest samples.
Threads play the groups of lanes (``lane_groups``) in parallel, and their samples are taken in order. Gradients are
summed in parts of a fixed size. So the number of threads changes nothing but the time.
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
from aleazero.games.states import pack, rows_of, unpack
from aleazero.native.random import LANE_SAMPLES, LANE_STARTS, LANE_TURNS, stream_key
from aleazero.nets.checkpoint import ValueInfo, write_checkpoint
from aleazero.nets.outcome import Column, Outcome, feature_schema, feature_shape
from aleazero.nets.value_net import make_value_net
from aleazero.nets.values import NetValues, require_phases
from aleazero.training.adam import average, step
from aleazero.training.config import AfterstateConfig
from aleazero.training.learner import Round
from aleazero.training.turns_compiled import turn_player_of

Floats = NDArray[np.float32]
MOST_SCATTERED: Final = 60
"""Turns of random play before the first round."""
AVERAGED: Final = 0.02
"""Share of all steps so far that weights are averaged over, where ``ema`` does not say fewer: early ones go soon."""
SQUARE: Final = 1e6
"""A delta so large that Huber's loss is a square."""
PART: Final = 256
"""Rows whose gradient is summed by one thread."""


class LaneGroup:
    """Some lanes, and what is known of the states they stand at."""

    def __init__(self, learner: AfterstateLearner, number: int) -> None:
        self._of, self._number = learner, number
        lanes = learner.config.lanes
        self.states = np.repeat(learner.first_rows, lanes, axis=0)
        self.open_games = OpenGames(lanes, learner.shape.features, len(learner.outcome.columns))

    def scatter(self) -> None:
        """Put every lane somewhere into a game of random actions, so that lanes do not go in step."""
        of = self._of
        kept, running = self.states.copy(), np.ones(len(self.states), np.bool_)
        for turn in range(MOST_SCATTERED):
            luck = self._luck(LANE_STARTS, turn)
            leaves, starts, known = of.turn_player.list_turn_ends(self.states)
            worth, nothing = np.zeros((len(leaves), of.game.num_players)), np.zeros((len(leaves), 0))
            draws = luck.random((len(self.states), of.turn_player.draws))
            *_, chosen, _ = of.turn_player.play_turns(self.states, starts, known, worth, nothing, draws, 1.0)
            over = of.values.see(leaves[chosen]).over
            running &= ~over
            if not running.any():
                break
            self.states = leaves[chosen]
            self.states[over] = of.first_state
            taken = running & (luck.random(len(running)) * (turn + 2) < 1.0)  # each turn of a game alike
            kept[taken] = self.states[taken]
        self.states = kept
        self.see()

    def see(self) -> None:
        """Look at the states that the lanes stand at."""
        ends = self._of.values.see(self.states)
        self.features, self.phases, self.viewers, self.base = ends.features, ends.phases, ends.viewers, ends.returns

    def _luck(self, use: int, round_: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=stream_key(use, self._of.config.seed, round_, self._number)))

    def play(self, round_: int, explore: float, margin: float, decay: float) -> Sample:
        """A turn of every lane; samples of it (or, with ``lambda``, of the games that ended)."""
        of = self._of
        outcome, config, first = of.outcome, of.config, of.first
        leaves, starts, known = of.turn_player.list_turn_ends(self.states)
        ends = of.values.see(leaves)
        columns = of.values.columns(ends)
        # What is worth learning beside the worth itself: a duel's margin or chances, or every seat's column.
        carried = columns[:, 1:] if outcome.kind == "duel" or outcome.players == 1 else columns
        movers, value, others, chosen, explored = of.turn_player.play_turns(
            self.states,
            starts,
            known,
            outcome.values_by_player(columns, margin),
            np.ascontiguousarray(carried),
            self._luck(LANE_TURNS, round_).random((len(self.states), of.turn_player.draws)),
            explore,
        )
        over = ends.over[chosen]
        if config.target == "turn":
            sample = self._sample(_expected(outcome, movers, value, others, margin), np.ones_like(over))
        elif config.target == "td":
            sample = self._sample(columns[chosen], ~explored)
        else:
            self.open_games.add(self.features, self.phases, self.viewers, self._base(), columns[chosen], explored)
            sample = self.open_games.end(over, decay, outcome)
        sample.games, sample.score = int(over.sum()), float(ends.returns[chosen][over, 0].sum())
        sample.leaves = len(leaves)
        self.states, self.features, self.phases = leaves[chosen], ends.features[chosen], ends.phases[chosen]
        self.viewers, self.base = ends.viewers[chosen], ends.returns[chosen]
        self.states[over], self.features[over], self.phases[over] = of.first_state, first.features[0], first.phases[0]
        self.viewers[over], self.base[over] = first.viewers[0], first.returns[0]
        return sample

    def _base(self) -> NDArray[np.float64]:
        return self.base if self._of.outcome.kind == "score" else np.zeros((len(self.base), 1))

    def _sample(self, columns: NDArray[np.float64], taught: NDArray[np.bool_]) -> Sample:
        """Targets of the states the turns began from, as their viewers see them and the network tells them."""
        seen = self._of.outcome.by_viewer(columns - self._base(), self.viewers)
        return Sample(self.features[taught], self.phases[taught], seen[taught].astype(np.float32))

    def state(self) -> dict[str, NDArray[Any]]:
        """What is needed to go on."""
        return {"states": pack(self._of.game, self.states), **self.open_games.state()}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        self.states = unpack(self._of.game, held["states"])
        self.see()
        self.open_games.restore(held)


@dataclass
class Sample:
    """Features and phases of states between turns, and their targets; games that ended, the sum of player 0's returns,
    and the states where turns could end."""

    features: Floats
    phases: NDArray[np.int64]
    targets: Floats
    games: int = 0
    score: float = 0.0
    leaves: int = 0


def _of_means(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Columns that learn the mean of noisy targets: Huber's loss would learn something like their median."""
    return tuple(column.model_copy(update={"delta": SQUARE}) for column in columns)


def _expected(
    outcome: Outcome, movers: NDArray[np.int64], value: NDArray[np.float64], others: NDArray[np.float64], margin: float
) -> NDArray[np.float64]:
    """The expectations of all columns, by player."""
    if outcome.kind == "duel":
        won = np.where(movers == 0, value, -value)[:, None]
        beside = (others * outcome.weights(margin)).sum(axis=1, keepdims=True)
        return np.concatenate((won - beside, others), axis=1)
    return value[:, None] if outcome.players == 1 else others


class OpenGames:
    """The games under way, turn by turn, for targets that are known at their ends."""

    def __init__(self, lanes: int, features: int, columns: int) -> None:
        self.lengths = np.zeros(lanes, np.int64)
        self._fields: dict[str, NDArray[Any]] = {}
        self._empty = np.zeros((0, features), np.float32), np.zeros(0, np.int64), np.zeros((0, columns), np.float32)

    def add(self, features: Any, phases: Any, viewers: Any, base: Any, values: Any, explored: Any) -> None:
        """A turn of every lane: the state it began from, and the value, by player, of where it came to."""
        turn = {"features": features, "phases": phases, "viewers": viewers, "base": base, "values": values}
        turn["strayed"] = explored  # the name of an array in files
        room = next(iter(self._fields.values())).shape[1] if self._fields else 0
        if self.lengths.max(initial=0) >= room:
            more = max(16, 2 * room)
            for name, array in turn.items():
                longer = np.zeros((len(array), more, *array.shape[1:]), array.dtype)
                if name in self._fields:
                    longer[:, :room] = self._fields[name]
                self._fields[name] = longer
        rows = np.arange(len(self.lengths))
        for name, array in turn.items():
            self._fields[name][rows, self.lengths] = array
        self.lengths += 1

    def end(self, over: NDArray[np.bool_], decay: float, outcome: Outcome) -> Sample:
        """The samples of lanes whose games are over: G = (1 - lambda)·V + lambda·(the G of the turn behind it).

        Behind a random action nothing is known of good play, so G there is V.
        """
        features, phases, targets = [], [], []
        for lane in np.flatnonzero(over):
            length = int(self.lengths[lane])
            held = {name: array[lane, :length] for name, array in self._fields.items()}
            found = held["values"].copy()
            for turn in range(length - 2, -1, -1):
                if not held["strayed"][turn + 1]:
                    found[turn] += decay * (found[turn + 1] - found[turn])
            taught = ~held["strayed"]
            seen = outcome.by_viewer(found - held["base"], held["viewers"])
            features.append(held["features"][taught])
            phases.append(held["phases"][taught])
            targets.append(seen[taught].astype(np.float32))
        self.lengths[over] = 0
        if not features:
            return Sample(*self._empty)
        return Sample(np.concatenate(features), np.concatenate(phases), np.concatenate(targets))

    def state(self) -> dict[str, NDArray[Any]]:
        """What is needed to go on."""
        return {"lengths": self.lengths, **{f"trail_{name}": array for name, array in self._fields.items()}}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        self.lengths = np.array(held["lengths"])
        self._fields = {n.removeprefix("trail_"): np.array(a) for n, a in held.items() if n.startswith("trail_")}


class AfterstateLearner:
    """A value network, its averaged copy, its optimizer, and the games it learns from."""

    def __init__(self, game: Game, config: AfterstateConfig, threads: int = 1) -> None:
        self.game, self.config = game, config
        require_phases(config.net.phases, game)
        self.outcome, self.shape = Outcome.of(game), feature_shape(game)
        columns = self.outcome.columns if config.target == "turn" else _of_means(self.outcome.columns)
        self.net = make_value_net(config.net, self.shape, columns)
        self.turn_player = turn_player_of(self.game, config.plies)
        self.theta = self.net.initial(config.seed)
        self.mean = self.theta.copy()
        self.values = NetValues(game, self.net, self.mean)
        """By the averaged weights."""
        self.moments = np.zeros((2, self.net.size), np.float32)
        self.rounds = config.rounds
        self.steps = self.rounds_done = self.seen = 0
        self._features = np.zeros((config.replay, self.shape.features), np.float32)
        self._phases = np.zeros(config.replay, np.int64)
        self._targets = np.zeros((config.replay, len(self.outcome.columns)), np.float32)
        self.first_rows = rows_of(game, [game.new_initial_state()])
        self.first_state = self.first_rows[0]
        self.first = self.values.see(self.first_rows)
        self.turn_player.list_turn_ends(self.first_rows)  # what cannot be planned is refused now
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.groups = [LaneGroup(self, number) for number in range(config.lane_groups)]

    # -- rounds ------------------------------------------------------------------------------------------------

    def rates(self) -> dict[str, float]:
        """The rates of the round to come."""
        config = self.config
        share = max(0.0, (self.rounds_done / self.rounds - config.hold) / (1.0 - config.hold))
        early = max(0.0, 1.0 - 2.0 * share)
        return {
            "learning_rate": config.learning_rate * (1.0 + share * (config.final_rate - 1.0)),
            "decay": config.td_lambda + share * (config.final_lambda - config.td_lambda),
            "margin": config.final_margin + early * (config.margin - config.final_margin),
        }

    def round(self) -> Round:
        """Play a turn in every lane, then learn."""
        if self.rounds_done == 0:
            self._each(LaneGroup.scatter, self.groups)
        config, rates = self.config, self.rates()
        samples = self._each(
            lambda group: group.play(self.rounds_done, config.explore, rates["margin"], rates["decay"]), self.groups
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

    def _keep(self, samples: Sequence[Sample]) -> None:
        """Put samples into the ring, over the oldest; without a replay, instead of what was there."""
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
        luck = np.random.Generator(np.random.Philox(key=stream_key(LANE_SAMPLES, config.seed, self.rounds_done)))
        for _ in range(config.updates):
            rows = luck.integers(0, held, config.batch_size)
            losses = self._step(self._features[rows], self._phases[rows], self._targets[rows], rate)
        if not config.replay:
            self.seen = 0
        if not (np.isfinite(losses).all() and np.isfinite(self.theta).all() and np.isfinite(self.mean).all()):
            spoilt = np.flatnonzero(~np.isfinite(self._features[:held]).all(axis=0))
            if len(spoilt):
                raise GameError(
                    f"{self.game.name}: feature {spoilt[0]} is not finite in a state that was played, expected finite "
                    "numbers: `aleazero check` shows where"
                )
            raise ConfigError(
                f"learning ran away in round {self.rounds_done + 1} (loss {losses.tolist()}), expected finite numbers: "
                "lower learning_rate"
            )
        return tuple(losses.tolist())

    def _step(self, features: Floats, phases: NDArray[np.int64], targets: Floats, rate: float) -> NDArray[np.float64]:
        """A step of Adam on the mean loss, and of the averaged weights; losses by column."""

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

    # -- going on later ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on with the same result."""
        held: dict[str, NDArray[Any]] = {
            "theta": self.theta,
            "mean": self.mean,
            "moments": self.moments,
            "counts": np.array([self.steps, self.rounds_done, self.seen], np.int64),
            "features": self._features[: self.seen],
            "phases": self._phases[: self.seen],
            "targets": self._targets[: self.seen],
        }
        for number, group in enumerate(self.groups):
            held |= {f"lane_group_{number}.{name}": array for name, array in group.state().items()}
        return {name: array.copy() for name, array in held.items()}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` told."""
        self.theta[:], self.mean[:], self.moments[:] = held["theta"], held["mean"], held["moments"]
        self.steps, self.rounds_done, self.seen = (int(count) for count in held["counts"])
        kept = len(held["features"])
        self._features[:kept], self._targets[:kept] = held["features"], held["targets"]
        self._phases[:kept] = held["phases"]
        for number, group in enumerate(self.groups):
            own = f"lane_group_{number}."
            group.restore({name.removeprefix(own): array for name, array in held.items() if name.startswith(own)})

    def save(self, path: Path) -> None:
        """Write the averaged network, which plays."""
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
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
