"""``check_game`` passes the bundled games, and fails a small incorrect game for each check."""

import random
import types
from pathlib import Path

import numba
import numpy as np
import pytest

from aleazero.errors import ContractError
from aleazero.games.base import CHANCE, DECISION, MANY, TERMINAL, Features, GameInfo
from aleazero.games.check import STEPPING_CHECKS, check_game
from aleazero.games.check_states import CHECKS, KERNEL_CHECKS, check_features, chi_square
from aleazero.games.registry import game_names, load_game
from aleazero.games.scene import Move, Rect, Scene


def correct_game(**changes):
    """A small kernel game (flip a three-sided coin up to three times), with functions or info replaced."""
    info = {
        "name": "correct",
        "num_players": 2,
        "num_actions": 3,
        "max_outcomes": 3,
        "utility": (-3.0, 3.0),
        "state_size": 4,
        "state_dtype": "int8",
        **changes.pop("info", {}),
    }

    # The state: points, flips so far, kind, last action.
    def kind(state):
        return state[2]

    def to_play(state):
        return state[1] % 2

    def legal(state, out):
        out[0] = 0
        out[1] = 1
        return 2

    def apply(state, action):
        state[3] = 1 if action == 2 else action
        state[2] = 1

    def outcomes(state, ids, probabilities):
        for i in range(3):
            ids[i] = i
            probabilities[i] = (0.5, 0.25, 0.25)[i]
        return 3

    def sample(state, u):
        return 0 if u < 0.5 else 1 if u < 0.75 else 2

    def apply_outcome(state, outcome):
        state[0] += 1 if outcome == 0 else 0
        state[1] += 1
        state[3] = 0
        state[2] = 2 if state[1] == 3 else 0

    def returns(state, out):
        out[0] = state[0]
        out[1] = -state[0]

    def canonical(state, action):
        return 1 if action == 2 else action

    module = types.ModuleType("correct")
    functions = [kind, to_play, legal, apply, outcomes, sample, apply_outcome, returns, canonical]
    for function in functions:
        setattr(module, function.__name__, function)
    for name, function in changes.items():
        if function is None:
            delattr(module, name)
        else:
            setattr(module, name, function)
    module.describe = lambda: GameInfo(**info)
    return load_game(module)


def fails(game, check, **options):
    with pytest.raises(ContractError) as error:
        check_game(game, compiled=False, **options)
    message = str(error.value)
    assert message.startswith(f"check of {check} failed"), message
    assert "got" in message
    assert "expected" in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", game_names())
def test_bundled_games_pass(name):
    report = check_game(name, episodes=3, max_states=400, seconds=None)
    assert report.capped == 0
    assert report.checks[-2:] == ("compiled rules", "ends")
    assert report.warnings == ()
    assert report.max_length >= report.mean_length > 0


def test_the_correct_game_passes():
    report = check_game(correct_game())
    assert report.census == {"decision": 1 + 2 + 3, "chance": 2 * (1 + 2 + 3), "terminal": 4}
    assert report.states == 22
    assert (report.warnings, report.out_of_time) == ((), False)
    assert (report.max_legal, report.max_outcomes, report.max_length) == (2, 3, 6)


def test_results_are_reproducible():
    assert check_game("pig", seed=4, episodes=2, compiled=False) == check_game(
        "pig", seed=4, episodes=2, compiled=False
    )
    other = check_game("pig", seed=5, episodes=2, compiled=False)
    assert check_game("pig", seed=4, episodes=2, compiled=False).mean_length != other.mean_length


def test_a_game_with_too_many_outcomes_to_list_passes_without_a_census():
    report = check_game(correct_game(outcomes=lambda state, ids, probabilities: MANY), compiled=False)
    assert report.census is None


def test_a_game_without_end_is_reported():
    def apply_outcome(state, outcome):
        state[2] = 0
        state[3] = 0

    report = check_game(correct_game(apply_outcome=apply_outcome), episodes=3, max_length=50, compiled=False)
    assert (report.capped, report.max_length) == (3, 50)


def set_outcomes(*rows):
    def outcomes(state, ids, probabilities):
        for i, (outcome, share) in enumerate(rows):
            ids[i] = outcome
            probabilities[i] = share
        return len(rows)

    return {"outcomes": outcomes, "sample": None}


def set_legal(*actions):
    def legal(state, out):
        for i, action in enumerate(actions):
            out[i] = action
        return len(actions)

    return {"legal": legal}


