"""Evaluate: values of leaves inside the loop, and what evaluators outside it are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.search.borrow import seldom
from aleazero.search.chance import BAD_OUTCOME, make_draw
from aleazero.search.streams import extend_key_bits, unit_at
from aleazero.search.tree import IN_BATCH, ROLLOUT_KEY, UNIFORM, Batch, Scratch, Settings, Tray, Tree


def sound_actions(scratch: Scratch, count: Any) -> bool:
    """Whether the legal actions that the rules listed are some, not too many, and exist."""
    if count < 1 or count > len(scratch.slot_of):
        return False
    for i in range(count):  # noqa: SIM110 -- numba compiles no generators
        if scratch.actions[i] < 0 or scratch.actions[i] >= len(scratch.slot_of):
            return False
    return True


def make_show(kernels: Kernels) -> Callable[..., bool]:
    """What one game's leaves look like to an evaluator: ``show(state, slot, tray, actions) -> whether rules hold``."""
    kind_of = kernels.kind
    legal = kernels.legal
    viewer_of = kernels.viewer
    observe = kernels.observe

    @seldom
    def show(state: Any, slot: Any, tray: Tray, actions: Any) -> bool:
        """Put on the tray what an evaluator outside the loop wants to know of a leaf.

        It is given few arrays, and not whole trees, because every leaf of a network comes by.
        """
        for i in range(len(state)):
            tray.states[slot, i] = state[i]
        observe(state, np.int64(viewer_of(state)), tray.observations[slot])
        for action in range(tray.masks.shape[1]):
            tray.masks[slot, action] = False
        if kind_of(state) != DECISION:
            return True
        count = legal(state, actions)
        if count < 1 or count > tray.masks.shape[1]:
            return False
        for i in range(count):
            if actions[i] < 0 or actions[i] >= tray.masks.shape[1]:
                return False
            tray.masks[slot, actions[i]] = True
        return True

    return show


def make_evaluate(kernels: Kernels) -> Callable[..., bool]:
    """The evaluation of one game's waiting leaves inside the loop."""
    kind_of = kernels.kind
    legal = kernels.legal
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome
    returns = kernels.returns
    draw = make_draw(kernels)

    @seldom
    def play_out(start: Any, key: Any, scratch: Scratch, settings: Settings) -> bool:
        """A random playout from a state; its returns go into the scratch value."""
        state = scratch.walk
        for i in range(len(state)):
            state[i] = start[i]
        for step in range(settings.max_steps):
            kind = kind_of(state)
            if kind == TERMINAL:
                break
            u = unit_at(key, step)
            if kind == CHANCE:
                outcome = np.int64(draw(state, u, scratch))
                if outcome == BAD_OUTCOME:
                    return False
                apply_outcome(state, outcome)
            else:
                count = legal(state, scratch.actions)
                if count < 1 or count > len(scratch.slot_of):
                    return False
                apply(state, scratch.actions[int(u * count)])
        returns(state, scratch.value)
        return True

    @seldom
    def evaluate(batch: Batch, scratch: Scratch, settings: Settings, luck: Any, row: Any, number: Any) -> bool:
        """The value of a leaf by an evaluator inside the loop; ``number`` is the leaf's in its visit.

        False where chance is broken.
        """
        players = batch.values.shape[1]
        if settings.evaluator == UNIFORM:
            returns(batch.states[row], batch.values[row])
            return True
        for p in range(players):
            batch.values[row, p] = 0.0
        for playout in range(number * settings.playouts, (number + 1) * settings.playouts):
            if not play_out(batch.states[row], extend_key_bits(luck, np.uint64(playout)), scratch, settings):
                return False
            for p in range(players):
                batch.values[row, p] += scratch.value[p]
        for p in range(players):
            batch.values[row, p] /= settings.playouts
        return True

    def evaluate_all(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings) -> bool:
        """Evaluate what waits, inside the loop; False where chance is broken."""
        for v in range(tree.counters[IN_BATCH]):
            visit = batch.visits[v]
            luck = extend_key_bits(tree.luck[ROLLOUT_KEY], visit.simulation)
            for number in range(visit.num_rows):
                row = np.int64(visit.first_row + number)
                known = batch.rows[row].known == 1
                if not known and not evaluate(batch, scratch, settings, luck, row, number):
                    return False
        return True

    return evaluate_all
