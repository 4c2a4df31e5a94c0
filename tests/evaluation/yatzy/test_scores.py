from __future__ import annotations

import numpy as np

from aleazero.evaluation.yatzy.measure import Scores


def test_scores_by_hand():
    scores = Scores(np.array([100, 119, 120, 165]), np.array([False, False, True, True]))
    assert scores.mean.mean == 126.0
    assert scores.bonus_rate == 0.5
    assert scores.histogram == {100: 2, 120: 1, 140: 0, 160: 1}
    assert scores.percentiles[50] == 119.5
    data = scores.to_dict()
    assert (data["lowest"], data["highest"], data["percentiles"]["50"]) == (100, 165, 119.5)
    assert data["histogram"][0] == {"from": 100, "to": 119, "games": 2}
