"""Golden playthroughs: one recorded random episode of each game that ships, which must come out the same again.

After a deliberate change of rules or text, raise the game's version and record anew:

    python tests/games/test_playthroughs.py
"""

from pathlib import Path

import pytest

from aleazero.games import registry
from aleazero.games.luck import played_outcome
from aleazero.games.registry import load_game
from aleazero.native.random import stream_key

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 2048
MOST_STEPS = 60
MOST_OUTCOMES = 40


def record(name):
    """An episode as text: every state with what the facade says of it, and the step taken."""
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
    """Zeros in a row are counted, so that one-hot observations stay readable."""
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


def test_every_game_that_ships_has_one_and_only_those():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(registry._SHIPPED)


@pytest.mark.parametrize("name", sorted(registry._SHIPPED))
def test_playthrough_comes_out_the_same(name):
    assert record(name).splitlines() == (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for shipped in sorted(registry._SHIPPED):
        (FOLDER / f"{shipped}.txt").write_text(record(shipped), encoding="utf-8")
