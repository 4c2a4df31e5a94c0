"""Select: which edge of a decision node a descent takes."""

from __future__ import annotations

import math
from typing import Any

from aleazero.search.tree.arrays import NO_EDGE, Scratch, Settings, Tree
from aleazero.search.tree.nodes import new_edge, take_edges


def scale(tree: Tree, value: Any, player: Any) -> Any:
    """A value in [0, 1]: by the game's utility range, or the tree's running range of edge means."""
    low = tree.low[player]
    high = tree.high[player]
    if not high > low:
        return 0.5
    return min(1.0, max(0.0, (value - low) / (high - low)))


def score(tree: Tree, settings: Settings, edge: Any, mover: Any, share: Any, first_play: Any, explore: Any,
          log_tried: Any) -> Any:  # fmt: skip
    """What an edge promises: its value so far, and how little it was tried."""
    count = edge.visits + edge.in_flight
    if settings.uct and count == 0:
        return math.inf
    if count == 0 or (edge.visits == 0 and not settings.virtual_loss):
        q = first_play
    elif edge.visits == 0:
        q = 0.0
    else:
        q = scale(tree, edge.total / edge.visits, mover)
        if settings.virtual_loss:
            q = edge.visits * q / count
    if settings.uct:
        return q + settings.c * math.sqrt(log_tried / count)
    return q + explore * share / (1.0 + count)


def first_play_value(tree: Tree, settings: Settings, n: Any) -> Any:
    """The value assumed for an action not yet tried."""
    if not settings.first_play_parent:
        return settings.first_play
    node = tree.nodes[n]
    return scale(tree, node.value_sums[node.mover] / node.visits, node.mover)


def select(tree: Tree, settings: Settings, n: Any) -> Any:
    """Closed loop: the best of all edges, as a place among them."""
    node = tree.nodes[n]
    tried = 1
    untried = False
    for e in range(node.first_edge, node.first_edge + node.num_edges):
        tried += tree.edges[e].visits + tree.edges[e].in_flight
        untried |= tree.edges[e].visits == 0
    first_play = first_play_value(tree, settings, n) if untried else 0.0
    explore = settings.c * math.sqrt(tried)
    log_tried = math.log(tried) if settings.uct else 0.0
    best = 0
    best_score = -math.inf
    for slot in range(node.num_edges):
        edge = tree.edges[node.first_edge + slot]
        s = score(tree, settings, edge, node.mover, edge.prior, first_play, explore, log_tried)
        if s > best_score:
            best_score = s
            best = slot
    return best


def open_slots(tree: Tree, scratch: Scratch, n: Any, num_legal: Any, reserve: Any) -> bool:
    """Open loop: find the slot of every legal action, adding those that appear; False where edges need more room."""
    node = tree.nodes[n]
    for slot in range(node.num_edges):
        scratch.slot_of[tree.edges[node.first_edge + slot].action] = slot
    missing = 0
    for i in range(num_legal):
        if scratch.slot_of[scratch.actions[i]] == NO_EDGE:
            missing += 1
    if node.num_edges + missing > node.edge_room:
        room = min(len(scratch.slot_of), 2 * (node.num_edges + missing))
        moved = take_edges(tree, room, reserve)
        if moved == NO_EDGE:
            close_slots(tree, scratch, n)
            return False
        for slot in range(node.num_edges):
            tree.edges[moved + slot] = tree.edges[node.first_edge + slot]
            tree.edges[node.first_edge + slot].in_flight = 0
        for slot in range(max(0, node.num_edges), room):  # counted as in flight before they are used
            tree.edges[moved + slot].in_flight = 0
        node.first_edge = moved
        node.edge_room = room
    for i in range(num_legal):
        action = scratch.actions[i]
        if scratch.slot_of[action] == NO_EDGE:
            scratch.slot_of[action] = node.num_edges
            new_edge(tree, node.first_edge + node.num_edges, action, 1.0)
            node.num_edges += 1
    return True


def close_slots(tree: Tree, scratch: Scratch, n: Any) -> None:
    """Forget which slot an action has."""
    node = tree.nodes[n]
    for slot in range(node.num_edges):
        scratch.slot_of[tree.edges[node.first_edge + slot].action] = NO_EDGE


def select_open(tree: Tree, scratch: Scratch, settings: Settings, n: Any, num_legal: Any) -> Any:
    """Open loop: the best of the legal actions, whose slots are known."""
    node = tree.nodes[n]
    tried = 1
    weight = 0.0
    untried = False
    for i in range(num_legal):
        edge = tree.edges[node.first_edge + scratch.slot_of[scratch.actions[i]]]
        tried += edge.visits + edge.in_flight
        weight += edge.prior
        untried |= edge.visits == 0
    first_play = first_play_value(tree, settings, n) if untried else 0.0
    explore = settings.c * math.sqrt(tried)
    log_tried = math.log(tried) if settings.uct else 0.0
    best = scratch.slot_of[scratch.actions[0]]
    best_score = -math.inf
    for i in range(num_legal):
        slot = scratch.slot_of[scratch.actions[i]]
        edge = tree.edges[node.first_edge + slot]
        share = edge.prior / weight if weight > 0.0 else 1.0 / num_legal
        s = score(tree, settings, edge, node.mover, share, first_play, explore, log_tried)
        if s > best_score:
            best_score = s
            best = slot
    return best
