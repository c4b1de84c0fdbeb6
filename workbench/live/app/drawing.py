"""The drawing in Build and the problem of the form, each of which follows the other."""

from __future__ import annotations

import dataclasses
import html
import threading
from collections.abc import Callable

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.builders.builder import Builder, kind_of
from workbench.live.solve.form import Form
from workbench.problems import Problem
from workbench.run import Configuration


class Drawing:
    """Changes in Build go into the form when another page asks for them, and back when Build is turned to.

    form: of all pages. builder: returns that of Build, None before it is made. in_front: true while Build is.
    """

    def __init__(self, form: Form, builder: Callable[[], Builder | None], in_front: Callable[[], bool]) -> None:
        self.notice = widgets.HTML()
        self._form, self._builder, self._in_front = form, builder, in_front
        self._taking = threading.RLock()
        self._taken: Problem | None = None
        """The drawing that the form knows."""
        self._solved: Problem | None = None
        """The problem of the form when that was noted."""

    @property
    def shown(self) -> Problem | None:
        """The problem that is drawn, while Build is in front; None for an incomplete or refused drawing, which the
        other pages do not have either."""
        builder = self._builder()
        return builder.built if builder and self._in_front() else None

    @property
    def can_undo(self) -> bool:
        """True if a canvas with an undo of its own is in front."""
        builder = self._builder()
        return self._in_front() and builder is not None and hasattr(builder.builder, "undo")

    def undo(self) -> None:
        """Undo the last change of the canvas."""
        builder = self._builder()
        if builder is not None:
            builder.builder.undo()

    def take_over(self) -> None:
        """Put changes of the canvas since the last look into the form, which all pages read. A wrong drawing stays in
        Build, and raises InputError while that is in front."""
        with self._taking:
            builder = self._builder()
            if builder is None:
                return
            try:
                changed = self.changed
            except InputError:
                if self._in_front():
                    raise
                return
            if changed is not None:
                self._form.load(dataclasses.replace(self._form.configuration(), problem=changed))
                self.note(builder, changed)

    @property
    def changed(self) -> Problem | None:
        """The problem on the canvas if it has changed since the last look, else None. Raises InputError for a wrong
        drawing."""
        builder = self._builder()
        problem = builder.problem if builder is not None else None
        return None if problem == self._taken else problem

    def load(self, configuration: Configuration) -> None:
        """Show a configuration in the form, and on the canvas where it can be drawn."""
        with self._taking:
            self._form.load(configuration)
            builder = self._builder()
            if builder is not None:
                # The opened configuration replaces the drawing, which would otherwise come back over it.
                self._taken = builder.built
                self.renew(builder)

    def renew(self, builder: Builder) -> None:
        """Show the problem of the form in the builder, if it is of a kind that the builder draws."""
        with self._taking:
            chosen = self._form.configuration().problem
            # A wrong drawing stays until another problem is chosen.
            superseded = builder.wrong and chosen != self._solved
            if builder.built != self._taken and not superseded:
                return
            if kind_of(chosen) and chosen != self._taken:
                builder.load(chosen)
            self.note(builder, chosen)

    def note(self, builder: Builder, solved: Problem) -> None:
        """Note that the other pages know the drawing, and show a notice where their problem is of a kind not drawn
        here."""
        self._taken, self._solved = builder.built, solved
        said = f"{html.escape(solved.label)} is chosen in Solve and is not drawn here. What you build takes its place."
        self.notice.value = "" if kind_of(solved) else f'<p class="wb-status wb-busy">{said}</p>'
