"""Solving while bubbles are dragged: a solver that the newest request takes, and the panel that shows its solves."""

from __future__ import annotations

import dataclasses
import functools
import threading
import time
from collections.abc import Callable

import ipywidgets as widgets
import numpy as np

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.builders.bubble_editor import BubbleCanvas
from workbench.live.builders.bubble_model import Drawing
from workbench.live.field.field_panel import FieldPanel
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import POLL_SOON, PollAgain, Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.run_table import ended_words
from workbench.live.ui.status import StatusLine
from workbench.plots.scenes.convergence import now_and_last_scene
from workbench.plots.scenes.spectrum import strokes_scene
from workbench.problems.bubbles import Bubbles
from workbench.run import Configuration, Norm, Quantity, Session, State, configure
from workbench.run.choices.configuration import asks_for_blocks
from workbench.spectra.convergence_estimates import ritz_values, usable_iterations
from workbench.words.names import sentence_case
from workbench.words.numbers import count, counted, duration, queued

CHEAP = "neumann:2"
"""The preconditioner without a page: it costs next to no setup."""


def _start(configuration: Configuration) -> tuple[type, int | None, bool]:
    """The class of the problem, n, and true for complex ones: a solve starts from the solution of one that shares
    them."""
    problem = configuration.problem
    return type(problem), problem.per_side, configuration.solver.complex_symmetric


def live_configuration(
    chosen: Callable[[], Configuration] | None, problem: Bubbles, deflation: Deflation
) -> tuple[Configuration, str]:
    """The configuration to solve, and why it differs from the chosen one; empty where it does not.

    chosen: returns the configuration of the page, or raises InputError; None without a page. Its problem and deflation
    are replaced by those drawn, its start by zero. One with many right-hand sides or on a cluster is not taken.
    """
    cheap = configure(problem, preconditioner=CHEAP, deflation=deflation, x0="zero")
    try:
        taken = chosen() if chosen else cheap
        if asks_for_blocks(taken, None):
            raise InputError(f"rhs {taken.rhs} of Solve has several right-hand sides")
        if taken.cluster:
            raise InputError(f"connecting to the cluster {taken.cluster} takes longer than a solve")
        # Processes take longer to start than a small problem to be solved.
        return dataclasses.replace(taken, problem=problem, deflation=deflation, x0="zero", ranks=1), ""
    except InputError as error:
        return cheap, str(error)


@dataclasses.dataclass(eq=False)
class LiveSolve:
    """One solve. warm: it starts from the last solution. why: see `live_configuration`. begun: `time.perf_counter` at
    the request. over: it has ended and was not overtaken."""

    session: Session
    warm: bool
    why: str
    begun: float
    over: bool = False

    @property
    def relative(self) -> np.ndarray:
        """The relative residual of each iteration so far."""
        run = self.session.run
        return np.array(run.history["residual"]) / (run.norm_of_b or 1.0) if run is not None else np.empty(0)

    @functools.cached_property
    def ritz_values(self) -> np.ndarray:
        """The Ritz values of a solve that has ended with a result, ascending; empty where it made no iteration. Cost:
        O(k^2) for k iterations, of which at most 1000 are used. Raises InputError for a method without beta."""
        assert self.session.run is not None
        history = self.session.run.history
        k = usable_iterations(history)
        return ritz_values(history, k) if k else np.empty(0)


