"""The form, made from the registry: a choice per kind of block, fields for its parameters, and worked examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.ui.form_fields import (
    BlockChoice,
    Changed,
    Field,
    as_text,
    check_listed,
    device_parameter,
)
from workbench.live.ui.undoable_form import UndoableForm
from workbench.problems import Problem
from workbench.registry import Parameter
from workbench.registry.facts import choice_label, facts, parameter_label
from workbench.run import Configuration, configure
from workbench.run.choices.compatibility import unmet
from workbench.run.choices.conflicts import Conflict, OperatorOf, changed, changes_of, conflicts, obstacles
from workbench.settings import BLOCKS, FAMILIES, PHASES, RUN, SECOND_LEVEL, STOPPING, family_of, settings_of

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
SHOWN = ("norm", "rtol", "maxiter")
"""The stopping criteria that have a field."""
MAIN = ("problem", "solver", "preconditioner", "deflation", "device", "rtol")
"""The choices that are always in sight, each with the first parameter of its block."""
ADVANCED = (
    "rhs",
    "columns",
    "x0",
    "seed",
    "coarse",
    "variant",
    "norm",
    "maxiter",
    "precision",
    "format",
    "az",
    "reduction",
    "cluster",
    "ranks",
    "memory_limit",
    "trace",
)
KINDS = ("problem", *BLOCKS)
LABELS = {
    "problem": "Problem",
    "solver": "Solver",
    "preconditioner": "Level 1",
    "deflation": "Level 2",
    "coarse": "Coarse solver",
    "variant": "Projection",
}
MOST_CHANGES = 2
"""Changes of one step that are named; others are counted."""
LONGEST_VALUE = 24
"""Characters of a value that is named."""
TRACE = Parameter("trace", bool, False, "record every kernel of the next run; costs about a microsecond each")
COLUMNS = Parameter("columns", int, 8, "how many right-hand sides", low=1, high=999_999)
OTHERS = ("trace", "columns")
"""Fields that are no settings of a configuration."""


class RightHandSideField(Field):
    """A menu of right-hand sides. For a family it shows the name, and `columns` the number."""

    def __init__(self, columns: Field) -> None:
        self._columns = columns
        offered = (*RUN["rhs"].choices, PHASES, *FAMILIES)
        super().__init__(RUN["rhs"], choices=[(value, choice_label("rhs", value)) for value in offered])
        self.options = offered

    def put(self, value: Any) -> None:
        family, columns = family_of(value)
        if columns:
            self._columns.put(columns)
        super().put(family or value)

    def read(self) -> Any:
        return self.value if self.value in FAMILIES else super().read()


class Form(UndoableForm[Configuration]):
    """All choices of a run. `changed` is called after every change, from whichever thread brings it.

    Blocks that the problem rules out are listed with the reason and cannot be chosen. A second level that does not suit
    a new problem becomes none; `notice` says so until either changes. wrong: why the form describes no run, or "".
    alone: it describes one run, so that its choices must go together.
    """

    off_reason = "without deflation there is no coarse system"

    def __init__(self, changed: Changed, configuration: Configuration, *, alone: bool = True) -> None:
        self._alone = alone
        self.operator_of: OperatorOf = lambda _configuration: None
        """Returns A of a configuration, where a view has drawn it."""
        self._changed: Changed = lambda: None
        self.wrong = self.notice = ""
        self._noticed = ("", "")
        # No change is reported while the form is half built.
        self._loading, self._altered = True, False
        blocks = [BlockChoice(kind, self._notify, configuration.blocks[kind].name, self._show) for kind in KINDS]
        declared = {**RUN, **STOPPING}
        self.columns = Field(COLUMNS)
        """The number of right-hand sides, where there are several."""
        settings = {name: Field(declared[name]) for name in (*RUN, *SHOWN)}
        settings["rhs"] = RightHandSideField(self.columns)
        # Another machine may have other devices; this one says so when the run starts.
        known = device_parameter(configuration.device).choices
        settings["device"] = Field(declared["device"], choices=[(name, choice_label("device", name)) for name in known])
        settings["device"].options = known
        self.trace = Field(TRACE)
        """The tick that records kernels of the next run; no part of a configuration."""
        super().__init__(
            configuration,
            {**settings, "columns": self.columns, "trace": self.trace},
            blocks,
            title="Method",
            about="Problem and method",
            main=MAIN,
            advanced=ADVANCED,
            example={"label": "Example", "hint": "Choose a worked example …", "names": list(EXAMPLES)},
        )
        self._fill(configuration)
        for field in self.settings.values():
            field.observe(lambda _change: self._notify(), "value")
            field.observe(lambda _change: self._show(), ["disabled", "options"])
        self._loading = False
        self.begin()
        self._settle()
        self._changed = changed

    @property
    def complaint(self) -> str:
        """The error of the form, with readable names in place of the names in code."""
        if self.conflicts or not self.wrong:
            return f"{self.wrong[:1].upper()}{self.wrong[1:]}"
        return next(iter(self.box.state.get("wrong", {}).values()), self.wrong)

    def configuration(self) -> Configuration:
        """The configuration of the form. Raises InputError with the sentence for the first wrong value."""
        chosen: dict[str, Any] = {kind: fields.block() for kind, fields in self.blocks.items()}
        read = {name: field.read() for name, field in self.settings.items() if name not in OTHERS}
        read["rhs"] = self._meant("rhs", read["rhs"])
        # Stopping criteria without a field stay as they were loaded.
        stopping = self._stopping.changed({name: read[name] for name in SHOWN})
        return Configuration(**chosen, **{name: read[name] for name in RUN}, stopping=stopping)

    def _meant(self, name: str, value: Any) -> Any:
        """A choice of a menu as a configuration has it: of right-hand sides with their number."""
        return f"{value}{self.columns.read()}" if name == "rhs" and value in FAMILIES else value

    def described(self) -> Configuration:
        """`configuration`, for undo."""
        return self.configuration()

    def difference(self, before: Configuration, after: Configuration) -> str:
        found = [*_changed_blocks(before, after), *_changed_settings(before, after)]
        more = len(found) - MOST_CHANGES
        return ", ".join([*found[:MOST_CHANGES], *([f"and {more} more"] if more > 0 else [])])

    def load(self, configuration: Configuration) -> None:
        """Show a configuration; `changed` is called once, where it differs from what is shown.

        Raises InputError for one with a block that the form does not offer, and shows nothing of it.
        """
        for kind in KINDS:
            check_listed(kind, configuration.blocks[kind].name)
        with self.lock:
            self._loading, self._altered = True, False
            try:
                self._fill(configuration)
            finally:
                self._loading = False
                self._settle()
            altered = self._altered
        if altered:
            self._changed()

    def take_example(self, name: str) -> None:
        """Show a worked example."""
        if name in EXAMPLES:
            self.load(EXAMPLES[name]())

    def _fill(self, configuration: Configuration) -> None:
        for kind, fields in self.blocks.items():
            fields.load(configuration.blocks[kind])
        stopping = self._stopping = configuration.stopping
        values = {**settings_of(configuration, RUN), **settings_of(stopping, STOPPING)}
        for name, value in values.items():
            if name in self.settings:
                self.settings[name].put(value)

    def _notify(self) -> None:
        with self.lock:
            # While it is being filled, the form shows half of one configuration and half of another.
            if self._loading:
                self._altered = True
                return
            self._settle()
        self._changed()

    def _settle(self) -> None:
        """Bring the choices on offer, marks and disabled fields in line with the configuration."""
        self.reasons = {}
        replaced = self._fitting_deflation()
        shown = str(self.blocks["problem"].choice.value), str(self.blocks["deflation"].choice.value)
        if replaced or shown != self._noticed:
            self.notice, self._noticed = replaced, shown
        self._grey_out()
        self.wrong = self._check()
        self._show()

    def _fitting_deflation(self) -> str:
        """Replace a second level that does not suit the problem by none; returns what was replaced and why, or ""."""
        fields, problem = self.blocks["deflation"], self.blocks["problem"].cls
        assert issubclass(problem, Problem)
        assert issubclass(fields.cls, Deflation)
        reason = unmet(problem, fields.cls)
        if not reason:
            return ""
        loading, self._loading = self._loading, True
        fields.choice.value = "none"
        self._loading = loading
        note = f"{reason[0].upper()}{reason[1:]}; set to none."
        fields.note(note)
        return note

    def weigh(self, name: str) -> dict[Any, list[Conflict]]:
        # The problem is what is solved; what does not suit a new one is said once it is chosen.
        if name in ("problem", "trace"):
            return {}
        try:
            meant = {self._meant(name, value): value for value in self.fields()[name].options}
            found = obstacles(self.configuration(), name, meant, self.operator_of)
            return {meant[value]: against for value, against in found.items()}
        except InputError:
            return {}

    def _check(self) -> str:
        """Mark the fields with a wrong value, or those that do not go together, and return the sentence on them."""
        self.conflicts = ()
        first = self.check()
        try:
            self.remember()
        except InputError as error:
            # A fault of several fields together, such as rtol and atol of 0, is marked at the tolerance.
            if not first:
                self.settings["rtol"].wrong = str(error)
            return str(error)
        if self._alone:
            self.conflicts = tuple(conflicts(self.configuration()))
        return self.conflict

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

    def _grey_out(self) -> None:
        """Disable the second level without deflation: there is no coarse system to solve, and nothing to combine. Hide
        what other choices leave without a meaning, such as the cut of a matrix next to a grid."""
        problem = self.blocks["problem"].cls
        on_grid = issubclass(problem, Problem) and problem.has_grid
        no_columns = () if self.settings["rhs"].value in FAMILIES else ("columns",)
        self.hidden = (*no_columns, *(("preconditioner.cut", "deflation.cut") if on_grid else ()))
        idle = self.blocks["deflation"].choice.value == "none"
        for kind in SECOND_LEVEL:
            for field in (self.blocks[kind].choice, *self.blocks[kind].fields.values()):
                field.disabled = idle
        self.settings["az"].disabled = idle

    def _show(self) -> None:
        """Send the values of the fields to the page."""
        if self._loading:
            return
        self.show()


def _changed_blocks(before: Configuration, after: Configuration) -> Iterator[str]:
    """Blocks that differ, and parameters of those of one name that do."""
    for kind in KINDS:
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
