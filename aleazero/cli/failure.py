"""How the command fails: what the user caused is one line on stderr and exit code 2, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from aleazero.errors import AleaZeroError, GameError, shortened
from aleazero.files import reason
from aleazero.untrusted import printable

USER_ERROR = 2


class OneLineErrors(TyperGroup):
    """A group of verbs that ends with one line for what the user, the input or the disk caused.

    These are errors of AleaZero's tree, and what the operating system, text that cannot be decoded, nesting without
    end or a lack of memory raise. Any other exception is a bug and shows its traceback.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            said = what_to_say(error)
            if said is None:
                raise
        typer.echo(f"error: {said}", err=True)
        raise typer.Exit(USER_ERROR) from None


def what_to_say(error: Exception) -> str | None:
    """The line for an error that the user, the input or the disk caused; None for any other.

    A closed pipe is none: whoever reads the output has read enough.
    """
    if isinstance(error, AleaZeroError):
        return one_line(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {one_line(error)}"
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        return one_line(": ".join(str(part) for part in (error.filename, reason(error)) if part))
    if isinstance(error, UnicodeError):
        return f"text is not valid UTF-8: {one_line(error)}"
    if isinstance(error, RecursionError):
        return "the input nests too deeply, expected fewer levels"
    return None


def one_line(error: BaseException | str) -> str:
    """An error's message on one line, safe to print and not too long."""
    return shortened(printable(" ".join(str(error).split()))) or type(error).__name__


@contextmanager
def rules_of(spec: str) -> Iterator[None]:
    """Blame a game that is not ours for what its rules raise; in the games that ship it is a bug, and shows."""
    try:
        yield
    except (AleaZeroError, typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if ".py" not in spec and not spec.startswith("openspiel:"):
            raise
        raise GameError(
            f"{spec}: the rules raised {type(error).__name__}: {one_line(error)}; `aleazero check` finds where"
        ) from error