class LiveSolver:
    """One solve at a time, in the run queue of the machine and in no list of runs.

    A request cancels the solve before it, so that at most one waits; what cannot be interrupted ends in the background.
    The start is the solution of the last solve that has converged, if it has the same grid, else zero. A solve that
    ends without convergence leaves no start. changed: called from any thread when a solve has begun or ended.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self.latest: LiveSolve | None = None
        """The solve requested last, active or ended; None after `stop`."""
        self.shown: LiveSolve | None = None
        """The last solve that has ended with a result."""
        self.before: LiveSolve | None = None
        """The solve that was shown before it; None where that was on another grid."""
        self._changed = changed
        self._solution: tuple[object, np.ndarray] | None = None
        self._lock = threading.Lock()

    def solve(self, configuration: Configuration, why: str = "") -> LiveSolve:
        """Begin a solve in place of the present one; returns at once."""
        with self._lock:
            if self.latest is not None:
                self.latest.session.stop()
            kept = self._solution
            x0 = kept[1] if kept is not None and kept[0] == _start(configuration) else None
            session = Session(configuration, x0=x0, on_end=self._end)
            self.latest = LiveSolve(session, x0 is not None, why, time.perf_counter())
            session.start()
        self._changed()
        return self.latest

    def stop(self) -> None:
        """End the present solve; what is shown stays."""
        with self._lock:
            if self.latest is not None:
                self.latest.session.stop()
            self.latest = None
        self._changed()

    def _end(self, session: Session) -> None:
        """Record the end of a solve; runs in the thread of the session."""
        with self._lock:
            solve = self.latest
            # A solve that was overtaken or stopped is of no more interest.
            if solve is None or solve.session is not session:
                return
            solve.over = True
            self._solution = None
            if session.result is not None:
                key, last = _start(session.configuration), self.shown
                self.before = last if last is not None and _start(last.session.configuration) == key else None
                self.shown = solve
                if session.result.converged:
                    self._solution = key, session.result.x
        self._changed()


QUIET = 0.25
"""Seconds of a solve before its progress is shown: most end sooner, and words that flash cannot be read."""
ABOUT = "after each change, and whenever the pointer rests, the problem is solved from the last solution"


class Pictures:
    """Curve, Ritz values and field of the present solve, with those of the last one pale behind."""

    def __init__(self, publisher: Publisher) -> None:
        self.curve = ChartView(publisher, now_and_last_scene(None), height=220)
        self.spectrum = ChartView(publisher, strokes_scene(None), height=110)
        self.field = FieldPanel(publisher, heights=(240, 360))
        self.field.field.quantity = Quantity.SOLUTION.value
        # The canvas shows the subdomains already.
        self.field.field.overlay = False

    def hide(self, hidden: bool) -> None:
        """Send nothing while they are out of sight."""
        self.curve.link.hidden = self.spectrum.link.hidden = hidden
        self.field.hide(hidden)


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
        self.pictures: Pictures | None = None
        """Made when they are first needed, since each costs the page a thread."""
        self.box = widgets.VBox([self.line]).add_class("wb-livesolve")
        self._worker = LatestOnly("workbench-live")
        self._hidden = False
        self._followed: LiveSolve | None = None
        self._ended: LiveSolve | None = None
        self._spectrum_of: LiveSolve | None = None
        """The solves shown in the field, as a curve if it has ended, and by Ritz values."""
        self._wrong = ""
        self.check.observe(lambda _change: self._turn(), "value")
        canvas.observe(lambda _change: self.publisher.wake(), ["normal", "position"])
        self.publisher.add(self._publish)
        self._turn()

    def changed(self, *, moving: bool = False) -> None:
        """Solve again if the drawing has changed; returns at once. moving: under the pointer, so another follows."""
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
        self.box.layout.display = None if self.check.value and not self.check.disabled else "none"
        if self.pictures is not None:
            self.pictures.hide(not self._on)
        self.changed()

    def _consider(self) -> None:
        """Solve the present drawing, unless it was requested last; runs in the worker."""
        drawing, deflation = self._drawn()
        unfit = drawing.too_large
        if unfit != self.reason.value:
            self.check.disabled, self.reason.value = bool(unfit), unfit
            self._turn()
        if not self._on or unfit:
            self._stop()
            return
        if self.pictures is None:
            if not self._canvas.link.free:
                return
            self.pictures = made = Pictures(self.publisher)
            self.box.children = (self.line, made.curve, made.field.box, made.spectrum)
        try:
            configuration, why = live_configuration(self._configuration, drawing.problem, deflation)
        except InputError as error:
            self._stop(str(error))
            return
        last, self._wrong = self.solver.latest, ""
        if last is None or last.session.configuration != configuration:
            self.solver.solve(configuration, why)

    def _stop(self, wrong: str = "") -> None:
        """Solve nothing until the next change. wrong: why the drawing is no problem."""
        self._wrong = wrong
        self.solver.stop()
        self.publisher.wake()

    def _publish(self) -> PollAgain:
        """Bring the panel up to date; in the thread of the publisher."""
        pictures = self.pictures
        if pictures is None or not self._on:
            if self._on and self._canvas.link.free:
                self._worker.ask(self._consider)
            return False
        self._cut_as_drawn(pictures)
        solve, shown = self.solver.latest, self.solver.shown
        fresh = shown is not None and shown is not self._ended
        if shown is not None and fresh:
            self._ended = shown
            self._draw(pictures, shown, self.solver.before)
        again: PollAgain = False
        if self._wrong:
            self.line.say(self._wrong, "bad")
        elif solve is not None and not solve.session.over:
            again = max(0.0, QUIET - (time.perf_counter() - solve.begun)) or True
            if again is True:
                self.line.say(_progress(solve), "busy")
                self._draw(pictures, solve, shown)
        elif solve is not None and solve.session.error:
            self.line.say(solve.session.error, "bad")
        elif shown is not None and shown is solve:
            self.line.say(*ending(shown))
        if fresh:
            # The curve is sent first; the Ritz values take some milliseconds.
            return POLL_SOON
        self._show_spectrum(pictures)
        return again

    def _draw(self, pictures: Pictures, solve: LiveSolve, last: LiveSolve | None) -> None:
        if (run := solve.session.run) is None:
            return
        tolerance = run.relative(run.threshold) if run.configuration.stopping.norm == Norm.RESIDUAL else None
        pictures.curve.show(now_and_last_scene(solve.relative, last.relative if last is not None else None, tolerance))
        if solve is not self._followed:
            self._followed = solve
            pictures.field.follow(solve.session)

    def _cut_as_drawn(self, pictures: Pictures) -> None:
        """Show the plane of the canvas of a cube of cells."""
        if self._followed is not None:
            n = self._followed.session.configuration.problem.per_side or 1
            field, canvas = pictures.field.field, self._canvas
            field.normal, field.index = canvas.normal, min(n - 1, int(canvas.position * n))

    def _show_spectrum(self, pictures: Pictures) -> None:
        solve, last = self._ended, self.solver.before
        if solve is None or solve is self._spectrum_of:
            return
        self._spectrum_of = solve
        compared = last is not None and last.session.configuration.solver == solve.session.configuration.solver
        try:
            before = last.ritz_values if last is not None and compared else None
            scene = strokes_scene(solve.ritz_values, before)
        except InputError as error:
            scene = strokes_scene(None, note=str(error))
        pictures.spectrum.show(scene)


def ending(solve: LiveSolve) -> tuple[str, str]:
    """How a solve ended, in a sentence, and its tone."""
    assert solve.session.result is not None
    summary, method = solve.session.result.summary, solve.session.configuration.label
    done = counted(summary["iterations"], "iteration")
    took = duration(summary["setup_seconds"] + summary["iteration_seconds"])
    by = f"{method} instead of the choice in Solve, since {solve.why}" if solve.why else method
    rest = f"{took} from {'the last solution' if solve.warm else 'zero'}; {by}"
    if summary["converged"]:
        return f"Converged in {done}, {rest}", "good"
    return f"{sentence_case(ended_words(summary))}, after {done}, {rest}", "bad"


def _progress(solve: LiveSolve) -> str:
    """The progress of an active solve, in words."""
    session = solve.session
    if session.state is State.QUEUED:
        return queued(session.ahead).capitalize()
    if session.run is None:
        return sentence_case(RunHandle(session).waiting)
    return f"Solving, iteration {count(session.run.iterations)}"
