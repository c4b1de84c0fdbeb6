"""One pass over a CSR matrix that finds nothing wrong with most: what conjugate gradients need of it, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiler.words import conj, real, sqrt, wide
from workbench.devices.bound import Request
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.kernel_language.row_kernels import kernel


class Seen(NamedTuple):
    """The result of the pass.

    sound: every row has sorted columns in range without duplicates, finite entries, which differ from those of their
    partners by at most the tolerance times the largest entry of the row, sizes whose sum is half the largest number at
    most, and unless `plain` a diagonal entry above 0 with a finite inverse. Where it is False, the matrix may still be
    as good. constants: every row has a sum of zero up to rounding. diagonal: on the host, shape (N,), where the matrix
    is sound. copies: data, indices and indptr with the copies that an accelerator has of them.
    """

    sound: bool
    constants: bool
    diagonal: np.ndarray
    copies: tuple[tuple[np.ndarray, DeviceVector], ...]


@kernel(sums=3)
def checked_row(row, data, indices, starts, rows, tolerance, units, root, least, most, diagonal, *, plain=False):
    """One for a row that needs another look, entries right of the diagonal less those left of it, and 1 for a row whose
    sum is not zero up to `units` plus `root` times the root of its length, relative to the sum of absolute values.

    plain: compare with A^T in place of A^H, and diagonals may be any. least: the smallest diagonal entry. most: the
    largest sum of absolute values of a row.
    """
    doubtful, alone, above, largest, worst, sizes = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    low, high, before = starts[row], starts[row + 1], -1
    own, total = data.dtype.type(0), wide(data.dtype.type(0))
    for j in range(low, high):
        column, value = np.int64(indices[j]), data[j]
        size = wide(abs(value))
        if column < 0 or column <= before or column >= rows or size - size != 0:
            doubtful = 1.0
        else:
            largest = max(largest, size)
            sizes += size
            total += wide(value)
            mirrored = value if plain else conj(value)
            if column > row:
                alone += 1
            elif column == row:
                own = value
                worst = max(worst, wide(abs(value - mirrored)))
            else:
                alone -= 1
                first, end = np.int64(starts[column]), np.int64(starts[column + 1])
                last = end
                while first < last:
                    middle = (first + last) // 2
                    if np.int64(indices[middle]) < row:
                        first = middle + 1
                    else:
                        last = middle
                if first < end and np.int64(indices[first]) == row:
                    worst = max(worst, wide(abs(data[first] - mirrored)))
                else:
                    doubtful = 1.0
        before = column
    if not worst <= tolerance * largest or not sizes <= most or (not plain and not real(own) >= least):
        doubtful = 1.0
    if not abs(total) <= (units + root * sqrt(wide(high - low))) * sizes:
        above = 1.0
    diagonal[row] = own
    return doubtful, alone, above


def seen(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    device: Device,
    tolerance: float,
    rounding: tuple[float, float],
    *,
    plain: bool,
) -> Seen:
    """A square CSR matrix as a device sees it; indptr is not damaged.

    tolerance: of the difference of partners. rounding: that of a sum, and what its root of entries adds to that.

    Cost: a read of the matrix, and of some entries of other rows for each left of the diagonal; on an accelerator the
    matrix is copied there, and the diagonal back.
    """
    rows, dtype = indptr.size - 1, data.dtype
    fixed = {"data": data, "indices": indices, "starts": indptr, "rows": rows, "tolerance": tolerance}
    least, most = float(np.finfo(dtype).tiny), float(np.finfo(dtype).max) / 2
    fixed |= {"units": rounding[0], "root": rounding[1], "least": least, "most": most}
    bound = device.bind(Request(checked_row, rows, dtype, fixed, indptr, {"plain": plain}))
    diagonal = device.zeros(rows, dtype)
    sums = bound(diagonal)
    doubtful, alone, above = np.real(sums if isinstance(sums, np.ndarray) else sums.to_host())
    sound = doubtful == 0 and alone == 0
    placed = [bound.fixed[name] for name in ("data", "indices", "starts")]
    given = data, indices, indptr
    copies = () if device.whole_triangles else tuple(zip(given, placed, strict=True))
    own = np.array(device.to_host(diagonal)) if sound else np.empty(0, dtype)
    return Seen(bool(sound), bool(above == 0), own, copies)
