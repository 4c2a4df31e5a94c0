"""Errors of the command line: one line on stderr and exit code 2 for those that the user or the disk causes.

Any other exception is a bug and shows its traceback.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from aleazero.errors import AleaZeroError, GameError, shortened
from aleazero.files import reason
from aleazero.untrusted import printable

USER_ERROR = 2
"""Exit code."""


class OneLineErrors(TyperGroup):
    """A group of commands that turns errors of the user into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with ``--verbose``, print the traceback of an error before its line."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            line = error_line(error)
            if line is None:
                raise
            if ctx.params.get("verbose"):
                typer.echo(printable(traceback.format_exc()), err=True, nl=False)
        typer.echo(f"error: {line}", err=True)
        raise typer.Exit(USER_ERROR) from None


def error_line(error: Exception) -> str | None:
    """Return the line for an error that the user, the input or the disk caused; None for any other exception.

    A closed pipe is not such an error: the reader of the output has read enough.
    """
    if isinstance(error, AleaZeroError):
        return one_line(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {one_line(error)}"
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        return one_line(": ".join(str(part) for part in (error.filename, reason(error)) if part))
    if isinstance(error, UnicodeError):
        return f"text is not valid UTF-8: {one_line(error)}"
    if isinstance(error, EOFError):
        return "the input ended, expected an answer for each prompt"
    if isinstance(error, RecursionError):
        return "the input nests too deeply, expected fewer levels"
    return None


def one_line(error: BaseException | str) -> str:
    """Return an error's message on one line, safe to print and not too long."""
    return shortened(printable(" ".join(str(error).split()))) or type(error).__name__


@contextmanager
def blame_rules(game: str) -> Iterator[None]:
    """Turn exceptions raised by the rules of a user's game into a GameError; in a bundled game they are bugs."""
    try:
        yield
    except (AleaZeroError, typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if ".py" not in game and not game.startswith("openspiel:"):
            raise
        raise GameError(
            f"{game}: the rules raised {type(error).__name__}: {one_line(error)}; run `aleazero check {game}`"
        ) from error
