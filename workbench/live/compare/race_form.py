"""The form of a new entry of a race, with the settings that entries share; and the field of a tolerance."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.form_fields import BlockChoice, Field, as_text, device_parameter
from workbench.registry import Block, known
from workbench.run import Configuration, Norm, configure
from workbench.run.choices.conflicts import Conflict, changed, changes_of, conflicts, obstacles
from workbench.settings import BLOCKS, METHOD, SECOND_LEVEL, STOPPING

SHARED = {
    "problem": "problem",
    "rhs": "right-hand side",
    "seed": "seed",
    "x0": "start",
    "stopping": "stopping rule",
    "cluster": "cluster",
    "memory_limit": "memory limit",
}
"""Settings that all entries share, so that they can be compared, in words."""
SYSTEM = ("problem", "rhs", "seed", "x0")
"""Those that make the system."""


def of_system(conflict: Conflict) -> bool:
    """True for a conflict that no other method ends: it is about the system or the stopping rule."""
    return any(name in STOPPING or name.partition(".")[0] in SYSTEM for name in conflict.fields)


def refused(configuration: Configuration) -> str:
    """Why no method can solve the system of a configuration here, as a sentence; empty where one can. Cost: some
    milliseconds."""
    return next((conflict.sentence for conflict in conflicts(configuration) if of_system(conflict)), "")


def differences(one: Configuration, other: Configuration) -> list[str]:
    """The shared settings of entries that differ in the other configuration, in words."""
    return [text for name, text in SHARED.items() if one.choices[name] != other.choices[name]]


def aimed(configuration: Configuration, tolerance: float) -> Configuration:
    """A configuration that stops at a tolerance of the relative residual, whatever stopped it before."""
    stopping = dataclasses.replace(configuration.stopping, norm=Norm.RESIDUAL, rtol=tolerance, atol=0.0)
    return dataclasses.replace(configuration, stopping=stopping)


def aim_of(entry: Configuration, other: Configuration) -> Configuration:
    """The other configuration with the tolerance that an entry has."""
    own = entry.stopping
    stopping = dataclasses.replace(other.stopping, norm=own.norm, rtol=own.rtol, atol=own.atol)
    return dataclasses.replace(other, stopping=stopping)


def method_of(entry: Configuration) -> tuple[Any, ...]:
    """The choices that distinguish an entry from others on its system."""
    choices = entry.choices
    return tuple(choices[name] for name in METHOD)


def moved(entry: Configuration, base: Configuration) -> Configuration:
    """The method and device of an entry, and all else from another configuration."""
    choices = entry.choices
    return dataclasses.replace(base, **{name: choices[name] for name in METHOD})


class EntryForm(FieldForm):
    """A choice for each kind of block, and the device. Without a title: the page has a heading above it.

    base: returns the configuration whose system an entry solves. changed: called after every change; `conflicts` are
    then those of the entry that would be added.
    """

    off_reason = "without deflation there is no coarse system"

    def __init__(self, base: Callable[[], Configuration], changed: Callable[[], object] = lambda: None) -> None:
        self._base, self._changed = base, lambda: None
        blocks = [BlockChoice(kind, lambda: None, _offered(kind, base()).name) for kind in BLOCKS]
        device = Field(device_parameter(base().device))
        main = (*(kind for kind in BLOCKS if kind not in SECOND_LEVEL), "device")
        super().__init__(
            {"device": device},
            blocks,
            title="",
            about="Method of an entry",
            main=main,
            advanced=SECOND_LEVEL,
            typed=lambda _name: self.settle(),
        )
        self.box.add_class("wb-adding")
        self.load(base())
        self._changed = changed

    def load(self, configuration: Configuration) -> None:
        """Show a configuration's method."""
        for kind, choice in self.blocks.items():
            choice.load(_offered(kind, configuration))
        self.settings["device"].put(configuration.device)
        self.settle()

    def configuration(self) -> Configuration:
        """This method on the base's system. Raises InputError with the sentence for a wrong value."""
        chosen: dict[str, Any] = {kind: choice.block() for kind, choice in self.blocks.items()}
        return dataclasses.replace(self._base(), device=str(self.settings["device"].value), **chosen)

    def weigh(self, name: str) -> dict[Any, list[Conflict]]:
        try:
            found = obstacles(self.configuration(), name, self.fields()[name].options)
        except InputError:
            return {}
        return {value: list(map(_of_the_method, would)) for value, would in found.items()}

    def correct(self) -> None:
        """Make the changes that end all conflicts."""
        self.load(changed(self.configuration(), changes_of(self.conflicts)))

    def settle(self) -> None:
        """Mark wrong values and conflicts. Without deflation the fields of the second level are disabled: there is no
        coarse system to solve, and nothing to combine."""
        idle = self.blocks["deflation"].choice.value == "none"
        for kind in SECOND_LEVEL:
            for field in (self.blocks[kind].choice, *self.blocks[kind].fields.values()):
                field.disabled = idle
        self.conflicts, self.reasons = (), {}
        if not self.check():
            try:
                self.conflicts = tuple(map(_of_the_method, conflicts(self.configuration())))
            except InputError as error:
                self.conflicts = (Conflict(str(error), {}),)
        self.show()
        self._changed()


def _of_the_method(conflict: Conflict) -> Conflict:
    """A conflict, without its changes where one of them is a setting of the base: an entry cannot change those."""
    own = all(name.partition(".")[0] in METHOD for name in conflict.changes)
    return conflict if own else conflict._replace(changes={})


def _offered(kind: str, configuration: Configuration) -> Block:
    """The block, or for one that no form offers, such as a user-defined method, the default one."""
    block = configuration.blocks[kind]
    return block if known(kind, block.name) else configure("poisson5").blocks[kind]


class ToleranceField:
    """A field for a relative residual. Display `box`.

    changed: called with every new value. complain: with a sentence for a text that is no tolerance, for which the field
    shows the present one again, and "" after a good one.
    """

    def __init__(self, value: float, changed: Callable[[float], None], complain: Callable[[str], None]) -> None:
        self.value = value
        self.own = False
        """Set where the value was chosen here, not taken over by `reset`."""
        self._changed, self._complain = changed, complain
        self._quiet = False
        self.box = widgets.Text(description="tolerance", continuous_update=False, layout={"width": "auto"})
        self.box.tooltip = "any relative residual ‖r‖ / ‖b‖ above 0; the line on the plot can be dragged too"
        self._show()
        self.box.observe(lambda change: self._quiet or self._read(change["new"]), "value")

    def set(self, value: float) -> None:
        """Take a value, as if it had been typed."""
        self.reset(value)
        self.own = True

    def reset(self, value: float) -> None:
        """Take over the value of another view."""
        self.value, self.own = value, False
        self._show()
        self._complain("")
        self._changed(value)

    def _read(self, text: str) -> None:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and value > 0:
            self.set(value)
        else:
            self._show()
            self._complain(f"tolerance must be a number above 0, got {text!r}; it stays {as_text(self.value)}")

    def _show(self) -> None:
        self._quiet = True
        self.box.value = as_text(self.value)
        self._quiet = False
