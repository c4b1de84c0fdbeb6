"""CG as a polynomial over a spectrum whose eigenvalues are dragged."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as widgets
import numpy as np

from workbench.errors import InputError
from workbench.extensions.lessons.page.pointing import MARKING, Pointing
from workbench.extensions.lessons.polynomial_scene import SYMBOLS, error_scene, polynomial_scene
from workbench.extensions.lessons.residual_polynomials import (
    FEWEST,
    FORMER,
    LARGEST,
    LEAST,
    MOST,
    PRECISIONS,
    SPECTRA,
    cg_on,
    checked_spectrum,
)
from workbench.live.plots.chart import ChartView, Handle, HandledChart
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import row
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import WorkingView
from workbench.registry import unknown_name
from workbench.spectra.convergence_estimates import iterations_by_bound
from workbench.words.numbers import chosen, count, counted, number
from workbench.words.typed_numbers import separated, typed_number

GOAL = 1e-6
SNAP = 0.01
"""Relative distance within which a dragged eigenvalue takes the value of another."""
OWN = "of your own"


class PolynomialView(WorkingView):
    """CG on a diagonal matrix with b = (1, ..., 1), as the residual polynomial sees it. Display it, or `box`.

    Eigenvalues are dragged along the axis, or moved by the arrow keys; a click or Enter deflates one, and another
    brings it back. `slider` chooses the iteration. spectrum: a preset's name, or 1 to 60 eigenvalues from 1e-6 to 1e6.
    size: how many a preset has, 4 to 60. rounding: CG in double and in single precision is drawn too; all else is
    without rounding errors, see `analysis.polynomials`. Cost: milliseconds for 60. Raises InputError for others.

    Examples:
        >>> from workbench.live import PolynomialView
        >>> view = PolynomialView([1, 2, 5, 100], iteration=2)
        >>> view.deflate(3)
        >>> view.seen.tolist()
        [1.0, 2.0, 5.0]
        >>> view.close()
    """

    def __init__(
        self,
        spectrum: str | Sequence[float] | np.ndarray = "evenly spread",
        iteration: int = 3,
        *,
        size: int = 20,
        rounding: bool = False,
    ) -> None:
        named = isinstance(spectrum, str)
        if isinstance(spectrum, str):
            spectrum = FORMER.get(spectrum, spectrum)
            if spectrum not in SPECTRA:
                raise InputError(unknown_name("spectrum", spectrum, SPECTRA))
        if not FEWEST <= size <= MOST:
            raise InputError(f"a preset has {FEWEST} to {MOST} eigenvalues, got size={size}")
        self.values = SPECTRA[spectrum](size) if isinstance(spectrum, str) else checked_spectrum(spectrum)
        if not 0 <= iteration <= self.values.size:
            raise InputError(f"iteration must be between 0 and {self.values.size}, got {iteration}")
        self.deflated = np.zeros(self.values.size, bool)
        """True for each of `values` that CG does not see."""
        self.marked = ""
        """The key of `SYMBOLS` that the pictures mark."""
        self._worker = LatestOnly("workbench-polynomial")
        self.pointing = Pointing(SYMBOLS, lambda key: self._worker.ask(lambda: self.mark(key), MARKING))
        self._settling = False
        self._name, self._span = "", (1.0, 2.0)
        self.preset = widgets.Dropdown(
            options=[*SPECTRA, OWN], value=spectrum if named else OWN, description="spectrum",
            style={"description_width": "initial"},
        )  # fmt: skip
        self.slider = widgets.IntSlider(iteration, 0, self.values.size, description="iteration")
        self.shown = widgets.ToggleButtons(options=("p", "|p|, log axis"))
        self.rounding = widgets.Checkbox(
            rounding, description="rounding", indent=False, layout={"width": "auto"},
            tooltip="also draw CG as computed in double and in single precision",
        )  # fmt: skip
        self.field = widgets.Text(description="eigenvalues", continuous_update=False, layout={"width": "100%"})
        self.field.tooltip = "separated by commas; in parentheses those that are deflated"
        self.words = StatusLine()
        self.chart = HandledChart(self._moved, self._pressed)
        self.error_chart = ChartView(self.chart.publisher)
        self.save_bar = SaveBar(
            lambda: {"polynomial": self.chart.scene, "error": self.error_chart.scene},
            provenance=lambda: {"eigenvalues": self.values.tolist(), "deflated": self.deflated.tolist()},
            about=lambda: f"iteration-{self.slider.value}",
        )
        for control in (self.slider, self.shown, self.rounding):
            control.observe(lambda _change: self._settling or self._worker.ask(self._show), "value")
        self.preset.observe(lambda _change: self._settling or self._choose(), "value")
        self.field.observe(lambda _change: self._settling or self._worker.ask(self._read, None), "value")
        controls = row("wb-buttons", self.preset, self.slider, self.shown, self.rounding)
        charts = row("wb-twocolumns", self.chart, self.error_chart)
        self.box = widgets.VBox([controls, charts, self.words, self.field, self.save_bar.box, self.pointing])
        self.box.add_class("wb").add_class("wb-explorer").add_class("wb-polynomial")
        self._fit()
        self._show()

    @property
    def seen(self) -> np.ndarray:
        """The eigenvalues that CG sees, shape (n,)."""
        return self.values[~self.deflated]

    def move(self, place: int, value: float) -> None:
        """Give an eigenvalue, counted from 0 in the order of `values`, another value."""
        changed = self.values.copy()
        changed[place] = value
        self.values = checked_spectrum(changed)
        self._show()

    def mark(self, key: str) -> None:
        """Mark what a key of `SYMBOLS` names, such as "ritz"; "" marks nothing."""
        self.marked = key
        self._show()

    def deflate(self, place: int) -> None:
        """Take an eigenvalue out of what CG sees, or bring it back; one is left."""
        deflated = self.deflated.copy()
        deflated[place] ^= True
        if deflated.all():
            self.words.say("One eigenvalue is left for CG.", "bad")
            return
        self.deflated = deflated
        self._show()

    def _moved(self, key: str, x: float, _y: float) -> None:
        self._worker.ask(lambda: self.move(int(key), self._snapped(int(key), x)) if self._has(key) else None)

    def _snapped(self, place: int, x: float) -> float:
        """Where an eigenvalue was dragged to, within the bounds; that of another one next to it, so that two can be
        made equal."""
        value = float(np.clip(x, LEAST, LARGEST))
        others = np.delete(self.values, place)
        near = others[np.abs(others / value - 1) < SNAP]
        return float(near[np.abs(near - value).argmin()]) if near.size else value

    def _pressed(self, key: str) -> None:
        # A drag may replace another that waits, but no press, and no spectrum that was chosen or typed.
        self._worker.ask(lambda: self.deflate(int(key)) if self._has(key) else None, None)

    def _has(self, key: str) -> bool:
        """True if this eigenvalue is still there: the spectrum may have become shorter meanwhile."""
        return key.isdecimal() and int(key) < self.values.size

    def _choose(self) -> None:
        name, size = str(self.preset.value), max(FEWEST, self.values.size)
        if name != OWN:
            self._worker.ask(lambda: self._take(SPECTRA[name](size), np.zeros(size, bool)), None)

    def _read(self) -> None:
        """Take the spectrum typed in the field."""
        parts = separated(self.field.value)
        deflated = np.array([part.startswith("(") for part in parts], bool)
        try:
            values = checked_spectrum([typed_number(part.strip("()")) for part in parts])
            if deflated.all():
                raise InputError("at least one eigenvalue is left for CG")
        except InputError as error:
            self.words.say(f"{error}", "bad")
            return
        self._take(values, deflated)

    def _take(self, values: np.ndarray, deflated: np.ndarray) -> None:
        self.values, self.deflated = values, deflated
        self._fit()
        self._show()

    def _fit(self) -> None:
        """Let the axis show all eigenvalues, with room to drag them; it rests until the next spectrum."""
        low, high = float(self.values.min()), float(self.values.max())
        self._span = (low / 2, 1.25 * high)
        self._name = f"polynomial of {self._span}"

    def _show(self) -> None:
        values, at = self.seen, self.slider.value
        made = cg_on(values)
        rounded = {name: cg_on(values, 4 * MOST, name) for name in PRECISIONS} if self.rounding.value else {}
        double = rounded.get("float64", made)
        self._settle(max(made.iterations, double.iterations))
        at = self.slider.value
        reached = min(at, made.iterations)
        condition = float(values.max() / values.min())
        computed = double.ritz(min(at, double.iterations)) if rounded else None
        size = self.shown.index == 1
        self.chart.show(
            polynomial_scene(
                self._name, values, made, reached, self._span, size=size, marked=self.marked, computed=computed
            )
        )
        self.error_chart.show(error_scene(made, condition, at, rounded, marked=self.marked))
        self.chart.place(
            [
                Handle(
                    str(place), f"{'deflated ' if off else ''}eigenvalue {place + 1}", float(value), thin=True,
                    off=bool(off), press="brings it back" if off else "deflates it",
                )
                for place, (value, off) in enumerate(zip(self.values, self.deflated, strict=True))
            ]
        )  # fmt: skip
        met = {name: each.iterations_to(GOAL) for name, each in {"": made, **rounded}.items()}
        needed = f"It is {chosen(GOAL)} after {count(met.pop('') or 0)}"
        needed += "".join(f", in {name} {'never' if k is None else f'after {count(k)}'}" for name, k in met.items())
        begun = f"{'Without rounding errors, after' if rounded else 'After'} {counted(reached, 'iteration')}"
        beyond = ""
        if at > reached:
            begun = f"Without rounding errors CG has ended: after {counted(reached, 'iteration')}"
            late = min(at, double.iterations)
            beyond = f", and in float64 it is, after {count(late)}, {number(float(double.error[late]))}"
        self.words.say(
            f"{begun} the A-norm of the error is {number(float(made.error[reached]))} of its initial value{beyond}. "
            f"{needed}; the CG bound says {count(iterations_by_bound(condition, GOAL))}, by the condition number "
            f"{number(condition)}."
        )

    def _settle(self, last: int) -> None:
        """Bring the controls in step with the spectrum."""
        self._settling = True
        self.slider.max = last
        shown = [
            f"({value:.5g})" if off else f"{value:.5g}" for value, off in zip(self.values, self.deflated, strict=True)
        ]
        self.field.value = ", ".join(shown)
        chosen = str(self.preset.value)
        if chosen != OWN and (
            self.deflated.any() or not np.array_equal(self.values, SPECTRA[chosen](self.values.size))
        ):
            self.preset.value = OWN
        self._settling = False
