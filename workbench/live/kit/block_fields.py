"""Fields for the parameters of a block, and a dropdown per kind of block, generated from the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets as widgets

from workbench.block_facts import choice_label, parameter_label
from workbench.data_files import path_of
from workbench.errors import InputError
from workbench.live.kit.field_messages import FieldMessages
from workbench.live.kit.form_fields import as_text, check_listed
from workbench.live.transport.closing import close_all
from workbench.registry import Block, Parameter, lookup, registered

Changed = Callable[[], None]

WIDE = {"width": "100%", "min_width": "0"}
STYLE = {"description_width": "104px"}
KINDS = {"coarse": "coarse solver", "variant": "projection"}
"""Readable names of kinds of block, where the kind itself is not one."""


def field(parameter: Parameter, owner: str = "run") -> Any:
    """The control for one parameter of a block, by its readable name.

    Bounds are not forced on it: a wrong value is reported in words where it is read.
    """
    common: dict[str, Any] = {
        "description": parameter_label(owner, parameter.name),
        "tooltip": parameter.about,
        "style": dict(STYLE),
        "layout": dict(WIDE),
    }
    if parameter.choices:
        named = [(choice_label(parameter.name, value), value) for value in parameter.choices]
        return widgets.Dropdown(options=named, value=parameter.default, **common)
    if parameter.kind is bool:
        return widgets.Checkbox(value=parameter.default, **common)
    if parameter.kind is int and not parameter.empty:
        return widgets.IntText(value=parameter.default, continuous_update=False, **common)
    # Text and not FloatText: 1e-06 stays as it is written, and what is no number can be reported.
    return widgets.Text(
        value=as_text(parameter.default),
        continuous_update=False,
        placeholder=parameter.empty or parameter.unit or parameter.help,
        **common,
    )


class BlockFields:
    """The dropdown of one kind of block and, below it, the fields of the block chosen.

    A field with a wrong value is marked, with the sentence below it.
    """

    def __init__(self, kind: str, changed: Changed, chosen: str, *, with_title: bool = False) -> None:
        check_listed(kind, chosen)
        self.kind = kind
        self.fields: dict[str, Any] = {}
        self._changed = changed
        self._offering = False
        self.choice = widgets.Dropdown(
            options=tuple(registered(kind)),
            value=chosen,
            description=KINDS.get(kind, kind),
            style=dict(STYLE),
            layout=dict(WIDE),
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
        check_listed(self.kind, block.name)
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
        self.fields = {declared.name: field(declared, cls.name) for declared in cls.parameters()}
        for control in self.fields.values():
            control.observe(lambda _change: self._typed(), "value")
        self._parameters.children = tuple(self.fields.values())
        self._messages = FieldMessages(self._parameters)
        self.choice.tooltip = f"{cls.title}. {(cls.__doc__ or '').strip().splitlines()[0]}"
        if self._title:
            self._title.value = cls.title
        for old in before:
            close_all(old)


def _read(control: Any, name: str) -> object:
    return str(path_of(control.value)) if name == "path" and control.value else control.value
