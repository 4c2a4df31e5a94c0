from __future__ import annotations

import re
from pathlib import Path

import pytest

import aleazero
from aleazero.cli.terminal_game import TerminalGame
from aleazero.native.random import PLAYED_SEARCHES, stream_key
from aleazero.players import make
from aleazero.players.search import SearchPlayer
from aleazero.serving.session import Session

BUST = str(Path(__file__).parents[3] / "examples" / "bust.py")
WATCH = ("--watch", "--sims", "50", "--seed", "5")


def test_a_watched_game_is_printed_move_by_move(run):
    result = run("play", "dice_game", *WATCH)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    moves = [line for line in lines if " player 0 " in line and ("roll" in line or "stop" in line)]
    assert len(moves) >= 4
    assert moves[0].split()[:4] == ["1", "player", "0", "roll"]
    assert lines[-1].startswith("the game is over: 2")


def test_the_record_replays_with_the_dice_of_the_seed(run_json):
    record = run_json("play", "pig", "--position", "70-80", *WATCH)
    assert record["complete"] is True
    assert sorted(record["returns"]) == [-1.0, 1.0]
    state = aleazero.load_game("pig").state_from_text(record["start"])
    counts = {0: 0, 1: 0}
    for step in record["steps"]:
        if step["kind"] == "chance":
            viewer = state.viewer()
            assert step["outcome"] == aleazero.played_outcome(state, 5, counts[viewer])
            assert (step["viewer"], step["count"]) == (viewer, counts[viewer])
            counts[viewer] += 1
            state.apply_action(step["outcome"])
        else:
            forced = len(state.legal_actions()) == 1
            assert step["player"] == state.current_player()
            assert (step["value"] is None, step["simulations"]) == (forced, 0 if forced else 50)
            state.apply_action(step["action"])
        assert state.to_text() == step["position"]
    assert state.is_terminal()


def test_same_seed_same_game_other_seed_another(run_json):
    words = ("play", "dice_game", "--watch", "--sims", "20", "--temperature", "1")
    first, again, other = (run_json(*words, "--seed", seed)["steps"] for seed in ("1", "1", "2"))
    assert first == again
    assert first != other


