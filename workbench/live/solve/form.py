"""The form, generated from the registry: a dropdown per kind of block, and fields for the chosen block's parameters."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.kit.block_fields import BlockFields, Changed, as_text, device_parameter, field
from workbench.live.kit.field_messages import FieldMessages
from workbench.problems import Problem
from workbench.registry import registered
from workbench.run import Configuration, Norm
from workbench.run.compatibility import unmet
from workbench.settings import BLOCKS, RUN, SECOND_LEVEL, STOPPING, settings_of

NEEDS_SOLUTION = "norm error needs a known solution; use the right-hand side ones-scaled"
SHOWN = ("norm", "rtol", "maxiter")
"""The stopping criteria that have a field."""


class Form:
    """All choices of a run. `changed` is called after every change, from whichever thread brings it.

    Only second levels that suit the problem are offered. One that does not suit a new problem becomes none;
    `notice` says so until either changes. wrong: why the form describes no run, or "".
    """

    def __init__(self, changed: Changed, configuration: Configuration) -> None:
        self._changed: Changed = lambda: None
        self.wrong = self.notice = ""
        self._noticed = ("", "")
        # No change is reported while the form is half built.
        self._loading, self._altered = True, False
        self.blocks = {
            kind: BlockFields(kind, self._notify, getattr(configuration, kind).name, with_title=kind == "problem")
            for kind in ("problem", *BLOCKS)
        }
        declared = {**RUN, **STOPPING, "device": device_parameter(configuration.device)}
        self.settings = {name: field(declared[name]) for name in (*RUN, *SHOWN)}
        self._fill(configuration)
        for control in self.settings.values():
            control.observe(lambda _change: self._notify(), "value")
        method = [fields.box for kind, fields in self.blocks.items() if kind != "problem"]
        self.box = widgets.VBox(
            [
                _group("Problem"),
                self.blocks["problem"].box,
                *(self.settings[name] for name in ("rhs", "x0", "seed")),
                _group("Method"),
                *method,
                self.settings["device"],
                *(self.settings[name] for name in ("cluster", "memory_limit", "precision")),
                _group("Stopping"),
                *(self.settings[name] for name in SHOWN),
            ]
        )
        self.box.add_class("wb-form")
        self._messages = FieldMessages(self.box)
        self._loading = False
        self._settle()
        self._changed = changed

    def configuration(self) -> Configuration:
        """What the form describes. Raises InputError with the sentence for the first wrong value."""
        chosen: dict[str, Any] = {kind: fields.block() for kind, fields in self.blocks.items()}
        read = {name: self._setting(name) for name in self.settings}
        # What the form has no field for stays as it was loaded.
        stopping = self._stopping.changed({name: read[name] for name in SHOWN})
        return Configuration(**chosen, **{name: read[name] for name in RUN}, stopping=stopping)

    def load(self, configuration: Configuration) -> None:
        """Show a configuration; `changed` is called once, where it differs from what is shown."""
        self._loading, self._altered = True, False
        try:
            self._fill(configuration)
        finally:
            self._loading = False
            self._settle()
            if self._altered:
                self._changed()

    def _setting(self, name: str) -> Any:
        """What a field around the blocks says. Raises InputError for a wrong value."""
        declared, value = {**RUN, **STOPPING}[name], self.settings[name].value
        return declared.check(None if declared.empty and not str(value).strip() else value)

    def _fill(self, configuration: Configuration) -> None:
        for kind, fields in self.blocks.items():
            fields.load(getattr(configuration, kind))
        stopping = self._stopping = configuration.stopping
        device = self.settings["device"]
        if configuration.device not in device.options:
            # Another machine may have it; this one says so when the run starts.
            device.options = (*device.options, configuration.device)
        values = {**settings_of(configuration, RUN), **settings_of(stopping, STOPPING)}
        for name, control in self.settings.items():
            control.value = as_text(values[name]) if isinstance(control, widgets.Text) else values[name]

    def _notify(self) -> None:
        # While it is being filled, the form shows half of one configuration and half of another.
        if self._loading:
            self._altered = True
            return
        self._settle()
        self._changed()

    def _settle(self) -> None:
        """Bring what is offered, marked and greyed out in line with what is chosen."""
        replaced = self._offer_deflations()
        shown = str(self.blocks["problem"].choice.value), str(self.blocks["deflation"].choice.value)
        if replaced or shown != self._noticed:
            self.notice, self._noticed = replaced, shown
        self._grey_out()
        self.wrong = self._check()

    def _offer_deflations(self) -> str:
        """Offer those that suit the problem; returns what was replaced and why, or ""."""
        fields, problem = self.blocks["deflation"], self.blocks["problem"].cls
        assert issubclass(problem, Problem)
        second = {name: cls for name, cls in registered("deflation").items() if issubclass(cls, Deflation)}
        lacks = {name: unmet(problem, cls) for name, cls in second.items()}
        reason = lacks[str(fields.choice.value)]
        if reason:
            self._loading = True
            fields.choice.value = "none"
            self._loading = False
            note = f"{reason[0].upper()}{reason[1:]}; set to none."
            fields.note(note)
        fields.offer(name for name, lack in lacks.items() if not lack)
        return note if reason else ""

    def _check(self) -> str:
        """Mark the settings with a wrong value, and return the first sentence of the form's."""
        found = {}
        for name, control in self.settings.items():
            try:
                self._setting(name)
            except InputError as error:
                found[control] = str(error)
        if self.settings["norm"].value == Norm.ERROR and self.settings["rhs"].value != "ones-scaled":
            found[self.settings["norm"]] = NEEDS_SOLUTION
        self._messages.wrong(found)
        try:
            self.configuration()
        except InputError as error:
            return str(error)
        return next(iter(found.values()), "")

    def _grey_out(self) -> None:
        """Without deflation there is no coarse system to solve, and nothing to combine."""
        idle = self.blocks["deflation"].choice.value == "none"
        for kind in SECOND_LEVEL:
            for control in (self.blocks[kind].choice, *self.blocks[kind].fields.values()):
                control.disabled = idle


def _group(title: str) -> widgets.HTML:
    heading = widgets.HTML(title, layout={"margin": "0"})
    heading.add_class("wb-group")
    return heading
