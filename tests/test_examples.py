"""The examples: each game passes the checks and has the expected values."""

from itertools import combinations, product
from pathlib import Path

import pytest

from aleazero.errors import PositionError
from aleazero.games.check import check_game
from aleazero.games.registry import load_game
from aleazero.oracles.solve import solve

EXAMPLES = Path(__file__).parent.parent / "examples"
CLIENTS = ("engine_client", "engine_match")
"""Examples that are not games; ``tests/serving`` runs them."""


@pytest.mark.parametrize(
    "path", sorted(path for path in EXAMPLES.glob("*.py") if path.stem not in CLIENTS), ids=lambda path: path.stem
)
def test_example_passes_the_checks(path):
    report = check_game(str(path), seconds=None)
    assert report.warnings == ()
    assert report.capped == 0
    assert report.states > 5


def test_bust_without_turn_gets_a_warning(tmp_path):
    rules = (EXAMPLES / "bust.py").read_text(encoding="utf-8")
    (tmp_path / "bust.py").write_text(rules.replace("def turn(", "def other("), encoding="utf-8")
    (warning,) = check_game(str(tmp_path / "bust.py"), compiled=False).warnings
    assert "rolls were followed by a roll of another player, so a turn can end by chance; define `turn`" in warning


def test_bust_stops_with_enough_points():
    game = load_game(str(EXAMPLES / "bust.py"), target=10)
    solution = solve(game)
    state = game.state_from_vector([4, 0, 0, 0, 6])
    assert state.legal_actions() == [1]
    assert solution.value(state).tolist() == [1.0, -1.0]
    early = game.state_from_vector([0, 9, 0, 0, 2])  # the other player wins with any roll but a bust
    assert solution.best_actions(early) == [0]


def test_race_is_short():
    assert len((EXAMPLES / "race.py").read_text().splitlines()) <= 92


def test_race_walks_if_any_step_wins():
    game = load_game(str(EXAMPLES / "race.py") + ":race")
    state = game.state_from_vector([11, 11, 0, 0, 0])
    assert solve(game).best_actions(state) == [0]


def test_coins_best_play():
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


def test_five_dice_have_252_outcomes_and_a_straight_is_kept():
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
def test_five_dice_rejects_invalid_positions(line):
    with pytest.raises(PositionError, match=r"expected e\.g\. '2 2 3 5 6 rerolls 2'"):
        load_game(str(EXAMPLES / "five_dice.py")).state_from_text(line)


def test_short_2048_equals_2048_until_it_ends():
    short = load_game(str(EXAMPLES / "short_2048.py"), moves=2)
    one, other = short.new_initial_state(), load_game("2048").new_initial_state()
    for state in (one, other):
        state.play("2@a1 2@b1 left 4@d4")
    assert one.to_text() == f"{other.to_text()} moves 1"
    one.play("right 2@a1")
    assert one.is_terminal()
    assert one.returns() == [4]
    assert short.state_from_text(one.to_text()).is_terminal()


def test_short_2048_is_solved_from_a_position():
    # One move is left, and only the two 2s can merge.
    game = load_game(str(EXAMPLES / "short_2048.py"))
    state = game.state_from_text("2 2 4 8/16 32 64 128/8 16 32 64/16 32 64 128 score 0 moves 1")
    assert solve(game, start=state).value(state)[0] == 4
    assert game.state_from_text(state.to_text().replace("moves 1", "moves 4"))  # more than at the start
    with pytest.raises(PositionError, match="expected '… moves 3'"):
        game.state_from_text("2 2 4 8/16 32 64 128/8 16 32 64/16 32 64 128")


def best_box(tiles: frozenset[int]) -> float:
    """Return the expected sum of tiles that best play shuts, from sets of tiles and all rolls of two dice."""
    total = 0.0
    for one, other in product(range(1, 7), repeat=2):
        choices = [set(some) for n in range(1, len(tiles) + 1) for some in combinations(tiles, n)]
        fits = [some for some in choices if sum(some) == one + other]
        total += max((sum(some) + best_box(tiles - some) for some in fits), default=0.0) / 36
    return total


@pytest.mark.parametrize("tiles", [3, 5])
def test_shut_the_box_agrees_with_an_independent_solution(tiles):
    game = load_game(str(EXAMPLES / "shut_the_box.py"), tiles=tiles)
    exact = solve(game).value(game.new_initial_state())[0]
    assert exact == pytest.approx(best_box(frozenset(range(1, tiles + 1))), abs=1e-12)


def test_shut_the_box_ends_when_no_tiles_fit_or_all_are_shut():
    game = load_game(str(EXAMPLES / "shut_the_box.py"))
    state = game.new_initial_state()
    state.play("9 9 12 4-8 11")
    assert {state.action_to_string(action) for action in state.legal_actions()} == {"5-6", "1-3-7", "2-3-6", "1-2-3-5"}
    state.play("5-6 2")
    assert not state.is_terminal()
    state.play("2 2")
    assert state.is_terminal()
    assert state.returns() == [9 + 12 + 11 + 2]
