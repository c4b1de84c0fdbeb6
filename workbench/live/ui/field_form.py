"""A form: fields and choices of blocks by name, shown by one `FormView`, which reports the changes of its user."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from workbench.errors import InputError
from workbench.live.ui.form_fields import BlockChoice, Field
from workbench.live.ui.form_schema import blocks_schema, explanation, parameter_schema
from workbench.live.ui.form_view import FormView
from workbench.live.ui.listeners import Listeners
from workbench.live.ui.words import shown
from workbench.registry import Block, as_block
from workbench.registry.facts import choice_label, parameter_label
from workbench.run.choices.conflicts import Conflict, changes_of, reasons_of
from workbench.settings import BLOCKS
from workbench.words.names import called, sentence_case, with_names

Act = Callable[[], object]


class FieldForm:
    """fields, blocks: by the names that the page uses. Display `box`.

    title: above the form. about: the subject of the form. main: names that are always in sight, in this order, by
    default all; advanced: those folded away. in_sight: parameters of blocks that are not, next to the first of each.
    example: label, hint and names of the menu of examples. acts: the actions of buttons and of the links Undo, Redo and
    Reset, by name. typed: called with the name of each field that the page has changed, on the thread that hears of it.
    """

    off_reason = ""
    """Why fields are switched off."""

    def __init__(
        self,
        fields: dict[str, Field],
        blocks: Sequence[BlockChoice] = (),
        *,
        title: str,
        about: str,
        main: Sequence[str] = (),
        advanced: Sequence[str] = (),
        in_sight: Sequence[str] = (),
        example: Mapping[str, Any] | None = None,
        acts: Mapping[str, Act] | None = None,
        typed: Callable[[str], object] = lambda _name: None,
    ) -> None:
        self.settings = fields
        self.blocks = {choice.kind: choice for choice in blocks}
        self.complaints: dict[str, str] = {}
        """Errors that no single field has by itself, by the field where they are said."""
        self.conflicts: tuple[Conflict, ...] = ()
        """Rules that fields break together; all fields of each are marked."""
        self.reasons: dict[str, dict[str, dict[str, Any]]] = {}
        """Conflicts of choices that were asked about since the last change, by field and value."""
        self.about: dict[str, str] = {}
        """Words below a field in place of its bounds."""
        self.hidden: Collection[str] = ()
        self.extra: dict[str, Any] = {"canUndo": False, "canRedo": False}
        """Further facts for the page; "examples" takes the place of those of the schema."""
        self.lock = threading.RLock()
        """Taken while marks and the message to the page follow from the fields, not while a form reports to others."""
        self._acts, self._typed = acts or {}, typed
        self.on_show = Listeners(f"the form of {about}")
        """Called after each time that the fields were sent to the page, on the thread that sent them."""
        schema = {
            "title": title,
            "about": about,
            "blocks": {
                kind: {name: block for name, block in listed.items() if name in self.blocks[kind].choice.options}
                for kind, listed in blocks_schema(tuple(self.blocks)).items()
            },
            "settings": {name: field_schema(field) for name, field in fields.items()},
            "main": list(main or [*fields, *self.blocks]),
            "advanced": list(advanced),
            "inSight": list(in_sight),
            "example": example and dict(example),
            "undo": "undo" in self._acts,
        }
        self.box = FormView(schema, self.receive)

    def fields(self) -> dict[str, Field]:
        """All fields, those of the blocks chosen among them, by the names that the page uses."""
        found: dict[str, Field] = {}
        for kind, choice in self.blocks.items():
            found |= {kind: choice.choice, **dict(choice.all_fields())}
        return found | self.settings

    def check(self) -> str:
        """Mark the fields with a wrong value. Returns the first sentence, or "" where all can be read."""
        first = ""
        with self.lock:
            for name, field in self.fields().items():
                field.wrong = ""
                if name in self.hidden:
                    continue
                try:
                    field.read()
                except InputError as error:
                    field.wrong = field.sentence(error)
                    first = first or str(error)
        return first

    def declare(self, cls: type[Block]) -> None:
        """Make the fields those of another block, with its bounds and defaults; their values stay."""
        for declared in cls.parameters():
            field = self.settings.get(declared.name)
            if field is not None:
                field.declare(declared, cls.name)
                self.about[declared.name] = explained(field)

    def show(self) -> None:
        """Send the values and marks of the fields to the page."""
        with self.lock:
            self.box.state = self._state()
        self.on_show.notify()

    def _state(self) -> dict[str, Any]:
        fields = self.fields()
        return {
            "values": {name: field.shown for name, field in fields.items()},
            "options": {name: field.offered for name, field in self.settings.items() if field.options},
            "off": [name for name, field in fields.items() if field.disabled],
            "offReason": self.off_reason,
            "hidden": sorted(self.hidden),
            "about": dict(self.about),
            "labels": {name: field.label for name, field in self.settings.items()},
            "wrong": {
                **{name: self._said([conflict]) for conflict in self.conflicts for name in conflict.fields},
                **{name: shown(sentence) for name, sentence in self.complaints.items()},
                **{name: at.wrong for name, at in fields.items() if at.wrong},
            },
            "notes": {kind: shown(choice.remark) for kind, choice in self.blocks.items() if choice.remark},
            "reasons": dict(self.reasons),
            "changed": [name for name, field in fields.items() if field.changed],
            **self.extra,
        }

    @property
    def marked(self) -> str:
        """The first error that is marked, with the label of its field; empty where all fields are right."""
        fields = self.fields()
        for name, words in self.box.state["wrong"].items():
            label = fields[name].label if name in fields else ""
            return words if not label or words.startswith(label) else f"{label}: {words}"
        return ""

    @property
    def conflict(self) -> str:
        """One sentence on all conflicts and the changes that end them, in the words of the menus; empty without one."""
        return self._said(self.conflicts)

    def _said(self, found: Sequence[Conflict]) -> str:
        ways = self._all_in_words(changes_of(found))
        if ways:
            return sentence_case(f"{_named(reasons_of(found))}; use {ways}")
        return sentence_case(_named("; and ".join(conflict.sentence for conflict in found)))

    @property
    def correction(self) -> str:
        """The changes that end all conflicts, as the words of a button; empty where there is none."""
        ways = self._all_in_words(changes_of(self.conflicts))
        return f"Use {ways}" if ways else ""

    def _all_in_words(self, changes: Mapping[str, Any]) -> str:
        return ", ".join(self._in_words(name, value) for name, value in changes.items())

    def _in_words(self, name: str, value: object) -> str:
        if name in BLOCKS:
            return f"no {name}" if value == "none" else called(as_block(name, value))
        field = self.fields().get(name)
        shown = "none" if value is None else choice_label(name, str(value))
        return f"{(field.label if field else parameter_label('run', name)).lower()}: {shown}"

    def offer_undo(self, *, undo: bool, redo: bool) -> None:
        """Note if there is something to undo and to redo."""
        self.extra |= {"canUndo": undo, "canRedo": redo}

    def weigh(self, name: str) -> dict[Any, list[Conflict]]:
        """The conflicts of each choice of a field; none in a form that describes no run."""
        return {}

    def ask(self, name: str) -> None:
        """Say on the page which choices of a field cannot be made, and which need other choices; both with the reason.

        A choice cannot be made where other choices rule it out, and only another choice here ends that.
        """
        with self.lock:
            weighed = self.weigh(name).items()
            self.reasons[name] = {str(value): self._reason(name, found) for value, found in weighed}
            self.show()

    def _reason(self, name: str, found: Sequence[Conflict]) -> dict[str, Any]:
        """Why a choice cannot be made as it is. words: the reasons; with: the other choices that it needs; off: no
        others are enough."""
        if against := [conflict for conflict in found if name in conflict.changes]:
            return {"words": _named(reasons_of(against)), "with": "", "off": True}
        return {"words": _named(reasons_of(found)), "with": self._all_in_words(changes_of(found)), "off": False}

    def set(self, name: str, value: object) -> None:
        """Set a field as if its value had been typed or chosen on the page."""
        self.receive({"kind": "set", "field": name, "value": value})

    def receive(self, message: dict[str, Any]) -> None:
        """Carry out a message of the page; one that the form does not know is ignored."""
        kind, name, value = message.get("kind"), str(message.get("field", "")), message.get("value")
        field = self.fields().get(name)
        if isinstance(kind, str) and kind in self._acts:
            self._acts[kind]()
        elif kind == "example":
            self.take_example(name)
        elif field is None or field.disabled or kind not in ("set", "default", "ask"):
            return
        elif kind == "ask":
            self.ask(name)
        elif name in self._acts:
            self._acts[name]()
        elif kind == "default":
            field.put(field.declared.default)
            self._typed(name)
        elif name not in self.blocks or value in field.options:
            field.typed({**value, "content": message.get("content")} if isinstance(value, dict) else value)
            self._typed(name)

    def take_example(self, name: str) -> None:
        """Show an example that was chosen; a form without examples has none."""


def _named(sentence: str) -> str:
    return shown(with_names(sentence))


def explained(field: Field) -> str:
    """The words below a field: those of its looks, else its meaning and bounds."""
    return field.looks.get("about", explanation(field.declared, field.owner))


def field_schema(field: Field) -> dict[str, Any]:
    """The description of a field for the page, which draws it. A field with options is a menu, also where its parameter
    lists none.

    The help of a setting with a menu is that of the command line, which spells out what the menu has.
    """
    menu = {"kind": "choice"} if field.options else {}
    if menu and field.owner == "run":
        menu["about"] = ""
    return {**parameter_schema(field.declared, field.owner), **menu, **field.looks}
