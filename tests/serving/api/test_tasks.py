"""Tasks of worker processes: the sessions that a worker remembers do not change its answers."""

from __future__ import annotations

import pytest

from aleazero.errors import GameError, IllegalActionError
from aleazero.serving.api import tasks
from aleazero.serving.requests import Limits, Sources
from aleazero.serving.session import Session

NEEDS = {"sources": Sources(), "limits": Limits()}
NEW = {"game": "pig(target=20)", "params": {}, "position": None, "moves": [], "seed": 3, "names": None,
       "seats": ["human", "search:sims=20"], "temperature": 0.0, "draw": False}  # fmt: skip


class Work:
    def preparing(self):
        pass

    def ready(self):
        pass

    def retire(self):
        pass

    def stopped(self):
        return False


@pytest.fixture
def rebuilt(monkeypatch):
    """Return a list that grows with each session that is rebuilt from its data."""
    found, from_dict = [], Session.from_dict

    def counted(data, **more):
        found.append(data)
        return from_dict(data, **more)

    monkeypatch.setattr(Session, "from_dict", counted)
    monkeypatch.setattr(tasks, "_sessions", [])
    return found


def play(remembers):
    """Return all answers of a game with undo and redo, in which the computer moves, too."""
    answers = [tasks.open_session({**NEEDS, **NEW}, Work())]

    def run(task, **payload):
        if not remembers:
            tasks._sessions.clear()
        made = task({**NEEDS, **payload, "session": answers[-1]["session"]}, Work())
        if isinstance(made, dict):
            answers.append(made)
        return made

    run(tasks.change_session, change="moves", moves=["roll"], draw=True)
    for change in ("undo", "redo", "undo", "redo"):
        run(tasks.change_session, change=change, unit="step", count=2)
    for _ in range(8):
        view = answers[-1]["view"]
        if view["node"] == "decision":
            if view["player"] == 0:
                run(tasks.change_session, change="moves", moves=["roll"], draw=True)
            else:
                run(tasks.play_seat, all=True)
    return [*answers, run(tasks.history)]


def test_remembered_sessions_give_the_same_answers_without_playing_all_steps_again(rebuilt):
    known = play(remembers=True)
    assert rebuilt == []
    again = play(remembers=False)
    assert len(rebuilt) == len(known) - 1
    assert known == again
    assert any(step["value"] is not None for answer in known[:-1] for step in answer["view"]["changes"])
    assert {step["player"] for step in known[-1]} == {-1, 0, 1}


def test_a_session_that_failed_is_rebuilt(rebuilt):
    made = tasks.open_session({**NEEDS, **NEW}, Work())
    with pytest.raises(IllegalActionError, match="nothing is left to take back"):
        tasks.change_session(
            {**NEEDS, "session": made["session"], "change": "undo", "unit": "step", "count": 1}, Work()
        )
    tasks.change_session({**NEEDS, "session": made["session"], "change": "view"}, Work())
    assert rebuilt == [made["session"]]


def test_a_worker_remembers_few_sessions(rebuilt):
    first, *others = [tasks.open_session({**NEEDS, **NEW, "seed": seed}, Work()) for seed in range(5)]
    assert len(tasks._sessions) == tasks.MOST_SESSIONS == len(others)
    for made in (others[0], first, first):
        tasks.change_session({**NEEDS, "session": made["session"], "change": "view"}, Work())
    assert rebuilt == [first["session"]]


def test_a_seat_that_plans_has_the_limit_of_nodes(rebuilt):
    limits = {**NEEDS, "limits": Limits(nodes=5)}
    made = tasks.open_session({**NEEDS, **NEW, "seats": ["plan:horizon=turn", "human"], "moves": [0, 4]}, Work())
    with pytest.raises(GameError, match="5 states"):
        tasks.play_seat({**limits, "session": made["session"], "all": False}, Work())


def limited(moves, **fields):
    return {**NEEDS, "limits": Limits(moves=moves), **fields}


def test_drawn_outcomes_count_as_steps_of_a_session(rebuilt):
    """A session at its limit can still be analysed, reviewed and imported."""
    made = tasks.open_session({**limited(2), **NEW, "seats": None, "moves": ["roll"], "draw": True}, Work())
    assert len(made["session"]["steps"]) == 2
    assert tasks.open_session(limited(2, file=made["session"]), Work())["view"] == {**made["view"], "changes": []}
    with pytest.raises(tasks.StepsError, match=r"the session has more than 1 step, expected at most this many; its"):
        tasks.open_session({**limited(1), **NEW, "seats": None, "moves": ["roll"], "draw": True}, Work())
    waiting = tasks.open_session({**limited(1), **NEW, "seats": None, "moves": ["roll"]}, Work())
    with pytest.raises(tasks.StepsError, match="more than 1 step"):
        tasks.change_session(limited(1, session=waiting["session"], change="draw"), Work())


def test_a_player_stops_at_the_steps_of_a_session_and_keeps_its_actions(rebuilt):
    made = tasks.open_session({**NEEDS, **NEW, "seats": ["oracle", "oracle"]}, Work())
    most = 7
    played = tasks.play_seat(limited(most, session=made["session"], all=True), Work())
    assert most - 1 <= len(played["session"]["steps"]) <= most
    assert len(played["view"]["changes"]) == len(played["session"]["steps"])
    assert played["view"]["node"] == "decision"
    assert played["view"]["redo_steps"] == 0
    free = tasks.play_seat({**NEEDS, "session": made["session"], "all": True}, Work())
    assert free["session"]["steps"][: len(played["session"]["steps"])] == played["session"]["steps"]
    with pytest.raises(tasks.StepsError, match="more than 7 steps"):
        tasks.play_seat(limited(most, session=played["session"], all=True), Work())


def test_a_player_stops_between_its_actions_when_its_search_is_cancelled(rebuilt):
    class Stopped(Work):
        def stopped(self):
            return True

    made = tasks.open_session({**NEEDS, **NEW, "seats": ["oracle", "oracle"]}, Work())
    played = tasks.play_seat({**NEEDS, "session": made["session"], "all": True}, Stopped())
    assert sum(player >= 0 for player, _ in played["session"]["steps"]) == 1
