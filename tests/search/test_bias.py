"""Every accepted combination of chance settings is unbiased, or consistent, on a game made to show where it is not.

Decisions do not matter in it (all actions of a node have the same expectation), so the root's exact value is a sum over
the tree, and the value that a search reports can be compared with it at any budget.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from tree_game import Node, chance, decision, name_of, start, terminal, tree_game

from aleazero import CHANCE, DECISION, ESTIMATE, ChanceConfig, ConfigError, Forest, Search, SearchConfig, Widening
from aleazero.games.kernel import KernelState
from aleazero.search.config import CLASHES

SEEDS = 240
NARROW = Widening(c=1.0, alpha=0.4, max_children=3)
CHOICES: dict[str, list[tuple[str, object]]] = {
    "loop": [("", "closed"), ("loop=open", "open")],
    "pick": [("", "sample"), ("pick=stratified", "stratified")],
    "backup": [("backup=sample", "sample"), ("backup=expectation", "expectation")],
    "widening": [("", None), ("widening", NARROW)],
    "samples_per_visit": [("", 1), ("samples_per_visit", 4)],
    "exact_up_to": [("", 0), ("exact_up_to", 3), ("exact_up_to", 40)],
}
"""Values of each setting, with the name by which CLASHES calls it."""


def combinations() -> list[tuple[frozenset[str], dict[str, object]]]:
    """Return all combinations of settings, with the names of those that are set."""
    found = []
    for chosen in itertools.product(*CHOICES.values()):
        names = frozenset(name for name, _ in chosen)
        found.append((names, dict(zip(CHOICES, (value for _, value in chosen), strict=True))))
    return found


def clash(names: frozenset[str]) -> tuple[str, str, str] | None:
    return next((clash for clash in CLASHES if clash[0] in names and clash[1] in names), None)


ACCEPTED = [settings for names, settings in combinations() if clash(names) is None]


def win(value: float) -> Node:
    return terminal(value, -value)


def lottery() -> Node:
    """Skewed odds, a rare and valuable outcome, ends next to decisions, chance nodes in a row, two moves in a row."""
    coin = chance([(0, 1, win(-0.8)), (1, 3, win(0.4))], "coin", actor=0)
    twice = decision(0, {0: decision(0, {0: coin, 1: coin}, "two"), 3: coin}, "one")
    rare = chance([(5, 1, win(1.0)), (2, 30, win(-0.5)), (9, 7, win(0.1)), (4, 2, twice)], "rare", actor=0)
    other = decision(1, {1: rare, 2: rare}, "opp")
    inner = chance([(0, 12, other), (1, 5, rare), (2, 2, win(0.9)), (3, 1, coin), (4, 1, twice)], "in", actor=0)
    return chance(
        [(3, 40, inner), (8, 25, twice), (1, 20, win(-1.0)), (6, 8, other), (7, 5, rare), (2, 2, win(1.0))],
        "root",
        actor=0,
    )


def exact_values(node: Node, found: dict[str, float]) -> float:
    """The expectation for player 0 of a node, and of all named nodes below it."""
    if not node.children:
        return node.returns[0]
    below = [exact_values(child, found) for child in node.children]
    if node.kind == DECISION:
        assert max(below) - min(below) < 1e-12, "decisions are meant not to matter"
        found[node.name] = below[0]
    else:
        assert node.kind == CHANCE
        weights = [edge[1] for edge in node.edges]
        found[node.name] = float(np.dot(weights, below)) / sum(weights)
    return found[node.name]


ROOT = lottery()
VALUES: dict[str, float] = {}
EXACT = exact_values(ROOT, VALUES)


class Known:
    """Evaluator with the exact value of every node, including chance nodes, by the start of its record."""

    afterstates = ESTIMATE

    def __init__(self, state: KernelState) -> None:
        self.values: dict[int, float] = {}
        self._visit(state)
        self.by_record = np.array([self.values.get(record, 0.0) for record in range(max(self.values) + 1)])

    def _visit(self, state: KernelState) -> None:
        if not state.is_terminal():
            self.values[int(state.vector[0])] = VALUES[name_of(state)]
            for label in [o for o, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions():
                self._visit(state.child(label))

    def __call__(self, observations: np.ndarray, legal_masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = self.by_record[observations[:, 0].astype(int)] * np.where(observations[:, 1] == 0, 1.0, -1.0)
        return np.zeros(legal_masks.shape), np.stack((value, -value), axis=1)


def errors_over_seeds(
    settings: dict[str, object], evaluator: str, simulations: int, in_flight: int = 1, seeds: int = SEEDS
) -> np.ndarray:
    """What searches report for player 0 less the exact value, one a seed."""
    game = tree_game(players=2, utility=(-1.0, 1.0))
    config = SearchConfig(num_simulations=simulations, chance=ChanceConfig(**settings), in_flight=in_flight)
    root = start(game, ROOT)
    with Forest(game, Known(root) if evaluator == "estimate" else evaluator, config, trees=32) as forest:
        results = forest.run([root] * seeds, seeds=list(range(seeds)))
    values = np.array([result.value for result in results])
    np.testing.assert_allclose(values.sum(axis=1), 0.0, atol=1e-9)
    return values[:, 0] - EXACT


def standard_error(errors: np.ndarray) -> float:
    return float(errors.std(ddof=1)) / math.sqrt(len(errors))


def label(settings: dict[str, object]) -> str:
    return "-".join(str(value) for value in settings.values() if value not in (None, 0, 1)).replace(
        str(NARROW), "narrow"
    )


@pytest.mark.parametrize(("names", "settings"), combinations())
def test_a_combination_is_accepted_or_the_error_names_the_alternative(
    names: frozenset[str], settings: dict[str, object]
) -> None:
    clashing = clash(names)
    if clashing is None:
        ChanceConfig(**settings)
        return
    with pytest.raises(ConfigError) as error:
        ChanceConfig(**settings)
    assert str(error.value) == "ChanceConfig: {} cannot be combined with {}, expected {}".format(*clashing)


def test_exact_up_to_sets_backup_to_expectation_by_default() -> None:
    assert ChanceConfig(exact_up_to=6).backup == "expectation"
    assert ChanceConfig().backup == "sample"


def test_the_table_of_the_documentation_is_complete() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "chance.md").read_text()
    rows = {tuple(cell.strip(" `") for cell in line.split("|")[1:3]) for line in page.splitlines() if "|" in line}
    assert {clash[:2] for clash in CLASHES} <= rows
    assert len(ACCEPTED) == 20


DRAWN = [settings for settings in ACCEPTED if settings["pick"] == settings["backup"] == "sample"]
OTHERS = [settings for settings in ACCEPTED if settings not in DRAWN]


@pytest.mark.parametrize("settings", DRAWN, ids=label)
@pytest.mark.parametrize("evaluator", ["rollout", "estimate"])
def test_sampled_outcomes_are_unbiased_at_every_budget(settings: dict[str, object], evaluator: str) -> None:
    for simulations, in_flight in ((8, 1), (64, 1), (64, 8), (512, 1)):
        errors = errors_over_seeds(settings, evaluator, simulations, in_flight)
        assert abs(errors.mean()) < 4.5 * standard_error(errors), (simulations, in_flight)


@pytest.mark.parametrize("settings", OTHERS, ids=label)
@pytest.mark.parametrize("evaluator", ["rollout", "estimate"])
def test_other_settings_are_consistent(settings: dict[str, object], evaluator: str) -> None:
    """What few visits have not met is missing from strata and expectations; it vanishes as visits grow."""
    errors = errors_over_seeds(settings, evaluator, 3000)
    assert abs(errors.mean()) < 4.5 * standard_error(errors) + 0.0015  # of a range of 2
    assert abs(errors).max() < 0.03


@pytest.mark.parametrize("settings", [s for s in OTHERS if s["exact_up_to"] == 40], ids=label)
@pytest.mark.parametrize("in_flight", [1, 8])
def test_nodes_with_all_outcomes_expanded_are_exact_at_every_budget(
    settings: dict[str, object], in_flight: int
) -> None:
    for simulations in (1, 2, 32, 512):
        assert abs(errors_over_seeds(settings, "estimate", simulations, in_flight, seeds=4)).max() < 1e-12
        errors = errors_over_seeds(settings, "rollout", simulations, in_flight)
        assert abs(errors.mean()) < 4.5 * standard_error(errors)


def test_an_outcome_that_is_stored_later_leaves_no_transient_value() -> None:
    """One lottery of ends: with widening, an expectation is exact as soon as every outcome was met once."""
    game = tree_game(players=2, utility=(-1.0, 1.0))
    prizes = [(0, 60, -0.4), (1, 25, 0.05), (2, 10, 0.3), (3, 4, 1.0), (4, 1, -1.0)]
    root = chance([(outcome, weight, win(value)) for outcome, weight, value in prizes], "lot")
    exact = sum(weight * value for _, weight, value in prizes) / 100
    settings = ChanceConfig(widening=Widening(c=1.0, alpha=0.5, max_children=4), backup="expectation")
    for simulations in (1100, 4000):
        for seed in range(8):
            config = SearchConfig(num_simulations=simulations, chance=settings, seed=seed)
            assert Search(game, "uniform", config).run(start(game, root)).value[0] == pytest.approx(exact, abs=1e-9)
