"""The analysis: a search that can be run, paused and stepped, with its settings, actions and tree."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, Final

from nicegui import events, ui

from aleazero.errors import AleaZeroError
from aleazero.serving.api.jobs import Job
from aleazero.serving.workers import Done
from aleazero.untrusted import printable
from aleazero.web.parts.board import Board
from aleazero.web.parts.layout import Problem, heading, loaded_page, on_keys, panel, problem, scroll_region, subheading
from aleazero.web.parts.plan_graph import plan_svg
from aleazero.web.parts.plots import numbers_table
from aleazero.web.parts.search_form import SearchForm, evaluators_of
from aleazero.web.parts.tree import LEGEND, Path, find_node, tree_svg
from aleazero.web.playground import IN_BACKGROUND, Playground, address_of, game_text, one_line

STEPS: Final = (1, 10, 100, 1000)
NO_SIMULATIONS: Final = "No simulations yet: run the search, or step."
NO_TREE: Final = (
    '<p class="tree-empty">The tree appears here. <b>+1</b> shows one simulation at a time, <b>Run</b> grows it live.'
    "</p>"
)
NO_TABLE: Final = '<p class="quiet">Visits and values appear here.</p>'
"""Shown in place of the tree and of its table before the first simulation."""
EVERY: Final = 0.4
"""Seconds between partial results of a running search."""
PLAN_LEVELS: Final = 4
PLAN_WIDTH: Final = 10
"""Size of the graph of a plan."""
LEVELS: Final = 2
CHILDREN: Final = 6
"""Levels of the tree and children per node at first."""
MOST_NODES: Final = 260
"""Nodes of the tree on the page."""
CHOSEN: Final = """(event) => {
  const node = event.target.closest('[data-path]');
  if (node) emit(node.dataset.path);
}"""
CHOSEN_BY_KEY: Final = """(event) => {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  const node = event.target.closest('[data-path]');
  if (node) { event.preventDefault(); emit(node.dataset.path); }
}"""


def add_pages(playground: Playground) -> None:
    """Add the analysis."""

    @ui.page("/analysis")
    async def analysis(game: str = "", position: str = "") -> None:
        async with loaded_page("Analysis", "/analysis"):
            card = await playground.card(game or await playground.simplest_game())
            if card["error"]:
                heading("Analysis")
                problem(card["error"])
                return
            name, params = card["name"], card["params"]
            start = await playground.rules(
                "follow_path", name, game=name, params=params, position=position or None, path=[]
            )
            page = Analysis(playground, card, start)
            page.build(await playground.rules("search_form"), await playground.game_names())
            await page.begin()


class Analysis:
    """The page of one position."""

    def __init__(self, playground: Playground, card: Mapping[str, Any], start: Mapping[str, Any]) -> None:
        self.playground, self.card, self.start = playground, card, start
        self.game, self.params = card["name"], card["params"]
        self.job: Job | None = None
        self.found: dict[str, Any] | None = None
        self.exact: dict[str, Any] | None = None
        self.collapsed: set[Path] = set()
        self.chosen: Path = ()
        self.place = ""
        """Position of the chosen node as HTML, or why it has none."""
        self.again = False
        """Whether settings have changed since the search on the page."""
        ui.context.client.on_delete(self._stop)

    # -- the page ------------------------------------------------------------------------------------------------------

    def build(self, form: Mapping[str, Any], games: list[str]) -> None:
        """Build the page."""
        heading(f"Analysis of {self.card['title'].lower()}")
        with ui.element("div").classes("two"):
            with ui.element("div").classes("stack"):
                self._controls()
                with panel("Tree"):
                    subheading("The tree with its chance nodes")
                    self.tree = scroll_region("Search tree", NO_TREE, classes="tree")
                    self.tree.on("click", self._choose, js_handler=CHOSEN)
                    self.tree.on("keydown", self._choose, js_handler=CHOSEN_BY_KEY)
                    ui.html(LEGEND, sanitize=False).classes("legend")
                    self._tree_controls()
                self._planner()
            with ui.element("div").classes("stack"):
                with panel("Position"):
                    self.node_title = ui.html("The position", sanitize=False, tag="h2")
                    self.board = Board(self.playground)
                    self.node_text = ui.html("", sanitize=False).classes("quiet").style("min-height: 3em")
                    with ui.element("div").classes("row"):
                        self.fold = ui.button("Collapse", on_click=self._fold).props("outline dense")
                        for text, address in (("Analyse from here", "/analysis"), ("Compare searches", "/compare")):
                            button = ui.button(text, on_click=lambda _, address=address: self._open_node(address))
                            button.props("outline dense")
                with panel("Actions"):
                    self.table_title = ui.html("Actions", sanitize=False, tag="h2")
                    self.table = scroll_region("Table of actions", NO_TABLE)
                with panel("Settings"):
                    subheading("Settings")
                    evaluators = [*evaluators_of(self.card), *["oracle"] * self.card["exact"]]
                    self.evaluator = ui.select(evaluators, value=evaluators[0], label="evaluator")
                    self.evaluator.props("outlined dense").on_value_change(self._changed)
                    self.seed = ui.number("seed", value=0, min=0, step=1, on_change=self._changed)
                    self.seed.props("outlined dense")
                    self.form = SearchForm(form, self._changed)
                with panel("Another position"):
                    subheading("Another position")
                    self._positions(games)
        on_keys(self._key)

    def _positions(self, games: list[str]) -> None:
        """Add links to the start and the examples of the game, a field for a position as text, and other games."""
        game = self.card["game"]
        with ui.element("div").classes("row"):
            ui.link("Start of the game", address_of("/analysis", game))
        for one in self.card["examples"]:
            at = game_text({"game": self.card["name"], "params": one["params"]})
            ui.link(one["caption"], address_of("/analysis", at, one["position"]))

        def open_text() -> None:
            ui.navigate.to(address_of("/analysis", game, text.value or ""))

        with ui.element("div").classes("row"):
            text = ui.input("position as text", value=self.start["position"]).props("outlined dense").classes("grow")
            text.on("keydown.enter", open_text)
            ui.button("Open", on_click=open_text).props("outline dense")
        with ui.element("div").classes("row"):
            for name in games:
                ui.link(name, address_of("/analysis", name))

    def _controls(self) -> None:
        with panel("Search"):
            with ui.element("div").classes("row"):
                self.run_button = ui.button("Run", on_click=self.run).props("unelevated dense")
                self.pause_button = ui.button("Pause", on_click=self.pause).props("outline dense")
                for step in STEPS:
                    button = ui.button(f"+{step:,}", on_click=lambda _, step=step: self.step(step))
                    button.props(f'outline dense aria-label="Step by {step:,} simulations"')
                ui.button("Reset", on_click=self.reset).props("outline dense")
                self.limit = ui.number("run up to", value=100_000, min=1, step=1000).props("outlined dense")
                self.limit.style("width: 8.5rem")
                self._show_running()
            self.status = ui.label(NO_SIMULATIONS).classes("status")
            self.failed = Problem()

    def _tree_controls(self) -> None:
        with ui.element("div").classes("row"):
            names = {n: f"player {n}" for n in range(self.card["players"])}
            mover = max(0, self.start["player"])
            self.player = ui.select(names, value=mover, label="values of", on_change=self._show_values)
            self.depth = ui.number("levels", value=LEVELS, min=1, max=12, step=1, on_change=self._again)
            self.top = ui.number("children per node", value=CHILDREN, min=1, max=60, step=1, on_change=self._again)
            for control in (self.player, self.depth, self.top):
                control.props("outlined dense debounce=300").style("width: 9rem")

    def _planner(self) -> None:
        with panel("Planner"):
            with ui.element("div").classes("row"):
                subheading("The plan of the turn")
                ui.button("Plan", on_click=self.plan).props("outline dense")
            self.plan_text = ui.label("The planner computes every roll exactly and each shared position once.")
            self.plan_text.classes("quiet")
            self.graph = scroll_region("Plan", classes="tree").style("height: 320px")
            self.graph.set_visibility(False)

    async def plan(self) -> None:
        """Plan the turn and draw its graph."""
        self.plan_text.text = "Planning … (a first plan compiles the game)"
        try:
            found = await self.playground.study(
                "plans:plan_graph", self.game, **self._position(), levels=PLAN_LEVELS, width=PLAN_WIDTH
            )
        except AleaZeroError as error:
            self.plan_text.text = one_line(error)
            return
        self.graph.set_visibility(True)
        self.graph.content = plan_svg(found, int(self.player.value))
        self.plan_text.text = (
            f"Values past the turn come from {found['evaluator']}. Orange: the plan. Positions with several ways are "
            "computed once."
        )

    async def begin(self) -> None:
        """Show the position; its exact values follow, because a first solution also compiles the game."""
        await self._show_board()
        ui.timer(0, self._find_exact, once=True)

    async def _find_exact(self) -> None:
        try:
            self.exact = await self.playground.study(
                "searches:exact_values", self.game, priority=IN_BACKGROUND, **self._position()
            )
        except AleaZeroError:
            return
        self._show_table()

    def _position(self) -> dict[str, Any]:
        return {"game": self.game, "params": self.params, "position": self.start["position"]}

    def _stop(self) -> None:
        if self.job is not None:
            self.job.cancel()

    # -- searching -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Search up to the limit, with partial results."""
        await self._search(int(self.limit.value or 1), EVERY)

    async def step(self, count: int) -> None:
        """Add simulations, and mark the path of the last one."""
        done = 0 if self.found is None or self.again else self.found["simulations"]
        await self._search(done + count, None)

    def pause(self) -> None:
        """Stop the search; its result so far stays."""
        if self.job is not None:
            self.job.cancel()

    async def reset(self) -> None:
        """Remove all simulations; results of a search that is still running are dropped."""
        self.pause()
        self.found = self.job = None
        self.collapsed.clear()
        self.chosen = ()
        self.tree.content, self.table.content = NO_TREE, NO_TABLE
        self.status.text = NO_SIMULATIONS
        self._show_running()
        await self._show_board()

    async def _again(self) -> None:
        if self.found is not None and self.job is None:
            await self._search(self.found["simulations"], None)

    def _changed(self) -> None:
        """Start again with the next run, because the settings are others."""
        self.again = self.found is not None
        if self.again:
            self.status.text = "The settings have changed: run or step to start again with them."

    async def _search(self, sims: int, every: float | None) -> None:
        if self.job is not None:
            return
        self.failed.hide()
        try:
            job = self.playground.start("searches:search_position", self.game, **self._request(sims, every))
        except AleaZeroError as error:
            self._fail(one_line(error))
            return
        self.job, self.again = job, False
        self.status.text = "Searching … (a first search compiles the game)"
        self._show_running()
        try:
            async for event in job.events():
                if self.job is job:  # not after a reset
                    self._received(event)
        finally:
            self.playground.api.jobs.forget(job)
            if self.job is job:
                self.job = None
                self._show_running()

    def _show_running(self) -> None:
        """Enable the button that has an effect: run or pause."""
        self.run_button.set_enabled(self.job is None)
        self.pause_button.set_enabled(self.job is not None)

    def _request(self, sims: int, every: float | None) -> dict[str, Any]:
        return {
            **self._position(), "sims": max(1, sims), "seed": int(self.seed.value or 0), "settings": self.form.values(),
            "evaluator": self.evaluator.value, "depth": int(self.depth.value or LEVELS),
            "top": int(self.top.value or CHILDREN), "nodes": MOST_NODES, "every": every, "last": every is None,
        }  # fmt: skip

    def _received(self, event: Any) -> None:
        if isinstance(event, Done):
            if event.content is None and event.kind == "cancelled":
                self.status.text = "Stopped before the first result."
                return
            if event.content is None:
                self._fail(printable(event.message))
                return
            event = event.content
        self.found = event
        speed = event["simulations"] / event["seconds"] if event["seconds"] > 0.02 else None
        why = {"seconds": "stopped by its time limit", "nodes": "stopped because the tree is full"}
        ended = why.get(event["stopped"] or "", "")
        self.status.text = (
            f"{event['simulations']:,} simulations"
            + (f", {speed:,.0f}/s" if speed else "")
            + (f", {ended}" if ended else "")
        )
        self._show_values()
        self._show_node()

    def _fail(self, text: str) -> None:
        self.failed.show(text)
        self.status.text = "The search failed."

    # -- showing -------------------------------------------------------------------------------------------------------

    def _show_values(self) -> None:
        self._show_table()
        self._show_tree()

    def _show_table(self) -> None:
        found = self.found
        if found is None:
            return
        total = max(1, found["simulations"], sum(one["visits"] for one in found["outcomes"]))
        if found["outcomes"]:
            mine = f", with values of player {self.player.value}" if self.card["players"] > 1 else ""
            self.table_title.content = f"Outcomes{mine}"
            order = sorted(found["outcomes"], key=lambda one: (-one["visits"], -(one["probability"] or 0.0)))
            rows = [
                (one["name"], f"{one['probability']:.4f}" if one["probability"] is not None else "–",
                 f"{one['visits']:,}", f"{one['visits'] / total:.1%}",
                 "–" if one["value"] is None else f"{one['value'][self.player.value]:.4f}")
                for one in order
            ]  # fmt: skip
            if unstored := found["tree"].get("unstored", {}).get("visits"):
                share = f"{found['tree']['unstored']['probability']:.4f}"
                rows.append(("not stored", share, f"{unstored:,}", f"{unstored / total:.1%}", "–"))
            self.table.content = numbers_table(("outcome", "probability", "visits", "share", "value"), rows, bars=3)
            return
        if self.card["players"] > 1:
            self.table_title.content = f"Actions, with values of player {found['player']}"
        exact = (self.exact or {}).get("actions", {})
        order = sorted(range(len(found["actions"])), key=lambda row: -found["visits"][row])
        heads = ["action", "visits", "share", "value", "prior", *["exact"] * bool(exact)]
        table = [
            [found["names"][row], f"{found['visits'][row]:,}", f"{found['visits'][row] / total:.1%}",
             "–" if found["q"][row] is None else f"{found['q'][row]:.4f}", f"{found['priors'][row]:.3f}",
             *([f"{exact[found['actions'][row]]:.4f}" if found["actions"][row] in exact else "–"] if exact else [])]
            for row in order
        ]  # fmt: skip
        best = next((place for place, row in enumerate(order) if found["actions"][row] == found["best"]), None)
        self.table.content = numbers_table(heads, table, best, bars=2)

    def _show_tree(self) -> None:
        if self.found is not None:
            self.tree.content = tree_svg(self.found["tree"], int(self.player.value), self.collapsed, self.chosen)

    async def _show_board(self) -> None:
        """Show the position of the chosen node; in open loop a node may have none."""
        path = self.chosen
        self.fold.text = "Expand" if path in self.collapsed else "Collapse"
        try:
            at = await self.playground.rules("follow_path", self.game, **self._position(), path=list(path))
            await self.board.show(self.game, self.params, at["position"])
            place = f"<code>{html.escape(at['position'])}</code>"
        except AleaZeroError as error:
            place = html.escape(one_line(error))
            self.board.fade()
        if path == self.chosen:  # no other node was chosen in the meantime
            self.place = place
            self._show_node()

    def _show_node(self) -> None:
        """Show the numbers of the chosen node."""
        node, text = None if self.found is None else find_node(self.found["tree"], self.chosen), self.place
        if node is not None:
            values = ", ".join(f"{value:.4f}" for value in node["value"])
            share = "" if node["probability"] is None else f", probability {node['probability']:.4f}"
            prior = "" if node["prior"] is None else f", prior {node['prior']:.3f}"
            visits = f"{node['visits']:,} visits, " if self.chosen else ""  # the root also counts its own evaluation
            text = f"{visits}value {values}{share}{prior}<br>{self.place}"
        self.node_title.content = html.escape("The position" if not self.chosen else f"After {self._path_text()}")
        self.node_text.content = text

    def _path_text(self) -> str:
        names, node = [], self.found["tree"] if self.found else None
        for label in self.chosen:
            node = None if node is None else find_node(node, (label,))
            names.append(str(label) if node is None else node["text"])
        return ", ".join(names)

    async def _choose(self, event: events.GenericEventArguments) -> None:
        text = str(event.args)
        self.chosen = tuple(int(label) for label in text.split(",")) if text else ()
        self._show_tree()
        await self._show_board()

    def _fold(self) -> None:
        self.collapsed ^= {self.chosen}
        self.fold.text = "Expand" if self.chosen in self.collapsed else "Collapse"
        self._show_tree()

    async def _open_node(self, page: str) -> None:
        """Open another page at the position of the chosen node."""
        try:
            at = await self.playground.rules("follow_path", self.game, **self._position(), path=list(self.chosen))
        except AleaZeroError as error:
            ui.notify(one_line(error), type="negative")
            return
        ui.navigate.to(address_of(page, self.card["game"], at["position"]))

    async def _key(self, key: str) -> None:
        if key == "r":
            await self.run()
        elif key == "p":
            self.pause()
        elif key in ("1", "2", "3", "4"):
            await self.step(STEPS[int(key) - 1])
