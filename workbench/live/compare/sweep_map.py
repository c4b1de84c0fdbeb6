"""The heat map of a sweep: a number over two of its choices, drawn in a thread of its own."""

from __future__ import annotations

import html
import io
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures.heatmap import heatmap
from workbench.live.compare.sweep_text import VALUES, absences, each_of, spent, unit_of
from workbench.live.kit.run_pictures import PAINTING
from workbench.live.transport.worker import LatestOnly
from workbench.run.sweeping import Row

WIDTH, DPI = 680, 160
"""Pixels of the page that the picture takes, and dots an inch of what is sent."""


class SweepMap:
    """Three dropdowns, a note and a picture. Display `box`. changed: called when another value is chosen."""

    def __init__(self, changed: Any) -> None:
        self.rows: Sequence[Row] = ()
        self.over: Mapping[str, Sequence[Any]] = {}
        self.down = widgets.Dropdown(description="rows")
        self.across = widgets.Dropdown(description="columns")
        self.value = widgets.Dropdown(options=VALUES, description="value")
        self.note = widgets.HTML()
        self.picture = widgets.Image(format="png", width=WIDTH, layout={"object_fit": "contain", "display": "none"})
        self.painter = LatestOnly("workbench-heatmap")
        self.choices = widgets.HBox([self.down, self.across, self.value]).add_class("wb-buttons")
        self.box = widgets.VBox([self.choices, self.note, self.picture])
        self._beginning = False
        for control, other in ((self.down, self.across), (self.across, self.down)):
            control.observe(lambda change, other=other: self._turned(change, other), "value")
        self.value.observe(lambda _change: (changed(), self._ask()), "value")

    @property
    def what(self) -> str:
        """The value that is shown, in words."""
        return next(text for text, name in VALUES.items() if name == self.value.value)

    def begin(self, over: Mapping[str, Sequence[Any]]) -> None:
        """Be the map of a sweep over these choices, which has no rows yet."""
        self.rows, self.over = (), dict(over)
        names = list(over)
        down, across = (control.value if control.value in names else None for control in (self.down, self.across))
        # The axes must differ, or the map would have one row.
        down = down or next((name for name in names if name != across), names[0])
        if across in (None, down):
            across = next((name for name in reversed(names) if name != down), names[-1])
        self._beginning = True
        for control, value in ((self.down, down), (self.across, across)):
            control.options = names
            control.value = value
        self._beginning = False
        self._ask()

    def _turned(self, change: Any, other: widgets.Dropdown) -> None:
        """Keep the axes distinct: choosing the other axis's name swaps the two."""
        if self._beginning:
            return
        if change["new"] == other.value and len(self.over) > 1:
            self._beginning = True
            other.value = change["old"]
            self._beginning = False
        self._ask()

    def show(self, rows: Sequence[Row]) -> None:
        """These are the rows so far."""
        self.rows = list(rows)
        self._ask()

    def figure(self) -> Figure:
        """The map as a figure. Raises InputError where no run gave a value."""
        down, across = str(self.down.value), str(self.across.value)
        values = grid(self.rows, self.over, down, across, str(self.value.value))
        label = self.what
        if label.endswith("seconds"):
            unit, factor = unit_of(values[np.isfinite(values)].tolist())
            values, label = values * factor, f"{label.removesuffix(' seconds')} time, {unit}"
        # One choice alone makes one row.
        texts = [[str(value) for value in self.over[name]] for name in (down, across)]
        one = down == across
        return heatmap(
            values,
            [""] if one else texts[0],
            texts[1],
            row_title="" if one else down,
            column_title=across,
            label=label,
            absent=absences(self.rows, self.over, down, across),
        )

    def _ask(self) -> None:
        if self.over and self.down.value and self.across.value:
            self.painter.ask(self._draw)

    def _draw(self) -> None:
        try:
            figure = self.figure()
        except InputError as reason:
            self.note.value, self.picture.layout.display = html.escape(str(reason)) if self.rows else "", "none"
            return
        png = io.BytesIO()
        with PAINTING:
            figure.savefig(png, format="png", dpi=DPI)
        others = [name for name, values in self.over.items() if len(values) > 1]
        others = [name for name in others if name not in (self.down.value, self.across.value)]
        best = f" Each cell is the smallest over {each_of(others)}." if others else ""
        whole = len(self.rows) == math.prod(len(values) for values in self.over.values())
        self.note.value = f"{'' if whole else 'Striped: not run yet.'}{best}"
        self.picture.value, self.picture.layout.display = png.getvalue(), ""


def grid(rows: Sequence[Row], over: Mapping[str, Sequence[Any]], down: str, across: str, value: str) -> np.ndarray:
    """The smallest value of the converged runs for each pair of choices, NaN where there is none.

    Shape (values of `down`, values of `across`), or one row where both are the same. value: as `spent` takes it.
    """
    found = np.full((1 if down == across else len(over[down]), len(over[across])), math.nan)
    for row, (place, at) in itertools.product(rows, np.ndindex(*found.shape)):
        if row[across] == over[across][at] and (down == across or row[down] == over[down][place]):
            found[place, at] = np.fmin(found[place, at], spent(row, value))
    return found
