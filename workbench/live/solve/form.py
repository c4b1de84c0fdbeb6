"""The form, made from the registry: a choice per kind of block, fields for its parameters, and worked examples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.live.ui.form_fields import Field, as_text, device_parameter
from workbench.problems import Problem
from workbench.registry import Parameter, known
from workbench.registry.facts import choice_label, facts, parameter_label
from workbench.run import Configuration, configure
from workbench.run.choices.compatibility import unmet
from workbench.run.choices.conflicts import Conflict, OperatorOf, changed, changes_of, conflicts, obstacles
from workbench.settings import BLOCKS, FAMILIES, METHOD, PHASES, RUN, SECOND_LEVEL, STOPPING, family_of, settings_of

TWO_LEVEL: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:8"}

EXAMPLES: dict[str, Callable[[], Configuration]] = {
    "Two layers, as in the paper": lambda: configure("two-layer", preconditioner="neumann:2", deflation="stripes"),
    "50 random bubbles": lambda: configure("bubbles-2d", layout="random", count=50, geometry_seed=3, **TWO_LEVEL),
    "8 bubbles in a cube": lambda: configure("bubbles-3d", n=64, **TWO_LEVEL),
    "Poisson equation, one level": lambda: configure("poisson5", preconditioner="ic"),
    "Nine boxes, a direction from each": lambda: configure(
        "poisson-fd", n=128, solver="mpcg", preconditioner="schwarz:3x3,overlap=4"
    ),
    "Eight right-hand sides of rank 4": lambda: configure("poisson5", n=45, rhs="rank4:8", solver="block-cg"),
    "A stiffness matrix (generated, the size of bcsstk15)": lambda: configure("stand-in", preconditioner="ic"),
}
TRACE = Parameter("trace", bool, False, "record every kernel of the next run; costs about a microsecond each")
COLUMNS = Parameter("columns", int, 8, "how many right-hand sides", low=1, high=999_999)
CONTROLS = (
    Control("problem", "Problem"),
    Control("solver", "Solver"),
    Control("preconditioner", "Level 1"),
    Control("deflation", "Level 2"),
    Control("device"),
    Control("rtol"),
    Control("rhs", folded=True),
    Control("columns", rule=COLUMNS, folded=True),
    Control("x0", folded=True),
    Control("seed", folded=True),
    Control("coarse", "Coarse solver", folded=True),
    Control("variant", "Projection", folded=True),
    Control("norm", folded=True),
    Control("maxiter", folded=True),
    Control("precision", folded=True),
    Control("format", folded=True),
    Control("az", folded=True),
    Control("reduction", folded=True),
    Control("cluster", folded=True),
    Control("ranks", folded=True),
    Control("memory_limit", folded=True),
    Control("trace", rule=TRACE, folded=True),
)
"""Those of a whole run. The tick "trace" is no part of a configuration."""
OF_METHOD = (*METHOD, "precision")
"""The choices in which methods on one system differ."""
ENTRY = tuple(control for control in CONTROLS if control.field in OF_METHOD)
"""The controls of a method on a given system."""
DECLARED = {**RUN, **STOPPING}
LABELS = {control.field: control.label for control in CONTROLS if control.label}
MOST_CHANGES = 2
"""Changes of one step that are named; others are counted."""
LONGEST_VALUE = 24
"""Characters of a value that is named."""


class RightHandSideField(Field):
    """A menu of right-hand sides, and of families of them by name."""

    def read(self) -> Any:
        return self.value if self.value in FAMILIES else super().read()


class Form(DeclaredForm[Configuration]):
    """The form of a run, or of a method: `configuration` is what its fields describe.

    controls: `CONTROLS`, or some of them. changed: called after every change, from whichever thread brings it. base:
    returns the configuration that holds what has no control, by default the one loaded last; call `renew` when that has
    changed. alone: it describes one run, so that its choices must go together. examples, hint: of the menu of examples.
    in_sight, links: as for `FieldForm` and `DeclaredForm`.

    Blocks that the problem rules out are listed with the reason and cannot be chosen. A second level that does not suit
    a new problem becomes none; `notice` says so until either changes. wrong: why the form describes no run, or "".
    """

    off_reason = "without deflation there is no coarse system"

    def __init__(
        self,
        configuration: Configuration,
        controls: Sequence[Control] = CONTROLS,
        *,
        changed: Callable[[], object] = lambda: None,
        base: Callable[[], Configuration] | None = None,
        alone: bool = True,
        title: str = "Method",
        about: str = "Problem and method",
        examples: Mapping[str, Callable[[], Configuration]] = EXAMPLES,
        hint: str = "Choose a worked example …",
        in_sight: Sequence[str] = (),
        links: bool = True,
    ) -> None:
        self._base, self._alone, self._examples = base, alone, examples
        self.operator_of: OperatorOf = lambda _configuration: None
        """Returns A of a configuration, where a view has drawn it."""
        self.wrong = self.notice = ""
        self._noticed = ("", "")
        self._varied: Collection[str] = ()
        tell = lambda _state: changed()  # noqa: E731
        first = offered(configuration) if base else configuration
        example = {"label": "Example", "hint": hint, "names": list(examples)} if examples else None
        looks = {"title": title, "about": about, "example": example, "in_sight": in_sight, "links": links}
        super().__init__(first, controls, changed=tell, wrong=tell, **looks)

    @property
    def complaint(self) -> str:
        """The error of the form, with readable names in place of the names in code."""
        if self.conflicts or not self.wrong:
            return f"{self.wrong[:1].upper()}{self.wrong[1:]}"
        return next(iter(self.box.state.get("wrong", {}).values()), self.wrong)

    def configuration(self) -> Configuration:
        """The configuration of the form. Raises InputError with the sentence for the first wrong value."""
        return self.described()

    def load(self, value: Configuration) -> None:
        """Show a configuration, or its part that has controls; `changed` is called once, where it differs from what is
        shown.

        Raises InputError for one with a block that the form does not offer, and shows nothing of it; the form of a
        method shows the default one in its place.
        """
        super().load(offered(value) if self._base else value)

    def take_example(self, name: str) -> None:
        """Show a worked example."""
        if name in self._examples:
            self.load(self._examples[name]())

    def field_of(self, control: Control) -> Field:
        name = control.field
        if name == "rhs":
            menu = (*RUN["rhs"].choices, PHASES, *FAMILIES)
            field = RightHandSideField(RUN[name], choices=[(value, choice_label(name, value)) for value in menu])
        elif name == "device":
            # Another machine may have other devices; this one says so when the run starts.
            menu = device_parameter(self._present.device).choices
            field = Field(RUN[name], choices=[(value, choice_label(name, value)) for value in menu])
        else:
            return control.made(DECLARED)
        field.options = menu
        return field

    def values_of(self, state: Configuration) -> Mapping[str, Any]:
        family, columns = family_of(state.rhs)
        rhs = {"rhs": family, "columns": columns} if columns else {}
        return {**state.blocks, **settings_of(state, RUN), **settings_of(state.stopping, STOPPING), **rhs}

    def state_of(self, read: Mapping[str, Any]) -> Configuration:
        base = self._base() if self._base else self._present
        values = {name: value for name, value in read.items() if name in RUN or name in self.blocks}
        if "rhs" in read:
            values["rhs"] = self._meant("rhs", read["rhs"])
        stopping = base.stopping.changed({name: value for name, value in read.items() if name in STOPPING})
        return dataclasses.replace(base, **values, stopping=stopping)

    def _meant(self, name: str, value: Any) -> Any:
        """A choice of a menu as a configuration has it: of right-hand sides with their number."""
        return f"{value}{self.settings['columns'].read()}" if name == "rhs" and value in FAMILIES else value

    def difference(self, before: Configuration, after: Configuration) -> str:
        found = [*_changed_blocks(before, after), *_changed_settings(before, after)]
        more = len(found) - MOST_CHANGES
        return ", ".join([*found[:MOST_CHANGES], *([f"and {more} more"] if more > 0 else [])])

    def turn(self, name: str = "") -> None:
        """Bring the choices on offer, and fields that are off, in line with problem and deflation."""
        self.reasons = {}
        if "problem" in self.blocks and "deflation" in self.blocks:
            replaced = self._fitting_deflation()
            shown = str(self.blocks["problem"].choice.value), str(self.blocks["deflation"].choice.value)
            if replaced or shown != self._noticed:
                self.notice, self._noticed = replaced, shown
        if "rhs" in self.settings:
            self.hidden = () if self.settings["rhs"].value in FAMILIES else ("columns",)
        self._switch()

    def vary(self, names: Collection[str]) -> None:
        """Switch off what a sweep varies: blocks, settings and parameters of the problem, by name."""
        with self.lock:
            self._varied = names
            self.off_reason = "it varies, or there is no deflation" if names else Form.off_reason
            self._switch()
            self.show()

    def _switch(self) -> None:
        """Switch off what is varied, and the second level without deflation: there is no coarse system to solve, and
        nothing to combine."""
        level = self.blocks.get("deflation")
        idle = level is not None and level.choice.value == "none" and "deflation" not in self._varied
        off = {*self._varied, *((*SECOND_LEVEL, "az") if idle else ())}
        for name, field in self.fields().items():
            kind, _, parameter = name.partition(".")
            field.disabled = kind in off or (kind == "problem" and parameter in off)

    def _fitting_deflation(self) -> str:
        """Replace a second level that does not suit the problem by none; returns what was replaced and why, or ""."""
        choice, problem = self.blocks["deflation"], self.blocks["problem"].cls
        assert issubclass(problem, Problem)
        assert issubclass(choice.cls, Deflation)
        reason = unmet(problem, choice.cls)
        if not reason:
            return ""
        choice.choice.value = "none"
        note = f"{reason[0].upper()}{reason[1:]}; set to none."
        choice.note(note)
        return note

    def weigh(self, name: str) -> dict[Any, list[Conflict]]:
        # The problem is what is solved; what does not suit a new one is said once it is chosen.
        if name in ("problem", "trace"):
            return {}
        try:
            meant = {self._meant(name, value): value for value in self.fields()[name].options}
            found = obstacles(self.configuration(), name, meant, self.operator_of)
            return {meant[value]: list(map(self._own, against)) for value, against in found.items()}
        except InputError:
            return {}

    def judge(self) -> str:
        """Mark the fields with a wrong value, or those that do not go together; returns the sentence on them."""
        self.conflicts = ()
        self.wrong = super().judge()
        if self.wrong and not any(field.wrong for field in self.fields().values()):
            # A fault of several fields together, such as rtol and atol of 0, is marked at the tolerance.
            if "rtol" in self.settings:
                self.settings["rtol"].wrong = self.wrong
            else:
                self.conflicts = (Conflict(self.wrong, {}),)
        if not self.wrong and self._alone:
            self.conflicts = tuple(map(self._own, conflicts(self.configuration())))
            self.wrong = self.conflict
        return self.wrong

    def _own(self, conflict: Conflict) -> Conflict:
        """A conflict, without its changes where one of them is a setting of the base: a method cannot change those."""
        own = not self._base or all(name.partition(".")[0] in self.fields() for name in conflict.changes)
        return conflict if own else conflict._replace(changes={})

    def refuse(self, described: Configuration, found: Sequence[Conflict]) -> None:
        """Show conflicts that came to light elsewhere, unless the form describes something else by now."""
        with self.lock:
            if self.describes(described) and tuple(found) != self.conflicts:
                self.conflicts = tuple(found)
                self.wrong = self.conflict
                self.show()

    def correct(self) -> None:
        """Make the changes that end all conflicts."""
        self.load(changed(self.configuration(), changes_of(self.conflicts)))


def method_form(
    method: Configuration, base: Callable[[], Configuration], changed: Callable[[], object] = lambda: None
) -> Form:
    """The form of a method on the system of another configuration, for a race or a flow; base, changed: see `Form`.

    Without a title: the page has a heading above it.
    """
    form = Form(method, ENTRY, base=base, changed=changed, title="", about="Method of an entry", examples={})
    form.box.add_class("wb-adding")
    return form


def offered(configuration: Configuration) -> Configuration:
    """A configuration with default blocks in place of those that no form offers, such as a user-defined method."""
    unknown = {kind: rule.default for kind, rule in BLOCKS.items() if not known(kind, configuration.blocks[kind].name)}
    return dataclasses.replace(configuration, **unknown) if unknown else configuration


def _changed_blocks(before: Configuration, after: Configuration) -> Iterator[str]:
    """Blocks that differ, and parameters of those of one name that do."""
    for kind in before.blocks:
        one, other = before.blocks[kind], after.blocks[kind]
        if one.name != other.name:
            yield f"{LABELS[kind]}: {facts(type(one)).label} → {facts(type(other)).label}"
            continue
        values = other.parameter_values
        for name, value in one.parameter_values.items():
            if value != values[name]:
                yield _step(parameter_label(one.name, name), as_text(value), as_text(values[name]))


def _changed_settings(before: Configuration, after: Configuration) -> Iterator[str]:
    settings = ((RUN, before, after), (STOPPING, before.stopping, after.stopping))
    for declared, one, other in settings:
        values = settings_of(other, declared)
        for name, value in settings_of(one, declared).items():
            if value != values[name]:
                words = [choice_label(name, as_text(each)) or "none" for each in (value, values[name])]
                yield _step(parameter_label("run", name), *words)


def _step(label: str, before: str, after: str) -> str:
    # Of a long value, such as the places of bubbles, the label is enough.
    return f"{label}: {before} → {after}" if max(len(before), len(after)) <= LONGEST_VALUE else label
