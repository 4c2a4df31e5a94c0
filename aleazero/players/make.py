"""From a player's text to the player."""

from __future__ import annotations

from typing import Any, Final

from aleazero.errors import ConfigError
from aleazero.games.base import Game
from aleazero.players.player import Player
from aleazero.players.spec import PlayerSpec, parse_spec
from aleazero.players.words import read_chance, read_evaluator

SIMULATIONS: Final = 200
NET_SIMULATIONS: Final = 64
"""Where a network values leaves, which takes its time and needs fewer."""
ENDLESS: Final = 2**31 - 2
"""The most simulations there can be."""
SIMULATIONS_AN_EVALUATION: Final = 10
"""Where only evaluations are limited: near the end of a game most simulations need none, and would go on for ever."""
FIELDS: Final = {"sims": "num_simulations", "evaluations": "max_evaluations", "c": "c", "selection": "selection"}
"""What the settings of ``search`` and ``net`` are called in ``SearchConfig``."""


def make_player(spec: str | PlayerSpec, game: Game, *, threads: int = 1) -> Player:
    """The player that a text describes, e.g. ``search:sims=200,evaluator=rollout,chance=stratified``.

    ``threads`` are for searches of many positions at once; actions do not depend on it.
    """
    if not isinstance(game, Game):
        raise ConfigError(f"game is {game!r}, expected a Game: aleazero.load_game makes one")
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    try:
        return _MAKERS[parsed.kind](game, dict(parsed.settings), threads)
    except ConfigError as error:
        raise ConfigError(f"player {spec!r}: {_in_words_of_the_spec(str(error))}") from None


def _random(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.simple import RandomPlayer

    return RandomPlayer()


def _greedy(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.simple import greedy_player

    return greedy_player(game)


def _oracle(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.oracles.judge import judge_of
    from aleazero.players.simple import OraclePlayer

    return OraclePlayer(judge_of(game))


def _alone(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.oracles.yatzy import load_or_build
    from aleazero.players.alone import AlonePlayer

    if game.name != "yatzy":
        raise ConfigError(f"{game!r} has no best play alone, expected yatzy")
    return AlonePlayer(load_or_build())


def _search(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.searching import SearchPlayer
    from aleazero.search.config import SearchConfig

    word, prior_temperature = settings.pop("evaluator", "rollout"), settings.pop("prior_temperature", None)
    evaluator = read_evaluator(word, game, prior_temperature=prior_temperature)
    chance = settings.pop("chance", None)
    if "sims" not in settings:
        allowed = SIMULATIONS_AN_EVALUATION * settings.get("evaluations", 0)
        settings["sims"] = max(1, min(ENDLESS, allowed)) if "evaluations" in settings else SIMULATIONS
    given = {FIELDS[key]: value for key, value in settings.items()}
    config = SearchConfig(chance=None if chance is None else read_chance(chance), **given)
    return SearchPlayer(game, evaluator, config, threads)


def _plan(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.planning import PlanPlayer

    evaluator = read_evaluator(settings.pop("evaluator", "rollout"), game)
    return PlanPlayer(game, evaluator, settings)


def _human(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.human import HumanPlayer

    return HumanPlayer()


def _net(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.nets.planned import PlannedNet
    from aleazero.players.net import NetPlayer, read_any_net
    from aleazero.players.planning import PlanPlayer
    from aleazero.players.searching import SearchPlayer
    from aleazero.search.config import SearchConfig

    prior_temperature = settings.pop("prior_temperature", None)
    net = read_any_net(settings.pop("path"), game, settings.pop("inference", None), prior_temperature)
    plans = isinstance(net, PlannedNet)
    settings.setdefault("sims", 0 if plans else NET_SIMULATIONS)
    chance = settings.pop("chance", None)
    if settings["sims"] == 0:
        searching = {"chance": chance, "c": settings.get("c"), "prior_temperature": prior_temperature}
        for name, value in searching.items():
            if value is not None:
                raise ConfigError(f"{name} is of a search, expected none: with sims=0 the network decides alone")
        return PlanPlayer(game, net, net.horizon()) if plans else NetPlayer(net, game)
    given = {FIELDS[key]: value for key, value in settings.items()}
    config = SearchConfig(chance=None if chance is None else read_chance(chance), **given)
    return SearchPlayer(game, net, config, threads)


_MAKERS: Final = {
    "random": _random,
    "greedy": _greedy,
    "oracle": _oracle,
    "alone": _alone,
    "human": _human,
    "search": _search,
    "plan": _plan,
    "net": _net,
}


def _in_words_of_the_spec(message: str) -> str:
    """Call a setting what the text calls it."""
    for key, field in FIELDS.items():
        message = message.replace(f"SearchConfig: {field} is", f"{key} is")
    return message
