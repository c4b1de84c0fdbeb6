"""The controls next to the canvas of bubbles: the problem's parameters, presets, random bubbles, sides, deflation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.deflation import Deflation
from workbench.live.build.bubble_drawing import Drawing
from workbench.live.build.bubble_model import CLASSES
from workbench.live.build.bubble_presets import presets
from workbench.live.kit.block_fields import STYLE, WIDE, BlockFields, field
from workbench.live.kit.controls import button
from workbench.live.kit.form_fields import as_text, reciprocal
from workbench.problems.sides import Boundary, side_names

CHOOSE = "choose one"
PARAMETERS = ("n", "contrast")
RANDOM = ("count", "radius", "geometry_seed")
RADIUS_HINT = "0 = automatic radius"

Ask = Callable[..., None]


class BubbleForm:
    """Fields that ask for what their user changes, by act and values, and show what stands in a drawing.

    deflation_changed is called without values; `deflation.block()` reads the fields.
    """

    def __init__(self, ask: Ask, deflation_changed: Callable[[], None], drawing: Drawing, deflation: Deflation) -> None:
        self._ask = ask
        self._showing = 0
        self._shown: Drawing | None = None
        block = drawing.parameters
        declared = {item.name: item for item in block.parameters()}
        self.dimensions = widgets.ToggleButtons(
            options=[("2D", 2), ("3D", 3)],
            tooltips=["bubbles in the unit square", "bubbles in the unit cube"],
            style={"button_width": "124px"},
        )
        self.preset = _dropdown("preset", [CHOOSE], "rearrange the bubbles; Undo restores them")
        self.fields: dict[str, Any] = {name: field(declared[name], block.name) for name in (*PARAMETERS, *RANDOM)}
        about = "that many bubbles of that radius; the same seed places the same ones"
        self.random = button("Place at random", about, self._random, width="100%")
        self.sides = {side: _side(side) for side in side_names(3)}
        self.deflation = BlockFields("deflation", self._unless_showing(deflation_changed), deflation.name)
        self.load_deflation(deflation)
        self._depth = self._sides_row("z")
        groups = [
            [self.dimensions, self.preset, *(self.fields[name] for name in PARAMETERS)],
            [_title("Random bubbles"), *(self.fields[name] for name in RANDOM), _hint(RADIUS_HINT), self.random],
            [_title("Sides of the box"), self._sides_row("x"), self._sides_row("y"), self._depth],
            [_title("Deflation subdomains"), self.deflation.box],
        ]
        self.box = widgets.VBox([control for group in groups for control in group])
        self.box.add_class("wb-form")
        self.box.add_class("wb-bubbleform")
        self.show(drawing)
        self._listen()

    def show(self, drawing: Drawing, *, complete: bool = False) -> None:
        """Show a drawing; unless `complete` only what differs from the one before is set, so that typed text stays."""
        before, self._shown = None if complete else self._shown, drawing
        self._showing = threading.get_ident()
        try:
            if before is None or before.dimensions != drawing.dimensions:
                self._turn(drawing)
            for name in PARAMETERS:
                value = getattr(drawing.parameters, name)
                if before is None or value != getattr(before.parameters, name):
                    self._set(name, value)
            self._show_random(before, drawing)
            for side, boundary in drawing.sides.items():
                self.sides[side].value = str(boundary)
        finally:
            self._showing = 0

    def _show_random(self, before: Drawing | None, drawing: Drawing) -> None:
        """What a random layout was placed by, so that "Place at random" makes it again."""
        asked = [None if one is None else _random_values(one) for one in (before, drawing)]
        if asked[1] and asked[0] != asked[1]:
            for name, value in asked[1].items():
                self._set(name, value)

    def load_deflation(self, deflation: Deflation) -> None:
        """Show a deflation block."""
        self._showing = threading.get_ident()
        try:
            self.deflation.load(deflation)
        finally:
            self._showing = 0

    def random_values(self) -> dict[str, Any]:
        """The parameters of the random layout that the fields ask for, as they were typed."""
        return {"layout": "random", **{name: self.fields[name].value for name in RANDOM}}

    def _turn(self, drawing: Drawing) -> None:
        """To the other number of dimensions."""
        self.dimensions.value = drawing.dimensions
        self.preset.options = [CHOOSE, *presets(drawing.dimensions)]
        self.preset.value = CHOOSE
        self._set("count", CLASSES[drawing.dimensions]().count)
        self._depth.layout.display = None if drawing.dimensions == 3 else "none"

    def _set(self, name: str, value: Any) -> None:
        control = self.fields[name]
        # The density ratio on the page is heavy to light; the parameter is light to heavy.
        value = reciprocal(value) if name == "contrast" else value
        control.value = as_text(value) if isinstance(control, widgets.Text) else value

    def _listen(self) -> None:
        self.dimensions.observe(self._on(lambda value: self._ask("show", dimensions=value)), "value")
        self.preset.observe(self._on(self._choose), "value")
        for name in PARAMETERS:
            self.fields[name].observe(
                self._on(lambda value, name=name: self._ask("change", values={name: _read(name, value)})), "value"
            )
        for side, control in self.sides.items():
            control.observe(self._on(lambda value, side=side: self._ask("side", side=side, to=value)), "value")

    def _choose(self, name: str) -> None:
        if name == CHOOSE:
            return
        self._ask("preset", name=name)
        # So that the same one can be chosen again.
        self.preset.value = CHOOSE

    def _random(self) -> None:
        self._ask("change", values=self.random_values())

    def _on(self, act: Callable[[Any], None]) -> Callable[[Any], None]:
        return lambda change: self._unless_showing(lambda: act(change["new"]))()

    def _unless_showing(self, act: Callable[[], None]) -> Callable[[], None]:
        """What the form shows it need not ask for; what another thread brings meanwhile is the user's."""
        return lambda: None if self._showing == threading.get_ident() else act()

    def _sides_row(self, axis: str) -> widgets.HBox:
        row = widgets.HBox([self.sides[f"{axis}-"], self.sides[f"{axis}+"]])
        row.add_class("wb-sides")
        return row


def _read(name: str, value: Any) -> Any:
    """A parameter from its field."""
    return reciprocal(value) if name == "contrast" else value


def _random_values(drawing: Drawing) -> dict[str, Any]:
    """By what parameters a drawing was placed at random; empty where it was not."""
    placed = not drawing.empty and drawing.parameters.layout == "random"
    return {name: getattr(drawing.parameters, name) for name in RANDOM} if placed else {}


def _dropdown(name: str, options: list[str], about: str) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, description=name, tooltip=about, style=dict(STYLE), layout=dict(WIDE))


def _side(side: str) -> widgets.Dropdown:
    control = _dropdown(side, list(Boundary), "neumann: a wall; dirichlet: the pressure is held there")
    control.style.description_width = "24px"
    return control


def _title(text: str) -> widgets.HTML:
    return _words(text, "wb-group")


def _hint(text: str) -> widgets.HTML:
    return _words(text, "wb-hint")


def _words(text: str, style: str) -> widgets.HTML:
    made = widgets.HTML(text, layout={"margin": "0"})
    made.add_class(style)
    return made
