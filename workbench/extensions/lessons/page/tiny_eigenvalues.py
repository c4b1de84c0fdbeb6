"""Tiny eigenvalues of five bubbles that go one by one: by vectors of Z, or by columns of a block."""

from __future__ import annotations

import ipywidgets as widgets
import numpy as np

from workbench.errors import InputError
from workbench.extensions.lessons.bubble_scenes import OF_ROWS, TINY, curves_scene, removed_scene
from workbench.extensions.lessons.bubbles import (
    COUNT,
    MOST_COLUMNS,
    TOLERANCE,
    eigenvalues,
    errors,
    largest_residuals,
    reached,
)
from workbench.extensions.lessons.page.pointing import MARKING, Pointing
from workbench.live.plots.chart import ChartView
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import row
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import WorkingView
from workbench.registry import unknown_name
from workbench.words.names import SUBSCRIPTS
from workbench.words.numbers import chosen, count, counted, number

VECTORS, COLUMNS = "vectors", "columns"
WAYS = (VECTORS, COLUMNS)


class TinyEigenvalues(WorkingView):
    """Eigenvalues of five bubbles with M = D, all and those that are left, and the curve of the method. Display it, or
    `box`; `slider` chooses how many are taken away.

    way: "vectors", deflated CG with a vector for each of the first bubbles, 0 to 5; or "columns", block CG with 1 to 8
    right-hand sides, which leaves all but the s - 1 smallest to O'Leary's bound. Curves that were chosen before stay,
    pale. Raises InputError for another way. Cost: a dense spectrum of 576 unknowns and a solve for each choice, once
    for all pages of a server.

    Examples:
        >>> from workbench.live import TinyEigenvalues
        >>> view = TinyEigenvalues("columns")
        >>> view.wait(60)
        True
        >>> view.close()
    """

    def __init__(self, way: str = VECTORS) -> None:
        if way not in WAYS:
            raise InputError(unknown_name("way", way, WAYS))
        self.way = way
        low, high, name = (0, COUNT, "vectors of Z") if way == VECTORS else (1, MOST_COLUMNS, "right-hand sides s")
        self.slider = widgets.IntSlider(
            low, low, high, description=name, style={"description_width": "initial"}, layout={"width": "380px"}
        )
        self.option = widgets.Checkbox(
            False,
            description="bubbles have moved on by a cell" if way == VECTORS else "x-axis: products with A",
            indent=False,
            layout={"width": "auto"},
            tooltip="Z is that of the cells before"
            if way == VECTORS
            else "an iteration multiplies each column by A once",
        )
        self.spectrum = ChartView(height=190)
        self.curve = ChartView(self.spectrum.publisher, height=300)
        self.words = StatusLine()
        self.marked = ""
        """The key of `OF_ROWS` that the picture marks."""
        self._worker = LatestOnly("workbench-tiny-eigenvalues")
        plots: dict[str, int] = dict.fromkeys(OF_ROWS, 0)
        self.pointing = Pointing(OF_ROWS, lambda key: self._worker.ask(lambda: self.mark(key), MARKING), plots)
        self._seen: dict[str, tuple[int, bool]] = {}
        """The choices so far, by the name of their curve."""
        for control in (self.slider, self.option):
            control.observe(lambda _change: self._worker.ask(self._show), "value")
        controls = row("wb-buttons", self.slider, self.option)
        self.box = widgets.VBox([controls, self.spectrum, self.curve, self.words, self.pointing])
        self.box.add_class("wb").add_class("wb-tiny")
        self._worker.ask(self._show)

    def mark(self, key: str) -> None:
        """Mark what a key of `OF_ROWS` names, such as "tiny"; "" marks nothing."""
        self.marked = key
        self._show()

    def _show(self) -> None:
        many, option = int(self.slider.value), bool(self.option.value)
        (self._show_vectors if self.way == VECTORS else self._show_columns)(many, option)

    def _show_vectors(self, many: int, moved: bool) -> None:
        moved = moved and many > 0
        whole, left = eigenvalues(0), eigenvalues(many, moved=moved)
        # Old vectors take none away: they raise all.
        gone = 0 if moved else int((whole < TINY).sum() - (left < TINY).sum())
        words = counted(many, "vector")
        zeros = counted(1 + many, "zero")
        self.spectrum.show(removed_scene(whole, left, ("M⁻¹A, 1 zero", f"M⁻¹PA, {zeros}"), gone, self.marked))
        name, title = (f"{many} old", counted(many, "old vector")) if moved else (str(many), words)
        self._seen |= {"0": (0, False), name: (many, moved)}
        curves = {each: errors(vectors, moved=moved) for each, (vectors, moved) in self._seen.items()}
        spread = {each: (np.arange(curve.size), curve) for each, curve in curves.items()}
        self.curve.show(curves_scene(spread, name, "‖x* − xₖ‖ / ‖x*‖, A-norms", TOLERANCE, title=title))
        tiny = int((left < TINY).sum())
        self.words.say(
            f"With {words}{' of the cells before' if moved else ''}, {count(tiny)} positive eigenvalue"
            f"{'s are' if tiny != 1 else ' is'} below {chosen(TINY)}, and κ = {number(float(left[-1] / left[0]))}. "
            f"The error is a millionth after {counted(reached(curves[name]), 'iteration')}, without vectors after "
            f"{count(reached(curves['0']))}."
        )

    def _show_columns(self, columns: int, products: bool) -> None:
        values = eigenvalues(0)
        left = values[columns - 1 :]
        name = f"s = {columns}"
        self._seen |= {"s = 1": (1, False), name: (columns, products)}
        curves = {each: largest_residuals(of) for each, (of, _) in self._seen.items()}
        spread = {
            each: (np.arange(curve.size) * (self._seen[each][0] if products else 1), curve)
            for each, curve in curves.items()
        }
        least = f"λ{str(columns).translate(SUBSCRIPTS)}"
        rows = ("M⁻¹A", f"from {least} on")
        self.spectrum.show(removed_scene(values, left, rows, columns - 1, self.marked, (least, "λₙ")))
        self.curve.show(curves_scene(spread, name, "largest ‖rⱼ‖ / ‖bⱼ‖", TOLERANCE, products=products))
        steps, alone = reached(curves[name]), reached(curves["s = 1"])
        ratio = number(float(left[-1] / left[0]))
        said = f"{name}: κₛ = {ratio}. Block CG takes {counted(steps, 'iteration')}"
        if columns > 1:
            said += (
                f" and multiplies {counted(columns * steps, 'column')} by A; one column alone takes {count(alone)}, so "
                f"about {count(columns * alone)} for {columns} of them one by one"
            )
        self.words.say(f"{said}.")
