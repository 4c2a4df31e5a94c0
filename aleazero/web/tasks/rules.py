"""Tasks of the pages that need the rules of a game. They run in worker processes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aleazero.errors import ConfigError, PositionError
from aleazero.games.base import KIND_NAMES, Game, State
from aleazero.games.kernel import KernelGame
from aleazero.games.kit import kit_of
from aleazero.games.registry import game_names, parse_game_text
from aleazero.games.scene import Move, Selection
from aleazero.games.svg import to_svg
from aleazero.oracles.oracle import why_no_oracle
from aleazero.search.config import PRESETS, ChanceConfig, SearchConfig, Widening
from aleazero.serving.api.listings import players
from aleazero.serving.api.tasks import load
from aleazero.serving.requests import Sources
from aleazero.serving.work import Work
from aleazero.settings import Settings


def bundled_games(payload: Mapping[str, Any], work: Work) -> list[str]:
    """Return the names of the bundled games."""
    return game_names()


def describe_card(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Describe a game for the lobby: texts, parameters with their types, seats, and a picture of a position.

    ``exact`` is set if the game has exact values, or may be small enough to be solved.
    """
    text = payload["text"]
    name, params = parse_game_text(text)
    game = load(name, params, payload["sources"], work)
    return {
        "game": text,
        "name": name,
        "title": title_of(game),
        "about": _about(game),
        "params": game.json_params(ConfigError),
        "fixed": list(params),
        "help": _help(game),
        "players": game.num_players,
        "actions": game.num_actions,
        "chance": game.info.max_outcomes > 0,
        "dice": kit_of(game).rolls_dice,
        "exact": why_no_oracle(game) is None,
        "kinds": players({"sources": payload["sources"], "game": text}, work),
        "examples": [
            {"caption": one.caption, "params": {**params, **one.params}, "position": one.position}
            for one in kit_of(game).examples if one.position is not None
        ],
        **_picture(_shown_state(name, game, payload["sources"], work)),
        "error": None,
    }  # fmt: skip


def _shown_state(name: str, game: Game, sources: Sources, work: Work) -> State:
    """Return the first example of a game, or its first position with a decision."""
    for one in kit_of(game).examples:
        if one.position is not None:
            return load(name, {**game.params, **one.params}, sources, work).state_from_text(one.position)
    state, random = game.new_initial_state(), np.random.default_rng(0)
    while state.is_chance_node():
        state.apply_action(state.sample_outcome(random.random()))
    return state


def _picture(state: State) -> dict[str, Any]:
    """Return a position as SVG, or as text if the game has no drawing, and whether it is higher than wide."""
    scene = state.draw()
    if scene is None:
        return {"picture": str(state), "tall": False}
    return {"picture": to_svg(scene), "tall": scene.height > 1.3 * scene.width}