def raise_error(*_):
    raise ZeroDivisionError("oops")


def observe_part(state, player, out):
    out[0] = 1.0


def half_points(state, out):
    out[0] = state[0] / 2
    out[1] = -state[0] / 2


def all_win(state, out):
    out[0] = state[0]
    out[1] = state[0]


def read_and_write(state):
    state[3] += 1
    return state[1] % 2


def inconsistent_returns(state, out):
    out[0] = np.inf
    out[1] = 0.0


def both_draw_or_win(state, out):
    out[0] = out[1] = 1.0 if state[2] == TERMINAL and state[0] == 3 else 0.0


def draw_inside(state, action):
    state[3] = random.randint(0, 100)
    state[2] = 1


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("kinds", {"kind": lambda state: 7}),
        ("kinds", {"info": {"max_outcomes": 0}}),
        ("players", {"to_play": lambda state: 2, "viewer": lambda state: 0}),
        ("players", {"viewer": lambda state: 5}),
        ("players", {"viewer": lambda state: 1 - state[1] % 2}),
        ("legal actions", set_legal()),
        ("legal actions", set_legal(1, 0)),
        ("legal actions", set_legal(0, 0)),
        ("legal actions", set_legal(0, 3)),
        ("legal actions", set_legal(0, 1, 2, 3)),
        ("legal actions", {"legal": raise_error}),
        ("playouts", {"playout": lambda state, actions, count, u: 2}),
        ("playouts", {"playout": lambda state, actions, count, u: 0 if u < 0.9 else -1}),
        ("playouts", {"playout": raise_error}),
        ("playouts", {"playout": lambda state, actions, count, u: actions[count]}),
        ("priors", {"prior_logit": lambda state, action: float("inf") if action == 1 else 0.0}),
        ("priors", {"prior_logit": raise_error}),
        ("decision classes", {"decision_class": lambda state: 1}),
        ("phases", {"phase": lambda state: state[1], "info": {"phases": ("early", "late")}}),
        ("phases", {"phase": raise_error, "info": {"phases": ("early", "late")}}),
        ("reading", {"phase": lambda state: read_and_write(state), "info": {"phases": ("early", "late")}}),
        ("returns", {"returns": half_points, "info": {"levels": 9, "utility": (-9, 9)}}),
        ("returns", {"returns": all_win, "info": {"levels": 9, "utility": (-9, 9)}}),
        ("probabilities", set_outcomes((0, 0.5), (1, 0.4))),
        ("probabilities", set_outcomes((0, 0.5), (0, 0.5))),
        ("probabilities", set_outcomes((0, 1.5), (1, -0.5))),
        ("probabilities", set_outcomes((0, 1.0), (1, 0.0))),
        ("probabilities", set_outcomes((0, 0.25), (1, 0.25), (2, 0.25), (3, 0.25))),
        ("probabilities", set_outcomes()),
        ("probabilities", {"outcomes": lambda state, ids, probabilities: MANY, "sample": None}),
        ("sampling", {"sample": lambda state, u: int(3 * u)}),
        ("sampling", {"sample": lambda state, u: int(4 * u)}),
        ("returns", {"returns": inconsistent_returns}),
        ("returns", {"returns": lambda state, out: None}),
        ("returns", {"info": {"utility": (0.0, 1.0)}}),
        ("determinism", {"apply": draw_inside}),
        ("returns", {"returns": all_win, "info": {"utility": (-1.0, 1.0)}}),
        ("returns", {"returns": both_draw_or_win, "info": {"utility": (-1.0, 1.0)}}),
        ("turns", {"turn": lambda state: 7}),
        ("turns", {"turn": lambda state: state[1] // 2}),
        ("turns", {"turn": raise_error}),
        ("reading", {"turn": read_and_write}),
        ("points", {"points": lambda state, out: out.__setitem__(0, 1.0)}),
        ("points", {"points": lambda state, out: out.fill(np.inf)}),
        ("points", {"points": lambda state, out: out.__setitem__(2, 1.0)}),
        ("text", {"text": lambda state: "same", "parse": lambda line: np.zeros(4, np.int64)}),
        ("text", {"text": lambda state: "a\nb"}),
        ("text", {"text": lambda state: "no vector"}),
        ("action names", {"action_text": lambda state, action: "go"}),
        ("action names", {"action_text": lambda state, action: str(1 - action), "outcome_text": lambda state, o: "x"}),
        ("observations", {"observe": observe_part}),
        ("observations", {"observe": raise_error}),
        ("reading", {"viewer": read_and_write}),
        ("reading", {"playout": lambda state, actions, count, u: read_and_write(state)}),
        ("equivalent actions", {"canonical": lambda state, action: 0}),
        ("equivalent actions", {"canonical": lambda state, action: 0 if action == 2 else action}),
    ],
)
def test_each_check_can_fail(check, changes):
    fails(correct_game(**changes), check)


