"""Default settings of the afterstate recipe by game."""

from __future__ import annotations

from pathlib import Path

from object_copy import object_copy

import aleazero
from aleazero.training.config import config_for

TAG = aleazero.load_game(f"{Path(__file__).parents[2]}/examples/tag.py")


def test_object_games_have_fewer_lanes_by_default():
    kernel, own = config_for(TAG, {}, {}), config_for(object_copy(TAG), {}, {})
    assert (kernel.lane_groups, kernel.lanes) == (4, 64)
    assert (own.lane_groups, own.lanes) == (2, 8)
    assert config_for(object_copy(TAG), {"lanes": 9}, {}).lanes == 9


def test_there_is_a_network_per_phase_by_default():
    assert config_for(TAG, {}, {}).net.phases == 2
    assert config_for(TAG, {}, {"phases": 1}).net.phases == 1
    assert config_for(aleazero.load_game("pig"), {}, {}).net.phases == 1
