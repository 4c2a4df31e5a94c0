"""The wheel: its contents and metadata, and its use in a clean environment with the dependencies it names."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CARD = "open chance yatzy upper"


def run(*command: object, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd=cwd, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment with the wheel and its dependencies only; return its folder of programs."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "env", with_pip=True)
    run(folder / "env" / "bin" / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder / "env" / "bin"


def test_it_has_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "aleazero/py.typed" in names
    assert all(name.startswith(("aleazero/", "aleazero-")) for name in names)
    files = [
        path for end in ("py", "json", "css", "j2", "safetensors") for path in (ROOT / "aleazero").rglob(f"*.{end}")
    ]
    expected = {str(path.relative_to(ROOT)) for path in files}
    assert "aleazero/evaluation/yatzy/sets/yatzy-small.json" in expected
    assert {"aleazero/report/page.html.j2", "aleazero/report/style.css"} <= expected
    assert "aleazero/champions/yatzy_2.safetensors" in expected
    assert expected <= set(names)


def test_its_metadata_is_valid(wheel: Path) -> None:
    printed = run(sys.executable, "-m", "twine", "check", "--strict", *wheel.parent.iterdir(), cwd=wheel.parent)
    assert printed.count("PASSED") == 2


def test_it_installs_light_dependencies_only(clean: Path, tmp_path: Path) -> None:
    assert "0." in run(clean / "aleazero", "--version", cwd=tmp_path)
    installed = run(clean / "python", "-m", "pip", "list", cwd=tmp_path)
    for name in ("torch", "onnx", "matplotlib", "open_spiel", "pytest", "tensorboard"):
        assert name not in installed


def test_it_searches(clean: Path, tmp_path: Path) -> None:
    code = (
        "import aleazero; game = aleazero.load_game('dice_game'); "
        "print(aleazero.Search(game).run(game.state_from_text('14')).best_action, aleazero.__file__)"
    )
    best, place = run(clean / "python", "-c", code, cwd=tmp_path).split()
    assert best == "0"
    assert Path(place).is_relative_to(clean.parent)


def test_it_analyses_and_plays_yatzy_with_the_bundled_network(clean: Path, tmp_path: Path) -> None:
    position = f"{CARD} 50 / {CARD} 60 / player 0 dice 33366 rerolls 1"
    assert "keep-333" in run(clean / "aleazero", "analyse", "yatzy", "--position", position, cwd=tmp_path)
    printed = run(clean / "aleazero", "play", "yatzy", "--watch", "--seed", 1, "--position", position, cwd=tmp_path)
    assert "the game is over" in printed


@pytest.mark.long  # compiles training of Yatzy
def test_it_trains_yatzy(clean: Path, tmp_path: Path) -> None:
    run(clean / "aleazero", "train", "yatzy", "--minutes", 0.2, "--out", "run", cwd=tmp_path)
    assert (tmp_path / "run" / "models" / "0001.safetensors").is_file()
