"""Stepping through any method on a small copy of a problem: the method, how many cells, and its lines."""

from __future__ import annotations

import dataclasses

import ipywidgets as widgets

from workbench.errors import error_message
from workbench.live.teach.own_method import method_options, originals
from workbench.live.teach.step_view import StepView
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.problems import Problem
from workbench.registry import find
from workbench.run import Configuration

FEW_CELLS, MOST_CELLS = 16, 64
"""Cells per side to begin with, few enough to be seen one by one, and at most."""


class StepPage(View):
    """Display it. configuration: what is stepped through, with a smaller n where the problem has one.

    Every change computes the iterations again, in a thread; what cannot be stepped is reported in the status line.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.view: StepView | None = None
        self._base = configuration
        self._worker = LatestOnly("workbench-steps")
        layout = {"layout": {"width": "200px"}, "style": {"description_width": "initial"}}
        named = configuration.solver.name
        self.method = widgets.Dropdown(
            options=method_options(), value=named if named in originals() else "cg", description="method", **layout
        )
        self.cells = widgets.BoundedIntText(
            value=FEW_CELLS, min=2, max=MOST_CELLS, description="cells per side", tooltip=f"2 to {MOST_CELLS}", **layout
        )
        self.status = StatusLine()
        self._place = widgets.VBox()
        controls = widgets.HBox([self.method, self.cells]).add_class("wb-buttons")
        self.box = widgets.VBox([controls, self.status, self._place]).add_class("wb-explorer").add_class("wb-steppage")
        self.rebase(configuration)
        for control in (self.method, self.cells):
            control.observe(lambda _change: self._ask(), "value")

    def rebase(self, configuration: Configuration) -> None:
        """Step through this from now on; the method chosen here stays."""
        same = self.view is not None and configuration == self._base
        self._base = configuration
        self.cells.layout.display = None if hasattr(configuration.problem, "n") else "none"
        if not same:
            self._ask()

    def wait(self, timeout: float = 60.0) -> bool:
        """Wait until the steps are those of the choices; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Take it off the page."""
        self._worker.close()
        if self.view is not None:
            self.view.close()
        super().close()

    def _ask(self) -> None:
        self.status.say("making the iterations", "busy")
        self._worker.ask(self._make)

    def _make(self) -> None:
        chosen = dataclasses.replace(
            self._base,
            problem=smaller(self._base.problem, self.cells.value),
            solver=find("solver", str(self.method.value)),
        )
        try:
            made = StepView(chosen)
        # No one else would report it to the user.
        except Exception as error:
            self.status.say(error_message(error), "bad")
            return
        before, self.view = self.view, made
        self._place.children = (made,)
        self.status.say(f"{chosen.problem.label}, {chosen.label}: {made.walk.iterations} iterations, line by line")
        if before is not None:
            before.close()


def smaller(problem: Problem, cells: int) -> Problem:
    """The problem with at most so many cells per side; one without a size as it is."""
    n = getattr(problem, "n", None)
    return problem if n is None or n <= cells else problem.changed({"n": cells})
