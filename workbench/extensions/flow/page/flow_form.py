"""The form of a flow: the problem of the sequence, and two methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.live.compare.race_form import EntryForm
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.form_fields import BlockChoice
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


class SequenceForm(FieldForm):
    """The problem. changed: called after every change. Sizes are kept for the plane and for space, each."""

    def __init__(self, problem: SystemSequence, changed: Callable[[], object]) -> None:
        blocks = [BlockChoice("problem", lambda: None, problem.name, names=OFFERED)]
        super().__init__(
            {},
            blocks,
            title="Flow",
            about="Problem of the flow",
            in_sight=IN_SIGHT,
            example={"label": "Example", "hint": "Choose a flow …", "names": list(EXAMPLES)},
            typed=self._settle,
        )
        self._changed = changed
        self._dimensions = 2
        self._sizes = {
            2: sizes_of(RisingBubbles.create(FORTY)),
            3: sizes_of(RisingBubbles.create(EXAMPLES["Seven light bubbles in 3D"])),
        }
        self.load(problem)

    def take_example(self, name: str) -> None:
        """Show the problem of an example."""
        self.load(RisingBubbles.create(EXAMPLES[name]))
        self._changed()

    def load(self, problem: SystemSequence) -> None:
        """Show a problem."""
        self.blocks["problem"].load(problem)
        self._dimensions = problem.dimensions if isinstance(problem, RisingBubbles) else 2
        self.check()
        self.show()

    def problem(self) -> SystemSequence:
        """The problem of the fields. Raises InputError with the sentence for a wrong value."""
        made = self.blocks["problem"].block()
        assert isinstance(made, SystemSequence)
        return made

    def _settle(self, name: str) -> None:
        if name == "problem.dimensions":
            self._turn()
        self.check()
        self.show()
        self._changed()

    def _turn(self) -> None:
        """Show the sizes that were last chosen with this number of dimensions."""
        fields, before = self.blocks["problem"].fields, self._dimensions
        now = fields["dimensions"].value
        if now not in self._sizes or now == before:
            return
        self._sizes[before] = {name: fields[name].value for name in SIZES}
        self._dimensions = now
        for name, value in self._sizes[now].items():
            fields[name].put(value)


def sizes_of(problem: RisingBubbles) -> dict[str, object]:
    """The parameters of a problem that are others in space."""
    return {name: problem.parameter_values[name] for name in SIZES}


class FlowForm:
    """Problem and methods. Display `box`. configurations: of the methods at first, of one problem.

    problem_changed: called when the problem is another. method_changed: with the place of a method that is another.
    """

    def __init__(
        self,
        configurations: tuple[Configuration, Configuration],
        problem_changed: Callable[[], object],
        method_changed: Callable[[int], object],
    ) -> None:
        self._first = configurations[0]
        self.of_problem = SequenceForm(problem_of(configurations[0]), problem_changed)
        self._changed: Callable[[int], object] = lambda _place: None
        self.of_methods = [
            EntryForm(self._base, lambda place=place: self._changed(place)) for place in range(len(METHODS))
        ]
        for form, configuration in zip(self.of_methods, configurations, strict=True):
            form.load(configuration)
        self._changed = method_changed
        folded = widgets.Accordion([form.box for form in self.of_methods], titles=METHODS, selected_index=0)
        self.box = widgets.VBox([self.of_problem.box, folded]).add_class("wb-flowform")

    def configuration(self, place: int) -> Configuration:
        """A method on the problem. Raises InputError for a wrong value, and choices that do not go together."""
        form = self.of_methods[place]
        made = form.configuration()
        if form.conflicts:
            raise InputError(f"{METHODS[place]}: {form.conflict}")
        return made

    def load(self, *configurations: Configuration) -> None:
        """Show methods, and the problem of the first."""
        self.of_problem.load(problem_of(configurations[0]))
        for form, configuration in zip(self.of_methods, configurations, strict=False):
            form.load(configuration)

    def _base(self) -> Configuration:
        try:
            problem = self.of_problem.problem()
        except (InputError, AttributeError):
            return self._first
        return dataclasses.replace(self._first, problem=problem)
