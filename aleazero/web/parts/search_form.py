"""Forms of a search's settings, generated from the descriptions of ``SearchConfig`` and ``ChanceConfig``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nicegui import ui

from aleazero.errors import ConfigError

DEFAULT: Final = "default"
CUSTOM: Final = "custom"
PRESETS: Final = {
    DEFAULT: "sampling, or for networks stratified or progressive",
    "sampling": "draws outcomes by their probability",
    "stratified": "visits the outcome that is furthest below its probability; backs up the exact mean",
    "progressive": "stores more outcomes as the visits grow",
    "full": "expands all outcomes at once; backs up the exact mean",
    "open": "open loop: all outcomes share one node",
    CUSTOM: "the settings below",
}
"""What the presets of chance handling do."""


def evaluators_of(card: Mapping[str, Any]) -> list[str]:
    """Return the evaluators that a search of a game can have, without exact values."""
    nets = [kind["player"] for kind in card["kinds"] if kind["player"].startswith("net:")]
    return ["rollout", "uniform", *(net for net in nets if net != "net:dummy")]


class Fields:
    """Controls for the fields of one settings class.

    Args:
        fields: the fields, as the task ``search_form`` describes them.
        changed: called when a control changes.
    """

    def __init__(self, fields: Sequence[Mapping[str, Any]], changed: Callable[[], Any]) -> None:
        self._fields = {field["name"]: field for field in fields}
        self._controls: dict[str, Any] = {}
        with ui.element("div").classes("settings"):
            for field in fields:
                self._controls[field["name"]] = self._control(field, changed)

    def _control(self, field: Mapping[str, Any], changed: Callable[[], Any]) -> Any:
        label, value = field["name"].replace("_", " "), field["default"]
        if field["choices"]:
            control: Any = ui.select(list(field["choices"]), value=value, label=label, on_change=changed)
        elif field["words"]:
            control = ui.input(label, value=str(value), on_change=changed)
        else:
            control = ui.number(
                label, value=value, min=field["least"], max=field["most"], step=1 if field["integer"] else None,
                placeholder="none" if field["empty"] else "", on_change=changed,
            )  # fmt: skip
        control.props("outlined dense debounce=300").props["hint"] = field["help"]
        return control

    def values(self) -> dict[str, Any]:
        """Return the values that differ from the defaults.

        Raises:
            ConfigError: a control has no valid value.
        """
        found = {name: self._value(field, self._controls[name].value) for name, field in self._fields.items()}
        return {name: value for name, value in found.items() if value != self._fields[name]["default"]}

    def _value(self, field: Mapping[str, Any], given: Any) -> Any:
        name = field["name"]
        if field["choices"] or given in field["words"]:
            return given
        if given in (None, ""):
            if field["empty"]:
                return None
            raise ConfigError("is empty, expected a number", field=name)
        try:
            return int(given) if field["integer"] and float(given) == int(given) else float(given)
        except ValueError:
            words = "".join(f" or {word}" for word in field["words"])
            raise ConfigError(f"is {given!r}, expected a number{words}", field=name) from None

    def set(self, values: Mapping[str, Any]) -> None:
        """Show these values, and defaults for all others."""
        for name, control in self._controls.items():
            control.value = values.get(name, self._fields[name]["default"])


class SearchForm:
    """All settings of a search: preset and details of chance handling, selection, limits.

    Args:
        form: the answer of the task ``search_form``.
        changed: called when a setting changes.
    """

    def __init__(self, form: Mapping[str, Any], changed: Callable[[], Any]) -> None:
        self._form, self._changed = form, changed
        options = {DEFAULT: "default of the evaluator", **{name: name for name in form["presets"]}, CUSTOM: "custom"}
        self.preset = ui.select(options, value=DEFAULT, label="chance handling", on_change=self._preset_changed)
        self.preset.props("outlined dense").props["hint"] = PRESETS[DEFAULT]
        with ui.expansion("Chance settings").classes("full").props("dense"):
            self.chance = Fields(form["chance"], self._detail_changed)
            self.widens = ui.switch("progressive widening", on_change=self._detail_changed)
            self.widening = Fields(form["widening"], self._detail_changed)
        with ui.expansion("Search settings").classes("full").props("dense"):
            self.search = Fields(form["search"], changed)
        self._setting = False

    def _preset_changed(self) -> None:
        self.preset.props["hint"] = PRESETS.get(self.preset.value, "")
        self.preset.update()
        if self.preset.value != CUSTOM:
            self._setting = True
            values = self._form["presets"].get(self.preset.value, {})
            self.chance.set(values)
            self.widens.value = values.get("widening") is not None
            self.widening.set(values.get("widening") or {})
            self._setting = False
        self._changed()

    def _detail_changed(self) -> None:
        if not self._setting:
            self.preset.value = CUSTOM
            self._changed()

    def values(self) -> dict[str, Any]:
        """Return the settings for ``SearchConfig``, without those that have their default.

        Raises:
            ConfigError: a control has no valid value.
        """
        values = self.search.values()
        if self.preset.value == CUSTOM:
            values["chance"] = self.chance.values()
            if self.widens.value:
                values["chance"]["widening"] = self.widening.values()
        elif self.preset.value != DEFAULT:
            values["chance"] = self.preset.value
        return values
