"""The plot of a sweep: curves, a map or parallel coordinates, over the choices that vary."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.compare.sweep_scenes import Runs, curves_scene, map_scene, parallel_scene
from workbench.live.compare.sweep_text import VALUES, each_of
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import Publisher
from workbench.plots.figures import draw
from workbench.plots.scenes.scene import Scene
from workbench.run.jobs.sweeping import Row

VIEWS = ("curves", "map", "parallel")


class SweepPlot:
    """Menus, a note and a plot. Display `box`. changed: called when another value is chosen. picked: called with the
    place of a run, among the rows, that was clicked."""

    def __init__(self, changed: Callable[[], object], picked: Callable[[int], object] = lambda _place: None) -> None:
        self.rows: Sequence[Row] = ()
        self.over: Mapping[str, Sequence[Any]] = {}
        self.owner = ""
        self.view = widgets.ToggleButtons(options=VIEWS, value="map")
        self.view.tooltips = ("against a number that varies", "over two choices", "all choices at once")
        self.down = widgets.Dropdown(description="rows")
        self.across = widgets.Dropdown(description="columns")
        self.value = widgets.Dropdown(options=VALUES, description="value")
        self.note = widgets.HTML()
        self.publisher = Publisher()
        self.plot = ChartView(self.publisher)
        self.plot.on_pick(lambda key: key and picked(int(key)))
        self.choices = widgets.HBox([self.view, self.down, self.across, self.value]).add_class("wb-buttons")
        self.box = widgets.VBox([self.choices, self.note, self.plot])
        self._beginning = False
        for control, other in ((self.down, self.across), (self.across, self.down)):
            control.observe(lambda change, other=other: self._turned(change, other), "value")
        self.view.observe(lambda _change: self._offer(), "value")
        self.value.observe(lambda _change: (changed(), self._draw()), "value")

    @property
    def what(self) -> str:
        """The value that is shown, in words."""
        return next(text for text, name in VALUES.items() if name == self.value.value)

    @property
    def runs(self) -> Runs:
        """The rows that are shown, with the value that compares them."""
        return Runs(self.rows, self.over, str(self.value.value), self.what, self.owner)

    def begin(self, over: Mapping[str, Sequence[Any]], owner: str) -> None:
        """Show a sweep over these choices, which has no rows yet. owner: its problem by name."""
        self.rows, self.over, self.owner = (), dict(over), owner
        runs = self.runs
        # A map of one row shows less than a curve.
        if runs.numeric and len(runs.varied) == 1:
            self.view.value = "curves"
        elif len(runs.varied) > 1 and (self.view.value == "curves" and not runs.numeric):
            self.view.value = "map"
        self._offer()

    def show(self, rows: Sequence[Row]) -> None:
        """Show the rows so far."""
        self.rows = list(rows)
        self._draw()

    def figure(self) -> Figure:
        """The plot as a figure. Raises InputError where no run gave a value."""
        if self.runs.best()[1] < 0:
            raise InputError("no run has a value to draw yet")
        return draw(self._scene())

    def close(self) -> None:
        """End the publisher of the plot."""
        self.publisher.close()

    @property
    def _view(self) -> str:
        """The chosen kind of plot; a map in place of curves where no choice is numeric."""
        runs, view = self.runs, str(self.view.value)
        return "map" if view == "curves" and not runs.numeric else view

    def _offer(self) -> None:
        """Offer the choices that the view can show; the two must differ, or the map would have one row."""
        runs = self.runs
        names = list(self.over)
        if not names:
            return
        curves = self._view == "curves"
        columns = runs.numeric if curves else names
        across = self.across.value if self.across.value in columns else None
        down = self.down.value if self.down.value in names and self.down.value != across else None
        down = down or next((name for name in names if name != across), names[0])
        across = across or next((name for name in reversed(columns) if name != down), columns[-1])
        if down == across:
            down = next((name for name in names if name != across), names[0])
        self._beginning = True
        for control, value, options, word in (
            (self.down, down, names, "a curve for each" if curves else "rows"),
            (self.across, across, columns, "against" if curves else "columns"),
        ):
            control.options = [(runs.name(name), name) for name in options]
            control.value, control.description = value, word
            control.style.description_width = "initial"
            control.layout.display = "none" if self._view == "parallel" else None
        self._beginning = False
        self._draw()

    def _turned(self, change: Any, other: widgets.Dropdown) -> None:
        """Keep the axes distinct: choosing the other axis's name swaps the two."""
        if self._beginning:
            return
        if change["new"] == other.value and change["old"] in [name for _, name in other.options]:
            self._beginning = True
            other.value = change["old"]
            self._beginning = False
        self._offer()

    def _draw(self) -> None:
        if not (self.over and self.down.value and self.across.value):
            return
        self.plot.show(self._scene())
        runs = self.runs
        shown = runs.varied if self._view == "parallel" else (self.down.value, self.across.value)
        others = [name for name in runs.varied if name not in shown]
        best = f"Each value is the minimum over {each_of(others, self.owner)}." if others else ""
        whole = len(self.rows) == math.prod(len(values) for values in self.over.values())
        striped = "" if whole or self._view != "map" else "Striped: not run yet. "
        self.note.value = html.escape(f"{striped}{best}")

    def _scene(self) -> Scene:
        down, across = str(self.down.value), str(self.across.value)
        match self._view:
            case "curves":
                return curves_scene(self.runs, down, across)
            case "parallel":
                return parallel_scene(self.runs)
        return map_scene(self.runs, down, across)
