"""The fields of a form, as Python sees them: values with bounds, and a choice among the blocks of one kind.

They are no widgets: one `FormView` shows them all over one connection.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from workbench import devices
from workbench.errors import InputError
from workbench.files.data_files import path_of
from workbench.live.ui.words import shown, without_folder
from workbench.registry import Block, Parameter, known, lookup, registered
from workbench.registry.facts import parameter_label
from workbench.settings import BLOCKS, RUN
from workbench.words.typed_numbers import THOUSANDS, typed_number


class Field:
    """One value of a form. owner: the block that it belongs to, or "run". looks: entries of its schema in place of
    those of the parameter, such as another label or kind of control."""

    def __init__(self, declared: Parameter, owner: str = "run", **looks: Any) -> None:
        self.value = declared.default
        self.options: tuple[Any, ...] = tuple(declared.choices)
        self.words: Mapping[Any, str] = {}
        """Words of the options, where these become others."""
        self.disabled = False
        self.looks, self.wrong = looks, ""
        self.declare(declared, owner)
        self.put(declared.default)

    def declare(self, declared: Parameter, owner: str) -> None:
        """Make the field that of another block; its value stays."""
        self.declared, self.owner = declared, owner
        self.label = self.looks.get("label") or parameter_label(owner, declared.name)

    def put(self, value: Any) -> None:
        """Show a value of the block; one that the menu does not list, such as rhs random:16, is added to it."""
        if self.options and value not in self.options:
            self.options = (*self.options, value)
        is_text = self.declared.kind in (float, str) or bool(self.declared.empty)
        self.value = as_text(value) if is_text and not self.options else value

    def read(self) -> Any:
        """The value of the block, checked. Raises InputError."""
        value = self.value
        if self.declared.empty and not str(value).strip():
            value = None
        if self.declared.name == "path" and value:
            value = str(path_of(value))
        if self.declared.kind is float and isinstance(value, str):
            value = _number(value)
        return self.declared.check(value, "" if self.owner == "run" else self.owner)

    def typed(self, text: Any) -> None:
        """Take what was typed or chosen on the page; what is shown already changes nothing."""
        if text == self.shown:
            return
        if self.declared.kind is int and not self.declared.empty:
            text = _whole(text)
        self.value = text

    @property
    def shown(self) -> object:
        """The value on the page: of an uploaded file its name."""
        return without_folder(self.value) if self.declared.name == "path" else self.value

    @property
    def changed(self) -> bool:
        """True if the value is not the default."""
        return bool(self.value != Field(self.declared, self.owner).value)

    @property
    def offered(self) -> list[Any]:
        """The options for the page; those with words of their own as pairs."""
        return [[value, self.words[value]] if value in self.words else value for value in self.options]

    def sentence(self, error: InputError) -> str:
        """The sentence of an error, with the readable name in place of the name in code."""
        words = str(error).removeprefix(f"{self.owner}: ")
        named = words.removeprefix(self.declared.name)
        return shown(f"{self.label}{named}" if named != words else words)


class UploadField(Field):
    """A file that came from the page. value: its name; size in bytes; content: empty where it is too large to come."""

    size = 0
    content = b""

    def typed(self, text: Mapping[str, Any]) -> None:
        self.size, self.content = int(text["size"]), text["content"] or b""
        self.value = str(text["name"])


class Choice(Field):
    """The block of one kind, by name."""

    def __init__(self, kind: str, chosen: str) -> None:
        super().__init__(Parameter(kind, str, chosen, ""), "run")
        self.options = tuple(registered(kind))

    @property
    def changed(self) -> bool:
        name = self.declared.name
        return name in BLOCKS and bool(self.value != BLOCKS[name].default)


class BlockChoice:
    """The choice of one kind of block with the fields of the block chosen.

    names: of the blocks that it offers, by default all.
    """

    def __init__(self, kind: str, chosen: str, names: Iterable[str] = ()) -> None:
        check_listed(kind, chosen)
        self.kind = kind
        self.choice = Choice(kind, chosen)
        if names:
            self.choice.options = tuple(names)
        self._of = self._remark = ""
        self._fields: dict[str, Field] = {}

    @property
    def cls(self) -> type[Block]:
        """The class of the block chosen."""
        return lookup(self.kind, str(self.choice.value))

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of the block chosen, by name of the parameter; another block has new ones."""
        self._begin()
        return self._fields

    @property
    def remark(self) -> str:
        """The sentence below the choice, which ends with the choice of another block."""
        self._begin()
        return self._remark

    def note(self, sentence: str) -> None:
        """Say something below the choice until another block is chosen; empty for nothing."""
        self._begin()
        self._remark = sentence

    def block(self) -> Block:
        """The block as the fields describe it. Raises InputError with the sentence for a wrong value."""
        return self.cls.create({name: field.read() for name, field in self.fields.items()})

    def load(self, block: Block) -> None:
        """Show a block."""
        check_listed(self.kind, block.name)
        self.choice.value = block.name
        values = block.parameter_values
        for name, field in self.fields.items():
            field.put(values[name])

    def all_fields(self) -> Iterable[tuple[str, Field]]:
        """The fields of the block chosen, by the names that the page uses."""
        return ((f"{self.kind}.{name}", field) for name, field in self.fields.items())

    def _begin(self) -> None:
        """Make new fields where another block was chosen."""
        if self._of != self.cls.name:
            self._of, self._remark = self.cls.name, ""
            self._fields = {declared.name: Field(declared, self._of) for declared in self.cls.parameters()}


def check_listed(kind: str, name: str) -> None:
    """Raise InputError for a block that no form offers."""
    if not known(kind, name):
        raise InputError(f"{name} is no {kind} that the form offers; run it by configure({kind}=...) or in a RaceView")


def as_text(value: object) -> str:
    """A value as one types it, with all its digits; None is empty."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    # 1e-6, and not 1e-06.
    return re.sub(r"e([+-]?)0+(?=\d)", r"e\1", short if float(short) == value else repr(value)).replace("e+", "e")


def _number(text: str) -> float | str:
    """The number of a text as people type it, 0,001 or 10^-4 too. The text itself where Python reads it, and where it
    is none or may be two, as 1,000 may: the parameter reads or refuses that with its name."""
    try:
        float(text)
    except ValueError:
        with contextlib.suppress(InputError):
            return text if THOUSANDS.fullmatch(text.strip()) else typed_number(text)
    return text


def _whole(text: Any) -> Any:
    """The whole number of a text as people type it, 1,000 or 10^3 too; the text itself where it is none."""
    plain = str(text)
    try:
        return int(plain.replace("\u202f", "").replace(" ", ""))
    except ValueError:
        with contextlib.suppress(InputError):
            value = typed_number(plain, whole=True)
            # A larger one of 53 bits may be another number.
            return int(value) if value.is_integer() and abs(value) < 1 << 53 else text
    return text


def device_parameter(asked_for: str) -> Parameter:
    """The devices of this machine, and the one that the caller has named, such as opencl:1."""
    choices = tuple(dict.fromkeys([*devices.names(), asked_for]))
    return dataclasses.replace(RUN["device"], default=choices[0], choices=choices)
