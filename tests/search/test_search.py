"""The search as users meet it: limits, interruptions, and input it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import aleazero
from aleazero import ChanceConfig, ConfigError, EvaluatorError, Search, SearchConfig


@pytest.fixture
def pig():
    return aleazero.load_game("pig", target=20)


def zeros(observations, legal_masks):
    return np.zeros(legal_masks.shape), np.zeros((len(legal_masks), 2))


def test_the_call_of_the_readme(pig) -> None:
    result = aleazero.Search(
        pig,
        evaluator="rollout",
        config=SearchConfig(num_simulations=2000, seed=7, chance=ChanceConfig(loop="closed", pick="sample")),
    ).run(pig.state_from_text("0-0 turn 6"))
    assert result.actions.tolist() == [0, 1]
    assert result.visits.sum() == 2000
    assert result.policy.sum() == pytest.approx(1.0)
    assert result.value == pytest.approx(-result.value[::-1])
    assert result.best_action in (0, 1)
    assert result.stopped is None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"num_simulations": 0}, "num_simulations is 0, expected"),
        ({"num_simulations": "many"}, "num_simulations is 'many'"),
        ({"c": -1}, "c is -1"),
        ({"c": float("nan")}, "c is nan"),
        ({"seed": -3}, "seed is -3"),
        ({"sims": 5}, "no setting 'sims'"),
        ({"selection": "ucb"}, "selection is 'ucb', expected 'puct' or 'uct'"),
        ({"max_evaluations": 0}, "max_evaluations is 0"),
        ({"max_seconds": 0}, "max_seconds is 0"),
        ({"first_play": "child"}, "first_play"),
    ],
)
def test_invalid_settings_are_rejected_in_one_line(settings: dict, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        SearchConfig(**settings)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("maker", [Search, aleazero.Forest])
def test_first_play_by_logits_needs_their_unit(pig, maker) -> None:
    def evaluator(observations, masks):
        return np.zeros(masks.shape), np.zeros((len(masks), 2))

    config = SearchConfig(first_play="logits", num_simulations=2)
    for other in ("uniform", evaluator):
        with pytest.raises(
            ConfigError, match="first_play is logits, expected parent or a number: the evaluator has no"
        ):
            maker(pig, other, config)
    evaluator.logit_unit = 0
    with pytest.raises(ConfigError, match=r"evaluator.logit_unit is 0, expected a finite number above 0"):
        maker(pig, evaluator, config)
    evaluator.logit_unit = 0.5
    maker(pig, evaluator, config)
    with pytest.raises(ConfigError, match="first_play is logits, expected parent or a number: in open loop actions"):
        maker(pig, evaluator, SearchConfig(first_play="logits", chance="open"))


def test_unknown_chance_preset_is_rejected() -> None:
    with pytest.raises(ConfigError, match="loop is 'ajar', expected 'closed' or 'open'"):
        ChanceConfig(loop="ajar")


def test_invalid_arguments_of_run_are_rejected(pig, backend: str) -> None:
    with pytest.raises(aleazero.PositionError, match="the game is over"):
        Search(pig, backend=backend).run(pig.state_from_text("20-3 turn 0 player 0 over"))
    with pytest.raises(aleazero.PositionError, match=r"belongs to tic_tac_toe\(\), expected a state of pig"):
        Search(pig, backend=backend).run(aleazero.load_game("tic_tac_toe").new_initial_state())
    with pytest.raises(aleazero.PositionError, match=r"to pig\(target=100\), expected a state of pig\(target=20\)"):
        Search(pig, backend=backend).run(aleazero.load_game("pig").new_initial_state())
    with pytest.raises(aleazero.IllegalActionError, match="action 1 to consider"):
        Search(pig, backend=backend).run(pig.new_initial_state(), actions=[1])
    with pytest.raises(aleazero.IllegalActionError, match="no action to consider"):
        Search(pig, backend=backend).run(pig.new_initial_state(), actions=[])
    with pytest.raises(aleazero.IllegalActionError, match="at a chance node"):
        Search(pig, backend=backend).run(pig.state_from_text("0-0 turn 2 rolling"), actions=[1])
    with pytest.raises(ConfigError, match="backend is 'rust'"):
        Search(pig, backend="rust")
    with pytest.raises(ConfigError, match="evaluator is 'rolout', did you mean rollout"):
        Search(pig, evaluator="rolout", backend=backend)
    with pytest.raises(ConfigError, match="or a callable"):
        Search(pig, evaluator=3, backend=backend)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rollout:0", "evaluator is 'rollout:0', expected rollout:N with an integer N from 1"),
        ("rollout:few", "expected rollout:N with an integer N from 1"),
        ("uniform:2", "did you mean uniform"),
        ("net:a/b", r"expected the object: aleazero\.load_net\('a/b', game\) loads the network"),
        ("oracle", r"expected the object: aleazero\.solve\(game\)"),
        ("nothing", r"known: rollout, rollout:N, uniform \(a network is loaded by aleazero\.load_net\(path, game\)\)"),
    ],
)
def test_texts_of_evaluators(pig, text: str, message: str) -> None:
    assert Search(pig, "rollout").evaluator == aleazero.Rollout(1)
    assert Search(pig, "rollout:200").evaluator == aleazero.Rollout(200)
    with pytest.raises(ConfigError, match=message):
        Search(pig, text)


BAD_EVALUATORS = {
    "NaN value": (lambda o, m: (np.zeros(m.shape), np.full((len(m), 2), np.nan)), "value nan"),
    "infinite value": (lambda o, m: (np.zeros(m.shape), np.full((len(m), 2), np.inf)), "value inf"),
    "NaN logit": (lambda o, m: (np.full(m.shape, np.nan), np.zeros((len(m), 2))), r"NaN or \+inf as logit"),
    "no way out": (lambda o, m: (np.full(m.shape, -np.inf), np.zeros((len(m), 2))), "-inf for all legal"),
    "logit shape": (
        lambda o, m: (np.zeros((len(m), 3)), np.zeros((len(m), 2))),
        r"logits of shape \(\d, 3\), expected",
    ),
    "value shape": (lambda o, m: (np.zeros(m.shape), np.zeros(len(m))), "values of shape"),
    "one answer": (lambda o, m: np.zeros(m.shape), "raised ValueError|logits of shape"),
    "nothing": (lambda o, m: None, "raised TypeError"),
    "text": (lambda o, m: ("a", "b"), "raised ValueError"),
    "raises": (lambda o, m: 1 // 0, "raised ZeroDivisionError"),
    "raises at length": (lambda o, m: {}["two\nlines"], "raised KeyError"),
}


@pytest.mark.parametrize("name", list(BAD_EVALUATORS))
@pytest.mark.parametrize("good_batches", [0, 3])
def test_invalid_evaluator_output_raises_and_leaves_no_visits_in_flight(
    pig, backend: str, name: str, good_batches: int
) -> None:
    bad, says = BAD_EVALUATORS[name]
    calls = []

    def evaluator(observations, legal_masks):
        calls.append(len(legal_masks))
        return (zeros if len(calls) <= good_batches else bad)(observations, legal_masks)

    search = Search(pig, evaluator, SearchConfig(num_simulations=200, in_flight=4), backend=backend)
    state = pig.state_from_text("0-0 turn 5")
    with pytest.raises(EvaluatorError, match=says) as error:
        search.run(state)
    assert "\n" not in str(error.value)
    assert search._driver.group.trees[0].in_flight() == 0
    assert len(calls) == good_batches + 1


def test_search_can_be_used_again_after_an_evaluator_error(pig, backend: str) -> None:
    """After an error the same search object starts over as if nothing had been."""
    fail = [True]

    def moody(observations, legal_masks):
        if fail[0] and len(legal_masks) > 1:
            raise RuntimeError("not now")
        return zeros(observations, legal_masks)

    search = Search(pig, moody, SearchConfig(num_simulations=100, in_flight=4), backend=backend)
    state = pig.state_from_text("0-0 turn 5")
    with pytest.raises(EvaluatorError, match="not now"):
        search.run(state)
    fail[0] = False
    fresh = Search(pig, zeros, SearchConfig(num_simulations=100, in_flight=4), backend=backend)
    np.testing.assert_array_equal(search.run(state).visits, fresh.run(state).visits)


def test_logits_of_illegal_actions_do_not_matter(pig, backend: str) -> None:
    def spoilt(observations, legal_masks):
        return np.where(legal_masks, 0.0, np.nan), np.zeros((len(legal_masks), 2))

    config = SearchConfig(num_simulations=100)
    state = pig.new_initial_state()
    np.testing.assert_array_equal(
        Search(pig, spoilt, config, backend=backend).run(state).q,
        Search(pig, zeros, config, backend=backend).run(state).q,
    )


def test_callable_equal_to_uniform_gives_the_same_search(pig, backend: str) -> None:
    for in_flight in (1, 5):
        config = SearchConfig(num_simulations=300, in_flight=in_flight, chance="sampling")
        state = pig.state_from_text("0-0 turn 5")
        inside = Search(pig, "uniform", config, backend=backend).run(state)
        outside = Search(pig, zeros, config, backend=backend).run(state)
        np.testing.assert_array_equal(inside.visits, outside.visits)
        np.testing.assert_array_equal(inside.q, outside.q)
        assert inside.stats == outside.stats


def test_evaluator_values_are_relative_to_the_viewer(pig, backend: str) -> None:
    """Values are by seat relative to the viewer, who is the player to move."""
    seen = []

    def optimist(observations, legal_masks):
        seen.append((observations.copy(), legal_masks.copy()))
        return np.zeros(legal_masks.shape), np.tile([0.5, -0.5], (len(legal_masks), 1))

    state = pig.state_from_text("5-9 turn 7 player 1")
    result = Search(pig, optimist, SearchConfig(num_simulations=1), backend=backend).run(state)
    np.testing.assert_array_equal(seen[0][0][0], state.observation_tensor(1))
    assert seen[0][1][0].tolist() == [True, True]
    root_alone = Search(pig, optimist, SearchConfig(num_simulations=1, max_evaluations=1), backend=backend).run(state)
    assert root_alone.value.tolist() == [-0.5, 0.5]
    assert root_alone.stopped == "evaluations"
    assert result.stats.evaluations == 2


def test_full_tree_ends_the_search_with_a_result(pig, backend: str) -> None:
    search = Search(pig, "rollout", SearchConfig(num_simulations=5000, max_nodes=100, in_flight=3), backend=backend)
    result = search.run(pig.state_from_text("0-0 turn 5"))
    assert result.stopped == "nodes"
    assert result.stats.nodes <= 100
    assert 0 < result.stats.simulations == result.visits.sum() < 5000
    assert search._driver.group.trees[0].in_flight() == 0


def test_max_evaluations_is_respected(pig, backend: str) -> None:
    for budget in (1, 2, 50):
        config = SearchConfig(num_simulations=5000, max_evaluations=budget, in_flight=4)
        result = Search(pig, "rollout", config, backend=backend).run(pig.state_from_text("0-0 turn 5"))
        assert result.stats.evaluations == budget
        assert result.stopped == "evaluations"
        assert result.best_action is not None


def test_time_limit_ends_the_same_search_early(pig) -> None:
    state = pig.state_from_text("0-0 turn 5")
    short = Search(pig, "rollout", SearchConfig(num_simulations=10**9, max_seconds=0.2)).run(state)
    assert short.stopped == "seconds"
    whole = Search(pig, "rollout", SearchConfig(num_simulations=short.stats.simulations)).run(state)
    np.testing.assert_array_equal(short.visits, whole.visits)
    np.testing.assert_array_equal(short.q, whole.q)


@pytest.mark.parametrize("backend_name", ["compiled", "plain"])
def test_ctrl_c_returns_the_result_so_far(backend_name: str) -> None:
    code = f"""
    import aleazero, sys, threading, os, signal, time
    pig = aleazero.load_game("pig", target=20)
    search = aleazero.Search(pig, "rollout", aleazero.SearchConfig(num_simulations=10**9), backend={backend_name!r})
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    result = search.run(pig.new_initial_state())
    assert result.stopped == "interrupted", result.stopped
    assert result.visits.sum() == result.stats.simulations > 0
    assert search._driver.group.trees[0].in_flight() == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print("fine")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "fine", done.stderr


