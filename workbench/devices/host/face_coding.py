"""Codes of faces made on the cores from the phases of cells, and read as bands."""

from __future__ import annotations

import math

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.face_codes import BITS, CHOICES, FaceCodes
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

NO_FACE = 3
"""The code of a face at the edge of the grid."""
MOST_WALLS = 6
"""Sides of a cell, all of which may lie on the boundary."""


def face_codes(
    phase: np.ndarray, values: tuple[float, float, float], closed: list[bool], wall_values: tuple[float, float]
) -> FaceCodes | None:
    """The codes of cells of two phases; None where cells have more than three different wall terms.

    phase: integer, shape (nx,), (ny, nx) or (nz, ny, nx); above 0 in the second phase.
    values: the coefficients of faces within the first phase, between the two, and within the second.
    closed: for the sides x-, x+, y-, .. whether nothing passes; else each face there adds to the wall term.
    wall_values: what it adds, in the first and in the second phase.

    Cost: one pass over the phases, two where a side is not closed.
    """
    grid = np.array((1,) * (3 - phase.ndim) + phase.shape, np.int64)
    open_sides = np.zeros(MOST_WALLS, np.uint8)
    open_sides[: len(closed)] = ~np.array(closed)
    seen = np.zeros(2 * (MOST_WALLS + 1), np.uint8)
    slots = np.zeros(seen.size, np.uint8)
    codes = np.empty(phase.size, np.uint8)
    flat = np.ascontiguousarray(phase).reshape(-1)
    arguments = (flat, grid, phase.ndim, open_sides)
    if open_sides.any():
        launch(phase.size, _encode, *arguments, False, slots, seen, codes)
    terms = np.array([(at // 2) * wall_values[at % 2] for at in range(seen.size)])
    found = np.flatnonzero(seen)
    if found.size >= CHOICES:
        return None
    slots[found] = np.arange(1, found.size + 1)
    launch(phase.size, _encode, *arguments, True, slots, seen, codes)
    walls = np.zeros(CHOICES)
    walls[slots[found]] = terms[found]
    strides = tuple(math.prod(phase.shape[::-1][:k]) for k in range(phase.ndim))
    return FaceCodes(codes, np.array([*values, 0.0]), walls, strides)


def recoded(faces: FaceCodes, phase: np.ndarray, cells: np.ndarray) -> FaceCodes | None:
    """The codes for a phase that has changed in some cells alone; None where one of them has a wall term.

    phase: as of `face_codes`. cells: flat places. Cost: a copy of the codes.
    """
    wall = BITS * faces.directions
    if (faces.codes[cells] >> wall).any():
        return None
    inside, codes = phase.reshape(-1) > 0, faces.codes.copy()
    for direction, stride in enumerate(faces.strides):
        shift, upper = BITS * direction, cells + stride
        faced = np.concatenate([cells, upper[upper < faces.size]])
        # A cell at a lower edge has no face there.
        faced = faced[(codes[faced] >> shift) & (CHOICES - 1) != NO_FACE]
        code = inside[faced].astype(np.uint8) + inside[faced - stride]
        codes[faced] = (codes[faced] & ~np.uint8((CHOICES - 1) << shift)) | (code << shift)
    return FaceCodes(codes, faces.values, faces.walls, faces.strides)


def band(faces: FaceCodes, direction: int) -> np.ndarray:
    """The lower band A[i, i - stride] of a direction, float64, shape (N,)."""
    table = -faces.values[(np.arange(1 << 8) >> (BITS * direction)) & (CHOICES - 1)]
    # 0 and not -0 at the edge of the grid.
    return (table + 0.0)[faces.codes]


@kernel()
def _encode(taken, phase, grid, directions, open_sides, fill, slots, seen, codes):  # pragma: no cover
    nz, ny, nx = grid[0], grid[1], grid[2]
    for thread in threads(taken):
        for row in shared(taken, thread, nz * ny):
            z, y = np.int64(row) // ny, np.int64(row) % ny
            first = (z * ny + y) * nx
            across = 0
            if directions > 1:
                across += (y == 0) * open_sides[2] + (y == ny - 1) * open_sides[3]
            if directions > 2:
                across += (z == 0) * open_sides[4] + (z == nz - 1) * open_sides[5]
            for x in range(nx):
                i = first + x
                inside = np.int64(phase[i] > 0)
                count = across + (x == 0) * open_sides[0] + (x == nx - 1) * open_sides[1]
                if not fill:
                    if count:
                        seen[2 * count + inside] = 1
                    continue
                code = inside + (phase[i - 1] > 0) if x else 3
                if directions > 1:
                    code |= (inside + (phase[i - nx] > 0) if y else 3) << 2
                if directions > 2:
                    code |= (inside + (phase[i - nx * ny] > 0) if z else 3) << 4
                if count:
                    code |= slots[2 * count + inside] << (2 * directions)
                codes[i] = code
