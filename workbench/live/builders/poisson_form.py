"""The form of a Poisson problem, checked while it is typed: stencil, size, formulas and their examples, sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import InputError
from workbench.live.builders.sides_field import SidesField
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.live.ui.field_form import explained
from workbench.live.ui.form_fields import Field
from workbench.live.ui.form_schema import explanation
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


class FormulaField(Field):
    """A formula of x, y and in three dimensions z, read while it is typed; one whose default is empty may be."""

    dimensions = 2

    def read(self) -> str:
        text = str(self.value)
        if text.strip() or self.declared.default:
            try:
                Formula.parse(text, tuple(AXES[: self.dimensions]))
            except InputError as error:
                raise InputError(f"in {self.declared.name}, {error}") from None
        return text

    def sentence(self, error: InputError) -> str:
        return str(error).removeprefix(f"in {self.declared.name}, ")


def _control(name: str, cls: type[Problem] = PoissonFormulas3D, of: type[Field] = Field, **looks: object) -> Control:
    rule = next(declared for declared in cls.parameters() if declared.name == name)
    return Control(name, rule=rule, owner=cls.name, of=of, looks=looks)


def _formula(name: str, **looks: object) -> Control:
    return _control(name, PoissonFormulas3D, FormulaField, kind="formula", about="", **looks)


CONTROLS = (
    Control(
        "stencil", "Stencil", rule=STENCIL, looks={"choices": [[name, words] for name, (words, _) in STENCILS.items()]}
    ),
    _control("n"),
    _formula("a"),
    _formula("b", placeholder="same as a"),
    _formula("c", placeholder="same as a"),
    _formula("f"),
    Control("syntax", rule=SYNTAX, looks={"kind": "words"}),
    _control("sides", of=SidesField, label="u = 0 (Dirichlet)", about="no flux through the others (Neumann)"),
    _control("form", Poisson27),
)
"""Those of all four problems; the fields that the stencil chosen lacks are hidden."""


class PoissonForm(DeclaredForm[Problem]):
    """The state is the problem, of the class that the stencil says."""

    def __init__(self, problem: Problem, changed: Callable[[Problem], object], wrong: Callable[[str], object]) -> None:
        _check(problem)
        self._typed_in = ""
        """The field that was changed last."""
        example = {"label": "Example", "hint": "Choose formulas …", "names": list(EXAMPLES)}
        super().__init__(problem, CONTROLS, title="Poisson problem", changed=changed, wrong=wrong, example=example)

    @property
    def cls(self) -> type[Problem]:
        """The class of the problem."""
        return STENCILS[str(self.settings["stencil"].value)][1]

    def values_of(self, state: Problem) -> Mapping[str, Any]:
        return {"stencil": state.name, **state.parameter_values}

    def state_of(self, read: Mapping[str, Any]) -> Problem:
        return self.cls.create({item.name: read[item.name] for item in self.cls.parameters()})

    def load(self, value: Problem) -> None:
        """Show a problem. Raises InputError for one that is none of these."""
        _check(value)
        super().load(value)

    def turn(self, name: str = "") -> None:
        self._typed_in = name
        if name == "stencil":
            self._arrange()
        elif name in self.settings:
            # They were on the value before, and on several together.
            self.complaints = {at: words for at, words in self.complaints.items() if at in FORMULAS and at != name}
            self.about[name] = explained(self.settings[name])

    def judge(self) -> str:
        """Mark values that are wrong together, of which none is by itself, at the field that was changed."""
        wrong, at = super().judge(), self.settings.get(self._typed_in)
        if wrong and at is not None and not any(field.wrong for field in self.settings.values()):
            self.complaints[self._typed_in] = at.sentence(InputError(wrong))
        return wrong

    def remember(self, stroke: object = None) -> None:
        """Changes of one field in a row are undone together."""
        super().remember(stroke or self._typed_in or None)

    def take_example(self, name: str) -> None:
        """Fill in the formulas of an example; a stencil that takes none becomes that of seven points."""
        if name in EXAMPLES:
            self._follow(lambda: self._fill(*EXAMPLES[name]), name)

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

    def _put(self, value: Problem) -> None:
        self.settings["stencil"].put(value.name)
        self._arrange()
        super()._put(value)

    def _fill(self, square: Formulas, cube: Formulas) -> None:
        if not issubclass(self.cls, PoissonFormulas):
            self.settings["stencil"].put(PoissonFormulas3D.name)
        self._arrange()
        for name, text in (square if self._dimensions == 2 else cube).items():
            self.settings[name].put(text)

    def _arrange(self) -> None:
        """Show the fields of the stencil."""
        cls = self.cls
        self.complaints = {}
        self.declare(cls)
        has = {item.name for item in cls.parameters()} | {"stencil"}
        if issubclass(cls, PoissonFormulas):
            has.add("syntax")
            for field in self.settings.values():
                if isinstance(field, FormulaField):
                    field.dimensions = cls.dimensions
                elif isinstance(field, SidesField):
                    field.turn(cls.dimensions)
            self.settings["syntax"].put(WORDS.format(", ".join(AXES[: cls.dimensions]), ", ".join(FUNCTIONS)))
        self.hidden = self.settings.keys() - has


def _check(problem: Problem) -> None:
    if STENCILS.get(problem.name, ("", None))[1] is not type(problem):
        raise InputError(f"the Poisson builder shows {', '.join(STENCILS)}, got {problem.name}; use another builder")
