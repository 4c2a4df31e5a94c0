"""Searches of mctx on pgx's 2048, each as one compiled function of parameters, a key and root boards.

- ``stochastic``: ``mctx.stochastic_muzero_policy``. Afterstates are nodes; their 32 edges have exact probabilities.
- ``stochastic_tuned``: the same tree with ``mctx.search``. It is faster: the network is called once per simulation
  instead of twice, and Gumbel selection draws no random numbers inside the tree.
- ``muzero``, ``gumbel``: other policies of mctx on ``env.step``. Chance is hidden: the first outcome drawn for an
  action is the only one in its subtree. This is less work than a search with chance nodes.

A simulation expands one node: a state, or with explicit chance an afterstate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx
import pgx
from pgx import play2048

SIDE, CELLS, ACTIONS, OUTCOMES = 4, 16, 4, 32
PLANES, WIDTH = 18, 128
CHANCES = (0.9, 0.1)
NEVER = jnp.finfo(jnp.float32).min

ENV = pgx.make("2048")

Array = jax.Array
Parameters = list[tuple[Array, Array]]
Network = Callable[[Parameters, Array, Array], tuple[Array, Array]]
Searching = Callable[[Parameters, Array, Array], "Found"]


class Found(NamedTuple):
    """The result of a search, and the part of its trees that is checked."""

    weights: Array  # [B, 4] of the actions
    boards: Array  # [B, N, 16]
    is_state: Array  # [B, N] a state, not an afterstate
    visits: Array  # [B, N] 0 for an unused node
    parents: Array  # [B, N]
    edges: Array  # [B, N] the edge from the parent: an action, or 4 + outcome


# Networks: parameters, boards [B, 16] and afterstate [B] → logits [B, 4], values [B].


def make_parameters(key: Array) -> Parameters:
    """Return fixed random weights of 289 → 128 → 128 → 4 logits and a value."""
    sizes = (CELLS * PLANES + 1, WIDTH, WIDTH, ACTIONS + 1)
    keys = jax.random.split(key, 3)
    pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return [(jax.random.normal(key, (n, m)) * (2 / n) ** 0.5, jnp.zeros(m)) for key, n, m in pairs]


def mlp(parameters: Parameters, boards: Array, afterstate: Array) -> tuple[Array, Array]:
    """Apply dense layers to one-hot cells and a flag for afterstates."""
    cells = jax.nn.one_hot(jnp.minimum(boards, PLANES - 1), PLANES).reshape(len(boards), CELLS * PLANES)
    seen = jnp.concatenate([cells, afterstate[:, None].astype(jnp.float32)], axis=1)
    (weights, bias), *_ = parameters
    return _upper_layers(parameters, seen @ weights + bias)


def mlp_lookup(parameters: Parameters, boards: Array, afterstate: Array) -> tuple[Array, Array]:
    """Compute ``mlp`` with lookups: the first layer adds the rows of weights selected by the cells."""
    (weights, bias), *_ = parameters
    rows = jnp.minimum(boards, PLANES - 1) + PLANES * jnp.arange(CELLS)
    hidden = bias + afterstate[:, None] * weights[-1]
    for cell in range(CELLS):
        hidden += weights[rows[:, cell]]
    return _upper_layers(parameters, hidden)


def _upper_layers(parameters: Parameters, hidden: Array) -> tuple[Array, Array]:
    for weights, bias in parameters[1:]:
        hidden = jax.nn.relu(hidden) @ weights + bias
    return hidden[:, :ACTIONS], hidden[:, ACTIONS]


def constant(parameters: Parameters, boards: Array, afterstate: Array) -> tuple[Array, Array]:
    """Return zeros, to measure the cost of tree and game alone."""
    return jnp.zeros((len(boards), ACTIONS)), jnp.zeros(len(boards))


NETWORKS: dict[str, Network] = {"mlp": mlp, "mlp_lookup": mlp_lookup, "constant": constant}


# The game, from parts of pgx: a step is split before the new tile appears.


@jax.vmap
def slide(board: Array, action: Array) -> tuple[Array, Array]:
    """Return the afterstate and its score: ``pgx.play2048._step`` up to the new tile."""
    grid = board.reshape(SIDE, SIDE)
    grid = jax.lax.switch(action, [partial(jnp.rot90, grid, turns) for turns in range(ACTIONS)])
    grid, scores = jax.vmap(play2048._slide_and_merge)(grid)
    grid = jax.lax.switch(action, [partial(jnp.rot90, grid, -turns) for turns in range(ACTIONS)])
    return grid.ravel(), scores.sum().astype(jnp.float32)


@jax.vmap
def legal(board: Array) -> Array:
    """Return which actions change the board, according to pgx."""
    return play2048._legal_action_mask(board.reshape(SIDE, SIDE))


@jax.vmap
def spawn(board: Array, outcome: Array) -> Array:
    """Apply outcome = 2 × cell, plus 1 for a 4; a nonempty cell keeps its tile."""
    here = (jnp.arange(CELLS) == outcome // 2) & (board == 0)
    return jnp.where(here, 1 + outcome % 2, board)


def outcome_logits(boards: Array) -> Array:
    """Return logits [B, 32] of the outcomes whose softmax are the exact probabilities; equal ones on a full board."""
    shares = jnp.log(jnp.array(CHANCES))
    return jnp.where((boards == 0)[:, :, None], shares, NEVER).reshape(-1, OUTCOMES)


def _slide_unless_over(boards: Array, actions: Array) -> tuple[Array, Array, Array]:
    """Slide, but keep boards of finished games, because mctx continues below terminal states."""
    over = ~legal(boards).any(axis=1)
    after, scores = slide(boards, actions)
    return jnp.where(over[:, None], boards, after), jnp.where(over, 0.0, scores), over


def _state(network: Network, parameters: Parameters, boards: Array) -> tuple[Array, Array, Array]:
    """Return logits of the legal actions, values (0 if the game is over), and whether the game is over."""
    can = legal(boards)
    over = ~can.any(axis=1)
    logits, values = network(parameters, boards, jnp.zeros(len(boards), bool))
    return jnp.where(can | over[:, None], logits, NEVER), jnp.where(over, 0.0, values), over


# Searches.


def stochastic(network: Network, sims: int, parameters: Parameters, key: Array, boards: Array) -> Found:
    """Search with the stochastic policy of mctx as released."""

    def decide(parameters: Parameters, key: Array, actions: Array, boards: Array) -> Any:
        after, scores, over = _slide_unless_over(boards, actions)
        _, values = network(parameters, after, jnp.ones(len(boards), bool))
        output = mctx.DecisionRecurrentFnOutput(
            chance_logits=outcome_logits(after), afterstate_value=jnp.where(over, 0.0, values + scores)
        )
        return output, (after, scores)

    def chance(parameters: Parameters, key: Array, outcomes: Array, afterstate: tuple[Array, Array]) -> Any:
        after, scores = afterstate
        boards = spawn(after, outcomes)
        logits, values, over = _state(network, parameters, boards)
        output = mctx.ChanceRecurrentFnOutput(
            action_logits=logits, value=values, reward=scores, discount=jnp.where(over, 0.0, 1.0)
        )
        return output, boards

    logits, values, _ = _state(network, parameters, boards)
    root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=boards)
    output = mctx.stochastic_muzero_policy(
        parameters, key, root, decide, chance, num_simulations=sims, invalid_actions=~legal(boards)
    )
    tree = output.search_tree
    kept = tree.embeddings
    seen = jnp.where(kept.is_decision_node[..., None], kept.state_embedding, kept.afterstate_embedding[0])
    return Found(output.action_weights, seen, kept.is_decision_node, *_shape(tree))


def stochastic_tuned(network: Network, sims: int, parameters: Parameters, key: Array, boards: Array) -> Found:
    """Search the same tree with ``mctx.search``: edges 0 to 3 are actions, 4 to 35 outcomes."""

    def expand(parameters: Parameters, key: Array, edges: Array, node: dict[str, Array]) -> Any:
        is_state = node["is_state"]
        after, scores, over = _slide_unless_over(node["board"], jnp.minimum(edges, ACTIONS - 1))
        boards = jnp.where(is_state[:, None], after, spawn(node["board"], edges - ACTIONS))
        logits, values = network(parameters, boards, is_state)
        can = legal(boards)
        ends = jnp.where(is_state, over, ~can.any(axis=1))
        output = mctx.RecurrentFnOutput(
            reward=jnp.where(is_state, 0.0, node["score"]),
            discount=jnp.where(ends & ~is_state, 0.0, 1.0),
            prior_logits=_edges(jnp.where(can | ends[:, None], logits, NEVER), outcome_logits(boards)),
            value=jnp.where(ends, 0.0, jnp.where(is_state, values + scores, values)),
        )
        return output, {"board": boards, "is_state": ~is_state, "score": scores}

    def select(key: Array, tree: mctx.Tree, index: Array, depth: Array) -> Array:
        shares = jax.nn.softmax(tree.children_prior_logits[index, ACTIONS:])
        outcome = jnp.argmax(shares / (tree.children_visits[index, ACTIONS:] + 1)).astype(jnp.int32)
        action = mctx.gumbel_muzero_interior_action_selection(key, _actions_only(tree), index, depth)
        return jnp.where(tree.embeddings["is_state"][index], action, ACTIONS + outcome)

    def select_at_root(key: Array, tree: mctx.Tree, index: Array) -> Array:
        return mctx.gumbel_muzero_root_action_selection(
            key, _actions_only(tree), index, num_simulations=sims, max_num_considered_actions=ACTIONS
        )

    batch = len(boards)
    logits, values, _ = _state(network, parameters, boards)
    gumbel_key, key = jax.random.split(key)
    none = jnp.full((batch, OUTCOMES), NEVER)
    embedding = {"board": boards, "is_state": jnp.ones(batch, bool), "score": jnp.zeros(batch)}
    tree = mctx.search(
        parameters,
        key,
        root=mctx.RootFnOutput(prior_logits=_edges(logits, none), value=values, embedding=embedding),
        recurrent_fn=expand,
        root_action_selection_fn=select_at_root,
        interior_action_selection_fn=select,
        num_simulations=sims,
        invalid_actions=_edges(~legal(boards), none < 0),
        extra_data=mctx.GumbelMuZeroExtraData(root_gumbel=jax.random.gumbel(gumbel_key, (batch, ACTIONS))),
    )
    completed = jax.vmap(mctx.qtransform_completed_by_mix_value, in_axes=[0, None])(_actions_only(tree), 0)
    weights = jax.nn.softmax(jnp.where(legal(boards), logits + completed, NEVER))
    return Found(weights, tree.embeddings["board"], tree.embeddings["is_state"], *_shape(tree))


def hidden_chance(
    policy: Callable[..., Any], network: Network, sims: int, parameters: Parameters, key: Array, boards: Array
) -> Found:
    """Search with a policy for games without chance nodes, on the complete step of pgx."""

    def step(parameters: Parameters, key: Array, actions: Array, states: Any) -> Any:
        states = jax.vmap(ENV.step)(states, actions, jax.random.split(key, len(actions)))
        logits, values = network(parameters, states._board, jnp.zeros(len(actions), bool))
        output = mctx.RecurrentFnOutput(
            reward=states.rewards[:, 0],
            discount=jnp.where(states.terminated, 0.0, 1.0),
            prior_logits=jnp.where(states.legal_action_mask, logits, NEVER),
            value=jnp.where(states.terminated, 0.0, values),
        )
        return output, states

    logits, values, _ = _state(network, parameters, boards)
    states = pgx_states(boards)
    root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=states)
    output = policy(parameters, key, root, step, num_simulations=sims, invalid_actions=~states.legal_action_mask)
    tree = output.search_tree
    seen = tree.embeddings._board
    return Found(output.action_weights, seen, jnp.ones(seen.shape[:2], bool), *_shape(tree))


def pgx_states(boards: Array) -> Any:
    """Return pgx states for boards with a legal move."""
    states = jax.vmap(ENV.init)(jax.random.split(jax.random.PRNGKey(0), len(boards)))
    states = states.replace(_board=boards, legal_action_mask=legal(boards))
    return states.replace(observation=jax.vmap(ENV.observe)(states))


def _edges(actions: Array, outcomes: Array) -> Array:
    return jnp.concatenate([actions, outcomes], axis=1)


def _actions_only(tree: mctx.Tree) -> mctx.Tree:
    names = ("index", "prior_logits", "visits", "rewards", "discounts", "values")
    cut = {f"children_{name}": getattr(tree, f"children_{name}")[..., :ACTIONS] for name in names}
    return tree.replace(**cut, root_invalid_actions=tree.root_invalid_actions[..., :ACTIONS])


def _shape(tree: mctx.Tree) -> tuple[Array, Array, Array]:
    return tree.node_visits, tree.parents, tree.action_from_parent


VARIANTS: dict[str, Callable[..., Found]] = {
    "stochastic": stochastic,
    "stochastic_tuned": stochastic_tuned,
    "muzero": partial(hidden_chance, mctx.muzero_policy),
    "gumbel": partial(hidden_chance, mctx.gumbel_muzero_policy),
}
EXPLICIT = ("stochastic", "stochastic_tuned")


def make_search(variant: str, network: str, sims: int) -> Searching:
    """Return the compiled search."""
    return jax.jit(partial(VARIANTS[variant], NETWORKS[network], sims))
