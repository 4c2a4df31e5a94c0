"""``aleazero engine`` as a process: answers, errors, cancelling, clients that misbehave."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from engine_process import SECONDS, EngineProcess

import aleazero
from aleazero import Planner, Search, SearchConfig
from aleazero.games.kit import ReviewThresholds
from aleazero.serving import engine as engine_module
from aleazero.serving.engine import Outbox, read_lines
from aleazero.serving.judge import make_judge
from aleazero.serving.ledger import ledger_of, thresholds_of

PIG = "pig(target=20)"
GAME_FILE = '''"""Games with bad rules."""
import os, sys, time

class Race:
    """Two players add 1 or 2 in turn; the rules misbehave after some moves."""
    num_players, num_actions = 2, 3
    def __init__(self): self.moves = []
    def current_player(self): return len(self.moves) % 2 if len(self.moves) < 6 else -4
    def legal_actions(self): return [0, 1, 2] if len(self.moves) < 6 else []
    def apply_action(self, action):
        self.moves.append(action)
        if self.moves == [2, 0]: raise ValueError("no such move")
        if self.moves == [2, 1]: os._exit(3)
        if self.moves == [2, 2]:
            while True: pass
        if self.moves == [1, 1]: print("noise from the rules")
    def returns(self): return [1.0, -1.0]
    def clone(self):
        other = Race(); other.moves = list(self.moves); return other
'''


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    file = tmp_path_factory.mktemp("rules") / "bad_rules.py"
    file.write_text(GAME_FILE)
    limits = ("--limit", "seconds=2", "--limit", "tree_nodes=200")
    with EngineProcess("--game-file", f"bad={file}:Race", *limits) as process:
        yield process


def test_hello_has_version_requests_limits_and_names(engine):
    assert engine.hello["kind"] == "hello"
    assert engine.hello["version"] == 1
    assert engine.hello["aleazero"] == aleazero.__version__
    assert engine.hello["limits"]["seconds"] == 2
    assert engine.hello["games"] == ["bad"]
    assert engine.ask(request="version")["result"].keys() == engine.hello.keys() - {"version", "kind"}


def test_analyse_equals_search_run(engine):
    game = aleazero.load_game(PIG)
    state = game.state_from_text("3-12 turn 7")
    for seed in (0, 7):
        line = engine.ask(request="analyse", game=PIG, position="3-12 turn 7", sims=500, seed=seed)
        direct = Search(game, "rollout", SearchConfig(num_simulations=500)).run(state, seed=seed).to_dict()
        assert {key: line["result"][key] for key in direct} == json.loads(json.dumps(direct))
        assert line["result"]["action_names"] == ["roll", "hold"]


def test_plan_equals_planner(engine):
    game = aleazero.load_game(PIG)
    line = engine.ask(request="plan", game="pig", params={"target": 20}, moves=["roll", 5], seed=3)
    direct = Planner(game, "rollout", seed=3).run(game.state_from_text("0-0 turn 5")).to_dict()
    assert {key: line["result"][key] for key in direct} == json.loads(json.dumps(direct))


def test_partial_results_come_before_the_result(engine):
    engine.send("p", request="analyse", game=PIG, moves="roll 5", seconds=1.0, report_every=0.1)
    lines = [engine.take()]
    while lines[-1]["kind"] == "partial":
        lines.append(engine.take())
    assert [line["kind"] for line in lines[:-1]] == ["partial"] * (len(lines) - 1)
    assert len(lines) >= 2
    counts = [line["result"]["simulations"] for line in lines[:-1]]
    assert counts == sorted(counts)
    assert lines[-1]["result"]["stopped"] == "seconds"


def test_cancel_a_running_and_a_waiting_request(engine):
    engine.send("long", request="analyse", game=PIG, moves="roll 5", sims=10_000_000, report_every=0.1)
    assert engine.take()["kind"] == "partial"
    engine.send("waits", request="analyse", game=PIG, sims=10_000_000)
    engine.send("long", request="legal", game=PIG)
    engine.send("c1", request="cancel", target="waits")
    engine.send("c2", request="cancel", target="long")
    lines = [engine.take() for _ in range(5)]
    lines = [line for line in lines if line["kind"] != "partial"]
    while len(lines) < 5:
        line = engine.take()
        lines += [line] if line["kind"] != "partial" else []
    by_code = {(line["id"], line.get("code", line["kind"])): line for line in lines}
    assert by_code.keys() == {
        ("long", "duplicate_id"), ("waits", "cancelled"), ("c1", "result"), ("c2", "result"), ("long", "cancelled"),
    }  # fmt: skip
    assert by_code["waits", "cancelled"]["result"] is None
    assert by_code["long", "cancelled"]["result"]["stopped"] == "interrupted"
    assert engine.ask(request="cancel", target="long")["code"] == "unknown_id"


def test_a_running_id_is_not_ended_by_another_request(engine):
    engine.send("one", request="analyse", game=PIG, moves="roll 5", sims=10_000_000, report_every=0.1)
    assert engine.take()["kind"] == "partial"
    engine.send("one", request="cancel", target="one")
    engine.send("one", request="analyse", sims=-1)
    engine.send("two", request="cancel", target="nobody")
    engine.send("three", request="cancel", target="one")
    lines = []
    while len(lines) < 5:
        line = engine.take()
        lines += [(line["id"], line.get("code", line["kind"]))] if line["kind"] != "partial" else []
    assert lines[:4] == [("one", "duplicate_id"), ("one", "duplicate_id"), ("two", "unknown_id"), ("three", "result")]
    assert lines[4] == ("one", "cancelled")


def test_review_equals_the_ledger(engine):
    game = aleazero.load_game(PIG)
    line = engine.ask(request="review", game=PIG, moves="roll 5 hold roll 6 roll 6 hold", error=0.01)["result"]
    steps = [(0, 0), (-1, 5), (0, 1), (1, 0), (-1, 6), (1, 0), (-1, 6), (1, 1)]
    thresholds = ReviewThresholds(0.01, thresholds_of(game).blunder)
    direct = ledger_of(game.new_initial_state(), steps, make_judge(game), thresholds).to_dict()
    assert {key: line[key] for key in direct} == json.loads(json.dumps(direct))
    searched = engine.ask(request="review", game=PIG, moves="roll 5 hold", sims=50)["result"]
    assert (searched["judge"], searched["exact"]) == ("search:sims=50", False)


def test_a_killed_worker_is_an_error_of_its_request(engine):
    engine.send("killed", request="analyse", game=PIG, moves="roll 5", sims=10_000_000, report_every=0.1)
    assert engine.take()["kind"] == "partial"
    os.kill(worker_of(engine), signal.SIGKILL)
    assert engine.finish("killed")["killed"]["code"] == "crashed"
    assert engine.ask(request="games")["kind"] == "result"


def worker_of(engine):
    found = subprocess.run(["pgrep", "-n", "-P", str(engine.process.pid)], capture_output=True, text=True, check=True)
    return int(found.stdout)


def test_bad_lines_get_errors_and_the_engine_lives_on(engine):
    deep = b"[" * 500 + b"]" * 500
    for line in (b"garbage", b"\xff\xfe\x00", b'"text"', b"null", b"[]", deep, b'{"id": 3}', b'{"request": []}',
                 b'{"request": "nope"}', b'{"request": "games", "extra": 1}', b'{"request": "games", "version": 2}',
                 b'{"request": "legal", "game": 3}', b'{"request": "games", "priority": NaN}',
                 b'{"request": "games", "id": ""}', b"1" * 5_000):  # fmt: skip
        engine.write(line + b"\n\n  \n")
        answer = engine.take()
        assert answer["kind"] == "error", line
        assert answer["code"] in ("bad_line", "bad_request")
        assert "\n" not in answer["message"]
    engine.write(b'{"id": "huge", "game": "' + b"x" * 5_000_000 + b'"}\n')
    assert engine.take()["message"] == "the line has more than 4,000,000 bytes, expected fewer"
    assert engine.ask("alive", request="games")["kind"] == "result"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sims": 10**9}, "sims is 1,000,000,000, expected at most 10,000,000"),
        ({"sims": 10**19}, "sims is"),
        ({"seconds": 1e9}, "seconds is 1,000,000,000.0, expected at most 2.0"),
        ({"nodes": 10**9}, "nodes is 1,000,000,000, expected at most 10,000,000"),
        ({"seed": -1}, "seed is -1, expected greater than or equal to 0"),
        ({"report_every": 0.001}, "report_every is 0.001, expected greater than or equal to 0.1"),
        ({"simulations": 3}, "no setting 'simulations'"),
        ({"game": "/etc/passwd"}, "game is '/etc/passwd', expected the name of a game"),
        ({"game": "x.py"}, "expected the name of a game; a game file has to be named when the server is started"),
        ({"game": "openspiel:pig"}, "expected the name of a game"),
        ({"game": "pgi"}, "no game 'pgi', did you mean pig?"),
        ({"game": "pig(target=1"}, "cannot read the game"),
        ({"params": {"target": 3}}, "which is also given as a parameter"),
        ({"params": {"target": None}}, "params.target is None, expected a valid boolean or a valid integer or"),
        ({"moves": {"a": 1}}, "moves is {'a': 1}, expected a valid string or a valid list"),
        ({"evaluator": "net:/etc/passwd"}, "evaluator is 'net:/etc/passwd', no such network, known: champion, dummy"),
        ({"evaluator": "bearoff:net:/etc/passwd"}, "expected no colon after 'bearoff'"),
        ({"evaluator": "nothing"}, "evaluator is 'nothing'"),
        ({"position": "no position"}, "no position"),
        ({"moves": "roll 9"}, "move 2: "),
        ({"moves": [10**12]}, "move 1: "),
        ({"actions": [5]}, "5"),
        ({"moves": [0] * 20_001}, "number of moves is 20,001, expected at most 20,000"),
    ],
)
def test_invalid_requests_get_one_line(engine, fields, message):
    line = engine.ask(**{"request": "analyse", "game": PIG} | fields)
    assert (line["kind"], line["code"]) == ("error", "bad_request")
    assert message in line["message"]
    assert "\n" not in line["message"]


def test_rules_that_raise_loop_print_or_exit(engine):
    def legal(*moves):
        return engine.ask(request="legal", game="bad", moves=list(moves))

    assert [one["action"] for one in legal(1, 1)["result"]["actions"]] == [0, 1, 2]
    raised = legal(2, 0)
    assert raised["code"] == "rules"
    assert raised["message"] == "bad: the rules raised ValueError: no such move"
    assert legal(2, 1)["code"] == "crashed"
    assert legal(0)["kind"] == "result"
    looped = legal(2, 2)
    assert (looped["code"], looped["kind"]) == ("timeout", "error")
    assert legal(0)["kind"] == "result"


def test_evaluate_legal_apply_and_games(engine):
    exact = engine.ask(request="evaluate", game=PIG, evaluator="oracle", positions=["0-0 turn 5", "3-4 turn 7"])
    oracle, game = aleazero.oracle_of(aleazero.load_game(PIG)), aleazero.load_game(PIG)
    first = exact["result"]["positions"][0]
    assert first["value"] == oracle.values(game.state_from_text("0-0 turn 5")).tolist()
    assert first["q"] == list(oracle.action_values(game.state_from_text("0-0 turn 5")).values())
    playouts = engine.ask(request="evaluate", game=PIG, moves="roll 5", evaluator="rollout:50", seed=4)["result"]
    direct = Search(game, "rollout:50", SearchConfig(num_simulations=1, max_evaluations=1))
    assert playouts["positions"][0]["value"] == direct.run(game.state_from_text("0-0 turn 5"), seed=4).value.tolist()
    rolling = engine.ask(request="evaluate", game=PIG, moves="roll", seed=4)["result"]["positions"][0]
    assert (
        rolling["value"]
        == Planner(game, "rollout", plies=1, seed=4).run(game.state_from_text("0-0 turn 0 rolling")).value.tolist()
    )
    legal = engine.ask(request="legal", game=PIG, moves="roll 5")["result"]
    assert legal["actions"] == [{"action": 0, "name": "roll"}, {"action": 1, "name": "hold"}]
    assert len(engine.ask(request="legal", game=PIG, moves="roll")["result"]["outcomes"]) == 6
    assert "pig" in engine.ask(request="games")["result"]["games"]
    assert engine.ask(request="games", game="pig")["result"]["params"] == {"target": 100}


def test_apply_draws_the_dice_of_a_session(engine):
    from aleazero.serving.session import Session

    session = Session(aleazero.load_game(PIG).new_initial_state(), seed=11)
    moves = []
    for _ in range(4):
        session.act(0)
        session.draw_all()
        line = engine.ask(request="apply", game=PIG, moves=[*moves, 0], draw=True, seed=11)["result"]
        moves = [step["action"] for step in line["applied"]]
        assert line["position"] == session.state.to_text()


def test_the_tree_is_cut_at_its_limit(engine):
    full = engine.ask(request="analyse", game=PIG, moves="roll 5", sims=300, tree_depth=2, tree_top=100)["result"]
    game = aleazero.load_game(PIG)
    result = Search(game, "rollout", SearchConfig(num_simulations=300)).run(game.state_from_text("0-0 turn 5"))
    assert full["tree_complete"]
    assert full["tree"] == json.loads(result.tree(2).to_json())
    cut = engine.ask(request="analyse", game=PIG, moves="roll 5", sims=300, tree_depth=60)["result"]
    count = len(json.dumps(cut["tree"]).split('"children"')) - 1
    assert (count, cut["tree_complete"]) == (200, False)


def test_end_of_input_finishes_all_requests():
    with EngineProcess() as engine:
        for number in range(6):
            engine.send(f"n{number}", request="games")
        engine.write(b'{"id": "last", "request": "games"}')  # no line feed
        assert {line["id"] for line in engine.rest()} == {*(f"n{number}" for number in range(6)), "last"}


def test_ctrl_c_ends_the_engine_and_its_workers():
    with EngineProcess() as engine:
        engine.send("a", request="analyse", game=PIG, moves="roll 5", sims=10_000_000, report_every=0.1)
        assert engine.take()["kind"] == "partial"
        engine.process.send_signal(signal.SIGINT)
        assert engine.process.wait(timeout=SECONDS) == 130


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads the state of a process in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_engine(number, tmp_path):
    file = tmp_path / "rules.py"
    file.write_text(GAME_FILE)
    with EngineProcess("--game-file", f"bad={file}:Race") as engine:
        engine.send("a", request="legal", game="bad", moves=[2, 2])
        while engine.ask("v", request="version")["result"]["status"]["running"] == 0:
            time.sleep(0.1)
        worker = worker_of(engine)
        engine.process.send_signal(number)
        assert engine.process.wait(timeout=SECONDS) == -number
        end = time.monotonic() + SECONDS
        while (state := state_of(worker)) not in ("", "Z") and time.monotonic() < end:
            time.sleep(0.05)
        assert state in ("", "Z")


def state_of(pid):
    """Return the state of a process, e.g. R, S or Z; empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("streams", "message"),
    [
        ("<&-", "error: stdin or stdout is closed, expected requests on stdin and a reader of stdout\n"),
        (">&- </dev/null", "error: stdin or stdout is closed, expected requests on stdin and a reader of stdout\n"),
        ("</dev/null >/dev/full", "error: the answers cannot be written: No space left on device\n"),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_streams_that_cannot_be_used_are_one_line(streams, message):
    command = f"{sys.executable} -m aleazero engine --workers 1 {streams}"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=SECONDS)
    assert (ran.returncode, ran.stderr) == (2, message)


