"""Evaluate: values of leaves inside the loop, and what evaluators outside it are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aleazero.games.base import DECISION
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import extend_key_bits
from aleazero.search.playout import PLAYED, make_playouts
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

    @not_inlined
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


def make_evaluate(kernels: Kernels) -> Callable[..., Any]:
    """The evaluation of one game's waiting leaves inside the loop."""
    returns = kernels.returns
    value_by_playouts = make_playouts(kernels)

    def evaluate_all(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings) -> Any:
        """Evaluate what waits, inside the loop; PLAYED, or what is broken."""
        for v in range(tree.counters[IN_BATCH]):
            visit = batch.visits[v]
            luck = extend_key_bits(tree.luck[ROLLOUT_KEY], visit.simulation)
            for number in range(visit.num_rows):
                row = np.int64(visit.first_row + number)
                if batch.rows[row].known == 1:
                    continue
                value = batch.values[row]
                state = tree.states[batch.rows[row].node] if settings.one_stored_leaf else batch.states[row]
                if settings.evaluator == UNIFORM:
                    returns(state, value)
                    continue
                status = value_by_playouts(state, luck, number * settings.playouts, scratch, settings, value)
                if status != PLAYED:
                    return status
        return PLAYED

    return evaluate_all
