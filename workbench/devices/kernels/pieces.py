"""Kernels on local vectors of pieces: copies, sums with weights, and inner products on runs of unknowns.

Integers without annotation have 32 or 64 bits. `rows` are local vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.compiler.words import conj, group, groups, items, member, members, shared_array, unrolled, wide
from workbench.devices.kernels.frames import sum_of_sharers
from workbench.devices.kernels.parameters import Sums, Vector, places_of
from workbench.devices.pieces import ROWS_AT_ONCE

Rows = tuple[(Vector,) * ROWS_AT_ONCE]


def gather(v: Vector, unknowns, packed: Vector, n: int) -> None:
    """packed[i] = v[unknowns[i]]."""
    for i in items(n, 0, n):
        packed[i] = v[unknowns[i]]


def combine(
    rows: Rows, weights: Vector, target: Vector, segments, bounds, first, pieces, places, add: int, n: int
) -> None:
    """target[i] = the sum of the rows over the pieces that cover i, plus target[i] if add.

    weights: of each row, piece by piece. segments: of each unknown, where each segment begins in `bounds`, and its
    covers in `pieces` and `places`, in local vectors, in `first`.
    """
    for i in items(n, 0, n):
        segment, total = segments[i], target.dtype.type(0)
        if add != 0:
            total = target[i]
        for cover in range(first[segment], first[segment + 1]):
            place, weight = places[cover] + (i - bounds[segment]), ROWS_AT_ONCE * pieces[cover]
            for k in unrolled(ROWS_AT_ONCE):
                total += weights[weight + k] * rows[k][place]
        target[i] = total


def products(rows: Rows, panel, sources, places, starts, lengths, parts: Sums, count: int, *, sharing: int) -> None:
    """parts[ROWS_AT_ONCE*run + k] = (z_k, v) over a run of unknowns, for row z_k and one vector v of the panel.

    `sharing` work-items, a power of two, share a run. sources: the vector of each run. places, starts: where the run
    begins in local vectors and in v.
    """
    dtype = parts.dtype.type
    room, place, at_once = shared_array(dtype, members()), member() % sharing, members() // sharing
    for begin in range(group() * at_once, count, max(1, groups() * at_once)):
        run, sums = begin + member() // sharing, [dtype(0)] * ROWS_AT_ONCE
        if run < count:
            v, start, packed = panel[sources[run]], starts[run], places[run]
            for i in range(place, lengths[run], sharing):
                for k in unrolled(ROWS_AT_ONCE):
                    sums[k] += conj(wide(rows[k][packed + i])) * wide(v[start + i])
        for k in unrolled(ROWS_AT_ONCE):
            total = sum_of_sharers(room, sums[k], sharing=sharing)
            if place == 0 and run < count:
                parts[ROWS_AT_ONCE * run + k] = total


def of_arguments(index: np.dtype | type, names: Sequence[str], vectors: int = 0) -> dict[str, object]:
    """Annotations of parameters that have none. names: of integers, which have the dtype `index`. vectors: of the
    panel, if there is one."""
    panel = {"panel": tuple[(Vector,) * vectors]} if vectors else {}
    return {**dict.fromkeys(names, places_of(index)), **panel}
