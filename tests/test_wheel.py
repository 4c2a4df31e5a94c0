"""The wheel: built, and used in a clean environment."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


def test_the_wheel_contains_only_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "aleazero/py.typed" in names
    assert all(name.startswith(("aleazero/", "aleazero-")) for name in names)
    files = [
        path for end in ("py", "json", "css", "j2", "safetensors") for path in (ROOT / "aleazero").rglob(f"*.{end}")
    ]
    shipped = {str(path.relative_to(ROOT)) for path in files}
    assert "aleazero/evaluation/yatzy/sets/yatzy-small.json" in shipped
    assert {"aleazero/report/page.html.j2", "aleazero/report/style.css"} <= shipped
    assert "aleazero/champions/yatzy_2.safetensors" in shipped
    assert shipped <= set(names)


def test_the_wheel_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    """Install only the wheel and its dependencies."""
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    said = run(tmp_path / "clean" / "bin" / "aleazero", "--version", cwd=tmp_path)
    assert "0." in said
    installed = run(python, "-m", "pip", "list", cwd=tmp_path)
    assert "pytest" not in installed
    assert "open" not in installed
    code = (
        "import aleazero; game = aleazero.load_game('dice_game'); "
        "print(aleazero.Search(game).run(game.state_from_text('14')).best_action, aleazero.__file__)"
    )
    position = "open chance yatzy upper 50 / open chance yatzy upper 60 / player 0 dice 33366 rerolls 1"
    said = run(tmp_path / "clean" / "bin" / "aleazero", "analyse", "yatzy", "--position", position, cwd=tmp_path)
    assert "by the champion that ships" in said
    best, place = run(python, "-c", code, cwd=tmp_path).split()
    assert best == "0"
    assert Path(place).is_relative_to(tmp_path)
