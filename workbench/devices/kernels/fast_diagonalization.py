"""Matrices of eigenvectors applied along an axis of many boxes: a batch of small dense products in one launch.

A box is seen as columns along the axis: out[i, c] = sum over j of M[i, j] of[j, c]. A group computes a square tile of
`out`; `tiles` has three numbers per tile: box, first row and first column. `boxes` has six numbers per box and axis:
its place in the local vector, the points along the axis, the unknowns from one of them to the next, the columns, and
the places of M and of the inverse eigenvalues. So boxes of different sizes are one launch.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import barrier, group, groups, local, member, members, quotient, shared_array
from workbench.devices.kernels.box_sweeps import divided, multiplied, scale_of
from workbench.devices.kernels.parameters import LongPlaces, Sums, Vector

EDGE = 32
"""Rows and columns of a tile."""
PITCH = EDGE + 1
"""From a row of a tile in local memory to the next."""
DEPTH = 16
"""Columns of M, and rows of `of`, that are in local memory at a time."""
SIDE = 8
"""Work-items per side of a tile; each computes EDGE/SIDE rows and columns. On a processor there is one, whose compiler
then vectorizes along a row of the tile."""


def product_annotations(*, mixed: bool, first: bool, last: bool) -> dict[str, object]:
    """Annotations of the parameters of `eigenvectors` that have none."""
    return {
        "of": Sums if mixed and first else Vector,
        "out": Sums if mixed and last else Vector,
        "peaks": Sums if mixed and (first or last) else (),
    }


def eigenvectors(
    of, out, matrices: Vector, inverse: Vector, boxes: LongPlaces, tiles: LongPlaces, peaks, transposed: int, jobs: int,
    *, side: int, points: int, mixed: bool, first: bool, divides: bool, last: bool,
) -> None:  # fmt: skip
    """out = M of along an axis of every box, M the matrix of eigenvectors or its transpose.

    side: the root of the work-items of a group, which have `points` rows and columns each. mixed: vectors are wider
    than M. first: `of` is r, which is divided by the largest magnitude in its box if mixed. divides: by the sums of
    eigenvalues. last: `out` is z, which is scaled back.
    """
    dtype = matrices.dtype.type
    left, right = shared_array(dtype, DEPTH * PITCH), shared_array(dtype, DEPTH * PITCH)
    place = shared_array(np.int64, EDGE)
    own_row, own_column = member() // side, member() % side
    for job in range(group(), jobs, max(1, groups())):
        box, top, begin = tiles[3 * job], tiles[3 * job + 1], tiles[3 * job + 2]
        start, n, apart = boxes[6 * box], boxes[6 * box + 1], boxes[6 * box + 2]
        columns, matrix, eigenvalues = boxes[6 * box + 3], boxes[6 * box + 4], boxes[6 * box + 5]
        scale = scale_of(peaks, box, mixed=mixed and (first or last))
        for c in range(member(), EDGE, members()):
            line = quotient(begin + c, apart)
            place[c] = start + line * n * apart + (begin + c - line * apart)
        sums = local(dtype, points * points)
        for k in range(points * points):
            sums[k] = 0
        for low in range(0, n, DEPTH):
            barrier()
            # Consecutive work-items read consecutive numbers of either array.
            for m in range(member(), DEPTH * EDGE, members()):
                k, row = (m // EDGE, m % EDGE) if transposed else (m % DEPTH, m // DEPTH)
                i, j = top + row, low + k
                at = matrix + (j * n + i if transposed else i * n + j)
                left[k * PITCH + row] = matrices[at] if i < n and j < n else 0
            for m in range(member(), DEPTH * EDGE, members()):
                k, c = (m // EDGE, m % EDGE) if apart > 1 else (m % DEPTH, m // DEPTH)
                j, entry = low + k, dtype(0)
                if j < n and begin + c < columns:
                    entry = divided(of[place[c] + j * apart], scale, mixed=mixed and first)
                right[k * PITCH + c] = entry
            barrier()
            # Compilers fuse the two operations.
            for k in range(DEPTH):
                for a in range(points):
                    factor = left[k * PITCH + own_row + a * side]
                    for b in range(points):
                        sums[a * points + b] += factor * right[k * PITCH + own_column + b * side]
        for a in range(points):
            for b in range(points):
                row, c = top + own_row + a * side, own_column + b * side
                if row < n and begin + c < columns:
                    i, value = place[c] + row * apart, sums[a * points + b]
                    if divides:
                        value *= inverse[eigenvalues + (i - start)]
                    out[i] = multiplied(value, scale, mixed=mixed and last)
        barrier()
