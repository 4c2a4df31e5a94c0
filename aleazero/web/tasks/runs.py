"""Curves, gates and reports of training runs.

A page names a run and a gate; the names are compared with those in the folder, and no path is made from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from aleazero.errors import RunError
from aleazero.evaluation.game_file import GameFile, RecordedGame
from aleazero.files import os_errors_as, without_nan
from aleazero.runs.events import EVENTS, read_events, scalars_of
from aleazero.serving.api.listings import run_path
from aleazero.serving.work import Work
from aleazero.untrusted import parse_json, read_regular

GATES: Final = "gates"
GAMES: Final = "_games.json"
"""End of the name of a gate's recorded games."""
MIDDLES: Final = ("mean", "rating")
ENDS: Final = ("low", "high")
"""Last parts of the names of numbers that are measured with an interval."""
MOST_POINTS: Final = 400


def gates(payload: Mapping[str, Any], work: Work) -> list[dict[str, Any]] | None:
    """Return the verdicts of all gates of a run, the newest first; None if there is no such run."""
    path = run_path(payload)
    if path is None:
        return None
    found = [file for file in (path / GATES).glob("*.json") if not file.name.endswith(GAMES)]
    return [without_nan(_verdict(file)) for file in sorted(found, reverse=True)]


def _verdict(file: Path) -> dict[str, Any]:
    data = _read(file)
    try:
        return {
            "gate": file.stem,
            "candidate": str(data["candidate"]),
            "champion": str(data["champion"]),
            "verdict": str(data["verdict"]),
            "reason": str(data["reason"]),
            "rates": str(data["error_rates"]["in_words"]),
            "pairs": int(data["results"]["pairs"]),
            "score": {key: float(data["results"]["score"][key]) for key in ("mean", "low", "high")},
            "recorded": _games_of(file).is_file(),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{file.name} is damaged ({error!r}), expected the report of a gate") from None


def gate_games(payload: Mapping[str, Any], work: Work) -> dict[str, Any] | None:
    """Return the recorded games of a gate: the text of their file, and the numbers of the games to show side by side.

    Both games of a comparison have the same dice, and the candidate and the champion have changed places in them.
    """
    path = run_path(payload)
    folder = None if path is None else path / GATES
    files = [] if folder is None else [file for file in folder.glob("*.json") if file.stem == payload["gate"]]
    if not files or not _games_of(files[0]).is_file():
        return None
    text = _bytes(_games_of(files[0])).decode()
    data = GameFile.from_dict(_parse(text, files[0]), files[0].name)
    return {
        "text": text,
        "game": data.game,
        "sides": list(_sides(data)),
        "candidate": str(_read(files[0])["candidate"]),
    }


def _sides(data: GameFile) -> Iterator[dict[str, Any]]:
    """Yield the games to compare: game k of the first half of a pair, and game k of its second half."""
    for pair, numbered in groupby(enumerate(data.games), key=lambda one: one[1].pair):
        games = list(numbered)
        half = len(games) // 2
        for first, second in zip(games[:half], games[half:], strict=False):
            yield {"pair": pair, "seed": first[1].seed, "games": [_side(*first), _side(*second)]}


def _side(number: int, game: RecordedGame) -> dict[str, Any]:
    return {"number": number, "players": list(game.players), "returns": list(game.returns)}


def curves(payload: Mapping[str, Any], work: Work) -> dict[str, Any] | None:
    """Return the curves of a run and the latest value of all other numbers; None if there is no such run.

    A mean and the ends of its interval are one plot. A curve has at most ``MOST_POINTS`` points.
    """
    path = run_path(payload)
    if path is None:
        return None
    found: dict[str, dict[float, float]] = {}
    for one in scalars_of(read_events(path / EVENTS)):
        if one.value is not None and math.isfinite(one.value):
            at = one.iteration if one.round is None else one.round
            found.setdefault(one.name, {})[at] = one.value
    plots: dict[str, dict[str, list[list[float]]]] = {}
    latest = []
    for name, values in sorted(found.items()):
        title, _, part = name.rpartition("/")
        measured = any(f"{title}/{middle}" in found for middle in MIDDLES)
        if len(values) < 2:
            latest.append([name, next(iter(values.values()))])
        elif not measured:
            plots[name] = {"": _thinned(values)}
        elif part in (*MIDDLES, *ENDS):
            plots.setdefault(title, {})[part] = _thinned(values)
    order = sorted(plots, key=lambda title: (len(plots[title]) == 1, title))
    return {"plots": {title: plots[title] for title in order}, "latest": latest}


def _thinned(values: Mapping[float, float]) -> list[list[float]]:
    points = [[at, value] for at, value in sorted(values.items())]
    step = -(-len(points) // MOST_POINTS)
    return [*points[:-1:step], points[-1]]


def report(payload: Mapping[str, Any], work: Work) -> str | None:
    """Return the report of a run as HTML; None if there is no such run."""
    from aleazero.report import make_report

    path = run_path(payload)
    return None if path is None else make_report(path)[0]


def _games_of(file: Path) -> Path:
    return file.with_name(f"{file.stem}{GAMES}")


def _bytes(file: Path) -> bytes:
    with os_errors_as(RunError, f"{file.name} cannot be read"):
        return read_regular(file)


def _parse(text: str | bytes, file: Path) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise RunError(f"{file.name} is not JSON ({error}), expected the report of a gate") from None


def _read(file: Path) -> Any:
    return _parse(_bytes(file), file)