def test_state_numbers_must_fit_their_type():
    def apply_outcome(state, outcome):
        state[0] += 100
        state[1] += 1
        state[3] = 0
        state[2] = 2 if state[1] == 3 else 0

    fails(correct_game(apply_outcome=apply_outcome, info={"utility": None}), "state numbers")


def write_seats(state, player, out):
    """Two numbers per player, then two of the state; the flips are those of the player whose turn it was."""
    for seat in range(2):
        who = player if seat == 0 else 1 - player
        out[2 * seat] = state[0]
        out[2 * seat + 1] = 1.0 if state[1] % 2 == who else 0.0
    out[4] = state[2]
    out[5] = 0.0


def with_features(features, block=2, common=2, **changes):
    return correct_game(features=features, info={"features": Features("seats", block=block, common=common)}, **changes)


def forget_one(state, player, out):
    write_seats(state, player, out)
    if state[1] == 2:
        out[5] = np.nan


def write_not_all(state, player, out):
    for i in range(5):
        out[i] = 1.0


def look_from_player_0(state, player, out):
    write_seats(state, 0, out)


@pytest.mark.parametrize(
    ("features", "sizes"),
    [
        (write_seats, {"common": 1}),
        (write_seats, {"block": 1}),
        (write_seats, {"block": 1, "common": 4}),
        (write_seats, {"common": 3}),
        (forget_one, {}),
        (write_not_all, {}),
        (look_from_player_0, {}),
        (raise_error, {}),
    ],
)
def test_incorrect_features_fail(features, sizes):
    check_game(with_features(write_seats), compiled=False)
    fails(with_features(features, **sizes), "features")


def test_training_checks_features_before_it_compiles_them():
    with pytest.raises(ContractError, match="check of features failed"):
        check_features(with_features(write_seats, common=1))
    with pytest.raises(ContractError, match="check of observations failed"):
        check_features(correct_game(observe=write_seats, info={"observation_size": 5}))


def test_a_wrong_state_size_is_reported_first():
    message = fails(correct_game(info={"state_size": 3}), "state numbers")
    assert "using index 3 of the state, expected 0 to 2: state_size is 3, and this needs at least 4" in message
    parse = {"text": lambda state: " ".join(map(str, state[:4])), "parse": lambda line: np.array(line.split(), int)}
    message = fails(correct_game(info={"state_size": 5}, **parse), "state numbers")
    assert "4 numbers from correct's parse, expected state_size, 5" in message
    (warning,) = check_game(correct_game(info={"state_size": 6}), compiled=False).warnings
    assert "indices 4 to 5 of the state were neither read nor written" in warning


def swapped_points(state, out):
    out[0], out[1] = state[5], state[4]


def own_points(state, out):
    out[0], out[1] = state[4], state[5]


@pytest.mark.parametrize(("points", "warned"), [(swapped_points, True), (own_points, False)])
def test_points_of_the_wrong_player_are_a_warning(points, warned):
    def apply(state, action):
        state[3] = action
        state[2] = 1
        state[4 + state[1] % 2] += 1

    game = correct_game(apply=apply, points=points, canonical=None, info={"state_size": 6, "num_actions": 2})
    warnings = check_game(game, compiled=False).warnings
    assert len(warnings) == warned
    assert all("raised the points of another player and none raised the mover's own" in one for one in warnings)


def test_points_that_are_not_fractions_are_a_warning():
    def apply(state, action):
        state[3] = action
        state[2] = 1
        state[4 + state[1] % 2] += 1

    def points(state, out):
        out[0], out[1] = 9.0 * state[4], 9.0 * state[5]

    def returns(state, out):
        out[0] = 0.5 if state[2] == TERMINAL else 0.0
        out[1] = -out[0]

    info = {"state_size": 6, "num_actions": 2, "utility": (-1.0, 1.0)}
    game = correct_game(apply=apply, points=points, returns=returns, canonical=None, info=info)
    (warning,) = check_game(game, compiled=False).warnings
    assert "expected fractions of the points that a win takes" in warning


