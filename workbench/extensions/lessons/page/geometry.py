"""Two unknowns: contour lines, steepest descent's zigzag and CG's two steps, dragged in the plot or next to a text."""

from __future__ import annotations

import math
from collections.abc import Sequence

import ipywidgets as widgets
import numpy as np

from workbench.errors import InputError
from workbench.extensions.lessons.geometry_marks import CURVES, MARKS, THOUGHTS
from workbench.extensions.lessons.page.pointing import MARKING, Pointing, ScrolledSteps
from workbench.extensions.lessons.quadratic import (
    LONGEST,
    REDUCTION,
    SHORTEST,
    QuadraticForm,
    angle_between,
    energy_norm,
)
from workbench.extensions.lessons.quadratic_scene import VIEW, quadratic_scene
from workbench.live.plots.chart import ChartView, Handle, HandledChart
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import column, row
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import WorkingView
from workbench.words.numbers import counted, number, percent

OF_STEP = "vectors and lines of this step"
METHODS = {"steepest descent": "sd", "CG": "cg"}
START, AXES = "start", ("first", "second")
FURTHEST = VIEW - 0.25
"""Largest distance of the start from the solution, in each unknown: it stays in sight."""


class Geometry2D(WorkingView):
    """A x = b with two unknowns. Display it, or `box`; start and axes of the ellipses are dragged in the plot.

    angle: of the first half axis of (e, A e) = 1 in degrees; lengths: of both half axes, 0.25 to 4, so that the
    eigenvalues of A are 1/length^2. start: the error at the start, at most 4.25 in each unknown. jacobi: both methods
    are preconditioned, and a second plot shows the coordinates in which M is the identity. stretched: a second plot
    shows those in which the A-norm is the length. switches: both can be switched on and off there. Raises InputError
    for values out of bounds.

    Examples:
        >>> from workbench.live import Geometry2D
        >>> geometry = Geometry2D(angle=0, lengths=(3, 1))
        >>> {name: len(errors) - 1 for name, errors in geometry.paths.items()}
        {'steepest descent': 5, 'CG': 2}
    """

    def __init__(
        self,
        angle: float = 25.0,
        lengths: Sequence[float] = (3.2, 0.8),
        start: Sequence[float] = (3.6, 2.5),
        *,
        jacobi: bool = False,
        stretched: bool = False,
        switches: bool = True,
    ) -> None:
        first, second = lengths
        self.form, self.start = QuadraticForm(angle, (float(first), float(second))), np.array(start, float)
        if self.start.shape != (2,) or not np.abs(self.start).max() <= FURTHEST:
            raise InputError(f"the start has two errors from −{FURTHEST} to {FURTHEST}, got {list(start)}")
        self.paths: dict[str, np.ndarray] = {}
        """The errors of the iterates of each method, shape (steps + 1, 2)."""
        self.marked: tuple[str, ...] = ()
        """Keys of `geometry_marks` that the pictures mark."""
        self._worker = LatestOnly("workbench-geometry")
        self.pointing = Pointing(
            (*MARKS, *CURVES), lambda key: self._worker.ask(lambda: self.mark(*filter(None, [key])), MARKING)
        )
        self.chart = HandledChart(lambda key, x, y: self._worker.ask(lambda: self._drag(key, x, y)))
        self.changed = ChartView(self.chart.publisher)
        self.stretched = _switch("Stretched coordinates", "lengths are A-norms: conjugate is orthogonal", on=stretched)
        self.jacobi = _switch("Jacobi", "both methods preconditioned, and how that changes the picture", on=jacobi)
        self.words = StatusLine()
        for switch in (self.stretched, self.jacobi):
            switch.observe(lambda _change: self._worker.ask(self._show), "value")
        self._switches = row("wb-buttons", *((self.stretched, self.jacobi) if switches else ()))
        self._plots = row("wb-twocolumns", self.chart, self.changed).add_class("wb-square")
        self.box = self._arranged().add_class("wb").add_class("wb-geometry")
        self._show()

    @property
    def matrix(self) -> np.ndarray:
        """A, shape (2, 2)."""
        return self.form.matrix

    def mark(self, *keys: str) -> None:
        """Mark vectors and lines by their keys, such as "r0" or "conjugate", in place of those that are marked."""
        self.marked = keys
        self._show()

    def _arranged(self) -> widgets.Box:
        """All parts in a box."""
        return widgets.VBox([self._switches, self._plots, self.words, self.pointing])

    @property
    def _is_stretched(self) -> bool:
        """True if the picture with the stretched coordinates is shown."""
        return self.stretched.value

    @property
    def _drawn(self) -> dict[str, np.ndarray]:
        """The paths that are drawn."""
        return self.paths

    @property
    def _legend(self) -> str:
        """The name of what is marked in the legend, which does not change while the text is pointed at."""
        return ""

    def _drag(self, key: str, x: float, y: float) -> None:
        if key == START:
            # Along its line to the solution, so that a start on an axis stays there.
            self.start = np.array([x, y]) * min(1.0, FURTHEST / max(abs(x), abs(y), FURTHEST))
        elif key in AXES:
            place = AXES.index(key)
            lengths = list(self.form.lengths)
            lengths[place] = float(np.clip(math.hypot(x, y), SHORTEST, LONGEST))
            angle = math.degrees(math.atan2(y, x)) - 90 * place
            self.form = QuadraticForm(angle, (lengths[0], lengths[1]))
        self._show()

    def _show(self) -> None:
        jacobi, stretched = self.jacobi.value, self._is_stretched
        self.paths = {name: self.form.path(solver, self.start, jacobi=jacobi) for name, solver in METHODS.items()}
        marks = {"preconditioned": jacobi, "marked": self.marked, "legend": self._legend}
        drawn = self._drawn
        self.chart.show(quadratic_scene(self.form, drawn, **marks))
        changed = jacobi or stretched
        self.changed.layout.display = None if changed else "none"
        if changed:
            self.changed.show(quadratic_scene(self.form, drawn, jacobi=jacobi, stretched=stretched, **marks))
        self.chart.place(self._handles())
        self.words.say(self._sentence())

    def _handles(self) -> list[Handle]:
        ends = {START: ("start", self.start)}
        for key, end, length in zip(AXES, self.form.axes.T, self.form.lengths, strict=True):
            ends[key] = (f"{key} half axis, length {number(length)}", end)
        lines = [(0.0, 0.0, float(x), float(y)) for x, y in self.form.axes.T]
        return [
            Handle(key, name, float(x), float(y), square=key in AXES, lines=() if key in AXES else lines)
            for key, (name, (x, y)) in ends.items()
        ]

    def _sentence(self) -> str:
        whose = "of M⁻¹A" if self.jacobi.value else "of A"
        condition = number(self.form.condition(jacobi=self.jacobi.value))
        counts = " and ".join(f"{name} {_ended(self.form.matrix, errors)}" for name, errors in self.paths.items())
        angles = ""
        directions = np.diff(self.paths["CG"], axis=0)
        # Without the switches a text has not come to stretched coordinates.
        if len(directions) > 1 and self._switches.children:
            T = self.form.stretch(jacobi=self.jacobi.value)
            plain, seen = angle_between(*directions[:2]), angle_between(*(directions[:2] @ T.T))
            angles = (
                f" CG's directions are at {number(plain)}° to each other, in stretched coordinates at {number(seen)}°."
            )
        return (
            f"Condition number {whose}: {condition}. Until the A-norm of the error is {percent(REDUCTION)} of its "
            f"initial value, {counts}.{angles}"
        )


