from __future__ import annotations

import asyncio
import json
import threading

import pytest

from aleazero.errors import ReplayError, RunError
from aleazero.serving.api import state
from aleazero.serving.api import store as store_module
from aleazero.serving.api.settings import ApiLimits, ApiSettings
from aleazero.serving.api.store import ID, SessionLimitError, SessionStore, UnknownSessionError


def session(number=0):
    """Return the fields of a session that a server reads itself; ``number`` tells sessions apart."""
    return {"game": "pig", "params": {}, "start": "0-0 turn 0 player 0", "steps": [[-1, number]]}


def ids(store):
    return [entry.id for entry in store.entries()]


def sweep(store):
    asyncio.run(store.sweep())


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make_store(tmp_path, clock):
    def make(**limits):
        return SessionStore(tmp_path / "sessions", ApiLimits(**limits), clock)

    return make


@pytest.fixture
def written(monkeypatch):
    """Return a list that grows with the id of each session that is written."""
    found, write_file = [], store_module.write_file

    def listed(path, *more):
        write_file(path, *more)
        found.append(path.stem)

    monkeypatch.setattr(store_module, "write_file", listed)
    return found


def test_a_session_is_found_by_its_random_id(make_store):
    store = make_store()
    first, second = store.add(session(1)), store.add(session(2))
    assert first.id != second.id
    assert ID.fullmatch(first.id)
    assert store.get(first.id).data == session(1)
    assert ids(store) == [first.id, second.id]
    assert not store.folder.exists()


def test_an_idle_session_is_saved_dropped_and_reloaded(make_store, clock, written):
    store = make_store(idle_seconds=60.0)
    idle = store.add(session(1))
    store.change(idle, session(2))
    clock.now += 30
    used = store.add(session(3))
    clock.now += 40
    sweep(store)
    assert written == [idle.id, used.id]
    assert store.in_memory == [used.id]
    assert ids(store) == [used.id, idle.id]
    again = store.get(idle.id)
    assert (again.data, again.revision) == (session(2), 1)
    assert len(store.in_memory) == 2


def test_changed_sessions_are_on_disk_before_the_server_ends(make_store, written):
    """A server that is killed loses nothing that a sweep has seen."""
    store = make_store()
    one, busy = store.add(session(1)), store.add(session(2))
    busy.busy = True
    sweep(store)
    sweep(store)
    assert written == [one.id]
    store.change(one, session(3))
    busy.busy = False
    sweep(store)
    sweep(store)
    assert written == [one.id, one.id, busy.id]
    assert sorted(store.in_memory) == sorted([one.id, busy.id])
    found = make_store()
    assert found.get(one.id).data == session(3)
    assert found.get(one.id).revision == 1
    assert found.get(busy.id).data == session(2)


def test_a_session_that_cannot_be_written_does_not_hold_up_others(make_store):
    store = make_store()
    odd, other = store.add({**session(), "names": ["\ud800"]}), store.add(session(1))
    with pytest.raises(RunError, match=f"session {odd.id} cannot be written"):
        sweep(store)
    assert make_store().get(other.id).data == session(1)
    assert len(store.in_memory) == 2


def test_the_sessions_used_last_are_listed_first_also_if_others_were_saved_later(make_store):
    store = make_store()
    first, second = store.add(session(1)), store.add(session(2))
    sweep(store)
    store.change(store.get(first.id), session(3))
    store.get(second.id)
    sweep(store)
    assert ids(store) == [second.id, first.id]


def test_a_slow_disk_delays_no_request_and_restores_no_deleted_session(make_store, monkeypatch):
    store = make_store()
    one, deleted = store.add(session(1)), store.add(session(2))
    begun, go_on, write_file = threading.Event(), threading.Event(), store_module.write_file

    def write_slowly(*given):
        begun.set()
        assert go_on.wait(60)
        write_file(*given)

    monkeypatch.setattr(store_module, "write_file", write_slowly)

    async def use_while_writing():
        sweeping = asyncio.create_task(store.sweep())
        while not begun.is_set():
            await asyncio.sleep(0.01)
        store.change(store.get(one.id), session(3))
        assert ids(store) == [one.id, deleted.id]
        threading.Timer(0.3, go_on.set).start()
        store.remove(deleted.id)  # the file of the first session is being written
        await sweeping

    asyncio.run(use_while_writing())
    assert ids(store) == [one.id]
    assert make_store().get(one.id).data == session(1)
    sweep(store)
    again = make_store()
    assert ids(again) == [one.id]
    assert again.get(one.id).data == session(3)


def test_leftovers_of_a_killed_server_are_removed(make_store, tmp_path):
    folder = tmp_path / "sessions"
    folder.mkdir()
    names = [f".{'a' * 22}.json.123.tmp", ".other.json.123.tmp", f".{'a' * 22}.json.tmp"]
    for name in names:
        (folder / name).write_text("{", encoding="utf-8")
    make_store()
    assert sorted(file.name for file in folder.iterdir()) == sorted(names[1:])


def test_a_busy_session_stays_in_memory(make_store, clock):
    store = make_store(idle_seconds=60.0, sessions_in_memory=1)
    busy = store.add(session())
    busy.busy = True
    clock.now += 100
    sweep(store)
    assert store.in_memory == [busy.id]
    store.add(session())
    sweep(store)
    assert store.in_memory == [busy.id]
    busy.busy = False
    last = store.add(session())
    sweep(store)
    assert store.in_memory == [last.id]


