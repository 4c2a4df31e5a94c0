"""Games of kernel games in progress: all rows of a worker move in one compiled call.

A row plays the result of its search, then chance and forced moves, then starts the next search. During a game only its
steps and the results of its searches are stored. Observations and masks are computed when the game is over, by
replaying its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ContractError
from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.game_dice import played_outcome
from aleazero.games.kernel import LIST_SLACK, KernelGame, Kernels, KernelState
from aleazero.native.compile import borrow, loop_of, not_inlined
from aleazero.native.random import (
    SELFPLAY_CAP,
    SELFPLAY_DICE,
    SELFPLAY_MOVE,
    SELFPLAY_SEARCH,
    extend_key_bits,
    unit_bits,
)
from aleazero.search.compiled_searches import Searches, best_slot, evaluations_of, read_value_after, start_search
from aleazero.search.driver import GroupDriver
from aleazero.search.playout import make_draw_event
from aleazero.search.root import noise_keys
from aleazero.search.status import DONE, EVALUATIONS_SPENT, FAILED, FULL, IDLE
from aleazero.selfplay.record import EpisodeRecord, final_scores
from aleazero.selfplay.running_games import Setting

# Status of a row:
EMPTY: Final = 0  # no game
MOVING: Final = 1  # continues from its state
SEARCHING: Final = 2  # waits for its search, then plays the result
AT_CHANCE: Final = 3  # waits for an outcome, which Python draws if the game's own dice do not compile
DRAWN: Final = 4  # applies that outcome
OVER: Final = 5
TOO_LONG: Final = 6  # more than max_plies decisions
SEARCH_FAILED: Final = 7
BAD_CHANCE: Final = 8  # no outcome can be drawn
BROKEN: Final = 9  # invalid viewer or decision class
NO_ROOM: Final = 10  # status of the call, not of a row: the arrays must grow first

FIRST_STEPS: Final = 128
FIRST_DECISIONS: Final = 64
"""Initial array sizes: steps and decisions per game."""

STEPS, PLIES, EVENT, IS_FULL, NUM_COUNTS = range(5)
DICE_KEY, SEARCH_KEY, MOVE_KEY, CAP_KEY, SEED, NUM_KEYS = range(6)
DECISIONS, EVALUATIONS, STARTED, NUM_TOTALS = range(4)
WAS_SEARCHED: Final = 1
WAS_FULL: Final = 2
HAS_AFTER: Final = 4


class CompiledGames:
    """Kernel games in progress, moved together by compiled code."""

    def __init__(self, setting: Setting, driver: GroupDriver) -> None:
        game = setting.game
        assert isinstance(game, KernelGame)
        self._setting, self._driver, self._game = setting, driver, game
        self._proceed = loop_of(game, "selfplay", make_proceed)
        self._replay = loop_of(game, "replay", make_replay)
        info, rows = game.info, len(driver.group.statuses)
        self._games = Games(
            statuses=np.zeros(rows, np.int64),
            states=np.zeros((rows, info.state_size), np.int64),
            keys=np.zeros((rows, NUM_KEYS), np.uint64),
            counts=np.zeros((rows, NUM_COUNTS), np.int64),
            events=np.zeros((rows, info.num_players), np.int64),
            outcomes=np.zeros(rows, np.int64),
            steps=np.zeros((rows, FIRST_STEPS, 2), np.int32),
            found=np.zeros((rows, FIRST_DECISIONS), np.int8),
            policies=np.zeros((rows, FIRST_DECISIONS, info.num_actions), np.float32),
            values=np.zeros((rows, FIRST_DECISIONS, info.num_players), np.float32),
            after=np.zeros((rows, FIRST_DECISIONS, info.num_players), np.float32),
            totals=np.zeros(NUM_TOTALS, np.int64),
            started=np.zeros(rows, np.int64),
        )
        self._scratch = GamesScratch(
            actions=np.zeros(info.num_actions + LIST_SLACK, np.int64),
            ids=np.zeros(info.max_outcomes + LIST_SLACK, np.int64),
            probabilities=np.zeros(info.max_outcomes + LIST_SLACK),
            weights=np.zeros(info.num_actions),
            partials=np.zeros(info.num_actions + 1),
            value=np.zeros(info.num_players),
        )
        self._simulations = np.array(setting.config.full_simulations(game), np.int64)
        self._temperatures = self._list_temperatures()
        self._numbers = np.zeros(rows, np.int64)
        self._first = game.new_initial_state()
        self._first_text = self._first.to_text()
        self._seats = setting.seats()
        self._own_dice = game.kernels.uncompiled.get("played_outcome")
        self.proceed()  # these two calls without games compile the loops now
        self._replay_game(np.zeros((0, 2), np.int32))

    @property
    def decisions(self) -> int:
        """Number of searches started so far."""
        return int(self._games.totals[DECISIONS])

    @property
    def evaluations(self) -> int:
        """Number of evaluated leaves in finished searches."""
        return int(self._games.totals[EVALUATIONS])

    def _list_temperatures(self) -> NDArray[np.float64]:
        temperature = self._setting.config.temperature
        return np.array([temperature.at(ply) for ply in range(self._games.found.shape[1])])

    def start(self, row: int, number: int) -> None:
        """Start a game in a row."""
        games = self._games
        games.states[row] = self._first.vector
        games.keys[row, :SEED] = [
            self._setting.stream(use, number) for use in (SELFPLAY_DICE, SELFPLAY_SEARCH, SELFPLAY_MOVE, SELFPLAY_CAP)
        ]
        games.counts[row] = games.events[row] = 0
        games.statuses[row] = MOVING
        self._numbers[row] = number

    def clear(self) -> None:
        """Remove all games."""
        self._games.statuses[:] = EMPTY
        self._games.totals[STARTED] = 0

    def proceed(self) -> list[int]:
        """Move every row that was started or whose search has ended; return the rows whose games are over."""
        config, driver = self._setting.config, self._driver
        searches, group = driver.searches(), driver.group
        settings = GamesSettings(
            float(config.full_share),
            config.fast_simulations,
            config.max_plies,
            config.noise_alpha > 0,
            group.closed,  # type: ignore[attr-defined]
            driver.chunk,
        )
        while True:
            with np.errstate(over="ignore"):
                seen = self._proceed(
                    self._games, searches, self._scratch, settings, self._simulations, self._temperatures
                )
            if seen >> NO_ROOM:
                self._grow()
            elif seen >> AT_CHANCE & 1:
                self._draw()
            else:
                break
        if seen >> TOO_LONG:
            self._raise()
        self._give_noise()
        return np.flatnonzero(self._games.statuses == OVER).tolist() if seen >> OVER & 1 else []

    def _draw(self) -> None:
        """Draw an outcome with the game's own dice for each row that waits for one."""
        games, draw = self._games, self._own_dice
        assert draw is not None
        for row in np.flatnonzero(games.statuses == AT_CHANCE).tolist():
            seed, count = int(games.keys[row, DICE_KEY]), int(games.counts[row, EVENT])
            games.outcomes[row] = draw(games.states[row].copy(), seed, count)
            games.statuses[row] = DRAWN

    def _give_noise(self) -> None:
        """Set the noise keys of the searches that were started."""
        games = self._games
        rows = games.started[: games.totals[STARTED]]
        if len(rows):
            states = [games.states[row].tobytes() for row in rows.tolist()]
            self._driver.noise_keys[rows] = noise_keys(games.keys[rows, SEED], states)
            games.totals[STARTED] = 0

    def _grow(self) -> None:
        games = self._games
        longer = {name: _twice(getattr(games, name)) for name in ("steps", "found", "policies", "values", "after")}
        self._games = games._replace(**longer)
        self._temperatures = self._list_temperatures()

    def _raise(self) -> None:
        """Raise the error of the first row that has one."""
        games, name = self._games, self._game.name
        row = int(np.flatnonzero(games.statuses >= TOO_LONG)[0])
        status, state = int(games.statuses[row]), KernelState(self._game, games.states[row].copy())
        if status == TOO_LONG:
            raise self._setting.too_long(int(self._numbers[row]))
        if status == SEARCH_FAILED:
            raise self._driver.group.error(row)
        if status == BAD_CHANCE:
            played_outcome(state, int(games.keys[row, DICE_KEY]), int(games.counts[row, EVENT]))  # a precise error
            raise ContractError(f"{name}: no outcome of a chance node can be drawn, in {state.to_text()}")
        raise ContractError(
            f"{name}: the rules gave viewer {state.viewer()} and decision class {state.decision_class()}, expected "
            f"0 to {self._game.num_players - 1} and 0 to {len(self._simulations) - 1}, in {state.to_text()}"
        )

    def _replay_game(self, steps: NDArray[np.int32]) -> tuple[Any, Any, Any, Any, Any]:
        """Replay a game; return ply, whether chance is next, viewer, observation and legal mask before each step."""
        game, count = self._game, len(steps)
        seen = (
            np.zeros(count, np.int32),
            np.zeros(count, np.bool_),
            np.zeros(count, np.int8),
            np.zeros((count, game.observation_size), np.float32),
            np.zeros((count, game.num_actions), np.bool_),
        )
        self._replay(steps, self._first.vector.copy(), self._scratch.actions, *seen)
        return seen

    def record(self, row: int) -> EpisodeRecord:
        """Return the record of a game that is over, and free its row."""
        games, game, known = self._games, self._game, self._setting.values_known
        count, decisions = int(games.counts[row, STEPS]), int(games.counts[row, PLIES])
        steps = games.steps[row, :count].copy()
        plies, afterstates, viewers, observations, masks = self._replay_game(steps)
        found, at = games.found[row, :decisions], np.flatnonzero(~afterstates)
        full = (found & WAS_FULL) != 0
        policies = np.zeros((count, game.num_actions), np.float32)
        policies[at[full]] = games.policies[row, :decisions][full]
        weights = np.zeros(count, np.float32)
        weights[at[full]] = 1.0
        searched, values = np.zeros(count, np.bool_), np.zeros((count, game.num_players), np.float32)
        for flag, source, places in ((WAS_SEARCHED, games.values, at), (HAS_AFTER, games.after, at + 1)):
            some = (found & flag) != 0 if known else np.zeros(decisions, np.bool_)
            places = places[some]
            searched[places] = True
            values[places] = np.take_along_axis(source[row, :decisions][some], self._seats[viewers[places]], axis=1)
        state = KernelState(game, games.states[row].copy())
        games.statuses[row] = EMPTY
        number = int(self._numbers[row])
        return EpisodeRecord(
            game_number=number,
            seed=self._setting.stream(SELFPLAY_DICE, number),
            start=self._first_text,
            steps=steps,
            returns=np.array(state.returns()),
            step=np.arange(count, dtype=np.int32),
            ply=plies,
            afterstate=afterstates,
            observations=observations,
            legal_masks=masks,
            policies=policies,
            viewers=viewers,
            root_values=values,
            scores=final_scores(state)[self._seats[viewers]].astype(np.float32).reshape(count, game.num_players),
            weights=weights,
            searched=searched,
        )


