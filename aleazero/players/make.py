"""Players from specs: the only place where searches and plans get their settings from a spec.

``make_player`` makes a player. ``make_search`` and ``make_plan`` return its parts, for ``analyse``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from aleazero.errors import ConfigError, fields_named, nearest
from aleazero.games.base import Game
from aleazero.games.kit import kit_of
from aleazero.players.player import Player
from aleazero.players.spec import FILE, SETTINGS, PlayerSpec, check_evaluator, parse_spec, read_chance

if TYPE_CHECKING:
    from aleazero.search.config import SearchConfig

EVALUATOR: Final = "rollout"
"""Default evaluator."""
SIMULATIONS: Final = 200
"""Default number of simulations of a search."""
NET_SIMULATIONS: Final = 64
"""Default number of simulations with a network, which needs fewer."""
MOST_SIMULATIONS: Final = 2**31 - 2
SIMULATIONS_PER_EVALUATION: Final = 10
"""Limits the simulations if only evaluations are limited: near the end of a game most simulations need none."""
FIELDS: Final = {"sims": "num_simulations", "evaluations": "max_evaluations", "c": "c", "selection": "selection"}
"""Fields of ``SearchConfig`` for the settings of ``search`` and ``net``."""


def make_player(spec: str | PlayerSpec, game: Game, *, threads: int = 1, max_seconds: float | None = None) -> Player:
    """Make a player from its spec, e.g. ``search:sims=200,evaluator=rollout,chance=stratified``.

    Args:
        spec: the player spec.
        game: the game.
        threads: threads for searches of many positions at once; they do not change the actions.
        max_seconds: time limit of each search. A player with a time limit does not repeat its actions.

    Returns:
        The player.

    Raises:
        ConfigError: if the spec is invalid, or the player does not search but has a time limit.
    """
    if not isinstance(game, Game):
        raise ConfigError(f"game is {game!r}, expected a Game: aleazero.load_game makes one")
    kit = kit_of(game)
    parsed = parse_spec(spec, kinds=kit.players, evaluators=kit.evaluators) if isinstance(spec, str) else spec
    try:
        return _make(parsed, game, threads, max_seconds)
    except ConfigError as error:
        raise error.at(f"player {str(parsed)!r}") from None


def _make(spec: PlayerSpec, game: Game, threads: int, max_seconds: float | None) -> Player:
    from aleazero.players import basic, search

    kind, settings, own = spec.kind, dict(spec.settings), kit_of(game).players
    if kind == "search":
        evaluator, config = make_search(spec, game, max_seconds=max_seconds)
        return search.SearchPlayer(game, evaluator, config, threads, timed=max_seconds is not None)
    if kind == "net":
        return _net_player(game, settings, threads, max_seconds)
    if max_seconds is not None:
        raise ConfigError(f"is {max_seconds}, which has no effect: {kind} does not search", field="max_seconds")
    if kind in own:  # before the built-in kinds: a game may have its own greedy player
        return basic.player_of_kit(own[kind], game, spec.settings, name=f"{kind} of {game.name}")
    if kind == "plan":
        return search.PlanPlayer(game, *make_plan(spec, game))
    if kind == "random":
        return basic.RandomPlayer()
    if kind == "greedy":
        return basic.greedy_player(game)
    if kind == "human":
        return basic.HumanPlayer()
    if kind == "playout":
        if not basic.has_playout(game):
            raise ConfigError(f"{game!r} has no playout policy, expected random, which its playouts use")
        return basic.PlayoutPlayer()
    if kind == "oracle":
        from aleazero.oracles.oracle import require_oracle

        return basic.OraclePlayer(require_oracle(game))
    if kind == FILE:
        return basic.read_player(settings["path"], settings["name"], game)
    raise ConfigError(f"no player {kind!r}, {nearest(kind, [*SETTINGS, *own])}")


def _net_player(game: Game, settings: dict[str, Any], threads: int, max_seconds: float | None) -> Player:
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
                raise ConfigError("requires a search, expected none with sims=0", field=name)
        return PlanPlayer(game, net, net.horizon()) if plans else NetPlayer(net, game)
    config = search_config(settings, NET_SIMULATIONS, net, max_seconds=max_seconds)
    return SearchPlayer(game, net, config, threads, timed=max_seconds is not None)


def make_search(spec: PlayerSpec, game: Game, **limits: Any) -> tuple[Any, SearchConfig]:
    """Return the evaluator and the settings of a ``search`` spec.

    ``limits`` are further fields of ``SearchConfig``, e.g. ``max_seconds``; None keeps the default.
    """
    from aleazero.search.config import chance_of, largest_visit

    settings = dict(spec.settings)
    name, prior_temperature = settings.pop("evaluator", EVALUATOR), settings.pop("prior_temperature", None)
    if prior_temperature is not None and settings.get("selection") == "uct":
        raise ConfigError("has no effect with selection=uct, which ignores priors", field="prior_temperature")
    evaluator = read_evaluator(name, game, prior_temperature=prior_temperature)
    config = search_config(settings, SIMULATIONS, evaluator, **limits)
    least = 1 + largest_visit(chance_of(config, game, evaluator), game)
    if config.max_evaluations is not None and config.max_evaluations < least:
        raise ConfigError(
            f"is {config.max_evaluations}, expected at least {least}: one for the root, and enough for one simulation",
            field="evaluations",
        )
    return evaluator, config


def read_evaluator(text: str, game: Game, prior_temperature: float | None = None, playouts: int = 1) -> Any:
    """Return an evaluator: ``uniform``, ``rollout``, ``rollout:N`` (playouts per leaf), ``oracle`` or ``net:PATH``.

    The kit of the game may have more. ``playouts`` is the number of playouts of ``rollout`` without a number.
    """
    from aleazero.search.evaluator import resolve_evaluator

    own = kit_of(game).evaluators
    check_evaluator(text, more=own)
    name, colon, number = text.partition(":")
    if prior_temperature is not None and name != "net":
        problem = f"is {prior_temperature}, expected none: it applies to the priors of value networks"
        raise ConfigError(problem, field="prior_temperature")
    if name == "oracle":
        from aleazero.oracles.oracle import evaluator_of, require_oracle

        return evaluator_of(require_oracle(game))
    if name == "net":
        from aleazero.players.search import read_any_net

        return read_any_net(number, game, prior_temperature=prior_temperature)
    if name in own:
        return own[name](game, number if colon else None)
    return resolve_evaluator(text, playouts)


def make_plan(spec: PlayerSpec, game: Game) -> tuple[Any, dict[str, Any]]:
    """Return the evaluator and the settings of the ``Planner`` of a ``plan`` spec."""
    from aleazero.search.evaluator import PLAN_PLAYOUTS

    settings = dict(spec.settings)
    if "horizon" in settings and "plies" in settings:
        problem = f"is {settings['plies']} and horizon is {settings['horizon']!r}, expected one of them"
        raise ConfigError(problem, field="plies")
    name = settings.pop("evaluator", None)
    evaluator = read_evaluator(name or EVALUATOR, game, playouts=PLAN_PLAYOUTS)
    evaluates = settings.get("horizon") != "game" or {"keep", "margin"} & settings.keys() or hasattr(evaluator, "ended")
    if name is not None and not evaluates:
        raise ConfigError(
            f"is {name!r}, which has no effect with horizon=game: all values come from the ends of the game",
            field="evaluator",
        )
    return evaluator, settings


def search_config(settings: Mapping[str, Any], simulations: int, evaluator: Any = None, **limits: Any) -> SearchConfig:
    """Return the settings of a search for the settings of a spec.

    ``simulations`` is the default without limits. The evaluator may have defaults of its own, ``search_settings``.
    """
    from aleazero.search.config import SearchConfig

    own = dict(getattr(evaluator, "search_settings", {}))
    if settings.get("chance") == "open":
        own.pop("first_play", None)  # logits require a closed loop
    if settings.get("selection") == "uct":
        own.pop("c", None)
    given = own | {FIELDS[key]: value for key, value in settings.items() if key != "chance"}
    given |= {name: value for name, value in limits.items() if value is not None}
    evaluations = given.get("max_evaluations")
    if "num_simulations" not in given:
        if evaluations is not None:
            simulations = max(1, min(MOST_SIMULATIONS, SIMULATIONS_PER_EVALUATION * evaluations))
        elif "max_seconds" in given:
            simulations = MOST_SIMULATIONS
        given["num_simulations"] = simulations
    chance = settings.get("chance")
    with fields_named({field: key for key, field in FIELDS.items()}):
        return SearchConfig(chance=None if chance is None else read_chance(chance), **given)
