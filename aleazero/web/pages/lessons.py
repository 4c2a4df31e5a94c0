"""Six lessons about chance in searches. Each has a demo, and ends with something that the reader changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from nicegui import ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.comparison import Comparison, Side
from aleazero.web.parts.layout import Problem, heading, loaded_page, panel, paragraph, scroll_region, subheading
from aleazero.web.parts.plots import COLORS, numbers_table
from aleazero.web.parts.tree import LEGEND, tree_svg
from aleazero.web.playground import Playground, one_line

Demo = Callable[[Playground], Awaitable[None]]


@dataclass(frozen=True)
class Lesson:
    """A page: its title, paragraphs, demo, and the task for the reader."""

    name: str
    title: str
    text: tuple[str, ...]
    demo: Demo
    task: str


def add_pages(playground: Playground) -> None:
    """Add the list of lessons and the lessons."""

    @ui.page("/lessons")
    async def lessons() -> None:
        async with loaded_page("Lessons", "/lessons"):
            heading("Lessons")
            paragraph("Six short pages about chance in tree search. Every demo runs a real search.", "quiet")
            for number, lesson in enumerate(LESSONS, 1):
                with ui.element("section").classes("panel"):
                    ui.link(f"{number}. {lesson.title}", f"/lessons/{lesson.name}").style("font-weight: 600")
                    paragraph(lesson.text[0], "quiet")

    @ui.page("/lessons/{name}")
    async def lesson_page(name: str) -> None:
        number = next((place for place, lesson in enumerate(LESSONS) if lesson.name == name), None)
        async with loaded_page("Lesson", "/lessons"):
            if number is None:
                heading("No such lesson")
                ui.link("All lessons", "/lessons")
                return
            lesson = LESSONS[number]
            heading(f"{number + 1}. {lesson.title}")
            for text in lesson.text:
                paragraph(text)
            with panel("Demo"):
                subheading("Try it")
                await lesson.demo(playground)
            with ui.element("section").classes("panel task").props('aria-label="Your turn"'):
                subheading("Your turn")
                paragraph(lesson.task)
            with ui.element("div").classes("row"):
                if number:
                    ui.link("Previous lesson", f"/lessons/{LESSONS[number - 1].name}")
                ui.link("All lessons", "/lessons")
                if number + 1 < len(LESSONS):
                    ui.link("Next lesson", f"/lessons/{LESSONS[number + 1].name}")


# -- demos -------------------------------------------------------------------------------------------------------------


class TreeDemo:
    """A tree of the dice game that the reader grows, next to the exact value.

    Args:
        playground: runs the searches.
        chosen: adds controls, and returns a function for the chance settings and the position that they stand for.
    """

    def __init__(self, playground: Playground, chosen: Callable[[], Callable[[], tuple[Any, str | None]]]) -> None:
        self.playground, self.sims = playground, 0
        self.status = ui.label("").classes("status").props('aria-live="polite"')
        with ui.element("div").classes("row"):
            for step in (1, 10, 100):
                button = ui.button(f"+{step}", on_click=lambda _, step=step: self.grow(step)).props("outline dense")
                button.props(f'aria-label="Add {step} simulations"')
            ui.button("Start again", on_click=self.reset).props("outline dense")
            self.chosen = chosen()
        self.place = scroll_region("Tree", classes="tree")
        ui.html(LEGEND, sanitize=False).classes("legend")

    def reset(self) -> None:
        """Remove all simulations."""
        self.sims = 0
        self.place.content, self.status.text = "", "Add simulations."

    async def grow(self, step: int) -> None:
        """Add simulations and show the tree."""
        self.status.text = "Searching … (a first search compiles the game)"
        chance, position = self.chosen()
        of: dict[str, Any] = {"game": "dice_game", "params": {}, "position": position}
        try:
            exact = await self.playground.study("searches:exact_values", "dice_game", **of)
            found = await self.playground.study(
                "searches:search_position", "dice_game", **of, sims=self.sims + step, seed=0,
                settings={"chance": chance}, evaluator="rollout", depth=4, top=6, nodes=120, every=None, last=True,
            )  # fmt: skip
        except AleaZeroError as error:
            self.status.text = one_line(error)
            return
        self.sims = found["simulations"]
        self.status.text = (
            f"{self.sims:,} simulations, value {found['tree']['value'][0]:.3f} (exact: {exact['value'][0]:.3f})"
        )
        self.place.content = tree_svg(found["tree"], 0)


async def _chance_nodes(playground: Playground) -> None:
    def chosen() -> Callable[[], tuple[Any, str | None]]:
        score = ui.number("score", value=14, min=0, max=19, step=1).props("outlined dense").style("width: 6rem")
        return lambda: ("sampling", str(int(score.value or 0)))

    TreeDemo(playground, chosen)


async def _widening(playground: Playground) -> None:
    def chosen() -> Callable[[], tuple[Any, str | None]]:
        c = ui.number("c", value=1.0, min=0.1, step=0.5).props("outlined dense").style("width: 6rem")
        alpha = ui.number("alpha", value=0.2, min=0, max=1, step=0.1).props("outlined dense").style("width: 6rem")
        return lambda: ({"widening": {"c": float(c.value or 1.0), "alpha": float(alpha.value or 0.0)}}, ROLLING)

    TreeDemo(playground, chosen)


ROLLING: Final = "16 rolling"
"""Position of the lesson about widening: a chance node whose outcomes are decisions and ends."""


async def _compare(playground: Playground, sides: list[Side], sims: int, positions: dict[str, Any]) -> None:
    """Searches that grow together on a position that the reader chooses: text to game, parameters and position."""
    with ui.element("div").classes("row"):
        button = ui.button("Run").props("unelevated dense")
        most = ui.number("simulations", value=sims, min=10, max=100_000, step=1000).style("width: 9rem")
        seed = ui.number("seed", value=0, min=0, step=1).style("width: 9rem")
        chosen = ui.select(list(positions), value=next(iter(positions)), label="position").style("min-width: 13rem")
        for control in (most, seed, chosen):
            control.props("outlined dense")
    place = ui.element("div").classes("stack")
    plots: list[Comparison] = []

    def change() -> None:
        place.clear()
        with place:
            plots[:] = [Comparison(playground, *positions[str(chosen.value)])]

    change()
    chosen.on_value_change(change)
    button.on_click(lambda: plots[0].run(sides, int(most.value or 10), int(seed.value or 0)))


DICE_GAME: Final[dict[str, Any]] = {"the dice game from its start": ("dice_game", {}, None)}
PIG: Final[dict[str, Any]] = {"pig to 20 at 12-12, 4 points in this turn": ("pig", {"target": 20}, "12-12 turn 4")}


async def _loops(playground: Playground) -> None:
    sides = [Side("closed loop", {"chance": "sampling"}), Side("open loop", {"chance": "open"})]
    await _compare(playground, sides, 10_000, {**PIG, **DICE_GAME})


async def _modes(playground: Playground) -> None:
    sides = [Side(name, {"chance": name}) for name in ("sampling", "stratified", "full")]
    await _compare(playground, sides, 5000, {**PIG, **DICE_GAME})


async def _plan(playground: Playground) -> None:
    with ui.element("div").classes("row"):
        dice = ui.input("dice", value="11456").props("outlined dense").style("width: 8rem")
        button = ui.button("Plan the turn").props("unelevated dense")
    status = ui.label("").classes("status")
    failed = Problem()
    table = scroll_region("Dice to keep").style("min-height: 10rem")

    async def plan() -> None:
        failed.hide()
        status.text = "Planning … (the first plan computes a table)"
        try:
            found = await playground.study(
                "plans:plan_turn", "yatzy", game="yatzy", params={"players": 1}, position=None,
                moves=[f"roll-{''.join(sorted(str(dice.value or '')))}"],
            )  # fmt: skip
        except AleaZeroError as error:
            failed.show(one_line(error))
            status.text = ""
            return
        status.text = f"{len(found['rows'])} different afterstates, planned exactly to the end of the turn"
        rows = [(name, f"{value:.3f}", f"{value - found['rows'][0][1]:+.3f}") for name, value in found["rows"]]
        table.content = numbers_table(("keep", "expected score", "loss"), rows, 0)

    button.on_click(plan)


async def _luck(playground: Playground) -> None:
    with ui.element("div").classes("row"):
        games = ui.number("games", value=40, min=2, max=400, step=10).props("outlined dense").style("width: 8rem")
        seed = ui.number("seed", value=0, min=0, step=1).props("outlined dense").style("width: 8rem")
        button = ui.button("Play the match").props("unelevated dense")
    status = ui.label("").classes("status")
    chart = (
        ui.echart({"series": []}, renderer="svg")
        .classes("chart")
        .props('role="img" aria-label="Mean result and luck-adjusted result over the match"')
    )
    table = ui.html("", sanitize=False).style("min-height: 6rem")

    async def play() -> None:
        status.text = "Playing …"
        try:
            found = await playground.study(
                "judgements:luck_match",
                "pig",
                game="pig",
                params={"target": 20},
                games=max(2, int(games.value or 2)),
                seed=int(seed.value or 0),
            )
        except AleaZeroError as error:
            status.text = one_line(error)
            return
        status.text = f"{len(found['results'])} games of pig to 20 between two equal players"
        lines = (("result", found["means"]["results"]), ("luck-adjusted", found["means"]["adjusted"]))
        chart.options.clear()
        chart.options.update({
            "animation": False, "legend": {"top": 0}, "grid": {"left": 44, "right": 12, "top": 30, "bottom": 26},
            "xAxis": {"type": "value", "minInterval": 1, "splitLine": {"show": False}},
            "yAxis": {"type": "value", "min": -1, "max": 1, "splitLine": {"lineStyle": {"opacity": 0.25}}},
            "series": [{"type": "line", "name": name, "data": points, "color": COLORS[number], "symbol": "none",
                        "lineStyle": {"type": ("solid", "dashed")[number], "width": 2}}
                       for number, (name, points) in enumerate(lines)],
        })  # fmt: skip
        chart.update()
        table.content = numbers_table(("mean of player 0", "mean", "standard deviation"), found["table"])

    button.on_click(play)


LESSONS: Final = (
    Lesson(
        "chance-nodes", "What a chance node is",
        ("A player's decision is followed by a roll. The search stores the roll as a node of its own: a chance node.",
         "Below a decision there is one child per action, and the search chooses which one to visit. Below a chance "
         "node there is one child per outcome, and the dice choose. The value of a chance node is the mean over its "
         "outcomes, weighted by probability.",
         "The demo is the dice game: roll to add a die to the score, or stop; the game ends at 20. The root's value "
         "rises to the exact one: at first, the search also tries to stop, and its playouts stop at random."),
        _chance_nodes,
        "Add simulations one at a time and follow the orange path. Then add 100: how close are the visits of the six "
        "outcomes to equal? Now change the score to 18 and start again. Five of the six outcomes end the game, so "
        "their nodes are diamonds. Which probabilities have changed?",
    ),
    Lesson(
        "loops", "Open and closed loop",
        ("A closed-loop tree has a node for each outcome, so its decisions can react to the roll. In an open-loop tree "
         "all outcomes share one node.",
         "Sharing saves memory and learns faster, but it allows only one list of moves for all rolls. In the dice game "
         "that is no loss, because rolling is always best. In pig the right moment to hold depends on the rolls, so "
         "the value of an open-loop search converges to that of the best frozen list of moves."),
        _loops,
        "Run both searches of pig, then raise the simulations to 100,000: which error keeps falling, and which one "
        "stays? Then choose the dice game.",
    ),
    Lesson(
        "chance-modes", "Sampling, stratified, exact",
        ("A search has to decide which outcome to visit next. Sampling draws it at random. Stratified picks the "
         "outcome whose visits are furthest below its probability. Full expands all outcomes at once and backs up "
         "their exact mean.",
         "All three converge to the same value. They differ in noise and in the work per simulation."),
        _modes,
        "Run the three modes, then change the seed. Which curve changes most?",
    ),
    Lesson(
        "widening", "Widening that stays unbiased",
        ("If a roll has many outcomes, the tree cannot store them all. Progressive widening allows a chance node with "
         "N visits ceil(c · N^alpha) stored outcomes.",
         "Outcomes above this limit are still drawn with their probability, evaluated and backed up. They are only not "
         "stored. So the value of the chance node stays an unbiased mean of the evaluations, and the tree shows the "
         "unstored share as a dashed node. The demo starts at a roll of the dice game, with 16 points."),
        _widening,
        "Set alpha to 0 and c to 1, start again and add 100 simulations: how large is the unstored share, and how far "
        "is the value from the exact one? Then set alpha to 1.",
    ),
    Lesson(
        "afterstates", "Afterstates and the planner",
        ("In Yatzy you keep some dice and roll the others. What matters after the decision is which dice you kept, and "
         "not which ones you had. The state after the decision and before the roll is called an afterstate.",
         "Many decisions lead to the same afterstate. The planner computes each of them once, so it can plan a whole "
         "turn exactly: every roll, every keep, every category."),
        _plan,
        "The table shows all ways to keep dice at the start of one-player Yatzy with two rolls left. Change the dice: "
        "when is it best to keep a pair of ones?",
    ),
    Lesson(
        "luck", "Luck and skill",
        ("The luck of a roll is the value after it minus the expectation before it. It is zero on average, whatever "
         "the players do. What is left of the result after subtracting the luck is skill.",
         "Two equal players have a true mean of 0. The plain mean of a short match is far from it. The luck-adjusted "
         "mean has the same expectation and a much smaller variance."),
        _luck,
        "Play matches with several seeds. How many games does the plain mean need to be as close to 0 as the adjusted "
        "one?",
    ),
)  # fmt: skip
"""The lessons in order."""
