"""Strength of a search in Azul by how it handles the refill, at equal evaluations, on paired refills.

    python docs/scripts/azul_refill.py runs/azul/models/0001.safetensors --pairs 1000 --evaluations 1000

Few lines of a search reach the refill early in a round. So players search only if at most ``--late`` drafts remain in
the round, and otherwise take the best draft by the network. Each handling plays whole games against ``edge``:

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
TREES = 32
SIMULATIONS_PER_EVALUATION = 10
"""Simulations that end at known values need no evaluation, so they have a limit of their own."""
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
        self.searches = self.evaluations = self.simulations = self.passed = 0
        self.seconds = 0.0

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the most visited draft of each search, or the draft with the best value."""
        logits, _ = self._net(states)
        chosen = [
            max(some or state.legal_actions(), key=lambda action, row=row: logits[row, action])  # type: ignore[misc]
            for row, (state, some) in enumerate(zip(states, allowed, strict=True))
        ]
        late = [row for row, state in enumerate(states) if drafts_left(state) <= self._late]
        if not late:
            return chosen
        started = time.thread_time()
        own = [KernelState(self._game, vector_of(states[row]).copy()) for row in late]
        results = self._forest.run(
            own, seeds=[own_seed(states[row], seeds[row]) for row in late], actions=[allowed[row] for row in late]
        )
        self.seconds += time.thread_time() - started
        for row, result in zip(late, results, strict=True):
            chosen[row] = int(result.best_action)
            self.searches += 1
            self.evaluations += result.stats.evaluations
            self.simulations += result.stats.simulations
            self.passed += result.stats.chance_visits
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


def measure(path: str, handling: str, wanted: argparse.Namespace) -> dict[str, Any]:
    """Play a handling against the leaf at the edge, and return its score and the effort per search."""
    game = aleazero.load_game("azul")
    net = PlannedEvaluator.load(path, game)
    first, second = (LateSearch(game, net, name, wanted.evaluations, wanted.late) for name in (handling, BASE))
    table = play_pairs(game, first, second, aleazero.game_seeds(wanted.seed, wanted.pairs)).to_dict()
    searches = max(1, first.searches)
    return {
        "handling": handling,
        "pairs": wanted.pairs,
        "score": table["score"],
        "points": table["points"]["difference"],
        "evaluations": first.evaluations / searches,
        "simulations": first.simulations / searches,
        "chance_visits": first.passed / searches,
        "milliseconds": 1000.0 * first.seconds / searches,
        "searches": first.searches,
    }


def main() -> None:
    """Measure all handlings and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", help="a value network for two players")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--evaluations", type=int, default=1000, help="evaluations per search")
    parser.add_argument("--late", type=int, default=6, help="most drafts left in the round for a search")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=HANDLINGS, default=[name for name in HANDLINGS if name != BASE])
    parser.add_argument("--json", type=Path, help="file for the results")
    wanted = parser.parse_args()
    found = []
    sys.stdout.write("| refill | score against the leaf at the edge | points | evaluations | simulations | ms |\n")
    sys.stdout.write("|---|---:|---:|---:|---:|---:|\n")
    for handling in wanted.only:
        row = measure(wanted.net, handling, wanted)
        found.append(row)
        score, points = row["score"], row["points"]
        sys.stdout.write(
            f"| {handling} | {score['mean']:.1%} ({score['low']:.1%} to {score['high']:.1%}) | {points['mean']:+.2f} "
            f"({points['low']:+.2f} to {points['high']:+.2f}) | {row['evaluations']:.0f} | {row['simulations']:.0f} "
            f"| {row['milliseconds']:.1f} |\n"
        )
        sys.stdout.flush()
        if wanted.json is not None:
            settings = {name: getattr(wanted, name) for name in ("pairs", "evaluations", "late", "seed")}
            wanted.json.write_text(json.dumps({**settings, "rows": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
