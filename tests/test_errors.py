"""The hierarchy of errors, and suggestions for mistyped words."""

import pickle

import pytest

from aleazero import errors


def test_every_error_is_an_aleazero_error():
    kinds = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(kinds) == 11
    assert all(issubclass(kind, errors.AleaZeroError) for kind in kinds)


def test_the_docstring_lists_every_error():
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert name in errors.__doc__


@pytest.mark.parametrize("kind", [errors.UnknownGameError, errors.ContractError])
def test_game_errors_are_caught_together(kind):
    with pytest.raises(errors.GameError):
        raise kind("x")


def test_nearest_suggests_similar_words_or_lists_all():
    assert errors.nearest("pgi", ["pig", "2048"]) == "did you mean pig?"
    assert errors.nearest("chess", ["pig", "2048"]) == "known: 2048, pig"
    assert errors.nearest("x", []) == "known: none"


def test_a_config_error_has_its_field():
    error = errors.ConfigError("is 0, expected 1", field="pairs", where="GateConfig")
    assert str(error) == "GateConfig: pairs is 0, expected 1"
    assert (error.field, error.problem) == ("pairs", "is 0, expected 1")
    assert str(error.named("--pairs")) == "--pairs is 0, expected 1"
    assert str(error.below("gate").at("run.yaml")) == "run.yaml: gate.pairs is 0, expected 1"
    plain = errors.ConfigError("no setting 'x'", where="GateConfig")
    assert str(plain.below("gate").at("run.yaml")) == "run.yaml: gate: no setting 'x'"
    assert str(pickle.loads(pickle.dumps(error)).named("n")) == "n is 0, expected 1"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (errors.ConfigError("is 0", field="sims", where="player 'search:sims=0'"), "--sims is 0"),
        (errors.ConfigError("is 'x'", field="horizon", where="player 'plan'"), "player 'plan': horizon is 'x'"),
        (errors.ConfigError("sims is 0"), "sims is 0"),
    ],
)
def test_fields_named_replaces_the_name_of_a_field(error, expected):
    with pytest.raises(errors.ConfigError) as caught, errors.fields_named({"sims": "--sims"}):
        raise error
    assert str(caught.value) == expected


def test_fields_below_adds_a_path():
    with pytest.raises(errors.ConfigError, match=r"^gate\.pairs is 0$"), errors.fields_below("gate"):
        raise errors.ConfigError("is 0", field="pairs", where="GateConfig")
