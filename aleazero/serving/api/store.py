"""Sessions of a server by id: the recently used ones in memory, the others as files in one folder.

A session is stored as the JSON data of ``Session.to_dict``. The store does not interpret it, so no rules of a game run
here. Ids are random, and a text is looked up as a file only if it has the form of an id. Changed sessions are written
every few seconds, so that a crash loses little, and all others when they leave the memory or the server ends.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aleazero.errors import AleaZeroError, ReplayError, RunError
from aleazero.files import os_errors_as, write_file
from aleazero.serving.api.settings import ApiLimits
from aleazero.untrusted import parse_json, read_regular

ID: Final = re.compile(r"[A-Za-z0-9_-]{22}")
"""Form of an id: 16 random bytes."""
SUFFIX: Final = ".json"
log = logging.getLogger("aleazero")


class UnknownSessionError(AleaZeroError):
    """No session has this id."""


class SessionLimitError(AleaZeroError):
    """There are as many sessions as the limits allow."""


class SessionConflictError(AleaZeroError):
    """A session is in use by another request, or has changed since the client read it."""


@dataclass
class Stored:
    """A session of the store."""

    id: str
    data: dict[str, Any]
    """The session as JSON data. It is replaced and never modified."""
    revision: int = 0
    """Number of changes."""
    used: float = 0.0
    """Time of the last use, as ``clock`` gives it."""
    written: int | None = None
    """Revision of the session's file; None if there is no file."""
    busy: bool = False
    """Whether a request is changing the session."""


@dataclass(frozen=True)
class Entry:
    """A session in a list."""

    id: str
    game: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()
    steps: int = 0
    revision: int = 0
    error: str | None = None
    """Why the session cannot be opened."""

    @classmethod
    def of(cls, stored: Stored) -> Entry:
        """Describe a session. Fields of a file that another program has written may be missing."""
        data = stored.data
        game, params, names, steps = (data.get(key) for key in ("game", "params", "names", "steps"))
        return cls(
            stored.id,
            game if isinstance(game, str) else None,
            params if isinstance(params, dict) else {},
            [str(name) for name in names] if isinstance(names, list) else [],
            len(steps) if isinstance(steps, list) else 0,
            stored.revision,
        )


