"""Undo and redo of values."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar, runtime_checkable

MOST = 200
"""Steps that are remembered."""

T = TypeVar("T")


@runtime_checkable
class Undoes(Protocol):
    """A view whose last change can be taken back, by the button of the page's header while the view is in front."""

    @property
    def undoable(self) -> str:
        """The change that `undo` makes, such as "Level 2, Blocks → None"; empty where there is nothing to undo."""
        ...

    def undo(self) -> None:
        """Take the last change back."""
        ...

    def redo(self) -> None:
        """Take one undo back."""
        ...


@runtime_checkable
class Redoes(Undoes, Protocol):
    """A view that knows if there is an undo to take back."""

    @property
    def can_redo(self) -> bool:
        """True if an undo can be taken back."""
        ...


class History(Generic[T]):
    """A present value with those before it and those that were undone. Values are compared by ==."""

    def __init__(self, present: T) -> None:
        self.present = present
        self._past: list[T] = []
        self._future: list[T] = []
        self._stroke: object = None

    @property
    def can_undo(self) -> bool:
        """True if there is a value before the present one."""
        return bool(self._past)

    @property
    def previous(self) -> T:
        """The value that undo leads to; the present one where there is none before."""
        return self._past[-1] if self._past else self.present

    @property
    def can_redo(self) -> bool:
        """True if a value was undone and nothing was changed since."""
        return bool(self._future)

    def push(self, value: T, stroke: object = None) -> None:
        """Make a value the present one. Values of one stroke, say of one drag, are one step; an equal value is none."""
        if value == self.present:
            self.pass_over(stroke)
            return
        if stroke is None or stroke != self._stroke or not self._past:
            self._past = [*self._past[-MOST + 1 :], self.present]
        self._stroke = stroke
        self.present = value
        self._future = []
        # A stroke that came back to where it began has changed nothing.
        if self._past[-1] == value:
            self._past.pop()
            self._stroke = None

    def pass_over(self, stroke: object) -> None:
        """A change that is no step ends the stroke of another."""
        if stroke != self._stroke:
            self._stroke = None

    def undo(self) -> None:
        """Go one step back, if there is one."""
        if self._past:
            self._future.append(self.present)
            self.present = self._past.pop()
            self._stroke = None

    def redo(self) -> None:
        """Take one undo back, if there is one."""
        if self._future:
            self._past.append(self.present)
            self.present = self._future.pop()
            self._stroke = None
