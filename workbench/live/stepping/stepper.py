"""Two solvers side by side, an iteration at a time: their lines with the values, and their residuals."""

from __future__ import annotations

import html
import math
from typing import Any

import ipywidgets as widgets

from workbench.live.plots.chart import ChartView
from workbench.live.stepping.step_text import DIGITS, label_of
from workbench.live.ui.controls import row
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.plots.html_table import Html, html_table
from workbench.plots.scenes.convergence import largest_product, orthogonality_scene, residual_gap_scene
from workbench.run import Configuration, configure
from workbench.stepping.line_by_line import Moment, difference, orthogonality, walk
from workbench.words.names import name_of, sentence_case, typeset
from workbench.words.numbers import counted, number

SAME = 1e-10
"""Relative difference up to which two values are shown as equal."""
EARLY = 2
"""An iteration without notable rounding errors."""
LINES = "Lines of this iteration, and their values"
MAPPED, MAP = 300, 380
"""Iterations whose residuals are compared with each other, and the pixels of the map's height."""


class Stepper(View):
    """Steps through two solvers on one problem. Display `box` or the stepper itself; `slider` chooses the iteration.

    first, second: names of solvers, or whole configurations. problem and parameters as in `configure`; small ones,
    since every vector of every iteration is kept. iterations: how many to make at most. rtol: they end where ‖r‖/‖b‖ is
    no larger; by default they continue into rounding. A value that both methods have is marked as equal, or shown
    with its relative difference; one that a method sets an iteration earlier is compared with that of the iteration in
    which the other sets it. folded: the lines with their values are folded away at first. Raises InputError for what
    cannot be stepped.

    Examples:
        >>> from workbench.live import Stepper
        >>> stepper = Stepper("cg", "cg3", "poisson5:8", iterations=3)
        >>> stepper.difference("r", 3) < 1e-12
        True
    """

    def __init__(
        self,
        first: str | Configuration,
        second: str | Configuration,
        problem: str = "poisson5:24",
        iterations: int = 60,
        *,
        rtol: float = 0.0,
        folded: bool = False,
        **parameters: Any,
    ) -> None:
        chosen = [
            each if isinstance(each, Configuration) else configure(problem, parameters, solver=each)
            for each in (first, second)
        ]
        self.names = tuple(sentence_case(name_of("solver", each.solver)) for each in chosen)
        self.walks = tuple(walk(each, iterations, rtol) for each in chosen)
        last = max(map(len, self.walks)) - 1
        self.slider = widgets.IntSlider(0, 0, last, description="iteration", layout={"width": "100%"})
        self.tables = (widgets.HTML(), widgets.HTML())
        self.words = StatusLine()
        self.plot = ChartView()
        self._later = {name: self._shift(name) for name in {value.name for value in self.walks[0][-1].values}}
        self.products = [orthogonality(moments[:MAPPED]) for moments in self.walks]
        self.maps = [ChartView(self.plot.publisher, height=MAP) for products in self.products if products is not None]
        """How far the residuals of either method are from orthogonal, where it has r and u."""
        self.slider.observe(lambda _change: self.show(), "value")
        maps = row("wb-twocolumns", *self.maps)
        tables = widgets.Accordion([row("wb-twocolumns", *self.tables)], titles=(LINES,))
        tables.selected_index = None if folded else 0
        # What the slider moves in the pictures is next to it.
        self.box = widgets.VBox([self.slider, self.words, maps, self.plot, tables])
        self.box.add_class("wb-explorer").add_class("wb-stepper")
        self.show()

    def difference(self, name: str, iteration: int) -> float:
        """The difference of a vector or scalar of the two after an iteration, relative to the first.

        NaN where one of them has no such name, uses it for two things, or has broken down before.
        """
        return self._between(name, iteration, iteration)

    def _between(self, name: str, one: int, other: int) -> float:
        """The difference of a value of the first after iteration `one` from that of the second after `other`."""
        if min(one, other) < 0 or one >= len(self.walks[0]) or other >= len(self.walks[1]):
            return math.nan
        moments = self.walks[0][one], self.walks[1][other]
        if any([value.name for value in moment.values].count(name) > 1 for moment in moments):
            return math.nan
        return difference(*moments, name)

    def _shift(self, name: str) -> int:
        """Iterations by which the second sets a value later than the first: 1, -1, or 0 where they are equal at the
        same iteration or at none. CG sets p at the end of an iteration, pipelined CG at the beginning of the next."""
        found = {shift: self._between(name, EARLY, EARLY + shift) for shift in (0, 1, -1)}
        return next((shift for shift, gap in found.items() if gap <= SAME), 0)

    def show(self) -> None:
        """Draw the iteration that the slider points at."""
        iteration = self.slider.value
        for name, moments, table in zip(self.names, self.walks, self.tables, strict=True):
            place = min(iteration, len(moments) - 1)
            title = name if place == iteration else f"{name}, broken down at {place}"
            table.value = self._table(title, moments[place], first=table is self.tables[0])
        residuals = {
            name: ([moment.recurrence for moment in moments], [moment.true_residual for moment in moments])
            for name, moments in zip(self.names, self.walks, strict=True)
        }
        self.plot.show(residual_gap_scene(residuals, at=iteration))
        self.words.say(" ".join(self._said(method, iteration) for method in range(len(self.names))))
        known = [
            (name, products) for name, products in zip(self.names, self.products, strict=True) if products is not None
        ]
        for plot, (name, products) in zip(self.maps, known, strict=True):
            plot.show(orthogonality_scene(name, products, iteration, max(len(each) for _, each in known)))

    def _said(self, method: int, iteration: int) -> str:
        """The residuals of a method after an iteration, and how far those up to it are from orthogonal."""
        name, moments, products = self.names[method], self.walks[method], self.products[method]
        at = min(iteration, len(moments) - 1)
        moment = moments[at]
        residuals = f"‖r‖ is {number(moment.recurrence)}, and ‖b − Ax‖ is {number(moment.true_residual)}"
        ended = f"{name} has ended after {counted(at, 'iteration')}" if at < iteration else f"{name} after {at}"
        if products is None or not 0 < at < len(products):
            return f"{ended}: {residuals}."
        return (
            f"{ended}: products of two different residuals reach {number(largest_product(products, at))}, {residuals}."
        )

    def _table(self, title: str, moment: Moment, *, first: bool) -> str:
        rows = [
            (
                Html(f'<span class="wb-m" title="{html.escape(value.text)}">{html.escape(typeset(value.text))}</span>'),
                f"‖{label_of(value.name)}‖" if value.is_vector else label_of(value.name),
                number(value.value, DIGITS) if math.isfinite(value.value) else "not finite",
                self._reported(value.name, first=first),
            )
            for value in moment.values
        ]
        head = ("line", "", "value", "relative difference")
        return html_table(head, rows, numbers=(1, 2), caption=title)

    def _reported(self, name: str, *, first: bool) -> str:
        """The difference of a value from the other method's; first: that of the first method."""
        here, later = self.slider.value, self._later.get(name, 0)
        there = here + later if first else here - later
        gap = self._between(name, *((here, there) if first else (there, here)))
        if math.isnan(gap):
            return ""
        said = "equal" if gap <= SAME else number(gap, 2)
        return f"{said}, to iteration {there}" if later else said