def test_networks_have_the_names_of_the_command_line():
    net = Path(aleazero.__file__).parent / "champions" / "yatzy_2.safetensors"
    with EngineProcess("--net", f"mine={net}") as engine:
        assert engine.hello["nets"] == ["mine"]
        line = engine.ask(request="analyse", game=PIG, evaluator="net:mine", sims=5)
        assert line["code"] == "bad_request"
        assert "yatzy" in line["message"]


@pytest.mark.parametrize("rest", [b"garbage\n", b""])
def test_a_client_that_closes_its_end_of_the_output_ends_the_engine(rest):
    """The engine notices it also if it has nothing to write."""
    with EngineProcess(reads=False) as engine:
        engine.process.stdout.readline()
        engine.process.stdout.close()
        engine.write(rest)
        assert engine.process.wait(timeout=SECONDS) == 0


@pytest.mark.long
def test_a_client_that_never_reads_bounds_the_memory_and_loses_nothing():
    """The answers of 60 requests have about 60 MB. The engine holds some of them and waits for the client."""
    with EngineProcess("--limit", "tree_nodes=6000", reads=False) as engine:
        for number in range(60):
            engine.send(f"n{number}", request="analyse", game=PIG, moves="roll 5", seed=number, sims=8000,
                        tree_depth=60, tree_top=100, report_every=0.1)  # fmt: skip
        status, seen = Path(f"/proc/{engine.process.pid}/status"), []
        while len(seen) < 4 or len(set(seen[-4:])) > 1:  # until the engine does nothing for 2 s
            time.sleep(0.5)
            seen.append(_cpu_ticks(engine.process.pid) if status.exists() else 0)
        if status.exists():
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            assert int(fields["VmRSS"].split()[0]) < 130_000
        engine.start_reading()
        assert engine.take()["kind"] == "hello"
        answers = engine.finish(*(f"n{number}" for number in range(60)))
        assert sum(len(json.dumps(line)) for line in answers.values()) > 40_000_000


