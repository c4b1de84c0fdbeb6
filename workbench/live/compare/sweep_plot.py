"""The plot of a sweep: curves against a parameter, a map over two, or parallel coordinates over all that vary."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.compare.sweep_text import SEED, VALUES, Runs, absences, each_of, spent
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import Publisher
from workbench.plots.figures import draw
from workbench.plots.scenes.scene import Axis, CellsOf, CurveOf, ParallelOf, PointsOf, Scene
from workbench.run.jobs.sweeping import Row

MOST_CURVES = 12
TICKED = (0.0, 0.5, 1.0)
"""Shares of the axis of a result that have numbers."""
VIEWS = ("curves", "map", "parallel")


def map_scene(runs: Runs, down: str, across: str) -> Scene:
    """A cell for each pair of values of two choices: the minimum over all others."""
    names = {down: runs.over[down] if down != across else [None], across: runs.over[across]}
    rows = runs.over[down] if down != across else [None]
    chosen = [{across: value} | ({} if down == across else {down: row}) for row in rows for value in names[across]]
    found = [runs.best(**pair) for pair in chosen]
    shape = len(rows), len(names[across])
    reasons = list(itertools.chain(*absences(runs.rows, runs.over, down, across)))
    # Row 0 of a table is on top.
    order = np.arange(len(found)).reshape(shape)[::-1].ravel()
    cells = CellsOf(
        runs.title,
        np.array([took for took, _ in found]).reshape(shape)[::-1],
        "s" if runs.timed else "count",
        absent=[reasons[place] for place in order],
        texts=[_words(runs, found[place][1], chosen[place], reasons[place]) for place in order],
        keys=[str(found[place][1]) if found[place][1] >= 0 else "" for place in order],
    )
    y_names = [runs.text(down, row) for row in rows][::-1] if down != across else [""]
    y = Axis("" if down == across else runs.name(down), names=y_names)
    x = Axis(runs.name(across), names=[runs.text(across, value) for value in names[across]])
    return Scene(f"map of {down} and {across}", x, y, [cells], spoken=spoken(runs), ways="xy")


def curves_of(runs: Runs, each: str, against: str) -> dict[str, list[dict[str, Any]]]:
    """The curves by name: the choices of each of their points, at each value of a numeric choice."""
    if each == against or each not in runs.varied:
        return {"": [{against: value} for value in runs.over[against]]}
    return {
        runs.text(each, name): [{each: name, against: value} for value in runs.over[against]]
        for name in runs.over[each][:MOST_CURVES]
    }


def curves_scene(runs: Runs, each: str, against: str) -> Scene:
    """A curve for each value of a choice against a numeric one: the minimum over all others, the median over seeds with
    a bar from the least to the largest."""
    x = np.array([float(value) for value in runs.over[against]])
    order = np.argsort(x)
    layers = []
    for place, (name, chosen) in enumerate(curves_of(runs, each, against).items()):
        found = [runs.best(**point) for point in chosen]
        layers.append(CurveOf(name, x[order], np.array([took for took, _ in found])[order], place, every=True))
        known = [int(k) for k in order if found[k][1] >= 0]
        layers.append(
            PointsOf(
                "",
                x[known],
                np.array([found[k][0] for k in known]),
                place,
                marker="",
                texts=[runs.words(found[k][1], **chosen[k]) for k in known],
                keys=[str(found[k][1]) for k in known],
                spans=[runs.spread(**chosen[k]) for k in known] if runs.repeated(each, against) else None,
            )
        )
    whole = bool(np.all(x == np.round(x)))
    word = runs.name(against)
    x_axis = Axis(word, "count" if whole else "", log=spread(x), whole=whole, word=word, marks=sorted(x.tolist()))
    y_axis = Axis(runs.title, "s" if runs.timed else "count", log=True)
    name = f"{runs.value} of {each} against {against}"
    return Scene(name, x_axis, y_axis, layers, note="No run has converged yet.", spoken=spoken(runs), logs="xy")


def parallel_of(runs: Runs) -> tuple[list[tuple[str, list[tuple[float, str]]]], np.ndarray]:
    """Axes with ticks, and the place of each run on them."""
    axes, columns = [], []
    for name in runs.varied:
        values = list(runs.over[name])
        places = np.linspace(0, 1, len(values))
        ticks = [(float(share), runs.text(name, value)) for share, value in zip(places, values, strict=True)]
        axes.append((runs.name(name), ticks))
        columns.append([float(places[values.index(row[name])]) for row in runs.rows])
    took = np.array([spent(row, runs.value) for row in runs.rows], float)
    known = took[np.isfinite(took) & (took > 0)]
    low, high = (known.min(), known.max()) if known.size else (1.0, 10.0)
    high = high if high > low else low * 1.01
    ticks = [(share, runs.say(float(low * (high / low) ** share))) for share in TICKED]
    axes.append((runs.title, ticks))
    with np.errstate(divide="ignore"):
        columns.append((np.log(took / low) / np.log(high / low)).tolist())
    return axes, np.array(columns, float).T.reshape(len(runs.rows), len(axes))


def parallel_scene(runs: Runs) -> Scene:
    """A line for each run through an axis for each choice that varies, and one for the result."""
    axes, shares = parallel_of(runs)
    words = [runs.words(place) for place in range(len(runs.rows))]
    layer = ParallelOf(axes, shares, words, [str(place) for place in range(len(runs.rows))])
    x = Axis("", names=[title for title, _ in axes])
    note = "" if runs.rows else "No run has ended yet."
    layers = [layer] if runs.rows else []
    return Scene(f"parallel {runs.value}", x, Axis(""), layers, note=note, spoken=spoken(runs), bare=True)


def spoken(runs: Runs) -> str:
    """The best run in words."""
    took, place = runs.best()
    if place < 0:
        return "Sweep. No run has converged yet."
    chosen = ", ".join(runs.chosen_text(name, runs.rows[place][name]) for name in runs.varied)
    return f"Sweep of {len(runs.rows)} runs. The fewest {runs.title}: {runs.say(took)} with {chosen}."


def spread(values: np.ndarray) -> bool:
    """True if a logarithmic axis suits the values."""
    return bool(values.min() > 0 and values.max() >= 8 * values.min())


def _words(runs: Runs, place: int, chosen: Mapping[str, Any], reason: str) -> list[str]:
    if place >= 0:
        return runs.words(place, **chosen)
    return [", ".join(runs.chosen_text(name, value) for name, value in chosen.items()), reason or "not run yet"]


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
        # Runs that differ in their seeds make a point, unless seeds are asked for.
        rows, over = ([name for name in found if name != SEED] or found for found in (names, columns))
        down = down or next((name for name in rows if name != across), rows[0])
        across = across or next((name for name in reversed(over) if name != down), over[-1])
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

    def _turned(self, change: Mapping[str, Any], other: widgets.Dropdown) -> None:
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
        seeds = runs.repeated(*map(str, shown)) and self._view != "parallel"
        least = [name for name in others if not (seeds and name == SEED)]
        best = f"Each value is the minimum over {each_of(least, self.owner)}. " if least else ""
        if seeds:
            bars = ", with a bar from the least to the largest" if self._view == "curves" else ""
            best += f"Each value is the median of {len(self.over[SEED])} seeds{bars}."
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
