"""Boxes of a grid that lie in one slab each: what a rank has of them, in numbers of its own and of all ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab import Slab


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
    phases, sizes = ([getattr(boxes, name) for boxes in slabs] for name in ("phases", "sizes"))
    return Boxes(grid, per_side, *(np.concatenate(parts) for parts in (box, phases, sizes)))
