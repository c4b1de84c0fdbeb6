"""The form, generated from the registry: a dropdown per kind of block, and fields for the chosen block's parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
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
from workbench.run import Configuration, Norm, read_size
from workbench.run.compatibility import unmet
from workbench.run.configuration import RHS, STARTS

SECOND_LEVEL = ("coarse", "variant")
"""Kinds of block that have a meaning only with deflation."""

Changed = Callable[[], None]

WIDE = {"width": "100%", "min_width": "0"}
STYLE = {"description_width": "104px"}

NEEDS_SOLUTION = "norm error needs a known solution; use the right-hand side ones-scaled"
RTOL = Parameter("rtol", float, 1e-6, "relative tolerance: stop when the norm is below rtol times that of b", low=0.0)
MAXITER = Parameter("maxiter", int, 0, "iteration limit; empty for 10 N, at least 1000", low=0)
SEED = Parameter("seed", int, 0, "seed of all that is random: right-hand side and start", low=0)
NORM = Parameter("norm", str, "residual", "what is compared with the tolerance", choices=tuple(n.value for n in Norm))
RHS_FIELD = Parameter("rhs", str, "problem", "right-hand side; ones-scaled is A x* with x* = 1/sqrt(N)", choices=RHS)
START = Parameter("x0", str, "problem", "where the iteration starts", choices=STARTS)


def field(parameter: Parameter) -> Any:
    """The control for one parameter. Bounds are not forced on it: a wrong value is told in words where it is read."""
    about = parameter.help
    if parameter.low is not None or parameter.high is not None:
        about += f"; {parameter.bounds()}"
    if parameter.unit:
        about += f"; in {parameter.unit}"
    common: dict[str, Any] = {
        "description": parameter.name.replace("_", " "),
        "tooltip": about,
        "style": dict(STYLE),
        "layout": dict(WIDE),
    }
    if parameter.choices:
        return widgets.Dropdown(options=parameter.choices, value=parameter.default, **common)
    if parameter.kind is bool:
        return widgets.Checkbox(value=parameter.default, **common)
    if parameter.kind is int:
        return widgets.IntText(value=parameter.default, continuous_update=False, **common)
    # Text and not FloatText: 1e-06 stays as it is written, and what is no number can be told.
    return widgets.Text(
        value=as_text(parameter.default),
        continuous_update=False,
        placeholder=parameter.unit or parameter.help,
        **common,
    )


def as_text(value: object) -> str:
    """A value as one types it, with all its digits."""
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
                declared.check(self.cls.name, _read(control, declared.name))
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
        chosen = {item.name: getattr(configuration, item.name) for item in dataclasses.fields(configuration)}
        self.blocks = {
            kind: BlockFields(kind, self._notify, block.name, with_title=kind == "problem")
            for kind, block in chosen.items()
            if isinstance(block, Block)
        }
        settings = [NORM, RTOL, MAXITER, RHS_FIELD, START, SEED, device_parameter(configuration.device)]
        self.settings = {setting.name: field(setting) for setting in settings if setting is not MAXITER}
        self.settings["maxiter"] = _optional("maxiter", "10 N", MAXITER.help)
        self.settings["memory_limit"] = _optional(
            "memory limit", "all, or 100MB", "memory of the device that a run may use"
        )
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
                self.settings["memory_limit"],
                _group("Stopping"),
                *(self.settings[name] for name in ("norm", "rtol", "maxiter")),
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
        stopping = dataclasses.replace(
            self._stopping,
            norm=str(read["norm"]),
            rtol=read["rtol"],
            maxiter=read["maxiter"],
        )
        chosen |= {name: read[name] for name in ("memory_limit", "device", "rhs", "x0", "seed")}
        return Configuration(**chosen, stopping=stopping)

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
        value = self.settings[name].value
        text = str(value).strip()
        match name:
            case "rtol":
                return float(RTOL.check("stopping", value))
            case "maxiter":
                return int(MAXITER.check("stopping", text)) if text else None
            case "memory_limit":
                return read_size(text) if text else None
            case "seed":
                return int(SEED.check("run", value))
        return str(value)

    def _fill(self, configuration: Configuration) -> None:
        for kind, fields in self.blocks.items():
            fields.load(getattr(configuration, kind))
        stopping = self._stopping = configuration.stopping
        device = self.settings["device"]
        if configuration.device not in device.options:
            # Another machine may have it; this one says so when the run starts.
            device.options = (*device.options, configuration.device)
        values: Mapping[str, Any] = {
            "norm": stopping.norm,
            "rtol": as_text(stopping.rtol),
            "maxiter": "" if stopping.maxiter is None else str(stopping.maxiter),
            "rhs": configuration.rhs,
            "x0": configuration.x0,
            "seed": configuration.seed,
            "device": configuration.device,
            "memory_limit": "" if configuration.memory_limit is None else str(configuration.memory_limit),
        }
        for name, control in self.settings.items():
            control.value = values[name]

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
    return Parameter("device", str, choices[0], "where arithmetic runs: the devices of this machine", choices=choices)


def _check_listed(kind: str, name: str) -> None:
    if name not in registered(kind):
        raise InputError(f"{name} is no {kind} that the form offers; run it by configure({kind}=...) or in a RaceView")


def _optional(name: str, empty: str, about: str) -> widgets.Text:
    """A field that may be left empty, which then means `empty`."""
    return widgets.Text(
        description=name,
        placeholder=empty,
        continuous_update=False,
        tooltip=about,
        style=dict(STYLE),
        layout=dict(WIDE),
    )


def _group(title: str) -> widgets.HTML:
    heading = widgets.HTML(title, layout={"margin": "0"})
    heading.add_class("wb-group")
    return heading


def _read(control: Any, name: str) -> object:
    return str(path_of(control.value)) if name == "path" and control.value else control.value