def test_a_search_runs_in_other_threads_too(pig) -> None:
    """Signals are handled in the main thread only. Searches in several threads give the same results."""
    state = pig.state_from_text("0-0 turn 5")
    config = SearchConfig(num_simulations=20_000)
    alone = Search(pig, "rollout", config).run(state)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(Search(pig, "rollout", config).run(state))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for result in found:
        np.testing.assert_array_equal(result.visits, alone.visits)


def test_results_are_bit_identical_in_another_process(pig) -> None:
    code = """
    import aleazero, hashlib
    for name, params in (("pig", {"target": 20}), ("2048", {}), ("dice_game", {})):
        game = aleazero.load_game(name, **params)
        state = game.new_initial_state()
        for loop in ("closed", "open"):
            config = aleazero.SearchConfig(num_simulations=3000, seed=5, in_flight=3, noise_alpha=0.3,
                                           chance=aleazero.ChanceConfig(loop=loop))
            result = aleazero.Search(game, "rollout", config).run(state)
            bits = [result.visits.tobytes(), result.q.tobytes(), result.value.tobytes(), result.priors.tobytes()]
            bits += [str(o.visits).encode() for o in result.outcomes]
            print(name, loop, hashlib.sha256(b"".join(bits)).hexdigest())
    """
    outputs = set()
    for hash_seed in ("0", "1234"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment, check=True
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert next(iter(outputs)).count("\n") == 6


@pytest.mark.usefixtures("interpreted")
def test_endless_chance_raises_an_error(backend: str) -> None:
    class Forever:
        num_players = num_actions = 1

        def current_player(self):
            return -1

        def legal_actions(self):
            return [0]

        def chance_outcomes(self):
            return [(0, 1.0)]

        def apply_action(self, action):
            pass

        def returns(self):
            return [0.0]

    if backend == "plain":
        game = aleazero.load_game(Forever)
        with pytest.raises(aleazero.ContractError, match="256 chance events in a row"):
            Search(game, "uniform").run(game.new_initial_state())
        return
    game = aleazero.load_game(_module(kind="return 1"))
    search = Search(game, "uniform")
    with pytest.raises(aleazero.ContractError, match="256 chance events in a row"):
        search.run(game.new_initial_state())
    assert search._driver.group.trees[0].in_flight() == 0


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
def test_probabilities_that_do_not_sum_to_one_raise_an_error(backend: str, evaluator: str) -> None:
    game = aleazero.load_game(_module(kind="return 1 if state[0] == 1 else 0", weight=0.9))
    search = Search(game, evaluator, SearchConfig(num_simulations=50), backend=backend)
    with pytest.raises(aleazero.ContractError, match="sum to"):
        search.run(game.new_initial_state())
    assert search._driver.group.trees[0].in_flight() == 0


def _module(kind: str, weight: float = 1.0):
    import types

    module = types.ModuleType("broken")
    exec(
        textwrap.dedent(f"""
        from aleazero import GameInfo
        def describe():
            return GameInfo(name="broken", num_players=1, num_actions=1, max_outcomes=1, state_size=2)
        def kind(state):
            {kind}
        def to_play(state):
            return 0
        def legal(state, out):
            out[0] = 0
            return 1
        def apply(state, action):
            state[0] += 1
        def outcomes(state, ids, probabilities):
            ids[0] = 0
            probabilities[0] = {weight}
            return 1
        def apply_outcome(state, outcome):
            state[0] = 0
        def returns(state, out):
            out[0] = 0.0
        """),
        vars(module),
    )
    return module


def test_ctrl_c_handler_is_restored_after_a_search(pig) -> None:
    before = signal.getsignal(signal.SIGINT)
    Search(pig, "uniform", SearchConfig(num_simulations=10)).run(pig.new_initial_state())
    assert signal.getsignal(signal.SIGINT) is before


def test_the_implicit_baseline_has_no_chance_nodes(pig) -> None:
    state = pig.state_from_text("0-0 turn 5")
    result = Search(pig, "rollout", SearchConfig(num_simulations=400), backend="implicit").run(state)
    assert result.stats.chance_nodes == 0
    assert result.visits.sum() == 400
    with pytest.raises(ConfigError, match="expected a decision at the root"):
        Search(pig, "rollout", backend="implicit").run(pig.state_from_text("0-0 turn 5 rolling"))
    with pytest.raises(ConfigError, match="chance=sampling"):
        Search(pig, "rollout", SearchConfig(chance=ChanceConfig(loop="open")), backend="implicit")


def test_object_games_are_searched_in_plain_python() -> None:
    game = aleazero.from_openspiel("pig", winscore=20)
    with pytest.raises(ConfigError, match="expected backend plain"):
        Search(game, backend="compiled")
    result = Search(game, "rollout", SearchConfig(num_simulations=200)).run(game.new_initial_state())
    assert result.visits.sum() == 200


def test_search_inside_its_own_evaluator_is_rejected(pig, backend: str) -> None:
    inner = []

    def curious(observations, legal_masks):
        with pytest.raises(ConfigError, match="already running"):
            search.run(pig.new_initial_state())
        inner.append(
            Search(pig, "uniform", SearchConfig(num_simulations=5), backend=backend).run(pig.new_initial_state())
        )
        return zeros(observations, legal_masks)

    search = Search(pig, curious, SearchConfig(num_simulations=5), backend=backend)
    assert search.run(pig.new_initial_state()).visits.sum() == 5
    assert len(inner) == 6


def test_threads_that_share_a_search_wait_for_each_other(pig) -> None:
    search = Search(pig, "rollout", SearchConfig(num_simulations=5000))
    states = [pig.state_from_text(f"0-0 turn {turn}") for turn in (2, 3, 4, 5)]
    alone = [search.run(state).visits.tolist() for state in states]
    found: dict[int, list[int]] = {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: search.run(states[i]).visits.tolist()})) for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(4)] == alone


