"""The examples: each file goes from path to game to check, and says something true."""

from pathlib import Path

import pytest

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
