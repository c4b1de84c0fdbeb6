"""Multipreconditioned CG beside CG with the sum, its controls and what its directions are."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures import block_conditioning, boxes_over_field, directions_on_grid, term_weights, time_split
from workbench.live._closing import close_all
from workbench.live._stream import SOON, Again, Publisher
from workbench.live._watching import Watched, paint, picture
from workbench.live.controls import button
from workbench.live.convergence import ConvergenceView, Curve
from workbench.live.explorer_words import sentence
from workbench.live.going import Going
from workbench.live.save_bar import SaveBar
from workbench.live.status import StatusLine
from workbench.run import Configuration, Result, Session, State, configure
from workbench.solvers.multi.directions import Directions

PROBLEMS = ("poisson-fd", "two-layer")
SIZES = (64, 128, 200, 300)
BOXES = ("1x1", "2x2", "2x3", "3x3", "3x4", "4x4")
SOLVERS = {"exact": "exact", "exact, float32": "exact,precision=float32", "chebyshev:8": "chebyshev:8", "ic": "ic"}
KEPT = {"all": 0, "the last": 1, "the last 2": 2, "the last 5": 5}
VIEWS = ("residuals", "boxes over the residual", "directions", "weights of terms", "conditioning", "time of parts")
STYLE = {"description_width": "110px"}
LAYOUT = {"width": "340px"}


class MPCGView:
    """Choose a problem and boxes; Run solves in the background with `mpcg`, then with `sum-cg` and with `cg` (Jacobi).

    The curves are live. The other figures show the run of `mpcg` once it has ended, those of one iteration for the
    chosen one; another figure needs no new run. folder: where figures go, by default exports/ next to the notebook.

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
        self.status, self.about, self.picture = StatusLine(), widgets.HTML(), picture()
        self.convergence = ConvergenceView(publisher=self.publisher, movable=False)
        self.save_bar = SaveBar(
            lambda: {str(self.view.value): self.figure()},
            provenance=lambda: self.result.provenance if self.result else {},
            about=lambda: Watched(self.result).file_title if self.result else "",
            folder=folder,
        )
        self.result: Result | None = None
        self._inside: _Inside | None = None
        self._going: list[Going] = []
        self._drawn: tuple[object, ...] | None = None
        buttons = widgets.HBox([self.go, self.halt]).add_class("wb-buttons")
        rows = [(self.problem, self.n), (self.boxes, self.overlap), (self.solver, self.keep)]
        rows.append((self.view, self.iteration))
        pictures = [self.convergence, self.picture, self.save_bar.box]
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
        if self._going and any(going.session.alive for going in self._going):
            return self._going[0].session
        chosen = self.configurations
        for curve in self.convergence.curves:
            self.convergence.drop(curve)
        number = self._going[0].number + 1 if self._going else 1
        self._going = []
        for name, configuration in chosen.items():
            on_end = self._ended if name == "mpcg" else None
            session = Session(configuration, on_end=on_end)
            self.convergence.watch(session, name)
            self._going.append(Going(number, session, Curve(0, name, 0, session)))
        for going in self._going:
            going.session.start()
        self.publisher.wake()
        return self._going[0].session

    def stop(self) -> None:
        """End the runs; what was computed stays."""
        for going in self._going:
            going.session.stop()
        self.publisher.wake()

    def figure(self) -> Figure:
        """The chosen figure of the last run of mpcg. Raises InputError before the first has ended, and for residuals,
        which are live."""
        if self._inside is None:
            raise InputError("there is no run to draw yet; press Run")
        inside, steps = self._inside, self._inside.steps
        if self.view.value == VIEWS[1]:
            return boxes_over_field(inside.residual, inside.grid, inside.pieces, label="|b − A x|, last (1)")
        if self.view.value == VIEWS[2]:
            return directions_on_grid(inside.block, inside.grid)
        if self.view.value == VIEWS[3]:
            return term_weights(steps, iteration=self.iteration.value - 1)
        if self.view.value == VIEWS[4]:
            return block_conditioning(steps)
        if self.view.value == VIEWS[5]:
            return time_split(steps)
        raise InputError("the curves of residuals are live; choose another figure to save it")

    def close(self) -> None:
        """End the runs and take everything off the page."""
        self.stop()
        self.publisher.close()
        close_all(self.box)

    def _ended(self, session: Session) -> None:
        """Runs in the solver thread, so that `result` is there when `session.wait` returns."""
        if session.result is not None and session.run is not None:
            self.result, self._inside = session.result, _Inside(session.run)
            steps = len(self._inside.steps)
            self.iteration.max, self.iteration.value = max(1, steps), max(1, steps)
        self.publisher.wake()

    def _publish(self) -> Again:
        alive = any(going.session.alive for going in self._going)
        shown = next((going for going in self._going if going.session.alive), self._going[0] if self._going else None)
        for going in self._going:
            going.curve.look()
        state = shown.session.state if shown else State.IDLE
        self.status.say(*sentence(shown, state), state.value)
        self.go.disabled, self.halt.disabled = alive, not alive
        self.save_bar.press.disabled = self._inside is None or self.view.value == VIEWS[0]
        self.iteration.disabled = self._inside is None or self.view.value != VIEWS[3]
        self.about.value = self._about()
        self._show()
        if any(going.session.ending for going in self._going):
            return SOON
        return alive and 0.5

    def _about(self) -> str:
        """Iterations and seconds of the methods that have ended, as a table."""
        rows = []
        for going in self._going:
            result = going.session.result
            if result is not None and not going.session.alive:
                spent = f"{result.setup_seconds:.3g} + {result.iteration_seconds:.3g}"
                cells = (going.curve.label, str(result.iterations), spent, "yes" if result.converged else "no")
                rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
        if not rows:
            return ""
        names = ("method", "iterations", "setup + iterating (s)", "converged")
        head = "".join(f"<th>{name}</th>" for name in names)
        return f"<table class='wb-table'><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def _show(self) -> None:
        """The curves, which are live, or the figure of the last run."""
        chosen = self.view.value, self.iteration.value, self.result
        if chosen == self._drawn:
            return
        self._drawn = chosen
        live = self.view.value == VIEWS[0]
        self.convergence.layout.display = None if live else "none"
        self.convergence.link.hidden = not live
        self.picture.layout.display = "none"
        if not live and self._inside is not None:
            paint(self.picture, self.figure())

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)


class _Inside:
    """What the figures show of a run of mpcg that has ended, copied to host memory."""

    def __init__(self, run: Any) -> None:
        directions: Directions = run.workspace.operators["D"]
        self.grid: tuple[int, ...] = run.setup.system.grid
        self.steps, self.pieces = list(directions.steps), directions.pieces
        self.block = directions.latest_block() if directions.steps else np.zeros((run.x.size, 0))
        self.residual = np.abs(run.setup.device.to_host(run.true_residual()))


def _dropdown(description: str, options: Any, value: Any) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, value=value, description=description, style=STYLE, layout=LAYOUT)


def _slider(description: str, value: int, low: int, high: int) -> widgets.IntSlider:
    return widgets.IntSlider(value, low, high, description=description, style=STYLE, layout=LAYOUT)
