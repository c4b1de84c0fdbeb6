"""Stepping through any method on a small copy of a problem: one line by line, or two side by side."""

from __future__ import annotations

import dataclasses

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.live.teach.own_method import method_options, stepped_methods
from workbench.live.teach.step_view import StepView
from workbench.live.teach.stepper import Stepper
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.form_fields import BlockChoice, Field
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.problems import Problem
from workbench.registry import Parameter, find
from workbench.run import Configuration
from workbench.solvers import Solver

FEW_CELLS, MOST_CELLS = 16, 64
"""Cells per side to begin with, few enough to be seen one by one, and at most."""
CELLS = Parameter("cells", int, FEW_CELLS, "of the copy that is stepped through", 2, MOST_CELLS)
ALONE = "alone"
SECOND = Parameter("second", str, ALONE, "its lines and values next to those of the first, one iteration at a time")


class StepPage(View):
    """Display it. configuration: what is stepped through, with a smaller n where the problem has one.

    Every change computes the iterations again, in a thread; what cannot be stepped is reported in the status line.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.view: StepView | Stepper | None = None
        self._base = configuration
        self._mathematics = True
        self._worker = LatestOnly("workbench-steps")
        named = configuration.solver.name
        self.method = BlockChoice(
            "solver", lambda: None, named if named in stepped_methods() else "cg", names=stepped_methods()
        )
        self.cells = Field(CELLS, "cells", label="Cells per side", code="n")
        others = [[ALONE, "no other method"], *([name, label] for label, name in method_options(stepped_methods()))]
        self.second = Field(SECOND, label="Compared with", code="", kind="choice", choices=others)
        self.form = FieldForm(
            {"cells": self.cells, "second": self.second},
            [self.method],
            title="",
            about="Method that is stepped through",
            main=("solver", "second", "cells"),
            typed=lambda _name: self._ask(),
        )
        self.status = StatusLine()
        self._place = widgets.VBox()
        self.box = widgets.VBox([self.form.box, self.status, self._place])
        self.box.add_class("wb-explorer").add_class("wb-steppage")
        self.rebase(configuration)

    def rebase(self, configuration: Configuration) -> None:
        """Step through this from now on; the method chosen here stays."""
        same = self.view is not None and configuration == self._base
        self._base = configuration
        self.form.hidden = () if hasattr(configuration.problem, "n") else ("cells",)
        self.form.show()
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
        self.form.check()
        self.form.show()
        self.status.say("Making the iterations.", "busy")
        self._worker.ask(self._make)

    def _make(self) -> None:
        try:
            made = self._made()
        except InputError as error:
            self.status.say(str(error), "bad")
            return
        # No one else would report it to the user.
        except Exception as error:
            self.status.say(error_message(error), "bad")
            return
        before, self.view = self.view, made
        self._place.children = (made if isinstance(made, StepView) else made.box,)
        # What is stepped through is the heading of the view.
        self.status.say("")
        if before is not None:
            before.close()

    def _made(self) -> StepView | Stepper:
        """The view of what is chosen, which keeps how lines were written. Raises InputError for a wrong value."""
        chosen = dataclasses.replace(
            self._base, problem=smaller(self._base.problem, int(self.cells.read())), solver=self.method.block()
        )
        if isinstance(self.view, StepView):
            self._mathematics = self.view.mathematics
        if self.second.value == ALONE:
            return StepView(chosen, mathematics=self._mathematics)
        other = find("solver", str(self.second.value))
        assert isinstance(other, Solver)
        return Stepper(chosen, dataclasses.replace(chosen, solver=other), rtol=chosen.stopping.rtol)


def smaller(problem: Problem, cells: int) -> Problem:
    """The problem with at most so many cells per side; one without a size as it is."""
    n = getattr(problem, "n", None)
    return problem if n is None or n <= cells else problem.changed({"n": cells})