@pytest.mark.parametrize(("view", "warned"), [(lambda state, player: 0, True), (lambda state, player: player, False)])
def test_an_observation_that_ignores_the_player_is_a_warning(view, warned):
    def observe(state, player, out):
        out[0] = view(state, player)

    warnings = check_game(correct_game(observe=observe, info={"observation_size": 1}), compiled=False).warnings
    assert len(warnings) == warned
    assert all(warning.startswith("observe: ") for warning in warnings)


def test_a_turn_that_never_ends_is_only_a_warning():
    game = correct_game(to_play=lambda state: 0, turn=lambda state: 7, info={"num_players": 2})
    (warning,) = check_game(game, compiled=False).warnings
    assert "`turn` did not change in any of 10 episodes" in warning


def test_a_start_that_raises_fails():
    fails(correct_game(init=raise_error), "starting")


def test_steps_that_raise_fail():
    fails(correct_game(apply_outcome=raise_error), "clones")
    fails(correct_game(apply=raise_error), "clones")


class Walk:
    """A correct object game: three steps left or right."""

    num_players = 1
    num_actions = 2
    utility = (-3.0, 3.0)

    def __init__(self):
        self.steps = []

    def current_player(self):
        return -4 if len(self.steps) == 3 else 0

    def legal_actions(self):
        return [0, 1]

    def apply_action(self, action):
        self.steps.append(action)

    def returns(self):
        return [float(sum(1 if step else -1 for step in self.steps))]

    def __str__(self):
        return str(self.steps)


class SharedClone(Walk):
    def clone(self):
        other = type(self)()
        other.steps = self.steps
        return other


class Drawing(Walk):
    def apply_action(self, action):
        self.steps.append(random.random())


class OneKey(Walk):
    def __str__(self):
        return "walk" + "!" * (len(self.steps) == 3)


class WrongObservation(Walk):
    observation_size = 2

    def observation_tensor(self, player):
        return [0.0]


class TooManyReturns(Walk):
    def returns(self):
        return [0.0, 0.0]


class StrangePlayer(Walk):
    def current_player(self):
        return 3


@pytest.mark.parametrize(
    ("check", "broken_class"),
    [
        ("clones", SharedClone),
        ("determinism", Drawing),
        ("equal keys", OneKey),
        ("observations", WrongObservation),
        ("returns", TooManyReturns),
        ("kinds", StrangePlayer),
    ],
)
def test_object_games_are_checked(check, broken_class):
    fails(load_game(broken_class), check)


def test_a_correct_object_game_passes():
    assert check_game(Walk).census == {"decision": 7, "chance": 0, "terminal": 8}


needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="numba is switched off")


@needs_compiler
def test_kernels_that_do_not_compile_fail():
    def returns(state, out):
        class Zero:
            value = 0.0

        out[0] = Zero.value
        out[1] = 0.0

    with pytest.raises(ContractError, match="check of compiled rules failed: got returns"):
        check_game(correct_game(returns=returns))


POINTS = {0: 0.0, 1: 1.0}
LEVELS = [0.0, 1.0]


@needs_compiler
def test_globals_that_do_not_compile_are_named():
    def from_dict(state, out):
        out[0] = POINTS[0]
        out[1] = 0.0

    def from_list(state, out):
        out[0] = LEVELS[0]
        out[1] = 0.0

    for returns, problem in ((from_dict, "POINTS is a dict"), (from_list, "LEVELS is a list")):
        expected = f"the global {problem}, expected a number, a tuple of numbers or a numpy array"
        with pytest.raises(ContractError, match=f"got returns: {expected}"):
            check_game(correct_game(returns=returns), episodes=1)


def write_overflow(state, out):
    """Write 1 if compiled and 0 in plain Python: 100 + 100 overflows the 8 bits of the state, but not 64 bits."""
    scratch = np.zeros(1, state.dtype)
    scratch[0] = 100
    scratch[0] += 100
    out[0] = 0.0 if scratch[0] > 0 else 1.0
    out[1] = 0.0


