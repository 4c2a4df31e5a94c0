"""Positions, games, search results and trees as plain data, which can be written as JSON."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from aleazero.errors import AleaZeroError, IllegalActionError
from aleazero.games.base import KIND_NAMES, Game, State, moves_of
from aleazero.games.game_dice import GameDice
from aleazero.players.basic import find_move
from aleazero.search.result import SearchResult, TreeNode
from aleazero.serving.requests import PositionRequest, ReviewRequest
from aleazero.serving.steps import possible_child


def read_position(
    game: Game, request: PositionRequest | ReviewRequest, dice: GameDice | None = None
) -> tuple[State, list[Any]]:
    """Return the position of a request after its moves, and the applied moves; ``dice`` count the outcomes in them.

    Raises:
        AleaZeroError: the position cannot be read, or a move is not legal; the message has its number.
    """
    state = start_of(game, request)
    moves: Sequence[str | int] = moves_of(request.moves) if isinstance(request.moves, str) else request.moves
    applied = []
    for number, move in enumerate(moves, 1):
        try:
            action = find_move(state, move) if isinstance(move, str) else move
            if dice is not None and state.is_chance_node():
                dice.draw(state)
            state, step = taken_step(state, action)
            applied.append(step)
        except AleaZeroError as error:
            raise IllegalActionError(f"move {number}: {error}") from None
    return state, applied


def start_of(game: Game, request: PositionRequest | ReviewRequest) -> State:
    """Return the position of a request before its moves; raises PositionError."""
    return game.new_initial_state() if request.position is None else game.state_from_text(request.position)


def taken_step(state: State, action: int) -> tuple[State, dict[str, Any]]:
    """Return the state after an action or outcome, and a description of the step; ``state`` does not change."""
    after = possible_child(state, action)
    return after, {"player": state.current_player(), "action": action, "name": state.action_to_string(action)}


def describe_state(state: State) -> dict[str, Any]:
    """Return a position as plain data: text, player, legal actions or outcomes, and returns."""
    chance = state.is_chance_node()
    listed = chance and state.outcomes_listed()
    actions = [] if chance or state.is_terminal() else state.legal_actions()
    return {
        "game": state.game.name,
        "params": state.game.params,
        "position": state.to_text(),
        "board": str(state),
        "kind": KIND_NAMES[state.kind()],
        "player": state.current_player(),
        "actions": [{"action": action, "name": state.action_to_string(action)} for action in actions],
        "outcomes_listed": listed,
        "outcomes": [
            {"outcome": outcome, "name": state.action_to_string(outcome), "probability": probability}
            for outcome, probability in (state.chance_outcomes() if listed else [])
        ],
        "returns": [float(number) for number in state.returns()],
    }


def describe_game(game: Game) -> dict[str, Any]:
    """Return the facts about a game as plain data."""
    return {
        "name": game.name,
        "players": game.num_players,
        "actions": game.num_actions,
        "chance": game.info.max_outcomes > 0,
        "max_outcomes": game.info.max_outcomes,
        "params": game.params,
        "description": _summary(game),
    }


def _summary(game: Game) -> str:
    """Return the first line of the docstring of a game's file or class, without the game's name."""
    text = (getattr(getattr(game, "module", None), "__doc__", None) or "").strip().partition("\n")[0]
    name, colon, rest = text.partition(": ")
    sentence = rest if colon and len(name.split()) <= 3 else text
    return sentence[:1].upper() + sentence[1:]


def result_data(state: State, result: SearchResult) -> dict[str, Any]:
    """Return a result as plain data, with the position and all names."""
    return {
        "game": state.game.name,
        "params": state.game.params,
        "position": state.to_text(),
        "player": state.current_player(),
        "action_names": [state.action_to_string(int(action)) for action in result.actions],
        "outcome_names": [state.action_to_string(o.outcome) for o in result.outcomes],
        **result.to_dict(),
    }


def cut_tree(root: TreeNode, depth: int, top: int, most: int) -> tuple[dict[str, Any], bool]:
    """Return the upper levels of a tree with at most this many nodes, and whether that limit left out none.

    Nodes with more visits are kept first. The form is that of ``SearchResult.tree``.
    """
    found, count = _node_data(root), 1
    heap: list[tuple[int, int, int, TreeNode, dict[str, Any]]] = [(-root.visits, 0, 0, root, found)]
    while heap:
        _, level, _, node, data = heapq.heappop(heap)
        if level == depth:
            continue
        children = sorted((c for c in node.children() if c.visits), key=lambda child: (-child.visits, child.label))
        for child in children[:top]:
            if count >= most:
                return found, False
            count += 1
            data["children"].append(_node_data(child))
            heapq.heappush(heap, (-child.visits, level + 1, count, child, data["children"][-1]))
    return found, True


def _node_data(node: TreeNode) -> dict[str, Any]:
    return {
        "label": node.label,
        "text": node.text,
        "kind": KIND_NAMES[node.kind],
        "player": node.player,
        "visits": node.visits,
        "value": [float(value) for value in node.value],
        "prior": node.prior,
        "probability": node.probability,
        "children": [],
    }
