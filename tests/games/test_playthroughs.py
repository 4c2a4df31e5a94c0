"""Golden playthroughs: one recorded random episode of each bundled game, which must not change.

After an intended change of the rules, increase the game's version. After a change of rules or text, record again:

    python tests/games/test_playthroughs.py
"""

from pathlib import Path

import pytest

from aleazero.games import registry
from aleazero.games.game_dice import played_outcome
from aleazero.games.registry import load_game
from aleazero.native.random import stream_key

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 2048
MOST_STEPS = 60
MOST_OUTCOMES = 40


def record(name):
    """Return an episode as text: every state with the results of its methods, and the action or outcome."""
    game = load_game(name)
    state = game.new_initial_state()
    info = game.info
    lines = [
        f"game {game!r} version {info.version}",
        f"players {info.num_players} actions {info.num_actions} outcomes {info.max_outcomes} utility {info.utility}",
        f"state {info.state_size} {info.state_dtype} observation {info.observation_size} {info.observation_schema}",
    ]
    chances = 0
    for step in range(MOST_STEPS):
        lines += ["", f"# {step}: {state.to_text()}", *(f"# {line}".rstrip() for line in str(state).splitlines())]
        lines += [
            f"serialized {state.serialize()}",
            f"player {state.current_player()} viewer {state.viewer()} class {state.decision_class()}",
            f"returns {state.returns()}",
            f"observation {_numbers(state.observation_tensor())}",
        ]
        if state.is_terminal():
            break
        if state.is_chance_node():
            outcomes = [f"{state.action_to_string(o)} ({o}) {p:.6f}" for o, p in state.chance_outcomes()]
            if len(outcomes) > MOST_OUTCOMES:
                outcomes[MOST_OUTCOMES // 2 : -MOST_OUTCOMES // 2] = [f"… ({len(outcomes)} in all)"]
            lines.append(f"outcomes {', '.join(outcomes)}")
            action = played_outcome(state, SEED, chances)
            chances += 1
        else:
            legal = state.legal_actions()
            lines.append(f"legal {', '.join(f'{state.action_to_string(a)} ({a})' for a in legal)}")
            action = legal[stream_key(SEED, step) % len(legal)]
        lines.append(f"apply {state.action_to_string(action)}")
        state.apply_action(action)
    return "\n".join(lines) + "\n"


def _numbers(values):
    """Return numbers as text, with runs of zeros counted to keep one-hot observations readable."""
    words, zeros = [], 0
    for value in [*values.tolist(), None]:
        if value == 0.0:
            zeros += 1
            continue
        if zeros:
            words.append(f"0×{zeros}")
            zeros = 0
        if value is not None:
            words.append(f"{value:.6g}")
    return " ".join(words)


def test_exactly_the_bundled_games_have_a_playthrough():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(registry._BUNDLED)


@pytest.mark.parametrize("name", sorted(registry._BUNDLED))
def test_playthroughs_do_not_change(name):
    assert record(name).splitlines() == (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for game_name in sorted(registry._BUNDLED):
        (FOLDER / f"{game_name}.txt").write_text(record(game_name), encoding="utf-8")
