"""Kernels of the setup of a coarse system's levels: parts of boxes split by phase, nested, and their Galerkin sums.

`shape` and `boxes` are cells and boxes of three sides, slowest first. Kernels on parts run twice, first to count and
then to fill in what they have counted.

All sums of a row are in the order in which the cores add them. `matrix` is the entries of E in double precision and
their columns, where each row begins, and where it would end if rows lay one behind the other; the diagonal entry of a
row is the first one. Extremes over all rows are stored as those of each group.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.compiler.words import (
    barrier,
    conj,
    group,
    groups,
    items,
    local,
    member,
    members,
    shared_array,
    sqrt,
    unrolled,
)
from workbench.devices.host.aggregation import NOTHING
from workbench.devices.host.box_merging import MOST_MERGED, merge_box
from workbench.devices.host.box_parts import bounds, label_cells, phases_of
from workbench.devices.host.face_codes import BITS, CHOICES
from workbench.devices.kernels.parameters import Doubles, LongPlaces, Places, RealSum, Vector

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


Matrix = tuple[Doubles, Places, LongPlaces, LongPlaces]


def merge(
    firsts: Places, phases: Places, fine: Sides, fill: int, starts: Places, merged: Places, children: Places,
    parents: Places, ranks: Places, boxes: int,
) -> None:  # fmt: skip
    """Count the parts of merged boxes, starts[box]; or fill in the phases of merged parts and how many parts each has,
    the merged part of each part, and its rank among those of that."""
    coarse = ((fine[0] + 1) // 2, (fine[1] + 1) // 2, (fine[2] + 1) // 2)
    for box in items(boxes, 0, boxes):
        lists = local(np.int32, MOST_MERGED), local(np.int32, MOST_MERGED)
        if fill:
            merge_box(box, firsts, phases, fine, coarse, lists, starts[box], (merged, parents, children, ranks))
        else:
            starts[box] = merge_box(box, firsts, phases, fine, coarse, lists, 0, ())


def order(
    parents: Places, ranks: Places, above: Places, starts: Places, order: Places, places: Places, rows: Places,
    parts: int,
) -> None:  # fmt: skip
    """Rows of the parts of a level such that those of a parent are consecutive: a part gets the row of its rank among
    the children of its parent. above: the row of each parent."""
    for part in items(parts, 0, parts):
        row = above[parents[part]]
        at = starts[row] + ranks[part]
        order[at] = part
        places[part] = at
        rows[at] = row


def first(
    data: Doubles, indices: Places, ends: LongPlaces, order: Places, places: Places, begins: LongPlaces,
    columns: Places, scale: Doubles, extremes: Doubles, rows: int,
) -> None:  # fmt: skip
    """The rows of E stay where they are and get places of columns. scale: D^-1/2. Extremes: the least and the largest
    diagonal entry, and the largest |sum| and sum of |entries| of a row."""
    dtype = data.dtype.type
    room = shared_array(dtype, members())
    low, high, highest, largest = dtype(1e308), dtype(-1e308), dtype(0), dtype(0)
    for i in items(rows, 0, rows):
        begin = ends[order[i]]
        total, absolute = dtype(0), dtype(0)
        for j in range(begin, ends[order[i] + 1]):
            columns[j] = places[indices[j]]
            total += data[j]
            absolute += abs(data[j])
        begins[i] = begin
        scale[i] = 1 / sqrt(data[begin])
        low = _least(low, data[begin])
        high = max(high, data[begin])
        highest = max(highest, abs(total))
        largest = max(largest, absolute)
    _store_extreme(room, low, extremes, group(), least=True)
    _store_extreme(room, high, extremes, groups() + group(), least=False)
    _store_extreme(room, highest, extremes, 2 * groups() + group(), least=False)
    _store_extreme(room, largest, extremes, 3 * groups() + group(), least=False)


def galerkin(
    matrix: Matrix, starts: Places, parents: Places, sums: Doubles, names: Places, begins: LongPlaces, counts: Places,
    scale: Doubles, extremes: Doubles, parts: int, *, components: bool,
) -> None:  # fmt: skip
    """P^T E P for parts of consecutive rows, and D^-1/2 of it. A work-item adds the rows of a part, in the room that
    their entries had, the diagonal entry first. Extreme: the least diagonal entry.

    components: a diagonal entry of which nothing but rounding is left, as of a component of a singular matrix, becomes
    the sum of those of the rows, or 1."""
    data, columns, firsts, ends = matrix
    dtype = data.dtype.type
    room, low = shared_array(dtype, members()), dtype(1e308)
    for part in items(parts, 0, parts):
        at, count = ends[starts[part]], 1
        names[at], sums[at], own = part, 0, dtype(0)
        for row in range(starts[part], starts[part + 1]):
            begin = firsts[row] - ends[row]
            own += data[firsts[row]]
            for j in range(begin + ends[row], begin + ends[row + 1]):
                name, k = parents[columns[j]], count - 1
                while k >= 0 and names[at + k] != name:
                    k -= 1
                if k < 0:
                    k = count
                    count += 1
                    names[at + k], sums[at + k] = name, 0
                sums[at + k] += data[j]
        if components and abs(sums[at]) <= NOTHING * own:
            sums[at] = own if own > 0 else dtype(1)
        begins[part], counts[part] = at, count
        scale[part] = 1 / sqrt(sums[at])
        low = _least(low, sums[at])
    _store_extreme(room, low, extremes, group(), least=True)


def scale_rows(
    matrix: Matrix, parents: Places, scale: Doubles, scale_below: Doubles, root: RealSum, scaled: Vector,
    indices: Places, weights: Vector, own: Vector, extremes: Doubles, rows: int,
) -> None:  # fmt: skip
    """The rows with unit diagonal, one behind the other, in the precision of the level; weights of the rows at their
    parents, and D^-1/2 times a root. Extreme: the largest sum of a row of |D^-1 E|."""
    data, columns, begins, ends = matrix
    dtype = data.dtype.type
    room, highest = shared_array(dtype, members()), dtype(0)
    for i in items(rows, 0, rows):
        begin, s, total = begins[i] - ends[i], scale[i], dtype(0)
        for j in range(ends[i], ends[i + 1]):
            total += abs(data[begin + j])
            scaled[j] = data[begin + j] * s * scale[columns[begin + j]]
            indices[j] = columns[begin + j]
        weights[i] = scale_below[parents[i]] / s
        own[i] = root * s
        highest = max(highest, total * s * s)
    _store_extreme(room, highest, extremes, group(), least=False)


def ratios(
    matrix: Matrix, scale: Doubles, v: Doubles, factor: RealSum, product: Doubles, extremes: Doubles, rows: int
) -> None:
    """product = factor |S| v, S being the matrix with unit diagonal. Extreme: the largest entry of |S| v over v."""
    data, columns, begins, ends = matrix
    dtype = data.dtype.type
    room, highest = shared_array(dtype, members()), dtype(0)
    for i in items(rows, 0, rows):
        total = dtype(0)
        for j in range(begins[i], begins[i] + ends[i + 1] - ends[i]):
            total += abs(data[j]) * scale[columns[j]] * v[columns[j]]
        product[i] = factor * scale[i] * total
        highest = max(highest, scale[i] * total / v[i])
    _store_extreme(room, highest, extremes, group(), least=False)


def reciprocals(values: Doubles, found: Doubles, count: int) -> None:
    """One over each value."""
    for i in items(count, 0, count):
        found[i] = 1 / values[i]


def diagonal_first(
    data: Vector, indices, starts, entries: Doubles, columns: Places, ends: LongPlaces, rows: int
) -> None:
    """A matrix whose rows all have a diagonal entry, with that first."""
    for i in items(rows, 0, rows):
        begin, at = starts[i], starts[i] + 1
        for j in range(begin, starts[i + 1]):
            place = begin
            if indices[j] != i:
                place = at
                at += 1
            entries[place], columns[place] = data[j], indices[j]
        ends[i] = begin
        if i == rows - 1:
            ends[rows] = starts[rows]


def closed(matrix: Matrix, entries: Doubles, columns: Places, rows: int) -> None:
    """The rows of a matrix one behind the other."""
    data, names, begins, ends = matrix
    for i in items(rows, 0, rows):
        begin = begins[i] - ends[i]
        for j in range(ends[i], ends[i + 1]):
            entries[j], columns[j] = data[begin + j], names[begin + j]


def dense(matrix: Matrix, scale: Doubles, filled: Doubles, sums: Doubles, rows: int) -> None:
    """A dense matrix of zeros gets the entries of the last level, scaled to a unit diagonal; sums: of its rows,
    unscaled."""
    data, columns, begins, ends = matrix
    for i in items(rows, 0, rows):
        total = data.dtype.type(0)
        for j in range(begins[i], begins[i] + ends[i + 1] - ends[i]):
            filled[i * rows + columns[j]] = data[j] * scale[i] * scale[columns[j]]
            total += data[j]
        sums[i] = total


def shift(matrix: Doubles, null: Doubles, factor: RealSum, rows: int, entries: int) -> None:
    """A dense matrix plus a factor of v v^T, in place."""
    for i in items(entries, 0, entries):
        matrix[i] += factor * null[i // rows] * null[i % rows]


def shifted(matrix: Doubles, null: Doubles, factor: RealSum, rows: int, target: Vector, entries: int) -> None:
    """target = matrix + factor v v^T, as `shift`, in the precision of the target."""
    for i in items(entries, 0, entries):
        target[i] = matrix[i] + factor * null[i // rows] * null[i % rows]


def _least(low, value):
    """The lower of two numbers; NaN stays."""
    return value if value < low or value != value else low


def _store_extreme(room, value, extremes, place, *, least):
    """extremes[place] = the least or the largest of the values of a group; NaN stays."""
    room[member()] = value
    barrier()
    reach = members() // 2
    while reach > 0:
        if member() < reach:
            here, other = room[member()], room[member() + reach]
            if (other < here if least else other > here) or other != other:
                room[member()] = other
        barrier()
        reach = reach // 2
    if member() == 0:
        extremes[place] = room[0]
    barrier()
