"""The analysis in a browser: its numbers are those of ``Search.run``, and its probabilities add up to 1."""

from __future__ import annotations

import pytest

from aleazero import ChanceConfig, Search, SearchConfig, load_game
from aleazero.web.tasks.searches import sparing

NODES = """() => [...document.querySelectorAll('.tree .node')].map(node => ({
  path: node.dataset.path, kind: [...node.classList][1], visits: +node.dataset.visits,
  value: node.dataset.value.split(' ').map(Number), probability: node.dataset.probability,
  last: node.classList.contains('last')}))"""


def step(page, count, total):
    page.get_by_role("button", name=f"Step by {count:,} simulations", exact=True).click()
    page.locator(".status").filter(has_text=f"{total:,} simulations").wait_for()


def labels(path):
    return tuple(int(label) for label in path.split(",")) if path else ()


def check_tree(nodes, root):
    """Compare the nodes of a page with the tree of a result."""
    for one in nodes:
        node = root
        for label in labels(one["path"]):
            node = next(child for child in node.children() if child.label == label)
        assert one["visits"] == node.visits
        assert one["value"] == [float(value) for value in node.value]
        assert one["probability"] == ("" if node.probability is None else repr(node.probability))


def test_the_tree_is_that_of_search_run_and_steps_mark_the_last_simulation(page):
    page.goto("/analysis?game=dice_game")
    step(page, 100, 100)
    step(page, 10, 110)
    step(page, 1, 111)
    nodes = page.evaluate(NODES)
    game = load_game("dice_game")
    result = Search(game, "rollout", SearchConfig(num_simulations=111)).run(game.new_initial_state(), seed=0)
    check_tree(nodes, result.view.root())
    assert {one["kind"] for one in nodes} == {"decision", "chance", "terminal"}
    last = sorted((labels(one["path"]) for one in nodes if one["last"]), key=len)
    assert last == [last[-1][:depth] for depth in range(len(last))]  # one path from the root
    rows = page.locator("table.numbers tbody tr").all_inner_texts()
    shown = {row.split("\t")[0]: row.split("\t")[1:4] for row in rows}
    for place, name in enumerate(("roll", "stop")):
        visits, q = result.visits[place], result.q[place]
        assert shown[name] == [f"{visits:,}", f"{visits / 111:.1%}", f"{q:.4f}"]


REST = """() => [...document.querySelectorAll('[data-others], [data-unstored]')].map(
  node => [node.dataset.below, +(node.dataset.others ?? node.dataset.unstored)])"""
"""Probabilities of the outcomes that are not shown or not stored, with the path of their chance node."""
MANY_OUTCOMES = ("yatzy", "backgammon", "azul")
"""Games that begin with a roll, or with tiles, of many outcomes."""


def check_probabilities(page):
    """Check that outcomes and remainders below every chance node with children add up to 1; return the nodes."""
    nodes = page.evaluate(NODES)
    chance = {one["path"] for one in nodes if one["kind"] == "chance"}
    sums = {}
    for one in nodes:
        above = one["path"].rpartition(",")[0]
        if one["path"] and above in chance:
            sums[above] = sums.get(above, 0.0) + float(one["probability"])
    assert sums
    for path, probability in page.evaluate(REST):
        if path in chance:
            sums[path] += probability
    assert sums == {path: pytest.approx(1.0, abs=1e-9) for path in sums}
    return nodes


@pytest.mark.parametrize("preset", ["sampling", "progressive"])
def test_probabilities_below_every_chance_node_add_up_to_one(page, preset):
    page.goto("/analysis?game=dice_game")
    page.get_by_label("chance handling").click()
    page.get_by_role("option", name=preset, exact=True).click()
    page.get_by_label("children per node").fill("3")
    step(page, 100, 100)
    nodes = check_probabilities(page)
    game = load_game("dice_game")
    config = SearchConfig(num_simulations=100, chance=ChanceConfig.preset(preset))
    check_tree(nodes, Search(game, "rollout", config).run(game.new_initial_state(), seed=0).view.root())


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=() if game == "yatzy" else pytest.mark.long) for game in MANY_OUTCOMES]
)
def test_probabilities_of_many_outcomes_add_up_to_one(page, game):
    page.goto(f"/analysis?game={game}")
    page.get_by_label("levels").fill("3")
    page.get_by_label("children per node").fill("20")
    step(page, 1000, 1000)
    nodes = check_probabilities(page)
    assert {"": "chance"}.items() <= {one["path"]: one["kind"] for one in nodes}.items()
    loaded = load_game(game)
    config = SearchConfig(num_simulations=1000)
    check_tree(nodes, Search(loaded, "rollout", config).run(loaded.new_initial_state(), seed=0).view.root())


