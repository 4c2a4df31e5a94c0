"""The command review: recorded games, sessions and match files, as text, JSON and HTML; and files that are damaged."""

from __future__ import annotations

import json
import re

import pytest

from aleazero.serving.session_file import read_studied

PIG = "pig(target=20)"
MAT = """ 5 point match

 Game 1
 Ann : 0                          Bob : 0
  1) 31: 8/5 6/5                  64: 24/14
  2) 63: 24/18 13/10              {}
"""


@pytest.fixture
def games(run, tmp_path):
    """Four recorded games of pig."""
    file = tmp_path / "games.json"
    result = run("match", PIG, "greedy", "random", "--pairs", "2", "--save", str(file))
    assert result.exit_code == 0, result.output
    return file


def test_a_game_is_shown_move_by_move(run, run_json, games):
    text = run("review", str(games), "--index", "1").stdout
    (one,) = run_json("review", str(games), "--index", "1")["games"]
    lines = text.splitlines()
    assert lines[0] == "pig(target=20), games.json, game 1"
    assert lines[1] == "judge: oracle (exact values); error (?) from 2.0 %, blunder (??) from 5.0 %"
    for name in ("decisions", "best decisions", "blunders", "regret per decision", "luck", "luck-adjusted"):
        assert re.search(rf"^ {name} ", text, re.MULTILINE), name
    table = text.split("worst decisions")[0]
    blunders = sum(totals["blunders"] for totals in one["totals"])
    assert blunders > 0
    assert len(re.findall(r" \?\? ", table)) == blunders
    assert len(re.findall(r"^ +[0-9]+ ", table, re.MULTILINE)) >= len(one["entries"]) // 2
    assert [totals["name"] for totals in one["totals"]] == ["random", "greedy"]


def test_all_games_of_a_file_have_totals_by_player(run, run_json, games):
    text = run("review", str(games)).stdout
    assert text.startswith("pig(target=20), 4 games of games.json\n")
    assert "all games (luck and results are means per game)" in text
    data = run_json("review", str(games))
    assert (data["kind"], data["format"], data["file"], len(data["games"])) == ("aleazero review", 1, "games.json", 4)
    by_name = {one["name"]: one for one in data["players"]}
    assert by_name.keys() == {"greedy", "random"}
    assert by_name["greedy"]["luck"] == pytest.approx(-by_name["random"]["luck"])


def test_games_of_a_gate_and_of_play_are_reviewed(run, run_json, tmp_path):
    gated, saved = tmp_path / "gate.json", tmp_path / "play.json"
    run("gate", PIG, "greedy", "random", "--pairs", "10", "--rule", "fixed", "--replays", str(gated))
    data = run_json("review", str(gated))
    assert len(data["games"]) == len(read_studied(gated)) == 20
    run("play", PIG, "--opponent", "random", "--seed", "3", "--save", str(saved), stdin="roll\nroll\nq\n")
    (one,) = run_json("review", str(saved))["games"]
    assert one["returns"] is None
    assert one["totals"][0]["luck_adjusted"] is None
    assert one["players"] == ["human", "random"]


def test_play_reviews_the_game_so_far_and_at_the_end(run):
    typed = "r\nroll\nr\n" + "roll\n" * 40 + "r\nu\nq\n"
    result = run("play", PIG, "--opponent", "random", "--seed", "3", stdin=typed)
    assert result.exit_code == 0, result.output
    assert "there is no move to review" in result.stdout
    assert result.stdout.count("judge: oracle (exact values)") == 2
    before, after = result.stdout.split("the game is over")[:2]
    assert "judge: oracle" in before
    assert re.search(r"luck-adjusted +-?[0-9.]+ %", after)
    assert "taken back" in after
    assert "stopped after" in after


def test_a_page_is_written(run, refused, games, tmp_path):
    page = tmp_path / "page.html"
    result = run("review", str(games), "--index", "0", "--html", str(page))
    assert result.stdout.strip() == str(page)
    assert "<h1>Pig: review of a game</h1>" in page.read_text(encoding="utf-8")
    assert "--html shows one game and the file has 4, expected --index N" in refused(
        "review", str(games), "--html", str(page)
    )
    assert "expected a file in a folder that exists" in refused(
        "review", str(games), "--index", "0", "--html", str(tmp_path / "no" / "page.html")
    )


def test_a_page_does_not_replace_the_reviewed_file(refused, games, tmp_path):
    before = games.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(games)
    for page in (games, link):
        assert "which is the file of the game, expected another one" in refused(
            "review", str(games), "--index", "0", "--html", str(page)
        )
    assert games.read_bytes() == before


def test_only_the_chosen_game_is_checked(run_json, refused, games):
    data = json.loads(games.read_text())
    data["games"][1]["steps"] = [[0, 1]]
    games.write_text(json.dumps(data))
    assert len(run_json("review", str(games), "--index", "0")["games"]) == 1
    assert run_json("watch", str(games), "--index", "2")["number"] == 2
    for words in (("review",), ("review", "--index", "1"), ("watch", "--index", "1")):
        assert "game 1, step 1: pig: action 1 is illegal here" in refused(words[0], str(games), *words[1:])