class StepsOfCG(Geometry2D):
    """The first two steps of CG, one thought after the other. Display it, or `box`.

    A column of text scrolls, also by its buttons and the arrow keys; the picture shows what the present step is on, for
    the start and the axes as they are dragged. angle, lengths, start: as for `Geometry2D`.

    Examples:
        >>> from workbench.live import StepsOfCG
        >>> view = StepsOfCG()
        >>> view.go(4)
        >>> view.marked
        ('bp', 'p1')
        >>> view.close()
    """

    def __init__(
        self, angle: float = 25.0, lengths: Sequence[float] = (3.2, 0.8), start: Sequence[float] = (3.6, 2.5)
    ) -> None:
        self.steps = ScrolledSteps(
            steps=[[each.title, *each.sentences] for each in THOUGHTS], about="Steps of CG; arrow keys go through them"
        )
        super().__init__(angle, lengths, start)
        self.steps.observe(lambda _change: self._worker.ask(self.mark, MARKING), "at")
        self.mark()

    def go(self, step: int) -> None:
        """Show a step, counted from 0."""
        self.steps.at = step
        self.mark()

    def mark(self, *keys: str) -> None:
        """Mark what the text points at, or what the present step is on."""
        super().mark(*(keys or THOUGHTS[self.steps.at].marked))

    def _arranged(self) -> widgets.Box:
        pictures = column("wb-onepicture", self._plots, self.words)
        return widgets.VBox([row("wb-besides", self.steps, pictures), self.pointing]).add_class("wb-stepsofcg")

    @property
    def _is_stretched(self) -> bool:
        return THOUGHTS[self.steps.at].stretched

    @property
    def _legend(self) -> str:
        return OF_STEP

    @property
    def _drawn(self) -> dict[str, np.ndarray]:
        drawn = zip(self.paths.items(), THOUGHTS[self.steps.at].drawn, strict=True)
        return {name: errors[: steps + 1] for (name, errors), steps in drawn}

    def _show(self) -> None:
        super()._show()
        # The stretched picture, which has no handles, takes the place of the other one.
        self.chart.layout.display = "none" if self._is_stretched else None


def _ended(A: np.ndarray, errors: np.ndarray) -> str:
    steps = len(errors) - 1
    reached = energy_norm(A, errors[-1]) <= REDUCTION * energy_norm(A, errors[0])
    taken = counted(steps, "step")
    return f"takes {taken}" if reached else f"takes more than {taken}"


def _switch(name: str, tooltip: str, *, on: bool) -> widgets.Checkbox:
    return widgets.Checkbox(on, description=name, tooltip=tooltip, indent=False, layout={"width": "auto"})
