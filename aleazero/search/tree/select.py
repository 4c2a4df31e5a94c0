"""Select: the edge of a decision node that a descent takes, by PUCT or UCT.

PUCT maximises ``q + c · sqrt(N) · prior / (1 + n)``, and UCT ``q + c · sqrt(log(N) / n)``. Here q is the mean value of
an edge for the player to move, scaled to [0, 1], n its visits, and N one plus the visits of all edges. Visits in flight
count as visits. Ties go to the first edge.
"""

from __future__ import annotations

import math
from typing import Any

from aleazero.search.tree.arrays import NO_EDGE, LoopSettings, Scratch, Tree
from aleazero.search.tree.nodes import new_edge, take_edges


def select(tree: Tree, settings: LoopSettings, n: Any) -> Any:
    """Closed loop: return the slot of the best edge of a decision."""
    node = tree.nodes[n]
    tried = 1
    untried = False
    for e in range(node.first_edge, node.first_edge + node.num_edges):
        tried += tree.edges[e].visits + tree.edges[e].in_flight
        untried |= tree.edges[e].visits == 0
    # Computed once per node, and only if an edge needs it.
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


def score(tree: Tree, settings: LoopSettings, edge: Any, mover: Any, share: Any, first_play: Any, explore: Any,
          log_tried: Any) -> Any:  # fmt: skip
    """Return the score of an edge by PUCT or UCT; ``share`` is its prior among the edges compared."""
    count = edge.visits + edge.in_flight
    if settings.uct and count == 0:
        return math.inf
    if count == 0 or (edge.visits == 0 and not settings.virtual_loss):
        q = first_play
    elif edge.visits == 0:
        q = 0.0
    else:
        q = scale(tree, edge.total / edge.visits, mover)
        if settings.virtual_loss:  # visits in flight count with the lowest value, 0
            q = edge.visits * q / count
    if settings.uct:
        return q + settings.c * math.sqrt(log_tried / count)
    return q + explore * share / (1.0 + count)


def first_play_value(tree: Tree, settings: LoopSettings, n: Any) -> Any:
    """Return the first-play urgency: the scaled value assumed for an action without visits."""
    if not settings.first_play_parent:
        return settings.first_play
    node = tree.nodes[n]
    return scale(tree, node.value_sums[node.mover] / node.visits, node.mover)


def scale(tree: Tree, value: Any, player: Any) -> Any:
    """Return a value scaled to [0, 1], by the game's range of returns or by the range of edge means found so far."""
    low = tree.low[player]
    high = tree.high[player]
    if not high > low:  # nothing is known of the range yet
        return 0.5
    return min(1.0, max(0.0, (value - low) / (high - low)))


# -- open loop: the legal actions differ between visits of a node ------------------------------------------------------


def select_open(tree: Tree, scratch: Scratch, settings: LoopSettings, n: Any, num_legal: Any) -> Any:
    """Open loop: return the slot of the best legal action, between ``find_slots`` and ``forget_slots``."""
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
        # Priors are weights here: those of the actions that are legal now are scaled to sum to 1.
        share = edge.prior / weight if weight > 0.0 else 1.0 / num_legal
        s = score(tree, settings, edge, node.mover, share, first_play, explore, log_tried)
        if s > best_score:
            best_score = s
            best = slot
    return best


def find_slots(tree: Tree, scratch: Scratch, n: Any, num_legal: Any, reserve: Any) -> bool:
    """Write the slot of every legal action into ``slot_of``, and add edges for new actions.

    Returns False, with nothing changed, if there are no edges left.
    """
    node = tree.nodes[n]
    for slot in range(node.num_edges):
        scratch.slot_of[tree.edges[node.first_edge + slot].action] = slot
    missing = 0
    for i in range(num_legal):
        if scratch.slot_of[scratch.actions[i]] == NO_EDGE:
            missing += 1
    if node.num_edges + missing > node.edge_room:
        # Edges of a node lie side by side, so all move. Twice the room bounds the copies per edge.
        room = min(len(scratch.slot_of), 2 * (node.num_edges + missing))
        moved = take_edges(tree, room, reserve)
        if moved == NO_EDGE:
            forget_slots(tree, scratch, n)
            return False
        for slot in range(node.num_edges):
            tree.edges[moved + slot] = tree.edges[node.first_edge + slot]
            tree.edges[node.first_edge + slot].in_flight = 0
        for slot in range(max(0, node.num_edges), room):  # sums over all edges in flight include unused ones
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


def forget_slots(tree: Tree, scratch: Scratch, n: Any) -> None:
    """Reset ``slot_of`` to NO_EDGE."""
    node = tree.nodes[n]
    for slot in range(node.num_edges):
        scratch.slot_of[tree.edges[node.first_edge + slot].action] = NO_EDGE
