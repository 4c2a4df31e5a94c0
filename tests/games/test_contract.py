"""``check_game`` passes what ships and fails one small broken game for each law."""

import random
import types
from pathlib import Path

import numba
import numpy as np
import pytest

from aleazero.errors import ContractError
from aleazero.games import contract
from aleazero.games.base import CHANCE, DECISION, MANY, TERMINAL, GameInfo
from aleazero.games.contract import check_game, chi_square
from aleazero.games.registry import game_names, load_game


def sound_game(**changes):
    """A little kernel game (flip a three-sided coin up to three times), with functions or info replaced."""
    info = {
        "name": "sound",
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

    module = types.ModuleType("sound")
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


def fails(game, law, **options):
    with pytest.raises(ContractError) as error:
        check_game(game, compiled=False, **options)
    message = str(error.value)
    assert message.startswith(f"law of {law} broken"), message
    assert "got" in message
    assert "expected" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", game_names())
def test_what_ships_keeps_the_laws(name):
    report = check_game(name, episodes=3, max_states=400)
    assert report.capped == 0
    assert report.laws[-1] == "compiled twins"
    assert report.max_length >= report.mean_length > 0


def test_the_sound_game_is_sound():
    report = check_game(sound_game())
    assert report.census == {"decision": 1 + 2 + 3, "chance": 2 * (1 + 2 + 3), "terminal": 4}
    assert report.states == 22
    assert (report.max_legal, report.max_outcomes, report.max_length) == (2, 3, 6)


def test_it_repeats():
    assert check_game("pig", seed=4, episodes=2, compiled=False) == check_game(
        "pig", seed=4, episodes=2, compiled=False
    )
    other = check_game("pig", seed=5, episodes=2, compiled=False)
    assert check_game("pig", seed=4, episodes=2, compiled=False).mean_length != other.mean_length


def test_a_game_with_unlistable_chance_passes_without_a_census():
    report = check_game(sound_game(outcomes=lambda state, ids, probabilities: MANY), compiled=False)
    assert report.census is None


def test_an_endless_game_is_reported():
    def apply_outcome(state, outcome):
        state[2] = 0
        state[3] = 0

    report = check_game(sound_game(apply_outcome=apply_outcome), episodes=3, max_length=50, compiled=False)
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


def fall_apart(state, out):
    out[0] = np.inf
    out[1] = 0.0


def draw_inside(state, action):
    state[3] = random.randint(0, 100)
    state[2] = 1


@pytest.mark.parametrize(
    ("law", "changes"),
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
        ("returns", {"returns": fall_apart}),
        ("returns", {"returns": lambda state, out: None}),
        ("returns", {"info": {"utility": (0.0, 1.0)}}),
        ("determinism", {"apply": draw_inside}),
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
def test_each_broken_law_is_named(law, changes):
    fails(sound_game(**changes), law)


def test_state_numbers_must_fit_their_type():
    def apply_outcome(state, outcome):
        state[0] += 100
        state[1] += 1
        state[3] = 0
        state[2] = 2 if state[1] == 3 else 0

    fails(sound_game(apply_outcome=apply_outcome, info={"utility": None}), "state numbers")


def test_a_start_that_raises_is_named():
    fails(sound_game(init=raise_error), "starting")


def test_steps_that_raise_are_named():
    fails(sound_game(apply_outcome=raise_error), "clones")
    fails(sound_game(apply=raise_error), "clones")


class Walk:
    """A sound object game: three steps left or right."""

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
    ("law", "broken_class"),
    [
        ("clones", SharedClone),
        ("determinism", Drawing),
        ("equal keys", OneKey),
        ("observations", WrongObservation),
        ("returns", TooManyReturns),
        ("kinds", StrangePlayer),
    ],
)
def test_object_games_have_laws_too(law, broken_class):
    fails(load_game(broken_class), law)


def test_a_sound_object_game_passes():
    assert check_game(Walk).census == {"decision": 7, "chance": 0, "terminal": 8}


needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="numba is switched off")


@needs_compiler
def test_kernels_that_do_not_compile_are_named():
    def returns(state, out):
        class Zero:
            value = 0.0

        out[0] = Zero.value
        out[1] = 0.0

    with pytest.raises(ContractError, match="law of compiled twins broken: got returns"):
        check_game(sound_game(returns=returns))


@needs_compiler
def test_kernels_that_compile_to_something_else_are_named():
    # In 8 bits 100 + 100 wraps around; in plain Python's 64 it does not.
    def returns(state, out):
        scratch = np.zeros(1, state.dtype)
        scratch[0] = 100
        scratch[0] += 100
        out[0] = 0.0 if scratch[0] > 0 else 1.0
        out[1] = 0.0

    with pytest.raises(ContractError, match="law of compiled twins broken in sound"):
        check_game(sound_game(returns=returns))


def test_every_law_has_a_test_that_breaks_it():
    text = Path(__file__).read_text()
    for law in (*contract.STEPPING_LAWS, *contract.LAWS, *contract.KERNEL_LAWS, "compiled twins"):
        if law not in ("stepping", "serialisation"):
            assert f'("{law}"' in text or f'"{law}")' in text or f"law of {law}" in text, law


def test_serialisation_must_come_back():
    game = load_game("dice_game")
    game.deserialize = lambda text: game.new_initial_state()
    fails(game, "serialisation")


def test_chi_square_bands():
    assert chi_square([500, 250, 250], [0.5, 0.25, 0.25])[0] == 0.0
    off, bound = chi_square([600, 200, 200], [0.5, 0.25, 0.25])
    assert off == pytest.approx(40.0)
    assert bound < 50
    assert chi_square([10], [1.0]) == (0.0, 0.0)
    # Rare outcomes are pooled: ten bins that expect one each count as two of five.
    pooled = chi_square([990] + [1] * 10, [0.99] + [0.001] * 10)
    assert pooled[0] == pytest.approx(0.0)


def test_kinds_are_what_the_games_say():
    assert (DECISION, CHANCE, TERMINAL) == (0, 1, 2)
