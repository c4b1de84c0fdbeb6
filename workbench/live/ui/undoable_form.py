"""A form whose changes can be undone: the value of its fields, and those before it."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from workbench.errors import InputError
from workbench.live.ui.field_form import Act, FieldForm
from workbench.live.ui.undo import History

T = TypeVar("T")


class UndoableForm(FieldForm, abc.ABC, Generic[T]):
    """first: the value that Reset leads back to. links: Undo, Redo and Reset stand above the form. The rest is as for
    `FieldForm`; a form has a value, and shows one."""

    def __init__(
        self, first: T, *fields: Any, links: bool = True, acts: Mapping[str, Act] | None = None, **more: Any
    ) -> None:
        self._first = first
        self._past: History[T] = History(first)
        steps = {"undo": self.undo, "redo": self.redo, "reset": self.reset} if links else {}
        super().__init__(*fields, acts={**steps, **(acts or {})}, **more)

    @abc.abstractmethod
    def described(self) -> T:
        """The value of the fields. Raises InputError with the sentence for the first wrong one."""

    @abc.abstractmethod
    def load(self, value: T) -> None:
        """Show a value."""

    def describes(self, value: T) -> bool:
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

    def difference(self, before: T, after: T) -> str:
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
