"""Loading games by name, module, class, file and text with parameters; and errors."""

import sys

import pytest
from sample_games import STOP_RULES

import aleazero
from aleazero.errors import ContractError, GameError, UnknownGameError
from aleazero.games import pig, registry
from aleazero.games.registry import game_names, load_game, load_game_once, parse_game_text, register_game, title_of

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


def test_bundled_games():
    assert game_names() == ["2048", "azul", "backgammon", "dice_game", "pig", "tic_tac_toe", "yatzy"]
    for name in game_names():
        assert load_game(name).name == name


def test_the_package_exports_load_game():
    assert aleazero.load_game("pig", target=30).params == {"target": 30}
    assert aleazero.game_names() == game_names()


def test_load_by_module_and_by_class(clean_registry, folder):
    assert repr(load_game(pig, target=10)) == "pig(target=10)"
    found = load_game(str(folder / "once.py"))
    register_game("mine", type(found.new_initial_state().wrapped))
    register_game("hog", pig)
    assert {"mine", "hog"} <= set(game_names())
    assert load_game("mine", length=2).params["length"] == 2
    assert load_game("hog").name == "pig"


def test_names_of_bundled_games_and_invalid_sources_are_rejected(clean_registry):
    with pytest.raises(GameError, match="belongs to a bundled game"):
        register_game("pig", pig)
    for source in (sys, int, 3):
        with pytest.raises(ContractError, match="expected a module with describe"):
            register_game("odd", source)


def test_load_by_file(folder):
    assert load_game(str(folder / "stop.py")).name == "stop"
    game = load_game(str(folder / "stop.py:stop"), faces=8)
    state = game.new_initial_state()
    state.apply_action(0)
    assert state.returns() == [8.0]
    assert load_game(str(folder / "once.py:Once"), length=3).name == "Once"
    assert load_game(str(folder / "both.py:Once")).name == "Once"
    assert load_game(str(folder / "both.py:stop")).name == "stop"


def test_loading_a_file_does_not_change_the_import_system(folder):
    path, modules = list(sys.path), set(sys.modules)
    load_game(str(folder / "stop.py"))
    assert sys.path == path
    assert set(sys.modules) - modules <= {"neighbour"}


def test_an_edited_file_is_read_again(folder):
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
def test_unknown_names_suggest_the_nearest(name, message):
    with pytest.raises(UnknownGameError, match=message):
        load_game(name)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("once.py:Onec", "did you mean Once"),
        ("both.py", "known: Once, stop"),
        ("nothing.py", "has no game"),
        ("broken.py", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("syntax.py", "SyntaxError"),
    ],
)
def test_invalid_files_raise_one_line(folder, file, message):
    with pytest.raises(GameError, match=message) as error:
        load_game(str(folder / file))
    assert "\n" not in str(error.value)


def test_unknown_parameters_suggest_the_nearest():
    with pytest.raises(GameError, match="no parameter 'tagret', did you mean target"):
        load_game("pig", tagret=20)


@pytest.mark.parametrize("text", [*game_names(), "pig(target=20)", "yatzy(players=1)"])
def test_the_printed_text_of_a_bundled_game_loads_an_equal_game(text):
    game = load_game(text)
    again = load_game(repr(game))
    assert (again.name, again.params, repr(again)) == (game.name, game.params, repr(game))
    assert repr(game) == text or "(" not in text


def test_a_file_may_have_parameters_in_its_text(folder):
    (folder / "copy (1)").mkdir()
    (folder / "copy (1)" / "once.py").write_text(CLASS_FILE)
    for text in ("once.py(length=3)", "once.py:Once(length=3)", "copy (1)/once.py:Once( length = 3, )"):
        assert load_game(f"{folder}/{text}").params["length"] == 3
    assert load_game(f"{folder}/copy (1)/once.py").params["length"] == 1


@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        ("", {}),
        ("()", {}),
        ("(a=1, b=-2.5, c=True, d=false)", {"a": 1, "b": -2.5, "c": True, "d": False}),
        (
            "(a=word, b='two words', c=\"(,=)\", d='file.py')",
            {"a": "word", "b": "two words", "c": "(,=)", "d": "file.py"},
        ),
        ("(a=None, b=[1, 2], c=inf, d='\\d')", {"a": None, "b": [1, 2], "c": float("inf"), "d": "\\d"}),
    ],
)
def test_values_in_a_game_text(arguments, params):
    assert parse_game_text(f"pig{arguments}") == ("pig", params)


@pytest.mark.parametrize(
    "text",
    ["pig(target=)", "pig(target=50", "pig(50)", "pig(target=50)x", "pig(=50)", "pig(target 50)", "pig)", "pig(**{})",
     "pig(a=1)(b=2)", "pig(a=1), (b=2)", "pig(a=\0)", f"pig(a={'-' * 9000}1)", "pig(a=1\nb=2)",
     f"pig(a={'.py(' * 20_000}", f"pig(a={'.py:' * 2000})"],
    ids=lambda text: text[:16],
)  # fmt: skip
def test_a_game_text_that_cannot_be_read_is_one_clear_error(text):
    with pytest.raises(
        GameError, match=r"cannot read the game .pig.*expected NAME or NAME\(KEY=VALUE, \.\.\.\)"
    ) as error:
        load_game(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pgi(target=50)", "no game 'pgi', did you mean pig"),
        ("pig(tagret=50)", "no parameter 'tagret', did you mean target"),
        ("pig(target=50, target=60)", "target is given twice, expected it only once"),
        ("pig(target=5-4)", "cannot read the value of target, expected a number, True, False or a quoted text"),
        ("pig(target=5+4j)", "target is .*, expected"),
        ("pig(target=fifty)", "target is 'fifty', expected"),
    ],
)
def test_invalid_parameters_in_a_game_text(text, message):
    with pytest.raises(GameError, match=message):
        load_game(text)


def test_a_parameter_is_set_in_the_text_or_by_keyword():
    with pytest.raises(GameError, match=r"game 'pig\(target=50\)' sets target, which is also given as a parameter"):
        load_game("pig(target=50)", target=50)


def test_a_worker_loads_a_game_by_its_text_and_all_of_its_parameters():
    game = load_game("pig(target=50)")
    assert load_game_once("pig(target=50)", game.params).params == {"target": 50}


@pytest.mark.parametrize(
    ("text", "title"),
    [("pig", "pig"), ("a/b/race.py", "race"), ("a/two.games/both.py:Once", "Once"), ("2048", "2048"),
     ("pig(target=50)", "pig(target=50)"), ("a/b (1)/race.py(n=1)", "race(n=1)"), ("a.py:X(n=1)", "X(n=1)"),
     ("pig(x", "pig(x")],
)  # fmt: skip
def test_titles(text, title):
    assert title_of(text) == title
