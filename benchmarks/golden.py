"""Hash results of the library, to show that a change of the code keeps them bit-identical.

    python benchmarks/golden.py before.json       # with the old code (PYTHONPATH selects it)
    python benchmarks/golden.py after.json --compare before.json

Sections: searches (closed and open loop, every preset, in_flight 1 and 8, three kinds of evaluator), the same without
compilation, forests, plans, ``analyse --json``, self-play shards, matches, gates, and four small training runs with
their models, manifests, gate reports and evaluations. Wall times and the bytes of a tree are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import aleazero
from aleazero import ChanceConfig, Forest, Planner, Search, SearchConfig, Widening

ROOT = Path(__file__).resolve().parent.parent
GAMES: dict[str, dict[str, Any]] = {
    "dice_game": {},
    "pig": {},
    "2048": {},
    "tic_tac_toe": {},
    "yatzy": {"players": 1},
    "yatzy-2": {"players": 2},
}
MODES = {
    "sampling": ChanceConfig.preset("sampling"),
    "stratified": ChanceConfig.preset("stratified"),
    "progressive": ChanceConfig.preset("progressive"),
    "full": ChanceConfig.preset("full"),
    "open": ChanceConfig.preset("open"),
    "samples": ChanceConfig(samples_per_visit=4),
    "open-samples": ChanceConfig(loop="open", samples_per_visit=3),
    "widening-expectation": ChanceConfig(widening=Widening(c=1.0, alpha=0.4), backup="expectation"),
}
LEFT_OUT = {"seconds", "time", "tree_bytes", "config", "version", "simulations_per_second", "created", "elapsed"}
FILES_LEFT_OUT = {"events.ndjson", "scalars.csv", "report.html", ".lock"}


class Skewed:
    """An evaluator in Python: priors and values are fixed functions of the observation."""

    def __call__(self, observations: Any, masks: Any) -> tuple[Any, Any]:
        """Return logits and values, one row per leaf."""
        rows = np.asarray(observations, np.float64).reshape(len(masks), -1)
        weights = np.sin(np.arange(rows.shape[1]) + 1.0)
        seen = np.tanh((rows * weights).sum(axis=1) / 8)
        logits = np.cos(np.arange(masks.shape[1])[None, :] * (1.0 + seen[:, None]))
        return logits, np.stack([seen * (1 - 2 * (p % 2)) for p in range(self.players)], axis=1)

    def __init__(self, players: int) -> None:
        self.players = players


def load(name: str) -> Any:
    """Load a game of the list above."""
    return aleazero.load_game(name.partition("-")[0], **GAMES[name])


def positions(game: Any, count: int = 2) -> list[Any]:
    """Return decision states a few moves into a game, each reached by its own fixed choices."""
    found = []
    for number in range(count):
        state = game.new_initial_state()
        for step in range(4 + 3 * number):
            if state.is_terminal():
                break
            while state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[(7 * step + number) % len(outcomes)][0])
            if step < 3 + 2 * number and not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[(5 * step + number) % len(actions)])
        while state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])
        if not state.is_terminal():
            found.append(state)
    return found


def clean(value: Any) -> Any:
    """Return a JSON value without times, sizes in bytes and settings."""
    if isinstance(value, dict):
        return {str(key): clean(item) for key, item in value.items() if str(key) not in LEFT_OUT}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    if isinstance(value, np.ndarray):
        return clean(value.tolist())
    if isinstance(value, np.generic):
        return clean(value.item())
    return value


def digest(value: Any) -> str:
    """Return a short hash of bytes or of a JSON value; floats count with all their bits."""
    data = value if isinstance(value, bytes) else json.dumps(clean(value), sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def evaluators(game: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield evaluators by name."""
    for name in names:
        yield name, {"outside": Skewed(game.num_players), "rollout": aleazero.Rollout()}.get(name, name)


