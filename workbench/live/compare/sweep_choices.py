"""What a sweep varies: a row for each choice, its values as a list to type, known names to add by a press."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbench import devices
from workbench.block_facts import facts
from workbench.errors import InputError
from workbench.live.ui.controls import button
from workbench.live.ui.form_fields import Changed, as_text
from workbench.naming import choice_name, choice_text
from workbench.problems import Problem
from workbench.registry import Block, Parameter, lookup, registered, unknown_name
from workbench.settings import BLOCKS, RUN, STOPPING, SWEEP_AXES, SWEEP_STOPPING

ADD = "add …"
BARE = {"description_width": "initial"}


class Choices:
    """Rows to fill in. `changed` is called after every change, from whichever thread brings it."""

    def __init__(self, problem: Problem, over: Mapping[str, Sequence[Any]], changed: Changed) -> None:
        self.problem = problem
        self.rows: list[ChoiceRow] = []
        self._away: dict[str, str] = {}
        self._changed = changed
        self.more = button("Add parameter", "vary one more parameter", self.add, width="112px")
        self.list = widgets.VBox().add_class("wb-choices")
        self.box = widgets.VBox([self.list, widgets.HBox([self.more]).add_class("wb-buttons")])
        self.load(problem, over)

    @property
    def names(self) -> tuple[str, ...]:
        """All that can be varied: the parameters of the problem, and what is around it."""
        return (*(declared.name for declared in self.problem.parameters()), *SWEEP_AXES, *SWEEP_STOPPING)

    def load(self, problem: Problem, over: Mapping[str, Sequence[Any]]) -> None:
        """Show these choices, of a sweep over this problem."""
        self.problem = problem
        self._away = {}
        self._set([self._row(name, _written(values)) for name, values in over.items()])

    def rebase(self, problem: Problem) -> list[str]:
        """Stay with the rows that another problem has too, as they were typed; returns the names of those that went.

        They come back with a problem that has them.
        """
        self.problem = problem
        gone = {str(row.name.value): str(row.text.value) for row in self.rows if row.name.value not in self.names}
        kept = [row for row in self.rows if row.name.value not in gone]
        taken = {row.name.value for row in kept}
        back = [name for name in self._away if name in self.names and name not in taken]
        self._set([*kept, *(self._row(name, self._away.pop(name)) for name in back)])
        self._away |= gone
        for row in self.rows:
            row.offer(self.names, problem)
        return list(gone)

    def add(self) -> None:
        """One more row, for the first choice that is not varied yet."""
        taken = {row.name.value for row in self.rows}
        free = next((name for name in (*BLOCKS, *self.names) if name not in taken), None)
        if free is not None:
            self._set([*self.rows, self._row(free, "")])
            self._changed()

    def over(self) -> dict[str, list[Any]]:
        """The values of each choice. Raises InputError with the sentence for what cannot be read."""
        found: dict[str, list[Any]] = {}
        for row in self.rows:
            name = str(row.name.value)
            if name in found:
                raise InputError(f"{name} is varied in two rows; write all its values into one")
            found[name] = row.values(self.problem)
        return found

    def _row(self, name: str, text: str) -> ChoiceRow:
        return ChoiceRow(name, text, self.names, self.problem, self._changed, self._remove)

    def _remove(self, row: ChoiceRow) -> None:
        self._set([other for other in self.rows if other is not row])
        self._changed()

    def _set(self, rows: list[ChoiceRow]) -> None:
        before, self.rows = self.rows, rows
        self.list.children = tuple(row.box for row in rows)
        for row in before:
            if row not in rows:
                row.close()


class ChoiceRow:
    """One choice: its name, its values, and what can be added to them."""

    def __init__(
        self, name: str, text: str, names: Sequence[str], problem: Problem, changed: Changed, remove: Any
    ) -> None:
        self._changed = changed
        self._problem = problem
        self._quiet = False
        self.name = widgets.Dropdown(options=_named(names), value=name, description="vary", style=dict(BARE))
        self.text = widgets.Text(text, description="over", continuous_update=False, style=dict(BARE))
        self.known = widgets.Dropdown(tooltip="add a value to the list")
        self.remove = button("Remove", "do not vary this", lambda: remove(self), width="88px")
        self.box = widgets.HBox([self.name, self.text, self.known, self.remove]).add_class("wb-choice")
        self.offer(names, problem)
        self.name.observe(lambda _change: self._renamed(), "value")
        self.text.observe(lambda _change: self._changed(), "value")
        self.known.observe(lambda change: self._add(change["new"]), "value")

    def values(self, problem: Problem) -> list[Any]:
        """What is written, each as what the choice takes. Raises InputError."""
        name = str(self.name.value)
        words = split(str(self.text.value))
        if not words:
            raise InputError(f"{name} has no value yet; write some with commas between, or take {name} away")
        if name == "device":
            known = devices.names()
            for word in words:
                if word.partition(":")[0] not in {device.partition(":")[0] for device in known}:
                    raise InputError(unknown_name("device", word, known))
        declared = _declared(name, problem)
        if declared is None:
            return words
        return [
            declared.check(word, "sweep" if name in RUN or name in SWEEP_STOPPING else problem.name) for word in words
        ]

    def offer(self, names: Sequence[str], problem: Problem) -> None:
        """Say what can be varied, and what of the present choice is known by name."""
        self._problem = problem
        if tuple(self.name.options) != _named(names):
            # New options forget what was chosen, which is no change of the user's.
            chosen, self._quiet = self.name.value, True
            self.name.options = _named(names)
            self.name.value = chosen
            self._quiet = False
        name = str(self.name.value)
        known, about = _known(name, problem)
        self.known.options = ((ADD, ADD), *((_label(name, value), value) for value in known))
        self.known.value = ADD
        self.known.layout.visibility = "visible" if known else "hidden"
        self.text.placeholder = about
        self.text.tooltip = f"{about}, with commas between"

    def close(self) -> None:
        for control in (*self.box.children, self.box):
            control.close()

    def _renamed(self) -> None:
        if self._quiet:
            return
        # Values of one choice mean nothing to another.
        self.text.value = ""
        self.offer([name for _, name in self.name.options], self._problem)
        self._changed()

    def _add(self, value: Any) -> None:
        if value in (None, ADD):
            return
        written = split(str(self.text.value))
        self.known.value = ADD
        if value not in written:
            self.text.value = ", ".join([*written, value])


def split(text: str) -> list[str]:
    """The values in a text with commas between; those between the parameters of one block, as in
    hybrid3:share=0.4,fused=no, are part of it."""
    parts: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if parts and ":" in parts[-1] and "=" in parts[-1] and re.match(r"\w+\s*=", part):
            parts[-1] += f",{part}"
        elif part:
            parts += [part]
    return parts


def _written(values: Sequence[Any]) -> str:
    """Values as one types them."""
    return ", ".join(value.spec if isinstance(value, Block) else as_text(value) for value in values)


def _named(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Choices for a menu: in words, and as code has them."""
    return tuple((choice_name(name), name) for name in names)


def _label(name: str, value: str) -> str:
    """A known value in the words of a menu."""
    return facts(lookup(name, value)).label if name in BLOCKS else choice_text(name, value)


def _declared(name: str, problem: Problem) -> Parameter | None:
    """The declaration of a choice that is a plain value; None for blocks."""
    of_problem = {declared.name: declared for declared in problem.parameters()}
    return of_problem.get(name, RUN.get(name, STOPPING.get(name)))


def _known(name: str, problem: Problem) -> tuple[tuple[str, ...], str]:
    """The values of a choice that have names, and what may be written."""
    if name in BLOCKS:
        return tuple(registered(name)), "names, with parameters after a colon, as in neumann:2"
    if name == "device":
        return devices.names(), "devices of this machine"
    declared = _declared(name, problem)
    if declared is None:
        return (), ""
    words = declared.choices or (("true", "false") if declared.kind is bool else ())
    return words, declared.about