class SessionStore:
    """Sessions by id.

    Args:
        folder: folder for the sessions that are not in memory. It is created when the first one is saved.
        limits: numbers of sessions, and the time after which one is idle.
        clock: current time in seconds.
    """

    def __init__(self, folder: Path, limits: ApiLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder, self.limits, self._clock = folder, limits, clock
        self._live: OrderedDict[str, Stored] = OrderedDict()
        self._saved: dict[str, Entry] = {}  # the newest one last
        for file in sorted(folder.glob(f"*{SUFFIX}"), key=_modified):
            if ID.fullmatch(file.stem):
                self._saved[file.stem] = self._entry(file.stem)

    def __len__(self) -> int:
        return len(self._saved.keys() | self._live.keys())

    @property
    def in_memory(self) -> list[str]:
        """Return the ids of the sessions in memory, those used least recently first."""
        return list(self._live)

    def entries(self) -> list[Entry]:
        """Return all sessions, the recently used ones first."""
        live = [Entry.of(self._live[identity]) for identity in reversed(self._live)]
        return [*live, *(self._saved[identity] for identity in reversed(self._saved) if identity not in self._live)]

    def add(self, data: dict[str, Any]) -> Stored:
        """Add a session and return it with its id.

        Raises:
            SessionLimitError: there are as many sessions as the limits allow.
        """
        self.require_room()
        stored = Stored(secrets.token_urlsafe(16), data, used=self._clock())
        self._live[stored.id] = stored
        self._drop(len(self._live) - self.limits.sessions_in_memory)
        return stored

    def require_room(self) -> None:
        """Raise a ``SessionLimitError`` if no session can be added."""
        if len(self) >= self.limits.sessions:
            raise SessionLimitError(
                f"the server has {len(self)} sessions, expected fewer than {self.limits.sessions}: delete one first"
            )

    def get(self, identity: str) -> Stored:
        """Return a session, from memory or from its file.

        Raises:
            UnknownSessionError: no session has this id.
            ReplayError: the file is damaged.
        """
        if identity in self._live:
            self._live.move_to_end(identity)
        elif identity in self._saved:  # only ids that the folder was listed with, or that were saved
            self._live[identity] = self._read(identity)
            self._drop(len(self._live) - self.limits.sessions_in_memory)
        else:
            raise UnknownSessionError(f"no session {identity[:40]!r}, expected the id of one")
        stored = self._live[identity]
        stored.used = self._clock()
        return stored

    def change(self, stored: Stored, data: dict[str, Any]) -> None:
        """Replace the data of a session."""
        stored.data, stored.revision, stored.used = data, stored.revision + 1, self._clock()

    def remove(self, identity: str) -> None:
        """Delete a session and its file.

        Raises:
            UnknownSessionError: no session has this id.
            RunError: the file cannot be deleted; the session is kept.
        """
        if identity not in self._live and identity not in self._saved:
            raise UnknownSessionError(f"no session {identity[:40]!r}, expected the id of one")
        if identity in self._saved:
            with os_errors_as(RunError, f"session {identity} cannot be deleted"):
                (self.folder / f"{identity}{SUFFIX}").unlink(missing_ok=True)
            del self._saved[identity]
        self._live.pop(identity, None)

    def sweep(self, most: int | None = None) -> int:
        """Save the sessions that have changed, at most this many, and drop those that are idle; return their number.

        Raises:
            RunError: a session cannot be saved. It stays in memory, and the next call begins with others.
        """
        late = self._clock() - self.limits.idle_seconds
        free = [stored for stored in self._live.values() if not stored.busy]
        due = [stored for stored in free if stored.used <= late or stored.written != stored.revision][:most]
        for stored in due:
            self._live.move_to_end(stored.id)
            self._save(stored)
            if stored.used <= late:
                self._live.pop(stored.id)
        return len(due)

    def close(self) -> None:
        """Save all sessions; one that cannot be saved is logged."""
        for stored in list(self._live.values()):
            try:
                self._save(stored)
            except RunError as error:
                log.error("session %s is lost: %s", stored.id, error)
            else:
                self._live.pop(stored.id)

    def _drop(self, count: int) -> None:
        """Save and drop this many sessions, those used least recently first; the one used last stays."""
        for stored in list(self._live.values())[:-1]:
            if count <= 0:
                return
            if not stored.busy:
                try:
                    self._save(stored)
                except RunError as error:  # it stays in memory, and the request of another client is answered
                    log.error("%s", error)
                    return
                self._live.pop(stored.id)
                count -= 1

    def _save(self, stored: Stored) -> None:
        if stored.written == stored.revision:
            return
        data = {"id": stored.id, "revision": stored.revision, "session": stored.data}
        try:
            text = json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:  # data that no reader of JSON lets through; other sessions are not affected
            raise RunError(f"session {stored.id} cannot be written: {error}") from None
        write_file(self.folder / f"{stored.id}{SUFFIX}", text, RunError)
        stored.written = stored.revision
        self._saved.pop(stored.id, None)
        self._saved[stored.id] = Entry.of(stored)

    def _entry(self, identity: str) -> Entry:
        try:
            return Entry.of(self._read(identity))
        except ReplayError as error:
            return Entry(identity, error=str(error))

    def _read(self, identity: str) -> Stored:
        file = self.folder / f"{identity}{SUFFIX}"
        with os_errors_as(ReplayError, f"session {identity} cannot be read"):
            text = read_regular(file)
        try:
            data = parse_json(text)
        except ValueError as error:
            raise ReplayError(f"session {identity} is damaged: {str(error)[:100]}, expected JSON") from None
        known = isinstance(data, dict) and data.get("id") == identity and _is_session(data.get("session"))
        if not known or type(data.get("revision")) is not int:
            raise ReplayError(f"session {identity} is damaged, expected its id, its revision and the session")
        return Stored(identity, data["session"], data["revision"], written=data["revision"])


def _is_session(data: Any) -> bool:
    """Return whether JSON data has the fields that the server reads itself. The worker processes check the others."""
    if not isinstance(data, dict):
        return False
    types = {"game": str, "params": dict, "start": str, "steps": list}
    return all(isinstance(data.get(name), kind) for name, kind in types.items()) and all(
        isinstance(step, list) and len(step) == 2 for step in data["steps"]
    )


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
