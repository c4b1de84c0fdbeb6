"""Solving while bubbles are dragged: a check box, and the curve, spectrum and field of the solve."""

from __future__ import annotations

import time
from collections.abc import Callable

import ipywidgets as widgets
import numpy as np

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.builders.bubble_editor import BubbleCanvas
from workbench.live.builders.bubble_model import Drawing
from workbench.live.builders.live_solver import LiveSolve, LiveSolver, live_configuration, too_many_cells
from workbench.live.field.field_panel import FieldPanel
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import POLL_SOON, PollAgain
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.run_table import ended_words
from workbench.live.ui.status import StatusLine
from workbench.plots.scenes.scene import ITERATIONS, Axis, CurveOf, Layer, LineAt, PointsOf, Scene, blank
from workbench.run import Configuration, Norm, Quantity, Run, State
from workbench.words.names import sentence_case
from workbench.words.numbers import count, duration, number, queued

RESIDUAL = Axis("‖r‖/‖b‖", log=True)
RITZ = Axis("Ritz value", log=True)
ROWS = Axis("", names=("last", "now"), span=(-0.6, 1.6))
LAST, NOW = 0, 1
HALF = 0.32
"""Share of the height of a row that a stroke reaches up and down."""
NOTHING = "Nothing solved yet."
EMPTY_CURVE = blank("live curve", NOTHING, ITERATIONS, RESIDUAL)
EMPTY_SPECTRUM = blank("live spectrum", NOTHING, RITZ, ROWS)
QUIET = 0.25
"""Seconds of a solve before its progress is shown: most end sooner, and words that flash cannot be read."""
HEIGHTS = 220, 110
"""Heights of the curve and of the spectrum, in pixels."""
FIELD_HEIGHTS = 240, 360
"""Heights of slices and of the 3D view, in pixels."""
ABOUT = "after each change, and whenever the pointer rests, the problem is solved from the last solution"


def curve_scene(run: Run, last: Run | None) -> Scene:
    """Relative residuals of a run, which may be active, and of the last one behind it."""
    layers: list[Layer] = []
    if last is not None:
        layers.append(_curve("last", last, faint=True))
    curve = _curve("now", run)
    layers.append(curve)
    if run.configuration.stopping.norm == Norm.RESIDUAL:
        layers.append(LineAt(run.relative(run.threshold), "tolerance {}", fitted=True))
    done, reached = count(len(curve.y) - 1), number(float(curve.y[-1])) if len(curve.y) else "unknown"
    spoken = f"Relative residual of the present solve: {reached} after {done} iterations."
    return Scene("live curve", ITERATIONS, RESIDUAL, layers, spoken=spoken, logs="y")


def spectrum_scene(values: np.ndarray, last: np.ndarray) -> Scene:
    """A stroke for each Ritz value of this solve, and in the row below for those of the last one."""
    if not values.size:
        return blank("live spectrum", "No iteration was needed, so there are no Ritz values.", RITZ, ROWS)
    layers = [
        PointsOf("", part, np.full(part.size, row), tall=HALF, word="Ritz value", faint=row == LAST)
        for row, part in ((LAST, last), (NOW, values))
        if part.size
    ]
    condition = number(float(values[-1] / values[0]))
    x = Axis(f"Ritz value ({values.size} now, κ ≈ {condition})", log=True)
    spoken = (
        f"{values.size} Ritz values, from {number(values[0])} to {number(values[-1])}; condition number {condition}."
    )
    return Scene("live spectrum", x, ROWS, layers, spoken=spoken, logs="x")


def _curve(name: str, run: Run, *, faint: bool = False) -> CurveOf:
    residual = np.array(run.history["residual"]) / (run.norm_of_b or 1.0)
    return CurveOf(name, np.arange(residual.size), residual, plain=True, faint=faint, chosen=not faint)