def test_progress_reports_the_search_that_runs(backend: str) -> None:
    game = aleazero.load_game("pig")

    def evaluator(observations, masks):
        return np.zeros(masks.shape), np.zeros((len(masks), 2))

    for one in (evaluator, "uniform"):
        search = Search(
            game, one, SearchConfig(num_simulations=600, chance="sampling", max_seconds=60), backend=backend
        )
        for text in ("40-12 turn 8", "0-0 turn 3"):
            state = game.state_from_text(text)
            seen = []
            result = search.run(
                state,
                progress=lambda r, seen=seen: seen.append((r.stats.simulations, list(r.actions))),
                progress_seconds=0.0,
            )
            assert seen or text != "40-12 turn 8"  # a second run may be too quick for a report
            assert [count for count, _ in seen] == sorted(count for count, _ in seen)
            assert all(0 < count < 600 for count, _ in seen)
            assert all(actions == list(result.actions) for _, actions in seen)


def test_stop_ends_a_search_with_its_result_so_far(backend: str) -> None:
    search = Search(aleazero.load_game("pig"), "uniform", SearchConfig(num_simulations=2**31 - 2), backend=backend)
    state, calls = search.game.state_from_text("40-12 turn 8"), []

    def stop() -> bool:
        calls.append(None)
        return len(calls) == 3

    result = search.run(state, stop=stop)
    assert result.stopped == "interrupted"
    assert len(calls) == 3
    assert 0 < result.stats.simulations < 2**31 - 2
    same = Search(search.game, "uniform", SearchConfig(num_simulations=result.stats.simulations), backend=backend)
    assert same.run(state).visits.tolist() == result.visits.tolist()


def test_a_search_that_is_not_stopped_is_complete(backend: str) -> None:
    search = Search(aleazero.load_game("pig"), "uniform", SearchConfig(num_simulations=600), backend=backend)
    result = search.run(search.game.state_from_text("40-12 turn 8"), stop=lambda: False)
    assert (result.stopped, result.stats.simulations) == (None, 600)
