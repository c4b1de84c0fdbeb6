"""Kernels on the parts of boxes split by phase: their numbers, and the rows of E = Z^T A Z.

`shape` and `boxes` are cells and boxes of three sides, slowest first. Kernels run twice, first to count and then to
fill in what they have counted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.compiler.words import conj, items, local, unrolled
from workbench.devices.host.box_parts import bounds, label_cells, phases_of
from workbench.devices.host.face_codes import BITS, CHOICES
from workbench.devices.kernels.parameters import LongPlaces, Places, Vector

Sides = tuple[int, int, int]
MOST_COUPLINGS = 40
"""Entries of a row of E that a work-item keeps to itself."""
MOST_PHASES = 24
"""Phases of a box that a work-item keeps to itself."""


def number(
    phase, shape: Sides, boxes: Sides, fill: int, starts: Places, labels: Places, box_of: Places, phase_of: Places,
    sizes: Places, count: int,
) -> None:  # fmt: skip
    """Count the phases of each box, starts[box], -1 for too many; or fill in the part of each cell, and box, phase and
    number of cells of each part. A work-item reads its box."""
    for box in items(count, 0, count):
        found, cells = local(np.int32, MOST_PHASES), bounds(box, shape, boxes)
        kinds = phases_of(phase, shape, cells, found)
        if not fill:
            starts[box] = kinds if kinds <= MOST_PHASES else -1
        else:
            first, counted = starts[box], local(np.int32, MOST_PHASES)
            for at in range(kinds):
                counted[at] = 0
            label_cells(phase, shape, cells, found, first, labels, counted)
            for at in range(kinds):
                box_of[first + at], phase_of[first + at], sizes[first + at] = box, found[at], counted[at]


def rows(
    operator, labels: Places, box_of: Places, shape: Sides, boxes: Sides, shift: int, size: int, first: int, fill: int,
    ends: LongPlaces, indices: Places, data: Vector, parts: int, *, cell: Callable[..., int],
) -> None:  # fmt: skip
    """Count the entries of the row of each part in E, ends[part], -1 for too many; or fill them in. A work-item reads
    the box of its part.

    The cells of boxes begin `shift` rows after those of A, of which there are `size`; `first` is added to the numbers
    of parts. cell: `of_stencil` or `of_faces`.
    """
    for part in items(parts, 0, parts):
        names, values, count = local(np.int32, MOST_COUPLINGS), local(data.dtype, MOST_COUPLINGS), 1
        names[0], values[0] = part, 0
        z0, z1, y0, y1, x0, x1 = bounds(box_of[part], shape, boxes)
        for z in range(z0, z1):
            for y in range(y0, y1):
                row = (z * shape[1] + y) * shape[2] + shift
                for i in range(row + x0, row + x1):
                    if labels[i] == part:
                        count = cell(i, count, (names, values), labels, size, *operator)
        if not fill:
            ends[part] = count
        else:
            for k in range(count):
                indices[ends[part] + k] = names[k] + first
                data[ends[part] + k] = values[k]


def of_stencil(i, count, row, labels, size, diagonal, lower, strides):
    """Add row i of a stencil to a row of E; the number of entries that has now."""
    _, values = row
    values[0] += diagonal[i]
    for k in unrolled(len(lower)):
        below, above = i - strides[k], i + strides[k]
        if count > 0 and below >= 0:
            count = _added(row, count, labels, below, lower[k][i])
        if count > 0 and above < size:
            count = _added(row, count, labels, above, conj(lower[k][above]))
    return count


def of_faces(i, count, row, labels, size, codes, faces, walls, strides, *, walled):
    """Add row i of an A in codes of faces to a row of E, as `of_stencil`; only faces between two parts count."""
    _, values = row
    if walled:
        values[0] += walls[codes[i] >> BITS * len(strides) & CHOICES - 1]
    for k in unrolled(len(strides)):
        below, above = i - strides[k], i + strides[k]
        if count > 0 and below >= 0:
            count = _across(row, count, labels, i, below, codes, i, faces, direction=k)
        if count > 0 and above < size:
            count = _across(row, count, labels, i, above, codes, above, faces, direction=k)
    return count


def _across(row, count, labels, i, near, codes, upper, faces, *, direction):
    """Add the face between a cell and a neighbour, whose coefficient is in the code of the upper one of both."""
    if labels[near] != labels[i]:
        value = faces[codes[upper] >> BITS * direction & CHOICES - 1]
        _, values = row
        values[0] += value
        count = _added(row, count, labels, near, -value)
    return count


def _added(row, count, labels, near, value):
    """Add a coupling to a neighbour to a row of E, whose last entries are looked at first; the number of entries that
    has now, -1 for too many."""
    names, values = row
    if value != 0:
        name, at = labels[near], count - 1
        while at >= 0 and names[at] != name:
            at -= 1
        if at >= 0:
            values[at] += value
        elif count < names.size:
            names[count], values[count] = name, value
            count += 1
        else:
            count = -1
    return count
