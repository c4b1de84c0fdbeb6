"""A run with many right-hand sides, its controls and its figures."""

from __future__ import annotations

import dataclasses
import html
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures import block_convergence, column_heatmap, rank_and_pivot
from workbench.live._dependent import DEPENDENCIES, dependent_columns
from workbench.live._watching import paint, picture
from workbench.live.controls import button
from workbench.registry import registered
from workbench.run import Result, Stopping, configure, run_through, start_run
from workbench.solvers.block.base import BlockSolver

PROBLEMS = {"poisson5": 40, "poisson7": 12, "two-layer": 40}
"""Problems and their n: more than a hundred unknowns for each of ten right-hand sides."""
VIEWS = ("residuals against iterations", "residuals against products", "heat map of columns", "rank and pivot")
STYLE = {"description_width": "110px"}


class BlockView:
    """Choose a problem, a method and right-hand sides; Run solves and draws, and another figure needs no new run.

    result: the last run, None before the first. `figure()` is the picture, for `figures.save`.
    """

    def __init__(
        self,
        problem: str = "poisson5",
        solver: str = "block-cg",
        s: int = 8,
        dependency: str = "independent",
    ) -> None:
        solvers = [name for name, cls in registered("solver").items() if issubclass(cls, BlockSolver)]
        for value, known in ((problem, list(PROBLEMS)), (solver, solvers), (dependency, DEPENDENCIES)):
            if value not in known:
                raise InputError(f"this view has no {value}; choose one of {', '.join(known)}")
        if not 1 <= s <= 32:
            raise InputError(f"this view takes 1 to 32 right-hand sides, got {s}")
        self.problem = _dropdown("problem", list(PROBLEMS), problem)
        self.solver = _dropdown("solver", solvers, solver)
        self.dependency = _dropdown("right-hand sides", DEPENDENCIES, dependency)
        self.s = widgets.IntSlider(s, 1, 32, description="s", style=STYLE)
        self.view = _dropdown("figure", VIEWS, VIEWS[0])
        self.go = button("Run", "solve with what is chosen", self.run, style="primary")
        self.message, self.picture = widgets.HTML(), picture()
        rows = [(self.problem, self.solver), (self.dependency, self.s), (self.view, self.go)]
        self.box = widgets.VBox([*map(widgets.HBox, rows), self.message, self.picture])
        self.result: Result | None = None
        self.view.observe(lambda _change: self._show(), "value")

    def run(self) -> None:
        """Solve what is chosen, and draw it. Blocks until the run has ended."""
        name = str(self.problem.value)
        self.go.disabled = True
        try:
            chosen = configure(name, n=PROBLEMS[name], solver=self.solver.value)
            system = chosen.problem.assemble(0)
            B = dependent_columns(system.operator.shape[0], self.s.value, str(self.dependency.value))
            self.result = run_through(start_run(chosen, dataclasses.replace(system, b=B)))
        except InputError as refused:
            self.message.value = html.escape(str(refused))
            return
        finally:
            self.go.disabled = False
        ended = self.result
        self.message.value = html.escape(f"{ended.iterations} iterations: {ended.reason.value}, {ended.detail}")
        self._show()

    def figure(self) -> Figure:
        """The chosen figure of the last run. Raises InputError before the first."""
        if self.result is None:
            raise InputError("there is no run to draw yet; press Run")
        record, tolerance = self.result.record(), Stopping.rtol
        if self.view.value == VIEWS[2]:
            return column_heatmap(record, tolerance=tolerance)
        if self.view.value == VIEWS[3]:
            return rank_and_pivot(record)
        against = "products" if self.view.value == VIEWS[1] else "iterations"
        return block_convergence(record, tolerance=tolerance, against=against)

    def _show(self) -> None:
        if self.result is not None:
            paint(self.picture, self.figure())

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)


def _dropdown(description: str, options: Any, value: str) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, value=value, description=description, style=STYLE)
