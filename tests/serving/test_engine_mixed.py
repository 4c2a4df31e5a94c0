"""Many requests at once, with cancels and garbage lines: every answer equals that of the library, bit for bit."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from engine_process import EngineProcess

import aleazero
from aleazero import Planner, Search, SearchConfig
from aleazero.serving.judge import make_judge
from aleazero.serving.ledger import ledger_of

AT_ONCE = 5
PIG = "pig(target=20)"
COINS = str(Path(__file__).parents[2] / "examples" / "coins.py")
POSITIONS = ["3-12 turn 7", "0-0 turn 5", "15-15 turn 3 player 1", "19-2 turn 2"]
Direct = Callable[[], dict[str, Any]]


@cache
def load(name: str) -> Any:
    return aleazero.load_game(COINS if name == "coins" else name)


def draw_request(dice: random.Random) -> tuple[dict[str, Any], Direct]:
    """Return a random request, and a function that computes fields of its answer with the library."""
    seed, position = dice.randrange(2**32), dice.choice(POSITIONS)
    game = load(PIG)
    state = game.state_from_text(position)
    kind = dice.randrange(8)
    base = {"game": PIG, "position": position, "seed": seed}
    if kind < 3:
        sims, evaluator = dice.randrange(1, 800), dice.choice(["rollout", "rollout", "uniform"])
        settings = SearchConfig(num_simulations=sims)
        return base | {
            "request": "analyse",
            "sims": sims,
            "evaluator": evaluator,
            "report_every": 0.1,
        }, lambda: Search(game, evaluator, settings).run(state, seed=seed).to_dict()
    if kind == 3:
        coins, sims = load("coins"), dice.randrange(1, 60)
        request = {"request": "analyse", "game": "coins", "moves": "flip heads", "sims": sims, "seed": seed}
        after = coins.new_initial_state()
        after.play("flip heads")
        return (
            request,
            lambda: Search(coins, "rollout", SearchConfig(num_simulations=sims)).run(after, seed=seed).to_dict(),
        )
    if kind == 4:
        far = dice.choice([{"horizon": "turn"}, {"plies": 1}, {"horizon": "turn", "margin": 0.1}])
        return base | {"request": "plan"} | far, lambda: Planner(game, "rollout", seed=seed, **far).run(state).to_dict()
    if kind == 5:
        leaf = SearchConfig(num_simulations=1, max_evaluations=1)
        return base | {"request": "evaluate", "evaluator": "rollout:50"}, lambda: {
            "positions": [{"value": Search(game, "rollout:50", leaf).run(state, seed=seed).value.tolist()}]
        }
    if kind == 6:
        moves = ["roll", dice.randrange(2, 7), "roll", dice.randrange(2, 7), "hold"]
        ids = [0, moves[1], 0, moves[3], 1]
        steps = list(zip((0, -1, 0, -1, 0), ids, strict=True))
        return {"request": "review", "game": PIG, "moves": moves}, lambda: ledger_of(
            game.new_initial_state(), steps, make_judge(game)
        ).to_dict()
    return {"request": "legal", "game": PIG, "position": position}, lambda: {
        "actions": [{"action": one, "name": state.action_to_string(one)} for one in state.legal_actions()]
    }


def subset(found: Any, wanted: Any) -> Any:
    """Return the parts of an answer that the library's result has."""
    if isinstance(wanted, dict):
        return {key: subset(found[key], wanted[key]) for key in wanted}
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], dict):
        assert len(found) == len(wanted)
        return [subset(one, other) for one, other in zip(found, wanted, strict=True)]
    return found


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_mixed_requests_equal_the_library(count):
    dice = random.Random(count)
    wanted: dict[str, Direct] = {}
    answers: dict[str, dict[str, Any]] = {}
    endless: set[str] = set()
    bad = sent = bad_seen = 0
    with EngineProcess("--game-file", f"coins={COINS}:Coins", workers=2) as engine:

        def read() -> None:
            nonlocal bad_seen
            line = engine.take()
            if line["kind"] == "partial":
                return
            if line["id"] is None:
                assert (line["kind"], line["code"]) == ("error", "bad_line")
                bad_seen += 1
                return
            assert line["id"] not in answers, "two final lines"
            answers[line["id"]] = line

        while sent < count:
            while sent - len(answers) >= AT_ONCE:
                read()
            name, roll = f"n{sent}", dice.random()
            if roll < 0.1:
                engine.write(dice.randbytes(30).replace(b"\n", b"x") + b"{\n")
                bad += 1
            if roll < 0.05:  # a request that would take minutes, and its cancel
                engine.send(name, request="analyse", game=PIG, position=POSITIONS[0], sims=10_000_000, seed=sent)
                engine.send(f"c{name}", request="cancel", target=name)
                endless.add(name)
                sent += 2
                continue
            request, wanted[name] = draw_request(dice)
            engine.send(name, priority=dice.randrange(3), **request)
            sent += 1
        while len(answers) < sent or bad_seen < bad:
            read()
        assert engine.ask(request="version")["result"]["status"]["replaced"] == 0
    assert len(wanted) > 0.8 * count
    assert endless
    assert bad
    for name in endless:
        assert answers[name]["kind"] == "cancelled"
        assert answers[f"c{name}"]["result"] == {"cancelled": name}
    for name, direct in wanted.items():
        assert answers[name]["kind"] == "result", answers[name].get("message")
        found = json.loads(json.dumps(direct()))
        assert subset(answers[name]["result"], found) == found
