"""The model of the canvas of bubbles, and the changes that it allows, without a widget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.live.builders.bubble_drawing import Drawing, Row
from workbench.live.builders.bubble_presets import presets
from workbench.live.builders.sides_field import sides_text
from workbench.live.ui.undo import History
from workbench.problems.bubbles import Bubbles, Bubbles2D, Bubbles3D

DIGITS = 3
"""Decimals of a radius that is chosen to fit."""
CLASSES: dict[int, type[Bubbles]] = {2: Bubbles2D, 3: Bubbles3D}


class BubbleModel:
    """A drawing in 2D and one in 3D, each with its undo and redo; one is shown, with one bubble selected or none.

    A method that raises InputError has changed nothing. Bubbles are counted from 0 here and from 1 in sentences.
    """

    def __init__(self, drawing: Drawing) -> None:
        self.selected = -1
        self._histories = {drawing.dimensions: History(drawing)}
        self._dimensions = drawing.dimensions

    @property
    def history(self) -> History[Drawing]:
        """The undo history of the drawing that is shown."""
        return self._histories[self._dimensions]

    @property
    def drawing(self) -> Drawing:
        """The drawing that is shown."""
        return self.history.present

    def show(self, dimensions: int) -> None:
        """Turn to the drawing in 2D or in 3D; the first time it is the registered default."""
        if dimensions not in CLASSES:
            raise InputError(f"bubbles are in 2 or 3 dimensions, got {dimensions}")
        if dimensions not in self._histories:
            contrast = self.drawing.contrast
            self._histories[dimensions] = History(Drawing(CLASSES[dimensions].create({"contrast": contrast})))
        if dimensions != self._dimensions:
            self._dimensions = dimensions
            self.selected = -1

    def load(self, problem: Bubbles) -> None:
        """Show a problem; undo leads back."""
        drawing = Drawing(problem)
        self.show(problem.dimensions)
        self._become(drawing)

    def add(self, centre: Sequence[float], radius: float | None = None) -> None:
        """Add a bubble and select it; without a radius, as large as `Drawing.new_radius` and the room there allow."""
        row = (*centre, self.fitting(centre) if radius is None else radius)
        self._become(self.drawing.with_rows([*self.drawing.rows, row]))
        self.selected = len(self.drawing.rows) - 1

    def free_place(self) -> Row:
        """The place with the most room for a further bubble, of a grid of 41 places a side in 2D and 21 in 3D."""
        dimensions = self._dimensions
        ticks = np.linspace(0, 1, {2: 41, 3: 21}[dimensions])
        places = np.stack(np.meshgrid(*(ticks,) * dimensions, indexing="ij"), axis=-1).reshape(-1, dimensions)
        room = np.minimum(places, 1 - places).min(axis=1)
        for *centre, radius in self.drawing.rows:
            room = np.minimum(room, np.linalg.norm(places - np.array(centre), axis=1) - radius)
        # Rounding must not decide between places that symmetry makes equal.
        return tuple(places[np.argmax(room.round(9))].tolist())

    def fitting(self, centre: Sequence[float]) -> float:
        """The radius of a bubble that is added there."""
        room = math.floor(10**DIGITS * self.drawing.room(centre)) / 10**DIGITS
        return min(self.drawing.new_radius, max(room, 10**-DIGITS))

    def place(self, index: int, row: Sequence[float], stroke: object = None) -> None:
        """Move or resize a bubble: it becomes (x, y, r) or (x, y, z, r). One stroke, such as a drag, is one undo."""
        rows = list(self.drawing.rows)
        self._check(index)
        rows[index] = tuple(row)
        if tuple(row) != self.drawing.rows[index]:
            self.history.push(self.drawing.with_rows(rows), stroke)
        self.selected = index

    def delete(self, index: int) -> None:
        """Take a bubble away; the next one is selected, so that Delete can be pressed again."""
        self._check(index)
        rows = self.drawing.rows
        self.history.push(self.drawing.with_rows([*rows[:index], *rows[index + 1 :]]))
        self.selected = min(index, len(rows) - 2)

    def clear(self) -> None:
        """Take all bubbles away."""
        self._become(self.drawing.with_rows(()))

    def select(self, index: int) -> None:
        """Select a bubble, or with -1 none."""
        if index >= 0:
            self._check(index)
        self.selected = max(index, -1)

    def preset(self, name: str) -> None:
        """Arrange the bubbles as one of the `presets`."""
        named = presets(self._dimensions)
        if name not in named:
            raise InputError(f"unknown preset {name!r}; known: {', '.join(named)}")
        self._become(self.drawing.changed(named[name]))

    def change(self, values: Mapping[str, Any]) -> None:
        """Set parameters of the problem."""
        # A layout alone moves bubbles; other parameters keep them, and so the selection.
        before = self.selected
        self._become(self.drawing.changed(values))
        if "layout" not in values:
            self.selected = before

    def set_side(self, side: str, boundary: str) -> None:
        """Make one side of the box a wall (neumann) or hold the pressure there (dirichlet)."""
        sides = {**self.drawing.sides}
        if side not in sides:
            raise InputError(f"unknown side {side!r}; known: {', '.join(sides)}")
        self.change({"sides": sides_text({**sides, side: boundary})})

    def undo(self) -> None:
        """Go one step back."""
        self.history.undo()
        self._keep_selection()

    def redo(self) -> None:
        """Go forward again."""
        self.history.redo()
        self._keep_selection()

    def _become(self, drawing: Drawing) -> None:
        self.history.push(drawing)
        self.selected = -1

    def _check(self, index: int) -> None:
        count = len(self.drawing.rows)
        if index == -1:
            raise InputError("no bubble is selected; select one by a click or with Tab")
        if not 0 <= index < count:
            raise InputError(f"there is no bubble {index + 1}; there are {count}")

    def _keep_selection(self) -> None:
        self.selected = min(self.selected, len(self.drawing.rows) - 1)
