"""Game dice: derived from the event, uniform, and replaced by the game's own function if it has one."""

import types

from aleazero.games import pig
from aleazero.games.check_states import chi_square
from aleazero.games.game_dice import played_outcome
from aleazero.games.registry import load_game


def test_the_same_event_has_the_same_outcome_whatever_was_played():
    game = load_game("pig")
    early = game.state_from_text("0-0 turn 0 player 1 rolling")
    late = game.state_from_text("50-60 turn 12 player 1 rolling")
    assert [played_outcome(early, 7, n) for n in range(50)] == [played_outcome(late, 7, n) for n in range(50)]
    other = game.state_from_text("50-60 turn 12 player 0 rolling")
    assert [played_outcome(early, 7, n) for n in range(50)] != [played_outcome(other, 7, n) for n in range(50)]
    assert [played_outcome(early, 7, n) for n in range(50)] != [played_outcome(early, 8, n) for n in range(50)]


def test_game_dice_are_fair():
    state = load_game("pig").state_from_text("0-0 rolling")
    counts = [0] * 6
    for seed in range(60):
        for n in range(100):
            counts[played_outcome(state, seed, n) - 1] += 1
    off, bound = chi_square(counts, [1 / 6] * 6)
    assert off < bound


def test_a_game_can_define_its_own_dice():
    module = types.ModuleType("own")
    vars(module).update({k: v for k, v in vars(pig).items() if not k.startswith("__")})
    module.played_outcome = lambda state, seed, count: 1 + (seed + count) % 6
    state = load_game(module).state_from_text("0-0 rolling")
    assert [played_outcome(state, 3, n) for n in range(4)] == [4, 5, 6, 1]
