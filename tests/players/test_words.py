from __future__ import annotations

import pytest

import aleazero
from aleazero.oracles.solve import Solution
from aleazero.players.words import CHANCE_WORDS, read_chance, read_evaluator


@pytest.mark.parametrize("word", CHANCE_WORDS)
def test_every_word_for_chance_makes_a_config(word):
    assert read_chance(word) == aleazero.ChanceConfig.preset(CHANCE_WORDS[word])


def test_words_for_evaluators():
    game = aleazero.load_game("tic_tac_toe")
    assert read_evaluator("uniform", game) == aleazero.Uniform()
    assert read_evaluator("rollout", game) == aleazero.Rollout()
    assert read_evaluator("rollout:4", game) == aleazero.Rollout(4)
    assert isinstance(read_evaluator("oracle", game), Solution)


def test_errors_name_what_was_read():
    with pytest.raises(aleazero.ConfigError, match=r"^--chance is 'opn', did you mean open"):
        read_chance("opn", "--chance")
