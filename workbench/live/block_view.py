"""A run with many right-hand sides: its controls, and its figures while it is solved."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, cast

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures import block_convergence, column_heatmap, rank_and_pivot
from workbench.live._dependent import DEPENDENCIES, dependent_columns
from workbench.live._stream import Publisher
from workbench.live._tooltips import svg_with_tooltips
from workbench.live._watching import WIDTH, Watched, Watching
from workbench.live.controls import button
from workbench.papers.block_cg import gflops
from workbench.recording import BlockHistory
from workbench.registry import registered
from workbench.run import BlockRun, Configuration, Result, Session, Stopping, configure
from workbench.solvers.block.base import BlockSolver

PROBLEMS = {"poisson5": 40, "poisson7": 12, "two-layer": 40}
"""Problems and their n: more than a hundred unknowns for each of ten right-hand sides."""
VIEWS = ("residuals against iterations", "residuals against products", "heat map of columns", "rank and pivot")
STYLE = {"description_width": "110px"}


class BlockView(Watching):
    """Choose a problem, a method and right-hand sides; Run solves in the background, and the figure follows.

    Another figure needs no new run. Under the pointer a curve names its column. `wait()` returns the result, which
    `result` holds when the run has ended, None before; `figure()` is the picture, for `figures.save`. Raises InputError
    for a choice that it does not have.
    """

    def __init__(
        self,
        problem: str = "poisson5",
        solver: str = "block-cg",
        s: int = 8,
        dependency: str = "independent",
        *,
        publisher: Publisher | None = None,
    ) -> None:
        solvers = [name for name, cls in registered("solver").items() if issubclass(cls, BlockSolver)]
        for value, known in ((problem, list(PROBLEMS)), (solver, solvers), (dependency, DEPENDENCIES)):
            if value not in known:
                raise InputError(f"this view has no {value}; choose one of {', '.join(known)}")
        if not 1 <= s <= 32:
            raise InputError(f"this view takes 1 to 32 right-hand sides, got {s}")
        super().__init__(publisher)
        self.problem = _dropdown("problem", list(PROBLEMS), problem)
        self.solver = _dropdown("solver", solvers, solver)
        self.dependency = _dropdown("right-hand sides", DEPENDENCIES, dependency)
        self.s = widgets.IntSlider(s, 1, 32, description="number s", style=STYLE, layout={"width": "340px"})
        self.view = _dropdown("figure", VIEWS, VIEWS[0])
        self.go = button("Run", "solve what is chosen", self.run, style="primary")
        self.halt = button("Stop", "end the run; what was computed stays", self.stop, style="danger")
        self.message = widgets.HTML()
        self.picture = widgets.HTML(layout={"max_width": f"{WIDTH}px"})
        rows = [(self.problem, self.solver), (self.dependency, self.s), (self.view, self.go, self.halt)]
        self.box = widgets.VBox([*map(widgets.HBox, rows), self.message, self.picture])
        self._session: Session | None = None
        self.view.observe(lambda _change: self.show(), "value")
        self.publisher.add(self.publish)
        self.show()

    @property
    def result(self) -> Result | None:
        """Of the last run; None before it has ended."""
        return None if self._session is None else self._session.result

    def run(self) -> None:
        """Begin to solve what is chosen; returns at once."""
        self.stop()
        name = str(self.problem.value)
        chosen: Configuration = configure(name, n=PROBLEMS[name], solver=self.solver.value)
        system = chosen.problem.assemble(0)
        B = dependent_columns(system.operator.shape[0], self.s.value, str(self.dependency.value))
        self._session = Session(chosen, dataclasses.replace(system, b=B), on_end=lambda _session: self.publisher.wake())
        self.watched = Watched(self._session)
        self._session.start()
        self.show()
        self.publisher.wake()

    def stop(self) -> None:
        """End the run; what was computed stays."""
        if self._session is not None:
            self._session.stop()

    def wait(self, timeout: float | None = None) -> Result:
        """Run unless a run was begun, wait for its end, draw it, and return the result."""
        if self._session is None:
            self.run()
        assert self._session is not None
        result = self._session.wait(timeout)
        self.show()
        return result

    def figure(self) -> Figure:
        """The chosen figure of the last run as it is now. Raises InputError before its first iteration."""
        history = None if self.watched is None else self.watched.history
        if not isinstance(history, BlockHistory) or not history.count:
            raise InputError("there is no run to draw yet; press Run")
        assert self.watched is not None
        now, title = history.present(), f"{self.watched.title}, s = {history.columns.shape[1]}"
        if self.view.value == VIEWS[2]:
            return column_heatmap(now, tolerance=Stopping.rtol, title=title)
        if self.view.value == VIEWS[3]:
            return rank_and_pivot(now, title=title)
        against = "products" if self.view.value == VIEWS[1] else "iterations"
        return block_convergence(now, tolerance=Stopping.rtol, against=against, title=title)

    def extent(self) -> object:
        watched = self.watched
        if watched is None or watched.history is None:
            return watched is not None and watched.error
        return watched.history.count, watched.busy, watched.over

    def draw(self) -> None:
        watched = self.watched
        busy = watched is not None and not watched.over
        self.go.disabled, self.halt.disabled = busy, not busy
        self.message.value = html.escape(self._words())
        if watched is not None and watched.history is not None and watched.history.count:
            self.picture.value = svg_with_tooltips(self.figure())

    def _rates(self) -> str:
        """GFLOP/s by the count of Tali and Vainikko, for separate recurrences, and by that of the lines."""
        assert self._session is not None
        theirs, ours = gflops(cast(BlockRun, self._session.run))
        return f"{theirs:.3g} GFLOP/s by Table II of Tali and Vainikko, {ours:.3g} by the lines"

    def _words(self) -> str:
        if self.watched is None:
            return "Choose, and press Run."
        if self.watched.error:
            return self.watched.error
        if self.result is not None:
            words = f"{self.result.iterations} iterations: {self.result.reason.value}, {self.result.detail}"
            return "; ".join([words, self._rates(), *self.result.provenance["notes"]])
        history = self.watched.history
        return "setting up" if history is None else f"iteration {max(0, history.count - 1)}"


def _dropdown(description: str, options: Any, value: str) -> widgets.Dropdown:
    layout = {"width": "340px"}
    return widgets.Dropdown(options=options, value=value, description=description, style=STYLE, layout=layout)