def make_proceed(kernels: Kernels) -> Callable[..., int]:
    """Make ``proceed(games, searches, scratch, settings, simulations, temperatures)`` of a game."""
    kind_of, to_play, legal = kernels.kind, kernels.to_play, kernels.legal
    act, apply_outcome, viewer_of, class_of = (
        kernels.apply, kernels.apply_outcome, kernels.viewer, kernels.decision_class,
    )  # fmt: skip
    draw_event = make_draw_event(kernels)
    own_dice = "played_outcome" in kernels.uncompiled
    compiled_dice = own_dice and kernels.played_outcome_bits is not None
    own_event = kernels.played_outcome_bits or _no_event

    def add_step(games: Games, row: Any, player: Any, action: Any) -> None:
        step = games.counts[row, STEPS]
        games.steps[row, step, 0] = player
        games.steps[row, step, 1] = action
        games.counts[row, STEPS] = step + 1

    @not_inlined
    def execute(games: Games, row: Any, action: Any, most: Any) -> Any:
        """Play a move and return the next status."""
        state = games.states[row]
        add_step(games, row, to_play(state), action)
        act(state, action)
        games.counts[row, PLIES] += 1
        return TOO_LONG if games.counts[row, PLIES] > most else MOVING

    def play_result(games: Games, searches: Searches, row: Any, scratch: GamesScratch, settings: GamesSettings,
                    temperatures: Any) -> Any:  # fmt: skip
        """Store the result of a search, play a move and return the next status."""
        ply = games.counts[row, PLIES]
        store_result(games, searches, row)
        searches.statuses[row] = IDLE
        action = choose(games, searches.results, row, temperatures[ply], scratch)
        status = execute(games, row, action, settings.max_plies)
        has_node = settings.closed and kind_of(games.states[row]) == CHANCE
        if has_node and read_value_after(searches.trees, row, action, scratch.value):
            games.found[row, ply] |= HAS_AFTER
            for p in range(len(scratch.value)):
                games.after[row, ply, p] = scratch.value[p]
        return status

    def play_chance(games: Games, row: Any, scratch: GamesScratch) -> Any:
        """Draw and apply an outcome, or leave the draw to Python; return the next status."""
        state = games.states[row]
        viewer = np.int64(viewer_of(state))
        if viewer < 0 or viewer >= games.events.shape[1]:
            return BROKEN
        count = games.events[row, viewer]
        games.events[row, viewer] = count + 1
        games.counts[row, EVENT] = count
        if compiled_dice:
            outcome = np.int64(own_event(state, games.keys[row, DICE_KEY], count))
        elif own_dice:
            return AT_CHANCE
        else:
            outcome = draw_event(state, games.keys[row, DICE_KEY], viewer, count, scratch)
        if outcome < 0:
            return BAD_CHANCE
        add_step(games, row, -1, outcome)
        apply_outcome(state, outcome)
        return MOVING

    def search(games: Games, searches: Searches, row: Any, settings: GamesSettings, simulations: Any) -> Any:
        """Start the search of a decision and return the next status."""
        ply = np.uint64(games.counts[row, PLIES])
        of_class = np.int64(class_of(games.states[row]))
        if of_class < 0 or of_class >= len(simulations):
            return BROKEN
        full = settings.full_share >= 1.0
        if not full:
            full = unit_bits(extend_key_bits(games.keys[row, CAP_KEY], ply)) < settings.full_share
        games.counts[row, IS_FULL] = 1 if full else 0
        limit = simulations[of_class] if full else min(simulations[of_class], settings.fast_simulations)
        noisy = full and settings.noisy
        seed = extend_key_bits(games.keys[row, SEARCH_KEY], ply)
        games.keys[row, SEED] = seed
        games.totals[DECISIONS] += 1
        if noisy:
            games.started[games.totals[STARTED]] = row
            games.totals[STARTED] += 1
        start_search(searches, row, games.states[row], seed, limit, settings.chunk, noisy)
        return SEARCHING

    def move_on(games: Games, searches: Searches, row: Any, scratch: GamesScratch, settings: GamesSettings,
                simulations: Any) -> Any:  # fmt: skip
        """Play chance and forced moves until there is a choice, start its search and return the next status."""
        state = games.states[row]
        status = MOVING
        while status == MOVING:
            kind = kind_of(state)
            if kind == TERMINAL:
                return OVER
            if games.counts[row, STEPS] == games.steps.shape[1] or games.counts[row, PLIES] == games.found.shape[1]:
                return NO_ROOM
            if kind == CHANCE:
                status = play_chance(games, row, scratch)
            elif legal(state, scratch.actions) == 1:
                games.found[row, games.counts[row, PLIES]] = 0
                status = execute(games, row, scratch.actions[0], settings.max_plies)
            else:
                status = search(games, searches, row, settings, simulations)
        return status

    def proceed(games_: Games, searches_: Searches, scratch_: GamesScratch, settings: GamesSettings,
                simulations_: Any, temperatures_: Any) -> int:  # fmt: skip
        """Move every row that can move, and return a bit set of the statuses of all rows, or NO_ROOM.

        A row stops before its arrays are full, so that the call can be repeated with larger ones. There is always
        space for the result of a search, because it was checked when the search started.
        """
        games, searches, scratch = borrow(games_), borrow(searches_), borrow(scratch_)
        simulations, temperatures = borrow(simulations_), borrow(temperatures_)
        seen = 0
        for row in range(len(games.statuses)):
            status = games.statuses[row]
            if status == SEARCHING:
                ended = searches.statuses[row]
                if ended in (DONE, FULL, EVALUATIONS_SPENT):
                    status = play_result(games, searches, row, scratch, settings, temperatures)
                elif ended == FAILED:
                    status = SEARCH_FAILED
            elif status == DRAWN:
                add_step(games, row, -1, games.outcomes[row])
                apply_outcome(games.states[row], games.outcomes[row])
                status = MOVING
            if status == MOVING:
                status = move_on(games, searches, row, scratch, settings, simulations)
                if status == NO_ROOM:
                    games.statuses[row] = MOVING
                    return 1 << NO_ROOM
            games.statuses[row] = status
            seen |= 1 << status
        return seen

    return proceed


