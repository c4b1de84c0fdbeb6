"""Solves with M = (E + L) E^-1 (E + L^H), for stencils and CSR matrices.

E is a positive diagonal, of which 1/E is kept, and L strictly lower triangular; block by block, without couplings
between blocks, so that blocks go to the cores. IC(0) and modified IC on the pattern of A, and SSOR, all have this form;
on a nearest-neighbour stencil L is the operator's own lower bands (Meijerink, van der Vorst 1977), and only 1/E is
stored.

The recurrence of a triangular solve is bound by latency: an unknown waits for its neighbour on the left. In a stencil a
row is therefore cut into tiles, and four lanes go on together, each a tile behind the one before it: four rows, or four
planes of a 3D grid, or four blocks. Within a step all but the recurrence itself is a vectorized loop over a tile, and
the four recurrences are four independent chains.
"""

from __future__ import annotations

import numpy as np
from numba import get_thread_id, njit, prange  # pyright: ignore[reportPrivateImportUsage]
from scipy import sparse

from workbench.devices.cpu.csr import as_unsigned
from workbench.devices.cpu.threads import cores, launch, prepare
from workbench.devices.lines.reference import accumulator

TILE = 256
"""Most unknowns of a row that are worked on in one step."""
TASK = 8192
"""Blocks smaller than this many unknowns are worked on several at a time, so that four rows are under way."""


