"""A game of Azul in the terminal, typed by a person."""

import random
from pathlib import Path

from aleazero import load_game, make_player
from aleazero.games.azul import to_position
from aleazero.games.game_dice import GameDice

COLOURS = {"blue": "b", "yellow": "y", "red": "r", "black": "k", "white": "w"}


def spell(name, way):
    """Return the name of a draft in one of several spellings."""
    source, colour, to = name.split()
    return (
        name,
        name.upper(),
        f"{source[:2].lower()}{COLOURS[colour]}{to[0]}".replace("ce", "c"),
        name.replace(" ", "-"),
    )[way]


def test_a_whole_game_is_played_in_the_terminal(run):
    game = load_game("azul")
    opponent, dice, draw = make_player("greedy", game), GameDice(7), random.Random(7)
    state, typed = game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(dice.draw(state))
        elif state.current_player() == 1:
            state.apply_action(opponent.select(state, seed=0))
        else:
            action = draw.choice(state.legal_actions())
            typed.append(spell(state.action_to_string(action), len(typed) % 4))
            state.apply_action(action)
    typed[2:2] = ["F9 blue 1", "centre blue", "l"]
    result = run("play", "azul", "--opponent", "greedy", "--seed", "7", stdin="\n".join(typed) + "\n")
    assert result.exit_code == 0, result.output
    scores = [own["score"] for own in to_position(state)["boards"]]
    assert f"player 0: {scores[0]} " in result.stdout
    assert f"player 1: {scores[1]}" in result.stdout
    assert "the game is over, player 1 has won" in result.stdout
    assert "no action 'F9 blue 1' here" in result.stdout
    assert "your move, e.g. F1 " in result.stdout
    assert result.stdout.count("floor . . . . . . .") > 2


def test_the_screens_of_the_documentation_are_those_of_a_game(run):
    game = load_game("azul")
    player, dice, state, typed = make_player("greedy", game), GameDice(3), game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(dice.draw(state))
            continue
        action = player.select(state, seed=0)
        if state.current_player() == 0:
            typed.append(state.action_to_string(action))
        state.apply_action(action)
    assert typed[0] == "F1 blue 2"
    result = run("play", "azul", "--opponent", "greedy", "--seed", "3", stdin="\n".join(typed) + "\n")
    assert result.exit_code == 0, result.output
    shown = "\n".join(line for line in result.stdout.splitlines() if line.strip())
    page = (Path(__file__).resolve().parents[3] / "docs" / "games" / "azul.md").read_text(encoding="utf-8")
    blocks = page.partition("## Play")[2].partition("## Fixed players")[0].split("```")[1::2]
    screens = [part.strip() for block in blocks if block.startswith("text\n") for part in block[5:].split("…")]
    assert len(screens) == 3
    for screen in screens:
        assert screen in shown


def test_an_illegal_draft_is_explained(run):
    position = load_game("azul").new_initial_state()
    position.play("bbbb, bbbb, yyyy, rrrr, kkkk")
    words = ("play", "azul", "--opponent", "greedy", "--seed", "1", "--position", position.to_text())
    result = run(*words, stdin="F1 red 1\nq\n")
    assert "azul: 'F1 red 1' is illegal here, expected tiles that are at that source" in result.stdout
