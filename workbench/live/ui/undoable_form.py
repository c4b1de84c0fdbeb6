"""A form whose changes can be undone: what its fields describe, with what they described before."""

from __future__ import annotations

import abc
import contextlib
from typing import Any, Generic, TypeVar

from workbench.errors import InputError
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.undo import History

T = TypeVar("T")


class UndoableForm(FieldForm, abc.ABC, Generic[T]):
    """first: what Reset leads back to. The rest is as for `FieldForm`; a form says what it describes, and shows it."""

    def __init__(self, first: T, *fields: Any, **more: Any) -> None:
        self._first = first
        self._past: History[T] = History(first)
        super().__init__(*fields, acts={"undo": self.undo, "redo": self.redo, "reset": self.reset}, **more)

    @abc.abstractmethod
    def described(self) -> T:
        """What the fields describe. Raises InputError with the sentence for the first wrong value."""

    @abc.abstractmethod
    def load(self, value: T) -> None:
        """Show a value."""

    def describes(self, value: T) -> bool:
        """Whether the fields describe this value; False where they describe none."""
        try:
            return self.described() == value
        except InputError:
            return False

    @property
    def can_undo(self) -> bool:
        """Whether a change can be undone; wrong input is one."""
        return self._past.can_undo or not self.describes(self._past.present)

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
        """Show what the form was made with."""
        self.load(self._first)

    def begin(self) -> None:
        """Nothing was changed yet: what can be undone begins with what the fields describe, as they write it."""
        with contextlib.suppress(InputError):
            self._past = History(self.described())

    def remember(self, stroke: object = None) -> None:
        """Make what the fields describe the present step, see `History.push`. Raises InputError for a wrong value."""
        try:
            value = self.described()
        except InputError:
            self._past.pass_over(stroke)
            raise
        self._past.push(value, stroke)

    def show(self) -> None:
        """Send what is chosen to the page, with whether it can be undone and redone."""
        self.offer_undo(undo=self.can_undo, redo=self._past.can_redo)
        super().show()
