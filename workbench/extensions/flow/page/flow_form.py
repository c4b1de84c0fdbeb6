"""The form of a flow: the problem of the sequence, and two methods."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from workbench.errors import InputError
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.live.solve.form import Form, method_form
from workbench.live.ui.controls import column, folds
from workbench.live.ui.declared_form import Control
from workbench.run import Configuration
from workbench.sequences.method import problem_of
from workbench.sequences.systems import SystemSequence

OFFERED = ("rising-bubbles", "heat-steps", "recorded")
IN_SIGHT = ("dimensions", "count", "eotvos", "archimedes", "density_ratio", "until")
METHODS = ("Method 1", "Method 2")
SUGGESTED: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:8"}
FORTY: dict[str, Any] = {
    "n": 128,
    "count": 40,
    "radius": 0.045,
    "geometry_seed": 3,
    "density_ratio": 1e-3,
    "viscosity_ratio": 0.01,
    "until": 2.0,
}
"""Many light bubbles, each of which gives a small eigenvalue: the second level pays (docs/flow.md has the numbers)."""
EXAMPLES: dict[str, dict[str, Any]] = {
    "Forty light bubbles": FORTY,
    "One bubble, Hysing's test case 1": {},
    "One bubble, Hysing's test case 2": {"eotvos": 125.0, "density_ratio": 1e-3, "viscosity_ratio": 0.01},
    "Seven light bubbles in 3D": {
        "n": 48,
        "dimensions": 3,
        "height": 1.0,
        "count": 7,
        "radius": 0.13,
        "geometry_seed": 1,
        "density_ratio": 1e-3,
        "until": 1.0,
    },
}
"""Flows that the form offers, as parameters of rising bubbles that differ from the defaults."""
SIZES = ("n", "height", "count", "radius", "geometry_seed")
"""Parameters that are others in space: 128 cells per side of the plane would be millions there."""


class SequenceForm(Form):
    """The problem of a flow. changed: called after every change. Sizes are kept for the plane and for space, each."""

    def __init__(self, configuration: Configuration, changed: Callable[[], object]) -> None:
        self._dimensions = 2
        self._sizes = {
            2: sizes_of(RisingBubbles.create(FORTY)),
            3: sizes_of(RisingBubbles.create(EXAMPLES["Seven light bubbles in 3D"])),
        }
        super().__init__(
            configuration,
            (Control("problem", names=OFFERED),),
            changed=changed,
            alone=False,
            title="Flow",
            about="Problem of the flow",
            examples={name: functools.partial(self._example, name) for name in EXAMPLES},
            hint="Choose a flow …",
            in_sight=IN_SIGHT,
            links=False,
        )

    def problem(self) -> SystemSequence:
        """The problem of the fields. Raises InputError with the sentence for a wrong value."""
        return problem_of(self.configuration())

    def turn(self, name: str = "") -> None:
        """Show the sizes that were last chosen with this number of dimensions, where that was changed."""
        super().turn(name)
        fields = self.blocks["problem"].fields
        now = fields["dimensions"].value if set(SIZES) <= fields.keys() else 2
        if now not in self._sizes or now == self._dimensions:
            return
        if name == "problem.dimensions":
            self._sizes[self._dimensions] = {size: fields[size].value for size in SIZES}
            for size, value in self._sizes[now].items():
                fields[size].put(value)
        self._dimensions = now

    def _example(self, name: str) -> Configuration:
        return dataclasses.replace(self.present, problem=RisingBubbles.create(EXAMPLES[name]))


def sizes_of(problem: RisingBubbles) -> dict[str, object]:
    """The parameters of a problem that are others in space."""
    return {name: problem.parameter_values[name] for name in SIZES}


class FlowForm:
    """Problem and methods. Display `box`. configurations: of the methods at first, of one problem.

    problem_changed: called when the problem is another. method_changed: with the place of a method that is another, or
    that no longer goes together with the problem.
    """

    def __init__(
        self,
        configurations: tuple[Configuration, Configuration],
        problem_changed: Callable[[], object],
        method_changed: Callable[[int], object],
    ) -> None:
        self._first, self._quiet = configurations[0], False
        self._problem_changed = problem_changed
        self.of_problem = SequenceForm(configurations[0], self._follow)
        self.of_methods = [
            method_form(configuration, self._base, functools.partial(method_changed, place))
            for place, configuration in enumerate(configurations)
        ]
        methods = folds(*zip(METHODS, (form.box for form in self.of_methods), strict=True), shown=0)
        self.box = column("wb-flowform", self.of_problem.box, methods)

    def configuration(self, place: int) -> Configuration:
        """A method on the problem. Raises InputError for a wrong value, and choices that do not go together."""
        form = self.of_methods[place]
        made = form.configuration()
        if form.conflicts:
            raise InputError(f"{METHODS[place]}: {form.conflict}")
        return made

    def load(self, *configurations: Configuration) -> None:
        """Show methods, and the problem of the first."""
        self.show(problem_of(configurations[0]))
        for form, configuration in zip(self.of_methods, configurations, strict=False):
            form.load(configuration)

    def show(self, problem: SystemSequence) -> None:
        """Show another problem of the caller's, to whom it is not reported."""
        self._quiet = True
        self.of_problem.load(dataclasses.replace(self.of_problem.present, problem=problem))
        self._quiet = False
        self._renew()

    def _follow(self) -> None:
        if not self._quiet:
            self._renew()
            self._problem_changed()

    def _renew(self) -> None:
        """Let the methods be on the problem."""
        for form in self.of_methods:
            form.renew()

    def _base(self) -> Configuration:
        try:
            return self.of_problem.configuration()
        except InputError:
            return self._first
