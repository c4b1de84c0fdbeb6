"""Solves with M = (E + L) E^-1 (E + L^H) for stencils.

E is a positive diagonal, stored as 1/E, and L strictly lower triangular. Blocks have no couplings between them and are
solved in parallel. IC(0) and modified IC on the pattern of A, and SSOR, all have this form;
on a nearest-neighbour stencil L is the operator's own lower bands (Meijerink, van der Vorst 1977), and only 1/E is
stored.

The recurrence of a triangular solve is bound by latency: an unknown waits for its neighbour on the left. In a stencil a
row is therefore cut into tiles, and four chains advance together, each one tile behind the chain before it: four rows,
or four planes of a 3D grid, or four blocks. Within a step all but the recurrence itself is a vectorized loop over a
tile, and the four recurrences are independent of one another.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.source import helper
from workbench.compiler.words import shared, threads
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import product_flops
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total
from workbench.jit.threads import cores, launch, prepare
from workbench.jit.work_stealing import APART
from workbench.lines.types import accumulator

TILE = 256
"""Most unknowns of a row in one step."""
TASK = 16384
"""Blocks smaller than this many unknowns are grouped into one task, so that four chains have rows."""


class StencilFactor(OperatorTraits):
    """u = M^-1 r for a stencil, with (r, u), (u, u) and (r, r) in the backward sweep.

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
        unit = _unit_rows(rows, width, block_rows, strides[-1] // width if len(strides) == 3 else 0)
        tile = max(1, min(TILE, width * unit // 4, width))
        room = np.zeros((cores(), 8, tile), dtype)
        chains = np.zeros((cores(), 4, APART), np.int64), np.zeros((cores(), APART), dtype)
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
            *chains,
            partial,
            self._dots,
        )
        prepare(_solve_stencil, inverse, inverse, *self._fixed)

    def apply(self, r: np.ndarray, u: np.ndarray, *_: str) -> np.ndarray:
        """u = M^-1 r; computes all three dot products. The two may not be the same vector."""
        launch(r.size, _solve_stencil, r, u, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return (self._bands + 3 + self._bands + 4) * self._inverse.nbytes

    @property
    def flops(self) -> int:
        size = self._inverse.size
        return 2 * (product_flops(self._bands * size, self._inverse.dtype) + size)


def _tasks(rows: int, block_rows: int, width: int) -> np.ndarray:
    """Bounds, in grid rows, of the runs of whole blocks that one core works on at a time."""
    blocks_each = max(1, TASK // (block_rows * width))
    return np.append(np.arange(0, rows, blocks_each * block_rows), rows).astype(np.int64)


def _unit_rows(rows: int, width: int, block_rows: int, plane_rows: int) -> int:
    """Grid rows of a unit, which one chain traverses: several where short rows would make short tiles."""
    if width >= 4 * TILE:
        return 1
    if plane_rows and block_rows >= rows:
        return plane_rows
    if plane_rows and block_rows % plane_rows == 0:
        return plane_rows
    if block_rows < rows and (block_rows <= plane_rows or not plane_rows):
        return block_rows
    return 1


@kernel(*REORDERED)
def _solve_stencil(
    taken,
    r,
    u,
    low0,
    low1,
    low2,
    inverse,
    scale,
    width,
    far1,
    far2,
    unit,
    block_rows,
    bounds,
    room,
    places,
    carries,
    partial,
    dots,
):  # pragma: no cover
    for thread in threads(taken):
        for task in shared(taken, thread, partial.shape[0]):
            first, last = bounds[task], bounds[task + 1]
            mine = first, last, room[thread], places[thread], carries[thread]
            _forward(r, u, low0, low1, low2, inverse, scale, width, far1, far2, unit, block_rows, *mine)
            _backward(r, u, low0, low1, low2, inverse, width, far1, far2, unit, block_rows, *mine, partial[task])
    total(partial, dots)


@helper(*REORDERED)
def _forward(
    r, u, low0, low1, low2, inverse, scale, width, far1, far2, unit, block_rows, first, last, room, places, carry
):  # pragma: no cover
    """u = scale (E + L)^-1 r for the grid rows first to last."""
    tile = room.shape[1]
    tiles = (width + tile - 1) // tile
    chains = 4 if tiles * unit >= 4 else 1
    base, row, begin, count = _chain_starts(places, carry, first, unit)
    units = (last - first + unit - 1) // unit
    for step in range(tiles * unit * ((units + chains - 1) // chains) + chains - 1):
        for chain in range(chains):
            if step < chain or row[chain] >= last:
                count[chain], carry[chain] = 0, 0
                room[chain] = 0
                continue
            here = row[chain]
            if begin[chain] == 0:
                carry[chain] = 0
            size = min(tile, width - begin[chain])
            a = here * width + begin[chain]
            b = a + size
            count[chain] = size
            block = here // block_rows * block_rows
            # Between units there is no coupling to the row before, only to the same place in the unit before.
            nearest = block if unit == 1 else max(block, base[chain])
            s_r, s_inverse, s_low = r[a:b], inverse[a:b], low0[a:b]
            t, c = room[chain], room[chain + 4]
            for i in range(size):
                c[i] = s_low[i] * s_inverse[i]
            if here - far1 >= nearest:
                d = far1 * width
                s_band, s_near = low1[a:b], u[a - d : b - d]
                if here - far2 >= block:
                    d = far2 * width
                    s_band2, s_near2 = low2[a:b], u[a - d : b - d]
                    for i in range(size):
                        t[i] = (scale * s_r[i] - s_band[i] * s_near[i] - s_band2[i] * s_near2[i]) * s_inverse[i]
                else:
                    for i in range(size):
                        t[i] = (scale * s_r[i] - s_band[i] * s_near[i]) * s_inverse[i]
            elif here - far2 >= block:
                d = far2 * width
                s_band2, s_near2 = low2[a:b], u[a - d : b - d]
                for i in range(size):
                    t[i] = (scale * s_r[i] - s_band2[i] * s_near2[i]) * s_inverse[i]
            else:
                for i in range(size):
                    t[i] = scale * s_r[i] * s_inverse[i]
        t0, t1, t2, t3, c0, c1, c2, c3 = room[0], room[1], room[2], room[3], room[4], room[5], room[6], room[7]
        v0, v1, v2, v3 = carry[0], carry[1], carry[2], carry[3]
        for i in range(tile):
            v0 = t0[i] - c0[i] * v0
            v1 = t1[i] - c1[i] * v1
            v2 = t2[i] - c2[i] * v2
            v3 = t3[i] - c3[i] * v3
            t0[i] = v0
            t1[i] = v1
            t2[i] = v2
            t3[i] = v3
        carry[0], carry[1], carry[2], carry[3] = v0, v1, v2, v3
        for chain in range(chains):
            size = count[chain]
            if size == 0:
                continue
            a = row[chain] * width + begin[chain]
            s_u, t = u[a : a + size], room[chain]
            for i in range(size):
                s_u[i] = t[i]
            begin[chain] += size
            if begin[chain] == width:
                begin[chain] = 0
                row[chain] += 1
                if row[chain] == base[chain] + unit:
                    base[chain] += chains * unit
                    row[chain] = base[chain]


@helper(*REORDERED)
def _backward(
    r, u, low0, low1, low2, inverse, width, far1, far2, unit, block_rows, first, last, room, places, carry, sums
):  # pragma: no cover
    """u = (I + E^-1 L^H)^-1 u for the grid rows last to first, and the dot products of r and u."""
    tile = room.shape[1]
    tiles = (width + tile - 1) // tile
    chains = 4 if tiles * unit >= 4 else 1
    units = (last - first + unit - 1) // unit
    # Tiles are counted from the right end of a row, units from the last, which may lack rows.
    base, row, end, count = _chain_starts(places, carry, first + (units - 1) * unit, -unit)
    for chain in range(4):
        row[chain] += unit - 1
        end[chain] = width
    wide = sums.dtype.type
    ru, uu, rr = wide(0), wide(0), wide(0)
    for step in range(tiles * unit * ((units + chains - 1) // chains) + chains - 1):
        for chain in range(chains):
            if step < chain or base[chain] < first or row[chain] >= last:
                count[chain], carry[chain] = 0, 0
                room[chain] = 0
                continue
            here = row[chain]
            if end[chain] == width:
                carry[chain] = 0
            size = min(tile, end[chain])
            b = here * width + end[chain]
            a = b - size
            count[chain] = size
            block = min(last, (here // block_rows + 1) * block_rows)
            nearest = block if unit == 1 else min(block, base[chain] + unit)
            s_u, s_inverse, t, c = u[a:b], inverse[a:b], room[chain], room[chain + 4]
            # The last unknown of a row has no neighbour on the right; the entry there belongs to the next row.
            inside = size - 1 if end[chain] == width else size
            c[size - 1] = 0
            s_low = low0[a + 1 : a + 1 + inside]
            for i in range(inside):
                c[i] = np.conj(s_low[i]) * s_inverse[i]
            if here + far1 < nearest:
                d = far1 * width
                s_band, s_near = low1[a + d : b + d], u[a + d : b + d]
                if here + far2 < block:
                    d = far2 * width
                    s_band2, s_near2 = low2[a + d : b + d], u[a + d : b + d]
                    for i in range(size):
                        t[i] = (
                            s_u[i] - (np.conj(s_band[i]) * s_near[i] + np.conj(s_band2[i]) * s_near2[i]) * s_inverse[i]
                        )
                else:
                    for i in range(size):
                        t[i] = s_u[i] - np.conj(s_band[i]) * s_near[i] * s_inverse[i]
            elif here + far2 < block:
                d = far2 * width
                s_band2, s_near2 = low2[a + d : b + d], u[a + d : b + d]
                for i in range(size):
                    t[i] = s_u[i] - np.conj(s_band2[i]) * s_near2[i] * s_inverse[i]
            else:
                for i in range(size):
                    t[i] = s_u[i]
            # A short tile is the last of its row: the entries above it pass the carried value on unchanged.
            for i in range(size, tile):
                t[i] = carry[chain]
                c[i] = 0
        t0, t1, t2, t3, c0, c1, c2, c3 = room[0], room[1], room[2], room[3], room[4], room[5], room[6], room[7]
        v0, v1, v2, v3 = carry[0], carry[1], carry[2], carry[3]
        for k in range(tile):
            i = np.uint64(tile - 1 - k)
            v0 = t0[i] - c0[i] * v0
            v1 = t1[i] - c1[i] * v1
            v2 = t2[i] - c2[i] * v2
            v3 = t3[i] - c3[i] * v3
            t0[i] = v0
            t1[i] = v1
            t2[i] = v2
            t3[i] = v3
        carry[0], carry[1], carry[2], carry[3] = v0, v1, v2, v3
        for chain in range(chains):
            size = count[chain]
            if size > 0:
                a = row[chain] * width + end[chain] - size
                s_r, s_u, t = r[a : a + size], u[a : a + size], room[chain]
                for i in range(size):
                    s_u[i] = t[i]
                    left, right = wide(s_r[i]), wide(t[i])
                    ru += np.conj(left) * right
                    uu += np.conj(right) * right
                    rr += np.conj(left) * left
            elif step < chain or base[chain] < first:
                continue
            # Steps are counted for missing rows of a unit too, so that chains stay one tile apart.
            end[chain] -= min(tile, end[chain])
            if end[chain] == 0:
                end[chain] = width
                row[chain] -= 1
                if row[chain] < base[chain]:
                    base[chain] -= chains * unit
                    row[chain] = base[chain] + unit - 1
    sums[0], sums[1], sums[2] = ru, uu, rr


@helper()
def _chain_starts(places, carry, start, distance):  # pragma: no cover
    """Set four chains to their starts: unit, row, place in the row, tile length, carried value of the recurrence.

    Returns the first four, each an array of the chains."""
    base, row, place, count = places[0], places[1], places[2], places[3]
    for chain in range(4):
        base[chain] = row[chain] = start + distance * chain
        place[chain] = count[chain] = carry[chain] = 0
    return base, row, place, count