def searches(
    simulations: int, names: tuple[str, ...], flights: tuple[int, ...], backend: Any = "auto"
) -> Iterator[Any]:
    """Yield (name, hash) of searches: result, statistics and the exported tree."""
    for game_name in GAMES:
        game = load(game_name)
        for mode, chance in MODES.items():
            for evaluator_name, evaluator in evaluators(game, names):
                for in_flight in flights:
                    config = SearchConfig(num_simulations=simulations, chance=chance, in_flight=in_flight)
                    found: Any
                    try:
                        search = Search(game, evaluator, config, backend=backend)
                        results = [search.run(s, seed=seed) for s in positions(game) for seed in (1, 2)]
                        found = [[r.to_dict(), json.loads(r.tree(3).to_json())] for r in results]
                    except aleazero.AleaZeroError as error:
                        found = [type(error).__name__]
                    yield f"{game_name} {mode} {evaluator_name} in_flight={in_flight}", digest(found)


def forests() -> Iterator[tuple[str, str]]:
    """Yield (name, hash) of forests with one and two threads, with noise, and of allowed actions."""
    for game_name in GAMES:
        game = load(game_name)
        states = positions(game, 6)
        for mode in ("sampling", "stratified", "open"):
            for evaluator_name, evaluator in evaluators(game, ("rollout", "outside")):
                config = SearchConfig(num_simulations=80, chance=MODES[mode], noise_alpha=0.3, in_flight=2)
                with Forest(game, evaluator, config, trees=4, threads=2) as forest:
                    found = [r.to_dict() for r in forest.run(states, seeds=list(range(len(states))))]
                yield f"{game_name} {mode} {evaluator_name}", digest(found)


def plans() -> Iterator[tuple[str, str]]:
    """Yield (name, hash) of plans: the turn, one or two plies, compiled and plain, with and without pruning."""
    for game_name in GAMES:
        game = load(game_name)
        ways: dict[str, dict[str, Any]] = {
            "turn": {"horizon": "turn"},
            "generic turn": {"horizon": "turn", "solver": "generic"},
            "ply": {"plies": 1},
            "two plies": {"plies": 2, "max_nodes": 20_000},
            "pruned": {"plies": 2, "keep": 2, "max_nodes": 20_000},
            "plain": {"plies": 1, "backend": "plain", "max_nodes": 3_000},
        }
        for way, options in ways.items():
            for evaluator_name, evaluator in evaluators(game, ("uniform", "outside", "rollout")):
                found: list[Any] = []
                for state in positions(game):
                    try:
                        found.append(Planner(game, evaluator, **options).run(state).to_dict())
                    except aleazero.AleaZeroError as error:
                        found.append(type(error).__name__)
                yield f"{game_name} {way} {evaluator_name}", digest(found)


