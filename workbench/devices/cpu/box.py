"""Products with box operators: window sums along z, y and x, one after the other, while the cells are in the cache.

A chunk is a strip of grid rows through some planes. For each plane the strip is summed along z out of x itself, then
along x in rows that have zeros between them, then along y into the result; the planes that a sum along z reaches stay in
the core's own cache, so that x is read from memory about once. No sum is carried from one cell to the next: every one is
made anew, which vectorizes and keeps rounding as small as that of the assembled product.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.cpu import generated, memory
from workbench.devices.cpu.threads import cores, launch, prepare
from workbench.devices.lines.reference import accumulator

IN_CACHE = 512 * 1024
"""Bytes of the planes of a strip that a sum along z reaches: half of a core's own cache on common processors."""
CELLS_A_CHUNK = 65536


class BoxProduct:
    """out = (diagonal - coupling) x + coupling S x, with (x, out), (out, out) and (x, x) in the same pass.

    grid: (nz, ny, nx). Work space: two strips of a plane for each core.
    """

    def __init__(
        self, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype
    ) -> None:
        planes, rows, self._width = grid
        self._size, self._dtype, self._reach = planes * rows * self._width, np.dtype(dtype), reach
        self._kernel = generated.kernel(product_text(reach, self._dtype))
        strips, slabs, tallest = cut(grid, reach, self._dtype.itemsize)
        self._dots = np.zeros(3, accumulator(self._dtype))
        # A core works on two strips with their neighbours above and below; rows have `reach` zeros on either side.
        room = (tallest + 2 * reach) * (self._width + 2 * reach) + 2 * reach
        room += -room % memory.LINE + memory.MARGIN
        scratch = memory.vector(2 * cores() * room, self._dtype).reshape(cores(), 2, room)
        real = np.finfo(self._dtype).dtype.type
        weights = np.array([real(diagonal) - real(coupling), coupling], real)
        sides = np.array([planes, rows, self._width, strips, slabs], np.int64)
        self._fixed = (weights, sides, scratch, np.zeros((strips * slabs, 3), self._dots.dtype), self._dots)
        vector = np.empty(0, self._dtype)
        prepare(self._kernel, vector, vector, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray) -> np.ndarray:
        launch(self._size, self._kernel, x, out, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return 2 * self._size * self._dtype.itemsize

    @property
    def flops(self) -> int:
        add, multiply_add = (2, 8) if self._dtype.kind == "c" else (1, 2)
        return (6 * self._reach * add + 2 * add + 3 * multiply_add) * self._size


def cut(grid: tuple[int, int, int], reach: int, itemsize: int) -> tuple[int, int, int]:
    """How many strips of rows and slabs of planes a grid is cut into, and the rows of the tallest strip.

    It depends on the grid alone, so that sums do not depend on the machine.
    """
    planes, rows, width = grid
    fitting = IN_CACHE // ((2 * reach + 1) * width * itemsize) - 2 * reach
    strips = -(-rows // max(4 * reach, fitting))
    tallest = -(-rows // strips)
    slabs = min(planes, max(1, planes * tallest * width // CELLS_A_CHUNK))
    return strips, slabs, tallest


def product_text(reach: int, dtype: np.dtype) -> str:
    """The kernel of the product, its window sums written out."""
    dtype, wide = np.dtype(dtype), accumulator(dtype)
    conj = "np.conj" if wide.kind == "c" else ""
    window = range(2 * reach + 1)
    inside = " + ".join(f"x{k}[i]" for k in window)
    along = " + ".join(f"m{k}[i]" for k in window)
    across = " + ".join(f"u{k}[i]" for k in window)
    views = "\n".join(f"                    x{k} = x[at + ({k} - {reach})*plane:at + ({k} - {reach})*plane + nx]" for k in window)
    shifts = "\n".join(f"            m{k} = middle[{k}:{k} + length]" for k in window)
    ups = "\n".join(f"                u{k} = sums[(row - low + {k})*pitch + {reach}:(row - low + {k})*pitch + {reach} + nx]" for k in window)
    return f"""def kernel(x, y, weights, sides, scratch, partial, dots):
    nz, ny, nx, strips, slabs = sides[0], sides[1], sides[2], sides[3], sides[4]
    plane, pitch = ny*nx, nx + {2 * reach}
    own, coupling = weights[0], weights[1]
    for chunk in prange(strips*slabs):
        middle, sums = scratch[get_thread_id(), 0], scratch[get_thread_id(), 1]
        strip, slab = chunk//slabs, chunk%slabs
        low, high = ny*strip//strips, ny*(strip + 1)//strips
        # Rows of the strip and their neighbours; `from_row` to `to_row` are those that the grid has.
        from_row, to_row = max(0, low - {reach}), min(ny, high + {reach})
        length = (high - low + {2 * reach})*pitch
        for i in range(length + {2 * reach}):
            middle[i] = 0
        xy, yy, xx = dots.dtype.type(0), dots.dtype.type(0), dots.dtype.type(0)
        for z in range(nz*slab//slabs, nz*(slab + 1)//slabs):
            whole = z >= {reach} and z + {reach} < nz
            for row in range(from_row, to_row):
                at = (z*ny + row)*nx
                first = (row - low + {reach})*pitch + {2 * reach}
                line = middle[first:first + nx]
                if whole:
{views}
                    for i in range(nx):
                        line[i] = {inside}
                else:
                    for i in range(nx):
                        line[i] = x[at + i]
                    for other in range(max(0, z - {reach}), min(nz, z + {reach + 1})):
                        if other != z:
                            there = x[(other*ny + row)*nx:(other*ny + row + 1)*nx]
                            for i in range(nx):
                                line[i] += there[i]
            tall = sums[:length]
{shifts}
            for i in range(length):
                tall[i] = {along}
            for row in range(low, high):
                at = (z*ny + row)*nx
                mine, made = x[at:at + nx], y[at:at + nx]
{ups}
                for i in range(nx):
                    v = np.{dtype.name}(own*mine[i] + coupling*({across}))
                    made[i] = v
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