def make_replay(kernels: Kernels) -> Callable[..., int]:
    """Make ``replay(steps, state, actions, plies, afterstates, viewers, observations, masks)`` of a game."""
    init, kind_of, legal = kernels.init, kernels.kind, kernels.legal
    act, apply_outcome, viewer_of, observe = kernels.apply, kernels.apply_outcome, kernels.viewer, kernels.observe

    def replay(steps_: Any, state_: Any, actions_: Any, plies_: Any, afterstates_: Any, viewers_: Any,
               observations_: Any, masks_: Any) -> int:  # fmt: skip
        """Replay the steps and write the state before each step to the arrays, which are zero."""
        steps, state, actions, plies = borrow(steps_), borrow(state_), borrow(actions_), borrow(plies_)
        afterstates, viewers = borrow(afterstates_), borrow(viewers_)
        observations, masks = borrow(observations_), borrow(masks_)
        state[:] = 0
        init(state)
        ply = 0
        for step in range(len(steps)):
            plies[step] = ply
            viewer = viewer_of(state)
            viewers[step] = viewer
            observe(state, viewer, observations[step])
            if kind_of(state) == DECISION:
                for i in range(legal(state, actions)):
                    masks[step, actions[i]] = True
                act(state, np.int64(steps[step, 1]))
                ply += 1
            else:
                afterstates[step] = True
                apply_outcome(state, np.int64(steps[step, 1]))
        return ply

    return replay


