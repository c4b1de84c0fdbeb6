"""The plot of a sweep: curves against a parameter, a map over two, or parallel coordinates over all that vary."""

from __future__ import annotations

import dataclasses
import html
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.compare.sweep_text import SEED, VALUES, Runs, absences, each_of, spent
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import column, markup
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.plots.figures import draw
from workbench.plots.scenes.scene import Axis, CellsOf, CurveOf, ParallelOf, PointsOf, Scene
from workbench.registry import parameter
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


@dataclasses.dataclass(frozen=True)
class PlotChoices:
    """The choices of the plot of a sweep. down: the rows of a map, or the choice with a curve for each of its values;
    across: the columns, or the choice against which curves are drawn. value: compares runs."""

    view: str = parameter("map", "against a number that varies, over two choices, or all at once", choices=VIEWS)
    down: str = parameter("", "a choice that varies")
    across: str = parameter("", "another choice that varies")
    value: str = parameter("iterations", "the smallest is the best", choices=tuple(VALUES.values()))


CONTROLS = (
    Control("view", "plot", looks={"kind": "segments"}),
    Control("down", looks={"kind": "choice"}),
    Control("across", looks={"kind": "choice"}),
    Control("value", "value", looks={"choices": [(name, text) for text, name in VALUES.items()]}),
)


class PlotForm(DeclaredForm[PlotChoices]):
    """The choices of the plot, in a row. runs: those of the sweep, without rows."""

    def __init__(self, changed: Callable[[PlotChoices], object]) -> None:
        self.runs = Runs((), {}, "", "")
        super().__init__(PlotChoices(), CONTROLS, about="Plot of the sweep", changed=changed)
        self.box.add_class("wb-formrow")

    @property
    def view(self) -> str:
        """The kind of plot: a map in place of curves where no choice is numeric."""
        chosen = str(self.settings["view"].value)
        return "map" if chosen == "curves" and not self.runs.numeric else chosen

    def follow(self, runs: Runs) -> None:
        """Offer the choices of another sweep."""
        self.runs = runs
        view = self.present.view
        # A map of one row shows less than a curve.
        if runs.numeric and len(runs.varied) == 1:
            view = "curves"
        elif len(runs.varied) > 1 and (view == "curves" and not runs.numeric):
            view = "map"
        self.change(view=view)

    def turn(self, name: str = "") -> None:
        """Offer the choices that the view can show; the two must differ, or the map would have one row. The name of the
        other axis, chosen for one, swaps the two."""
        runs, names = self.runs, list(self.runs.over)
        curves = self.view == "curves"
        fields = self.settings["down"], self.settings["across"]
        if not names:
            return
        down, across = (field.value for field in fields)
        if name == "down" and down == across:
            across = self.present.down
        elif name == "across" and down == across:
            down = self.present.across
        columns = runs.numeric if curves else names
        across = across if across in columns else None
        down = down if down in names and down != across else None
        # Runs that differ in their seeds make a point, unless seeds are asked for.
        rows, over = ([name for name in found if name != SEED] or found for found in (names, columns))
        down = down or next((name for name in rows if name != across), rows[0])
        across = across or next((name for name in reversed(over) if name != down), over[-1])
        if down == across:
            down = next((name for name in names if name != across), names[0])
        words = ("a curve for each", "against") if curves else ("rows", "columns")
        for field, value, offered, label in zip(fields, (down, across), (names, columns), words, strict=True):
            field.words = {name: runs.name(name) for name in offered}
            field.options, field.value, field.label = tuple(offered), value, label
        self.hidden = ("down", "across") if self.view == "parallel" else ()


class SweepPlot:
    """Menus, a note and a plot. Display `box`. changed: called when another value is chosen. picked: called with the
    place of a run, among the rows, that was clicked."""

    def __init__(self, changed: Callable[[], object], picked: Callable[[int], object] = lambda _place: None) -> None:
        self.rows: Sequence[Row] = ()
        self.over: Mapping[str, Sequence[Any]] = {}
        self.owner = ""
        self._changed, self._value = changed, PlotChoices().value
        self.form = PlotForm(self._turned)
        self.note = markup()
        self.publisher = Publisher()
        self.plot = ChartView(self.publisher)
        self.plot.on_pick(lambda key: key and picked(int(key)))
        self.box = column("wb-sweepplot", self.form.box, self.note, self.plot)

    @property
    def value(self) -> str:
        """The value that compares runs, as `spent` takes it."""
        return self.form.present.value

    @property
    def runs(self) -> Runs:
        """The rows that are shown, with the value that compares them."""
        what = next(text for text, name in VALUES.items() if name == self.value)
        return Runs(self.rows, self.over, self.value, what, self.owner)

    def begin(self, over: Mapping[str, Sequence[Any]], owner: str) -> None:
        """Show a sweep over these choices, which has no rows yet. owner: its problem by name."""
        self.rows, self.over, self.owner = (), dict(over), owner
        self.form.follow(self.runs)
        self._draw()

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

    def _turned(self, chosen: PlotChoices) -> None:
        if chosen.value != self._value:
            self._value = chosen.value
            self._changed()
        self._draw()

    def _draw(self) -> None:
        if not self.over:
            return
        self.plot.show(self._scene())
        runs, chosen, view = self.runs, self.form.present, self.form.view
        shown = runs.varied if view == "parallel" else (chosen.down, chosen.across)
        others = [name for name in runs.varied if name not in shown]
        seeds = runs.repeated(*shown) and view != "parallel"
        least = [name for name in others if not (seeds and name == SEED)]
        best = f"Each value is the minimum over {each_of(least, self.owner)}. " if least else ""
        if seeds:
            bars = ", with a bar from the least to the largest" if view == "curves" else ""
            best += f"Each value is the median of {len(self.over[SEED])} seeds{bars}."
        whole = len(self.rows) == math.prod(len(values) for values in self.over.values())
        striped = "" if whole or view != "map" else "Striped: not run yet. "
        self.note.value = html.escape(f"{striped}{best}")

    def _scene(self) -> Scene:
        chosen = self.form.present
        match self.form.view:
            case "curves":
                return curves_scene(self.runs, chosen.down, chosen.across)
            case "parallel":
                return parallel_scene(self.runs)
        return map_scene(self.runs, chosen.down, chosen.across)
