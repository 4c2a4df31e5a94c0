"""The refill in the search: every chance mode averages over it, no search sees the tiles that will be played."""

from __future__ import annotations

import types

import numpy as np
import pytest
from azul_positions import BLUE, CENTRE, FLOOR, WHITE, action, board, position, tiles

import aleazero
from aleazero import ESTIMATE, EXACT, NONE, Search, SearchConfig
from aleazero.games.azul import from_position, rules
from aleazero.games.azul.board import CENTRE as CENTRE_PLACE
from aleazero.games.azul.board import CONTENTS, FACTORY
from aleazero.games.azul.rules import played_outcome
from aleazero.games.game_dice import GameDice
from aleazero.games.kernel import KernelGame, KernelState

AZUL = aleazero.load_game("azul")
MODES = ("sampling", "stratified", "progressive", "open")
SEEDS = range(30)
MEAN = 20 * 20 / 99 / 10 - 1
"""Expected value of ``ByBlue`` before a refill of 20 tiles, from a bag of 99 tiles with 20 blue ones."""
SPREAD = (20 * (20 / 99) * (79 / 99) * (79 / 98)) ** 0.5 / 10
"""Standard deviation over refills."""


class ByBlue:
    """An evaluator of player 0: the number of blue tiles on display. At chance nodes it has a value of its own."""

    sees_states = True
    decisions = EXACT

    def __init__(self, afterstates=NONE, at_chance=0.0):
        self.afterstates, self.at_chance = afterstates, at_chance

    def __call__(self, states):
        values = [[own, -own] if state.viewer() == 0 else [-own, own] for state in states for own in [self.of(state)]]
        return np.zeros((len(states), 180)), np.array(values)

    def of(self, state):
        return self.at_chance if state.is_chance_node() else blue_on_display(state) / 10 - 1


def blue_on_display(state):
    in_factories = CONTENTS[state.vector[FACTORY : FACTORY + 5], BLUE].sum()
    return int(in_factories) + int(state.vector[CENTRE_PLACE + BLUE])


def last_draft():
    """Return a position in which player 0 takes the only tile of the round, which is white, and starts the next one."""
    return from_position(position(board(), board(floor=("marker",)), centre=tiles(white=1), next_start=1))


def before_refill():
    return last_draft().child(action(CENTRE[2], WHITE, 4))


def game_with_known_tiles(seed):
    """Return Azul whose refills are those that are played with this seed, as a search that sees them would use it."""
    module = types.ModuleType("azul_with_known_tiles")

    def sample(state, u):
        return played_outcome(state, seed, 0)

    def outcomes(state, ids, probabilities):
        ids[0], probabilities[0] = played_outcome(state, seed, 0), 1.0
        return 1

    vars(module).update(vars(rules))
    vars(module).update(sample=sample, outcomes=outcomes)
    return KernelGame(module, {})


def played_values(seeds):
    """Return the value of ``ByBlue`` after the refill that is played with each seed."""
    found = []
    for seed in seeds:
        state, dice = before_refill(), GameDice(seed)
        while state.is_chance_node():
            state.apply_action(dice.draw(state))
        found.append(ByBlue().of(state))
    return np.array(found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("start", [last_draft, before_refill])
def test_the_value_before_a_refill_is_the_expectation_over_all_refills(start, mode):
    """Search with the seed of the game dice, too: values do not follow the tiles that are played with it."""
    search = Search(AZUL, ByBlue(), SearchConfig(num_simulations=250, chance=mode))
    values = np.array([search.run(start(), seed=seed).value[0] for seed in SEEDS])
    played = played_values(SEEDS)
    assert played.std() > SPREAD / 2
    bias = SPREAD / 10 if mode == "stratified" else 0.0  # it is consistent, not unbiased
    assert abs(values.mean() - MEAN) < 5 * values.std() / len(SEEDS) ** 0.5 + bias
    assert values.std() < SPREAD / 3  # many refills are averaged
    assert abs(np.corrcoef(values, played)[0, 1]) < 5 / len(SEEDS) ** 0.5


@pytest.mark.usefixtures("interpreted")
def test_a_search_that_sees_the_tiles_would_be_noticed():
    """The same numbers for a search that cheats: its values are those of the tiles that are played."""
    played, values = played_values(SEEDS[:8]), []
    for seed in SEEDS[:8]:
        game = game_with_known_tiles(seed)
        state = KernelState(game, before_refill().vector.copy())
        values.append(Search(game, ByBlue(), SearchConfig(num_simulations=10)).run(state, seed=seed).value[0])
    assert values == pytest.approx(played)
    assert np.corrcoef(values, played)[0, 1] > 0.99


@pytest.mark.parametrize("mode", MODES)
def test_tiles_that_are_played_are_not_visited_more_often(mode):
    state, sims = AZUL.new_initial_state(), 200
    chances = dict(state.chance_outcomes())
    search = Search(AZUL, ByBlue(), SearchConfig(num_simulations=sims, chance=mode))
    seen, expected, most = 0, 0.0, 0
    for seed in SEEDS:
        outcome = GameDice(seed).draw(state)
        visits = {one.outcome: one.visits for one in search.run(state, seed=seed).outcomes}
        seen += visits.get(outcome, 0)
        expected += sims * chances[outcome]
        most = max(most, *visits.values())
    assert abs(seen - expected) < 6 * (most * expected) ** 0.5


@pytest.mark.parametrize("mode", ["sampling", "stratified", "progressive"])
def test_values_before_the_refill_can_be_final_or_estimates(mode):
    """With EXACT each draft has the value of the edge; with ESTIMATE later visits continue into the refill."""
    search = Search(AZUL, ByBlue(EXACT, at_chance=0.9), SearchConfig(num_simulations=300, chance=mode))
    final = search.run(last_draft(), seed=1)
    np.testing.assert_allclose(final.q, 0.9)
    assert action(CENTRE[2], WHITE, FLOOR) in final.actions
    assert (final.stats.depth, final.stats.chance_nodes, final.stats.evaluations) == (1, 6, 7)
    search = Search(AZUL, ByBlue(ESTIMATE, at_chance=0.9), SearchConfig(num_simulations=300, chance=mode))
    estimated = search.run(last_draft(), seed=1)
    assert estimated.stats.depth > 1
    assert estimated.stats.chance_nodes > 100
