"""A kernel game as an object game: the same rules, with the features of the kernel game as observations."""

from __future__ import annotations

import numpy as np

import aleazero
from aleazero.games.kernel import KernelGame


def object_copy(game: KernelGame, turns: bool = False) -> aleazero.Game:
    """Return an object game with the states of a kernel game; with ``turns``, with its ``turn``, too."""
    size = game.observation_size if game.info.features is None else game.info.features.size(game.num_players)

    class Twin:
        name = f"object_{game.name}"
        num_players, num_actions, max_outcomes = game.num_players, game.num_actions, game.info.max_outcomes
        utility, levels, phases = game.info.utility, game.info.levels, game.info.phases
        observation_size = size

        def __init__(self):
            self.inner = game.new_initial_state()

        def current_player(self):
            return self.inner.current_player()

        def legal_actions(self):
            return self.inner.legal_actions()

        def chance_outcomes(self):
            return self.inner.chance_outcomes()

        def apply_action(self, action):
            self.inner._apply(action)

        def returns(self):
            return self.inner.returns()

        def phase(self):
            return self.inner.phase()

        def serialize(self):
            return self.inner.serialize()

        def observation_tensor(self, player):
            out = np.zeros(size, np.float32)
            game.kernels.features(self.inner.vector, player, out)
            return out

        def clone(self):
            other = Twin()
            other.inner = self.inner.clone()
            return other

    class TwinWithTurns(Twin):
        name = f"object_turns_{game.name}"

        def __init__(self):
            self.inner = game.new_initial_state()

        def turn(self):
            return int(game.kernels.turn(self.inner.vector))

        def clone(self):
            other = TwinWithTurns()
            other.inner = self.inner.clone()
            return other

    return aleazero.load_game(TwinWithTurns if turns else Twin)
