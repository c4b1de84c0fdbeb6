"""Stencil kernels of the flow: plain functions of a piece of a row, and the loops over all pieces.

    def example(row, begin, first, end, strides, q, out): ...

computes the cells from `first` to before `end` of the row, whose first inner cell is `begin`. On the cores a piece is a
row, or what of it lies near the interface, and an innermost loop over its cells has nothing but reads, arithmetic and
choices in it, so that the compiler takes several cells at once. On accelerators a piece is one cell, so a work-item
passes through all loops with it, and its neighbours may still be those of before. A function that stores numbers of
its piece, which are added up or of which the largest counts, has them as its last argument.

strides: by direction, an array, or on GPUs numbers that are known while the kernel is read.
"""

from __future__ import annotations

import functools
from types import FunctionType

from workbench.compiler.kinds import Row
from workbench.compiler.source import helper
from workbench.compiler.words import (
    barrier,
    group,
    groups,
    items,
    local,
    member,
    members,
    set_at,
    shared,
    shared_array,
    threads,
    unrolled,
)
from workbench.devices.kernels.parameters import Bytes, Doubles, LongPlaces
from workbench.jit.compiled import Kernel, kernel

FAST = ("arcp", "contract", "nsz", "reassoc")
"""Licences for rounding only: NaN and infinity are kept."""


@helper()
def store(sums, k, value):  # pragma: no cover
    """Number k of the piece; sums: an array, the place of the piece in it, and the distance between the numbers."""
    set_at(sums[0], sums[1] + k * sums[2], value)


@kernel(*FAST)
def of_rows(taken, rows, ends, strides, arguments, *, of):  # pragma: no cover
    """Compute the pieces from rows[k] to before ends[k]."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            of(row, rows[row], rows[row], ends[row], strides, *arguments)


@kernel(*FAST)
def summed_rows(taken, rows, ends, strides, arguments, sums, *, of):  # pragma: no cover
    """Compute the pieces and store numbers of each row; sums: shape (numbers, rows) or (rows,)."""
    for thread in threads(taken):
        for row in shared(taken, thread, rows.size):
            of(row, rows[row], rows[row], ends[row], strides, *arguments, (sums, row, rows.size))


@functools.cache
def over_rows(function: FunctionType, *, summed: bool) -> Kernel:
    """The kernel of the cores for a function of pieces."""
    return (summed_rows if summed else of_rows).of(of=Row(function, ()))


def of_cells(rows: LongPlaces, near: Bytes, strides, arguments, count: int, *, of, nx):
    """Compute those of all inner cells, nx in a row, that are near. rows: the first inner cell of each row."""
    for item in items(count, 0, count):
        row, begin = item // nx, rows[item // nx]
        i = begin + item % nx
        if near[i] > 0:
            of(row, begin, i, i + 1, strides, *arguments)


def summed_cells(
    rows: LongPlaces, near: Bytes, strides, arguments, partial: Doubles, count: int, *, of, nx, sums, largest
):
    """Compute those cells; partial[k, group] = the sum of their number k over a group, or its maximum."""
    own, found = local(partial.dtype.type, sums), (0.0,) * sums
    for item in items(count, 0, count):
        row, begin = item // nx, rows[item // nx]
        i = begin + item % nx
        if near[i] > 0:
            of(row, begin, i, i + 1, strides, *arguments, (own, 0, 1))
            found = _with(found, own, largest=largest)
    room = shared_array(partial.dtype.type, members())
    for k in unrolled(sums):
        _over_group(room, found[k], largest=largest)
        if member() == 0:
            partial[k * groups() + group()] = room[0]
        barrier()


def _with(found, own, *, largest):
    """The numbers with those of another cell. NaN is kept."""
    more = ()
    for k in unrolled(len(found)):
        more += (_joined(found[k], own[k], largest=largest),)
    return more


def _over_group(room, value, *, largest):
    """room[0] = the sum or the maximum of the values of a group's work-items."""
    room[member()] = value
    barrier()
    reach = members() // 2
    while reach > 0:
        if member() < reach:
            room[member()] = _joined(room[member()], room[member() + reach], largest=largest)
        barrier()
        reach = reach // 2


def _joined(a, b, *, largest):
    if largest:
        return b if b > a or b != b else a
    return a + b
