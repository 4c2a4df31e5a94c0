"""Episodes for the tests of replay: random play with the plain rules, and random policies."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from aleazero.games.base import Game, State
from aleazero.games.game_dice import GameDice
from aleazero.games.registry import load_game
from aleazero.replay.shard import KEY, Shard, read_shard, shard_name, write_shard
from aleazero.replay.shard_format import Origin, checksum_of
from aleazero.selfplay.record import EpisodeRecord, final_scores

RACE = str(Path(__file__).parent.parent / "examples" / "race.py")
GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "pig": ("pig", {"target": 20}),
    "solitaire": ("yatzy", {"players": 1}),
    "yatzy": ("yatzy", {"players": 2}),
    "2048": ("2048", {}),
    "tic_tac_toe": ("tic_tac_toe", {}),
    "race": (f"{RACE}:race", {"length": 8}),
}


@cache
def game_of(name: str) -> Game:
    spec, params = GAMES[name]
    return load_game(spec, **params)


def origin_of(name: str, model: str = "model-0") -> Origin:
    return Origin.of(game_of(name), model, GAMES[name][0])


@cache
def episode(name: str, number: int = 0) -> EpisodeRecord:
    """Return a random game. Forced moves are not searched, and a third of the others have no policy target."""
    game = game_of(name)
    rng = np.random.default_rng([len(name), number])
    seed = int(rng.integers(2**64, dtype=np.uint64))
    dice, state = GameDice(seed), game.new_initial_state()
    start, steps, samples = state.to_text(), [], []
    decisions, chosen = 0, False
    while not state.is_terminal():
        if state.is_chance_node():
            action = dice.draw(state)
            if rng.random() < 0.7:
                samples.append(_sample(state, len(steps), decisions, rng, weight=0.0, searched=chosen))
            chosen = False
        else:
            choices = state.legal_actions()
            action = int(rng.choice(choices))
            forced = len(choices) == 1
            weight = 0.0 if forced or rng.random() < 0.3 else float(rng.choice([0.5, 1.0]))
            samples.append(_sample(state, len(steps), decisions, rng, weight, searched=not forced))
            decisions, chosen = decisions + 1, not forced
        steps.append((state.current_player(), action))
        state.apply_action(action)
    returns = np.array(state.returns())
    totals = final_scores(state)
    viewers = np.array([sample["viewers"] for sample in samples], np.int8)
    kinds = {"step": np.int32, "ply": np.int32, "afterstate": np.bool_, "weights": np.float32, "searched": np.bool_}
    return EpisodeRecord(
        game_number=number,
        seed=seed,
        start=start,
        steps=np.array(steps, np.int32),
        returns=returns,
        viewers=viewers,
        scores=np.array([np.roll(totals, -viewer) for viewer in viewers], np.float32),
        **{name: np.array([sample[name] for sample in samples], kind) for name, kind in kinds.items()},
        **{name: np.stack([s[name] for s in samples]) for name in ("observations", "legal_masks", "policies")},
        root_values=np.stack([sample["root_values"] for sample in samples]),
    )


def _sample(state: State, step: int, ply: int, rng: Any, weight: float, searched: bool) -> dict[str, Any]:
    mask = state.legal_actions_mask()
    visits = mask * rng.integers(0, 50, len(mask)) + (mask if weight else 0)
    players = state.game.num_players
    return {
        "step": step,
        "ply": ply,
        "afterstate": state.is_chance_node(),
        "observations": state.observation_tensor(),
        "legal_masks": mask,
        "policies": np.asarray(visits / visits.sum() if weight else np.zeros(len(mask)), np.float32),
        "viewers": state.viewer(),
        "root_values": np.asarray(rng.normal(size=players) if searched else np.zeros(players), np.float32),
        "weights": weight,
        "searched": searched,
    }


def episodes(name: str, first: int, last: int) -> list[EpisodeRecord]:
    return [episode(name, number) for number in range(first, last)]


def make_shard(
    folder: Path, name: str, first: int, last: int, *, iteration: int = 0, number: int | None = None
) -> Path:
    """Write a shard of episodes, numbered as if all shards had the same number of games."""
    path = folder / shard_name(iteration, first // (last - first) if number is None else number)
    write_shard(path, episodes(name, first, last), origin_of(name, f"model-{iteration}"), iteration)
    return path


def damage(path: Path, change: Callable[[dict[str, np.ndarray]], None] | None = None, **meta: Any) -> Shard:
    """Change the columns or metadata of a shard and write it again with a valid checksum."""
    shard = read_shard(path)
    columns = {name: np.array(column) for name, column in shard.columns.items()}
    if change is not None:
        change(columns)
    changed = shard.meta.model_copy(update=meta)
    changed = changed.model_copy(update={"checksum": checksum_of(changed, columns)})
    path.write_bytes(save(columns, {KEY: changed.to_text()}))
    return Shard(path, changed, columns)
