"""The words for evaluators, ways to treat chance and typed moves, the same wherever they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aleazero.errors import ConfigError, nearest
from aleazero.untrusted import whole_number

if TYPE_CHECKING:
    from aleazero.games.base import Game
    from aleazero.search.config import ChanceConfig

CHANCE_WORDS = {
    "closed": "sampling",
    "sampling": "sampling",
    "stratified": "stratified",
    "progressive": "progressive",
    "full": "full",
    "open": "open",
}
"""The preset of ``ChanceConfig`` that each word stands for."""

TYPED = "type a move by name, by the name's last part, or by id"
"""What a person is asked for."""

MOST_PLAYOUTS = 100_000
"""Most playouts of one leaf: nothing is heard of a search while they run."""

EVALUATOR_WORDS = ("uniform", "rollout", "rollout:N", "oracle", "net:PATH")


def read_chance(word: str, what: str = "chance") -> ChanceConfig:
    """How chance is treated, by one word."""
    from aleazero.search.config import ChanceConfig

    if word not in CHANCE_WORDS:
        raise ConfigError(f"is {word!r}, {nearest(word, CHANCE_WORDS)}", field=what)
    return ChanceConfig.preset(CHANCE_WORDS[word])


def chance_name(chance: ChanceConfig) -> str | None:
    """The preset that has these settings; None for others."""
    from aleazero.search.config import PRESETS, ChanceConfig

    return next((name for name in PRESETS if ChanceConfig.preset(name) == chance), None)


def check_evaluator(word: str, what: str = "evaluator") -> None:
    """Refuse what is no evaluator's word."""
    name, colon, number = word.partition(":")
    if name == "net":
        if not number:
            raise ConfigError(f"is {word!r}, expected net:PATH, a network's file", field=what)
        return
    if name not in EVALUATOR_WORDS:
        raise ConfigError(f"is {word!r}, {nearest(name, EVALUATOR_WORDS)}", field=what)
    if colon and (name != "rollout" or not 1 <= (whole_number(number) or 0) <= MOST_PLAYOUTS):
        raise ConfigError(
            f"is {word!r}, expected uniform, rollout, rollout:N with N from 1 to {MOST_PLAYOUTS}, or oracle",
            field=what,
        )


def read_evaluator(word: str, game: Game, what: str = "evaluator", prior_temperature: float | None = None) -> Any:
    """``uniform``, ``rollout``, ``rollout:N`` for N playouts a leaf, ``oracle`` where there is one, or ``net:PATH``."""
    from aleazero.search.evaluator import Rollout, Uniform

    check_evaluator(word, what)
    name, _, number = word.partition(":")
    if prior_temperature is not None and name != "net":
        text = f"is {prior_temperature}, expected none: it is of a value network's priors"
        raise ConfigError(text, field="prior_temperature")
    if name == "oracle":
        from aleazero.oracles.judge import judge_of

        return judge_of(game).evaluator
    if name == "net":
        from aleazero.players.net import read_any_net

        return read_any_net(number, game, prior_temperature=prior_temperature)
    return Uniform() if name == "uniform" else Rollout(int(number or 1))
