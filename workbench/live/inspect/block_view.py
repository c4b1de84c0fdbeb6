"""A run with many right-hand sides, its controls and its figures."""

from __future__ import annotations

import dataclasses
import html
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures import draw
from workbench.live.inspect.dependent_columns import DEPENDENCIES, dependent_columns
from workbench.live.plots.chart import ChartStack
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.curve import Curve
from workbench.live.solve.explorer_text import sentence
from workbench.live.transport.publisher import POLL_SOON, PollAgain, Publisher
from workbench.live.ui.controls import button
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.number_text import count
from workbench.papers.block_cg import gflops
from workbench.recording import Record
from workbench.registry import registered
from workbench.run import Result, Session, State, Stopping, configure
from workbench.scenes.block import columns_scene, products_scene, rank_scenes
from workbench.scenes.scene import Scene
from workbench.solvers.block.base import BlockSolver

PROBLEMS = {"poisson5": 2, "poisson7": 3, "two-layer": 2}
"""Problems of n^d unknowns, and their d."""
UNKNOWNS = (2_000, 20_000, 200_000)
"""About how many. The fewest are two hundred for each of ten right-hand sides, more than block CG has iterations."""
VIEWS = ("residuals against iterations", "residuals against products", "heat map of columns", "rank and pivot")
STYLE = {"description_width": "110px"}
LAYOUT = {"width": "340px"}