def board(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Draw a position with the clicks so far, after one more if ``click`` is set.

    The parts of the action ``hint`` are marked: those of its first move, because equal dice stand for the same action.

    Returns:
        The picture as SVG (None if the game has no drawing) and as text, the clicks, the action that they stand for,
        whether it is complete, and the names and titles of the parts by key.
    """
    game = load(payload["game"], payload["params"], payload["sources"], work)
    state = game.state_from_text(payload["position"])
    clicks, action, finished, keys = tuple(payload["clicks"]), None, False, {}
    scene = state.draw(clicks)
    if scene is None:
        return {"svg": None, "text": str(state), "clicks": [], "action": None, "finished": False, "keys": {}}
    clickable: Sequence[str] = ()
    marked: Sequence[str] = ()
    if payload["active"]:
        selection = Selection(scene.moves, clicks)
        if payload["click"] is not None:
            selection = selection.click(payload["click"])
            scene = state.draw(selection.clicks) or scene
        clicks, action, finished = selection.clicks, selection.action, selection.finished
        starts = Selection(scene.moves).clickable
        clickable = sorted({*selection.clickable, *starts})
        hinted = next((move for move in scene.moves if move.action == payload["hint"]), None)
        marked = [] if hinted is None else _parts_of(hinted)
        keys = {shape.key: (shape.part, shape.title) for shape in scene.parts() if shape.key}
    return {
        "svg": to_svg(scene, selected=clicks, clickable=clickable, marked=marked), "text": str(state),
        "clicks": list(clicks), "action": action, "finished": finished, "keys": keys,
    }  # fmt: skip


def _parts_of(move: Move) -> list[str]:
    """Return the parts that a move clicks."""
    return [part for step in move.steps for part in ([step] if isinstance(step, str) else sorted(step))]


def follow_path(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Apply actions and outcomes to a position; return the new position.

    Raises:
        PositionError: the path contains a node that stands for any outcome.
    """
    game = load(payload["game"], payload["params"], payload["sources"], work)
    state = position_of(game, payload["position"])
    for label in payload["path"]:
        if label not in state.legal_actions():
            raise PositionError("in open loop this node stands for all outcomes, so it has no single position")
        state.apply_action(label)
    return {"position": state.to_text(), "node": KIND_NAMES[state.kind()], "player": state.current_player()}


def position_of(game: Game, position: str | None) -> State:
    """Return a position from its text, or the first decision of a game."""
    return game.new_initial_state() if position is None else game.state_from_text(position)


def search_form(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Describe all settings of a search and of its chance handling, with their help texts, for forms."""
    return {
        "search": form_fields(SearchConfig, ("num_simulations", "seed", "chance")),
        "chance": form_fields(ChanceConfig, ("widening",)),
        "widening": form_fields(Widening, ()),
        "presets": {name: ChanceConfig.preset(name).model_dump() for name in PRESETS},
    }


def form_fields(kind: type[Settings], without: Sequence[str]) -> list[dict[str, Any]]:
    """Return the fields of a settings class: name, help, default, and the choices or the range of a number."""
    found = []
    for name, schema in kind.model_json_schema()["properties"].items():
        if name in without:
            continue
        ways = schema.get("anyOf", [schema])
        number: Mapping[str, Any] = next((way for way in ways if way.get("type") in ("integer", "number")), {})
        found.append({
            "name": name, "help": schema.get("description", ""), "default": schema.get("default"),
            "choices": schema.get("enum"), "words": [word for way in schema.get("anyOf", ()) for word in _words(way)],
            "integer": number.get("type") == "integer", "empty": any(way.get("type") == "null" for way in ways),
            "least": number.get("minimum", number.get("exclusiveMinimum")), "most": number.get("maximum"),
        })  # fmt: skip
    return found


def title_of(game: Game) -> str:
    """Return the name of a game for people."""
    return game.name.replace("_", " ").capitalize()


def _about(game: Game) -> str:
    """Return the first sentence about a game, without its name."""
    text = " ".join((_doc(game) or "").strip().split("\n\n")[0].split())
    name, colon, rest = text.partition(": ")
    sentence = rest if colon and len(name.split()) <= 3 else text
    return sentence[:1].upper() + sentence[1:]


def _doc(game: Game) -> str | None:
    """Return the documentation of the file of a game."""
    if isinstance(game, KernelGame):
        return game.module.__doc__
    kind = type(getattr(game.new_initial_state(), "wrapped", None))
    file = getattr(getattr(kind, "apply_action", None), "__globals__", {})
    return file.get("__doc__") or kind.__doc__


def _help(game: Game) -> dict[str, str]:
    """Return the documentation of each parameter, from the docstring of ``describe``."""
    if not isinstance(game, KernelGame):
        return {}
    lines = inspect.cleandoc(game.module.describe.__doc__ or "").splitlines()
    pairs = (line.strip().partition(": ") for line in lines)
    found = {name: " ".join(text.replace("`", "").split()) for name, _, text in pairs if name in game.params}
    first = lines[0].replace("`", "").removeprefix("Describe the game").strip(" ;") if lines else ""
    if len(game.params) == 1 and not found and first.strip("."):
        found = {next(iter(game.params)): first}
    return {name: text[:1].upper() + text[1:] for name, text in found.items()}


def _words(way: Mapping[str, Any]) -> list[Any]:
    """Return the words that one way of a setting's schema allows."""
    return [way["const"]] if "const" in way else list(way.get("enum", ()))