def test_a_search_runs_live_can_be_paused_and_a_node_shows_its_board(page):
    page.goto("/analysis?game=pig(target=20)")
    page.get_by_label("run up to").fill("1000000")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".tree .node").first.wait_for()
    page.get_by_role("button", name="Pause").dispatch_event("click")  # a search that has ended cannot be paused
    page.wait_for_function("!document.querySelector('.status').innerText.startsWith('Searching')")
    page.locator(".tree .node.chance").first.click()
    page.get_by_role("heading", name="After roll").wait_for()
    page.get_by_role("button", name="Collapse").click()
    page.get_by_role("button", name="Expand", exact=True).wait_for()


def test_a_search_in_plain_python_shows_its_tree_before_its_end(page):
    page.goto("/analysis?game=coins")
    page.get_by_label("run up to").fill("1000000")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".tree .node").first.wait_for()
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()  # it is still running
    page.get_by_role("button", name="Pause").dispatch_event("click")
    page.get_by_role("button", name="Run", exact=True).and_(page.locator(":enabled")).wait_for()


def test_the_numbers_of_the_chosen_node_follow_the_search(page):
    page.goto("/analysis?game=dice_game")
    step(page, 100, 100)
    page.locator(".tree .node.chance").first.click()
    page.get_by_role("heading", name="After roll").wait_for()
    visits = page.locator(".tree .node.chance").first.get_attribute("data-visits")
    text = page.get_by_role("region", name="Position", exact=True)
    text.get_by_text(f"{visits} visits").wait_for()
    step(page, 100, 200)
    more = page.locator(".tree .node.chance").first.get_attribute("data-visits")
    assert int(more) > int(visits)
    text.get_by_text(f"{more} visits").wait_for()


def test_reset_drops_a_running_search_and_settings_start_again(page):
    page.goto("/analysis?game=pig(target=20)")
    page.get_by_label("run up to").fill("1000000")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".tree .node").first.wait_for()
    page.get_by_role("button", name="Reset").click()
    page.locator(".status").filter(has_text="No simulations yet").wait_for()
    step(page, 10, 10)  # the dropped search adds nothing
    page.get_by_label("seed").fill("1")
    page.locator(".status").filter(has_text="settings have changed").wait_for()
    page.get_by_label("levels").fill("1")  # shows the same number with the new settings
    page.locator(".status").filter(has_text="10 simulations").wait_for()
    step(page, 10, 20)


def test_partial_results_take_a_small_share_of_the_time():
    now, reports = [0.0], []

    def report(found):
        reports.append(found)
        now[0] += 0.1

    sometimes = sparing(report, clock=lambda: now[0])
    for _ in range(1000):
        now[0] += 0.1
        sometimes(now[0])
    assert reports[0] == 0.1
    assert len(reports) * 0.1 == pytest.approx(0.05 * now[0], rel=0.1)


def test_an_invalid_setting_is_one_line(page):
    page.goto("/analysis?game=dice_game")
    page.get_by_role("button", name="Search settings").click()
    page.get_by_label("first play").fill("nonsense")
    page.get_by_role("button", name="Step by 1 simulations", exact=True).click()
    page.locator(".problem").filter(has_text="first_play is 'nonsense', expected a number or parent").wait_for()


OVERLAPS = """() => {
  const box = one => one.getBoundingClientRect(), all = selector => [...document.querySelectorAll(selector)];
  const controls = all('.settings .q-field__control').map(box);
  return all('.settings .q-field__messages').filter(one => controls.some(other =>
    box(one).bottom > other.top + 1 && box(one).top < other.bottom - 1
    && box(one).right > other.left + 1 && box(one).left < other.right - 1)).map(one => one.innerText);
}"""
"""Help texts of settings that cover another setting."""


@pytest.mark.parametrize("width", [1280, 390])
def test_help_texts_of_settings_cover_no_other_setting(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/analysis?game=dice_game")
    for name in ("Chance settings", "Search settings"):
        page.get_by_role("button", name=name).click()
    page.get_by_label("max seconds").wait_for()
    page.wait_for_timeout(500)  # until both are open
    assert page.locator(".settings .q-field__messages").count() > 15
    assert page.evaluate(OVERLAPS) == []


def test_the_plan_of_a_turn_draws_shared_positions_once(page):
    page.goto("/analysis?game=pig(target=20)")
    page.get_by_role("button", name="Plan", exact=True).click()
    page.get_by_role("img", name="Plan of the turn").wait_for()
    nodes = page.locator('svg[aria-label="Plan of the turn"] g[data-kind]')
    names = nodes.locator("text:first-of-type").all_text_contents()
    assert names[:2] == ["now", "roll"]
    assert len(nodes.all()) > 6
