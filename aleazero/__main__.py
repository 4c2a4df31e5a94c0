"""``python -m aleazero``: the command."""

from aleazero.cli.main import run

if __name__ == "__main__":
    run()
