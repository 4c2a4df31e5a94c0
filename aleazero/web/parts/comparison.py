"""Several searches of one position that grow together, with their values or errors as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nicegui import ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.layout import Problem, is_open, scroll_region
from aleazero.web.parts.plots import COLORS, DASHES, numbers_table
from aleazero.web.playground import Playground, one_line

SIZES: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
"""Simulations at which the searches are compared."""
SMALLEST: Final = 1e-6
"""Smallest error on the logarithmic axis."""


@dataclass
class Side:
    """One of the searches."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings for ``SearchConfig``, without simulations and seed."""
    evaluator: str = "rollout"


class Comparison:
    """A plot and a table of searches that grow together.

    Args:
        playground: runs the searches.
        game: name of the game.
        params: its parameters.
        position: position as text; None for the start.
    """

    def __init__(self, playground: Playground, game: str, params: dict[str, Any], position: str | None = None) -> None:
        self.playground, self.game = playground, game
        self.position: dict[str, Any] = {"game": game, "params": params, "position": position}
        self.results: dict[str, list[dict[str, Any]]] = {}
        self.exact: dict[str, Any] | None = None
        self.running = False
        self.status = ui.label("").classes("status").props('aria-live="polite"')
        self.failed = Problem()
        self._chart = ui.echart(self._options([]), renderer="svg").classes("chart").style("height: 270px")
        self._chart.props('role="img" aria-label="Plot of the searches"')
        self.table = scroll_region("Results of the searches").style("min-height: 6rem")

    async def run(self, sides: Sequence[Side], most: int, seed: int = 0) -> None:
        """Grow all searches together up to this many simulations. Another run is ignored until it ends."""
        if self.running:
            return
        self.running, self.results = True, {side.name: [] for side in sides}
        self.failed.hide()
        self.status.text = "Searching … (a first search compiles the game)"
        try:
            if self.exact is None:
                self.exact = await self.playground.study("searches:exact_values", self.game, **self.position)
            for sims in [size for size in SIZES if size < most] + [most]:
                for side in sides:
                    found = await self.playground.study(
                        "searches:search_position", self.game, **self.position, sims=sims, seed=seed,
                        settings=side.settings, evaluator=side.evaluator, depth=0, top=1, nodes=1, every=None,
                        last=False,
                    )  # fmt: skip
                    self.results[side.name].append(found)
                if not is_open():
                    return
                self._show(sides, sims)
        except AleaZeroError as error:
            self.failed.show(one_line(error))
            self.status.text = "The comparison failed."
        finally:
            self.running = False

    def error(self, found: dict[str, Any]) -> float | None:
        """Return the error of the value of the position; None without exact values."""
        if self.exact is None:
            return None
        return float(abs(found["value"][0] - self.exact["value"][0]))

    def _show(self, sides: Sequence[Side], sims: int) -> None:
        self.status.text = f"{sims:,} simulations each"
        self._chart.options.clear()
        self._chart.options.update(self._options(sides))
        self._chart.update()
        rows = []
        for side in sides:
            last = self.results[side.name][-1]
            best = next((name for one, name in zip(last["actions"], last["names"], strict=True)
                         if one == last["best"]), "–")  # fmt: skip
            error = self.error(last)
            rows.append([side.name, f"{last['value'][0]:.4f}", best, f"{1000 * last['seconds']:,.0f} ms",
                         *([] if error is None else [f"{error:.4f}"])])  # fmt: skip
        if self.exact is not None:
            rows.append(["exact", f"{self.exact['value'][0]:.4f}", "", "", ""])
        heads = ["search", "value", "best action", "time", *([] if self.exact is None else ["error"])]
        self.table.content = numbers_table(heads, rows)

    def _options(self, sides: Sequence[Side]) -> dict[str, Any]:
        def height(found: dict[str, Any]) -> float:
            error = self.error(found)
            return float(found["value"][0]) if error is None else max(SMALLEST, error)

        what = "value of player 0" if self.exact is None else "error of the value"
        return {
            "animation": False,
            "grid": {"left": 62, "right": 16, "top": 54, "bottom": 40},
            "legend": {"top": 0},
            "tooltip": {"trigger": "axis"},
            "xAxis": {"type": "log", "name": "simulations", "nameLocation": "middle", "nameGap": 24,
                      "splitLine": {"show": False}},
            "yAxis": {"type": "value" if self.exact is None else "log", "name": what, "scale": True,
                      "nameTextStyle": {"align": "left"}, "splitLine": {"lineStyle": {"opacity": 0.25}}},
            "series": [
                {"type": "line", "name": side.name, "color": COLORS[number % 4], "symbolSize": 6,
                 "symbol": ("circle", "rect", "triangle", "diamond")[number % 4],
                 "lineStyle": {"type": DASHES[number % 4], "width": 2},
                 "data": [[one["simulations"], height(one)] for one in self.results[side.name]]}
                for number, side in enumerate(sides)
            ],
        }  # fmt: skip
