"""The tree search in plain Python: for object games, and as the reference implementation of the compiled search.

Its results are bit-identical to those of the compiled search, because both do the same operations on the same draws in
the same order. For comparison it also has the *implicit* baseline, which has no chance nodes: children are found by the
state that was drawn.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import CHANCE, DECISION, EXACT, NONE, TERMINAL, Game, State
from aleazero.native.random import DESCENT, ROOT_EVALUATION, draw_at, stream_key
from aleazero.search.config import ChanceConfig, SearchConfig, chance_of
from aleazero.search.evaluator import Rollout, Uniform, logit_unit_of, trust_at_chance, trust_at_decisions, values_ends
from aleazero.search.plain.backup import backup_expectation, backup_sample
from aleazero.search.plain.chance import make_list, may_store, pick_outcome
from aleazero.search.plain.nodes import Cost, Edge, Leaf, Node, PlainView, Values, Visit, sum_priors, walk
from aleazero.search.plain.playout import evaluate_inside
from aleazero.search.status import (
    BROKEN_RULES,
    DONE,
    ENDLESS_CHANCE,
    EVALUATIONS_SPENT,
    FULL,
    MAX_CHANCE_RUN,
    PAUSED,
    WAITING,
    error_for,
)

Logits = list[float] | dict[int, float]
"""By action."""


class Collision(Exception):
    """The descent reached a leaf that waits for its evaluation."""


class NoRoom(Exception):
    """There is no room for a new node."""


class PlainTree:
    """One plain tree; implements ``search.group.TreeHandle``."""

    def __init__(self, game: Game, evaluator: Any, config: SearchConfig, *, implicit: bool = False) -> None:
        self.game, self.evaluator, self.config = game, evaluator, config
        self.at_chance, self.at_decisions = trust_at_chance(evaluator), trust_at_decisions(evaluator)
        self.values_ends = values_ends(evaluator)
        self.logit_unit = logit_unit_of(evaluator) if config.first_play == "logits" else None
        self.implicit = implicit
        self.chance = chance_of(config, game, evaluator)
        if implicit and (self.chance != ChanceConfig() or self.at_chance is not NONE):
            raise ConfigError("the implicit baseline has no chance nodes: expected chance=sampling, afterstates=NONE")
        self.closed = self.chance.loop == "closed"

    def reset(self, state: State, seed: int) -> None:
        """Start a new tree at a state, with the random streams of a seed."""
        self.seed = seed
        self.started = 0
        self.collided = -1  # the simulation that last collided
        self.cost = Cost()
        self.full = self.out_of_budget = False
        self.batch: list[Visit] = []
        self.outcome_counters: dict[int, Node] = {}
        players = self.game.num_players
        self.low, self.high = [math.inf] * players, [-math.inf] * players
        if self.game.info.utility is not None:
            self.low, self.high = ([bound] * players for bound in self.game.info.utility)
        self.root = self._new_node(state.clone(), -1)
        if self.implicit and self.root.kind == CHANCE:
            raise ConfigError("the implicit baseline has no chance nodes: expected a decision at the root")
        if self.root.kind == DECISION or self.at_chance is not NONE:
            self._wait(Visit(ROOT_EVALUATION, leaves=[Leaf(self.root, self.root.state, 0)]))

    # -- the loop: collect leaves, evaluate, absorb ------------------------------------------------------------

    def advance(self, pause: int, limit: int) -> int:
        """Run simulations until ``pause`` or ``limit`` are done or the tree must stop; return its status."""
        while True:
            if self.batch:
                if not isinstance(self.evaluator, Uniform | Rollout):
                    return WAITING
                for visit in self._take_batch():
                    for number, leaf in enumerate(visit.leaves):
                        if leaf.value is None:
                            value = evaluate_inside(self.evaluator, leaf.state, self.seed, visit.simulation, number)
                            self._store_evaluation(leaf, self._own_logits(leaf.state), value)
                    self._finish_visit(visit)
            if self.started == 0 and pause == 0:
                return PAUSED
            if self.full:
                return FULL
            if self.started >= limit:
                return DONE
            if self._is_budget_spent():
                return EVALUATIONS_SPENT
            if self.cost.simulations >= pause:
                return PAUSED
            self._collect(pause, limit)

    def _collect(self, pause: int, limit: int) -> None:
        """Start visits until enough leaves wait, or until ``pause`` if none does: their values may all be known."""
        most = self.config.in_flight
        while len(self.batch) < most and self.started < limit and not self._is_budget_spent():
            if not self.batch and self.cost.simulations >= pause:
                return
            visit = Visit(self.started)
            try:
                self._descend(visit)
            except Exception as reason:
                visit.release()
                if isinstance(reason, Collision):
                    self.cost.collisions += 1
                    self.collided = self.started
                elif isinstance(reason, NoRoom):
                    self.full = True
                else:
                    raise
                return
            for leaf in visit.leaves:
                leaf.value = self._known_value(leaf)
            if self._exceeds_budget(visit):
                self.out_of_budget = True
                visit.release()
                return
            self.started += 1
            self.cost.depth = max(self.cost.depth, *(leaf.depth for leaf in visit.leaves))
            if all(leaf.value is not None for leaf in visit.leaves):
                self._finish_visit(visit)
            else:
                self._wait(visit)

    def _is_budget_spent(self) -> bool:
        most, spent = self.config.max_evaluations, self.cost.evaluations + len(self._requested_leaves())
        return self.out_of_budget or (most is not None and spent >= most)

    def _exceeds_budget(self, visit: Visit) -> bool:
        """Return whether a visit needs more evaluations than are left. It is then not made at all."""
        most, needed = self.config.max_evaluations, sum(leaf.value is None for leaf in visit.leaves)
        return most is not None and self.cost.evaluations + len(self._requested_leaves()) + needed > most

    def _requested_leaves(self) -> list[Leaf]:
        """Return the waiting leaves whose values are not known."""
        return [leaf for visit in self.batch for leaf in visit.leaves if leaf.value is None]

    def _wait(self, visit: Visit) -> None:
        self._set_pending(visit, True)
        self.batch.append(visit)

    def _set_pending(self, visit: Visit, pending: bool) -> None:
        """Let descents collide with the leaves of a visit, and with a chance node that it expands."""
        if visit.expanding:
            visit.path[-1][0].pending = pending
        for leaf in visit.leaves:
            if leaf.node is not None:
                leaf.node.pending = pending

    def _take_batch(self) -> list[Visit]:
        batch, self.batch = self.batch, []
        return batch

    # -- descend -----------------------------------------------------------------------------------------------

    def _descend(self, visit: Visit) -> None:
        """Go from the root to a leaf, or to several below one chance node."""
        key = stream_key(DESCENT, self.seed, visit.simulation)
        node = self.root
        state = node.state if self.closed else node.state.clone()
        depth = chance_run = 0
        while not self._stops_at(node, depth):
            if node.kind == DECISION:
                chance_run = 0
                action = self._select(node, state)
                visit.step(node, action)
                node, state = self._follow(action.children, state, action.action, key, depth)
                depth += 1
                continue
            chance_run += 1
            if chance_run > MAX_CHANCE_RUN:
                raise error_for(ENDLESS_CHANCE, self.game.name)
            if node.edges is None and self.chance.lists_outcomes:
                make_list(node, state, self.chance)
            if node.expand_all and node.edges and node.edges[0].visits + node.edges[0].in_flight == 0:
                self._expand_all_outcomes(visit, node, key, depth)
                return
            before = state if self.closed else state.clone()
            outcome, edge = pick_outcome(node, state, self.chance, self.seed, draw_at(key, depth))
            visit.step(node, edge)
            if node is self.root and not self.closed:
                visit.step(self._root_outcome_counter(outcome), None)
            if self.closed and outcome not in node.children and not may_store(node, self.chance):
                visit.blocked = True
                visit.leaves.append(self._transient(state, outcome, key, depth))
                self._sample_more_outcomes(visit, node, before, key, depth, room=False)
                return
            parent, room = node, may_store(node, self.chance)
            node, state = self._follow(node.children, state, outcome, key, depth)
            depth += 1
            if self._stops_at(node, depth):
                visit.leaves.append(Leaf(node, state, depth))
                if not parent.expand_all:
                    self._sample_more_outcomes(visit, parent, before, key, depth - 1, room)
                return
        visit.leaves.append(Leaf(node, state, depth))

    def _expand_all_outcomes(self, visit: Visit, node: Node, key: int, depth: int) -> None:
        """Add a leaf for every outcome of a chance node, weighted by its probability."""
        visit.step(node, None)
        for place, edge in enumerate(node.edges or []):
            visit.pick(edge)
            child, state = self._follow(node.children, node.state, edge.action, key, depth)
            leaf = Leaf(child, state, depth + 1, edge.prior)
            if child.kind == CHANCE and self.at_chance is NONE:
                leaf.state = self._draw_until_decision(state.clone(), key, depth + 1 + ((place + 1) << 32))
            visit.leaves.append(leaf)
        visit.expanding = True

    def _transient(self, state: State, outcome: int, key: int, depth: int) -> Leaf:
        """Return a leaf below an outcome that is evaluated but not stored."""
        after = state.clone()
        after._apply(outcome)
        return Leaf(None, self._draw_until_decision(after, key, depth + 1), depth + 1)

    def _draw_until_decision(self, state: State, key: int, place: int) -> State:
        """Draw the chance events that follow, if the evaluator does not value chance nodes."""
        draws = 0
        while self.at_chance is NONE and state.is_chance_node():
            draws += 1
            if draws > MAX_CHANCE_RUN:
                raise error_for(ENDLESS_CHANCE, self.game.name)
            state._apply(state.sample_outcome(draw_at(key, place)))
            place += 1
        return state

    def _sample_more_outcomes(self, visit: Visit, node: Node, state: State, key: int, depth: int, room: bool) -> None:
        """Draw further outcomes at the last chance node above a leaf. The visit's value is the mean of all kept.

        An outcome is kept if a visit that draws it first would also end there. Then all that are kept have the
        distribution of the first, and the mean has its expectation. ``room``: the node could store another outcome.
        """
        # A descent that collided is repeated with the same draws. Because these led to a leaf in flight, outcomes
        # drawn in addition would have another distribution.
        samples = 1 if visit.simulation == self.collided else self.chance.samples_per_visit
        for number in range(1, samples):
            place = depth + (number << 32)
            outcome = state.sample_outcome(draw_at(key, place))
            after = state.clone()
            after._apply(outcome)
            if self._ends_below(node, outcome, after, depth + 1, room):
                visit.leaves.append(Leaf(None, self._draw_until_decision(after, key, place + 1), depth + 1))
        visit.divisor = float(len(visit.leaves))

    def _ends_below(self, node: Node, outcome: int, after: State, depth: int, room: bool) -> bool:
        """Return whether a visit that draws this outcome ends right below it, at the state ``after``."""
        child = node.children.get(outcome if self.closed else (after.kind(), after.current_player()))
        if child is not None:
            return not child.pending and self._stops_at(child, depth)
        return not room or self.at_chance is not NONE or not after.is_chance_node()

    def _stops_at(self, node: Node, depth: int) -> bool:
        """Return whether a descent ends at a node: a terminal state, or one whose value comes from the evaluator."""
        if node.pending:
            raise Collision
        if node.kind == TERMINAL:
            return True
        if node.kind == CHANCE:
            if self.at_chance is NONE or (node is self.root and self.root.leaf_values is not None):
                return False
            return node.leaf_values is None or self.at_chance is EXACT or node.exact
        if node.leaf_values is None or depth >= self.config.max_depth:
            return True
        return (self.at_decisions is EXACT or node.exact) and node is not self.root

    def _known_value(self, leaf: Leaf) -> Values | None:
        """Return the value of a leaf that needs no evaluation: a terminal state, or an exact value found before."""
        kind = leaf.state.kind()
        if kind == TERMINAL and not self.values_ends:
            return leaf.state.returns()
        exact = self.at_chance is EXACT if kind == CHANCE else self.at_decisions is EXACT
        stays = exact or kind == TERMINAL or (leaf.node is not None and leaf.node.exact)
        return leaf.node.leaf_values if leaf.node is not None and stays and self.closed else None

    def _follow(self, children: dict[Any, Node], state: State, label: int, key: int, depth: int) -> tuple[Node, State]:
        """Return the child after an action or outcome, and the state there."""
        if self.closed and not self.implicit:
            child = children.get(label)
            if child is None:
                after = state.clone()
                after._apply(label)
                child = children[label] = self._new_node(after, label)
            return child, child.state
        after = state.clone() if self.closed else state
        after._apply(label)
        if self.implicit:
            draws = 0
            while after.is_chance_node():
                draws += 1
                after._apply(after.sample_outcome(draw_at(key, (draws << 32) + depth)))
        own_key: Any = after.key() if self.implicit else (after.kind(), after.current_player())
        child = children.get(own_key)
        if child is None:
            child = children[own_key] = self._new_node(after.clone(), label)
        return child, (child.state if self.closed else after)

    def _root_outcome_counter(self, outcome: int) -> Node:
        """Open loop: return the node that counts an outcome of a chance root. Outcomes share all other statistics."""
        if outcome not in self.outcome_counters:
            self.outcome_counters[outcome] = self._new_node(self.root.state, outcome)
        return self.outcome_counters[outcome]

    def _new_node(self, state: State, label: int) -> Node:
        if self.cost.nodes >= self.config.max_nodes:
            raise NoRoom
        number = self.cost.nodes
        self.cost.nodes += 1
        kind = state.kind()
        mover = state.current_player() if kind == DECISION else -1
        zeros = [0.0] * self.game.num_players
        return Node(state, kind, mover, label, number, value_sums=zeros)

    # -- select ------------------------------------------------------------------------------------------------

    def _select(self, node: Node, state: State) -> Edge:
        assert node.edges is not None
        # In open loop the root's state is always the same, and actions may be excluded there.
        edges = node.edges if self.closed or node is self.root else self._legal_slots(node.edges, state)
        weights = 1.0 if self.closed else sum_priors(edges)
        tried = 1 + sum(edge.visits + edge.in_flight for edge in edges)
        setting = self.config.first_play  # with logits, the edges have values of their own
        first_play = 0.0 if isinstance(setting, str) else setting
        if setting == "parent":
            first_play = self._scale(node.value_sums[node.mover] / node.visits, node.mover)
        explore = self.config.c * math.sqrt(tried)
        best, best_score = edges[0], -math.inf
        for edge in edges:
            count = edge.visits + edge.in_flight
            own = first_play if edge.first_play is None else self._scale(edge.first_play, node.mover)
            q = self._quality(edge, node.mover, count, own)
            if self.config.selection == "puct":
                share = edge.prior / weights if weights > 0.0 else 1.0 / len(edges)
                score = q + explore * share / (1.0 + count)
            elif count == 0:
                score = math.inf
            else:
                score = q + self.config.c * math.sqrt(math.log(tried) / count)
            if score > best_score:
                best, best_score = edge, score
        return best

    def _quality(self, edge: Edge, mover: int, count: int, first_play: float) -> float:
        if self.config.in_flight_mode == "count":
            return self._scale(edge.total / edge.visits, mover) if edge.visits else first_play
        if count == 0:
            return first_play
        won = edge.visits * self._scale(edge.total / edge.visits, mover) if edge.visits else 0.0
        return won / count

    def _scale(self, value: float, player: int) -> float:
        """Return a value scaled to [0, 1], by the range of returns or by the range of edge means found so far."""
        low, high = self.low[player], self.high[player]
        if not high > low:
            return 0.5
        return min(1.0, max(0.0, (value - low) / (high - low)))

    def _legal_slots(self, slots: list[Edge], state: State) -> list[Edge]:
        """Return the edges of the actions that are legal in a state, by action. New ones start with weight 1."""
        by_action = {slot.action: slot for slot in slots}
        legal = state.legal_actions()
        for action in legal:
            if action not in by_action:
                slot = by_action[action] = Edge(action, 1.0)
                slots.append(slot)
        return [by_action[action] for action in legal]

    # -- evaluate ----------------------------------------------------------------------------------------------

    def requested(self) -> list[State]:
        """Return the states that wait for the evaluator."""
        return [leaf.state for leaf in self._requested_leaves()]

    def absorb(self, logits: NDArray[np.float64], values: NDArray[np.float64], exact: NDArray[np.bool_]) -> None:
        """End the waiting visits with the evaluator's answer: expand their leaves and back up values, in order."""
        players = self.game.num_players
        row = 0
        for visit in self._take_batch():
            for leaf in visit.leaves:
                if leaf.value is not None:
                    continue
                viewer = leaf.state.viewer()
                by_player = [float(values[row, (player - viewer) % players]) for player in range(players)]
                self._store_evaluation(leaf, [float(x) for x in logits[row]], by_player, bool(exact[row]))
                row += 1
            self._finish_visit(visit)

    def _own_logits(self, state: State) -> dict[int, float] | None:
        """Return the game's own logits by action, for a search with playouts; None if all priors are equal."""
        if not isinstance(self.evaluator, Rollout) or state.kind() != DECISION:
            return None
        legal = state.legal_actions()
        logits = state._prior_logits(legal)
        if logits is None:
            return None
        if not all(map(math.isfinite, logits)):
            raise error_for(BROKEN_RULES, self.game.name)
        return dict(zip(legal, logits, strict=True))

    def abandon(self) -> None:
        """Remove the waiting visits, as if they had not started."""
        for visit in self._take_batch():
            self._set_pending(visit, False)
            visit.release()
            self.started -= visit.simulation != ROOT_EVALUATION

    # -- expand and back up ------------------------------------------------------------------------------------

    def _store_evaluation(self, leaf: Leaf, logits: Logits | None, value: Values, exact: bool = False) -> None:
        """Store the evaluation of a leaf at its node, and expand the node."""
        self.cost.evaluations += 1
        leaf.value = value
        node = leaf.node
        if node is None or leaf.state.kind() != node.kind:  # transient, or valued by a state drawn below it
            return
        node.leaf_values, node.exact = value, exact
        exact = exact or self.at_decisions is EXACT
        stays_leaf = (exact and node is not self.root) or leaf.depth >= self.config.max_depth
        if node.kind == DECISION and node.edges is None and not stays_leaf:
            self.cost.expansions += 1
            legal = leaf.state.legal_actions()
            scale = 1.0 if self.closed else float(len(legal))
            node.edges = [Edge(a, p * scale) for a, p in zip(legal, _priors(legal, logits), strict=True)]
            if self.logit_unit is not None and logits is not None:
                highest = max(logits[action] for action in legal)
                for edge in node.edges:
                    edge.first_play = value[node.mover] + self.logit_unit * (logits[edge.action] - highest)

    def _finish_visit(self, visit: Visit) -> None:
        """Back up a visit all of whose leaves have values."""
        self._set_pending(visit, False)
        players = range(self.game.num_players)
        value = [0.0 for _ in players]
        picked = visit.path[-1][1] if visit.path else None  # the outcome of the last chance node, if it has a list
        for leaf in visit.leaves:
            assert leaf.value is not None
            for player in players:
                value[player] += leaf.weight * leaf.value[player]
            if leaf.node is not None:
                leaf.node.visits += 1
                for player in players:
                    leaf.node.value_sums[player] += leaf.value[player]
            else:
                self.cost.transient += 1
                if picked is not None:
                    picked.add_transient(leaf.value)
        if self.chance.backup == "expectation":
            backup_expectation(visit)
        else:
            backup_sample(visit, [x / visit.divisor for x in value])
        if self.game.info.utility is None:
            self._learn_range(visit)
        self.cost.exact_expansions += visit.expanding
        self.cost.blocked += visit.blocked
        if visit.simulation != ROOT_EVALUATION:
            self.cost.simulations += 1

    def _learn_range(self, visit: Visit) -> None:
        for node, edge in visit.path:
            if edge is not None and node.kind == DECISION:
                mean = edge.total / edge.visits
                self.low[node.mover] = min(self.low[node.mover], mean)
                self.high[node.mover] = max(self.high[node.mover], mean)

    # -- results -----------------------------------------------------------------------------------------------

    @property
    def simulations(self) -> int:
        """Number of simulations that are backed up."""
        return self.cost.simulations

    def kind(self) -> int:
        """Return the root's kind."""
        return self.root.kind

    def root_actions(self) -> tuple[Any, Any, Any, Any]:
        """Return actions (ascending), visits, q (NaN for actions without visits) and priors at the root."""
        edges = sorted(self.root.edges or [], key=lambda edge: edge.action) if self.root.kind == DECISION else []
        weight = 1.0 if self.closed else sum_priors(self.root.edges or []) or 1.0
        return (
            np.array([edge.action for edge in edges], np.int64),
            np.array([edge.visits for edge in edges], np.int64),
            np.array([edge.total / edge.visits if edge.visits else math.nan for edge in edges], np.float64),
            np.array([edge.prior / weight for edge in edges], np.float64),
        )

    def restrict(self, actions: list[int]) -> None:
        """Remove the root's other actions. The priors of those left are scaled to sum to 1."""
        kept = [edge for edge in self.root.edges or [] if edge.action in actions]
        weight = sum_priors(kept)
        for edge in kept:
            share = edge.prior / weight if weight > 0 else 1.0 / len(kept)
            edge.prior = share if self.closed else share * len(kept)
        self.root.edges = kept

    def mix_noise(self, noise: NDArray[np.float64]) -> None:
        """Mix noise into the root's priors."""
        share = self.config.noise_fraction
        scale = 1.0 if self.closed else float(len(noise))
        for edge, extra in zip(self.root.edges or [], noise, strict=True):
            edge.prior = (1.0 - share) * edge.prior + share * float(extra) * scale

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Return visits and value sums by outcome of a chance root."""
        nodes = self.outcome_counters if not self.closed else self.root.children
        return {node.label: (node.visits, np.array(node.value_sums)) for node in nodes.values()}

    def root_value(self) -> NDArray[np.float64]:
        """Return the root's mean by player."""
        return np.array(self.root.value_sums) / max(1, self.root.visits)

    def in_flight(self) -> int:
        """Return the visits still counted as in flight in the whole tree: 0 between batches."""
        nodes = walk(self.root)
        return sum(node.in_flight for node in nodes) + sum(
            edge.in_flight for node in nodes for edge in node.edges or []
        )

    def view(self) -> PlainView:
        """Return a view of the tree as it is now. The next search makes nodes of its own."""
        cost = replace(self.cost, nodes=self.cost.nodes - len(self.outcome_counters))
        return PlainView(self.root, self.closed, cost)


def _priors(legal: list[int], logits: Logits | None) -> list[float]:
    if logits is None:
        return [1.0 / len(legal)] * len(legal)
    highest = max(logits[action] for action in legal)
    weights = [math.exp(logits[action] - highest) for action in legal]
    total = 0.0
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]
