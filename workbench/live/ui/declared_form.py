"""Views that are declared: a state, which is a frozen dataclass, and a table of the controls that change it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from workbench.errors import InputError
from workbench.live.ui.field_form import explained
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
    of: the class of the field. owner: the block that declares the rule.
    """

    field: str
    label: str = ""
    help: str = ""
    rule: Parameter | None = None
    folded: bool = False
    looks: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    of: type[Field] = Field
    owner: str = "run"

    def made(self, rules: Mapping[str, Parameter], owner: str = "run") -> Field:
        """The field of a form. rules: those of the state, by field. owner: the block that declares them."""
        words = {"label": self.label, "about": self.help}
        looks = {**{name: text for name, text in words.items() if text}, **self.looks}
        return self.of(self.rule, self.owner, **looks) if self.rule else self.of(rules[self.field], owner, **looks)


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
    the change; a wrong value is marked at its field and changes nothing. refused: called then with the sentence.
    example: as for `FieldForm`. Undo, Redo and Reset come with it. Where states are of several classes, one of the
    fields that `arranges` names says of which, and `values_of`, `described` and `arrange` are overridden.
    """

    arranges: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        state: S,
        controls: Sequence[Control],
        *,
        title: str = "",
        changed: Callable[[S], object] = lambda _: None,
        refused: Callable[[str], object] = lambda _: None,
        example: Mapping[str, Any] | None = None,
    ) -> None:
        self._present, self._changed, self._refused = state, changed, refused
        self._blamed = ""
        """The field at which a complaint about several stands."""
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
            example=example,
        )
        self._put(state)

    @property
    def state(self) -> S:
        """The state. Raises InputError with the sentence for the first wrong value."""
        return self.described()

    def described(self) -> S:
        """`state`, for undo."""
        return dataclasses.replace(self._present, **{name: field.read() for name, field in self.settings.items()})

    def values_of(self, state: S) -> Mapping[str, Any]:
        """The values of the fields for a state, by name."""
        return {name: vars(state)[name] for name in self.settings}

    def arrange(self, values: Mapping[str, Any]) -> None:
        """Bring the fields in line with those of `arranges`, before the values are shown, or once one was typed."""

    def load(self, value: S) -> None:
        """Show a state, and report it; undo leads back."""
        self._put(value)
        self._changed(value)

    def _put(self, value: S) -> None:
        with self.lock:
            self._present, self.complaints = value, {}
            values = self.values_of(value)
            self.arrange(values)
            for name, shown in values.items():
                self.settings[name].put(shown)
            self.check()
            with contextlib.suppress(InputError):
                self.remember()
            self.show()

    def _take(self, name: str) -> None:
        with self.lock:
            # They were on the value before.
            for each in (name, self._blamed):
                self.complaints.pop(each, None)
            if name in self.about:
                self.about[name] = explained(self.settings[name])
            if name in self.arranges:
                self.complaints.clear()
                self.arrange({name: field.value for name, field in self.settings.items()})
            wrong = self.check()
            try:
                self.remember(name)
                self._present = self.described()
            except InputError as error:
                # Values may be wrong together of which none is by itself.
                if not wrong and name in self.settings:
                    self._blamed, self.complaints[name] = name, self.settings[name].sentence(error)
                wrong = wrong or str(error)
            self.show()
        if wrong:
            self._refused(wrong)
        else:
            self._changed(self._present)
