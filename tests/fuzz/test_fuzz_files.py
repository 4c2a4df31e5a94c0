"""Mutated shards and checkpoints, also with a valid checksum."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from mutations import answers, counts, flipped, survives, swapped, watched
from played_episodes import damage, game_of, make_shard
from safetensors.numpy import save
from tuple_boards import SMALL
from typer.testing import CliRunner

from aleazero.cli.main import app
from aleazero.games.registry import load_game
from aleazero.nets.checkpoint import PolicyValueInfo, TableInfo, write_checkpoint
from aleazero.nets.config import NetConfig, NetShape, ValueScale
from aleazero.nets.tables import TupleTables
from aleazero.nets.torch_nets import make_body, weights_of
from aleazero.players.make import make_player
from aleazero.replay.check import check_shard, load_origin
from aleazero.replay.shard import read_shard
from aleazero.replay.window import Window, open_folder
from aleazero.training.alphazero import fit
from aleazero.training.config import TrainConfig

LENGTH = 8
METAS = ({}, {}, {}, {"params": {}}, {"params": {"target": []}}, {"params": {"target": 5}}, {"game": "pig"},
         {"game": "x.py"}, {"model": "dummy"}, {"last_game": 10**15}, {"first_game": 2**62, "last_game": 2**62 + 2},
         {"iteration": 2**40}, {"samples": 0}, {"observation_schema": "\x1b[31m"},
         {"rules_version": 10**19})  # fmt: skip
POSITIONS = {"pig": "4-3 turn 2 player 0", "2048": "2 . . 4/. . . ./8 . . ./. . . ."}


def split(data: bytes) -> tuple[dict, bytes]:
    """Return the header and the data of a safetensors file."""
    size = int.from_bytes(data[:LENGTH], "little")
    return json.loads(data[LENGTH : LENGTH + size]), data[LENGTH + size :]


def joined(header: object, numbers: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(LENGTH, "little") + text + numbers


def with_metadata(rng: Random, data: bytes) -> bytes:
    """Return the file with other metadata."""
    header, numbers = split(data)
    texts = header["__metadata__"]
    texts["aleazero"] = json.dumps(swapped(rng, json.loads(texts["aleazero"])))
    return joined(header, numbers)


def mutated(rng: Random, data: bytes) -> bytes:
    header, numbers = split(data)
    match rng.randrange(4):
        case 0:
            return flipped(rng, data)
        case 1:
            return joined(swapped(rng, header), numbers)
        case 2:
            return with_metadata(rng, data)
        case _:
            return joined(header, flipped(rng, numbers))


def disturbed(rng: Random, columns: dict[str, np.ndarray]) -> None:
    """Change some numbers of a column, or its shape."""
    name = rng.choice(sorted(columns))
    column = columns[name]
    if rng.random() < 0.2:
        width = rng.choice((0, 1, 7))
        columns[name] = np.zeros((len(column), width) if column.ndim > 1 else (max(0, len(column) - 1),), column.dtype)
        return
    with np.errstate(all="ignore"):
        for _ in range(rng.choice((1, 3, 100))):
            if column.size:
                value = rng.choice((0, 1, -1, 7, 100, 1e30, np.nan, np.inf, -(2**31), 2**63, rng.randrange(256)))
                bits = np.array([rng.randrange(2**64)], np.uint64).view(np.uint8)[: column.itemsize]
                if column.dtype == np.bool_:
                    column.flat[rng.randrange(column.size)] = bool(value == value and value)
                elif column.dtype.kind == "f":
                    column.flat[rng.randrange(column.size)] = value
                else:
                    column.flat[rng.randrange(column.size)] = bits.view(column.dtype)[0]


@counts(300)
def test_shards(count, bounded, tmp_path):
    names = ("pig", "tic_tac_toe", "2048")
    whole = {name: make_shard(tmp_path / name, name, 0, 2).read_bytes() for name in names}
    folder = tmp_path / "fuzzed"
    folder.mkdir()
    for seed in range(count):
        rng = Random(f"shards {seed}")
        name = rng.choice(names)
        path = folder / "shard_00000_00000.safetensors"
        if rng.random() < 0.5:
            given = mutated(rng, whole[name])
            path.write_bytes(given)
        else:
            path.write_bytes(whole[name])
            damage(path, lambda columns, rng=rng: disturbed(rng, columns), **rng.choice(METAS))
            given = path.read_bytes()
        shard = survives(f"shard {seed}", read_shard, path)
        if shard is not None:
            game = survives(f"shard {seed}", load_origin, shard.meta)
            if game is not None:
                survives(f"shard {seed}", check_shard, shard, game)
        survives(f"window {seed}", use_window, folder)
        if seed % 20 == 0:
            with watched():
                result = CliRunner().invoke(app, ["replay", rng.choice(("check", "show")), str(folder)])
            answers(f"shard {seed}", given[:200], result, (0, 1, 2))


def use_window(folder: Path) -> None:
    open_folder(folder)
    window = Window(folder, 1000)
    if len(window):
        window.take(("observations", "returns", "game"), np.arange(len(window)))
        window.game_spans()
        list(window.records())


def fit_folder(folder: Path, out: Path, config: TrainConfig) -> None:
    fit(game_of("pig"), Window(folder, 1000), out, config)


@counts(15)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # large numbers of a file overflow in means
def test_fits(count, tmp_path):
    """Training on unchecked samples succeeds or fails with one line."""
    pytest.importorskip("torch")
    whole = make_shard(tmp_path / "whole", "pig", 0, 2).read_bytes()
    folder = tmp_path / "fuzzed"
    folder.mkdir()
    path = folder / "shard_00000_00000.safetensors"
    config = TrainConfig(net=NetConfig(width=4, blocks=0), steps=1, batch_size=4, warmup=0)
    for seed in range(min(count, 2000)):
        rng = Random(f"fits {seed}")
        path.write_bytes(whole)
        damage(path, lambda columns, rng=rng: disturbed(rng, columns))
        survives(f"fit {seed}", fit_folder, folder, tmp_path / "n", config)


def checkpoints(folder: Path) -> dict[Path, object]:
    """One checkpoint of each kind, with its game."""
    pig, board = game_of("pig"), load_game("2048")
    from value_checkpoints import trained_checkpoint

    files = {folder / "policy": pig, folder / "value": pig, folder / "tables": board}
    net = NetConfig(width=8, blocks=1)
    write_checkpoint(
        folder / "policy", weights_of(make_body(NetShape.of(pig), net, 1)), PolicyValueInfo.of(pig, net, ValueScale())
    )
    trained_checkpoint(pig, folder / "value", net={"hidden": [4]})
    tables = TupleTables(SMALL)
    tables.weights[::7] = 1.5
    write_checkpoint(folder / "tables", tables.tensors(), TableInfo.of(board, SMALL))
    return files


@counts(150)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_checkpoints(count, bounded, tmp_path):
    files = {path: (path.read_bytes(), game) for path, game in checkpoints(tmp_path).items()}
    path = tmp_path / "fuzzed.safetensors"
    for seed in range(count):
        rng = Random(f"checkpoints {seed}")
        kind = rng.choice(sorted(files))
        data, game = files[kind]
        if rng.random() < 0.8:
            given = mutated(rng, data)
        else:
            header, numbers = split(data)
            texts = header.pop("__metadata__")
            tensors = {name: np.frombuffer(numbers[slice(*one["data_offsets"])],
                                           {"F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4"}[one["dtype"]])
                       .reshape(one["shape"]).copy() for name, one in header.items()}  # fmt: skip
            disturbed(rng, tensors)
            given = save(tensors, texts)
        path.write_bytes(given)
        player = survives(f"{kind.name} {seed} {given[:400]!r}", make_player, f"net:{path},sims=0", game)
        if player is not None and seed % 10 == 0:
            state = game.state_from_text(POSITIONS[game.name])
            survives(f"{kind.name} {seed} {given[:400]!r}", player.select, state, 1)
