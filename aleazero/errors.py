"""Every error a user can cause, in one tree.

    AleaZeroError
    ├── ConfigError          a setting, or two that do not go together
    ├── GameError            a game that cannot be found, loaded or trusted
    │   ├── UnknownGameError     no game of that name
    │   └── ContractError        the rules do not meet the contract
    ├── PositionError        a position that cannot be read, or where nothing is left to search
    ├── IllegalActionError   an action or outcome the rules do not allow here
    ├── EvaluatorError       an evaluator that raised, or gave the wrong shape or not-a-number
    ├── CheckpointError      a network's file that is damaged, or of another game
    ├── ReplayError          samples that are missing, damaged, or of another game
    └── RunError             a run's directory that is damaged, in use, or of another run

Each message is one line: what, what was got, what was expected. Of a message with more than ``LONGEST`` characters,
which quotes a long input, the middle is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Final

LONGEST: Final = 1000
"""Most characters of a message."""
TAIL: Final = 300
"""How many of them come from the end, where what is expected stands."""


class AleaZeroError(Exception):
    """Base of all errors that AleaZero raises on purpose."""

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


def shortened(text: str, most: int = LONGEST, tail: int = TAIL) -> str:
    """A text of at most this many characters, the middle of a longer one left out."""
    if len(text) <= most:
        return text
    note = f" … ({len(text):,} characters) … "
    return f"{text[: most - tail - len(note)]}{note}{text[len(text) - tail :]}"


class ConfigError(AleaZeroError):
    """A setting is impossible, or two settings do not go together.

    An error about one setting carries its name and its problem apart. A caller whose users know the setting by another
    name, e.g. as an option, raises the same problem under that name.

    Attributes:
        problem: what is wrong, e.g. ``is 0, expected at least 1``; without a field, the whole message.
        field: the setting, or its path inside nested settings, e.g. ``gate.pairs``; None if it is not about one.
        where: the place of the setting, e.g. the class of the settings, or a file.
        inside: whether the problem is a sentence about settings inside ``field``.
    """

    def __init__(
        self, problem: object = "", *, field: str | None = None, where: str | None = None, inside: bool = False
    ) -> None:
        self.problem, self.field, self.where, self.inside = str(problem), field, where, inside
        text = self.problem if field is None else f"{field}{':' if inside else ''} {self.problem}"
        super().__init__(text if where is None else f"{where}: {text}")

    def named(self, field: str) -> ConfigError:
        """Return the same problem of a setting that is called otherwise."""
        return ConfigError(self.problem, field=field, inside=self.inside)

    def below(self, path: str) -> ConfigError:
        """Return the same problem of settings that are nested at a path."""
        if self.field is None:
            return ConfigError(self.problem, field=path, inside=True)
        return self.named(f"{path}.{self.field}")

    def at(self, where: str | None) -> ConfigError:
        """Return the same problem with another place."""
        return ConfigError(self.problem, field=self.field, where=where, inside=self.inside)


@contextmanager
def fields_named(names: Mapping[str, str]) -> Iterator[None]:
    """Let a ConfigError of this block call its field as the user does: ``names`` has the user's names by field."""
    try:
        yield
    except ConfigError as error:
        if error.field is None or error.field not in names:
            raise
        raise error.named(names[error.field]) from None


@contextmanager
def fields_below(path: str) -> Iterator[None]:
    """Let a ConfigError of this block name the whole path of its field: these settings are nested at ``path``."""
    try:
        yield
    except ConfigError as error:
        raise error.below(path) from None


class GameError(AleaZeroError):
    """A game cannot be found, loaded or trusted."""


class UnknownGameError(GameError):
    """No game has this name."""


class ContractError(GameError):
    """A game's rules do not meet the contract."""


class PositionError(AleaZeroError):
    """A position cannot be read, or nothing is left to search in it."""


class IllegalActionError(AleaZeroError):
    """The rules do not allow this action or outcome here."""


class EvaluatorError(AleaZeroError):
    """An evaluator raised, or gave the wrong shape or not-a-number."""


class CheckpointError(AleaZeroError):
    """A network's file is damaged, or belongs to another game."""


class ReplayError(AleaZeroError):
    """Samples of played games are missing, damaged, or of another game."""


class RunError(AleaZeroError):
    """A run's directory is damaged, in use, cannot be written, or belongs to another run."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Say which known words are close to a mistyped one: ``did you mean pig?``, or list them all."""
    choices = sorted(known)
    close = get_close_matches(word, choices, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(choices) or 'none'}"
