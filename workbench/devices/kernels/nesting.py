"""Kernels of the setup of a coarse system's levels: nested boxes split by phase, and their Galerkin sums.

All sums of a row are in the order in which the cores add them. `matrix` is the entries of E in double precision and
their columns, where each row begins, and where it would end if rows lay one behind the other; the diagonal entry of a
row is the first one. Extremes over all rows are stored as those of each group.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import barrier, group, groups, items, local, member, members, shared_array, sqrt
from workbench.devices.host.box_merging import MOST_MERGED, merge_box
from workbench.devices.kernels.box_parts import Sides
from workbench.devices.kernels.parameters import Doubles, LongPlaces, Places, RealSum, Vector

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
    scale: Doubles, extremes: Doubles, parts: int,
) -> None:  # fmt: skip
    """P^T E P for parts of consecutive rows, and D^-1/2 of it. A work-item adds the rows of a part, in the room that
    their entries had, the diagonal entry first. Extreme: the least diagonal entry."""
    data, columns, firsts, ends = matrix
    dtype = data.dtype.type
    room, low = shared_array(dtype, members()), dtype(1e308)
    for part in items(parts, 0, parts):
        at, count = ends[starts[part]], 1
        names[at], sums[at] = part, 0
        for row in range(starts[part], starts[part + 1]):
            begin = firsts[row] - ends[row]
            for j in range(begin + ends[row], begin + ends[row + 1]):
                name, k = parents[columns[j]], count - 1
                while k >= 0 and names[at + k] != name:
                    k -= 1
                if k < 0:
                    k = count
                    count += 1
                    names[at + k], sums[at + k] = name, 0
                sums[at + k] += data[j]
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
