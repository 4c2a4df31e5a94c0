"""From a player's text to the player: the only place where searches and plans get their settings from a text.

``make_player`` makes the player itself. ``make_search`` and ``make_plan`` return the parts of one, for ``analyse``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from aleazero.errors import ConfigError, fields_named, nearest
from aleazero.games.base import Game
from aleazero.games.kit import kit_of
from aleazero.players.player import Player
from aleazero.players.spec import FILE, PlayerSpec, check_evaluator, parse_spec, read_chance

if TYPE_CHECKING:
    from aleazero.search.config import SearchConfig

EVALUATOR: Final = "rollout"
"""What values leaves, unless the text names something else."""
SIMULATIONS: Final = 200
NET_SIMULATIONS: Final = 64
"""Where a network values leaves, which takes its time and needs fewer."""
ENDLESS: Final = 2**31 - 2
"""The most simulations there can be."""
SIMULATIONS_AN_EVALUATION: Final = 10
"""Where only evaluations are limited: near the end of a game most simulations need none, and would go on for ever."""
FIELDS: Final = {"sims": "num_simulations", "evaluations": "max_evaluations", "c": "c", "selection": "selection"}
"""What the settings of ``search`` and ``net`` are called in ``SearchConfig``."""


def make_player(spec: str | PlayerSpec, game: Game, *, threads: int = 1, max_seconds: float | None = None) -> Player:
    """Make the player that a text describes, e.g. ``search:sims=200,evaluator=rollout,chance=stratified``.

    ``threads`` are for searches of many positions at once; actions do not depend on it. ``max_seconds`` limits the time
    of each search; such a player does not repeat its actions, and only a player that searches can have it.
    """
    if not isinstance(game, Game):
        raise ConfigError(f"game is {game!r}, expected a Game: aleazero.load_game makes one")
    own = kit_of(game).players
    parsed = parse_spec(spec, kinds=own) if isinstance(spec, str) else spec
    try:
        if max_seconds is None:
            if parsed.kind in _MAKERS:
                return _MAKERS[parsed.kind](game, dict(parsed.settings), threads)
            return _of_kit(game, parsed)
        return _timed(game, parsed, threads, max_seconds)
    except ConfigError as error:
        raise error.at(f"player {str(parsed)!r}") from None


def make_search(spec: PlayerSpec, game: Game, **limits: Any) -> tuple[Any, SearchConfig]:
    """Evaluator and settings of the search that a ``search`` text describes.

    ``limits`` are further fields of ``SearchConfig``, e.g. ``max_seconds``; those that are None keep their defaults.
    """
    from aleazero.search.config import chance_of, largest_visit

    settings = dict(spec.settings)
    word, prior_temperature = settings.pop("evaluator", EVALUATOR), settings.pop("prior_temperature", None)
    if prior_temperature is not None and settings.get("selection") == "uct":
        raise ConfigError("has no effect with selection=uct, which ignores priors", field="prior_temperature")
    evaluator = read_evaluator(word, game, prior_temperature=prior_temperature)
    config = search_config(settings, SIMULATIONS, **limits)
    least = 1 + largest_visit(chance_of(config, game, evaluator), game)
    if config.max_evaluations is not None and config.max_evaluations < least:
        raise ConfigError(
            f"is {config.max_evaluations}, expected at least {least}: one for the root, and those of a simulation; "
            "with fewer there may be no simulation",
            field="evaluations",
        )
    return evaluator, config


def read_evaluator(word: str, game: Game, what: str = "evaluator", prior_temperature: float | None = None) -> Any:
    """``uniform``, ``rollout``, ``rollout:N`` for N playouts a leaf, ``oracle`` where there is one, or ``net:PATH``."""
    from aleazero.search.evaluator import Rollout, Uniform

    check_evaluator(word, what)
    name, _, number = word.partition(":")
    if prior_temperature is not None and name != "net":
        text = f"is {prior_temperature}, expected none: it is of a value network's priors"
        raise ConfigError(text, field="prior_temperature")
    if name == "oracle":
        from aleazero.oracles.oracle import evaluator_of, require_oracle

        return evaluator_of(require_oracle(game))
    if name == "net":
        from aleazero.players.search import read_any_net

        return read_any_net(number, game, prior_temperature=prior_temperature)
    return Uniform() if name == "uniform" else Rollout(int(number or 1))


def make_plan(spec: PlayerSpec, game: Game) -> tuple[Any, dict[str, Any]]:
    """Evaluator and settings of the ``Planner`` that a ``plan`` text describes."""
    settings = dict(spec.settings)
    if "horizon" in settings and "plies" in settings:
        text = f"is {settings['plies']} and horizon is {settings['horizon']!r}, expected one of them"
        raise ConfigError(text, field="plies")
    word = settings.pop("evaluator", None)
    evaluator = read_evaluator(word or EVALUATOR, game)
    evaluates = settings.get("horizon") != "game" or {"keep", "margin"} & settings.keys() or hasattr(evaluator, "ended")
    if word is not None and not evaluates:
        raise ConfigError(
            f"is {word!r}, which has no effect with horizon=game: all values come from the ends of the game",
            field="evaluator",
        )
    return evaluator, settings


def search_config(settings: Mapping[str, Any], simulations: int, **limits: Any) -> SearchConfig:
    """Settings of a search by the keys of a text; ``simulations`` is the default of ``sims`` if nothing limits it.

    With ``evaluations`` alone, simulations are limited too: near the end of a game most of them need no evaluation.
    """
    from aleazero.search.config import SearchConfig

    given = {FIELDS[key]: value for key, value in settings.items() if key != "chance"}
    given |= {name: value for name, value in limits.items() if value is not None}
    evaluations = given.get("max_evaluations")
    if "num_simulations" not in given:
        if evaluations is not None:
            simulations = max(1, min(ENDLESS, SIMULATIONS_AN_EVALUATION * evaluations))
        elif "max_seconds" in given:
            simulations = ENDLESS
        given["num_simulations"] = simulations
    chance = settings.get("chance")
    with fields_named({field: key for key, field in FIELDS.items()}):
        return SearchConfig(chance=None if chance is None else read_chance(chance), **given)


def _random(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.basic import RandomPlayer

    return RandomPlayer()


def _greedy(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.basic import greedy_player

    return greedy_player(game)


def _playout(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.basic import PlayoutPlayer, has_playout

    if not has_playout(game):
        raise ConfigError(f"{game!r} has no playout policy of its own, expected random, which its playouts are")
    return PlayoutPlayer()


def _file(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.basic import read_player

    return read_player(settings["path"], settings["name"], game)


def _oracle(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.oracles.oracle import require_oracle
    from aleazero.players.basic import OraclePlayer

    return OraclePlayer(require_oracle(game))


def _of_kit(game: Game, spec: PlayerSpec) -> Player:
    from aleazero.players.basic import player_of_kit

    if spec.kind not in kit_of(game).players:
        raise ConfigError(f"no player {spec.kind!r}, {nearest(spec.kind, [*_MAKERS, *kit_of(game).players])}")
    return player_of_kit(kit_of(game).players[spec.kind], game, spec.settings, name=f"{spec.kind} of {game.name}")


def _search(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.search import SearchPlayer

    return SearchPlayer(game, *make_search(PlayerSpec("search", settings), game), threads)


def _plan(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.search import PlanPlayer

    return PlanPlayer(game, *make_plan(PlayerSpec("plan", settings), game))


def _human(game: Game, settings: dict[str, Any], threads: int) -> Player:
    from aleazero.players.basic import HumanPlayer

    return HumanPlayer()


def _net(game: Game, settings: dict[str, Any], threads: int, max_seconds: float | None = None) -> Player:
    from aleazero.nets.planned import PlannedEvaluator
    from aleazero.players.search import NetPlayer, PlanPlayer, SearchPlayer, read_any_net

    prior_temperature = settings.pop("prior_temperature", None)
    net = read_any_net(settings.pop("path"), game, settings.pop("inference", None), prior_temperature)
    plans = isinstance(net, PlannedEvaluator)
    if settings.get("sims", 0 if plans else NET_SIMULATIONS) == 0:
        given = {"chance": settings.get("chance"), "c": settings.get("c"), "prior_temperature": prior_temperature,
                 "max_seconds": max_seconds}  # fmt: skip
        for name, value in given.items():
            if value is not None:
                text = "is of a search, expected none: with sims=0 the network decides alone"
                raise ConfigError(text, field=name)
        return PlanPlayer(game, net, net.horizon()) if plans else NetPlayer(net, game)
    config = search_config(settings, NET_SIMULATIONS, max_seconds=max_seconds)
    return SearchPlayer(game, net, config, threads, timed=max_seconds is not None)


def _timed(game: Game, spec: PlayerSpec, threads: int, max_seconds: float) -> Player:
    from aleazero.players.search import SearchPlayer

    if spec.kind == "net":
        return _net(game, dict(spec.settings), threads, max_seconds)
    if spec.kind != "search":
        raise ConfigError(f"is {max_seconds}, which has no effect: {spec.kind} does not search", field="max_seconds")
    return SearchPlayer(game, *make_search(spec, game, max_seconds=max_seconds), threads, timed=True)


_MAKERS: Final = {
    "random": _random,
    "greedy": _greedy,
    "playout": _playout,
    FILE: _file,
    "oracle": _oracle,
    "human": _human,
    "search": _search,
    "plan": _plan,
    "net": _net,
}
