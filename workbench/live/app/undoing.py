"""Undo of the page's header: it acts in the view in front, and says what it did there."""

from __future__ import annotations

from collections.abc import Callable

from workbench.live.ui.undo import Redoes, Undoes

NOTHING = "There is nothing to undo here."
NONE = "This view has no changes to undo; those of the problem are undone in Build and Solve."


class HeaderUndo:
    """in_front: returns what can be undone in the view in front; None for a view without undo. say: shows a sentence.

    done: called after each act, with the view that it was done in.
    """

    def __init__(
        self,
        in_front: Callable[[], Undoes | None],
        say: Callable[[str], object],
        done: Callable[[Undoes], object],
    ) -> None:
        self._in_front, self._say, self._done = in_front, say, done
        self._undone: list[str] = []
        """The changes that have been undone in a row, the last one last."""
        self._rest: tuple[Undoes | None, str] = (None, "")
        """The view that was acted on last, and what could be undone there after that."""

    @property
    def state(self) -> dict[str, str]:
        """For the buttons, "undo", "redo": the change that each makes, empty where it is off; "why": Undo is off."""
        view = self._in_front()
        if view is None:
            return {"undo": "", "redo": "", "why": NONE}
        undoable = view.undoable
        can_redo = view.can_redo if isinstance(view, Redoes) else True
        redo = self._undone[-1] if can_redo and self._undone and self._rest == (view, undoable) else ""
        return {"undo": undoable, "redo": redo, "why": "" if undoable else NOTHING}

    def undo(self) -> None:
        """Take the last change of the view in front back."""
        view = self._in_front()
        if view is None or not (change := view.undoable):
            return
        if self._rest != (view, change):
            self._undone = []
        view.undo()
        self._undone.append(change)
        self._acted(view, f"Undone: {change}")

    def redo(self) -> None:
        """Take the last undo in the view in front back; does nothing once something else was changed there."""
        view = self._in_front()
        if view is None or not self.state["redo"]:
            return
        view.redo()
        self._acted(view, f"Undo taken back: {self._undone.pop()}")

    def _acted(self, view: Undoes, said: str) -> None:
        self._rest = view, view.undoable
        self._say(said)
        self._done(view)
