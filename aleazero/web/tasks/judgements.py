"""Judgements of games: cost of decisions, luck of rolls, hints, and matches of a lesson."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError
from aleazero.files import without_nan
from aleazero.games.base import Game
from aleazero.games.kit import play_text
from aleazero.oracles.oracle import oracle_of
from aleazero.players.champions import champion_of
from aleazero.players.make import make_player
from aleazero.serving.desk import Desk
from aleazero.serving.judge import MOST_SOLVED, make_judge
from aleazero.serving.judgement import ALTERNATIVES, Judge
from aleazero.serving.ledger import Decision, Ledger, ledger_of
from aleazero.serving.review import scale_of
from aleazero.serving.scale import Scale
from aleazero.serving.session import Session
from aleazero.serving.session_file import read_studied
from aleazero.serving.work import Work
from aleazero.web.tasks.opened import open_game, state_of

MOST_GAMES: Final = 400
"""Games of a match in a lesson."""
MOST_WORST: Final = 12
"""Worst decisions that a review lists."""
JUDGE_SIMULATIONS: Final = 200
"""Simulations of the judge of games without exact values and bundled network. A page should not wait for it."""


def judge_of(desk: Desk, key: Any, game: Game) -> Judge:
    """Return the judge of a game: exact values, the bundled network, or a short search."""
    desk.prepare()

    def make() -> Judge:
        strong = oracle_of(game, max_states=MOST_SOLVED) is not None or champion_of(game) is not None
        return make_judge(game, None if strong else f"search:sims={JUDGE_SIMULATIONS}")

    judge: Judge = desk.engine((key, "judge"), make)
    desk.begin()
    return judge


def judge_steps(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Judge ``steps`` from a position: cost of decisions, luck of rolls, values."""
    desk, key, game = open_game(payload, work)
    judge = judge_of(desk, key, game)
    steps = [(int(player), int(action)) for player, action in payload["steps"]]
    ledger = ledger_of(state_of(game, payload), steps, judge)
    return without_nan(ledger_data(game, ledger, payload["first"]))  # type: ignore[no-any-return]


def ledger_data(game: Game, ledger: Ledger, first: int = 0) -> dict[str, Any]:
    """Return a ledger for pages. ``first`` is added to step numbers.

    Values are in the units of the scale, as in its texts; luck is in units of returns.
    """
    scale = scale_of(game)
    return {
        "judge": ledger.judge,
        "exact": ledger.exact,
        "scale": scale,
        "entries": [_entry(one, scale, first) for one in ledger.entries],
        "end": [scale.number(value) for value in ledger.end],
        "totals": [
            {"player": one.player, "name": one.name, "decisions": one.decisions, "regret": scale.cost(one.regret),
             "best": one.best, "errors": one.errors, "blunders": one.blunders,
             "luck": scale.luck(one.luck), "result": scale.value(one.result),
             "adjusted": scale.value(one.luck_adjusted)}
            for one in ledger.totals
        ],
    }  # fmt: skip


def _entry(entry: Any, scale: Scale, first: int) -> dict[str, Any]:
    data = {
        "kind": entry.kind,
        "step": entry.step + first,
        "player": entry.player,
        "name": entry.name,
        "position": entry.position,
        "value": None if entry.value is None else [scale.number(value) for value in entry.value],
    }
    if isinstance(entry, Decision):
        return data | {
            "length": len(entry.actions),
            "forced": entry.forced,
            "costs": scale.sign(entry.cost) > 0,
            "cost_text": scale.cost(entry.cost),
            "mark": entry.mark,
            "best": entry.best,
            "is_best": entry.is_best,
            "alternatives": [[one.name, scale.value(one.value)] for one in entry.alternatives],
        }
    return data | {
        "length": 1,
        "luck": list(entry.luck),
        "luck_text": [scale.luck(value) for value in entry.luck],
        "probability": entry.probability,
    }


def review_file(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Judge one game of a file: its text, the ending of its name, and the number of the game in it.

    Games in files are only loaded if the command line named them.
    """
    desk = Desk(payload["sources"], payload["limits"], work)

    def load(text: str, params: Mapping[str, Any]) -> Game:
        return desk.game(text, params)[1]

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"game{payload['ending']}"
        file.write_text(payload["text"], encoding="utf-8")
        games = read_studied(file, load=load)
    if payload["number"] >= len(games):
        raise ConfigError(f"is {payload['number']}, expected at most {len(games) - 1}", field="game")
    one = games[payload["number"]]
    if len(one.steps) > desk.limits.moves:
        raise ConfigError(f"the game has {len(one.steps):,} steps, expected at most {desk.limits.moves:,}")
    key, game = desk.game(one.text or one.game.name, one.game.params)
    ledger, scale = ledger_of(one.start, one.steps, judge_of(desk, key, game), names=one.names or None), scale_of(game)
    return without_nan({  # type: ignore[no-any-return]
        **ledger_data(game, ledger), "games": [", ".join(each.names) for each in games], "names": list(one.names),
        "game": one.text or game.name, "params": game.json_params(ConfigError), "last": one.end().to_text(),
        "worst": [one.step for one in ledger.worst[:MOST_WORST] if scale.sign(one.cost) > 0],
    })  # fmt: skip


def hint(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Return the best play in a position by the judge, and the values of the best plays."""
    desk, key, game = open_game(payload, work)
    state = state_of(game, payload)
    legal = state.legal_actions()
    if len(legal) == 1:
        return {"action": legal[0], "name": state.action_to_string(legal[0]), "judge": "", "alternatives": []}
    judge = judge_of(desk, key, game)
    found = judge.judge_plays([state], [(state.canonical_action(legal[0]),)])[0]
    scale, plays = scale_of(game), found.alternatives[: ALTERNATIVES - 1]  # the last one may be the judged action
    return {
        "action": int(found.best[0]),
        "name": play_text(state, found.best),
        "judge": judge.name,
        "alternatives": [[play_text(state, actions), scale.value(value)] for actions, value in plays],
    }


def luck_match(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Play games between two equal players, and separate the luck of their rolls from the results of player 0."""
    desk, key, game = open_game(payload, work)
    judge = judge_of(desk, key, game)
    player = desk.engine((key, "greedy"), lambda: make_player("greedy", game))
    results, adjusted = [], []
    for number in range(min(MOST_GAMES, payload["games"])):
        if work.stopped():
            break
        session = Session(game.new_initial_state(), payload["seed"] * MOST_GAMES + number, {0: player, 1: player})
        while not session.state.is_terminal():
            session.draw_all()
            if not session.state.is_terminal():
                session.act(*session.choose())
        totals = ledger_of(session.start_state(), session.steps, judge).totals[0]
        results.append(totals.result or 0.0)
        adjusted.append(totals.luck_adjusted or 0.0)
    table = [[name, f"{np.mean(one):+.3f}", f"{np.std(one):.3f}"]
             for name, one in (("result", results), ("luck-adjusted", adjusted))]  # fmt: skip
    means = {name: [[n + 1, float(np.mean(one[: n + 1]))] for n in range(len(one))]
             for name, one in (("results", results), ("adjusted", adjusted))}  # fmt: skip
    return {"results": results, "adjusted": adjusted, "means": means, "table": table}
