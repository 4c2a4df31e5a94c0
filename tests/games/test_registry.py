"""Finding games: by name, module, class, file, and what is said when there is none."""

import sys

import pytest
from sample_games import STOP_RULES

import aleazero
from aleazero.errors import ContractError, GameError, UnknownGameError
from aleazero.games import pig, registry
from aleazero.games.registry import game_names, load_game, register_game, title_of

KERNEL_FILE = f"""
from aleazero.games.base import GameInfo
from neighbour import SIDES

FACES = SIDES
{STOP_RULES}"""

CLASS_FILE = """
from __future__ import annotations
from dataclasses import dataclass, field

@dataclass
class Once:
    length: int = 1
    played: list[int] = field(default_factory=list)
    num_players = 1
    num_actions = 2
    def current_player(self): return -4 if len(self.played) == self.length else 0
    def legal_actions(self): return [0, 1]
    def apply_action(self, action): self.played.append(action)
    def returns(self): return [float(sum(self.played))]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "neighbour.py").write_text("SIDES = 6\n")
    (tmp_path / "stop.py").write_text(KERNEL_FILE)
    (tmp_path / "once.py").write_text(CLASS_FILE)
    (tmp_path / "both.py").write_text(KERNEL_FILE + CLASS_FILE.replace("from __future__ import annotations", ""))
    (tmp_path / "nothing.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    (tmp_path / "syntax.py").write_text("def (:\n")
    yield tmp_path
    sys.modules.pop("neighbour", None)


@pytest.fixture
def clean_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


def test_what_ships():
    assert game_names() == ["2048", "dice_game", "pig", "tic_tac_toe", "yatzy"]
    for name in game_names():
        assert load_game(name).name == name


def test_the_package_exports_the_facade():
    assert aleazero.load_game("pig", target=30).params == {"target": 30}
    assert aleazero.game_names() == game_names()


def test_by_module_and_by_class(clean_registry, folder):
    assert repr(load_game(pig, target=10)) == "pig(target=10)"
    found = load_game(str(folder / "once.py"))
    register_game("mine", type(found.new_initial_state().wrapped))
    register_game("hog", pig)
    assert {"mine", "hog"} <= set(game_names())
    assert load_game("mine", length=2).params["length"] == 2
    assert load_game("hog").name == "pig"


def test_shipped_names_are_taken_and_non_games_refused(clean_registry):
    with pytest.raises(GameError, match="belongs to a game that ships"):
        register_game("pig", pig)
    for source in (sys, int, 3):
        with pytest.raises(ContractError, match="expected a module with describe"):
            register_game("odd", source)


def test_by_file(folder):
    assert load_game(str(folder / "stop.py")).name == "stop"
    game = load_game(str(folder / "stop.py:stop"), faces=8)
    state = game.new_initial_state()
    state.apply_action(0)
    assert state.returns() == [8.0]
    assert load_game(str(folder / "once.py:Once"), length=3).name == "Once"
    assert load_game(str(folder / "both.py:Once")).name == "Once"
    assert load_game(str(folder / "both.py:stop")).name == "stop"


def test_a_file_leaves_nothing_behind(folder):
    path, modules = list(sys.path), set(sys.modules)
    load_game(str(folder / "stop.py"))
    assert sys.path == path
    assert set(sys.modules) - modules <= {"neighbour"}


def test_an_edit_counts_at_once(folder):
    file = folder / "stop.py"
    load_game(str(file))
    file.write_text(KERNEL_FILE.replace('"stop"', '"halt"'))
    assert load_game(str(file)).name == "halt"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pgi", "no game 'pgi', did you mean pig"),
        ("tictactoe", "did you mean tic_tac_toe"),
        ("", "known: 2048"),
        ("no/such/file.py", "no file"),
        ("no/such/file.py:X", "no file"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(name, message):
    with pytest.raises(UnknownGameError, match=message):
        load_game(name)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("once.py:Onec", "did you mean Once"),
        ("both.py", "known: Once, stop"),
        ("nothing.py", "holds no game"),
        ("broken.py", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("syntax.py", "SyntaxError"),
    ],
)
def test_bad_files_say_what_is_wrong(folder, file, message):
    with pytest.raises(GameError, match=message) as error:
        load_game(str(folder / file))
    assert "\n" not in str(error.value)


def test_unknown_parameters_are_answered_with_the_nearest():
    with pytest.raises(GameError, match="no parameter 'tagret', did you mean target"):
        load_game("pig", tagret=20)


@pytest.mark.parametrize(
    ("name", "title"), [("pig", "pig"), ("a/b/race.py", "race"), ("a/two.games/both.py:Once", "Once"), ("2048", "2048")]
)
def test_titles(name, title):
    assert title_of(name) == title
