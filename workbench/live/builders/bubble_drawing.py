"""A problem of bubbles as a value that is drawn on: its bubbles as rows of numbers, or none yet."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.problems.bubbles import Bubbles
from workbench.problems.sides import Boundary, parse_sides
from workbench.words.numbers import count, rounded

Row = tuple[float, ...]
KEPT = ("n", "contrast", "sides")
"""Parameters that do not say where bubbles lie."""
EMPTY = "there is no bubble on the canvas; click on free space to add one, or choose a preset"


@dataclasses.dataclass(frozen=True)
class Drawing:
    """A problem, or with `empty` its parameters alone, before there are bubbles.

    Raises InputError for a problem one of whose bubbles holds no cell centre.
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
    def height(self) -> float:
        """The height of the box, in its other side lengths."""
        return 1.0

    @property
    def new_radius(self) -> float:
        """The radius of an added bubble where there is room for it, in side lengths."""
        return 0.1

    @property
    def contrast(self) -> float:
        """The density inside over that outside."""
        return self.parameters.contrast

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
        return {name: getattr(self.parameters, name) for name in KEPT}

    def room(self, centre: Sequence[float]) -> float:
        """The largest radius that a bubble at that place could have; below zero inside another bubble."""
        point = np.array(centre)
        walls = float(min(point.min(), (1 - point[:-1]).min(), self.height - point[-1]))
        return min([walls, *(math.dist(centre, row[:-1]) - row[-1] for row in self.rows)])


def in_words(drawing: Drawing, selected: int) -> str:
    """The drawing in words. selected: number of the bubble that is described in addition, from 0 on, or -1."""
    n, bubbles, unit = drawing.parameters.n, len(drawing.rows), drawing.unit
    size = f"{n}{'²³'[drawing.dimensions - 2]} = {count(n**drawing.dimensions)} cells"
    if drawing.height != 1:
        shape = *(n,) * (drawing.dimensions - 1), round(n * drawing.height)
        size = f"{' x '.join(map(str, shape))} = {count(math.prod(shape))} cells"
    if drawing.empty:
        return f"no bubbles yet on {size}"
    reported = f"{bubbles} bubble{'s' if bubbles > 1 else ''} on {size}"
    if selected < 0:
        return reported
    *centre, radius = drawing.rows[selected]
    place = ", ".join(map(rounded, centre))
    return f"{reported}; bubble {selected + 1} at ({place}), radius {rounded(radius)} ({unit})"
