"""The examples: each file goes from path to game to check, and says something true."""

from pathlib import Path

import pytest

from aleazero.errors import PositionError
from aleazero.games.contract import check_game
from aleazero.games.registry import load_game
from aleazero.oracles.solve import solve

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_keeps_the_laws(path):
    report = check_game(str(path))
    assert report.capped == 0
    assert report.states > 5


def test_race_is_short_and_fair_to_read():
    assert len((EXAMPLES / "race.py").read_text().splitlines()) <= 80


def test_race_prefers_the_sure_step_when_any_step_wins():
    game = load_game(str(EXAMPLES / "race.py") + ":race")
    state = game.state_from_vector([11, 11, 0, 0, 0])
    assert solve(game).best_actions(state) == [0]


def test_coins_are_worth_flipping_for():
    # 4 coins: 0.75 × 5 = 3.75 < 4, keep. 3 coins: 0.75 × 4 = 3, a tie. 2: 0.75 × 3 = 2.25, flip.
    game = load_game(str(EXAMPLES / "coins.py") + ":Coins")
    solution = solve(game)
    state = game.new_initial_state()
    assert solution.value(state)[0] == pytest.approx(0.75**2 * 3)
    assert solution.best_actions(state) == [0]
    state.play("flip heads flip heads")
    assert solution.best_actions(state) == [0, 1]
    state.play("flip heads")
    assert solution.best_actions(state) == [1]


def test_five_dice_have_252_outcomes_and_the_straight_stands():
    game = load_game(str(EXAMPLES / "five_dice.py"))
    solution = solve(game)
    assert len(game.new_initial_state().chance_outcomes()) == 252
    assert solution.best_actions(game.state_from_text("1 2 3 4 5 rerolls 2")) == [0]
    assert solution.best_actions(game.state_from_text("2 3 4 5 5 rerolls 2")) == [1]


@pytest.mark.parametrize(
    ("dice", "score"), [("1 2 3 4 5", 25), ("2 3 4 5 6", 25), ("1 2 3 4 6", 6), ("4 4 4 1 2", 12), ("1 1 1 1 1", 50)]
)
def test_five_dice_score(dice, score):
    game = load_game(str(EXAMPLES / "five_dice.py"))
    assert game.state_from_text(f"{dice} rerolls 0 over").returns() == [score]


@pytest.mark.parametrize("line", ["1 2 3", "1 2 3 rerolls 2", "1 2 3 4 7 rerolls 2", "1 2 3 4 5 rerolls 2 rolling", ""])
def test_five_dice_refuse_what_cannot_be_read(line):
    with pytest.raises(PositionError, match=r"expected e\.g\. '2 2 3 5 6 rerolls 2'"):
        load_game(str(EXAMPLES / "five_dice.py")).state_from_text(line)


def test_short_2048_is_2048_that_ends():
    short, whole = load_game(str(EXAMPLES / "short_2048.py"), moves=2), load_game("2048")
    one, other = short.new_initial_state(), whole.new_initial_state()
    for state in (one, other):
        state.play("2@a1 2@b1 left 4@d4")
    assert one.to_text() == f"{other.to_text()} moves 1"
    one.play("right 2@a1")
    assert one.is_terminal()
    assert one.returns() == [4]
    assert short.state_from_text(one.to_text()).is_terminal()


def test_short_2048_is_solved_from_a_position():
    # One move is left, and the two 2s are all that can merge.
    game = load_game(str(EXAMPLES / "short_2048.py"))
    state = game.state_from_text("2 2 4 8/16 32 64 128/8 16 32 64/16 32 64 128 score 0 moves 1")
    assert solve(game, start=state).value(state)[0] == 4
    with pytest.raises(PositionError, match="expected '… moves 3'"):
        game.state_from_text("2 2 4 8/16 32 64 128/8 16 32 64/16 32 64 128")
