"""Views that are declared: a state, which is a frozen dataclass, and a table of the controls that change it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from workbench.errors import InputError
from workbench.live.ui.field_form import Act, FieldForm
from workbench.live.ui.form_fields import BlockChoice, Field, check_listed
from workbench.live.ui.undo import History
from workbench.registry import Block, Parameter


class State(Protocol):
    """The state of a view: a frozen dataclass, whose fields `workbench.registry.parameter` declares, or are blocks."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


S = TypeVar("S", bound=State)


@dataclasses.dataclass(frozen=True)
class Control:
    """One control of a view.

    field: of the state. label: in front of it, by default that of the parameter. help: a few words, by default its
    meaning and bounds. rule: kind, bounds and choices, by default those that the state declares for the field. folded:
    out of sight under Advanced. looks: entries of its schema, such as another `kind` or the words of its `choices`.
    names: of a field that is a block, those on offer, by default all of its kind. of: the class of the field.
    owner: the block that declares the rule.
    """

    field: str
    label: str = ""
    help: str = ""
    rule: Parameter | None = None
    folded: bool = False
    looks: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    names: Sequence[str] = ()
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


class DeclaredForm(FieldForm, Generic[S]):
    """The form of a state. Display `box`; `state` is the value of its fields.

    controls: in their order on the page; one whose field of the state is a block becomes a choice of blocks. changed:
    called with the state after each change of what the page shows, on the thread that hears of the change. wrong:
    called with the sentence instead, where a value is wrong; it is marked at its field, and the state stays. more: as
    for `FieldForm`. Changes can be undone, and wrong input too; links: Undo, Redo and Reset stand above the form.
    """

    def __init__(
        self,
        state: S,
        controls: Sequence[Control],
        *,
        title: str = "",
        about: str = "",
        changed: Callable[[S], object] = lambda _: None,
        wrong: Callable[[str], object] = lambda _: None,
        links: bool = True,
        acts: Mapping[str, Act] | None = None,
        **more: Any,
    ) -> None:
        self._present, self._changed, self._wrong = state, changed, wrong
        self._first, self._past = state, History(state)
        steps = {"undo": self.undo, "redo": self.redo, "reset": self.reset} if links else {}
        values = self.values_of(state)
        of_blocks = {control.field: control for control in controls if isinstance(values.get(control.field), Block)}
        super().__init__(
            {control.field: self.field_of(control) for control in controls if control.field not in of_blocks},
            [BlockChoice(name, values[name].name, control.names) for name, control in of_blocks.items()],
            title=title,
            about=about or title or "View",
            main=[control.field for control in controls if not control.folded],
            advanced=folded(controls),
            acts={**steps, **(acts or {})},
            typed=lambda name: self._follow(lambda: None, name),
            **more,
        )
        self._put(state)
        self.turn()
        self.begin()
        self.judge()
        self.show()

    @property
    def present(self) -> S:
        """The last state that was right."""
        return self._present

    @property
    def state(self) -> S:
        """The state. Raises InputError with the sentence for the first wrong value."""
        return self.described()

    def described(self) -> S:
        """`state`, for undo."""
        read: dict[str, Any] = {kind: choice.block() for kind, choice in self.blocks.items()}
        read |= {name: field.read() for name, field in self.settings.items() if name not in self.hidden}
        return self.state_of(read)

    def load(self, value: S) -> None:
        """Show a state. Raises InputError for one with a block that is not on offer, and shows nothing of it."""
        values = self.values_of(value)
        for kind in self.blocks:
            check_listed(kind, values[kind].name)
        self._follow(lambda: self._put(value))

    def change(self, **values: object) -> None:
        """Show the last state that was right with other values of its fields."""
        self.load(dataclasses.replace(self._present, **values))

    def renew(self) -> None:
        """Bring marks and choices in line with what the form does not show itself."""
        self._follow(lambda: None)

    def describes(self, value: S) -> bool:
        """True if the fields have this value; False where one of them is wrong."""
        try:
            return self.described() == value
        except InputError:
            return False

    @property
    def can_undo(self) -> bool:
        """True if a change can be undone; wrong input is one."""
        return self._past.can_undo or not self.describes(self._past.present)

    @property
    def can_redo(self) -> bool:
        """True if an undo can be taken back."""
        return self._past.can_redo

    @property
    def undoable(self) -> str:
        """The change that `undo` makes, see `workbench.live.ui.undo.Undoes`."""
        if not self.can_undo:
            return ""
        if not self.describes(self._past.present):
            return "a value that cannot be read"
        return self.difference(self._past.present, self._past.previous)

    def difference(self, before: S, after: S) -> str:
        """The change from one value to another in words; by default that there is one."""
        return "the last change" if before != after else ""

    def undo(self) -> None:
        """Take the last change back; where that was wrong input, show the last value that could be read."""
        if self.describes(self._past.present):
            self._past.undo()
        self.load(self._past.present)

    def redo(self) -> None:
        """Take one undo back."""
        self._past.redo()
        self.load(self._past.present)

    def reset(self) -> None:
        """Show the value that the form was made with."""
        self.load(self._first)

    def begin(self) -> None:
        """Begin the history with the value of the fields, as they write it, so that there is nothing to undo."""
        with contextlib.suppress(InputError):
            self._past = History(self.described())

    def remember(self, stroke: object = None) -> None:
        """Make the value of the fields the present step, see `History.push`. Raises InputError for a wrong value."""
        try:
            value = self.described()
        except InputError:
            self._past.pass_over(stroke)
            raise
        self._past.push(value, stroke)

    def show(self) -> None:
        """Send the fields to the page, and whether there is something to undo and to redo."""
        self.offer_undo(undo=self.can_undo, redo=self.can_redo)
        super().show()

    def field_of(self, control: Control) -> Field:
        """The field of a control that is no block."""
        fields = dataclasses.fields(self._present)
        rules = {item.name: Parameter(name=item.name, **item.metadata) for item in fields if "help" in item.metadata}
        return control.made(rules)

    def values_of(self, state: S) -> Mapping[str, Any]:
        """The values of a state by the names of controls; a control without one keeps its value."""
        return vars(state)

    def state_of(self, read: Mapping[str, Any]) -> S:
        """The present state with the values that were read, by the names of controls. Raises InputError."""
        own = {name: value for name, value in read.items() if name in vars(self._present)}
        return dataclasses.replace(self._present, **own)

    def turn(self, name: str = "") -> None:
        """Hide fields, and switch them off, as their values have it. name: of the field that was changed, or empty."""

    def judge(self) -> str:
        """Mark what is wrong, or make the values the present state; returns the first sentence."""
        first = self.check()
        try:
            self.remember()
        except InputError as error:
            return first or str(error)
        self._present = self._past.present
        return ""

    def _put(self, value: S) -> None:
        values, self._present = self.values_of(value), value
        for kind, choice in self.blocks.items():
            choice.load(values[kind])
        for name, field in self.settings.items():
            if name in values:
                field.put(values[name])

    def _follow(self, change: Callable[[], object], name: str = "") -> None:
        """Carry out a change of the fields, and report it where the page shows something else after it."""
        with self.lock:
            before = self._seen
            change()
            self.turn(name)
            wrong = self.judge()
            self.show()
            same, state = self._seen == before, self._present
        if same:
            return
        if wrong:
            self._wrong(wrong)
        else:
            self._changed(state)

    @property
    def _seen(self) -> tuple[Any, ...]:
        state = self.box.state
        return state.get("values"), state.get("wrong")