def test_rules_that_raise_during_a_review_are_one_line(refused, tmp_path):
    """The rules fail in a position that the recorded game does not reach."""
    rules = tmp_path / "odd.py"
    rules.write_text(
        "class Odd:\n"
        "    num_players, num_actions = 1, 2\n"
        "    def __init__(self): self.moves = []\n"
        "    def current_player(self): return -4 if len(self.moves) == 2 else 0\n"
        "    def legal_actions(self): return [0, 1]\n"
        "    def apply_action(self, action):\n"
        "        if self.moves and action == 1: raise ValueError('no such move')\n"
        "        self.moves.append(action)\n"
        "    def returns(self): return [float(sum(self.moves))]\n"
        "    def clone(self):\n        other = Odd(); other.moves = list(self.moves); return other\n"
    )
    game = {"kind": "aleazero session", "format": 1, "game": str(rules), "params": {}, "rules_version": 1, "seed": 1,
            "start": "", "steps": [[0, 0], [0, 0]]}  # fmt: skip
    (tmp_path / "game.json").write_text(json.dumps(game))
    for words in (("review",), ("review", "--judge", "search:sims=5")):
        line = refused(words[0], str(tmp_path / "game.json"), *words[1:])
        assert "the rules raised ValueError: no such move" in line


def test_thresholds(run_json, refused, games):
    def marks(*words):
        found = run_json("review", str(games), *words)
        limits = found["games"][0]["thresholds"]
        return (
            limits["error"],
            limits["blunder"],
            *(sum(one[n] for one in found["players"]) for n in ("errors", "blunders")),
        )

    assert marks()[:2] == (0.04, 0.1)
    assert marks("--error", "0.5")[:2] == (0.5, 0.5)
    assert marks("--error", "0.01")[:2] == (0.01, 0.1)
    assert marks("--blunder", "0.02")[:2] == (0.02, 0.02)
    none = marks("--error", "3", "--blunder", "4")
    assert none == (3.0, 4.0, 0, 0)
    assert sum(marks()[2:]) > 0
    assert "--error is 2 and --blunder is 1, expected error ≤ blunder" in refused(
        "review", str(games), "--error", "2", "--blunder", "1"
    )
    for value in ("0", "-1", "nan", "inf"):
        assert "expected a finite number above 0" in refused("review", str(games), "--error", value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"steps": [[0, 1]]}, "games.json, game 0, step 1: pig: action 1 is illegal here, expected one of 0 (roll)"),
        ({"steps": [[0, 0], [-1, 9]]}, "game 0, step 2: pig: outcome 9 cannot happen here, expected one of 1, 2, 3, 4"),
        ({"steps": [[0, 0], [0, 0]]}, "game 0, step 2: got player 0, expected chance (-1)"),
        ({"steps": [[0, 0]]}, "game 0: the game does not end as recorded"),
        ({"players": ["a", "b", "c"]}, "game 0: got 3 players, expected 2"),
    ],
)
def test_an_illegal_step_is_one_line(refused, games, change, expected):
    data = json.loads(games.read_text())
    data["games"][0] |= change
    games.write_text(json.dumps(data))
    assert expected in refused("review", str(games))


def test_other_files_are_one_line(refused, games, tmp_path):
    text = games.read_text()
    for damaged, expected in (
        (text[:100], "games.json is not JSON"),
        ("{}", "has no kind 'aleazero session' or 'aleazero games'"),
        ("[1, 2]", "has no kind"),
        ("", "games.json is not JSON"),
        ("hello", "games.json is not JSON, expected a session of `aleazero play --save`"),
        ("\0\1\2", "games.json is not JSON"),
        (text.replace('"format": 1', '"format": 7', 1), "got format 7, expected 1"),
        (text.replace('"game": "pig"', '"game": "pgi"', 1), "no game 'pgi'"),
        (text.replace('"rules_version": 1', '"rules_version": 8', 1), "got rules of version 8, expected 1"),
        (re.sub(r'"games": \[.*', '"games": []}', text, flags=re.DOTALL), "contains no games"),
    ):
        games.write_text(damaged)
        assert expected in refused("review", str(games)), damaged[:50]
    games.write_text(text)
    assert "cannot read" in refused("review", str(tmp_path / "none.json"))
    assert "cannot read" in refused("review", str(tmp_path))
    assert "--index is 4, expected 0 to 3, the games of games.json" in refused("review", str(games), "--index", "4")
    assert "judge is 'random', known: net, oracle, plan, search" in refused("review", str(games), "--judge", "random")


def test_a_match_file_is_reviewed(run_json, refused, tmp_path):
    file = tmp_path / "match.mat"
    file.write_text(MAT.format("42: 8/4 6/4"))
    (one,) = run_json("review", str(file), "--judge", "plan:plies=1,net=champion")["games"]
    moves = [entry for entry in one["entries"] if entry["kind"] == "decision"]
    assert [entry["name"] for entry in moves][:2] == ["8/5 6/5", "24/14"]
    assert moves[0]["cost"] < 0.02
    assert one["players"] == ["Ann", "Bob"]
    assert one["judge_kind"] == "plan"
    for broken, expected in (
        (MAT.format("66: 24/20(4)"), "match file, line 6: "),
        (MAT.format("71: 8/1"), "match file, line 6: "),
        ("5 point match\nnothing", "match file"),
    ):
        file.write_text(broken)
        assert expected in refused("review", str(file))