class BlockView(View):
    """Choose a problem, a method and right-hand sides; Run solves in the background, with a curve for each column.

    Pointing at the curves names the columns. The other figures are drawn when the run has ended; another figure needs
    no new run. unknowns: one of `UNKNOWNS`. folder: where figures go, by default exports/ next to the notebook.

    result: the last run, None before the first has ended. `figure()` is the picture, for `figures.save`. Raises
    InputError for what is not on offer.
    """

    def __init__(
        self,
        problem: str = "poisson5",
        solver: str = "block-cg",
        s: int = 8,
        dependency: str = "independent",
        unknowns: int = UNKNOWNS[0],
        folder: str | Path | None = None,
    ) -> None:
        solvers = [name for name, cls in registered("solver").items() if issubclass(cls, BlockSolver)]
        offered = ((problem, PROBLEMS), (solver, solvers), (dependency, DEPENDENCIES), (unknowns, UNKNOWNS))
        for value, known in offered:
            if value not in known:
                raise InputError(f"this view has no {value}; choose one of {', '.join(map(str, known))}")
        if not 1 <= s <= 32:
            raise InputError(f"this view takes 1 to 32 right-hand sides, got {s}")
        self.problem = _dropdown("problem", list(PROBLEMS), problem)
        self.unknowns = _dropdown("unknowns", [(f"about {count(size)}", size) for size in UNKNOWNS], unknowns)
        self.solver = _dropdown("solver", solvers, solver)
        self.dependency = _dropdown("right-hand sides", DEPENDENCIES, dependency)
        self.s = widgets.IntSlider(s, 1, 32, description="s", style=STYLE, layout=LAYOUT)
        self.view = _dropdown("figure", VIEWS, VIEWS[0])
        self.go = button("Run", "solve with what is chosen", self.run, style="primary")
        self.halt = button("Stop", "end the run; what was computed stays", self.stop, style="danger")
        self.publisher = Publisher()
        self.status, self.about, self.charts = StatusLine(), widgets.HTML(), ChartStack(self.publisher)
        self.convergence = ConvergenceView(publisher=self.publisher, movable=False)
        self.save_bar = SaveBar(
            lambda: {str(self.view.value): self.figure()},
            provenance=lambda: {**self.result.provenance, "right-hand sides": self._sides} if self.result else {},
            about=lambda: RunHandle(self.result).file_title if self.result else "",
            folder=folder,
        )
        self.result: Result | None = None
        self._sides = ""
        self._session: Session | None = None
        self._count = 0
        self._curve: Curve | None = None
        self._drawn: tuple[object, Result | None] | None = None
        buttons = widgets.HBox([self.go, self.halt]).add_class("wb-buttons")
        rows = [(self.problem, self.unknowns), (self.solver, self.view), (self.dependency, self.s)]
        pictures = [self.convergence, self.charts.box, self.save_bar.box]
        self.box = widgets.VBox([*map(widgets.HBox, rows), buttons, self.status, self.about, *pictures])
        self.view.observe(lambda _change: self.publisher.wake(), "value")
        self.publisher.add(self._publish, first=True)

    def run(self) -> Session:
        """Solve what is chosen in the background. The session, or that of the run that is active."""
        before = self._session
        if before and before.alive:
            return before
        name = str(self.problem.value)
        unknowns: Any = self.unknowns.value
        chosen = configure(name, n=round(unknowns ** (1 / PROBLEMS[name])), solver=self.solver.value)
        system = chosen.problem.assemble(0)
        dependency, s = str(self.dependency.value), self.s.value
        system = dataclasses.replace(system, b=dependent_columns(system.operator.shape[0], s, dependency))
        session = Session(chosen, system, on_end=lambda ended: self._ended(ended, f"s = {s}, {dependency}"))
        for curve in self.convergence.curves:
            self.convergence.drop(curve)
        self.convergence.watch_columns(session, s)
        self._session, self._curve = session, Curve(0, "largest", 0, session)
        self._count += 1
        session.start()
        self.publisher.wake()
        return session

    def stop(self) -> None:
        """End the run; what was computed stays."""
        if self._session:
            self._session.stop()
        self.publisher.wake()

    def figure(self) -> Figure:
        """The chosen figure of the last run. Raises InputError before the first has ended."""
        if self.result is None:
            raise InputError("there is no run to draw yet; press Run")
        live = self.view.value == VIEWS[0]
        return draw(self.convergence.scene()) if live else draw(*self._scenes(self.result.record()))

    def close(self) -> None:
        """End the run and take everything off the page."""
        self.stop()
        self.publisher.close()
        super().close()

    def _ended(self, session: Session, sides: str) -> None:
        """Runs in the solver thread, so that `result` is there when `session.wait` returns."""
        if session.result is not None:
            self.result, self._sides = session.result, sides
        self.publisher.wake()

    def _publish(self) -> PollAgain:
        session = self._session
        state = session.state if session else State.IDLE
        alive = session is not None and session.alive
        if self._curve:
            self._curve.look()
        self.status.say(*sentence(session, self._count, self._curve, state), state.value)
        self.go.disabled, self.halt.disabled = alive, not alive
        self.save_bar.press.disabled = self.result is None
        self.about.value = html.escape(" ".join(self._about()))
        self._show()
        if session and session.ending:
            return POLL_SOON
        return alive and 0.5

    def _about(self) -> list[str]:
        """Of a run that has ended: GFLOP/s by the count of Tali and Vainikko, for separate recurrences, and by that of
        the lines, and its notes."""
        session = self._session
        if self.result is None or session is None or session.run is None or session.alive:
            return []
        theirs, ours = gflops(session.run)
        rates = f"{theirs:.3g} GFLOP/s by Table II of Tali and Vainikko, {ours:.3g} by the operations of the lines."
        return [rates, *(f"Note: {note}." for note in self.result.provenance["notes"])]

    def _show(self) -> None:
        """The curves of the columns, which are live, or the figure of the last run."""
        chosen = self.view.value, self.result
        if chosen == self._drawn:
            return
        self._drawn = chosen
        live = self.view.value == VIEWS[0]
        self.convergence.layout.display = None if live else "none"
        self.convergence.link.hidden = not live
        self.charts.show([] if live or self.result is None else self._scenes(self.result.record()))

    def _scenes(self, record: Record) -> list[Scene]:
        if self.view.value == VIEWS[2]:
            return [columns_scene(record, Stopping.rtol)]
        return rank_scenes(record) if self.view.value == VIEWS[3] else [products_scene(record, Stopping.rtol)]


def _dropdown(description: str, options: Any, value: Any) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, value=value, description=description, style=STYLE, layout=LAYOUT)
