"""Worker processes of the engine and the API, with tasks that do not depend on games."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time

import pytest

from aleazero.errors import ConfigError, GameError
from aleazero.serving import workers as workers_module
from aleazero.serving.workers import Busy, Done, Workers


def double(number, work):
    return number * 2


def pid(payload, work):
    return os.getpid()


def count_up(seconds, work):
    """Report 0, 1, 2, … until stopped; return the last number."""
    number = 0
    while not work.stopped():
        work.report(number)
        number += 1
        time.sleep(seconds)
    return number


def loop(payload, work):
    work.report("started")
    while True:
        pass


def prepare(seconds, work):
    work.preparing()
    time.sleep(seconds)
    work.ready()
    return "prepared"


def fail(what, work):
    if what == "exit":
        os._exit(7)
    if what == "game":
        raise GameError("two\nlines")
    if what == "unpicklable":
        return lambda: None
    raise ValueError(what)


def print_and_read(payload, work):
    print("noise")  # noqa: T201
    return sys.stdin.read()


def retire(payload, work):
    work.retire()
    return os.getpid()


def task(function):
    return f"{__name__}:{function.__name__}"


class Answers:
    """Submits tasks and collects what the callbacks get."""

    def __init__(self, workers):
        self.workers, self.partial, self.done = workers, queue.Queue(), queue.Queue()

    def submit(self, function, payload=None, **options):
        label = options.pop("label", None)
        return self.workers.submit(
            task(function),
            payload,
            on_partial=self.partial.put,
            on_done=lambda done: self.done.put((label, done) if label else done),
            **options,
        )

    def run(self, function, payload=None, **options):
        self.submit(function, payload, **options)
        return self.done.get(timeout=60)


@pytest.fixture(scope="module")
def pool():
    with Workers(1) as workers:
        yield workers


@pytest.fixture
def answers(pool):
    return Answers(pool)


def test_result_and_errors_leave_the_worker_alive(answers):
    first = answers.run(pid)
    assert answers.run(double, 21).content == 42
    assert answers.run(fail, "game") == Done("error", None, "bad_request", "two lines", pytest.approx(0, abs=60))
    assert answers.run(fail, "x").message == "ValueError: x"
    assert answers.run(fail, "unpicklable").code == "failed"
    assert answers.run(pid).content == first.content


def test_unknown_task_is_an_error(answers):
    answers.workers.submit("no_module:f", None, on_done=answers.done.put)
    assert answers.done.get(timeout=60).code == "failed"


def test_a_dead_worker_is_replaced(answers):
    assert answers.run(fail, "exit").message == "the worker process ended with exit code 7 while it computed the answer"
    assert answers.run(double, 1).content == 2


def test_a_task_that_loops_is_ended_after_its_limit(answers):
    done = answers.run(loop, seconds=0.3)
    assert (done.kind, done.code) == ("error", "timeout")
    assert answers.run(double, 1).content == 2


def test_preparing_does_not_count_for_the_limit(answers):
    assert answers.run(prepare, 1.5, seconds=1.0, prepare_seconds=60).content == "prepared"
    assert answers.run(prepare, 60, seconds=60, prepare_seconds=0.3).code == "timeout"


def test_cancel_returns_the_result_so_far(answers):
    ticket = answers.submit(count_up, 0.01)
    assert [answers.partial.get(timeout=60) for _ in range(3)] == [0, 1, 2]
    assert answers.workers.cancel(ticket)
    done = answers.done.get(timeout=60)
    assert done.kind == "cancelled"
    assert done.content >= 3
    assert not answers.workers.cancel(ticket)


def test_cancel_ends_a_task_that_does_not_stop(answers, monkeypatch):
    monkeypatch.setattr(workers_module, "CANCEL_GRACE", 0.2)
    started = answers.run(pid).content
    ticket = answers.submit(loop)
    assert answers.partial.get(timeout=60) == "started"
    answers.workers.cancel(ticket)
    assert answers.done.get(timeout=60).content is None
    assert answers.run(pid).content != started


def test_priority_and_cancel_while_waiting(answers):
    first = answers.submit(count_up, 0.01, label="first")
    answers.partial.get(timeout=60)
    answers.submit(double, 1, label="low", priority=-1)
    answers.submit(double, 1, label="middle")
    dropped = answers.submit(double, 1, label="dropped", priority=9)
    answers.submit(double, 1, label="high", priority=5)
    assert answers.workers.status()["waiting"] == 4
    assert answers.workers.cancel(dropped)
    assert answers.done.get(timeout=60) == ("dropped", Done("cancelled"))
    answers.workers.cancel(first)
    assert [answers.done.get(timeout=60)[0] for _ in range(4)] == ["first", "high", "middle", "low"]


def test_a_worker_that_retires_is_replaced(answers):
    retired = answers.run(retire).content
    assert answers.run(pid).content != retired


def test_a_callback_that_raises_affects_nobody(answers, caplog):
    answers.workers.submit(task(double), 1, on_done=lambda done: 1 / 0)
    assert answers.run(double, 3).content == 6
    assert "a callback of a request failed" in caplog.text


def test_tasks_run_at_once_and_close_ends_them():
    with Workers(2, most_waiting=1) as workers:
        one, two = Answers(workers), Answers(workers)
        one.submit(count_up, 0.01)
        one.partial.get(timeout=60)
        two.submit(count_up, 0.01)
        two.partial.get(timeout=60)
        waiting = Answers(workers)
        waiting.submit(double, 1)
        with pytest.raises(Busy, match="1 requests are waiting"):
            workers.submit(task(double), 1, on_done=print)
        ids = workers.process_ids
        workers.close()
        assert [some.done.get(timeout=60).code for some in (one, two, waiting)] == ["closed"] * 3
        assert not any(os.path.exists(f"/proc/{number}") for number in ids) or not os.path.exists("/proc")
        with pytest.raises(Busy, match="closed"):
            workers.submit(task(double), 1, on_done=print)


def test_workers_that_cannot_be_started_are_an_error_and_not_the_end():
    code = (
        "import os, queue, resource\nfrom aleazero.serving.workers import Workers\n"
        "if __name__ == '__main__':\n"
        "    done = queue.Queue()\n"
        "    with Workers(1) as workers:\n"
        "        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "        resource.setrlimit(resource.RLIMIT_NOFILE, (os.dup(0), hard))\n"
        f"        workers.submit('{__name__}:double', 4, on_done=done.put)\n"
        "        print(done.get().message)\n"
        "        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))\n"
        f"        workers.submit('{__name__}:double', 4, on_done=done.put)\n"
        "        print(done.get().content)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
    assert ran.stdout.splitlines() == ["no worker process can be started: [Errno 24] Too many open files", "8"]


def test_at_least_one_worker():
    with pytest.raises(ConfigError, match="workers is 0"):
        Workers(0)


def test_rules_that_print_do_not_write_to_stdout():
    code = (
        "import queue\nfrom aleazero.serving.workers import Workers\n"
        "if __name__ == '__main__':\n"
        "    done = queue.Queue()\n"
        "    with Workers(1) as workers:\n"
        f"        workers.submit('{__name__}:print_and_read', None, on_done=done.put)\n"
        "        print(done.get().content == '')\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout == "True\n"
    assert ran.stderr == "noise\n"


def test_the_owner_of_workers_imports_no_numpy():
    code = "import sys, aleazero.serving.workers, aleazero.serving.requests; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
