"""The gates of a run: their verdicts, and two games on the same dice side by side."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nicegui import ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.layout import Problem, is_open, panel, paragraph, scroll_region, subheading
from aleazero.web.parts.plots import Curve, chart_options, numbers_table, scale_title
from aleazero.web.parts.replay import Replay, totals_table, value_curve
from aleazero.web.parts.seats import judge_text
from aleazero.web.playground import TASKS, Playground, one_line

RUN_TASKS: Final = f"{TASKS}.runs"


class Gates:
    """The verdicts of a run's gates, and the recorded games of one of them.

    Args:
        playground: reads and judges the games.
        of: folder and name of the run, as the tasks of ``tasks.runs`` take them.
    """

    def __init__(self, playground: Playground, of: Mapping[str, Any]) -> None:
        self.playground, self.of = playground, of
        self.shown: list[str] | None = None
        self.games: dict[str, Any] = {}
        self.judged: dict[str, Any] = {}
        """The two games that are judged or shown."""
        self.replays: list[Replay] = []
        with panel("Gates"):
            subheading("Gates")
            self.verdicts = scroll_region("Verdicts of the gates")
            self.rates = paragraph("", "quiet")
        self.panel = panel("Games of a gate")
        self.panel.set_visibility(False)
        with self.panel:
            subheading("Two games on the same dice")
            with ui.element("div").classes("row"):
                self.gate = ui.select([], label="gate", on_change=self._load).props("outlined dense")
                self.side = ui.select([], label="games", on_change=self._judge).props("outlined dense")
                for control in (self.gate, self.side):
                    control.style("min-width: min(15rem, 100%)")
            self.status = ui.label("").classes("status").props('aria-live="polite"')
            self.failed = Problem()
            self.place = ui.element("div").classes("stack")

    async def update(self) -> None:
        """Read the verdicts again; a running run may have new ones."""
        found = await self.playground.rules(f"{RUN_TASKS}:gates", **self.of) or []
        if [one["gate"] for one in found] == self.shown:
            return
        self.shown = [one["gate"] for one in found]
        rows = [
            (one["candidate"], one["champion"], ("✓ " if one["verdict"] == "promoted" else "✗ ") + one["verdict"],
             one["pairs"], score_text(one["score"]), one["reason"])
            for one in found
        ]  # fmt: skip
        self.verdicts.content = numbers_table(("candidate", "champion", "verdict", "pairs", "score", "reason"), rows)
        rates = found[0]["rates"] if found else "no gate has been played yet"
        self.rates.content = html.escape(f"{rates[:1].upper()}{rates[1:]}.")
        recorded = {one["gate"]: f"{one['candidate']} against {one['champion']}" for one in found if one["recorded"]}
        self.panel.set_visibility(bool(recorded))
        if recorded:
            self.gate.set_options(recorded, value=self.gate.value or next(iter(recorded)))

    async def _load(self) -> None:
        """Read the games of the chosen gate."""
        if self.gate.value is None:
            return
        try:
            self.games = await self.playground.rules(f"{RUN_TASKS}:gate_games", **self.of, gate=self.gate.value) or {}
        except AleaZeroError as error:
            self._fail(error)
            return
        options = {
            number: f"pair {one['pair']}, seed {one['seed']}: {' and '.join(map(players_text, one['games']))}"
            for number, one in enumerate(self.games.get("sides", ()))
        }
        self.side.set_options(options, value=None)
        self.side.value = next(iter(options), None)

    async def _judge(self) -> None:
        """Judge and show the two games that are chosen."""
        if self.side.value is None:
            return
        side = self.judged = self.games["sides"][self.side.value]
        self.status.text = "Judging … (a first judgement compiles the game)"
        self.failed.hide()
        try:
            found = [
                await self.playground.study(
                    "judgements:review_file", self.games["game"], text=self.games["text"], ending=".json",
                    number=one["number"],
                )
                for one in side["games"]
            ]  # fmt: skip
        except AleaZeroError as error:
            self._fail(error)
            return
        if not is_open() or self.judged is not side:  # others were chosen in the meantime
            return
        self.status.text = judge_text(found[0]["judge"], found[0]["exact"])
        self.place.clear()
        with self.place:
            self._show(found)
        await self._go(0)

    def _show(self, found: Sequence[Mapping[str, Any]]) -> None:
        candidate = self.games["candidate"]
        with ui.element("div").classes("row"):
            ui.button("Back", on_click=lambda: self._go(self.step - 1)).props("outline dense")
            ui.button("Next", on_click=lambda: self._go(self.step + 1)).props("unelevated dense")
            self.slider = ui.slider(min=0, max=max(len(one["entries"]) for one in found), value=0).classes("grow")
            self.slider.props('aria-label="Step of both games"').on("change", lambda: self._go(int(self.slider.value)))
        self.replays = []
        curves: list[Curve] = []
        with ui.element("div").classes("two even"):
            for number, one in enumerate(found):
                with ui.element("div").classes("stack replay"):
                    paragraph(f"Game {number + 1}: {players_text({'players': one['names']})}")
                    self.replays.append(Replay(self.playground, one))
                    scroll_region(f"Totals of game {number + 1}", totals_table(one))
                seat = one["names"].index(candidate) if candidate in one["names"] else 0
                line = value_curve(one, seat, f"game {number + 1}: {one['names'][seat]} as player {seat}")
                curves.append(line._replace(number=number))
        scale = found[0]["scale"]
        subheading(scale_title(scale, candidate))
        chart = ui.echart(chart_options(curves, scale), renderer="svg").classes("chart")
        chart.props(f'role="img" aria-label="{html.escape(scale_title(scale, candidate))} over both games"')

    @property
    def step(self) -> int:
        """The place of both games; a game that is over stays at its end."""
        return max(one.place for one in self.replays)

    async def _go(self, place: int) -> None:
        for replay in self.replays:
            await replay.show(place)
        self.slider.value = self.step

    def _fail(self, error: AleaZeroError) -> None:
        self.failed.show(one_line(error))
        self.status.text = ""
        self.place.clear()


def players_text(game: Mapping[str, Any]) -> str:
    """Return the players of a game by seat."""
    return " – ".join(game["players"])


def score_text(score: Mapping[str, float]) -> str:
    """Return a score with its 95 % confidence interval in percent."""
    return f"{score['mean']:.1%} ({score['low']:.1%} to {score['high']:.1%})"
