"""Mutated config files."""

from __future__ import annotations

from pathlib import Path
from random import Random

import yaml
from mutations import answers, as_yaml_text, counts, flipped, garbled, survives, swapped, watched
from typer.testing import CliRunner

from aleazero.cli.main import app
from aleazero.runs.config import in_full, read_config

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join([f'*{chr(97 + k)}'] * 9)}]\n" for k in range(12)
)


def mutated(rng, path):
    data = path.read_bytes()
    match rng.randrange(5):
        case 0:
            return flipped(rng, data)
        case 1 | 2:
            return garbled(rng, data.decode()).encode(errors="surrogatepass")
        case _:
            return as_yaml_text(rng, swapped(rng, yaml.safe_load(data))).encode(errors="surrogatepass")


@counts(200)
def test_configs(count, bounded, tmp_path, monkeypatch):
    monkeypatch.chdir(CONFIGS[0].parents[1])
    for seed in range(count):
        rng = Random(f"configs {seed}")
        given = mutated(rng, rng.choice(CONFIGS))
        path = tmp_path / "fuzzed.yaml"
        path.write_bytes(given)
        config = survives(f"config {seed} {given!r:.1500}", read_config, path)
        if config is not None:
            survives(f"config {seed}", in_full, config)
        if seed % 10 == 0:
            with watched():
                result = CliRunner().invoke(app, ["config", rng.choice(("check", "show")), str(path)])
            answers(f"config {seed}", given, result)


@counts(200)
def test_changes_on_the_command_line(count, bounded):
    for seed in range(count):
        rng = Random(f"changes {seed}")
        given = garbled(rng, rng.choice(("seed=3", "gate.pairs=200", "params.target=50", "game=pig", "afterstate={}")))
        survives(f"change {seed}", read_config, CONFIGS[2], [given])


def test_yaml_bombs_are_rejected(tmp_path, bounded):
    merged = BOMB.replace("[x, x, x, x, x, x, x, x, x]", "{x: 1}").replace("[*", "{<<: [*").replace("]\n", "]}\n")
    chain = "a0: &a0 [x]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}]\n" for k in range(1, 500))
    for text, said in (
        (BOMB + "game: *k\n", "characters with aliases expanded"),
        (merged + "game: *k\n", "characters with aliases expanded"),
        (chain + "game: pig\n", "nests more than 32 levels deep"),
        ("game: &a [*a]\n", "inside its own anchor"),
        ("game: pig\nseed: 0x" + "f" * 50_000 + "\n", "more than 40 digits"),
        ("game: pig\nseed: " + ":".join(["1"] * 25_000) + "\n", "more than 40 digits"),
        ("game: pig\n" + "# " + "x" * 100_000 + "\n", "more than 65,536 bytes"),
        ("game: " + "[" * 5_000 + "\n", "nests more than 32 levels deep"),
        ("game: " + "x" * 50_000 + "\n", "characters) … "),
        ("game: pig\n" + "".join(f"k{k}: 1\n" for k in range(2_000)), "no setting 'k0'"),
    ):
        path = tmp_path / "bomb.yaml"
        path.write_text(text, encoding="utf-8")
        with watched():
            result = CliRunner().invoke(app, ["config", "check", str(path)])
        answers(text[:60], text[:200], result, (2,))
        assert said in result.stderr, result.stderr
        assert len(result.stderr) < 1200
