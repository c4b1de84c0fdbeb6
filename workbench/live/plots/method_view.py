"""Pictures of a run of block methods and multipreconditioned CG, of which one is shown."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.costs.block_costs import gflops
from workbench.errors import InputError
from workbench.live.plots.chart import ChartStack
from workbench.live.transport.publisher import PollAgain, Publisher
from workbench.live.ui.controls import row
from workbench.live.ui.run_handle import RunHandle, RunSource
from workbench.live.ui.run_pictures import RunView
from workbench.plots.scenes.block import columns_scene, products_scene, rank_scenes, residuals_scene
from workbench.plots.scenes.mpcg import boxes_scene, conditioning_scenes, directions_scene, time_scene, weights_scene
from workbench.plots.scenes.scene import ITERATIONS, Axis, Scene, blank
from workbench.records import BlockHistory
from workbench.run import Run, Session, Stopping
from workbench.run.results.snapshots import Look
from workbench.solvers.block.base import BlockSolver
from workbench.solvers.mpcg import Multipreconditioned
from workbench.words.numbers import number

PERIOD = 0.3
"""Seconds between two pictures during a run, at least."""
STYLE, WIDTH = {"description_width": "initial"}, {"width": "260px"}
WEIGHTS = "Weights of terms"
COPYING = "The vectors are shown after the next iteration."
GONE = "The vectors of this run are not kept; run it again to see them."


def directions(run: Run) -> list[Scene]:
    """The latest directions. Cost: one read of all terms for each."""
    done = len(run.history.steps)
    block = run.workspace.operators["D"].latest_block()
    return [directions_scene(block, run.setup.system.grid or (), f"iteration {done}")]


def residual(run: Run) -> list[Scene]:
    """|b - A x| under the outlines of the boxes. Cost: one application of A."""
    pieces = run.workspace.operators["D"].pieces
    values = run.setup.device.to_host(run.true_residual())
    return [boxes_scene(values, run.setup.system.grid or (), pieces, f"iteration {len(run.history.steps)}")]


COLUMNS: dict[str, Callable[[Any, float], list[Scene]]] = {
    "Residuals of columns": lambda history, tolerance: [residuals_scene(history, tolerance)],
    "Against products": lambda history, tolerance: [products_scene(history, tolerance)],
    "Map of columns": lambda history, tolerance: [columns_scene(history, tolerance)],
    "Rank and pivots": lambda history, _tolerance: rank_scenes(history),
}
"""Pictures of the history of a block method, by name, for a relative tolerance."""
VECTORS: dict[str, Callable[[Run], list[Scene]]] = {"Directions": directions, "Residual and boxes": residual}
"""Pictures of the vectors of multipreconditioned CG, for the thread that iterates."""
STEPS: dict[str, Callable[[list[Any], int], list[Scene]]] = {
    WEIGHTS: lambda steps, at: [weights_scene(steps, at - 1)],
    "Conditioning": lambda steps, _at: conditioning_scenes(steps),
    "Time of parts": lambda steps, _at: [time_scene(steps)],
}
"""Pictures of the steps of its iterations, for one of them, counted from 1."""


class MethodView(RunView):
    """Pictures of a block method or multipreconditioned CG. Display it, or `box`, which is empty for a run of any other
    method. `follow(run)` shows another run.

    The pictures follow an active run, and another picture needs no new run. Those of vectors are made by the thread
    that iterates, between two iterations; of a run whose vectors are not kept there are the others. `iteration` is that
    of the weights, the latest unless another is chosen.

    Examples:
        >>> from workbench.live import MethodView
        >>> from workbench.run import Run, configure, run_through
        >>> view = MethodView(run_through(Run(configure("two-layer", n=16, solver="block-cg", rhs="random:4"))))
        >>> view.close()
    """

    period = PERIOD

    def __init__(self, run: RunSource | None = None, *, publisher: Publisher | None = None) -> None:
        super().__init__(publisher)
        self.picture = widgets.ToggleButtons()
        self.iteration = widgets.IntSlider(1, 1, 1, description="iteration", style=STYLE, layout=WIDTH)
        self.about = widgets.HTML()
        self.charts = ChartStack(self.publisher)
        controls = row("wb-buttons", self.picture, self.iteration)
        self.box = widgets.VBox([controls, self.charts.box, self.about]).add_class("wb-method")
        self._look: Look[list[Scene]] | None = None
        self._asked: tuple[str, int, bool] = ("", 0, False)
        """The picture that the latest look was for, the rows of the history then, and whether the run was over."""
        self._seen: tuple[str, list[Scene]] = ("", [])
        """The latest picture of vectors, by its name."""
        self._moving = False
        self._offer(())
        if run is not None:
            self.follow(run)
        for control in (self.picture, self.iteration):
            control.observe(lambda _change: self._moving or self.show(), "value")
        self.publisher.add(self.publish)

    @property
    def scenes(self) -> dict[str, list[Scene]]:
        """The picture that is shown, by its name; none where there is nothing to see."""
        shown = [scene for scene in self.charts.scenes if scene.layers]
        return {str(self.picture.value): shown} if shown else {}

    def shows(self, run: RunHandle) -> bool:
        """True if the pictures are those of this run, which may have given up its vectors since."""
        return self.watched is not None and self.watched.history is run.history

    def follow(self, run: RunSource) -> None:
        """Show another run, active or at rest; returns at once."""
        with self._lock:
            self.watched, self._look, self._asked, self._seen = RunHandle(run), None, ("", 0, False), ("", [])
            self._shown = None
            self._moving = True
            self.iteration.value = self.iteration.max = 1
            self._moving = False
        self.publisher.wake()

    def close(self) -> None:
        """Take it off the page, and keep no vectors."""
        super().close()
        self.watched = self._look = None
        self._seen = ("", [])

    def extent(self) -> object:
        handle = self.watched
        if handle is None:
            return None
        # Plain values, which keep no vectors.
        seen = self._asked if self._look is not None and self._look.done else None
        return handle.history and handle.history.count, handle.busy, handle.over, handle.waiting, seen

    def publish(self) -> PollAgain:
        again = super().publish()
        # A look that was requested as the run ended is taken by this thread alone.
        return (not self.hidden and self._look is not None) or again

    def draw(self) -> None:
        handle = self.watched
        if handle is None:
            return
        self._offer(pictures_of(handle))
        name, history = str(self.picture.value), handle.history
        if not self.picture.options:
            return
        steps = list(history.steps) if history else []
        self._move(len(steps))
        self.iteration.layout.display = None if name == WEIGHTS else "none"
        if history is None or not history.count:
            made = _blank(name, handle.error or handle.waiting or COPYING)
        elif name in VECTORS:
            made = self._of_vectors(handle, name, history.count)
        elif name in STEPS:
            made = _made(name, lambda: STEPS[name](steps, self.iteration.value))
        else:
            made = _made(name, lambda: COLUMNS[name](history, _tolerance(handle)))
        self.charts.show(made, live=handle.busy)
        self.about.value = html.escape(_rates(handle))

    def _of_vectors(self, handle: RunHandle, name: str, rows: int) -> list[Scene]:
        """The scenes of the latest look at the vectors. Asks for the next where the run has got further."""
        run, source = handle.run, handle.source
        if self._look is not None and self._look.done:
            of, look = self._asked[0], self._look
            self._seen, self._look = (of, look.value or _blank(of, look.words)), None
        seen = self._seen[1] if self._seen[0] == name else []
        alive = isinstance(source, Session) and source.alive
        # What an accelerator holds is touched by the thread that iterates alone.
        at_hand = run is not None and run.workspace is not None and (alive or run.configuration.device == "cpu")
        if run is None or not at_hand:
            return seen or _blank(name, GONE)
        wanted = name, rows, handle.over
        if self._look is None and wanted != self._asked:
            self._asked = wanted
            self._look = run.snapshots.look(lambda: _made(name, lambda: VECTORS[name](run)))
        if self._look is not None and not alive:
            run.serve_snapshots()
            self.publisher.wake()
        return seen or _blank(name, COPYING)

    def _offer(self, names: tuple[str, ...]) -> None:
        """Let these pictures be chosen."""
        self.box.layout.display = None if names else "none"
        if names == self.picture.options:
            return
        self._moving = True
        self.picture.options = names
        self.picture.value = next(iter(names), None)
        self._moving = False
        self.charts.show([])

    def _move(self, count: int) -> None:
        """Let `count` iterations be chosen; where the slider was at the latest, it follows."""
        slider, self._moving = self.iteration, True
        follows = slider.value == slider.max
        slider.max = max(1, count)
        slider.value = slider.max if follows else slider.value
        self._moving = False


def pictures_of(run: RunHandle) -> tuple[str, ...]:
    """The names of the pictures of a run; none of a method with one direction in an iteration."""
    history = run.history
    solver = run.source.configuration.solver if isinstance(run.source, (Session, Run)) else None
    if isinstance(history, BlockHistory) or (history is None and isinstance(solver, BlockSolver)):
        return tuple(COLUMNS)
    if isinstance(solver, Multipreconditioned):
        return (*VECTORS, *STEPS)
    return tuple(STEPS) if history is not None and history.steps else ()


def _made(name: str, make: Callable[[], list[Scene]]) -> list[Scene]:
    try:
        return make()
    except InputError as reason:
        return _blank(name, str(reason))


def _blank(name: str, words: str) -> list[Scene]:
    return [blank(name, f"{words[:1].upper()}{words[1:].rstrip('.')}.", ITERATIONS, Axis(""))]


def _tolerance(run: RunHandle) -> float:
    """The relative tolerance of a run; the default of a file that does not say."""
    try:
        return run.configuration().stopping.rtol
    except InputError:
        return Stopping.rtol


def _rates(handle: RunHandle) -> str:
    """GFLOP/s of block methods by the count of Tali and Vainikko, for separate recurrences, and by that of the lines;
    empty before the end of the run."""
    run = handle.run
    if not handle.over or run is None or run.workspace is None or not isinstance(run.history, BlockHistory):
        return ""
    separate, counted = map(number, gflops(run))
    return f"{separate} GFLOP/s by Table II of Tali and Vainikko, {counted} by the operations of the lines."
