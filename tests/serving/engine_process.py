"""A client of ``aleazero engine`` for tests and measurements: starts the process and collects its answers."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading

SECONDS = 300
"""Longest wait for an answer, which may need compilation."""


class EngineProcess:
    """A running engine; ``lines`` holds what was read and not yet taken."""

    def __init__(self, *options: str, workers: int = 1, reads: bool = True, **more) -> None:
        command = [sys.executable, "-m", "aleazero", "engine", "--workers", str(workers), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
        self.lines: queue.Queue = queue.Queue()
        if reads:
            self.start_reading()
            self.hello = self.take()

    def start_reading(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, name: str | None = None, **fields) -> None:
        self.write(json.dumps(fields | ({} if name is None else {"id": name})).encode() + b"\n")

    def take(self) -> dict:
        """Return the next line."""
        return self.lines.get(timeout=SECONDS)

    def finish(self, *names: str) -> dict:
        """Return the final lines of requests, by id; partial results are dropped."""
        found = {}
        while len(found) < len(names):
            line = self.take()
            assert line is not None, "the engine has ended"
            if line["kind"] != "partial":
                assert line["id"] in set(names) - found.keys(), line
                found[line["id"]] = line
        return found

    def ask(self, name: str = "q", **fields) -> dict:
        """Send a request and return its final line."""
        self.send(name, **fields)
        return self.finish(name)[name]

    def rest(self) -> list:
        """End the input and return all further lines."""
        self.process.stdin.close()
        found = list(iter(self.take, None))
        assert self.process.wait(timeout=SECONDS) == 0
        return found

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
