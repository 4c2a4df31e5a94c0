"""Every error that a user can cause, in one hierarchy.

    AleaZeroError
    ├── ConfigError          a setting is invalid, or two settings conflict
    ├── GameError            a game cannot be found, loaded, compiled, solved or planned
    │   ├── UnknownGameError     no game has this name
    │   └── ContractError        the rules do not meet the game contract
    ├── PositionError        a position cannot be read, or the game is over in it
    ├── IllegalActionError   the rules do not allow this action or outcome in this state
    ├── EvaluatorError       an evaluator raised an error, or returned a wrong shape or NaN
    ├── CheckpointError      a network file is damaged, or belongs to another game
    ├── ReplayError          samples are missing, damaged, or belong to another game
    └── RunError             a run directory is damaged, in use, or belongs to another run

Each message is one line: the subject, what was given and what is expected. Messages longer than ``LONGEST`` characters,
which quote a long input, are shortened in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Final

LONGEST: Final = 1000
"""Maximum number of characters of a message."""
TAIL: Final = 300
"""Characters that a shortened message keeps from its end, which names what is expected."""


class AleaZeroError(Exception):
    """Base class of all errors that a user can cause.

    Args:
        message: one line. If it has more than ``LONGEST`` characters, its middle is left out.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


def shortened(text: str, most: int = LONGEST, tail: int = TAIL) -> str:
    """Return a text of at most ``most`` characters; the middle of a longer text is left out."""
    if len(text) <= most:
        return text
    note = f" … ({len(text):,} characters) … "
    return f"{text[: most - tail - len(note)]}{note}{text[len(text) - tail :]}"


class ConfigError(AleaZeroError):
    """A setting is invalid, or two settings conflict.

    The name of the setting is an attribute, so that a caller can raise the same error under the name that its users
    see, e.g. that of a command-line option.

    Args:
        problem: what is wrong, e.g. ``is 0, expected at least 1``; the complete message if ``field`` is None.
        field: the setting, or its path in nested settings, e.g. ``gate.pairs``; None if the error is not about one
            setting.
        where: the class or the file that has the setting.
        inside: whether ``problem`` is a sentence about settings inside ``field``.
    """

    def __init__(
        self, problem: object = "", *, field: str | None = None, where: str | None = None, inside: bool = False
    ) -> None:
        self.problem, self.field, self.where, self.inside = str(problem), field, where, inside
        text = self.problem if field is None else f"{field}{':' if inside else ''} {self.problem}"
        super().__init__(text if where is None else f"{where}: {text}")

    def named(self, field: str) -> ConfigError:
        """Return the same error with another name of the setting."""
        return ConfigError(self.problem, field=field, inside=self.inside)

    def below(self, path: str) -> ConfigError:
        """Return the same error for a setting that is nested at a path."""
        if self.field is None:
            return ConfigError(self.problem, field=path, inside=True)
        return self.named(f"{path}.{self.field}")

    def at(self, where: str | None) -> ConfigError:
        """Return the same error with another ``where``."""
        return ConfigError(self.problem, field=self.field, where=where, inside=self.inside)


@contextmanager
def fields_named(names: Mapping[str, str]) -> Iterator[None]:
    """Rename the field of a ConfigError that is raised in this block; ``names`` maps fields to the user's names."""
    try:
        yield
    except ConfigError as error:
        if error.field is None or error.field not in names:
            raise
        raise error.named(names[error.field]) from None


@contextmanager
def fields_below(path: str) -> Iterator[None]:
    """Prefix the field of a ConfigError that is raised in this block with a path."""
    try:
        yield
    except ConfigError as error:
        raise error.below(path) from None


class GameError(AleaZeroError):
    """A game cannot be found, loaded, compiled, solved or planned."""


class UnknownGameError(GameError):
    """No game has this name."""


class ContractError(GameError):
    """The rules of a game do not meet the game contract."""


class PositionError(AleaZeroError):
    """A position cannot be read, is impossible, or cannot be used here, e.g. because the game is over in it."""


class IllegalActionError(AleaZeroError):
    """The rules do not allow this action or outcome in this state."""


class EvaluatorError(AleaZeroError):
    """An evaluator raised an error, or returned a wrong shape or NaN."""


class CheckpointError(AleaZeroError):
    """A network file is damaged, or belongs to another game."""


class ReplayError(AleaZeroError):
    """Samples of played games are missing, damaged, or belong to another game."""


class RunError(AleaZeroError):
    """A run directory is damaged, in use, cannot be written, or belongs to another run."""


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun, e.g. ``1 shard`` or ``2 shards``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for a mistyped word: ``did you mean pig?``, or a list of all known words."""
    choices = sorted(set(known))
    close = get_close_matches(word, choices, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(choices) or 'none'}"
