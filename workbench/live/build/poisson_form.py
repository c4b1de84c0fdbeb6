"""The form of a Poisson problem: stencil, size, formulas and sides, checked while they are typed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from workbench.errors import InputError
from workbench.live.build.poisson_examples import EXAMPLES
from workbench.live.build.sides_field import SidesField
from workbench.live.kit.field_form import FieldForm
from workbench.live.kit.form_fields import Field
from workbench.live.kit.form_schema import explanation
from workbench.live.kit.number_text import count
from workbench.live.kit.undo import History
from workbench.problems import Problem
from workbench.problems.formula import FUNCTIONS, Formula
from workbench.problems.poisson import Poisson27, Poisson125
from workbench.problems.poisson_formulas import AXES, PoissonFormulas, PoissonFormulas2D, PoissonFormulas3D
from workbench.registry import Parameter

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
WORDS = "Names: {}, pi, e. Functions: {}. Also ** for powers, <, >, and, or, not, p if condition else q."


class PoissonForm(FieldForm):
    """Fields of all four problems; those of the stencil chosen are shown. changed: called after each change."""

    def __init__(self, changed: Callable[[], None], problem: Problem) -> None:
        self._changed = changed
        self._first = problem
        self._past: History[Problem] = History(problem)
        declared = {item.name: item for item in PoissonFormulas3D.parameters()}
        form = next(item for item in Poisson27.parameters() if item.name == "form")
        hints = {"placeholder": "same as a"}
        stencils = [[name, words] for name, (words, _) in STENCILS.items()]
        fields: dict[str, Field] = {
            "stencil": Field(STENCIL, label="Stencil", code="", choices=stencils),
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
            fields,
            title="Poisson problem",
            about="Poisson problem",
            example={"label": "Example", "hint": "Choose formulas …", "names": list(EXAMPLES)},
            acts={"undo": self._undo, "redo": self._redo, "reset": lambda: self._back_to(self._first)},
            typed=self._take,
        )
        self.load(problem)

    @property
    def cls(self) -> type[Problem]:
        """The class of the problem."""
        return STENCILS[str(self.settings["stencil"].value)][1]

    @property
    def problem(self) -> Problem:
        """The problem as the fields say. Raises InputError with the sentence for the first wrong value."""
        return self.cls.create({item.name: self.settings[item.name].read() for item in self.cls.parameters()})

    @property
    def complaint(self) -> str:
        """What is wrong with the first field that is, with its name; empty where nothing is."""
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
        self.settings["stencil"].put(problem.name)
        self._turn()
        for item in problem.parameters():
            self.settings[item.name].put(getattr(problem, item.name))
        self._settle()

    def take_example(self, name: str) -> None:
        """Fill in the formulas of an example; a stencil that takes none becomes that of seven points."""
        if name not in EXAMPLES:
            return
        if not issubclass(self.cls, PoissonFormulas):
            self.settings["stencil"].put(PoissonFormulas3D.name)
            self._turn()
        for key, text in EXAMPLES[name][self._dimensions - 2].items():
            self.settings[key].put(text)
        self._settle(name)
        self._changed()

    def check(self) -> str:
        """Mark the fields with a wrong value, and the formulas that cannot be read."""
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

    def say_size(self, problem: Any) -> None:
        """How many unknowns there are, below the field of n."""
        bounds = explanation(self.settings["n"].declared, problem.name)
        self.about["n"] = f"N = {count(problem.n**self._dimensions)} unknowns; {bounds}"

    @property
    def _dimensions(self) -> int:
        return 2 if self.cls is PoissonFormulas2D else 3

    def _take(self, name: str) -> None:
        if name == "stencil":
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
        if not self.check():
            # A formula that cannot be read yet is no step to go back to.
            with contextlib.suppress(InputError):
                self._past.push(self.problem, stroke or None)
        self.undoable(self._past)
        self.show()

    def _undo(self) -> None:
        self._past.undo()
        self._back_to(self._past.present)

    def _redo(self) -> None:
        self._past.redo()
        self._back_to(self._past.present)

    def _back_to(self, problem: Problem) -> None:
        self.load(problem)
        self._changed()