@needs_compiler
def test_features_and_points_are_compared_with_plain_python():
    def wrong(state, player, out):
        write_seats(state, player, out)
        scratch = np.zeros(1, state.dtype)
        scratch[0] = 100
        scratch[0] += 100
        out[5] = 0.0 if scratch[0] > 0 else 1.0

    with pytest.raises(ContractError, match=r"check of compiled rules failed in correct .* got features"):
        check_game(with_features(wrong))

    lead = Features("seats", block=2, common=2, lead=0)
    with pytest.raises(ContractError, match=r"check of compiled rules failed in correct .* got points"):
        check_game(correct_game(features=write_seats, points=write_overflow, info={"features": lead}))


@needs_compiler
def test_rare_ends_are_found_by_compiled_games():
    # Twelve flips in a row: one end of 4,096, which ten episodes do not reach.
    def apply_outcome(state, outcome):
        state[0] += 1 if outcome == 0 else 0
        state[1] += 1
        state[3] = 0
        state[2] = 2 if state[1] == 12 or state[0] < state[1] else 0

    def returns(state, out):
        out[0] = 1.0 if state[0] < 9 else 2.0
        out[1] = -out[0]

    info = {"utility": (-1.0, 1.0)}
    assert check_game(
        correct_game(apply_outcome=apply_outcome, returns=returns, info=info), compiled=False, max_states=20
    )
    with pytest.raises(ContractError, match=r"check of ends failed in correct .* got \[2.0, -2.0\]"):
        check_game(correct_game(apply_outcome=apply_outcome, returns=returns, info=info), max_states=20)


def test_the_time_limit_ends_a_check_of_very_many_outcomes():
    def outcomes(state, ids, probabilities):
        ids[:200_000] = np.arange(200_000)
        probabilities[:200_000] = 1.0 / 200_000
        return 200_000

    many = correct_game(outcomes=outcomes, sample=None, info={"max_outcomes": 200_000})
    report = check_game(many, seconds=0.5, compiled=False)
    assert report.out_of_time
    assert 1 <= report.states < 22
    told = []
    done = check_game(correct_game(), seconds=None, compiled=False, progress=lambda *words: told.append(words))
    assert not done.out_of_time
    assert told[-1] == (22, 2_000, "states")


@needs_compiler
def test_kernels_that_behave_differently_when_compiled_fail():
    with pytest.raises(ContractError, match="check of compiled rules failed in correct"):
        check_game(correct_game(returns=write_overflow))


def test_every_check_has_a_game_that_fails_it():
    text = Path(__file__).read_text()
    for check in (*STEPPING_CHECKS, *CHECKS, *KERNEL_CHECKS, "compiled rules", "ends"):
        if check != "stepping":
            assert f'("{check}"' in text or f'"{check}")' in text or f"check of {check}" in text, check


def test_serialization_must_restore_the_state():
    game = load_game("dice_game")
    game.deserialize = lambda text: game.new_initial_state()
    fails(game, "serialization")


def test_drawings_offer_the_legal_actions():
    def scene(color="board", actions=(0, 1)):
        shapes = [Rect(0, 0, 1, 1, color, part=str(action)) for action in (0, 1, 2)]
        return lambda state: Scene(9, 9, shapes, [Move(a, (str(a),)) for a in actions if state[2] == DECISION])

    assert "drawings" in check_game(correct_game(draw=scene()), compiled=False).checks
    assert "moves for the actions [0], expected" in fails(correct_game(draw=scene(actions=(0,))), "drawings")
    assert "[0, 1, 2]" in fails(correct_game(draw=scene(actions=(0, 1, 2))), "drawings")
    fails(correct_game(draw=scene("bord")), "drawings")
    fails(correct_game(draw=lambda state: "a picture"), "drawings")


def test_chi_square_bounds():
    assert chi_square([500, 250, 250], [0.5, 0.25, 0.25])[0] == 0.0
    off, bound = chi_square([600, 200, 200], [0.5, 0.25, 0.25])
    assert off == pytest.approx(40.0)
    assert bound < 50
    assert chi_square([10], [1.0]) == (0.0, 0.0)
    # Rare outcomes are pooled: ten bins with an expectation of one each become two bins of five.
    pooled = chi_square([990] + [1] * 10, [0.99] + [0.001] * 10)
    assert pooled[0] == pytest.approx(0.0)


def test_kinds_are_counted_by_name():
    assert (DECISION, CHANCE, TERMINAL) == (0, 1, 2)
