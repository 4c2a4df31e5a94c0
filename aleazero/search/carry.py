"""What else is to be expected where a plan is followed: numbers of the states at its end, carried back to a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from aleazero.games.base import State
from aleazero.search.plan import PlanGraph, Tell, Vector


def carried(graph: PlanGraph, place: Any, tell: Tell) -> dict[int, Vector]:
    """By action (at a chance node: by outcome) of a place, what is expected behind it where the plan is followed."""
    ways: dict[Any, list[tuple[float, Any]]] = {}
    roots = {edge.label: edge.place for edge in graph.edges(place)}
    waiting, ends = list(roots.values()), {}
    while waiting:
        here = waiting.pop()
        if _name(here) not in ways:
            ways[_name(here)] = found = _ways(graph, here)
            waiting += [child for _, child in found]
            if not found:
                ends[_name(here)] = graph.state(here)
    known: dict[Any, Vector] = dict(zip(ends, tell(list(ends.values())), strict=True))
    names = [_name(root) for root in roots.values()]
    while names:  # a place waits until all behind it are known
        name = names[-1]
        unknown = [_name(child) for _, child in ways[name] if _name(child) not in known]
        if name in known or not unknown:
            names.pop()
        if name not in known:
            names += unknown
            if not unknown:
                known[name] = np.sum([share * known[_name(child)] for share, child in ways[name]], axis=0)
    return {label: known[_name(root)] for label, root in roots.items()}


def _name(place: Any) -> Any:
    """What equal places share."""
    return place.key() if isinstance(place, State) else place


def _ways(graph: PlanGraph, place: Any) -> list[tuple[float, Any]]:
    """Where play goes from a place, and how often: by the best action, or by luck; nowhere at the plan's end."""
    edges = graph.edges(place)
    if not edges or edges[0].probability is not None:
        return [(edge.probability or 0.0, edge.place) for edge in edges]
    best = graph.best(place, graph.state(place).current_player())
    return [(1.0, edge.place) for edge in edges if edge.label == best]
