"""Sessions of a server by id: the recently used ones in memory, the others as files in one folder.

A session is stored as the JSON data of ``Session.to_dict``. The store does not interpret it, so no rules of a game run
here. Ids are random, and a text is looked up as a file only if it has the form of an id. ``sweep`` writes changed
sessions every few seconds, so that a crash loses little. It writes in a thread, so that a slow disk delays no request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
    removed: bool = False
    """Whether it was deleted, so that no file may be written any more."""


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
        self._files = threading.Lock()
        """Held while a file is written or deleted."""
        for leftover in folder.glob(f".*{SUFFIX}.*.tmp"):  # of a server that was killed while writing
            if ID.fullmatch(leftover.name[1:].partition(".")[0]):
                with suppress(OSError):
                    leftover.unlink()
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
        self._drop(stored)
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
            self._drop(self._live[identity])
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
        with self._files, os_errors_as(RunError, f"session {identity} cannot be deleted"):
            if self._file(identity).exists():
                self._file(identity).unlink()
            if identity in self._live:
                self._live.pop(identity).removed = True
        self._saved.pop(identity, None)

    async def sweep(self) -> None:
        """Save the sessions that have changed, and drop those that are idle or too many for the memory.

        Raises:
            RunError: a session cannot be saved. It stays in memory; the others are saved.
        """
        failed = None
        for stored in [one for one in self._live.values() if one.written != one.revision and not one.busy]:
            try:
                revision, text = stored.revision, _text_of(stored)
                await asyncio.to_thread(self._write, stored, text)
            except RunError as error:
                failed = failed or error
            else:
                self._set_written(stored, revision)
        self._drop()
        if failed is not None:
            raise failed

    def close(self) -> None:
        """Save all sessions; one that cannot be saved is logged."""
        for stored in list(self._live.values()):
            try:
                if stored.written != stored.revision:
                    self._write(stored, _text_of(stored))
            except RunError as error:
                log.error("session %s is lost: %s", stored.id, error)
            else:
                self._set_written(stored, stored.revision)
                self._live.pop(stored.id)

    def _drop(self, used: Stored | None = None) -> None:
        """Drop saved sessions: those that are idle, and those used least recently while there are too many.

        The session ``used`` stays. Others that have changed stay until they are saved.
        """
        late = self._clock() - self.limits.idle_seconds
        for stored in list(self._live.values()):
            wanted = stored.used > late and len(self._live) <= self.limits.sessions_in_memory
            if not (wanted or stored is used or stored.busy or stored.written != stored.revision):
                self._live.pop(stored.id)

    def _write(self, stored: Stored, text: bytes) -> None:
        """Write the file of a session; may run in another thread."""
        with self._files:
            if not stored.removed:
                write_file(self._file(stored.id), text, RunError)

    def _set_written(self, stored: Stored, revision: int) -> None:
        """Record that the file of a session has this revision."""
        if not stored.removed and stored.written != revision:
            stored.written = revision
            self._saved.pop(stored.id, None)
            self._saved[stored.id] = Entry.of(stored)

    def _file(self, identity: str) -> Path:
        return self.folder / f"{identity}{SUFFIX}"

    def _entry(self, identity: str) -> Entry:
        try:
            return Entry.of(self._read(identity))
        except ReplayError as error:
            return Entry(identity, error=str(error))

    def _read(self, identity: str) -> Stored:
        with os_errors_as(ReplayError, f"session {identity} cannot be read"):
            text = read_regular(self._file(identity))
        try:
            data = parse_json(text)
        except ValueError as error:
            raise ReplayError(f"session {identity} is damaged: {str(error)[:100]}, expected JSON") from None
        known = isinstance(data, dict) and data.get("id") == identity and _is_session(data.get("session"))
        if not known or type(data.get("revision")) is not int:
            raise ReplayError(f"session {identity} is damaged, expected its id, its revision and the session")
        return Stored(identity, data["session"], data["revision"], written=data["revision"])


def _text_of(stored: Stored) -> bytes:
    """Return the content of a session's file."""
    data = {"id": stored.id, "revision": stored.revision, "session": stored.data}
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:  # data that no reader of JSON lets through; other sessions are not affected
        raise RunError(f"session {stored.id} cannot be written: {error}") from None


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
