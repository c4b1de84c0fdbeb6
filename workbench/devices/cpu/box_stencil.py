"""Products with box operators: window sums along z, x and y, one after the other, in the cache.

A chunk is a strip of grid rows through some planes. For each plane a few rows of the strip at a time are summed along z
out of x itself, then along x, then along y into the result, each in one loop over all of them; the ends of rows, where
the sum along x includes cells of the next row, are recomputed. The planes that a sum along z reaches stay in the cache
of the core, so that x is read from memory about once. No sum is carried from one cell to the next, which vectorizes and
keeps rounding as small as in the assembled product.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import box_flops
from workbench.host import memory
from workbench.jit import generated
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
        self._kernel = generated.kernel(product_text(reach, self._dtype))
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


def product_text(reach: int, dtype: np.dtype) -> str:
    """The kernel of the product, with unrolled window sums."""
    dtype, wide = np.dtype(dtype), accumulator(dtype)
    conj = "np.conj" if wide.kind == "c" else ""
    shifts = range(2 * reach + 1)
    inside, along, across = (" + ".join(f"{name}{k}[i]" for k in shifts) for name in "pmu")
    return f"""def kernel(taken, x, y, weights, sides, scratch, partial, dots):
    nz, ny, nx, strips, slabs = sides[0], sides[1], sides[2], sides[3], sides[4]
    plane, rows_per_step = ny*nx, sides[5]
    own, coupling = weights[0], weights[1]
    for thread in threads(taken):
        for chunk in shared(taken, thread, strips*slabs):
            middle, sums = scratch[thread, 0], scratch[thread, 1]
            strip, slab = chunk//slabs, chunk%slabs
            low, high = ny*strip//strips, ny*(strip + 1)//strips
            # Rows of the strip with its neighbours, as far as the grid has them; the others stay zero in `sums`.
            from_row, to_row = max(0, low - {reach}), min(ny, high + {reach})
            whole, above = (to_row - from_row)*nx, (from_row - low + {reach})*nx
            for i in range(above):
                sums[i] = 0
            for i in range(above + whole, (high - low + {2 * reach})*nx):
                sums[i] = 0
            xy, yy, xx = dots.dtype.type(0), dots.dtype.type(0), dots.dtype.type(0)
            for z in range(nz*slab//slabs, nz*(slab + 1)//slabs):
                ready = low
                for begin_row in range(from_row, to_row, rows_per_step):
                    end_row = min(to_row, begin_row + rows_per_step)
                    at, size = z*plane + begin_row*nx, (end_row - begin_row)*nx
                    summed = middle[{reach}:{reach} + size]
                    if z >= {reach} and z + {reach} < nz:
{_views("p", "x", "at + ({k} - " + str(reach) + ")*plane", "size", shifts, 24)}
                        for i in range(size):
                            summed[i] = {inside}
                    else:
                        here = x[at:at + size]
                        for i in range(size):
                            summed[i] = here[i]
                        for other in range(max(0, z - {reach}), min(nz, z + {reach + 1})):
                            if other != z:
                                there = x[at + (other - z)*plane:at + (other - z)*plane + size]
                                for i in range(size):
                                    summed[i] += there[i]
                    start = (begin_row - low + {reach})*nx
                    made = sums[start:start + size]
{_views("m", "middle", "{k}", "size", shifts)}
                    for i in range(size):
                        made[i] = {along}
                    # The ends of rows, where the sum along x includes cells of the row before or after.
                    for first in range(0, size, nx):
                        for begin, end in ((0, min(nx, {reach})), (max({reach}, nx - {reach}), nx)):
                            for i in range(begin, end):
                                total = summed[first + i]
                                for k in range(max(0, i - {reach}), min(nx, i + {reach + 1})):
                                    if k != i:
                                        total += summed[first + k]
                                made[first + i] = total
                    # Rows of the strip whose sum along y is complete.
                    done, ready = ready, high if end_row == to_row else max(ready, end_row - {reach})
                    at, start, size = z*plane + done*nx, (done - low)*nx, (ready - done)*nx
                    mine, out = x[at:at + size], y[at:at + size]
{_views("u", "sums", "start + {k}*nx", "size", shifts)}
                    for i in range(size):
                        v = np.{dtype.name}(own*mine[i] + coupling*({across}))
                        out[i] = v
                        left, right = np.{wide.name}(mine[i]), np.{wide.name}(v)
                        xy += {conj}(left)*right
                        yy += {conj}(right)*right
                        xx += {conj}(left)*left
            partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = xy, yy, xx
    for k in range(3):
        total = dots.dtype.type(0)
        for chunk in range(partial.shape[0]):
            total += partial[chunk, k]
        dots[k] = total
"""


def _views(name: str, array: str, start: str, size: str, shifts: range, indent: int = 20) -> str:
    """Lines that assign shifted slices of an array to names."""
    starts = [start.format(k=k) for k in shifts]
    return "\n".join(f"{' ' * indent}{name}{k} = {array}[{a}:{a} + {size}]" for k, a in enumerate(starts))