class LivePanel:
    """`switch`, a check box, and `box`, which is shown while it is ticked. Nothing is solved before a page shows the
    canvas.

    canvas: on which bubbles are dragged; in 3D the field shows its plane. drawn: returns the drawing and its deflation,
    called in a thread. configuration: returns that of the page, see `live_configuration`.
    """

    def __init__(
        self,
        canvas: BubbleCanvas,
        drawn: Callable[[], tuple[Drawing, Deflation]],
        configuration: Callable[[], Configuration] | None = None,
    ) -> None:
        self.publisher = canvas.publisher
        self._canvas, self._drawn, self._configuration = canvas, drawn, configuration
        self.solver = LiveSolver(self.publisher.wake)
        self.check = widgets.Checkbox(True, description="Solve while dragging", indent=False, tooltip=ABOUT)
        self.reason = widgets.HTML().add_class("wb-note")
        self.switch = widgets.HBox([self.check, self.reason]).add_class("wb-liveswitch")
        self.line = StatusLine()
        self.curve: ChartView | None = None
        self.spectrum: ChartView | None = None
        self.field: FieldPanel | None = None
        self.box = widgets.VBox([self.line]).add_class("wb-livesolve")
        self._worker = LatestOnly("workbench-live")
        self._hidden = False
        self._asked: object = None
        self._followed: LiveSolve | None = None
        """The solve shown in the field."""
        self._ended: LiveSolve | None = None
        """The solve shown as a curve, if it has ended."""
        self._spectrum_of: LiveSolve | None = None
        self._wrong = ""
        self.check.observe(lambda _change: self._turn(), "value")
        canvas.observe(lambda _change: self.publisher.wake(), ["normal", "position"])
        self.publisher.add(self._publish)
        self._turn()

    def changed(self, *, moving: bool = False) -> None:
        """Solve again if the drawing has changed; returns at once. moving: a bubble is moving under the pointer, so
        that another change follows."""
        if not moving:
            self._worker.ask(self._consider)

    def hide(self, hidden: bool) -> None:
        """Solve and send nothing while another page is in front."""
        self._hidden = hidden
        self._turn()

    def wait(self, timeout: float) -> bool:
        """Wait until all changes were considered; False when that takes longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """End the solve and take no more."""
        self._worker.close()
        self.solver.stop()
        self.publisher.remove(self._publish)

    @property
    def _on(self) -> bool:
        return bool(self.check.value) and not self._hidden

    def _turn(self) -> None:
        on = self._on
        self._lay_out()
        if self.curve is not None and self.spectrum is not None and self.field is not None:
            self.curve.link.hidden = self.spectrum.link.hidden = not on
            self.field.hide(not on)
        self.changed()

    def _lay_out(self) -> None:
        shown = self.check.value and not self.check.disabled
        self.box.layout.display = None if shown else "none"

    def _make(self) -> None:
        """Make the canvases when they are first needed, since each costs the page a thread."""
        self.curve = ChartView(self.publisher, EMPTY_CURVE, height=HEIGHTS[0])
        self.spectrum = ChartView(self.publisher, EMPTY_SPECTRUM, height=HEIGHTS[1])
        self.field = FieldPanel(self.publisher, FIELD_HEIGHTS)
        self.field.field.quantity = Quantity.SOLUTION.value
        # The canvas shows the subdomains already.
        self.field.field.overlay = False
        self.box.children = (*self.box.children, self.curve, self.field.box, self.spectrum)

    def _consider(self) -> None:
        """Solve the present drawing, unless it was requested last; runs in the worker."""
        drawing, deflation = self._drawn()
        unfit = too_many_cells(drawing.parameters)
        if unfit != self.reason.value:
            self.check.disabled, self.reason.value = bool(unfit), unfit
            self._lay_out()
        if not self._on or unfit:
            self._stop()
            return
        if self.curve is None:
            if not self._canvas.link.free:
                return
            self._make()
        try:
            configuration, why = live_configuration(self._configuration, drawing.problem, deflation)
        except InputError as error:
            self._stop(str(error))
            return
        if configuration != self._asked:
            self._asked, self._wrong = configuration, ""
            self.solver.solve(configuration, why)

    def _stop(self, wrong: str = "") -> None:
        """Solve nothing until the next change. wrong: why the drawing is no problem."""
        self._asked, self._wrong = None, wrong
        self.solver.stop()
        self.publisher.wake()

    def _publish(self) -> PollAgain:
        """Bring the panel up to date; in the thread of the publisher."""
        if self.curve is None or not self._on:
            if self._on and self._canvas.link.free:
                self._worker.ask(self._consider)
            return False
        self._cut_as_drawn()
        solve, shown = self.solver.latest, self.solver.shown
        fresh = shown is not None and shown is not self._ended
        if shown is not None and fresh:
            self._ended = shown
            self._draw(shown, self.solver.before)
        again: PollAgain = False
        if self._wrong:
            self.line.say(self._wrong, "bad")
        elif solve is not None and not solve.session.over:
            again = self._follow(solve, shown)
        elif solve is not None and solve.session.error:
            self.line.say(solve.session.error, "bad")
        elif shown is not None and shown is solve:
            self.line.say(*ending(shown))
        if fresh:
            # The curve is sent first; the Ritz values take some milliseconds.
            return POLL_SOON
        self._show_spectrum()
        return again

    def _follow(self, solve: LiveSolve, last: LiveSolve | None) -> PollAgain:
        """Show a solve that is active, unless it is about to end."""
        quiet = QUIET - (time.perf_counter() - solve.begun)
        if quiet > 0:
            return quiet
        self.line.say(_progress(solve), "busy")
        self._draw(solve, last)
        return True

    def _draw(self, solve: LiveSolve, last: LiveSolve | None) -> None:
        run = solve.session.run
        if run is None or self.curve is None or self.field is None:
            return
        self.curve.show(curve_scene(run, last.session.run if last is not None else None))
        if solve is not self._followed:
            self._followed = solve
            self.field.follow(solve.session)

    def _cut_as_drawn(self) -> None:
        """Show the plane of the canvas of a cube of cells."""
        if self._followed is not None and self.field is not None:
            n = self._followed.session.configuration.problem.per_side
            assert n is not None
            field, canvas = self.field.field, self._canvas
            field.normal = canvas.normal
            field.index = min(n - 1, int(canvas.position * n))

    def _show_spectrum(self) -> None:
        solve, last = self._ended, self.solver.before
        if solve is None or solve is self._spectrum_of or self.spectrum is None:
            return
        self._spectrum_of = solve
        compared = last is not None and last.session.configuration.solver == solve.session.configuration.solver
        try:
            before = last.ritz_values if last is not None and compared else np.empty(0)
            self.spectrum.show(spectrum_scene(solve.ritz_values, before))
        except InputError as error:
            self.spectrum.show(blank("live spectrum", str(error), RITZ, ROWS))


def ending(solve: LiveSolve) -> tuple[str, str]:
    """How a solve ended, in a sentence, and its tone."""
    result = solve.session.result
    assert result is not None
    summary = result.summary
    done = f"{count(summary['iterations'])} iteration{'s' * (summary['iterations'] != 1)}"
    what = f"Converged in {done}" if result.converged else f"{sentence_case(ended_words(summary))}, after {done}"
    took = duration(summary["setup_seconds"] + summary["iteration_seconds"])
    start = "the last solution" if solve.warm else "zero"
    method = solve.session.configuration.label
    by = f"{method} instead of the choice in Solve, since {solve.why}" if solve.why else method
    return f"{what}, {took} from {start}; {by}", "good" if result.converged else "bad"


def _progress(solve: LiveSolve) -> str:
    """The progress of an active solve, in words."""
    session = solve.session
    match session.state:
        case State.QUEUED:
            return queued(session.ahead).capitalize()
        case State.SETUP:
            return f"Setting up{f', {session.phases.present}' if session.phases.present else ''}"
    return f"Solving, iteration {count(session.run.iterations)}" if session.run else "Solving"
