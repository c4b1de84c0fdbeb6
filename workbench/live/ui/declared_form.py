"""Views that are declared: a state, which is a frozen dataclass, and a table of the controls that change it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from workbench.errors import InputError
from workbench.live.ui.form_fields import Field
from workbench.live.ui.undoable_form import UndoableForm
from workbench.registry import Parameter


class State(Protocol):
    """The state of a view: a frozen dataclass, whose fields `workbench.registry.parameter` declares."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


S = TypeVar("S", bound=State)


@dataclasses.dataclass(frozen=True)
class Control:
    """One control of a view.

    field: of the state. label: in front of it, by default that of the parameter. help: a few words, by default its
    meaning and bounds. rule: kind, bounds and choices, by default those that the state declares for the field. folded:
    out of sight under Advanced. looks: entries of its schema, such as another `kind` or the words of its `choices`.
    """

    field: str
    label: str = ""
    help: str = ""
    rule: Parameter | None = None
    folded: bool = False
    looks: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def made(self, rules: Mapping[str, Parameter], owner: str = "run") -> Field:
        """The field of a form. rules: those of the state, by field. owner: the block that declares them."""
        words = {"label": self.label, "about": self.help}
        looks = {**{name: text for name, text in words.items() if text}, **self.looks}
        return Field(self.rule, **looks) if self.rule else Field(rules[self.field], owner, **looks)


def fields_of(
    controls: Sequence[Control], rules: Mapping[str, Parameter] | None = None, owner: str = "run"
) -> dict[str, Field]:
    """The fields of a table of controls, by name, in its order."""
    return {control.field: control.made(rules or {}, owner) for control in controls}


def folded(controls: Sequence[Control]) -> list[str]:
    """The names of the controls that are folded away."""
    return [control.field for control in controls if control.folded]


class DeclaredForm(UndoableForm[S]):
    """The form of a state. Display `box`; `state` is the value of its fields.

    controls: in their order on the page. changed: called with each new state that is right, on the thread that hears of
    the change; a wrong value is marked at its field and changes nothing. Undo, Redo and Reset come with it.
    """

    def __init__(
        self, state: S, controls: Sequence[Control], *, title: str = "", changed: Callable[[S], object] = lambda _: None
    ) -> None:
        self._present, self._changed = state, changed
        rules = {
            field.name: Parameter(name=field.name, **field.metadata)
            for field in dataclasses.fields(state)
            if "help" in field.metadata
        }
        super().__init__(
            state,
            fields_of(controls, rules),
            title=title,
            about=title or "View",
            main=[control.field for control in controls if not control.folded],
            advanced=folded(controls),
            typed=self._take,
        )
        self._put(state)

    @property
    def state(self) -> S:
        """The state. Raises InputError with the sentence for the first wrong value."""
        return self.described()

    def described(self) -> S:
        """`state`, for undo."""
        return dataclasses.replace(self._present, **{name: field.read() for name, field in self.settings.items()})

    def load(self, value: S) -> None:
        """Show a state, and report it."""
        self._put(value)
        self._changed(value)

    def _put(self, value: S) -> None:
        with self.lock:
            self._present = value
            for name, field in self.settings.items():
                field.put(vars(value)[name])
            self.check()
            self.show()

    def _take(self, name: str) -> None:
        with self.lock:
            self.check()
            try:
                self.remember(name)
            except InputError:
                self.show()
                return
            self._present = state = self.described()
            self.show()
        self._changed(state)
