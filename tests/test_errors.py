"""The tree of errors, and the nearest words."""

import pytest

from aleazero import errors


def test_every_error_is_ours():
    kinds = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(kinds) == 11
    assert all(issubclass(kind, errors.AleaZeroError) for kind in kinds)


def test_the_docstring_draws_every_error():
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert name in errors.__doc__


@pytest.mark.parametrize("kind", [errors.UnknownGameError, errors.ContractError])
def test_game_errors_are_caught_together(kind):
    with pytest.raises(errors.GameError):
        raise kind("x")


def test_nearest_names_close_words_or_lists_all():
    assert errors.nearest("pgi", ["pig", "2048"]) == "did you mean pig?"
    assert errors.nearest("chess", ["pig", "2048"]) == "known: 2048, pig"
    assert errors.nearest("x", []) == "known: none"
