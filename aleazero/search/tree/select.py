"""Select: the edge of a decision node that a descent takes, by PUCT or UCT.

PUCT maximizes ``q + c · sqrt(N) · prior / (1 + n)``, and UCT ``q + c · sqrt(log(N) / n)``. Here q is the mean value of
an edge for the player to move, scaled to [0, 1], n its visits, and N one plus the visits of all edges. Visits in flight
count as visits. Ties go to the first edge.
"""

from __future__ import annotations

import math
from typing import Any

from aleazero.native.compile import prefetch
from aleazero.search.tree.arrays import LoopSettings, Tree


def select(tree: Tree, settings: LoopSettings, n: Any) -> Any:
    """Return the slot of the best edge of a decision."""
    node = tree.nodes[n]
    if node.num_edges == 1:
        return 0
    tried = 1
    untried = False
    for e in range(node.first_edge, node.first_edge + node.num_edges):
        tried += tree.edges[e].visits + tree.edges[e].in_flight
        untried |= tree.edges[e].visits == 0
        prefetch(tree.nodes, tree.edges[e].child)  # one of them is next; an address outside of the array does no harm
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
        q = scale(tree, edge.total, mover) if settings.first_play_logits else first_play
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
    if not high > low:  # the range is not known yet
        return 0.5
    return min(1.0, max(0.0, (value - low) / (high - low)))