def choose(games: Games, roots: Any, row: Any, temperature: Any, scratch: GamesScratch) -> Any:
    """Return the move to play: sampled from the visits of a search, or the best action at temperature 0."""
    if temperature == 0.0:
        return roots.actions[row, best_slot(roots, row)]
    u = unit_bits(extend_key_bits(games.keys[row, MOVE_KEY], np.uint64(games.counts[row, PLIES])))
    return roots.actions[row, drawn_slot(roots.visits[row], roots.counts[row], temperature, u, scratch)]


def drawn_slot(visits: Any, count: Any, temperature: Any, u: Any, scratch: GamesScratch) -> Any:
    """Do ``config.sample_index`` for the first ``count`` visits and a temperature above 0."""
    most = np.int64(0)
    for slot in range(count):
        most = max(most, visits[slot])
    for slot in range(count):
        weight = visits[slot] / most
        if temperature != 1.0:
            weight = weight ** (1.0 / temperature) if visits[slot] > 0 else 0.0
        scratch.weights[slot] = weight
    target, below = u * exact_sum(scratch.weights, count, scratch.partials), 0.0
    last = np.int64(0)
    for slot in range(count):
        below += scratch.weights[slot]
        if target < below:
            return np.int64(slot)
        if scratch.weights[slot] != 0.0:
            last = np.int64(slot)
    return last


