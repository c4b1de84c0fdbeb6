"""Multipreconditioned CG and CG with the sum: controls, curves and what its directions are."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures import draw
from workbench.live.inspect.mpcg_figures import Follower, Inside, Part, inside
from workbench.live.plots.chart import ChartStack
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.curve import Curve
from workbench.live.solve.explorer_text import sentence
from workbench.live.transport.publisher import POLL_SOON, PollAgain, Publisher
from workbench.live.ui.controls import button
from workbench.live.ui.html_table import html_table
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.run import Configuration, Result, Session, State, configure
from workbench.scenes.mpcg import boxes_scene, conditioning_scenes, directions_scene, time_scene, weights_scene
from workbench.scenes.scene import ITERATIONS, Axis, Scene, blank

PROBLEMS = ("poisson-fd", "two-layer")
SIZES = (64, 128, 200, 300, 500, 1000)
BOXES = ("1x1", "2x2", "2x3", "3x3", "3x4", "4x4")
SOLVERS = {"exact": "exact", "exact, float32": "exact,precision=float32", "chebyshev:8": "chebyshev:8", "ic": "ic"}
KEPT = {"all": 0, "the last": 1, "the last 2": 2, "the last 5": 5}
FOLLOWED = 0.1
"""Seconds between two looks for something new to draw."""
VIEWS = ("residuals", "boxes over the residual", "directions", "weights of terms", "conditioning", "time of parts")
PARTS = {VIEWS[1]: Part.RESIDUAL, VIEWS[2]: Part.BLOCK}
"""What a figure needs in addition to the numbers of the iterations."""
STYLE = {"description_width": "110px"}
LAYOUT = {"width": "340px"}


class MPCGView(View):
    """Choose a problem and boxes; Run solves in the background with `mpcg`, then with `sum-cg` and with `cg` (Jacobi).

    The curves are live. The other figures follow the run of `mpcg`, at most three pictures a second, and then show its
    end; another figure needs no new run. The weights are those of the chosen iteration, the latest unless another is
    chosen. folder: where figures go, by default exports/ next to the notebook.

    result: of the last run of `mpcg`, None before the first has ended. `figure()` is the picture, for `figures.save`.
    Raises InputError for what is not on offer.
    """

    def __init__(
        self, problem: str = "poisson-fd", n: int = 128, boxes: str = "3x3", folder: str | Path | None = None
    ) -> None:
        for value, known in ((problem, PROBLEMS), (n, SIZES), (boxes, BOXES)):
            if value not in known:
                raise InputError(f"this view has no {value}; choose one of {', '.join(map(str, known))}")
        self.problem = _dropdown("problem", PROBLEMS, problem)
        self.n = _dropdown("n", SIZES, n)
        self.boxes = _dropdown("boxes", BOXES, boxes)
        self.overlap = _slider("overlap (points)", 4, 0, 16)
        self.solver = _dropdown("in a box", SOLVERS, SOLVERS["exact"])
        self.keep = _dropdown("blocks kept", KEPT, 0)
        self.view = _dropdown("figure", VIEWS, VIEWS[0])
        self.iteration = _slider("iteration", 1, 1, 1)
        self.go = button("Run", "solve with mpcg, sum-cg and cg", self.run, style="primary")
        self.halt = button("Stop", "end the runs; what was computed stays", self.stop, style="danger")
        self.publisher = Publisher()
        self.status, self.about, self.charts = StatusLine(), widgets.HTML(), ChartStack(self.publisher)
        self.convergence = ConvergenceView(publisher=self.publisher, movable=False)
        self.save_bar = SaveBar(
            lambda: {str(self.view.value): self.figure()},
            provenance=lambda: self._shown.watched.provenance if self._shown else {},
            about=lambda: self._shown.watched.file_title if self._shown else "",
            folder=folder,
        )
        self.result: Result | None = None
        self._last: Inside | None = None
        self._follower: Follower | None = None
        # The end of a run and a look at it, in different threads, both say how many iterations there are.
        self._looking = threading.RLock()
        self._replaced = True
        self._runs: list[tuple[Session, Curve]] = []
        self._count = 0
        self._drawn: tuple[object, ...] | None = None
        buttons = widgets.HBox([self.go, self.halt]).add_class("wb-buttons")
        rows = [(self.problem, self.n), (self.boxes, self.overlap), (self.solver, self.keep)]
        rows.append((self.view, self.iteration))
        pictures = [self.convergence, self.charts.box, self.save_bar.box]
        self.box = widgets.VBox([*map(widgets.HBox, rows), buttons, self.status, self.about, *pictures])
        for control in (self.view, self.iteration):
            control.observe(lambda _change: self.publisher.wake(), "value")
        self.publisher.add(self._publish, first=True)

    @property
    def configurations(self) -> dict[str, Configuration]:
        """What Run solves, by name."""
        keep: Any = self.keep.value
        first_level = f"schwarz:boxes={self.boxes.value},overlap={self.overlap.value},solver={self.solver.value}"
        methods: dict[str, dict[str, Any]] = {
            "mpcg": {"solver": f"mpcg:keep={keep}", "preconditioner": first_level},
            "sum-cg": {"solver": "sum-cg", "preconditioner": first_level},
            "cg, jacobi": {"solver": "cg", "preconditioner": "jacobi"},
        }
        size: Any = self.n.value
        return {name: configure(str(self.problem.value), n=size, **chosen) for name, chosen in methods.items()}

    def run(self) -> Session:
        """Solve what is chosen in the background, one method after another: the session of mpcg, or that which is
        active. A wrong choice is said in the status line, and raised as InputError."""
        if any(session.alive for session, _ in self._runs):
            return self._runs[0][0]
        chosen = self.configurations
        for curve in self.convergence.curves:
            self.convergence.drop(curve)
        self._count += 1
        self._runs = []
        for name, configuration in chosen.items():
            on_end = self._ended if name == "mpcg" else None
            session = Session(configuration, on_end=on_end)
            self.convergence.watch(session, name)
            self._runs.append((session, Curve(0, name, 0, session)))
        self._follower, self._replaced = Follower(self._runs[0][0]), True
        for session, _ in self._runs:
            session.start()
        self.publisher.wake()
        return self._runs[0][0]

    def stop(self) -> None:
        """End the runs; what was computed stays."""
        for session, _ in self._runs:
            session.stop()
        self.publisher.wake()

    def figure(self) -> Figure:
        """The chosen figure, of the running mpcg or of the last. Raises InputError before the first iteration."""
        shown, view = self._shown, self.view.value
        if view == VIEWS[0]:
            return draw(self.convergence.scene())
        if shown is None or not shown.has(PARTS.get(str(view))):
            raise InputError("there is nothing to draw yet; press Run, or wait for an iteration")
        return draw(*self._scenes(shown))

    def close(self) -> None:
        """End the runs and take everything off the page."""
        self.stop()
        self.publisher.close()
        super().close()

    @property
    def _shown(self) -> Inside | None:
        """The latest look at the running session, else the end of the last run."""
        follower = self._follower
        return follower.seen if follower and follower.seen else self._last

    def _ended(self, session: Session) -> None:
        """Runs in the solver thread, so that `result` is there when `session.wait` returns."""
        with self._looking:
            if session.result is not None and session.run is not None:
                self.result = session.result
                self._last = inside(session.run, RunHandle(session.result), *Part)
                self._lengthen(len(self._last.steps))
            # A run that was stopped may end after the next has begun.
            if self._follower and self._follower.session is session:
                self._follower = None
        self.publisher.wake()

    def _look(self, part: Part | None) -> bool:
        """Look at the running session, for a figure; whether there may be more to see."""
        with self._looking:
            follower = self._follower
            if follower is None or self.view.value == VIEWS[0]:
                return False
            follower.poll(part)
            if follower.seen:
                self._lengthen(len(follower.seen.steps))
            return not follower.ended

    def _lengthen(self, count: int) -> None:
        """Let so many iterations be chosen; the latest of another run, and where it was the latest, is chosen."""
        slider = self.iteration
        follows = self._replaced or slider.value == slider.max
        self._replaced = False
        slider.max = max(1, count)
        if follows:
            slider.value = slider.max

    def _publish(self) -> PollAgain:
        alive = any(session.alive for session, _ in self._runs)
        first = self._runs[0] if self._runs else (None, None)
        shown, curve = next((run for run in self._runs if run[0].alive), first)
        for _, each in self._runs:
            each.look()
        state = shown.state if shown else State.IDLE
        self.status.say(*sentence(shown, self._count, curve, state), state.value)
        self.go.disabled, self.halt.disabled = alive, not alive
        part = PARTS.get(str(self.view.value))
        follows = self._look(part)
        drawn = self._shown
        self.save_bar.press.disabled = drawn is None or not drawn.has(part)
        self.iteration.disabled = drawn is None or self.view.value != VIEWS[3]
        self.about.value = self._about()
        self._show()
        if any(session.ending for session, _ in self._runs):
            return POLL_SOON
        return FOLLOWED if follows else alive and 0.5

    def _about(self) -> str:
        """Iterations and seconds of the methods that have ended, as a table."""
        rows = []
        for session, curve in self._runs:
            summary = RunHandle(session).summary
            if summary is not None and not session.alive:
                spent = f"{summary['setup_seconds']:.3g} + {summary['iteration_seconds']:.3g}"
                converged = "yes" if summary["converged"] else "no"
                rows.append((curve.label, str(summary["iterations"]), spent, converged))
        return html_table(("method", "iterations", "setup + iterating (s)", "converged"), rows) if rows else ""

    def _show(self) -> None:
        """The curves, which are live, or the figure of the run."""
        shown, part = self._shown, PARTS.get(str(self.view.value))
        chosen = self.view.value, self.iteration.value, shown
        if chosen == self._drawn:
            return
        live, other = self.view.value == VIEWS[0], self._drawn is None or self.view.value != self._drawn[0]
        self._drawn = chosen
        self.convergence.layout.display = None if live else "none"
        self.convergence.link.hidden = not live
        if other:
            self.charts.show([])
        if live or shown is None or not shown.has(part):
            return
        begun = time.monotonic()
        self.charts.show(self._scenes(shown))
        if follower := self._follower:
            follower.drawn(time.monotonic() - begun)

    def _scenes(self, shown: Inside) -> list[Scene]:
        """What the chosen figure shows of a look at the run."""
        view, steps = self.view.value, shown.steps
        when = f"iteration {len(steps)}"
        try:
            if view == VIEWS[1] and shown.residual is not None:
                return [boxes_scene(shown.residual, shown.grid, shown.pieces, when)]
            if view == VIEWS[2] and shown.block is not None:
                return [directions_scene(shown.block, shown.grid, when)]
            if view == VIEWS[3]:
                return [weights_scene(steps, min(self.iteration.value, len(steps)) - 1)]
            return conditioning_scenes(steps) if view == VIEWS[4] else [time_scene(steps)]
        except InputError as reason:
            return [blank(str(view), str(reason), ITERATIONS, Axis(""))]


def _dropdown(description: str, options: Any, value: Any) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, value=value, description=description, style=STYLE, layout=LAYOUT)


def _slider(description: str, value: int, low: int, high: int) -> widgets.IntSlider:
    return widgets.IntSlider(value, low, high, description=description, style=STYLE, layout=LAYOUT)