def test_sessions_in_memory_are_limited(make_store):
    store = make_store(sessions_in_memory=2)
    ids = [store.add(session(n)).id for n in range(5)]
    sweep(store)
    assert store.in_memory == ids[3:]
    assert len(store) == 5
    assert [store.get(one).data for one in ids] == [session(n) for n in range(5)]
    assert store.in_memory == ids[3:]


def test_sessions_are_limited_also_after_they_are_saved(make_store):
    store = make_store(sessions=3, sessions_in_memory=1)
    ids = [store.add(session()).id for _ in range(3)]
    sweep(store)
    assert store.in_memory == ids[2:]
    with pytest.raises(SessionLimitError, match="the server has 3 sessions, expected fewer than 3: delete one first"):
        store.add(session())
    store.remove(ids[0])
    store.add(session())
    assert len(store) == 3


def test_a_new_server_finds_the_sessions_of_the_last_one(make_store):
    store = make_store()
    kept = store.add(session(1))
    removed = store.add(session(2))
    store.close()
    again = make_store()
    assert sorted(ids(again)) == sorted([kept.id, removed.id])
    again.remove(removed.id)
    assert again.get(kept.id).data == session(1)
    assert ids(make_store()) == [kept.id]


@pytest.mark.parametrize(
    "identity", ["", ".", "..", "../secret", "/etc/passwd", "a" * 22, "x" * 10_000, "\0", "é" * 22]
)
def test_a_text_that_is_not_the_id_of_a_session_opens_nothing(make_store, tmp_path, identity):
    (tmp_path / "secret.json").write_text("{}", encoding="utf-8")
    store = make_store()
    store.add(session())
    store.close()
    for call in (store.get, store.remove):
        with pytest.raises(UnknownSessionError, match="no session"):
            call(identity)
    assert (tmp_path / "secret.json").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"id": "other", "revision": 0, "session": {}}', "\0" * 100])
def test_a_damaged_file_is_one_error(make_store, text):
    store = make_store()
    one = store.add(session())
    store.close()
    (store.folder / f"{one.id}.json").write_text(text, encoding="utf-8")
    with pytest.raises(ReplayError, match=f"session {one.id} is damaged"):
        store.get(one.id)
    (entry,) = make_store().entries()
    assert (entry.id, entry.game) == (one.id, None)
    assert entry.error.startswith(f"session {one.id} is damaged")


@pytest.mark.parametrize(
    "wrong",
    [{"game": None}, {"game": 5}, {"params": [1]}, {"start": None}, {"steps": None}, {"steps": 3},
     {"steps": [[1, 2, 3]]}, {"steps": [4]}],
)  # fmt: skip
def test_a_file_without_the_fields_of_a_session_is_damaged(make_store, wrong):
    store = make_store()
    one = store.add({**session(), **wrong})
    store.close()
    with pytest.raises(ReplayError, match=f"session {one.id} is damaged"):
        store.get(one.id)
    (entry,) = make_store().entries()
    assert entry.error.startswith(f"session {one.id} is damaged")


@pytest.mark.parametrize("name", ["\ud800", float("nan")])
def test_a_session_that_is_no_json_does_not_lose_others(make_store, caplog, name):
    store = make_store(sessions_in_memory=1)
    odd = store.add({**session(), "names": [name]})
    kept = [store.add(session(number)) for number in (1, 2)]
    with pytest.raises(RunError, match=f"session {odd.id} cannot be written"):
        sweep(store)
    store.close()
    assert f"session {odd.id} is lost: session {odd.id} cannot be written" in caplog.text
    assert [make_store().get(one.id).data for one in kept] == [session(1), session(2)]


def test_a_session_that_cannot_be_deleted_is_kept(make_store):
    store = make_store()
    one = store.add(session(1))
    store.close()
    again = make_store()
    again.change(again.get(one.id), session(2))
    file = store.folder / f"{one.id}.json"
    file.unlink()
    file.mkdir()
    with pytest.raises(RunError, match="cannot be deleted"):
        again.remove(one.id)
    assert again.get(one.id).data == session(2)


def test_sessions_that_cannot_be_saved_stay_in_memory(make_store, clock, caplog):
    store = make_store(sessions_in_memory=1, idle_seconds=10)
    store.folder.write_text("a file where the folder should be", encoding="utf-8")
    first, second = store.add(session(1)), store.add(session(2))
    clock.now += 11
    with pytest.raises(RunError, match="cannot be written"):
        sweep(store)
    assert store.in_memory == [first.id, second.id]
    assert store.get(first.id).data == session(1)
    store.close()
    assert caplog.text.count("is lost") == 2


def test_other_files_in_the_folder_are_ignored(make_store):
    store = make_store()
    one = store.add(session())
    store.close()
    (store.folder / "notes.json").write_text(json.dumps({}), encoding="utf-8")
    assert ids(make_store()) == [one.id]


def test_a_server_saves_idle_sessions_and_tries_again_after_an_error(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(state, "SWEEP_SECONDS", 0.01)
    api = state.Api(ApiSettings(sessions=tmp_path / "sessions", limits=ApiLimits(idle_seconds=0.01)))
    api.store = SessionStore(tmp_path / "sessions", api.limits)
    api.store.folder.write_text("a file where the folder should be", encoding="utf-8")
    one = api.store.add(session(1))
    api.views[one.id] = 0, {}

    async def sweep():
        sweeper = asyncio.create_task(api.sweep())
        while "cannot be written" not in caplog.text:
            await asyncio.sleep(0.01)
        assert api.store.in_memory == [one.id]
        api.store.folder.unlink()
        while api.views:
            await asyncio.sleep(0.01)
        sweeper.cancel()

    asyncio.run(sweep())
    assert api.store.in_memory == []
    assert api.store.get(one.id).data == session(1)
