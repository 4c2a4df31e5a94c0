"""How the command fails: what the user caused is one line on stderr and exit code 2, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from aleazero.errors import AleaZeroError, GameError

USER_ERROR = 2


class OneLineErrors(TyperGroup):
    """A group of verbs that ends with one line where a verb raises an error of AleaZero's tree."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except AleaZeroError as error:
            typer.echo(f"error: {one_line(error)}", err=True)
            raise typer.Exit(USER_ERROR) from None
        except MemoryError as error:
            typer.echo(f"error: not enough memory: {one_line(error)}", err=True)
            raise typer.Exit(USER_ERROR) from None


def one_line(error: BaseException | str) -> str:
    """An error's message with its line breaks folded."""
    return " ".join(str(error).split()) or type(error).__name__


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