def exact_sum(weights: Any, count: Any, partials: Any) -> Any:
    """Return the sum rounded once, like ``math.fsum`` (Shewchuk's algorithm with nonoverlapping partial sums)."""
    used = 0
    for i in range(count):
        x = weights[i]
        kept = 0
        for j in range(used):
            y = partials[j]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[kept] = low
                kept += 1
            x = high
        partials[kept] = x
        used = kept + 1
    if used == 0:
        return 0.0
    used -= 1
    high, low = partials[used], 0.0
    while used > 0 and low == 0.0:
        used -= 1
        x, y = high, partials[used]
        high = x + y
        low = y - (high - x)
    # Halfway cases: the next partial sum decides the direction of rounding.
    if used > 0 and ((low < 0.0 and partials[used - 1] < 0.0) or (low > 0.0 and partials[used - 1] > 0.0)):
        y = low * 2.0
        x = high + y
        if y == x - high:
            high = x
    return high


def store_result(games: Games, searches: Searches, row: Any) -> None:
    """Store the value of a search and, if it was full, the fractions of its visits."""
    ply, roots = games.counts[row, PLIES], searches.results
    found = WAS_SEARCHED
    if games.counts[row, IS_FULL] == 1:
        found |= WAS_FULL
        total = np.int64(0)
        for slot in range(roots.counts[row]):
            total += roots.visits[row, slot]
        for action in range(games.policies.shape[2]):
            games.policies[row, ply, action] = 0.0
        for slot in range(roots.counts[row]):
            games.policies[row, ply, roots.actions[row, slot]] = roots.visits[row, slot] / total
    for p in range(games.values.shape[2]):
        games.values[row, ply, p] = roots.values[row, p]
    games.found[row, ply] = found
    games.totals[EVALUATIONS] += evaluations_of(searches, row)


