"""The model of the bubbles: a drawing that is a value, presets to begin with, and the changes that are allowed."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.live.builders.sides_field import sides_text
from workbench.live.ui.undo import History
from workbench.problems.bubble_geometry import Geometry, to_text
from workbench.problems.bubbles import Bubbles, Bubbles2D, Bubbles3D
from workbench.problems.sides import Boundary, parse_sides
from workbench.words.numbers import rounded

Row = tuple[float, ...]
KEPT = ("n", "density_ratio", "sides")
"""Parameters that do not say where bubbles lie."""
RANDOM = ("count", "radius", "geometry_seed")
"""Parameters that place bubbles at random."""
EMPTY = "there is no bubble on the canvas; click on free space to add one, or choose a preset"
DIGITS = 3
"""Decimals of a radius that is chosen to fit."""
FEWER = {2: 256, 3: 64}
"""Cells per side of a first drawing, few enough to be solved while a bubble is dragged."""
MOST_CELLS = 1 << 18
"""The most cells that are solved while they are drawn, those of 512^2 and of 64^3: half a second on two cores."""
CLASSES: dict[int, type[Bubbles]] = {2: Bubbles2D, 3: Bubbles3D}


@dataclasses.dataclass(frozen=True)
class Drawing:
    """A problem, or with `empty` its parameters alone, before there are bubbles.

    Raises InputError for a problem one of whose bubbles contains no cell centre.
    """

    parameters: Bubbles
    empty: bool = False
    unit: ClassVar[str] = "side lengths"

    def __post_init__(self) -> None:
        if self.rows:
            self.parameters.geometry().check_cells(self.parameters.n)

    @property
    def problem(self) -> Bubbles:
        """The problem. Raises InputError where there is no bubble."""
        if self.empty:
            raise InputError(EMPTY)
        return self.parameters

    @property
    def too_large(self) -> str:
        """Why it is not solved while it is drawn; empty where it is."""
        n, dimensions = self.parameters.n, self.dimensions
        most = round(MOST_CELLS ** (1 / dimensions))
        if n <= most:
            return ""
        return f"n = {n} has too many cells for that; it works up to n = {most} in {dimensions}D"

    @property
    def dimensions(self) -> int:
        """2 or 3."""
        return self.parameters.dimensions

    @functools.cached_property
    def rows(self) -> tuple[Row, ...]:
        """(x, y, r) or (x, y, z, r) of each bubble, in side lengths."""
        if self.empty:
            return ()
        geometry = self.parameters.geometry()
        return tuple(map(tuple, np.column_stack([geometry.centres, geometry.radii]).tolist()))

    @property
    def placed(self) -> dict[str, Any]:
        """The parameters by which bubbles were placed at random, else their number; none for an empty drawing."""
        if self.empty:
            return {}
        values = self.parameters.parameter_values
        return {name: values[name] for name in RANDOM} if values["layout"] == "random" else {"count": len(self.rows)}

    @property
    def height(self) -> float:
        """The height of the box, in its other side lengths."""
        return 1.0

    @property
    def new_radius(self) -> float:
        """The radius of an added bubble where there is room for it, in side lengths."""
        return 0.1

    @property
    def density_ratio(self) -> float:
        """The density inside over that outside."""
        return self.parameters.density_ratio

    @property
    def sides(self) -> dict[str, Boundary]:
        """The condition on every side."""
        return parse_sides(self.parameters.sides, self.dimensions)

    def with_rows(self, rows: Sequence[Row]) -> Drawing:
        """The drawing with other bubbles, listed one by one. Raises InputError where they cannot lie like that."""
        if not rows:
            return dataclasses.replace(self, empty=True)
        values = np.array(rows, dtype=np.float64)
        return Drawing(type(self.parameters).from_arrays(values[:, :-1], values[:, -1], **self._kept()))

    def changed(self, values: Mapping[str, Any]) -> Drawing:
        """The drawing with other parameters; the bubbles stay unless the parameters place them. Raises InputError."""
        if "layout" in values:
            return Drawing(type(self.parameters).create({**self._kept(), **values}))
        return dataclasses.replace(self, parameters=self.parameters.changed(values))

    def _kept(self) -> dict[str, Any]:
        values = self.parameters.parameter_values
        return {name: values[name] for name in KEPT}

    def room(self, centre: Sequence[float]) -> float:
        """The largest radius that a bubble at that place could have; below zero inside another bubble."""
        point = np.array(centre)
        walls = float(min(point.min(), (1 - point[:-1]).min(), self.height - point[-1]))
        return min([walls, *(math.dist(centre, row[:-1]) - row[-1] for row in self.rows)])


def in_words(drawing: Drawing, selected: int) -> str:
    """The bubbles in words. selected: number of the bubble that is described, from 0 on, or -1 for all."""
    bubbles = len(drawing.rows)
    if selected < 0:
        return f"{bubbles or 'no'} bubble{'s' * (bubbles != 1)}"
    *centre, radius = drawing.rows[selected]
    place = ", ".join(map(rounded, centre))
    return f"bubble {selected + 1} at ({place}), radius {rounded(radius)} ({drawing.unit})"


def presets(dimensions: int) -> dict[str, dict[str, Any]]:
    """The arrangements by name, as the parameters of a problem that say where its bubbles lie."""
    sides = " x ".join
    named = {"one bubble": _grid(1)}
    named |= {sides(str(k) * dimensions): _grid(k**dimensions) for k in (2, 3, 4)}
    if dimensions == 2:
        named["staggered"] = _listed(_staggered_rows())
        named["a big one among small ones"] = _listed([(0.5, 0.5, 0.22), *_ring(12, 0.38, 0.07)])
    else:
        corners = list(itertools.product((0.22, 0.78), repeat=3))
        named["staggered"] = _listed([*((*corner, 0.18) for corner in corners), (0.5, 0.5, 0.5, 0.18)])
        small = [(*corner, 0.1) for corner in itertools.product((0.18, 0.82), repeat=3)]
        named["a big one among small ones"] = _listed([(0.5, 0.5, 0.5, 0.3), *small])
    return named


def _grid(count: int) -> dict[str, Any]:
    return {"layout": "grid", "count": count}


def _listed(rows: Iterable[Row]) -> dict[str, Any]:
    values = np.array(list(rows))
    return {"layout": "list", "bubbles": to_text(Geometry(values[:, :-1], values[:, -1]))}


def _staggered_rows() -> list[Row]:
    """Rows of three and two in turn, each over the gaps of the one below."""
    return [
        (x, y, 0.1)
        for number, y in enumerate((0.14, 0.38, 0.62, 0.86))
        for x in ((0.2, 0.5, 0.8) if number % 2 == 0 else (0.35, 0.65))
    ]


def _ring(count: int, distance: float, radius: float) -> list[Row]:
    angles = 2 * np.pi * np.arange(count) / count
    return [
        (round(0.5 + distance * float(np.cos(angle)), 4), round(0.5 + distance * float(np.sin(angle)), 4), radius)
        for angle in angles
    ]


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
        """Turn to the drawing in 2D or in 3D; the first time it is the registered default, of at most `FEWER` cells."""
        if dimensions not in CLASSES:
            raise InputError(f"bubbles are in 2 or 3 dimensions, got {dimensions}")
        if dimensions not in self._histories:
            first = CLASSES[dimensions].create({"density_ratio": self.drawing.density_ratio})
            self._histories[dimensions] = History(Drawing(first.changed({"n": min(first.n, FEWER[dimensions])})))
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
        row = (*centre, self.fitting(centre, self.drawing.new_radius) if radius is None else radius)
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

    def fitting(self, centre: Sequence[float], wanted: float) -> float:
        """The radius wanted of a bubble at that place, or the largest that there is room for."""
        room = math.floor(10**DIGITS * self.drawing.room(centre)) / 10**DIGITS
        return min(wanted, max(room, 10**-DIGITS))

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
        """Make one side of the box a wall (neumann) or fix the pressure there (dirichlet)."""
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