def test_without_a_seed_a_new_one_is_drawn_and_shown(run_json):
    seeds = {run_json("play", "dice_game", "--watch", "--sims", "5")["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_searches_do_not_share_seeds(run, monkeypatch):
    seen = []
    original = aleazero.Search.run

    def spy(self, state, actions=None, seed=None):
        if self.config.max_seconds is None:  # the one that compiles has a limit
            seen.append(seed)
        return original(self, state, actions, seed)

    monkeypatch.setattr(aleazero.Search, "run", spy)
    assert run("play", "dice_game", *WATCH).exit_code == 0
    assert len(seen) == len(set(seen)) >= 4
    assert 5 not in seen


def test_you_play_by_name_and_by_id(run):
    result = run("play", "dice_game", "--seed", "5", stdin="roll\n0\nstop\n")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("you       roll") == 2
    assert "you       stop" in result.stdout
    assert "the game is over: " in result.stdout


def test_an_illegal_move_can_be_typed_again(run):
    result = run("play", "dice_game", "--seed", "5", stdin="fly\n7\n\nstop\n")
    assert result.exit_code == 0
    assert "no action 'fly' here, expected one of roll (0), stop (1)" in result.stdout
    assert "action 7 is illegal here" in result.stdout
    assert "the game is over: 0.00" in result.stdout


def test_a_question_mark_shows_a_search(run):
    result = run("play", "dice_game", "--seed", "5", "--sims", "100", stdin="?\nq\n")
    assert "100 simulations" in result.stdout
    assert "*  roll" in result.stdout
    assert result.stdout.rstrip().endswith("stopped after 0 moves")


def test_enter_plays_the_only_move(run):
    result = run("play", "pig", "--seed", "5", "--sims", "20", stdin="\nq\n")
    assert "you       roll" in result.stdout


def test_the_user_can_take_the_second_seat(run):
    result = run("play", "pig", "--seat", "1", "--seed", "5", "--sims", "20", stdin="q\n")
    assert "player 0  roll" in result.stdout
    assert "you are player 1" in result.stdout


@pytest.mark.parametrize("stdin", ["q\n", "", "roll\n"])
def test_q_and_the_end_of_input_end_cleanly(run, stdin):
    result = run("play", "dice_game", "--seed", "5", stdin=stdin)
    assert result.exit_code == 0
    assert "stopped after" in result.stdout
    assert "Traceback" not in result.output


def test_ctrl_c_ends_cleanly(run, run_json, monkeypatch):
    def interrupt(self, state, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(SearchPlayer, "explain", interrupt)
    result = run("play", "dice_game", *WATCH)
    assert (result.exit_code, result.exception) == (0, None)
    assert "stopped after 0 moves" in result.stdout
    assert run_json("play", "dice_game", *WATCH)["complete"] is False


def test_an_interrupted_search_plays_no_move(monkeypatch, run_json):
    import dataclasses

    original = SearchPlayer.explain
    monkeypatch.setattr(
        SearchPlayer,
        "explain",
        lambda self, state, seed: dataclasses.replace(original(self, state, seed), stopped="interrupted"),
    )
    record = run_json("play", "dice_game", *WATCH)
    assert (record["complete"], record["steps"]) == (False, [])


def test_each_line_has_the_rolls_of_one_player(run, run_json):
    """In bust, the roll of the next player follows a bust or a stop without a decision."""
    words = ("play", BUST, "-p", "target=12", "--watch", "--seed", "2", "--opponent", "random")
    steps = run_json(*words)["steps"]
    text = run(*words).stdout
    rows = [re.match(r"[ \d]{5}player (\d) +(roll|stop)? +((?:\(\w+\) ?)*)", line) for line in text.splitlines()]
    lines = [(int(row[1]), row[2], re.findall(r"\w+", row[3])) for row in rows if row is not None]
    shown = [(player, name) for player, action, rolls in lines for name in ([action] if action else []) + rolls]
    assert shown == [(step["player"] if step["kind"] == "decision" else step["viewer"], step["name"]) for step in steps]
    assert any(rolls[:1] == ["bust"] for _, _, rolls in lines)


def test_chance_at_the_start_is_played_first(run, coin_file):
    words = ("play", coin_file(), "--moves", "[heads]", "--watch", "--seed", "1")
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "chance" in result.stdout
    assert "the game is over" in result.stdout


def test_a_users_rules_that_raise_are_one_line(run, coin_file):
    result = run("play", coin_file(step="1 / 0"), "--watch", "--sims", "5")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "ZeroDivisionError" in result.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pgi",), "no game 'pgi'"),
        (("pig", "--seat", "2"), "--seat is 2, expected a seat from 0 to 1"),
        (("pig", "--json"), "--json requires --watch"),
        (("pig", "--watch", "--sims", "0"), "--sims is 0"),
        (("dice_game", "--position", "21 over"), "the game is over"),
        (("dice_game", "--moves", "fly"), "no action 'fly'"),
        (("dice_game", "--opponent", "net:none.safetensors"), "no network at 'none.safetensors'"),
    ],
)
def test_bad_input_is_one_line(refused, words, expected):
    assert expected in refused("play", *words)


def test_networks_play(run_json):
    for engine in ("net:dummy,sims=0", "net:dummy,sims=3"):
        record = run_json("play", "dice_game", "--watch", "--opponent", engine, "--seed", "1")
        assert (record["complete"], record["engine"]) == (True, engine)
    record = run_json("play", "dice_game", "--watch", "--opponent", "net:dummy", "--sims", "3", "--seed", "1")
    assert (record["engine"], record["simulations"]) == ("net:dummy,sims=3", 3)


def test_two_people_share_a_terminal(run):
    result = run("play", "tic_tac_toe", "--opponent", "human", "--position", "xx./oo./...", stdin="8\n5\n")
    assert result.exit_code == 0, result.output
    assert "player 1, your move" in result.stdout
    assert "the players share this terminal" in result.stdout


def test_a_silent_game_prints_nothing(capsys):
    from aleazero.cli.show import make_console

    game = aleazero.load_game("dice_game")
    player = aleazero.make_player("search:sims=5", game)
    session = Session(game.new_initial_state(), 1, {0: player})
    assert TerminalGame(session, player, make_console(), silent=True).play()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("engine", "simulations", "chance"),
    [
        ("search", 200, "sampling"),
        ("search:evaluations=50", 500, "sampling"),
        ("search:evaluator=oracle", 200, "stratified"),
        ("net:dummy", 64, "stratified"),
    ],
)
def test_a_spec_has_the_settings_of_make_player(run_json, engine, simulations, chance):
    game = aleazero.load_game("dice_game")
    config = aleazero.make_player(engine, game).config
    record = run_json("play", "dice_game", "--watch", "--seed", "1", "--opponent", engine)
    assert (record["engine"], record["simulations"], record["chance"]) == (engine, simulations, chance)
    assert config.num_simulations == simulations


@pytest.mark.parametrize("engine", ["search:sims=40", "plan:horizon=turn,evaluator=uniform", "plan:plies=1", "greedy"])
def test_it_plays_what_the_player_selects(run_json, engine):
    record = run_json("play", "pig", "--position", "70-70", "--watch", "--seed", "3", "--opponent", engine)
    game = aleazero.load_game("pig")
    player, state = aleazero.make_player(engine, game), game.state_from_text("70-70")
    for step in record["steps"]:
        if step["kind"] == "decision":
            assert player.select(state, stream_key(PLAYED_SEARCHES, 3, state.current_player())) == step["action"]
        state.apply_action(step["outcome"] if step["kind"] == "chance" else step["action"])
    assert state.is_terminal()


