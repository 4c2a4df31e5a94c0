"""Strength of a search in Azul by how it handles the refill, at equal evaluations, on paired refills.

    python docs/scripts/azul_refill.py runs/azul/models/0003.safetensors --pairs 1000 --json refill.json

Few lines of a search reach the refill early in a round. So players search only if at most ``--late`` drafts remain in
the round, and otherwise take the best draft by the network. Each handling plays whole games against ``edge``, in blocks
of pairs in turn, until it has ``--pairs`` or the time is up. Started again with the same file, it continues:

- edge: the network's value before the refill is final. Nothing is expanded below it.
- estimate: as the bundled players: the network also values the state before the refill and after each factory.
- iid, stratified, widening: the chance modes ``sampling``, ``stratified`` and ``progressive``. The draft after a
  complete refill is a leaf.
- frozen: one refill per state, drawn from a hash of the state, as if it were certain. It is wrong on purpose: the
  search prepares for tiles that will not come. Other engines do this.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import aleazero
from aleazero import ESTIMATE, EXACT, NONE, ChanceConfig, Forest, SearchConfig
from aleazero.evaluation.pairs import play_pairs
from aleazero.evaluation.statistics import PairMean
from aleazero.files import write_atomic
from aleazero.games.azul import rules
from aleazero.games.azul.board import CENTRE, CONTENTS, FACTORY, NUM_COLOURS
from aleazero.games.azul.rules import sample as draw_tiles
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.kit import kit_of
from aleazero.native.random import extend_key_bits, unit_bits
from aleazero.nets.planned import PlannedEvaluator
from aleazero.players.player import Allowed, BasePlayer, own_seed

HANDLINGS: dict[str, tuple[Any, str]] = {
    "edge": (EXACT, "sampling"),
    "estimate": (ESTIMATE, "stratified"),
    "iid": (NONE, "sampling"),
    "stratified": (NONE, "stratified"),
    "widening": (NONE, "progressive"),
    "frozen": (NONE, "sampling"),
}
"""How chance nodes are valued, and the chance mode."""
BASE = "edge"
BLOCK = 25
"""Pairs of a handling before the next one has its turn."""
TREES = 32
SIMULATIONS_PER_EVALUATION = 10
"""Simulations that end at known values need no evaluation, so they have a limit of their own."""
EFFORT = ("searches", "evaluations", "simulations", "chance_visits", "milliseconds")
SALT = np.uint64(0x667265657A65)


# -- one refill per state ----------------------------------------------------------------------------------------------


def frozen_outcome(state: Any, u: Any) -> Any:
    """Return the tiles of the next factory, which depend only on the state."""
    key = SALT
    for i in range(len(state)):
        key = extend_key_bits(key, np.uint64(state[i]))
    return draw_tiles(state, unit_bits(key))


def list_frozen_outcome(state: Any, ids: Any, probabilities: Any) -> int:
    """List the frozen outcome as the only one."""
    ids[0] = frozen_outcome(state, 0.0)
    probabilities[0] = 1.0
    return 1


def frozen_game() -> KernelGame:
    """Return Azul for two players with frozen refills."""
    module = types.ModuleType("azul_frozen")
    vars(module).update(vars(rules))
    vars(module).update(sample=frozen_outcome, outcomes=list_frozen_outcome)
    return KernelGame(module, {})


# -- players -----------------------------------------------------------------------------------------------------------


class AtRefill:
    """A value network as an evaluator that values chance nodes in one way."""

    sees_states = True
    any_size = True

    def __init__(self, net: PlannedEvaluator, afterstates: Any) -> None:
        self._net, self.afterstates = net, afterstates
        self.ended, self.logit_unit = net.ended, net.logit_unit

    def __call__(self, states: Sequence[State]) -> tuple[Any, Any]:
        """Return logits, and values by seat relative to the viewer."""
        return self._net(states)


class LateSearch(BasePlayer):
    """Searches if few drafts remain in the round, else selects the best draft by the network."""

    def __init__(self, game: Game, net: PlannedEvaluator, handling: str, evaluations: int, late: int) -> None:
        afterstates, mode = HANDLINGS[handling]
        self._game = frozen_game() if handling == "frozen" else game
        config = SearchConfig(
            num_simulations=SIMULATIONS_PER_EVALUATION * evaluations,
            max_evaluations=evaluations,
            chance=ChanceConfig.preset(mode),
            **kit_of(game).net_search,
        )
        self._forest = Forest(self._game, AtRefill(net, afterstates), config, trees=TREES)
        self._net, self._late = net, late
        self.effort = dict.fromkeys(EFFORT, 0.0)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the most visited draft of each search, or the draft with the best value."""
        logits, _ = self._net(states)
        chosen = [
            max(some or state.legal_actions(), key=lambda action, row=row: logits[row, action])  # type: ignore[misc]
            for row, (state, some) in enumerate(zip(states, allowed, strict=True))
        ]
        late = [
            row
            for row, state in enumerate(states)
            if drafts_left(state) <= self._late and len(allowed[row] or state.legal_actions()) > 1
        ]
        if not late:
            return chosen
        started = time.thread_time()
        own = [KernelState(self._game, vector_of(states[row]).copy()) for row in late]
        results = self._forest.run(
            own, seeds=[own_seed(states[row], seeds[row]) for row in late], actions=[allowed[row] for row in late]
        )
        self.effort["milliseconds"] += 1000.0 * (time.thread_time() - started)
        for row, result in zip(late, results, strict=True):
            chosen[row] = int(result.best_action)
            done = result.stats
            counts = (1, done.evaluations, done.simulations, done.chance_visits, 0.0)
            for name, count in zip(EFFORT, counts, strict=True):
                self.effort[name] += count
        return chosen