def command(*words: str, folder: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run ``aleazero`` and return its output.

    Raises:
        RuntimeError: the command failed. Equal error messages do not show equal results.
    """
    done = subprocess.run(
        [sys.executable, "-m", "aleazero", *words],
        capture_output=True,
        text=True,
        cwd=folder or ROOT,
        env={**os.environ, **(env or {})},
    )
    if done.returncode:
        raise RuntimeError(f"aleazero {' '.join(words)} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def printed(*words: str) -> Any:
    """Run a command that prints JSON."""
    text = command(*words)
    try:
        return json.loads(text)
    except ValueError:
        return text


ANALYSES = {
    "dice_game": ["--sims", "300"],
    "pig": ["--position", "12-30 turn 18", "--sims", "300"],
    "pig oracle": ["-p", "target=20", "--evaluator", "oracle", "--moves", "roll 5"],
    "pig plan": ["--position", "12-30 turn 18", "--plan", "turn", "--evaluator", "rollout:20"],
    "pig chance root": ["--moves", "roll 5 roll", "--sims", "200"],
    "2048": ["--moves", "2@a1 2@b1", "--sims", "300"],
    "tic_tac_toe": ["--sims", "300"],
    "yatzy champion": ["--moves", "roll-13336"],
    "yatzy": ["--moves", "roll-13336", "--sims", "200"],
    "yatzy one": ["-p", "players=1", "--moves", "13336", "--sims", "200", "--evaluator", "uniform"],
    "examples/race.py": ["--sims", "200"],
    "examples/coins.py:Coins": ["--sims", "200"],
}


def analyses() -> Iterator[tuple[str, str]]:
    """Yield (name, hash) of ``analyse --json``."""
    for name, words in ANALYSES.items():
        yield name, digest(printed("analyse", name.split(" ")[0], *words, "--json"))


def matches() -> Iterator[tuple[str, str]]:
    """Yield (name, hash) of matches and gates."""
    cases = {
        "pig": ["search:sims=30", "greedy"],
        "dice_game": ["oracle", "random"],
        "yatzy": ["net:champion", "random"],
        "tic_tac_toe": ["search:sims=20,chance=open", "search:sims=20,evaluator=uniform"],
        "2048": ["search:sims=10", "random"],
        "examples/tag.py": ["plan:horizon=turn,evaluator=rollout:1", "random"],
    }
    for game, players in cases.items():
        pairs = "1" if game == "2048" else "3"
        yield f"match {game}", digest(printed("match", game, *players, "--seed", "3", "--pairs", pairs, "--json"))
    yield "gate pig", digest(printed("gate", "pig", "greedy", "random", "--pairs", "40", "--json"))
    fixed = ["--rule", "fixed", "--pairs", "10", "--workers", "2", "--json"]
    yield "gate fixed", digest(printed("gate", "dice_game", "search:sims=8", "random", *fixed))


def shards(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, hash) of the files of self-play."""
    cases = {
        "pig": ["--games", "12", "--sims", "16", "--parallel", "5"],
        "pig fast": [
            "--games",
            "12",
            "--sims",
            "16",
            "--full-share",
            "0.5",
            "--fast-sims",
            "4",
            "--temperature",
            "0.5",
        ],
        "yatzy": ["--games", "3", "--sims", "8", "-p", "players=2"],
        "2048": ["--games", "1", "--sims", "4", "--chance", "open"],
        "examples/race.py": ["--games", "8", "--sims", "12", "--chance", "full", "--noise", "0"],
        f"{object_game(folder)}:Seen": ["--games", "6", "--sims", "12"],
    }
    for number, (name, words) in enumerate(cases.items()):
        out = folder / f"replay{number}"
        command("selfplay", name.split(" ")[0], *words, "--workers", "1", "--out", str(out))
        files = sorted(out.rglob("*.safetensors"))
        yield name.rpartition("/")[2], digest({str(f.relative_to(out)): digest(tensor_bytes(f)) for f in files})


def tensor_bytes(file: Path) -> bytes:
    """Return the tensors of a safetensors file, without its header, which has settings and the version."""
    data = file.read_bytes()
    return data[8 + int.from_bytes(data[:8], "little") :]


def object_game(folder: Path) -> Path:
    """Write an object game that networks can learn, and return its file."""
    path = folder / "seen_coins.py"
    path.write_text((ROOT / "examples" / "coins.py").read_text() + OBSERVED)
    return path


OBSERVED = """

class Seen(Coins):
    name = "seen_coins"
    observation_size = 2

    def observation_tensor(self, player):
        return [self.coins / self.most, float(self.flipping)]
"""


RUNS = {
    "afterstate": """
game: pig
params: {target: 10}
rounds: 12
iterations: 3
afterstate: {lanes: 4, SHARDS: 2, batch_size: 16, replay: 100, net: {hidden: [4]}}
gate: {pairs: 10}
evaluate: {pairs: 2, against: [random], regret: false, calibration_games: 10}
""",
    "yatzy": """
game: yatzy
params: {players: 2}
rounds: 4
iterations: 2
gate: {pairs: 10}
evaluate: {pairs: 2, against: [random], calibration_games: 4, ORACLE: 20}
""",
    "tables": """
game: '2048'
rounds: 3
iterations: 2
gate: {rule: fixed, pairs: 10, gain0: -15000, gain1: 0, alpha: 0.2}
evaluate: {pairs: 2, against: [random], ORACLE: 20}
""",
    "object": """
game: OBJECT:Seen
rounds: 6
iterations: 2
gate: {pairs: 10}
evaluate: {pairs: 2, against: [random]}
""",
    "alphazero": """
game: pig
params: {target: 10}
recipe: alphazero
iterations: 2
alphazero:
  games: 6
  first_games: 8
  selfplay: {simulations: 4, parallel: 4, games_per_shard: 2}
  train: {steps: 6, batch_size: 16, warmup: 2, net: {width: 8, blocks: 1}}
play: sims=2
gate: {pairs: 10}
evaluate: {pairs: 2, against: [random], regret: false}
""",
}
KEYS = {"SHARDS": ("lane_groups", "shards"), "ORACLE": ("reference_games", "oracle_games")}
"""Keys of a config that were renamed: the new name, then the old one."""


def runs(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, hash) of every lasting file of four small runs, and of their events without times."""
    for name, text in RUNS.items():
        for index in (0, 1):
            config = text.replace("OBJECT", str(object_game(folder)))
            for key, names in KEYS.items():
                config = config.replace(key, names[index])
            path, out = folder / f"{name}{index}.yaml", folder / f"{name}{index}"
            path.write_text(config)
            try:
                command("train", str(path), "--out", str(out), "--workers", "1")
                break
            except RuntimeError:
                if index:  # neither the new keys nor the old ones
                    raise
        for file in sorted(out.rglob("*")):
            if (
                file.is_file()
                and file.name not in FILES_LEFT_OUT
                and not {"images", "tensorboard", "learning"} & set(file.parts)
            ):
                data: Any = file.read_bytes().replace(str(folder).encode(), b"FOLDER")
                if file.suffix == ".json":
                    data = json.loads(data)
                elif file.suffix == ".safetensors":
                    yield f"{name}/{file.relative_to(out)} tensors", digest(tensor_bytes(file))
                    continue
                yield f"{name}/{file.relative_to(out)}", digest(data)
        events = [json.loads(line) for line in (out / "events.ndjson").read_text().splitlines()]
        yield f"{name}/events", digest([without_times(event) for event in events])


def without_times(event: Any) -> Any:
    """Return an event without numbers that depend on time or on the machine."""
    if isinstance(event, dict):
        timed = (
            "second",
            "minute",
            "time",
            "rate",
            "memory",
            "per_s",
            "_s",
            "pid",
            "host",
            "platform",
            "commit",
            "python",
        )
        return {k: without_times(v) for k, v in event.items() if not any(word in k for word in timed)}
    return [without_times(item) for item in event] if isinstance(event, list) else event


def uncompiled() -> Iterator[tuple[str, str]]:
    """Yield searches and plans of a process without compilation."""
    code = "import json, sys; sys.path.insert(0, sys.argv[1]); import golden; print(json.dumps(dict(golden.short())))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    yield from json.loads(done.stdout).items() if done.returncode == 0 else [("error", done.stderr[-500:])]


def short() -> Iterator[tuple[str, str]]:
    """Yield a few short searches, which also run without compilation."""
    yield from searches(12, ("uniform", "outside"), (3,))


def main() -> None:
    """Write the hashes, or compare them with those of another run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--compare", type=Path, help="hashes of the code before the change")
    parser.add_argument("--only", nargs="*", help="sections to compute")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    sections: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
        "searches": lambda: searches(60, ("uniform", "rollout", "outside"), (1, 8)),
        "long searches": lambda: searches(3000, ("uniform",), (1,)),
        "plain": lambda: searches(30, ("uniform", "outside"), (1,), backend="plain"),
        "uncompiled": uncompiled,
        "forests": forests,
        "plans": plans,
        "analyses": analyses,
        "matches": matches,
        "shards": lambda: shards(folder),
        "runs": lambda: runs(folder),
    }
    hashes: dict[str, dict[str, str]] = {}
    try:
        for name, make in sections.items():
            if options.only is None or name in options.only:
                hashes[name] = dict(make())
                sys.stderr.write(f"{name}: {len(hashes[name])}\n")
                options.out.write_text(json.dumps(hashes, indent=1))
    finally:
        shutil.rmtree(folder)
    if options.compare is not None:
        before = json.loads(options.compare.read_text())
        total = 0
        for name, found in hashes.items():
            other = before.get(name, {})
            different = sorted(key for key in found.keys() | other.keys() if found.get(key) != other.get(key))
            total += len(different)
            sys.stderr.write(f"{name}: {len(found) - len(set(different) & set(found))} of {len(found)} equal\n")
            for key in different:
                sys.stderr.write(f"    {key}: {other.get(key)} -> {found.get(key)}\n")
        sys.exit(total > 0)


if __name__ == "__main__":
    main()
