from __future__ import annotations

import pytest

from aleazero.cli.options import blame_rules, one_line
from aleazero.errors import ConfigError, GameError


def test_line_breaks_are_folded():
    assert one_line(ValueError("two\n  lines")) == "two lines"
    assert one_line(ValueError()) == "ValueError"


def test_rules_of_a_users_game_are_blamed():
    with (
        pytest.raises(GameError, match=r"mine\.py:Game: the rules raised ZeroDivisionError: no"),
        blame_rules("mine.py:Game"),
    ):
        raise ZeroDivisionError("no")


def test_our_own_games_are_not_blamed_for_our_bugs():
    with pytest.raises(ZeroDivisionError), blame_rules("pig"):
        raise ZeroDivisionError


def test_errors_of_the_tree_pass_unchanged():
    with pytest.raises(ConfigError, match=r"^as it is$"), blame_rules("mine.py"):
        raise ConfigError("as it is")
