"""The process pool, with tasks that do not depend on games."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import aleazero
from aleazero.errors import AleaZeroError, GameError
from aleazero.processes import Pool, children_ignore_ctrl_c, open_pool


def square(job, items):
    for item in items:
        yield item, (job, item * item, os.getpid())


def slow(seconds, items):
    for item in items:
        time.sleep(seconds)
        yield item, os.getpid()


def all_at_once(job, items):
    """Take all items before the first result."""
    yield from reversed([(item, None) for item in items])


def note(folder, items):
    """Write a file for every item that is begun, and one for every item that is finished."""
    for item in items:
        Path(folder, f"begun_{item}").touch()
        time.sleep(0.3)
        Path(folder, f"finished_{item}").touch()
        yield item, None


def die(job, items):
    """Die with one of the items, the first times or always."""
    folder, bad, times = job
    for item in items:
        if item == bad and len(list(Path(folder).iterdir())) < times:
            Path(folder, str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield item, os.getpid()


def fail(error, items):
    for item in items:
        if item == 3:
            raise error
        yield item, item


def give_up(job, items):
    next(items)
    yield from ()


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as found:
        yield found


def test_every_item_has_a_result_and_processes_are_kept(pool):
    found = dict(pool.run(square, "job", range(20)))
    assert {item: result[:2] for item, result in found.items()} == {item: ("job", item * item) for item in range(20)}
    before = pool.process_ids
    assert len(before) == 2
    again = dict(pool.run(square, "other", [7]))
    assert again[7][:2] == ("other", 49)
    assert pool.process_ids == before
    assert dict(pool.run(all_at_once, None, range(30))) == dict.fromkeys(range(30))
    assert list(pool.run(square, "job", [])) == []


def test_processes_are_started_on_demand():
    with Pool(3) as fresh:
        assert fresh.process_ids == []
        assert [item for item, _ in fresh.run(slow, 0.0, [1])] == [1]
        assert len(fresh.process_ids) == 1
    with pytest.raises(aleazero.ConfigError, match="workers is 0, expected at least 1"):
        Pool(0)


def test_both_workers_have_work(pool):
    assert len({who for _, who in pool.run(slow, 0.02, range(20))}) == 2


def test_closing_a_run_drops_waiting_items_but_not_those_in_progress(pool, tmp_path):
    before = set(pool.process_ids)
    run = pool.run(note, str(tmp_path), range(50))
    next(run)
    began = time.monotonic()
    run.close()
    assert time.monotonic() - began < 0.2  # closing does not wait
    assert len(dict(pool.run(square, "job", range(5)))) == 5  # the next run has only its own results
    time.sleep(1)
    begun, finished = (len(list(tmp_path.glob(f"{kind}_*"))) for kind in ("begun", "finished"))
    assert begun == finished <= 4
    assert set(pool.process_ids) == before


def test_one_run_at_a_time(pool):
    first = pool.run(slow, 0.0, range(5))
    next(first)
    with pytest.raises(RuntimeError, match="expected one run at a time"):
        next(pool.run(slow, 0.0, range(5)))
    first.close()
    assert len(list(pool.run(slow, 0.0, range(5)))) == 5


def test_a_worker_that_dies_is_replaced_and_its_items_are_run_again(pool, tmp_path):
    before = set(pool.process_ids)
    assert sorted(item for item, _ in pool.run(die, (str(tmp_path), 5, 2), range(12))) == list(range(12))
    assert len(list(tmp_path.iterdir())) == 2
    assert before - set(pool.process_ids)


def test_an_item_that_kills_every_worker_is_an_error(pool, tmp_path):
    with pytest.raises(AleaZeroError, match=r"3 workers died with the same item \(exit code -9\), .* one of \[.*5"):
        list(pool.run(die, (str(tmp_path), 5, 100), range(12)))
    assert len(list(tmp_path.iterdir())) == 3
    assert len(list(pool.run(square, "job", range(5)))) == 5


def test_a_worker_that_died_between_runs_is_replaced(pool):
    list(pool.run(slow, 0.02, range(8)))
    for process in pool.process_ids:
        os.kill(process, signal.SIGKILL)
    assert len(list(pool.run(slow, 0.0, range(8)))) == 8


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (GameError("no such game"), GameError, "^no such game$"),
        (KeyError("x"), KeyError, "^'x'"),
        (FileNotFoundError(2, "No such file"), FileNotFoundError, "No such file"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), RuntimeError, "UnicodeDecodeError: .*bad"),
    ],
    ids=repr,
)
def test_an_error_of_a_task_is_raised_in_the_caller(pool, error, kind, message):
    before = pool.process_ids
    with pytest.raises(kind, match=message) as caught:
        list(pool.run(fail, error, range(6)))
    noted = "\n".join(getattr(caught.value, "__notes__", []))
    assert ("in fail" in noted) is (kind is not GameError)
    assert len(list(pool.run(square, "job", range(5)))) == 5
    assert set(before) <= set(pool.process_ids)


def test_a_task_that_returns_early_is_an_error(pool):
    with pytest.raises(RuntimeError, match=r"without a result for \[1\]"):
        list(pool.run(give_up, None, [1]))


def test_a_given_pool_stays_open(pool):
    with open_pool(pool) as same:
        assert same is pool
    assert len(list(pool.run(square, "job", range(2)))) == 2
    with open_pool(1) as other:
        assert len(list(other.run(square, "job", range(2)))) == 2
    assert other.process_ids == []


UNGUARDED = """
from aleazero.processes import Pool
from aleazero.evaluation.pairs import play_contest

