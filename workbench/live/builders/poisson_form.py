"""The form of a Poisson problem, checked while it is typed: stencil, size, formulas and their examples, sides."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import InputError
from workbench.live.builders.sides_field import SidesField
from workbench.live.ui.form_fields import Field
from workbench.live.ui.form_schema import explanation
from workbench.live.ui.undoable_form import UndoableForm
from workbench.problems import Problem
from workbench.problems.formula import FUNCTIONS, Formula
from workbench.problems.poisson import Poisson27, Poisson125
from workbench.problems.poisson_formulas import AXES, PoissonFormulas, PoissonFormulas2D, PoissonFormulas3D
from workbench.registry import Parameter
from workbench.words.numbers import count

Formulas = dict[str, Any]

OSCILLATING = "oscillating coefficient"
EXAMPLES: dict[str, tuple[Formulas, Formulas]] = {
    OSCILLATING: (
        {"a": "10**(2*sin(4*pi*x)*sin(4*pi*y))", "b": "", "f": "sin(2*pi*x)"},
        {"a": "10**(2*sin(4*pi*x)*sin(4*pi*y)*sin(4*pi*z))", "b": "", "c": "", "f": "sin(2*pi*x)"},
    ),
    "constant": ({"a": "1", "b": "", "f": "1"}, {"a": "1", "b": "", "c": "", "f": "1"}),
    "layered": (
        {"a": "where(y < 0.5, 1, 1000)", "b": "", "f": "1"},
        {"a": "where(z < 0.5, 1, 1000)", "b": "", "c": "", "f": "1"},
    ),
    "anisotropic": ({"a": "1", "b": "0.01", "f": "1"}, {"a": "1", "b": "1", "c": "0.01", "f": "1"}),
    "checkerboard": (
        {"a": "1 if sin(4*pi*x)*sin(4*pi*y) > 0 else 100", "b": "", "f": "1"},
        {"a": "1 if sin(4*pi*x)*sin(4*pi*y)*sin(4*pi*z) > 0 else 100", "b": "", "c": "", "f": "1"},
    ),
    "smooth bump": (
        {"a": "1 + 50*exp(-40*((x - 0.4)**2 + (y - 0.6)**2))", "b": "", "f": "sin(pi*x)*sin(pi*y)"},
        {
            "a": "1 + 50*exp(-40*((x - 0.4)**2 + (y - 0.6)**2 + (z - 0.5)**2))",
            "b": "",
            "c": "",
            "f": "sin(pi*x)*sin(pi*y)*sin(pi*z)",
        },
    ),
}
"""For each name the formulas in the square and those in the cube."""
STENCILS: dict[str, tuple[str, type[Problem]]] = {
    PoissonFormulas2D.name: ("5 points, square (2D)", PoissonFormulas2D),
    PoissonFormulas3D.name: ("7 points, cube (3D)", PoissonFormulas3D),
    Poisson27.name: ("27 points, cube, constant", Poisson27),
    Poisson125.name: ("125 points, cube, constant", Poisson125),
}
"""Words and class of each problem, by its name."""
STENCIL = Parameter("stencil", str, PoissonFormulas2D.name, "how many neighbours couple", choices=tuple(STENCILS))
FORMULAS = ("a", "b", "c", "f")
SYNTAX = Parameter("syntax", str, "", "")
WORDS = "Names: {}, pi, e. Functions: {}. Powers: **."


class PoissonForm(UndoableForm[Problem]):
    """Fields of all four problems; those of the stencil chosen are shown. changed: called after each change."""

    def __init__(self, changed: Callable[[], None], problem: Problem) -> None:
        # No change is reported while the form is half built.
        self._changed: Callable[[], None] = lambda: None
        declared = {item.name: item for item in PoissonFormulas3D.parameters()}
        form = next(item for item in Poisson27.parameters() if item.name == "form")
        hints = {"placeholder": "same as a"}
        stencils = [[name, words] for name, (words, _) in STENCILS.items()]
        fields: dict[str, Field] = {
            "stencil": Field(STENCIL, label="Stencil", choices=stencils),
            "n": Field(declared["n"], PoissonFormulas3D.name),
            **{
                name: Field(declared[name], kind="formula", about="", **(hints if name in "bc" else {}))
                for name in FORMULAS
            },
            "syntax": Field(SYNTAX, kind="words"),
            "sides": SidesField(declared["sides"], "u = 0 (Dirichlet)", "no flux through the others (Neumann)", 3),
            "form": Field(form, Poisson27.name),
        }
        super().__init__(
            problem,
            fields,
            title="Poisson problem",
            about="Poisson problem",
            example={"label": "Example", "hint": "Choose formulas …", "names": list(EXAMPLES)},
            typed=self._take,
        )
        self.load(problem)
        self._changed = changed

    @property
    def cls(self) -> type[Problem]:
        """The class of the problem."""
        return STENCILS[str(self.settings["stencil"].value)][1]

    @property
    def problem(self) -> Problem:
        """The problem of the fields. Raises InputError with the sentence for the first wrong value."""
        return self.described()

    def described(self) -> Problem:
        """`problem`, for undo."""
        return self.cls.create({item.name: self.settings[item.name].read() for item in self.cls.parameters()})

    @property
    def complaint(self) -> str:
        """The error of the first wrong field, with its label; empty where all are right."""
        for name, words in self.box.state["wrong"].items():
            label = self.settings[name].label
            return words if words.startswith(label) else f"{label}: {words}"
        return ""

    def load(self, problem: Problem) -> None:
        """Show a problem. Raises InputError for one that is none of these."""
        if STENCILS.get(problem.name, ("", None))[1] is not type(problem):
            raise InputError(
                f"the Poisson builder shows {', '.join(STENCILS)}, got {problem.name}; use another builder"
            )
        with self.lock:
            self.settings["stencil"].put(problem.name)
            self._turn()
            for name, value in problem.parameter_values.items():
                self.settings[name].put(value)
            self._settle()
        self._changed()

    def take_example(self, name: str) -> None:
        """Fill in the formulas of an example; a stencil that takes none becomes that of seven points."""
        if name not in EXAMPLES:
            return
        with self.lock:
            if not issubclass(self.cls, PoissonFormulas):
                self.settings["stencil"].put(PoissonFormulas3D.name)
                self._turn()
            for key, text in EXAMPLES[name][self._dimensions - 2].items():
                self.settings[key].put(text)
            self._settle(name)
        self._changed()

    def check(self) -> str:
        """Mark the fields with a wrong value, and the formulas that cannot be read."""
        with self.lock:
            first = super().check()
            for name in FORMULAS:
                field = self.settings[name]
                if name not in self.hidden and not (name in "bc" and not str(field.value).strip()):
                    try:
                        Formula.parse(str(field.value), tuple(AXES[: self._dimensions]))
                    except InputError as error:
                        field.wrong = str(error)
                        self.about[name] = ""
        return first

    def explain(self, problem: Problem, about: Mapping[str, str], complaints: Mapping[str, str]) -> bool:
        """Show facts and errors about a problem at its fields; False if the fields describe another problem by now."""
        with self.lock:
            if not self.describes(problem):
                return False
            assert problem.per_side is not None
            bounds = explanation(self.settings["n"].declared, problem.name)
            self.about |= {"n": f"N = {count(problem.per_side**self._dimensions)} unknowns; {bounds}", **about}
            self.complaints = dict(complaints)
            self.show()
        return True

    @property
    def _dimensions(self) -> int:
        return 2 if self.cls is PoissonFormulas2D else 3

    def _take(self, name: str) -> None:
        with self.lock:
            # The notes are on the value before.
            self.complaints.pop(name, None)
            self.about.pop(name, None)
            if name == "stencil":
                self.complaints.clear()
                self._turn()
            self._settle(name)
        self._changed()

    def _turn(self) -> None:
        """Show the fields of the stencil."""
        cls = self.cls
        self.declare(cls)
        has = {item.name for item in cls.parameters()} | {"stencil"}
        if issubclass(cls, PoissonFormulas):
            has.add("syntax")
            sides = self.settings["sides"]
            assert isinstance(sides, SidesField)
            sides.turn(self._dimensions)
            axes = ", ".join(AXES[: self._dimensions])
            self.settings["syntax"].put(WORDS.format(axes, ", ".join(FUNCTIONS)))
        self.hidden = self.settings.keys() - has

    def _settle(self, stroke: str = "") -> None:
        """Bring marks and undo in line with the fields. stroke: changes of one field in a row are undone together."""
        self.check()
        # A formula that cannot be read yet is no step to go back to.
        with contextlib.suppress(InputError):
            self.remember(stroke or None)
        self.show()
