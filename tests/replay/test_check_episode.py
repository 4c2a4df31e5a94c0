"""Replaying a game detects illegal steps and wrong samples."""

from dataclasses import replace

import numpy as np
import pytest
from played_episodes import GAMES, episode, game_of

from aleazero.errors import ReplayError
from aleazero.games.registry import load_game
from aleazero.replay.check import check_episode


@pytest.mark.parametrize("name", GAMES)
def test_recorded_games_are_valid(name):
    for number in range(2):
        check_episode(episode(name, number), game_of(name))


def changed(record, name, place, value):
    array = getattr(record, name).copy()
    array[place] = value
    return replace(record, **{name: array})


def rejected(record, message, name="pig"):
    with pytest.raises(ReplayError, match=f"^game 0.*{message}"):
        check_episode(record, game_of(name))


def row_of(record, name, value):
    return int(np.flatnonzero(getattr(record, name) == value)[0])


def step_of(record, player):
    return int(np.flatnonzero(record.steps[:, 0] == player)[0])


@pytest.fixture
def pig():
    return episode("pig")


def test_an_illegal_action(pig):
    rejected(changed(pig, "steps", (0, 1), 1), "step 0: pig: action 1 is illegal here, expected one of 0")


def test_an_impossible_outcome(pig):
    rejected(changed(pig, "steps", (1, 1), 7), "step 1: pig: outcome 7 cannot happen here, expected one of 1, 2")


def test_a_wrong_mover(pig):
    rejected(changed(pig, "steps", (0, 0), 1), "step 0: player 1 moves, expected 0")
    rejected(changed(pig, "steps", (1, 0), 0), "step 1: player 0 moves, expected -1")


def test_steps_after_the_end(pig):
    longer = replace(pig, steps=np.concatenate([pig.steps, pig.steps[:1]]))
    rejected(longer, f"the game is over after {len(pig.steps)} steps, expected {len(pig.steps) + 1}")


def test_a_game_that_is_not_over(pig):
    kept = pig.step < len(pig.steps) - 1
    names = ("step", "ply", "afterstate", "observations", "legal_masks", "policies", "viewers", "root_values")
    names += ("scores", "weights", "searched")
    shorter = replace(pig, steps=pig.steps[:-1], **{name: getattr(pig, name)[kept] for name in names})
    rejected(shorter, f"the game is not over after its {len(pig.steps) - 1} steps")


def test_wrong_returns(pig):
    rejected(replace(pig, returns=-pig.returns), r"the returns are \[-?1\.0, -?1\.0\], expected \[-?1\.0, -?1\.0\]")


@pytest.mark.parametrize("score", [-1.0, 1e30])
def test_wrong_scores(pig, score):
    viewers = pig.viewers.astype(bool)
    lie = np.where(viewers, np.float32(score), pig.scores[:, 0]), np.where(viewers, pig.scores[:, 1], np.float32(score))
    rejected(replace(pig, scores=np.stack(lie, axis=1).astype(np.float32)), "step 0: the scores are .*, expected")


def test_dice_of_another_seed(pig):
    rejected(replace(pig, seed=pig.seed ^ 1), r"step \d+: the outcome is \d, expected \d for the game's seed")


def test_searches_of_forced_moves():
    record = episode("yatzy")
    first = row_of(record, "step", record.step[~record.searched][0])
    rejected(changed(record, "searched", first, True), "searched is true without a choice", "yatzy")
    rejected(replace(record, searched=np.ones_like(record.searched)), "searched is true without", "yatzy")


def test_a_wrong_start(pig):
    rejected(replace(pig, start="half past nine"), "pig: cannot read position 'half past nine'")
    rejected(replace(pig, start="0-0 turn 4 player 0"), r"step 0: legal_masks has False at 1, expected True")


def test_steps_out_of_order(pig):
    rejected(changed(pig, "step", 1, pig.step[0]), "step goes from 0 to 0, expected to increase")
    rejected(changed(pig, "step", 0, -1), f"step is -1, expected 0 to {len(pig.steps) - 1}")
    rejected(changed(pig, "step", -1, len(pig.steps)), f"step is {len(pig.steps)}, expected 0 to {len(pig.steps) - 1}")


def test_plies_out_of_order(pig):
    rejected(changed(pig, "ply", 0, 5), r"ply goes from 5 to \d, expected to increase")


def test_plies_that_differ_from_the_number_of_decisions(pig):
    rejected(replace(pig, ply=pig.ply + np.int32(1)), "step 0: ply has 1, expected 0")


def test_a_sample_of_another_kind_of_state(pig):
    row = row_of(pig, "afterstate", True)
    rejected(changed(pig, "afterstate", row, False), f"step {pig.step[row]}: afterstate has False, expected True")


def test_a_wrong_viewer(pig):
    rejected(changed(pig, "viewers", 0, 1), "step 0: viewers has 1, expected 0")


def test_a_wrong_mask(pig):
    row = row_of(pig, "afterstate", False)
    rejected(changed(pig, "legal_masks", (row, 1), True), "step 0: legal_masks has True at 1, expected False")


@pytest.mark.parametrize("name", ["pig", "yatzy", "race", "2048"])
def test_a_wrong_observation(name):
    record = episode(name)
    last = record.observations.shape[1] - 1
    value = np.nextafter(record.observations[-1, last], np.float32(5))
    rejected(changed(record, "observations", (-1, last), value), f"observations has .* at {last}, expected", name)


def test_observations_of_another_length(pig):
    rejected(replace(pig, observations=pig.observations[:, :3]), "step 0: observations has 3 numbers, expected 5")


def test_a_game_without_samples_is_replayed(pig):
    names = [name for name in vars(pig) if name not in ("game_number", "seed", "start", "steps", "returns")]
    empty = replace(pig, **{name: getattr(pig, name)[:0] for name in names})
    check_episode(empty, game_of("pig"))
    rejected(changed(empty, "steps", (0, 1), 1), "action 1 is illegal")


def test_errors_of_the_rules_are_reported(tmp_path, pig):
    text = """
from aleazero.games.pig import *
from aleazero.games.pig import describe as pig_describe
def describe(): return pig_describe(target=20)
def kind(state): return state[KIND]
def to_play(state): return state[PLAYER]
def apply(state, action): raise ValueError("no idea")
def returns(state, out): pass
"""
    file = tmp_path / "raising.py"
    file.write_text(text)
    with pytest.raises(ReplayError, match="game 0: the rules raised ValueError: no idea"):
        check_episode(pig, load_game(str(file)))
