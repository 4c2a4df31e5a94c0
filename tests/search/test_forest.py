"""The forest: every search equals a single search, whatever other trees do; an error fails only its search."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest
from test_plain_search import GAMES, POSITIONS, same

import aleazero
from aleazero import ChanceConfig, ConfigError, EvaluatorError, Forest, PositionError, Search, SearchConfig
from aleazero.search.evaluator import Uniform
from aleazero.search.memory import mean_branches, tree_size


class RowByRow:
    """Evaluator with arbitrary but fixed functions of each row, which do not depend on other rows."""

    def __init__(self, game: aleazero.Game, afterstates: int = 0) -> None:
        self.actions, self.players, self.afterstates = game.num_actions, game.num_players, afterstates
        self.shapes: set[tuple[int, ...]] = set()

    def __call__(self, observations, legal_masks):
        self.shapes.add(observations.shape)
        wide = np.asarray(observations, np.float64)
        seeds = (np.abs(wide) * np.arange(1, wide.shape[1] + 1)).sum(axis=1)[:, None] * 0.7310585786
        logits = (seeds + 0.1) * np.arange(1, self.actions + 1) * 1.618
        values = (seeds + 0.2) * np.arange(1, self.players + 1) * 2.718
        return 3 * (logits - np.floor(logits)), 2 * (values - np.floor(values)) - 1


def positions(name: str, number: int) -> tuple[aleazero.Game, list[aleazero.State], list[int]]:
    """Return a game, a number of its states (they repeat), and a seed for each."""
    game = aleazero.load_game(name, **GAMES[name])
    states = [game.state_from_text(text) for text in POSITIONS[name]]
    return game, [states[i % len(states)] for i in range(number)], [17 * i + 3 for i in range(number)]


def alone(game, evaluator, config, states, seeds, backend="auto"):
    search = Search(game, evaluator, config, backend=backend)
    return [search.run(state, seed=seed) for state, seed in zip(states, seeds, strict=True)]


SETTINGS = {
    "default": {},
    "in flight": {"in_flight": 5},
    "virtual loss": {"in_flight": 4, "in_flight_mode": "virtual_loss"},
    "noise": {"noise_alpha": 0.3, "noise_fraction": 0.5},
    "few nodes": {"max_nodes": 40},
    "few evaluations": {"max_evaluations": 33, "in_flight": 4},
    "open": {"chance": "open", "in_flight": 2},
    "widening": {"chance": ChanceConfig(widening={"c": 1.0}, backup="expectation")},
    "exact": {"chance": ChanceConfig(exact_up_to=40, backup="expectation"), "in_flight": 2},
    "samples": {"chance": ChanceConfig(samples_per_visit=3), "in_flight": 3},
}


@pytest.mark.parametrize("name", list(GAMES))
@pytest.mark.parametrize("setting", list(SETTINGS))
def test_every_setting_on_every_game(name: str, setting: str) -> None:
    """A forest equals single searches, with 1 and 2 threads, any evaluator, and trees that are used again."""
    game, states, seeds = positions(name, 13)
    config = SearchConfig(num_simulations=60, **SETTINGS[setting])
    for evaluator in (RowByRow(game), RowByRow(game, afterstates=1), "rollout"):
        expected = alone(game, evaluator, config, states, seeds)
        for threads in (1, 2):
            with Forest(game, evaluator, config, trees=6, threads=threads) as forest:
                for found, wanted in zip(forest.run(states, seeds=seeds), expected, strict=True):
                    same(found, wanted)


@pytest.mark.parametrize("trees", [1, 2, 3, 32, 300])
def test_any_number_of_trees(trees: int) -> None:
    game, states, seeds = positions("pig", 330)
    config = SearchConfig(num_simulations=40, in_flight=2)
    expected = alone(game, RowByRow(game), config, states, seeds)
    for threads, batch_size in ((1, None), (2, None), (2, 7)):
        with Forest(game, RowByRow(game), config, trees=trees, threads=threads, batch_size=batch_size) as forest:
            for found, wanted in zip(forest.run(states, seeds=seeds), expected, strict=True):
                np.testing.assert_array_equal(found.visits, wanted.visits)
                np.testing.assert_array_equal(found.q, wanted.q)


def test_compiled_and_plain_forests_agree() -> None:
    game, states, seeds = positions("pig", 9)
    config = SearchConfig(num_simulations=50, in_flight=3, noise_alpha=0.5)
    found = [
        Forest(game, RowByRow(game), config, trees=4, batch_size=5, backend=backend).run(states, seeds=seeds)
        for backend in ("compiled", "plain")
    ]
    for compiled, plain in zip(*found, strict=True):
        same(compiled, plain)


def test_batches_have_one_shape() -> None:
    game, states, seeds = positions("pig", 50)
    net = RowByRow(game)
    forest = Forest(game, net, SearchConfig(num_simulations=30), trees=16, batch_size=24)
    forest.run(states, seeds=seeds)
    assert net.shapes == {(24, game.observation_size)}


@pytest.mark.parametrize("keep", [lambda batch: batch, lambda batch: batch[3:5]])
def test_evaluator_may_keep_its_observations(keep) -> None:
    """Batches are written into one array as long as nobody holds it, or a part of it."""
    game, states, seeds = positions("pig", 20)
    kept, copies = [], []

    def records(observations, legal_masks):
        kept.append(keep(observations))
        copies.append(keep(observations).copy())
        return RowByRow(game)(observations, legal_masks)

    Forest(game, records, SearchConfig(num_simulations=12), trees=8, batch_size=8).run(states, seeds=seeds)
    assert len(kept) > 10
    for batch, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(batch, copy)


def test_batches_reuse_one_array() -> None:
    game, states, seeds = positions("pig", 20)
    places = set()

    def watches(observations, legal_masks):
        places.add(observations.ctypes.data)
        return RowByRow(game)(observations, legal_masks)

    Forest(game, watches, SearchConfig(num_simulations=12), trees=8, batch_size=8).run(states, seeds=seeds)
    assert len(places) == 1


def test_matrix_products_do_not_depend_on_other_rows() -> None:
    """Products depend on the shape of the batch: a single search that pads to the same shape is the same search.

    In double precision, that is: OpenBLAS's single-precision products depend on the row's place as well.
    """
    game, states, seeds = positions("2048", 40)
    dice = np.random.default_rng(1)
    first, second = dice.normal(0, 0.1, (game.observation_size, 64)), dice.normal(0, 0.3, (64, game.num_actions + 1))

    def net(observations, legal_masks):
        out = np.maximum(observations.astype(np.float64) @ first, 0) @ second
        return out[:, :-1], out[:, -1:]

    def padded(observations, legal_masks):
        wide = np.zeros((32, observations.shape[1]), np.float32)
        wide[: len(observations)] = observations
        logits, values = net(wide, legal_masks)
        return logits[: len(observations)], values[: len(observations)]

    config = SearchConfig(num_simulations=80, in_flight=2)
    expected = alone(game, padded, config, states, seeds)
    for threads in (1, 2):
        with Forest(game, net, config, trees=32, batch_size=32, threads=threads) as forest:
            for found, wanted in zip(forest.run(states, seeds=seeds), expected, strict=True):
                same(found, wanted)


def test_trees_wait_for_a_full_batch() -> None:
    """Visits of up to 30 leaves, a batch that holds those of one tree at a time: nothing is dropped."""
    game, states, seeds = positions("2048", 12)
    config = SearchConfig(num_simulations=25, chance=ChanceConfig(exact_up_to=30, backup="expectation"))
    forest = Forest(game, RowByRow(game), config, trees=8, batch_size=30)
    for found, wanted in zip(
        forest.run(states, seeds=seeds), alone(game, RowByRow(game), config, states, seeds), strict=True
    ):
        same(found, wanted)


def test_trees_grow_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    game, states, seeds = positions("2048", 12)
    for chance in ("sampling", "open"):
        config = SearchConfig(num_simulations=300, chance=chance)
        with monkeypatch.context() as patch:
            patch.setattr("aleazero.search.tree.group.FIRST_NODES", 8)
            forest = Forest(game, RowByRow(game), config, trees=5)
        for found, wanted in zip(
            forest.run(states, seeds=seeds), alone(game, RowByRow(game), config, states, seeds), strict=True
        ):
            same(found, wanted)


class Picky(RowByRow):
    """Raises, or answers with something useless, when a batch holds a leaf of player 0 with a turn total of 7."""

    def __init__(self, game, fault) -> None:
        super().__init__(game)
        self.fault = fault

    def __call__(self, observations, legal_masks):
        logits, values = super().__call__(observations, legal_masks)
        hits = legal_masks.any(axis=1) & (np.abs(observations[:, 2] * 20 - 7) < 0.01)
        return self.fault(logits, values, hits) if hits.any() else (logits, values)


def raise_it(logits, values, hits):
    raise RuntimeError("not that one")


def not_a_number(logits, values, hits):
    values[hits] = np.nan
    return logits, values


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fault", [raise_it, not_a_number])
def test_evaluator_error_fails_only_its_search(fault, threads: int) -> None:
    game = aleazero.load_game("pig", target=20)
    texts = ["0-0 turn 0 player 0", "19-19 turn 0 player 1", "5-9 turn 5 player 1", "18-2 turn 0 player 0"]
    states = [game.state_from_text(text) for text in texts] * 5
    config = SearchConfig(num_simulations=40, in_flight=2)
    net = Picky(game, fault)
    with Forest(game, net, config, trees=8, threads=threads) as forest:
        found = forest.run(states, return_errors=True)
        search = Search(game, net, config)
        for state, result in zip(states, found, strict=True):
            if isinstance(result, EvaluatorError):
                with pytest.raises(EvaluatorError, match=re.escape(str(result))):
                    search.run(state)
            else:
                same(result, search.run(state))
        failed = [isinstance(result, EvaluatorError) for result in found]
        assert 0 < sum(failed) < len(failed)
        with pytest.raises(EvaluatorError, match=r"not that one|expected finite"):
            forest.run(states)
        same(forest.run(states[1:2])[0], Search(game, net, config).run(states[1]))


def test_output_of_invalid_shape_fails_every_search() -> None:
    game, states, _ = positions("pig", 6)
    forest = Forest(game, lambda o, m: (np.zeros((1, 1)), np.zeros((1, 1))), SearchConfig(num_simulations=9))
    found = forest.run(states, return_errors=True)
    assert all(isinstance(error, EvaluatorError) and "shape" in str(error) for error in found)


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupted_forest_discards_all_searches(threads: int) -> None:
    game, states, seeds = positions("pig", 10)
    calls = []

    def leaves_once(observations, legal_masks):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return RowByRow(game)(observations, legal_masks)

    with Forest(game, leaves_once, SearchConfig(num_simulations=40), trees=4, threads=threads) as forest:
        with pytest.raises(KeyboardInterrupt):
            forest.run(states)
        assert forest.pending == 0
        expected = alone(game, RowByRow(game), SearchConfig(num_simulations=40), states, seeds)
        for found, wanted in zip(forest.run(states, seeds=seeds), expected, strict=True):
            same(found, wanted)


def test_threads_call_the_evaluator_concurrently_unless_one_at_a_time() -> None:
    game, states, _ = positions("pig", 8)
    meeting = threading.Barrier(2)

    class Meets(RowByRow):
        def __call__(self, observations, legal_masks):
            meeting.wait(timeout=60)  # passes only when two threads are here
            return super().__call__(observations, legal_masks)

    with Forest(game, Meets(game), SearchConfig(num_simulations=1), trees=8, threads=2) as forest:
        assert len(forest.run(states)) == 8

    class Alone(RowByRow):
        one_at_a_time = True
        inside = most = 0

        def __call__(self, observations, legal_masks):
            self.inside += 1
            self.most = max(self.most, self.inside)
            threading.Event().wait(0.002)
            self.inside -= 1
            return super().__call__(observations, legal_masks)

    evaluator = Alone(game)
    with Forest(game, evaluator, SearchConfig(num_simulations=20), trees=8, threads=2) as forest:
        forest.run(states)
    assert evaluator.most == 1


@pytest.mark.parametrize("trees", [2, 5, 8])
@pytest.mark.parametrize("chance", [ChanceConfig(samples_per_visit=40), ChanceConfig.preset("full")])
def test_there_are_two_groups_for_any_size_of_visits(chance: ChanceConfig, trees: int) -> None:
    """A batch would have room for the leaves of all trees: two threads have work all the same."""
    game, states, _ = positions("2048", trees)
    meeting, came = threading.Barrier(2), set()

    class MeetOnce(RowByRow):
        def __call__(self, observations, legal_masks):
            if threading.get_ident() not in came:
                came.add(threading.get_ident())
                meeting.wait(timeout=20)  # passes only when two threads are here
            return super().__call__(observations, legal_masks)

    config = SearchConfig(num_simulations=2, chance=chance)
    with Forest(game, MeetOnce(game), config, trees=trees, threads=2, backend="plain") as forest:
        assert len(forest.run(states)) == trees
        assert forest.batch_size >= 30
    assert len(came) == 2


@pytest.mark.parametrize("threads", [1, 2])
def test_searches_are_submitted_and_collected(threads: int) -> None:
    """Each search that ends is followed by another from the state its best action leads to."""
    game = aleazero.load_game("tic_tac_toe")
    config = SearchConfig(num_simulations=30)
    with Forest(game, RowByRow(game), config, trees=3, threads=threads) as forest:
        assert forest.collect() == []
        states = {
            forest.submit(game.new_initial_state(), seed=seed): (game.new_initial_state(), seed) for seed in range(5)
        }
        assert forest.pending == 5
        ended = 0
        while forest.pending:
            for finished in forest.collect():
                state, seed = states.pop(finished.ticket)
                same(finished.result, Search(game, RowByRow(game), config).run(state, seed=seed))
                state = state.child(finished.result.best_action)
                if state.is_terminal():
                    ended += 1
                else:
                    states[forest.submit(state, seed=seed + 100)] = (state, seed + 100)
    assert ended == 5


def test_actions_can_be_limited_per_search() -> None:
    game, _, _ = positions("tic_tac_toe", 1)
    state = game.state_from_text("x.o/.x./o..")
    config = SearchConfig(num_simulations=40, noise_alpha=0.4)
    found = Forest(game, RowByRow(game), config, trees=2).run([state] * 3, actions=[[7, 1], None, [5]])
    search = Search(game, RowByRow(game), config)
    for result, actions in zip(found, ([7, 1], None, [5]), strict=True):
        same(result, search.run(state, actions))


def test_terminal_state_fails_only_its_search() -> None:
    game = aleazero.load_game("tic_tac_toe")
    over, running = game.state_from_text("xxx/oo./..."), game.new_initial_state()
    for backend in ("compiled", "plain"):
        found = Forest(game, "uniform", SearchConfig(num_simulations=9), backend=backend).run(
            [running, over, running], return_errors=True
        )
        assert isinstance(found[1], PositionError)
        assert "the game is over" in str(found[1])
        same(found[0], found[2])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trees": 0}, "trees is 0, expected an integer of at least 1"),
        ({"threads": 1.5}, r"threads is 1\.5, expected an integer of at least 1"),
        ({"batch_size": 3, "config": SearchConfig(in_flight=4)}, "batch_size is 3, expected an integer of at least 4"),
        ({"config": SearchConfig(max_seconds=1.0)}, "max_seconds is set, expected num_simulations"),
        ({"config": {}}, "expected a SearchConfig"),
        ({"game": "pig"}, "expected a Game"),
        ({"evaluator": 7}, "evaluator is 7, expected uniform, rollout"),
    ],
)
def test_invalid_settings_are_rejected(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Forest(**{"game": aleazero.load_game("pig"), **settings})


def test_invalid_requests_are_rejected_before_any_search_runs() -> None:
    game, states, _ = positions("pig", 3)
    forest = Forest(game, "uniform", SearchConfig(num_simulations=9), trees=2)
    with pytest.raises(ConfigError, match="seeds has 1 entries, expected 3"):
        forest.run(states, seeds=[1])
    with pytest.raises(ConfigError, match="seed is -1"):
        forest.run(states, seeds=[1, 2, -1])
    with pytest.raises(PositionError, match="expected a state of"):
        forest.run([aleazero.load_game("dice_game").new_initial_state()])
    forest.submit(states[0])
    with pytest.raises(ConfigError, match="1 searches are submitted and not collected"):
        forest.run(states)
    assert [finished.ticket for finished in forest.collect()] == [0]


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_tree_that_waits_to_start_keeps_its_noise_and_actions(backend: str) -> None:
    """The batch has room for the leaves of one tree, so new trees wait for others."""
    game, states, seeds = positions("2048", 12)
    chance = ChanceConfig(exact_up_to=30, backup="expectation")
    config = SearchConfig(num_simulations=6, chance=chance, noise_alpha=0.5, noise_fraction=0.9)
    actions = [None, [0, 1]] * 6
    forest = Forest(game, RowByRow(game), config, trees=4, batch_size=30, backend=backend)
    search = Search(game, RowByRow(game), config, backend=backend)
    found = forest.run(states, seeds=seeds, actions=actions)
    for result, state, seed, considered in zip(found, states, seeds, actions, strict=True):
        same(result, search.run(state, considered, seed=seed))


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_root_actions_are_limited_without_any_simulation(backend: str) -> None:
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("x.o/.x./o..")
    for evaluator in (RowByRow(game), "uniform"):
        config = SearchConfig(num_simulations=5, max_evaluations=1)
        result = Search(game, evaluator, config, backend=backend).run(state, [7, 1])
        assert (result.actions.tolist(), result.stopped) == ([1, 7], "evaluations")
        assert result.priors.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_simulations_and_noise_can_differ_between_searches(backend: str) -> None:
    game, states, seeds = positions("pig", 12)
    noisy = SearchConfig(num_simulations=40, noise_alpha=0.5, noise_fraction=0.9)
    asked = [(count, noise) for count in (7, 40, None, 90) for noise in (True, False)] + [(1, True)] * 4
    forest = Forest(game, RowByRow(game), noisy, trees=5, backend=backend)
    tickets = [
        forest.submit(state, seed=seed, simulations=count, noise=noise)
        for state, seed, (count, noise) in zip(states, seeds, asked, strict=True)
    ]
    found = {}
    while forest.pending:
        found |= {finished.ticket: finished.result for finished in forest.collect()}
    for ticket, state, seed, (count, noise) in zip(tickets, states, seeds, asked, strict=True):
        config = noisy.model_copy(update={"num_simulations": count or 40, **({} if noise else {"noise_alpha": 0.0})})
        wanted = Search(game, RowByRow(game), config, backend=backend).run(state, seed=seed)
        np.testing.assert_array_equal(found[ticket].visits, wanted.visits)
        np.testing.assert_array_equal(found[ticket].q, wanted.q)
        np.testing.assert_array_equal(found[ticket].priors, wanted.priors)


@pytest.mark.parametrize("count", [0, -3, True, 2**31])
def test_invalid_numbers_of_simulations_are_rejected(count) -> None:
    game, states, _ = positions("pig", 1)
    with pytest.raises(ConfigError, match="simulations is"):
        Forest(game).submit(states[0], simulations=count)


def test_a_search_is_pending_until_it_is_collected() -> None:
    """With threads a search may end between two calls of collect: it must not be lost."""
    from concurrent.futures import wait

    game, states, seeds = positions("pig", 2)
    with Forest(game, RowByRow(game), SearchConfig(num_simulations=30), trees=2, batch_size=1, threads=2) as forest:
        tickets = {forest.submit(state, seed=seed) for state, seed in zip(states, seeds, strict=True)}
        found = {finished.ticket for finished in forest.collect()}
        wait(forest._running)
        assert forest.pending == len(tickets) - len(found)
        while forest.pending:
            found |= {finished.ticket for finished in forest.collect()}
        assert found == tickets


@pytest.mark.parametrize("threads", [1, 2])
def test_closed_forest_rejects_searches(threads: int) -> None:
    game, states, seeds = positions("pig", 3)
    with Forest(game, "uniform", SearchConfig(num_simulations=9), trees=2, threads=threads) as forest:
        forest.run(states, seeds=seeds)
        forest.submit(states[0])
    for use in (lambda: forest.run(states), lambda: forest.run([]), lambda: forest.submit(states[0]), forest.collect):
        with pytest.raises(ConfigError, match="the forest is closed, expected an open one"):
            use()
    assert forest.pending == 0
    forest.close()  # once more does no harm


def test_mean_branches() -> None:
    assert mean_branches(aleazero.load_game("dice_game")) == (pytest.approx(2, abs=0.2), pytest.approx(6, abs=1))
    actions, outcomes = mean_branches(aleazero.load_game("tic_tac_toe"))
    assert 4 < actions < 6
    assert outcomes == 1


@pytest.mark.parametrize("chance", ["sampling", "stratified", "full"])
@pytest.mark.parametrize("name", ["yatzy", "pig", "2048"])
def test_estimated_tree_size_is_close_to_the_real_one(name, chance) -> None:
    game = aleazero.load_game(name)
    config = SearchConfig(num_simulations=200, chance=chance)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    result = aleazero.Search(game, "uniform", config).run(state)
    assert result.stats.tree_bytes / 4 < tree_size(game, Uniform(), config) < result.stats.tree_bytes * 8