def _cpu_ticks(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])


def test_the_outbox_waits_for_its_reader_and_drops_partial_results():
    reading, writing = os.pipe()
    outbox = Outbox(writing, most=1000)
    sent = threading.Thread(target=lambda: [outbox.put(b"%063d\n" % number) for number in range(3000)], daemon=True)
    sent.start()
    sent.join(0.5)
    assert sent.is_alive()  # a pipe holds 64 KiB, the outbox 1000 bytes
    outbox.offer(b"partial\n")
    got = b""
    while len(got) < 64 * 3000:
        got += os.read(reading, 65536)
    assert got == b"".join(b"%063d\n" % number for number in range(3000))
    outbox.flush()
    os.close(reading)
    select.select([outbox.gone], [], [], SECONDS)
    assert outbox.closed
    outbox.put(b"dropped\n" * 1000)
    outbox.put(b"dropped\n" * 1000)
    os.close(writing)


def test_the_outbox_waits_for_a_pipe_that_does_not_block():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    outbox = Outbox(writing)
    lines = b"".join(b"%063d\n" % number for number in range(5000))
    outbox.put(lines)
    got = b""
    while len(got) < len(lines):
        got += os.read(reading, 65536)
    assert got == lines
    assert not outbox.closed
    outbox.close()


def test_lines_are_bounded_and_may_come_in_pieces(monkeypatch):
    monkeypatch.setattr(engine_module, "LONGEST_LINE", 10)
    reading, writing = os.pipe()
    never, _ = os.pipe()
    lines = read_lines(reading, never)
    os.write(writing, b"ab")
    threading.Timer(0.1, os.write, (writing, b"c\n\n \n" + b"x" * 11 + b"\nnext\n" + b"y" * 100)).start()
    assert [next(lines) for _ in range(4)] == [b"abc", None, b"next", None]
    os.write(writing, b"z" * 100 + b"\nlast")
    os.close(writing)
    assert list(lines) == [b"last"]
