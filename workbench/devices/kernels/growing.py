"""Kernels of parts that are grown on an accelerator: the rows of each part together, and level after level of them.

`entries`, `columns` and `ends` are a matrix in double precision, row by row, the diagonal entry of a row first.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.kernels.nesting import Matrix
from workbench.devices.kernels.parameters import Doubles, LongPlaces, Places, Vector
from workbench.compiler.words import items


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


def numbered(seeds: Doubles, before: Places, labels: Places, rows: int) -> None:
    """The part 0, 1, .. of each row from the row that is its seed. before: the seeds before each row."""
    for i in items(rows, 0, rows):
        labels[i] = before[np.int64(seeds[i])]


def begun(labels: Places, keys: Places, order: Places, rows: int) -> None:
    """What a sort by labels begins with."""
    for i in items(rows, 0, rows):
        keys[i], order[i] = labels[i], i


def split(keys: Places, order: Places, ends: Places, keys_made: Places, order_made: Places, rows: int) -> None:
    """A pass of a stable sort by keys: even ones come first, and each loses its last bit. ends: running sums of 1 for
    even keys."""
    for i in items(rows, 0, rows):
        at = ends[i] if keys[i] & 1 == 0 else ends[rows] + i - ends[i]
        keys_made[at], order_made[at] = keys[i] >> 1, order[i]


def together(labels: Places, order: Places, places: Places, parents: Places, starts: Places, rows: int) -> None:
    """For rows in an order by parts: the place of each row, the part at each place, and the first place of each
    part."""
    for i in items(rows, 0, rows):
        part = labels[order[i]]
        places[order[i]], parents[i] = i, part
        if i == 0 or labels[order[i - 1]] != part:
            starts[part] = i
        if i == rows - 1:
            starts[part + 1] = rows


def ranks(labels: Places, places: Places, starts: Places, found: Places, rows: int) -> None:
    """The number of each row among those of its part."""
    for i in items(rows, 0, rows):
        found[i] = places[i] - starts[labels[i]]


def is_seed_of_itself(i, seeds):
    """1 for a row that is the seed of its part, else 0."""
    return 1 if seeds[i] == i else 0


def is_even(i, keys):
    """1 for an even key, else 0."""
    return 1 - (keys[i] & 1)


def length(i, ends):
    """Rows of a part."""
    return ends[i + 1] - ends[i]


def counted(starts: Places, children: Places, parts: int) -> None:
    """The rows of each part."""
    for part in items(parts, 0, parts):
        children[part] = starts[part + 1] - starts[part]
