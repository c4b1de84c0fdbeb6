"""The Poisson builder: formulas typed, checked while they are typed, and drawn."""

from __future__ import annotations

import time
from collections.abc import Callable

import ipywidgets as widgets
import numpy as np
import traitlets

from workbench.errors import InputError
from workbench.live.builders.poisson_form import EXAMPLES, FORMULAS, OSCILLATING, PoissonForm
from workbench.live.field.field_view import FieldView
from workbench.live.field.pictures import Scene
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.listeners import Listeners
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.problems import Problem
from workbench.problems.poisson_formulas import PoissonFormulas, PoissonFormulas2D
from workbench.words.numbers import rounded, span

DEBOUNCE = 0.15
"""Seconds without typing before a formula is checked."""
MOST_CELLS = 1 << 19
"""Cells that are drawn and checked during typing; the rest of a larger grid is checked when it is assembled."""


class PoissonBuilder(View):
    """A Poisson problem from a stencil, a size, sides and formulas. Display it; `problem` is the problem of its fields.

    problem: at first, see `load`; by default an example whose coefficient spans four decades. publisher: of a dashboard
    whose thread it shares.

    Examples:
        >>> from workbench.live import PoissonBuilder
        >>> builder = PoissonBuilder()
        >>> builder.problem.name
        'poisson-2d'
        >>> builder.close()
    """

    def __init__(self, problem: Problem | None = None, publisher: Publisher | None = None) -> None:
        self._listeners = Listeners("the Poisson builder")
        self._reported: Problem | None = None
        self._refused = False
        self._worker = LatestOnly("workbench-poisson")
        first = problem or PoissonFormulas2D(**EXAMPLES[OSCILLATING][0])
        self.form = PoissonForm(first, lambda _: self._changed(), lambda _: self._changed())
        self.status = StatusLine()
        self._alone, self._publisher = publisher is None, publisher or Publisher()
        self.views = {name: FieldView(self._publisher, height=0, choices=False) for name in FORMULAS}
        for view in list(self.views.values())[1:]:
            for trait in ("normal", "index"):
                traitlets.link((self.views["a"], trait), (view, trait))
        self.box = self._layout()
        self._changed()

    @property
    def problem(self) -> Problem:
        """The problem of the fields. Raises InputError with the sentence for the first wrong value."""
        problem = self.form.state
        if self.wrong:
            raise InputError(self.wrong)
        return problem

    @property
    def wrong(self) -> str:
        """The error of the first wrong field; empty where all are right."""
        return self.form.marked

    @property
    def obstacle(self) -> str:
        """Why the problem cannot be solved; empty where it can."""
        return self.wrong

    def on_change(self, callback: Callable[[Problem | None], None]) -> None:
        """Call with every new problem that can be assembled as far as it is drawn, and with None for wrong fields; in a
        thread of the builder's own."""
        self._listeners.add(callback)

    def undo(self) -> None:
        """Take the last change back."""
        self.form.undo()

    def load(self, problem: Problem) -> None:
        """Show a problem: poisson-2d, poisson-3d, poisson27 or poisson125. Raises InputError for any other."""
        self.form.load(problem)

    def wait(self, timeout: float = 10.0) -> bool:
        """Wait until hints and pictures are those of the fields; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Take it off the page."""
        self._worker.close()
        if self._alone:
            self._publisher.close()
        super().close()

    def _layout(self) -> widgets.Box:
        canvases = widgets.HBox(list(self.views.values())).add_class("wb-pictures")
        views = widgets.VBox([self.status, canvases]).add_class("wb-views")
        body = widgets.HBox([self.form.box.add_class("wb-formside"), views]).add_class("wb-body")
        return widgets.VBox([body]).add_class("wb-explorer").add_class("wb-build")

    def _changed(self) -> None:
        self._worker.ask(self._look)

    def _look(self) -> None:
        """Draw the problem of the fields, mark its errors, and hand it on."""
        time.sleep(DEBOUNCE)
        try:
            problem = self.form.state
        except InputError:
            self._refuse()
            return
        about, complaints = self._draw(problem)
        if not self.form.explain(problem, about, complaints):
            # Something else was typed meanwhile, and is looked at next.
            return
        if not complaints:
            self._report(problem)
        else:
            self._refuse()

    def _draw(self, problem: Problem) -> tuple[dict[str, str], dict[str, str]]:
        """Draw the pictures. Returns the ranges of values and what is wrong with values, by the name of the field."""
        if not isinstance(problem, PoissonFormulas):
            for name, view in self.views.items():
                _show(name == "a", view)
            self.views["a"].show(Scene("Coefficient a = 1", np.ones((8, 8)), bar="a"))
            return {}, {}
        drawn = min(problem.n, int(MOST_CELLS ** (1 / problem.dimensions)))
        small = problem.changed({"n": drawn})
        note = () if drawn == problem.n else (f"drawn with n = {drawn}",)
        shown = {**small.distinct, "f": ("f",)}
        about = {other: f"same as {names[0]}" for names in shown.values() for other in names[1:]}
        complaints: dict[str, str] = {}
        for name, view in self.views.items():
            _show(name in shown, view)
            if name not in shown:
                continue
            try:
                values = small.values(name)
            except InputError as error:
                complaints[name] = str(error).removeprefix(f"{problem.name}: ")
                view.say(name, "")
                continue
            about[name] = span(values.min(), values.max(), rounded)
            bar = name
            view.show(Scene(_title(shown[name]), values, notes=note, bar=bar, even=name == "f"))
        return about, complaints

    def _refuse(self) -> None:
        """Report that there is no problem; the error stands at its field."""
        if not self._refused:
            self._reported, self._refused = None, True
            self._listeners.notify(None)

    def _report(self, problem: Problem) -> None:
        if problem == self._reported:
            return
        self._reported, self._refused = problem, False
        self._listeners.notify(problem)


def _title(names: tuple[str, ...]) -> str:
    """The title of the picture of coefficients that are the same function, or of f."""
    return "Right-hand side f" if names == ("f",) else f"Coefficient{'s' * (len(names) > 1)} {' and '.join(names)}"


def _show(shown: bool, *parts: widgets.DOMWidget) -> None:
    for part in parts:
        part.layout.display = None if shown else "none"
