"""The compiled search equals the plain one over a pairwise grid of the chance settings."""

from __future__ import annotations

import pytest
from test_bias import lottery
from test_plain_search import GAMES, POSITIONS, both, evaluator_named
from tree_game import decision, start, tree_game

import aleazero
from aleazero import ChanceConfig
from aleazero.search.config import Widening

CHANCES = {
    "stratified": ChanceConfig.preset("stratified"),
    "progressive": ChanceConfig.preset("progressive"),
    "full": ChanceConfig.preset("full"),
    "stratified picks": ChanceConfig(pick="stratified"),
    "expectation": ChanceConfig(backup="expectation"),
    "exact": ChanceConfig(exact_up_to=6),
    "exact and widening": ChanceConfig(exact_up_to=3, widening=Widening(c=1.0, alpha=0.5, max_children=4)),
    "narrow": ChanceConfig(widening=Widening(c=1.0, alpha=0.3, max_children=2)),
    "narrow and stratified": ChanceConfig(pick="stratified", widening=Widening(c=1.0, alpha=0.4, max_children=3)),
    "narrow expectation": ChanceConfig(backup="expectation", widening=Widening(c=1.0, alpha=0.4, max_children=3)),
    "narrow all": ChanceConfig(
        backup="expectation", pick="stratified", widening=Widening(c=1.5, alpha=0.5, max_children=3)
    ),
    "samples": ChanceConfig(samples_per_visit=3),
    "samples and widening": ChanceConfig(samples_per_visit=2, widening=Widening(c=1.0, alpha=0.3, max_children=2)),
    "open samples": ChanceConfig(loop="open", samples_per_visit=3),
}
OTHERS = [
    {},
    {"in_flight": 5},
    {"in_flight": 3, "in_flight_mode": "virtual_loss", "selection": "uct"},
    {"max_depth": 3, "noise_alpha": 0.4},
    {"max_nodes": 60},
    {"max_evaluations": 90, "in_flight": 2},
]
EVALUATORS = ["uniform", "rollout", "net", "estimate", "exact", "exact decisions"]


@pytest.mark.parametrize("name", ["dice_game", "pig", "2048", "lottery"])
@pytest.mark.parametrize("chance", list(CHANCES))
def test_every_pair(name: str, chance: str) -> None:
    """Every chance setting meets every evaluator and every other setting, on positions of every kind."""
    if name == "lottery":  # chance nodes in a row, and ends next to decisions
        game = tree_game(players=2, utility=(-1.0, 1.0))
        positions = [start(game, lottery()), start(game, decision(0, {0: lottery(), 5: lottery()}, "r"))]
    else:
        game = aleazero.load_game(name, **GAMES[name])
        positions = POSITIONS[name]
    number = list(CHANCES).index(chance)
    for i, evaluator in enumerate(EVALUATORS):
        for j, position in enumerate(positions):
            for k in (0, 3):
                others = OTHERS[(number + i + j + k) % len(OTHERS)]
                both(
                    game, evaluator_named(evaluator, game), position, chance=CHANCES[chance], seed=i + 10 * j, **others
                )
