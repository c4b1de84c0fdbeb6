"""The Poisson builder: formulas typed, checked while they are typed, and seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
import traitlets

from workbench.errors import InputError
from workbench.live.build.formula_line import NARROW, FormulaLine, hint
from workbench.live.build.poisson_examples import EXAMPLES
from workbench.live.build.side_boxes import SideBoxes
from workbench.live.field.field_view import FieldView
from workbench.live.field.pictures import Scene
from workbench.live.kit.block_fields import WIDE
from workbench.live.kit.status import StatusLine
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.problems import Problem
from workbench.problems.formula import FUNCTIONS
from workbench.problems.poisson import FORMS, Poisson27, Poisson125
from workbench.problems.poisson_formulas import PoissonFormulas, PoissonFormulas2D, PoissonFormulas3D

STENCILS: dict[str, type[Problem]] = {
    "5 points, square (2D)": PoissonFormulas2D,
    "7 points, cube (3D)": PoissonFormulas3D,
    "27 points, cube, constant": Poisson27,
    "125 points, cube, constant": Poisson125,
}
FORMULAS = {
    "a": "coefficient of d/dx",
    "b": "coefficient of d/dy; empty: as a",
    "c": "coefficient of d/dz; empty: as a",
    "f": "right-hand side",
}
HELP = (
    f"Names: {{}}, pi, e. Functions: {', '.join(FUNCTIONS)}. "
    "Also ** for powers, &lt;, &gt;, and, or, not, <i>p</i> if <i>condition</i> else <i>q</i>."
)
DEBOUNCE = 0.15
"""Seconds of no typing before a formula is looked at."""
MOST_CELLS = 1 << 19
"""That are drawn and checked while one types; the rest of a larger grid is checked when it is assembled."""
HEIGHT = 250
AXES = "xyz"


class PoissonBuilder:
    """A Poisson problem from a stencil, a size, sides and formulas. Display it; `problem` is what its fields say.

    problem: what it shows at first, see `load`. publisher: of a dashboard whose thread it shares.
    """

    def __init__(self, problem: Problem | None = None, publisher: Publisher | None = None) -> None:
        self._callbacks: list[Callable[[Problem], None]] = []
        self._quiet = True
        self._reported: Problem | None = None
        self._worker = LatestOnly("workbench-poisson")
        self.example = widgets.Dropdown(options=["–", *EXAMPLES], **_named("example", "fills in the formulas"))
        self.stencil = widgets.Dropdown(options=list(STENCILS), **_named("stencil", "how many neighbours couple"))
        self.n = widgets.IntText(value=128, **_named("n", "cells per side"))
        self.size = hint()
        self.lines = {
            name: FormulaLine(name, about, "as a" if name in "bc" else "", self._changed)
            for name, about in FORMULAS.items()
        }
        self.form = widgets.Dropdown(options=FORMS, **_named("form", "stored as a sparse matrix, or not stored"))
        self.sides = SideBoxes(self._changed)
        self.help = hint()
        self.status = StatusLine()
        self._alone, self._publisher = publisher is None, publisher or Publisher()
        self.views = {name: FieldView(self._publisher, height=HEIGHT, choices=False) for name in FORMULAS}
        for view in list(self.views.values())[1:]:
            for trait in ("normal", "index"):
                traitlets.link((self.views["a"], trait), (view, trait))
        for control in (self.n, self.form):
            control.observe(self._changed, "value")
        self.stencil.observe(self._turn, "value")
        self.example.observe(self._fill, "value")
        self.box = self._layout()
        self._quiet = False
        self.load(problem or PoissonFormulas2D())

    @property
    def problem(self) -> Problem:
        """The problem as the fields say. Raises InputError with the sentence for the first wrong value."""
        cls = STENCILS[str(self.stencil.value)]
        values: dict[str, Any] = {"n": self.n.value}
        if issubclass(cls, PoissonFormulas):
            values |= {name: self.lines[name].text for name in _names(cls)}
            values["sides"] = self.sides.text(cls.dimensions)
        else:
            values["form"] = self.form.value
        return cls.create(values)

    def on_change(self, callback: Callable[[Problem], None]) -> None:
        """Call with every new problem that can be assembled as far as it is drawn, in a thread of the builder's own."""
        self._callbacks.append(callback)

    def load(self, problem: Problem) -> None:
        """Show a problem: poisson-2d, poisson-3d, poisson27 or poisson125. Raises InputError for any other."""
        names = {cls: text for text, cls in STENCILS.items()}
        if type(problem) not in names:
            known = ", ".join(cls.name for cls in names)
            raise InputError(f"the Poisson builder shows {known}, got {problem.name}; use another builder")
        self._quiet = True
        self.stencil.value = names[type(problem)]
        values = {declared.name: getattr(problem, declared.name) for declared in problem.parameters()}
        self.n.value = values["n"]
        for name in self.lines.keys() & values.keys():
            self.lines[name].field.value = values[name]
        if isinstance(problem, PoissonFormulas):
            self.sides.load(problem.sides, problem.dimensions)
        else:
            self.form.value = values["form"]
        self._quiet = False
        self._turn()

    def wait(self, timeout: float = 10.0) -> bool:
        """Wait until hints and pictures are those of the fields; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Take it off the page."""
        self._worker.close()
        if self._alone:
            self._publisher.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _layout(self) -> widgets.Box:
        rows = [part for line in self.lines.values() for part in line.parts]
        fields = [self.example, self.stencil, self.n, self.size, *rows, self.sides.box, self.form, self.help]
        form = widgets.VBox(fields).add_class("wb-form")
        canvases = widgets.HBox(list(self.views.values())).add_class("wb-pictures")
        views = widgets.VBox([self.status, canvases]).add_class("wb-views")
        body = widgets.HBox([form, views]).add_class("wb-body")
        return widgets.VBox([body]).add_class("wb-explorer").add_class("wb-build")

    def _fill(self, change: Any) -> None:
        """An example has been chosen."""
        cls = STENCILS[str(self.stencil.value)]
        if self._quiet or change["new"] not in EXAMPLES:
            return
        self._quiet = True
        if not issubclass(cls, PoissonFormulas):
            self.stencil.value, cls = next((text, cls) for text, cls in STENCILS.items() if cls is PoissonFormulas3D)
        for name, text in EXAMPLES[change["new"]][cls.dimensions - 2].items():
            self.lines[name].field.value = text
        self._quiet = False
        self._turn()

    def _example_shown(self) -> str:
        """The example that the formulas are, or none."""
        shown = {name: line.text for name, line in self.lines.items()}
        for name, kinds in EXAMPLES.items():
            if any(all(shown[key] == text for key, text in formulas.items()) for formulas in kinds):
                return name
        return "–"

    def _turn(self, _change: Any = None) -> None:
        """Show the fields that the stencil has."""
        if self._quiet:
            return
        cls = STENCILS[str(self.stencil.value)]
        formulas = issubclass(cls, PoissonFormulas)
        names = _names(cls) if issubclass(cls, PoissonFormulas) else ()
        for name in FORMULAS:
            _show(name in names, *self.lines[name].parts)
        _show(formulas, self.sides.box, self.help, self.example)
        _show(not formulas, self.form)
        if issubclass(cls, PoissonFormulas):
            self.sides.show(cls.dimensions)
            self.help.value = HELP.format(", ".join(AXES[: cls.dimensions]))
        self._changed()

    def _changed(self, _change: Any = None) -> None:
        if self._quiet:
            return
        # Formulas that are no example's any more are not called so.
        self._quiet = True
        self.example.value = self._example_shown()
        self._quiet = False
        self._worker.ask(self._look)

    def _look(self) -> None:
        """Check what stands in the fields, tell it below them, draw it, and hand it on."""
        time.sleep(DEBOUNCE)
        cls = STENCILS[str(self.stencil.value)]
        wrong: list[str] = []
        if issubclass(cls, PoissonFormulas):
            wrong = [name for name in _names(cls) if not self.lines[name].parses(tuple(AXES[: cls.dimensions]))]
        try:
            problem = self.problem
        except InputError as error:
            self.size.value = ""
            self.status.say(str(error), "bad")
            return
        sides = 2 if isinstance(problem, PoissonFormulas2D) else 3
        n = problem.to_dict()["parameters"]["n"]
        self.size.value = f"N = {n**sides:,} unknowns"
        if not wrong and self._draw(problem):
            self._tell(problem)

    def _draw(self, problem: Problem) -> bool:
        """Pictures and ranges; whether all values are good."""
        if not isinstance(problem, PoissonFormulas):
            for name, view in self.views.items():
                _show(name == "a", view)
            self.views["a"].show(Scene("a = 1", np.ones((8, 8)), notes=("constant coefficient",), bar="coefficient"))
            return True
        drawn = min(problem.n, int(MOST_CELLS ** (1 / problem.dimensions)))
        small = problem.changed({"n": drawn})
        note = () if drawn == problem.n else (f"drawn with n = {drawn}",)
        shown = {**small.distinct, "f": ("f",)}
        good = True
        for name, view in self.views.items():
            _show(name in shown, view)
            if name not in shown:
                continue
            try:
                values = small.values(name)
            except InputError as error:
                self.lines[name].complain(str(error).removeprefix(f"{problem.name}: "))
                view.say(name, "")
                good = False
                continue
            self.lines[name].span(values)
            bar = "right-hand side f" if name == "f" else f"coefficient {name}"
            view.show(Scene(" = ".join(shown[name]), values, notes=note, bar=bar, even=name == "f"))
        if not good:
            self.status.say("A formula has values that the problem cannot have; see below its field.", "bad")
        return good

    def _tell(self, problem: Problem) -> None:
        self.status.say(f"{problem.label}: {problem.title}", "good")
        if problem == self._reported:
            return
        self._reported = problem
        for callback in self._callbacks:
            callback(problem)


def _names(cls: type[PoissonFormulas]) -> tuple[str, ...]:
    """The formulas that a problem has."""
    return tuple(name for name in FORMULAS if name in {declared.name for declared in cls.parameters()})


def _named(name: str, tip: str) -> dict[str, Any]:
    return {"description": name, "tooltip": tip, "style": dict(NARROW), "layout": dict(WIDE)}


def _show(shown: bool, *parts: Any) -> None:
    for part in parts:
        part.layout.display = None if shown else "none"