@pytest.mark.parametrize("spec", ["search", "search:evaluations=50,chance=open", "net:dummy,sims=3", "plan", "greedy"])
def test_play_and_match_seat_the_same_player(run, monkeypatch, spec):
    made = []
    original = make.make_player

    def spy(text, game, **more):
        made.append(original(text, game, **more))
        return made[-1]

    for module in ("aleazero.players.make", "aleazero.evaluation.pairs"):
        monkeypatch.setattr(f"{module}.make_player", spy)
    assert run("play", "dice_game", "--opponent", spec, "--watch", "--seed", "1").exit_code == 0
    assert run("match", "dice_game", spec, "random", "--pairs", "1").exit_code == 0
    played, matched, _ = made
    assert type(played) is type(matched)
    for name in ("config", "chance", "_settings"):
        assert getattr(played, name, None) == getattr(matched, name, None)
    for name in ("_evaluator", "_net"):
        assert type(getattr(played, name, None)) is type(getattr(matched, name, None))


def test_evaluations_alone_end_near_the_end_of_a_game(run_json):
    words = ("play", "tic_tac_toe", "--watch", "--seed", "1", "--opponent", "search:evaluations=20")
    assert run_json(*words)["complete"] is True


def test_the_computers_player_is_shown(run, run_json):
    assert "computer: search:sims=2000" in run("play", "dice_game", "--seed", "1", stdin="q\n").stdout
    assert run_json("play", "dice_game", "--watch", "--seed", "1")["engine"] == "search:sims=2000"
    record = run_json("play", "dice_game", "--watch", "--seed", "1", "--evaluations", "9", "--c", "2")
    assert (record["engine"], record["simulations"]) == ("search:evaluations=9,c=2.0", 90)


def test_a_time_limit(run_json):
    record = run_json("play", "dice_game", "--watch", "--seed", "1", "--seconds", "0.01")
    assert record["complete"] is True
    assert all(step["simulations"] > 0 for step in record["steps"] if step["kind"] == "decision")


def test_a_players_file_that_fails_is_one_line(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def first(state, seed):\n    return state.legal_actions()[0]\n\n"
                                      "def broken(state, seed):\n    return 1 // 0\n")  # fmt: skip
    assert run("play", "tic_tac_toe", "--watch", "--opponent", "mine.py:first").exit_code == 0
    for words in (("play", "tic_tac_toe", "--watch", "--opponent", "mine.py:broken"),
                  ("match", "tic_tac_toe", "mine.py:broken", "random", "--pairs", "1"),
                  ("gate", "tic_tac_toe", "random", "mine.py:broken"),
                  ("evaluate", "strength", "tic_tac_toe", "mine.py:broken", "--pairs", "2")):  # fmt: skip
        result = run(*words)
        assert result.exit_code == 2
        assert result.stderr.count("error: player mine.py:broken raised ZeroDivisionError") == 1
        assert "Traceback" not in result.output


BACKGAMMON = ("play", "backgammon", "--opponent", "random", "--seed", "3", "--position")


def user_moves(result):
    """Return the lines of the user's moves."""
    return [line for line in result.stdout.splitlines() if re.match(r"(> )? +[0-9]+ you ", line)]


def test_a_double_is_typed_in_one_line(run):
    for player in (0, 1):
        position = f"4HPwATDgc/ABMA player {player} dice 6-6"
        result = run(*BACKGAMMON, position, "--seat", str(player), stdin="13/7(2) 24/18(2)\nq\n")
        moves = user_moves(result)
        assert len(moves) == 2
        assert "24/18(2)" in moves[0]
        assert "13/7(2)" in moves[1]


def test_half_of_a_double_or_an_id_can_be_typed(run):
    result = run(*BACKGAMMON, "4HPwATDgc/ABMA dice 6-6", stdin="24/18(2)\n13/8\n351\nq\n")
    moves = user_moves(result)
    assert "24/18(2)" in moves[0]
    assert "the last two half-moves" in result.stdout
    assert "'13/8' is not legal with 6-6, expected one of 8/2(2), 13/7 8/2, 13/7(2)" in result.stdout
    assert "13/7(2)" in moves[1]


def test_plays_are_explained_and_listed_on_demand(run):
    result = run(*BACKGAMMON, "4HPwATDgc/ABMA dice 6-6", stdin="l\n\n8/3 9/2\nq\n")
    assert "you are player 0: type a move such as 8/5 6/5" in result.stdout
    assert "your move, e.g. 13/7 8/2(3) (l lists all):" in result.stdout
    assert "24/18(2) 13/7(2)" in result.stdout.split("l lists all")[1]
    assert "'8/3 9/2' is not legal with 6-6, expected a move that begins with 8/2(2), " in result.stdout
    other = run("play", "pig", "--opponent", "random", stdin="l\nq\n").stdout
    assert "l for a list" not in other
    assert "no action 'l' here" in other


def test_a_forced_pass_and_a_win_by_several_points(run):
    result = run(*BACKGAMMON, "27YdAADg/wcAQA dice 2-1", stdin="\nq\n")
    assert "your only move is pass: press Enter" in result.stdout
    assert "1 you       pass" in result.stdout
    won = run(*BACKGAMMON, "/38AAAABAAAAAA dice 2-1", stdin="\n").stdout
    assert "the game is over, you win 2 points (a gammon)" in won.splitlines()
    lost = run(*BACKGAMMON, "/38AAAABAAAAAA dice 2-1", "--seat", "1").stdout
    assert "the game is over, player 0 wins 2 points (a gammon)" in lost.splitlines()