class StencilFactor:
    """u = M^-1 r for a stencil, with (r, u), (u, u) and (r, r) in the second sweep.

    lower: the operator's bands, x first, each of shape (N,); inverse: 1/E, shape (N,); width: unknowns of a grid row;
    block: unknowns of a block, whole grid rows; scale: M^-1 is taken this many times.
    """

    def __init__(
        self,
        lower: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        inverse: np.ndarray,
        width: int,
        block: int,
        scale: float,
    ) -> None:
        size, dtype = inverse.size, inverse.dtype
        self._bands, self._inverse = len(lower), inverse
        self._dots = np.zeros(3, accumulator(dtype))
        rows, block_rows = size // width, max(1, block // width)
        bounds = _tasks(rows, block_rows, width)
        unit = _lane_rows(rows, width, block_rows, strides[-1] // width if len(strides) == 3 else 0)
        tile = max(1, min(TILE, width * unit // 4, width))
        room = np.zeros((cores(), 4, tile), dtype)
        partial = np.zeros((bounds.size - 1, 3), self._dots.dtype)
        far = [*(strides[k] // width for k in range(1, len(strides))), *[rows] * 2][:2]
        bands = [*lower, *[np.empty(0, dtype)] * 3][:3]
        self._fixed = (
            *bands,
            inverse,
            np.finfo(dtype).dtype.type(scale),
            width,
            *far,
            unit,
            block_rows,
            bounds,
            room,
            partial,
            self._dots,
        )
        prepare(_solve_stencil, inverse, inverse, *self._fixed)

    def apply(self, r: np.ndarray, u: np.ndarray) -> np.ndarray:
        """u = M^-1 r; returns (r, u), (u, u) and (r, r). The two may not be the same vector."""
        launch(r.size, _solve_stencil, r, u, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return (self._bands + 3 + self._bands + 4) * self._inverse.nbytes

    @property
    def flops(self) -> int:
        multiply_add = 8 if self._inverse.dtype.kind == "c" else 2
        return 2 * (self._bands * multiply_add + 1) * self._inverse.size


class CsrFactor:
    """u = M^-1 r for a strictly lower triangle in CSR form, with (r, u), (u, u) and (r, r) in the second sweep.

    lower: L without couplings between blocks; inverse: 1/E, shape (N,); block: unknowns of a block; scale as above. L^H
    is kept as a CSR matrix of its own. Blocks go to the cores; one block is one core's.
    """

    def __init__(self, lower: sparse.csr_array, inverse: np.ndarray, block: int, scale: float) -> None:
        size, dtype = inverse.size, inverse.dtype
        upper = sparse.csr_array(lower.conj().T.tocsr())
        self._inverse, self._entries = inverse, lower.nnz
        self._dots = np.zeros(3, accumulator(dtype))
        bounds = _tasks(size, block, 1)
        triangles = [(half.data, as_unsigned(half.indices), as_unsigned(half.indptr)) for half in (lower, upper)]
        self._index_bytes = 2 * (lower.indices.nbytes + lower.indptr.nbytes)
        partial = np.zeros((bounds.size - 1, 3), self._dots.dtype)
        scale = np.finfo(dtype).dtype.type(scale)
        self._fixed = (*triangles[0], *triangles[1], inverse, scale, bounds.astype(np.uint64), partial, self._dots)
        prepare(_solve_csr, inverse, inverse, *self._fixed)

    def apply(self, r: np.ndarray, u: np.ndarray) -> np.ndarray:
        """u = M^-1 r; returns (r, u), (u, u) and (r, r). The two may not be the same vector."""
        launch(self._entries + r.size, _solve_csr, r, u, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return 2 * self._entries * self._inverse.itemsize + self._index_bytes + 7 * self._inverse.nbytes

    @property
    def flops(self) -> int:
        multiply_add = 8 if self._inverse.dtype.kind == "c" else 2
        return 2 * (self._entries * multiply_add + self._inverse.size)


def _tasks(rows: int, block_rows: int, width: int) -> np.ndarray:
    """Bounds, in grid rows, of the runs of whole blocks that one core works on at a time."""
    blocks_each = max(1, TASK // (block_rows * width))
    return np.append(np.arange(0, rows, blocks_each * block_rows), rows).astype(np.int64)


def _lane_rows(rows: int, width: int, block_rows: int, plane_rows: int) -> int:
    """Grid rows that a lane goes through before its next unit: several where short rows would make short tiles."""
    if width >= 4 * TILE:
        return 1
    if plane_rows and block_rows >= rows:
        return plane_rows
    if plane_rows and block_rows % plane_rows == 0:
        return plane_rows
    if block_rows < rows and (block_rows <= plane_rows or not plane_rows):
        return block_rows
    return 1


@njit(parallel=True, nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _solve_stencil(
    r, u, low0, low1, low2, inverse, scale, width, far1, far2, unit, block_rows, bounds, room, partial, dots
):  # pragma: no cover
    for task in prange(partial.shape[0]):
        first, last = bounds[task], bounds[task + 1]
        mine = room[get_thread_id()]
        _forward(r, u, low0, low1, low2, inverse, scale, width, far1, far2, unit, block_rows, first, last, mine)
        _backward(
            r, u, low0, low1, low2, inverse, width, far1, far2, unit, block_rows, first, last, mine, partial[task]
        )
    for k in range(3):
        dots[k] = 0
    for task in range(partial.shape[0]):
        for k in range(3):
            dots[k] += partial[task, k]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _forward(
    r, u, low0, low1, low2, inverse, scale, width, far1, far2, unit, block_rows, first, last, room
):  # pragma: no cover
    """u = scale (E + L)^-1 r for the grid rows first to last."""
    tile = room.shape[1]
    tiles = (width + tile - 1) // tile
    items = tiles * unit
    lanes = 4 if items >= 4 else 1
    starts = np.empty(4, np.int64)
    counts = np.zeros(4, np.int64)
    zero = u.dtype.type(0)
    left0, left1, left2, left3 = zero, zero, zero, zero
    units = (last - first + unit - 1) // unit
    steps = items * ((units + lanes - 1) // lanes) + lanes - 1
    for step in range(steps):
        together = lanes == 4
        for lane in range(lanes):
            counts[lane] = 0
            place = step - lane
            # Between units there is no coupling to the row before, only to the same place in the unit before.
            base = first + (lane + lanes * (place // items)) * unit
            row = base + place % items // tiles
            if place < 0 or row >= last:
                together = False
                continue
            begin = (place % tiles) * tile
            a = row * width + begin
            count = min(tile, width - begin)
            b = a + count
            starts[lane] = a
            counts[lane] = count
            together &= count == tile
            block = (row // block_rows) * block_rows
            s_r, s_u, s_inverse, s_low, s_c = r[a:b], u[a:b], inverse[a:b], low0[a:b], room[lane, :count]
            if row - far1 >= (block if unit == 1 else max(block, base)):
                d = far1 * width
                s_band, s_near = low1[a:b], u[a - d : b - d]
                if row - far2 >= block:
                    d = far2 * width
                    s_band2, s_near2 = low2[a:b], u[a - d : b - d]
                    for i in range(count):
                        s_u[i] = (scale * s_r[i] - s_band[i] * s_near[i] - s_band2[i] * s_near2[i]) * s_inverse[i]
                else:
                    for i in range(count):
                        s_u[i] = (scale * s_r[i] - s_band[i] * s_near[i]) * s_inverse[i]
            elif row - far2 >= block:
                d = far2 * width
                s_band2, s_near2 = low2[a:b], u[a - d : b - d]
                for i in range(count):
                    s_u[i] = (scale * s_r[i] - s_band2[i] * s_near2[i]) * s_inverse[i]
            else:
                for i in range(count):
                    s_u[i] = scale * s_r[i] * s_inverse[i]
            for i in range(count):
                s_c[i] = s_low[i] * s_inverse[i]
            if begin == 0:
                if lane == 0:
                    left0 = zero
                elif lane == 1:
                    left1 = zero
                elif lane == 2:
                    left2 = zero
                else:
                    left3 = zero
        if together:
            u0, u1 = u[starts[0] : starts[0] + tile], u[starts[1] : starts[1] + tile]
            u2, u3 = u[starts[2] : starts[2] + tile], u[starts[3] : starts[3] + tile]
            c0, c1, c2, c3 = room[0], room[1], room[2], room[3]
            for i in range(tile):
                left0 = u0[i] - c0[i] * left0
                left1 = u1[i] - c1[i] * left1
                left2 = u2[i] - c2[i] * left2
                left3 = u3[i] - c3[i] * left3
                u0[i] = left0
                u1[i] = left1
                u2[i] = left2
                u3[i] = left3
        else:
            if counts[0]:
                left0 = _chain(u, starts[0], counts[0], room[0], left0)
            if counts[1]:
                left1 = _chain(u, starts[1], counts[1], room[1], left1)
            if counts[2]:
                left2 = _chain(u, starts[2], counts[2], room[2], left2)
            if counts[3]:
                left3 = _chain(u, starts[3], counts[3], room[3], left3)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _chain(u, start, count, c, left):  # pragma: no cover
    s_u = u[start : start + count]
    for i in range(count):
        left = s_u[i] - c[i] * left
        s_u[i] = left
    return left


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _backward(
    r, u, low0, low1, low2, inverse, width, far1, far2, unit, block_rows, first, last, room, sums
):  # pragma: no cover
    """u = (I + E^-1 L^H)^-1 u for the grid rows last to first, and the dot products of r and u."""
    tile = room.shape[1]
    tiles = (width + tile - 1) // tile
    items = tiles * unit
    lanes = 4 if items >= 4 else 1
    starts = np.empty(4, np.int64)
    counts = np.zeros(4, np.int64)
    zero = u.dtype.type(0)
    right0, right1, right2, right3 = zero, zero, zero, zero
    wide = sums.dtype.type
    ru, uu, rr = wide(0), wide(0), wide(0)
    units = (last - first + unit - 1) // unit
    steps = items * ((units + lanes - 1) // lanes) + lanes - 1
    for step in range(steps):
        together = lanes == 4
        for lane in range(lanes):
            counts[lane] = 0
            place = step - lane
            base = first + (units - 1 - lane - lanes * (place // items)) * unit
            row = base + unit - 1 - place % items // tiles
            if place < 0 or base < first or row >= last:
                together = False
                continue
            # Tiles are counted from the right end, so the short one is the first of the row.
            end = width - (place % tiles) * tile
            b = row * width + end
            count = min(tile, end)
            a = b - count
            starts[lane] = a
            counts[lane] = count
            together &= count == tile
            block = min(last, (row // block_rows + 1) * block_rows)
            s_u, s_inverse, s_c = u[a:b], inverse[a:b], room[lane, :count]
            # The last unknown of the row has no neighbour on the right; the entry there belongs to the next row.
            inside = count - 1 if end == width else count
            s_low = low0[a + 1 : a + 1 + inside]
            if inside < count:
                s_c[inside] = 0
            for i in range(inside):
                s_c[i] = np.conj(s_low[i]) * s_inverse[i]
            if row + far1 < (block if unit == 1 else min(block, base + unit)):
                d = far1 * width
                s_band, s_near = low1[a + d : b + d], u[a + d : b + d]
                if row + far2 < block:
                    d = far2 * width
                    s_band2, s_near2 = low2[a + d : b + d], u[a + d : b + d]
                    for i in range(count):
                        s_u[i] -= (np.conj(s_band[i]) * s_near[i] + np.conj(s_band2[i]) * s_near2[i]) * s_inverse[i]
                else:
                    for i in range(count):
                        s_u[i] -= np.conj(s_band[i]) * s_near[i] * s_inverse[i]
            elif row + far2 < block:
                d = far2 * width
                s_band2, s_near2 = low2[a + d : b + d], u[a + d : b + d]
                for i in range(count):
                    s_u[i] -= np.conj(s_band2[i]) * s_near2[i] * s_inverse[i]
            if end == width:
                if lane == 0:
                    right0 = zero
                elif lane == 1:
                    right1 = zero
                elif lane == 2:
                    right2 = zero
                else:
                    right3 = zero
        if together:
            u0, u1 = u[starts[0] : starts[0] + tile], u[starts[1] : starts[1] + tile]
            u2, u3 = u[starts[2] : starts[2] + tile], u[starts[3] : starts[3] + tile]
            c0, c1, c2, c3 = room[0], room[1], room[2], room[3]
            for k in range(tile):
                i = np.uint64(tile - 1 - k)
                right0 = u0[i] - c0[i] * right0
                right1 = u1[i] - c1[i] * right1
                right2 = u2[i] - c2[i] * right2
                right3 = u3[i] - c3[i] * right3
                u0[i] = right0
                u1[i] = right1
                u2[i] = right2
                u3[i] = right3
        else:
            if counts[0]:
                right0 = _chain_back(u, starts[0], counts[0], room[0], right0)
            if counts[1]:
                right1 = _chain_back(u, starts[1], counts[1], room[1], right1)
            if counts[2]:
                right2 = _chain_back(u, starts[2], counts[2], room[2], right2)
            if counts[3]:
                right3 = _chain_back(u, starts[3], counts[3], room[3], right3)
        for lane in range(lanes):
            s_r, s_u = r[starts[lane] : starts[lane] + counts[lane]], u[starts[lane] : starts[lane] + counts[lane]]
            for i in range(counts[lane]):
                left, right = wide(s_r[i]), wide(s_u[i])
                ru += np.conj(left) * right
                uu += np.conj(right) * right
                rr += np.conj(left) * left
    sums[0], sums[1], sums[2] = ru, uu, rr


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _chain_back(u, start, count, c, right):  # pragma: no cover
    s_u = u[start : start + count]
    for k in range(count):
        i = np.uint64(count - 1 - k)
        right = s_u[i] - c[i] * right
        s_u[i] = right
    return right


@njit(parallel=True, nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _solve_csr(
    r, u, lower, lower_at, lower_rows, upper, upper_at, upper_rows, inverse, scale, bounds, partial, dots
):  # pragma: no cover
    wide = dots.dtype.type
    for task in prange(partial.shape[0]):
        first, last = bounds[task], bounds[task + 1]
        for i in range(first, last):
            value = scale * r[i]
            for j in range(lower_rows[i], lower_rows[i + 1]):
                value -= lower[j] * u[lower_at[j]]
            u[i] = value * inverse[i]
        ru, uu, rr = wide(0), wide(0), wide(0)
        for k in range(last - first):
            i = last - 1 - k
            value = u.dtype.type(0)
            for j in range(upper_rows[i], upper_rows[i + 1]):
                value += upper[j] * u[upper_at[j]]
            value = u[i] - value * inverse[i]
            u[i] = value
            left, right = wide(r[i]), wide(value)
            ru += np.conj(left) * right
            uu += np.conj(right) * right
            rr += np.conj(left) * left
        partial[task, 0], partial[task, 1], partial[task, 2] = ru, uu, rr
    for k in range(3):
        dots[k] = 0
    for task in range(partial.shape[0]):
        for k in range(3):
            dots[k] += partial[task, k]
