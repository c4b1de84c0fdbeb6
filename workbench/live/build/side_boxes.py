"""Which sides hold u = 0, as boxes to tick."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.problems.sides import Boundary, parse_sides, side_names

WORDS = {"x-": "left", "x+": "right", "y-": "bottom", "y+": "top", "z-": "back", "z+": "front"}


class SideBoxes:
    """A box for every side of a square or a cube; ticked is Dirichlet, empty is Neumann. Display `box`."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.boxes = {
            side: widgets.Checkbox(
                value=True,
                # A minus as wide as the plus, so that all boxes are alike.
                description=side.replace("-", "−"),
                indent=False,
                tooltip=f"u = 0 on the side {side} ({WORDS[side]}); empty: no flux through it",
                layout={"width": "42px", "margin": "0"},
            )
            for side in side_names(3)
        }
        for control in self.boxes.values():
            control.observe(lambda _change: changed(), "value")
        title = widgets.HTML("u = 0 on").add_class("wb-label")
        self.box = widgets.HBox([title, *self.boxes.values()]).add_class("wb-sides")
        self._loaded = ("", 2)

    def text(self, dimensions: int) -> str:
        """The sides as a problem's parameter; a text that was loaded stays as it was written."""
        ticked = {side: bool(self.boxes[side].value) for side in side_names(dimensions)}
        written, of = self._loaded
        if of == dimensions and written and _flags(written, dimensions) == ticked:
            return written
        if len(set(ticked.values())) == 1:
            return "dirichlet" if all(ticked.values()) else "neumann"
        return ",".join(f"{side}:dirichlet" for side, held in ticked.items() if held)

    def show(self, dimensions: int) -> None:
        """Hide what a square does not have."""
        for side, control in self.boxes.items():
            control.layout.display = None if side in side_names(dimensions) else "none"

    def load(self, text: str, dimensions: int) -> None:
        """Tick what a problem's parameter says."""
        self._loaded = (text, dimensions)
        for side, held in _flags(text, dimensions).items():
            self.boxes[side].value = held


def _flags(text: str, dimensions: int) -> dict[str, bool]:
    return {side: kind is Boundary.DIRICHLET for side, kind in parse_sides(text, dimensions).items()}
