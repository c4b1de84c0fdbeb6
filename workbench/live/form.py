"""The form, generated from the registry: a dropdown per kind of block, and fields for the chosen block's parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets as widgets

from workbench import devices
from workbench.data_files import path_of
from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live._closing import close_all
from workbench.live.field_messages import FieldMessages
from workbench.problems import Problem
from workbench.registry import Block, Parameter, lookup, registered
from workbench.run import Configuration, Norm
from workbench.run.compatibility import unmet
from workbench.settings import BLOCKS, RUN, SECOND_LEVEL, STOPPING, settings_of

Changed = Callable[[], None]

WIDE = {"width": "100%", "min_width": "0"}
STYLE = {"description_width": "104px"}

NEEDS_SOLUTION = "norm error needs a known solution; use the right-hand side ones-scaled"
SHOWN = ("norm", "rtol", "maxiter")
"""The stopping criteria that have a field."""


def field(parameter: Parameter) -> Any:
    """The control for one parameter. Bounds are not forced on it: a wrong value is told in words where it is read."""
    common: dict[str, Any] = {
        "description": parameter.name.replace("_", " "),
        "tooltip": parameter.about,
        "style": dict(STYLE),
        "layout": dict(WIDE),
    }
    if parameter.choices:
        return widgets.Dropdown(options=parameter.choices, value=parameter.default, **common)
    if parameter.kind is bool:
        return widgets.Checkbox(value=parameter.default, **common)
    if parameter.kind is int and not parameter.empty:
        return widgets.IntText(value=parameter.default, continuous_update=False, **common)
    # Text and not FloatText: 1e-06 stays as it is written, and what is no number can be told.
    return widgets.Text(
        value=as_text(parameter.default),
        continuous_update=False,
        placeholder=parameter.empty or parameter.unit or parameter.help,
        **common,
    )


def as_text(value: object) -> str:
    """A value as one types it, with all its digits; None is empty."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


class BlockFields:
    """The dropdown of one kind of block and, below it, the fields of the block chosen.

    A field with a wrong value is marked, with the sentence below it.
    """

    def __init__(self, kind: str, changed: Changed, chosen: str, *, with_title: bool = False) -> None:
        _check_listed(kind, chosen)
        self.kind = kind
        self.fields: dict[str, Any] = {}
        self._changed = changed
        self._offering = False
        self.choice = widgets.Dropdown(
            options=tuple(registered(kind)), value=chosen, description=kind, style=dict(STYLE), layout=dict(WIDE)
        )
        self._title = widgets.HTML(layout={"margin": "0"}).add_class("wb-hint") if with_title else None
        self._parameters = widgets.VBox(layout={"margin": "0", "overflow": "visible"})
        top = [self.choice, self._title] if self._title else [self.choice]
        self.box = widgets.VBox([*top, self._parameters], layout={"overflow": "visible"})
        self._notes = FieldMessages(self.box)
        self._rebuild()
        self.choice.observe(self._chosen, "value")

    @property
    def cls(self) -> type[Block]:
        """The class of the block chosen."""
        return lookup(self.kind, str(self.choice.value))

    def block(self) -> Block:
        """The block as the fields describe it. Raises InputError with the sentence for a wrong value."""
        return self.cls.create({name: _read(control, name) for name, control in self.fields.items()})

    def load(self, block: Block) -> None:
        """Show a block."""
        _check_listed(self.kind, block.name)
        if block.name not in self.choice.options:
            self.offer(registered(self.kind))
        self.choice.value = block.name
        for declared in block.parameters():
            value = getattr(block, declared.name)
            control = self.fields[declared.name]
            control.value = as_text(value) if isinstance(control, widgets.Text) else value

    def offer(self, names: Iterable[str]) -> None:
        """Let these be the blocks to choose from; the present one must be among them and stays."""
        names = tuple(names)
        if names != tuple(self.choice.options):
            # New options choose the first of them, which is no change of the user's.
            chosen, self._offering = self.choice.value, True
            with self.choice.hold_sync():
                self.choice.options = names
                self.choice.value = chosen
            self._offering = False

    def note(self, sentence: str) -> None:
        """Say something below the dropdown until another block is chosen; empty for nothing."""
        self._notes.note(self.choice, sentence)

    def complain(self, sentence: str) -> None:
        """Say below the dropdown why the block chosen cannot be used here; empty for nothing."""
        self._notes.wrong({self.choice: sentence} if sentence else {})

    def _chosen(self, _change: Any) -> None:
        if self._offering:
            return
        self.note("")
        self._rebuild()
        self._changed()

    def _typed(self) -> None:
        self._check()
        self._changed()

    def _check(self) -> None:
        """Mark the fields whose values are out of bounds."""
        found = {}
        for declared in self.cls.parameters():
            control = self.fields[declared.name]
            try:
                declared.check(_read(control, declared.name), self.cls.name)
            except InputError as error:
                found[control] = str(error)
        self._messages.wrong(found)

    def _rebuild(self) -> None:
        cls = self.cls
        before = self._parameters.children
        self.fields = {declared.name: field(declared) for declared in cls.parameters()}
        for control in self.fields.values():
            control.observe(lambda _change: self._typed(), "value")
        self._parameters.children = tuple(self.fields.values())
        self._messages = FieldMessages(self._parameters)
        self.choice.tooltip = f"{cls.title}. {(cls.__doc__ or '').strip().splitlines()[0]}"
        if self._title:
            self._title.value = cls.title
        for old in before:
            close_all(old)


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
                self.settings["cluster"],
                self.settings["memory_limit"],
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


def device_parameter(asked_for: str) -> Parameter:
    """The devices of this machine, and the one that the caller has named, such as opencl:1."""
    choices = tuple(dict.fromkeys([*devices.names(), asked_for]))
    return dataclasses.replace(RUN["device"], default=choices[0], choices=choices)


def _check_listed(kind: str, name: str) -> None:
    if name not in registered(kind):
        raise InputError(f"{name} is no {kind} that the form offers; run it by configure({kind}=...) or in a RaceView")


def _group(title: str) -> widgets.HTML:
    heading = widgets.HTML(title, layout={"margin": "0"})
    heading.add_class("wb-group")
    return heading


def _read(control: Any, name: str) -> object:
    return str(path_of(control.value)) if name == "path" and control.value else control.value
