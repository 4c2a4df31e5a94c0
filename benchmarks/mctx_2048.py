"""Measure mctx on pgx's 2048 and print one line of JSON: simulations/s for each search, network and kind of roots.

It runs in an environment with requirements.txt and without aleazero. Before the measurements, rules and searches are
checked with the independent rules in plain_2048.py. ``per_second`` is by wall time, ``per_cpu_second`` by the CPU time
of all threads. Each is the best of several searches, without compilation.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from plain_2048 import ACTIONS, CELLS, Board, legal, random_boards, random_openings, random_roots, slide, spawn

if TYPE_CHECKING:
    from mctx_searches import Found, Searching

VARIANTS = ("stochastic", "stochastic_tuned", "muzero", "gumbel")
NETWORKS = ("mlp", "mlp_lookup", "constant")
CHECKED_BOARDS, CHECKED_TREES = 200, 8


def main() -> None:
    """Pin to cores, check, measure and print."""
    options = read_options()
    cores = pin(options.threads)
    # Imported after pinning, because XLA counts the cores when it is loaded.
    from mctx_searches import EXPLICIT, make_search

    check_rules(random.Random(1))
    check_networks(random.Random(2))
    roots = {
        "opening": random_openings(options.batch, random.Random(3)),
        "midgame": random_roots(options.batch, random.Random(4)),
    }
    rows = []
    for network in options.networks:
        for variant in options.variants:
            search = make_search(variant, network, options.sims)
            for parts in sorted({1, cores}):
                for name, boards in roots.items():
                    what = {"variant": variant, "network": network, "roots": name, "parts": parts}
                    timed = measure(search, boards, options.sims, parts, options.repetitions)
                    rows.append(what | {"explicit_chance": variant in EXPLICIT} | timed)
                    label = ", ".join(map(str, what.values()))
                    sys.stderr.write(f"{label}: {timed['per_second']:,.0f} simulations/s\n")
    about = {
        "batch": options.batch,
        "sims": options.sims,
        "cores": cores,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("jax", "jaxlib", "mctx", "pgx")},
        "roots": roots,
        "rows": rows,
    }
    sys.stdout.write(json.dumps(about) + "\n")


def read_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="cores to use")
    parser.add_argument("--batch", type=int, default=256, help="trees searched at once")
    parser.add_argument("--sims", type=int, default=64, help="simulations per tree")
    parser.add_argument("--repetitions", type=int, default=20, help="timed searches; the best counts")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    return parser.parse_args()


def pin(threads: int) -> int:
    """Restrict this process to this many cores, and XLA to one thread and one device per core."""
    if hasattr(os, "sched_setaffinity"):
        free = sorted(os.sched_getaffinity(0))
        if not 1 <= threads <= len(free):
            raise SystemExit(f"--threads is {threads}, expected 1 to {len(free)}, the number of cores")
        os.sched_setaffinity(0, free[:threads])
    flags = [os.environ.get("XLA_FLAGS", ""), f"--xla_force_host_platform_device_count={threads}"]
    if threads == 1:
        flags += ["--xla_cpu_multi_thread_eigen=false", "intra_op_parallelism_threads=1"]
    os.environ["XLA_FLAGS"] = " ".join(flags)
    os.environ["JAX_PLATFORMS"] = "cpu"
    return threads


def measure(search: Searching, roots: list[Board], sims: int, parts: int, repetitions: int) -> dict[str, float]:
    """Time the search of all roots; the batch is split into parts that run in parallel, each on its own device."""
    import jax
    import jax.numpy as jnp
    from mctx_searches import make_parameters

    devices = jax.devices()[:parts]
    inputs = [
        jax.device_put((make_parameters(jax.random.PRNGKey(0)), jnp.array(roots[part::parts], jnp.int32)), device)
        for part, device in enumerate(devices)
    ]

    def run(seed: int) -> list[Found]:
        keys = [jax.device_put(jax.random.PRNGKey(parts * seed + part), devices[part]) for part in range(parts)]
        return jax.block_until_ready([search(p, key, b) for key, (p, b) in zip(keys, inputs, strict=True)])

    first = run(0)  # compiles
    for part, found in enumerate(first):
        check_trees(found, roots[part::parts], sims)
    wall = cpu = math.inf
    for seed in range(1, 1 + repetitions):
        before = time.perf_counter(), time.process_time()
        run(seed)
        wall = min(wall, time.perf_counter() - before[0])
        cpu = min(cpu, time.process_time() - before[1])
    total = sims * len(roots)
    made = sum(int((found.visits > 0).sum()) for found in first) - len(roots)
    states = sum(int(((found.visits > 0) & found.is_state).sum()) for found in first) - len(roots)
    return {
        "per_second": total / wall,
        "per_cpu_second": total / cpu,
        "state_share": states / made,
    }


def check_rules(dice: random.Random) -> None:
    """Check the step of pgx, and its two halves, on random boards and all actions that change them."""
    import jax
    import jax.numpy as jnp
    import mctx_searches as ours

    boards = random_boards(CHECKED_BOARDS, dice)
    expect("legal moves", ours.legal(jnp.array(boards)).tolist(), [legal(board) for board in boards])
    shares = jax.nn.softmax(ours.outcome_logits(jnp.array(boards))).tolist()
    for board, share in zip(boards, shares, strict=True):
        empty = board.count(0)
        exact = [(0.9, 0.1)[i % 2] / empty if not board[i // 2] else 0.0 for i in range(2 * CELLS)] if empty else share
        expect("outcome shares", all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(share, exact, strict=True)), True)
    all_ends = []
    for action in range(ACTIONS):
        movable = [board for board in boards if legal(board)[action]]
        exact_slides = [slide(board, action) for board in movable]
        actions = jnp.full(len(movable), action)
        after, scores = ours.slide(jnp.array(movable), actions)
        expect("slides", [tuple(board) for board in after.tolist()], [board for board, _ in exact_slides])
        expect("scores", scores.tolist(), [score for _, score in exact_slides])
        keys = jax.random.split(jax.random.PRNGKey(action), len(movable))
        stepped = jax.vmap(ours.ENV.step)(ours.pgx_states(jnp.array(movable)), actions, keys)
        expect("pgx's rewards", stepped.rewards[:, 0].tolist(), [score for _, score in exact_slides])
        for (board, _), new in zip(exact_slides, stepped._board.tolist(), strict=True):
            expect_spawn(board, tuple(new))
        ends = [not any(legal(new)) for new in stepped._board.tolist()]
        expect("ends", stepped.terminated.tolist(), ends)
        all_ends += ends
        for outcome in range(2 * CELLS):
            new = ours.spawn(after, jnp.full(len(movable), outcome)).tolist()
            placed = [board if board[outcome // 2] else spawn(board, outcome // 2, 1 + outcome % 2)
                      for board, _ in exact_slides]  # fmt: skip
            expect("spawns", [tuple(board) for board in new], placed)
    expect("ends among the boards checked", set(all_ends), {False, True})


def check_networks(dice: random.Random) -> None:
    """Check that the network with lookups equals the dense one."""
    import jax
    import jax.numpy as jnp
    from mctx_searches import make_parameters, mlp, mlp_lookup

    boards = jnp.array(random_boards(CHECKED_BOARDS, dice))
    afterstate = jnp.arange(len(boards)) % 2 == 1
    both = [network(make_parameters(jax.random.PRNGKey(0)), boards, afterstate) for network in (mlp, mlp_lookup)]
    for dense, lookup in zip(*both, strict=True):
        expect("networks", bool(jnp.allclose(dense, lookup, atol=1e-4)), True)


def check_trees(found: Found, roots: list[Board], sims: int) -> None:
    """Check that every edge of the first trees follows the rules, and that every simulation is counted."""
    expect("weights", bool(abs(found.weights.sum(axis=1) - 1).max() < 1e-3), True)
    expect("visits of the roots", found.visits[:, 0].tolist(), [1 + sims] * len(roots))
    trees = (field[:CHECKED_TREES].tolist() for field in found[1:])
    for root, boards, is_state, visits, parents, edges in zip(roots[:CHECKED_TREES], *trees, strict=True):
        expect("root", tuple(boards[0]), root)
        for node in range(1, 1 + sims):
            if visits[node]:
                parent, edge, new = boards[parents[node]], edges[node], tuple(boards[node])
                if is_state[parents[node]] and not any(legal(parent)):
                    expect("a board below the end", new, tuple(parent))
                elif is_state[parents[node]]:
                    expect("a legal action", legal(parent)[edge], True)
                    after, _ = slide(parent, edge)
                    if is_state[node]:
                        expect_spawn(after, new)
                    else:
                        expect("an afterstate", new, after)
                elif 0 in parent:
                    outcome = edge - ACTIONS
                    expect("an outcome", new, spawn(parent, outcome // 2, 1 + outcome % 2))


def expect_spawn(after: Board, new: Board) -> None:
    """Check that there is one new tile, a 2 or a 4, on an empty cell."""
    changed = [cell for cell in range(CELLS) if after[cell] != new[cell]]
    expect("a new tile", len(changed) == 1 and after[changed[0]] == 0 and new[changed[0]] in (1, 2), True)


def expect(what: str, got: Any, wanted: Any) -> None:
    """Stop if a value differs from the expected one."""
    if got != wanted:
        raise SystemExit(f"{what}: got {got}, expected {wanted}")


if __name__ == "__main__":
    main()
