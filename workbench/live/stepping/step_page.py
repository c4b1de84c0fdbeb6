"""Stepping through any method on a small copy of a problem: one line by line, or two side by side."""

from __future__ import annotations

import dataclasses

import ipywidgets as widgets

from workbench.errors import InputError, error_message
from workbench.live.stepping.own_method import method_options, stepped_methods
from workbench.live.stepping.step_view import StepView
from workbench.live.stepping.stepper import Stepper
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.form_fields import BlockChoice, Field
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.problems import Problem
from workbench.registry import Parameter, find, known, lookup
from workbench.run import Configuration
from workbench.run.choices.configuration import asks_for_blocks
from workbench.settings import BLOCKS, RUN
from workbench.solvers import Solver
from workbench.solvers.hybrid.base import HybridSolver
from workbench.words.names import name_of, sentence_case, with_names

FEW_CELLS, MOST_CELLS = 16, 64
"""Cells per side to begin with, few enough to be seen one by one, and at most."""
CELLS = Parameter("cells", int, FEW_CELLS, "of the copy that is stepped through", 2, MOST_CELLS)
COLUMNS = Parameter("columns", int, 4, "random ones; 1 is that of Solve", 1, 8)
SIZES = (16, 24, 32, 48, 64)
"""Cells per side of a copy, where those that were typed do not fit the problem."""
STAND_IN = "bubbles-2d"
"""The problem that is stepped through where that of the form has no small copy."""
ALONE = "alone"
SECOND = Parameter("second", str, ALONE, "its lines and values next to those of the first, one iteration at a time")


class StepPage(View):
    """Display it. configuration: stepped through, with a smaller n where the problem has one. Where no size of the
    problem can be stepped through, a stand-in is, and the status line says so.

    Methods that take several right-hand sides get some, where the configuration has one.

    Every change computes the iterations again, in a thread; what cannot be stepped is reported in the status line.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.view: StepView | Stepper | None = None
        self._base = configuration
        self._mathematics = True
        self._left_out = ""
        """The part of the configuration that is left out, as a sentence."""
        self._worker = LatestOnly("workbench-steps")
        named = configuration.solver.name
        self.method = BlockChoice("solver", named if named in stepped_methods() else "cg", stepped_methods())
        self.first = BlockChoice("preconditioner", BLOCKS["preconditioner"].default)
        self.columns = Field(COLUMNS, "columns", label="Right-hand sides")
        self.cells = Field(CELLS, "cells", label="Cells per side")
        others = [[ALONE, "no other method"], *([name, label] for label, name in method_options(stepped_methods()))]
        self.second = Field(SECOND, label="Compared with", kind="choice", choices=others)
        self.form = FieldForm(
            {"cells": self.cells, "columns": self.columns, "second": self.second},
            [self.method, self.first],
            title="",
            about="Method that is stepped through",
            main=("solver", "preconditioner", "second", "cells", "columns"),
            typed=lambda _name: self._ask(),
        )
        self.status = StatusLine()
        self._place = widgets.VBox()
        self.box = widgets.VBox([self.form.box, self.status, self._place])
        self.box.add_class("wb-explorer").add_class("wb-steppage")
        self.rebase(configuration)

    def rebase(self, configuration: Configuration) -> None:
        """Step through this from now on; a solver or preconditioner that was chosen here stays until another is chosen
        elsewhere."""
        same = self.view is not None and configuration == self._base
        before, self._base = self._base, configuration
        if configuration.solver != before.solver and configuration.solver.name in stepped_methods():
            self.method.load(configuration.solver)
        changed = self.view is None or configuration.preconditioner != before.preconditioner
        if changed and self._lists_preconditioner:
            self.first.load(configuration.preconditioner)
        self._hide()
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

    @property
    def _lists_preconditioner(self) -> bool:
        """True if the menu lists the preconditioner of the configuration, which may be one in memory."""
        return bool(known("preconditioner", self._base.preconditioner.name))

    @property
    def _takes_columns(self) -> bool:
        """True if all methods chosen take several right-hand sides, and the configuration has one."""
        names = [name for name in (self.method.choice.value, self.second.value) if name != ALONE]
        chosen = [find("solver", str(name)) for name in names]
        return all(isinstance(each, Solver) and each.takes_blocks for each in chosen) and not asks_for_blocks(
            self._base, None
        )

    def _hide(self) -> None:
        offered = {
            "cells": hasattr(self._base.problem, "n"),
            "columns": self._takes_columns,
            "preconditioner": self._lists_preconditioner,
        }
        self.form.hidden = tuple(name for name, there in offered.items() if not there)

    def _ask(self) -> None:
        self._hide()
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
        # The heading of the view names the method and the problem.
        self.status.say(self._left_out)
        if before is not None:
            before.close()

    def _made(self) -> StepView | Stepper:
        """The view of the present choices, which keeps how lines were written. Raises InputError for a wrong value."""
        cells, problem = int(self.cells.read()), self._base.problem
        others = sorted((size for size in SIZES if size != cells), key=lambda size: abs(size - cells))
        sizes = [cells, *(others if problem.per_side else [])]
        refused: InputError | None = None
        for tried, size in [*((problem, size) for size in sizes), (lookup("problem", STAND_IN).create({}), FEW_CELLS)]:
            assert isinstance(tried, Problem)
            try:
                copy = smaller(tried, size)
                made = self._view_of(copy)
            except InputError as error:
                refused = refused or error
                continue
            if refused is not None:
                self._left_out = f"{sentence_case(with_names(str(refused)))}. These steps are of {copy.label}."
            return made
        assert refused is not None
        raise refused

    def _view_of(self, problem: Problem) -> StepView | Stepper:
        """The view of the present choices on a problem. Raises InputError where it cannot be stepped."""
        chosen = dataclasses.replace(self._base, problem=problem, solver=self.method.block())
        if problem.name != self._base.problem.name:
            chosen = dataclasses.replace(chosen, deflation=find("deflation", "none"), rhs=RUN["rhs"].default)
        if self._lists_preconditioner:
            chosen = dataclasses.replace(chosen, preconditioner=self.first.block())
        if self._takes_columns and (columns := int(self.columns.read())) > 1:
            chosen = dataclasses.replace(chosen, rhs=f"random:{columns}")
        if isinstance(self.view, StepView):
            self._mathematics = self.view.mathematics
        self._left_out = ""
        if self.second.value == ALONE:
            return StepView(self._possible(chosen), mathematics=self._mathematics)
        other = find("solver", str(self.second.value))
        assert isinstance(other, Solver)
        first, second = self._possible(chosen), self._possible(dataclasses.replace(chosen, solver=other))
        return Stepper(first, second, rtol=chosen.stopping.rtol)

    def _possible(self, chosen: Configuration) -> Configuration:
        """The configuration, without the deflation of Solve where the solver cannot have it: no field here offers
        one."""
        solver = chosen.solver
        if isinstance(solver, HybridSolver) and not solver.deflates and chosen.deflation.name != "none":
            self._left_out = (
                f"{sentence_case(name_of('solver', solver))}: without deflation, since no side sees a whole vector."
            )
            return dataclasses.replace(chosen, deflation=find("deflation", "none"))
        return chosen


def smaller(problem: Problem, cells: int) -> Problem:
    """The problem with at most `cells` cells per side; one without a size as it is."""
    n = problem.per_side
    return problem if n is None or n <= cells else problem.changed({"n": cells})