def _no_event(state: Any, seed: Any, count: Any) -> Any:
    """Placeholder for the compiled dice of a game without any; never called."""
    return np.int64(-1)


class Games(NamedTuple):
    """Arrays of the games in progress: r rows, s numbers per state, k steps, d decisions, a actions, p players."""

    statuses: Any  # (r,) int64
    states: Any  # (r, s) int64
    keys: Any  # (r, NUM_KEYS) uint64: random streams by use, and the seed of the search
    counts: Any  # (r, NUM_COUNTS) int64: steps, decisions, number of the chance event to draw, whether search is full
    events: Any  # (r, p) int64: chance events so far, by viewer
    outcomes: Any  # (r,) int64: the outcome drawn in Python
    steps: Any  # (r, k, 2) int32: player (−1 for chance), action or outcome
    found: Any  # (r, d) int8: WAS_SEARCHED, WAS_FULL, HAS_AFTER
    policies: Any  # (r, d, a) float32: fractions of visits of full searches
    values: Any  # (r, d, p) float32: values of searches by player
    after: Any  # (r, d, p) float32: values of afterstates by player, with HAS_AFTER
    totals: Any  # (NUM_TOTALS,) int64: searches started, evaluations, entries of ``started``
    started: Any  # (r,) int64: rows that started a search with noise


class GamesScratch(NamedTuple):
    """Working memory, so that compiled code allocates nothing."""

    actions: Any  # (a + LIST_SLACK,) int64
    ids: Any  # (outcomes + LIST_SLACK,) int64
    probabilities: Any  # (outcomes + LIST_SLACK,) float64
    weights: Any  # (a,) float64
    partials: Any  # (a + 1,) float64
    value: Any  # (p,) float64


class GamesSettings(NamedTuple):
    """Settings that the compiled code reads."""

    full_share: float
    fast_simulations: int
    max_plies: int
    noisy: bool
    closed: bool  # the search is closed-loop, so afterstates have nodes with values
    chunk: int  # simulations after which a search pauses


def _twice(array: Any) -> Any:
    """Return a copy with twice as many entries per row."""
    longer = np.zeros((len(array), 2 * array.shape[1], *array.shape[2:]), array.dtype)
    longer[:, : array.shape[1]] = array
    return longer
