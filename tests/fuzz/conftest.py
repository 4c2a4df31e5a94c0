"""Let the tests import the mutations and the functions that make their inputs."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(folder) for folder in (HERE, HERE.parent, HERE.parent / "runs") if str(folder) not in sys.path]

from mutations import bounded  # noqa: E402, F401
