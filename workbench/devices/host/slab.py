"""Slabs: the planes of a grid that one rank has, and the ghost planes that it shares with its neighbours.

Boxes of a grid that lie in one slab each have numbers of the rank's own and of all ranks.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

from workbench.devices.host.boxes import Boxes
from workbench.errors import InputError


@dataclasses.dataclass(frozen=True)
class Slab:
    """Planes first to last - 1 of a grid along its slowest side, which are consecutive unknowns.

    grid: cells per side of the whole grid, slowest first. depth: ghost planes that vectors have room for on each side,
    fewer where the grid ends; every slab of the grid has at least depth - 1 planes.

    Examples:
        >>> from workbench.devices.host.slab import Slab
        >>> slab = Slab((8, 4), 4, 8, 2)
        >>> slab.rows, slab.own, slab.below, slab.above
        (slice(16, 32, None), (4, 4), 2, 0)
    """

    grid: tuple[int, ...]
    first: int
    last: int
    depth: int = 1

    @property
    def plane(self) -> int:
        """Cells of a plane."""
        return math.prod(self.grid[1:])

    @property
    def own(self) -> tuple[int, ...]:
        """Cells per side of the slab without ghosts."""
        return (self.last - self.first, *self.grid[1:])

    @property
    def size(self) -> int:
        """Cells of the slab without ghosts."""
        return (self.last - self.first) * self.plane

    @property
    def whole(self) -> int:
        """Cells of the grid."""
        return math.prod(self.grid)

    @property
    def rows(self) -> slice:
        """The unknowns of the slab."""
        return slice(self.first * self.plane, self.last * self.plane)

    @property
    def below(self) -> int:
        """Ghost planes before the first."""
        return min(self.depth, self.first)

    @property
    def above(self) -> int:
        """Ghost planes behind the last."""
        return min(self.depth, self.grid[0] - self.last)

    def within(self, depth: int) -> Slab:
        """This slab with fewer ghost planes, at most `depth` on a side."""
        return dataclasses.replace(self, depth=depth)

    @property
    def planes(self) -> slice:
        """The planes of the grid with the ghosts."""
        return slice(self.first - self.below, self.last + self.above)

    @property
    def taller(self) -> tuple[int, ...]:
        """Cells per side with the ghosts."""
        return (self.planes.stop - self.planes.start, *self.grid[1:])

    @property
    def inner(self) -> slice:
        """The unknowns of the slab in a vector with the ghosts."""
        return slice(self.below * self.plane, self.below * self.plane + self.size)


def slab_of(grid: tuple[int, ...], rank: int, ranks: int, depth: int, multiple: int = 1, why: str = "") -> Slab:
    """The slab of a rank; the planes are divided evenly, in multiples of `multiple` planes.

    depth: ghost planes; a neighbour must own all but the outermost of them, and at least one. why: what needs them, for
    the message. Raises InputError for slabs that are too thin, with the largest possible number of ranks.
    """
    units, groups = grid[0] // multiple, -(-max(1, depth - 1) // multiple)
    need = groups * multiple
    ends = [grid[0] if at == ranks else units * at // ranks * multiple for at in range(ranks + 1)]
    thinnest = min(b - a for a, b in itertools.pairwise(ends))
    if ranks > 1 and thinnest < need:
        most = max(1, units // groups)
        needs = f"{why} needs {need} planes on a rank" if why and need > 1 else "a rank needs a plane of the grid"
        raise InputError(
            f"{needs}, and {grid[0]} planes on {ranks} ranks leave {grid[0] // ranks}; "
            f"use at most {most} rank{'s' * (most > 1)}",
            changes={"ranks": most},
        )
    return Slab(grid, ends[rank], ends[rank + 1], depth)


def boxes_along(slab: Slab, count: int) -> slice | None:
    """The boxes of a slab along the slowest side, of `count` on the whole side.

    None where other slabs have a part of one, or where the slab alone would be divided otherwise.
    """
    at = np.arange(slab.first, slab.last) * count // slab.grid[0]
    first, last = int(at[0]), int(at[-1]) + 1
    alone = np.arange(at.size) * (last - first) // at.size + first
    shared = (slab.first > 0 and (slab.first - 1) * count // slab.grid[0] == first) or (
        slab.last < slab.grid[0] and slab.last * count // slab.grid[0] == last - 1
    )
    return None if shared or not np.array_equal(at, alone) else slice(first, last)


def boxes_of_slab(boxes: Boxes, slab: Slab) -> tuple[Boxes, int] | None:
    """The boxes of a slab and the first of their parts, which are consecutive; None where slabs share boxes."""
    along = boxes_along(slab, boxes.per_side[0])
    if along is None:
        return None
    others = math.prod(boxes.per_side[1:])
    begin, end = (int(part) for part in np.searchsorted(boxes.box, (along.start * others, along.stop * others)))
    per_side = (along.stop - along.start, *boxes.per_side[1:])
    own = slice(begin, end)
    return Boxes(slab.own, per_side, boxes.box[own] - along.start * others, boxes.phases[own], boxes.sizes[own]), begin


def of_all_slabs(slabs: Sequence[Boxes], grid: tuple[int, ...], per_side: tuple[int, ...]) -> Boxes:
    """The boxes of a grid from those of each of its slabs, in their order."""
    others = math.prod(per_side[1:])
    firsts = np.cumsum([0, *(boxes.per_side[0] for boxes in slabs[:-1])]) * others
    box = [boxes.box + first for boxes, first in zip(slabs, firsts, strict=True)]
    phases, sizes = [boxes.phases for boxes in slabs], [boxes.sizes for boxes in slabs]
    return Boxes(grid, per_side, *(np.concatenate(parts) for parts in (box, phases, sizes)))