def vector_of(state: State) -> Any:
    """Return the state vector."""
    assert isinstance(state, KernelState)
    return state.vector


def drafts_left(state: State) -> int:
    """Return the most drafts that can still be made in the round: the different colours at all sources."""
    vector = vector_of(state)
    at_factories = int((CONTENTS[vector[FACTORY : FACTORY + rules.FACTORIES]] > 0).sum())
    return at_factories + int((vector[CENTRE : CENTRE + NUM_COLOURS] > 0).sum())


# -- measure -----------------------------------------------------------------------------------------------------------


def measure(game: Game, net: PlannedEvaluator, handling: str, seeds: Sequence[int], wanted: Any) -> dict[str, Any]:
    """Play a block of pairs of a handling against the leaf at the edge; return scores, points and the total effort."""
    first, second = (LateSearch(game, net, name, wanted.evaluations, wanted.late) for name in (handling, BASE))
    played = play_pairs(game, first, second, seeds)
    assert played.points is not None
    mine, other = played.points
    return {"scores": played.scores.tolist(), "points": (mine - other).tolist(), "effort": first.effort}


def add(held: dict[str, Any], block: dict[str, Any]) -> None:
    """Add a block to the results of its handling."""
    for name in ("scores", "points"):
        held.setdefault(name, []).extend(block[name])
    effort = held.setdefault("effort", dict.fromkeys(EFFORT, 0.0))
    for name in EFFORT:
        effort[name] += block["effort"][name]


def table(results: dict[str, dict[str, Any]]) -> str:
    """Return the results as a Markdown table; effort is the mean per search."""
    rows = ["| refill | pairs | score against the leaf at the edge | points | evaluations | simulations | ms |",
            "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name, held in results.items():
        score, points = PairMean.of(held["scores"]), PairMean.of_differences(held["points"], None)
        each = {key: value / max(1.0, held["effort"]["searches"]) for key, value in held["effort"].items()}
        low, high = (f"{end:+.2f}" if end is not None else "?" for end in (points.low, points.high))
        rows.append(
            f"| {name} | {score.count:,} | {score.mean:.1%} ({score.low:.1%} to {score.high:.1%}) | {points.mean:+.2f} "
            f"({low} to {high}) | {each['evaluations']:.0f} | {each['simulations']:.0f} | {each['milliseconds']:.1f} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Measure all handlings and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", help="a value network for two players")
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of each handling")
    parser.add_argument("--evaluations", type=int, default=100, help="evaluations per search")
    parser.add_argument("--late", type=int, default=3, help="most drafts left in the round for a search")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="processor time")
    parser.add_argument("--only", nargs="+", choices=HANDLINGS, default=[name for name in HANDLINGS if name != BASE])
    parser.add_argument("--json", type=Path, help="file for the results")
    wanted = parser.parse_args()
    game = aleazero.load_game("azul")
    net = PlannedEvaluator.load(wanted.net, game)
    settings = {name: getattr(wanted, name) for name in ("evaluations", "late", "seed")}
    results: dict[str, dict[str, Any]] = {}
    if wanted.json is not None and wanted.json.exists():
        data = json.loads(wanted.json.read_text(encoding="utf-8"))
        if data["settings"] != settings:
            raise SystemExit(f"{wanted.json} has the settings {data['settings']}, expected {settings}")
        results = data["results"]
    seeds = aleazero.game_seeds(wanted.seed, wanted.pairs)
    for first in range(0, wanted.pairs, BLOCK):
        for handling in wanted.only:
            if len(results.get(handling, {}).get("scores", ())) > first or time.process_time() > 60.0 * wanted.minutes:
                continue
            block = measure(game, net, handling, seeds[first : first + BLOCK], wanted)
            add(results.setdefault(handling, {}), block)
            if wanted.json is not None:
                write_atomic(wanted.json, [json.dumps({"settings": settings, "results": results}).encode()])
    sys.stdout.write(f"{table(results)}\n")


if __name__ == "__main__":
    main()