with Pool(2) as pool:
    next(pool.run(play_contest, None, range(4)))
"""


def test_the_error_for_a_script_whose_workers_never_start(tmp_path):
    """Each worker runs the script again, and dies because it starts workers itself."""
    (tmp_path / "script.py").write_text(UNGUARDED, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert 'needs `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]


PARENT = """
import time
from aleazero.processes import Pool
from test_processes import slow

if __name__ == "__main__":
    with Pool(1) as pool:
        run = pool.run(slow, 0.0, range(1))
        next(run)
        print(pool.process_ids[0], flush=True)
        run.close()
        list(pool.run(slow, 60.0, range(1)))
"""


def test_workers_end_when_their_parent_is_killed(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT, encoding="utf-8")
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, str(tmp_path / "parent.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        worker = Path("/proc") / parent.stdout.readline().strip()
        assert runs(worker)
        parent.kill()
    for _ in range(200):
        if not runs(worker):
            return
        time.sleep(0.05)
    os.kill(int(worker.name), signal.SIGKILL)
    raise AssertionError("the worker was still there after ten seconds")


def runs(process: Path) -> bool:
    try:
        return " Z " not in (process / "stat").read_text()
    except OSError:
        return False


def receives_ctrl_c(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk")).split()[1], 16)
    return not blocked >> (signal.SIGINT - 1) & 1


def test_children_ignore_ctrl_c():
    command = [sys.executable, "-c", "import time; time.sleep(30)"]
    with children_ignore_ctrl_c():
        ignoring = subprocess.Popen(command)
    other = subprocess.Popen(command)
    try:
        assert (receives_ctrl_c(ignoring.pid), receives_ctrl_c(other.pid)) == (False, True)
    finally:
        for process in (ignoring, other):
            process.kill()
            process.wait()


def test_workers_ignore_ctrl_c_from_the_start(pool):
    list(pool.run(slow, 0.02, range(8)))
    assert not any(receives_ctrl_c(process) for process in pool.process_ids)


def test_ctrl_c_does_not_wait_for_running_items():
    words = ["match", "pig", "search:sims=50000,evaluator=rollout", "random", "--pairs", "200",
             "--workers", "2", "--threads", "1"]  # fmt: skip
    command = [sys.executable, "-m", "aleazero.cli.main", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(children.read_text().split()) < 3:  # two workers and the resource tracker
            time.sleep(0.1)
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        began = time.monotonic()
        printed = process.communicate(timeout=60)[1]
    assert (process.returncode, printed.strip()) == (130, "")
    assert time.monotonic() - began < 10
