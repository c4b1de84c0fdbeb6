"""Products with box operators: window sums along z, x and y, one after the other, in the cache.

A chunk is a strip of grid rows through some planes. For each plane a few rows of the strip at a time are summed along z
out of x itself, then along x, then along y into the result, each in one loop over all of them; the ends of rows, where
the sum along x includes cells of the next row, are recomputed. The planes that a sum along z reaches stay in the cache
of the core, so that x is read from memory about once. No sum is carried from one cell to the next, which vectorizes and
keeps rounding as small as in the assembled product.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads, unrolled
from workbench.devices.host import memory
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import box_flops
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total, with_row
from workbench.jit.threads import cores, launch, prepare
from workbench.lines.types import accumulator

IN_CACHE = 512 * 1024
"""Bytes of the planes of a strip that a sum along z reaches: half of a private second-level cache."""
CELLS_PER_CHUNK = 65536
CELLS_PER_STEP = 1024
"""Cells of a strip that are summed at a time: 8 KiB of doubles, which stay in a first-level cache between sums."""


class BoxStencilProduct(OperatorTraits):
    """out = (diagonal - coupling) x + coupling S x, with (x, out), (out, out) and (x, x) in the same pass.

    grid: (nz, ny, nx). Work space: two strips of a plane for each core, and a strip is never less than whole rows.
    """

    def __init__(
        self, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype
    ) -> None:
        planes, rows, self._width = grid
        self._size, self._dtype, self._reach = planes * rows * self._width, np.dtype(dtype), reach
        self._kernel = _product.of(reach=reach)
        rows_per_step = max(1, CELLS_PER_STEP // self._width)
        strips, slabs, tallest = cut(grid, reach, self._dtype.itemsize)
        self._dots = np.zeros(3, accumulator(self._dtype))
        # A core works on two strips with their neighbours above and below.
        room = (tallest + 2 * reach) * self._width + 2 * reach
        room += -room % memory.LINE + memory.MARGIN
        scratch = memory.vector(2 * cores() * room, self._dtype).reshape(cores(), 2, room)
        real = np.finfo(self._dtype).dtype.type
        weights = np.array([real(diagonal) - real(coupling), coupling], real)
        sides = np.array([planes, rows, self._width, strips, slabs, rows_per_step], np.int64)
        self._fixed = (weights, sides, scratch, np.zeros((strips * slabs, 3), self._dots.dtype), self._dots)
        vector = np.empty(0, self._dtype)
        prepare(self._kernel, vector, vector, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> np.ndarray:
        launch(self._size, self._kernel, x, out, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return 2 * self._size * self._dtype.itemsize

    @property
    def flops(self) -> int:
        return box_flops(self._size, self._reach, self._dtype)


def cut(grid: tuple[int, int, int], reach: int, itemsize: int) -> tuple[int, int, int]:
    """Number of strips of rows and of slabs of planes, and the rows of the tallest strip.

    They depend on the grid alone, so that sums do not depend on the machine.
    """
    planes, rows, width = grid
    fitting = IN_CACHE // ((2 * reach + 1) * width * itemsize) - 2 * reach
    strips = -(-rows // max(4 * reach, fitting))
    tallest = -(-rows // strips)
    slabs = min(planes, max(1, planes * tallest * width // CELLS_PER_CHUNK))
    return strips, slabs, tallest


@kernel(*REORDERED)
def _product(taken, x, y, weights, sides, scratch, partial, dots, *, reach):  # pragma: no cover
    planes, rows, width, strips, slabs, step = sides
    own, coupling = weights
    for thread in threads(taken):
        for chunk in shared(taken, thread, strips * slabs):
            strip, slab = chunk // slabs, chunk % slabs
            low, high = rows * strip // strips, rows * (strip + 1) // strips
            # Rows of the strip with its neighbours, as far as the grid has them; the others stay zero in `sums`.
            first, end = max(0, low - reach), min(rows, high + reach)
            middle, sums = scratch[thread, 0], scratch[thread, 1]
            sums[: (first - low + reach) * width] = 0
            sums[(end - low + reach) * width : (high - low + 2 * reach) * width] = 0
            found = (dots.dtype.type(0),) * 3
            for z in range(planes * slab // slabs, planes * (slab + 1) // slabs):
                done = low
                for row in range(first, end, max(1, step)):
                    last = min(end, row + step)
                    size, above = (last - row) * width, (row - low + reach) * width
                    _sum_along_z(x, middle[reach : reach + size], z, row, rows, planes, width, reach=reach)
                    _sum_along_x(middle, sums[above : above + size], width, reach=reach)
                    # Rows of the strip whose sum along y is complete.
                    ready = high if last == end else max(done, last - reach)
                    at, start = (z * rows + done) * width, (done - low) * width
                    for i in range((ready - done) * width):
                        value = own * x[at + i]
                        value += coupling * _window(sums, start + i, width, reach=reach)
                        y[at + i] = value
                        found = with_row(found, x[at + i], value, dtype=dots.dtype)
                    done = ready
            partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = found
    total(partial, dots)


def _sum_along_z(x, sums, z, row, rows, planes, width, *, reach):  # pragma: no cover
    """Sums of some rows of plane z with those of the planes above and below."""
    at, plane = (z * rows + row) * width, rows * width
    if z >= reach and z + reach < planes:
        for i in range(sums.size):
            sums[i] = _window(x, at + i - reach * plane, plane, reach=reach)
    else:
        for i in range(sums.size):
            sums[i] = x[at + i]
        for other in range(max(0, z - reach), min(planes, z + reach + 1)):
            if other != z:
                for i in range(sums.size):
                    sums[i] += x[at + (other - z) * plane + i]


def _sum_along_x(x, sums, width, *, reach):  # pragma: no cover
    """Sums of each cell with its neighbours in the row; x begins `reach` entries before the first row."""
    for i in range(sums.size):
        sums[i] = _window(x, i, 1, reach=reach)
    # Those at the ends of rows have included cells of the row before or after.
    for first in range(0, sums.size, max(1, width)):
        for begin, end in ((0, min(width, reach)), (max(reach, width - reach), width)):
            for i in range(begin, end):
                value = x[reach + first + i]
                for k in range(max(0, i - reach), min(width, i + reach + 1)):
                    if k != i:
                        value += x[reach + first + k]
                sums[first + i] = value


def _window(x, first, apart, *, reach):  # pragma: no cover
    """The sum of 2 reach + 1 entries, each `apart` after the one before."""
    value = x[first]
    for k in unrolled(2 * reach):
        value += x[first + (k + 1) * apart]
    return value
