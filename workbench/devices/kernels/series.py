"""A truncated Neumann series on codes of faces in one sweep along the farthest direction, for GPUs.

u = K^T D^-1 K r reads r and two bytes of each cell, and writes u: the levels of K follow each other within a plane,
those of K^T each one plane later. Source: temporal blocking along one direction, as in Nguyen, Satish, Chhugani, Kim,
Dubey 2010, "3.5-D blocking".
"""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np

from workbench.compiler.words import items, unrolled
from workbench.devices.host.face_codes import BITS, CHOICES, FaceCodes
from workbench.devices.kernels.kernel_text import KernelText, dots, fill, read
from workbench.devices.kernels.parameters import Bytes, Codes
from workbench.devices.kernels.prelude import Layout, strips

PHASE_SHIFT = 6
"""Of the 16 bits of a cell the lowest six say which neighbours x-, y-, z-, x+, y+, z+ are of the other phase (z: the
farthest direction), the next one is the phase, and the others are the place of the cell's row in the table `shares`."""
PLACE_SHIFT = 7
ABSENCES, DIFFERENCES = 4, 7
"""Numbers of faces at the edge of the grid, where no side has one cell, and of faces between the phases."""
TABLE = 1 + CHOICES * 2 * ABSENCES * DIFFERENCES
SUMS = 3
WEIGHT = "#define WEIGHT(cell, bit, other) ((cell) >> (bit) & 1 ? (other) : T_OF(1))\n"


@dataclasses.dataclass(frozen=True)
class Tile:
    """Columns in x and lines in y that a group writes, rows of a work-item, and groups on a multiprocessor.

    halo: the order of the series; margin: the same in y, 0 in 2D.
    """

    columns: int
    lines: int
    rows: int
    resident: int
    halo: int
    margin: int

    @property
    def width(self) -> int:
        return self.columns + 2 * self.halo

    @property
    def height(self) -> int:
        return self.lines + 2 * self.margin

    @property
    def group(self) -> int:
        """Work-items."""
        return self.width * self.height // self.rows

    @property
    def plane(self) -> int:
        """Numbers of a level in local memory: its rows, and one of zeros."""
        return self.width * (self.height + 1)

    def numbers(self, itemsize: int, *, summed: bool) -> int:
        """Numbers of 8 bytes in local memory: the table, a row of zeros, and the planes; or sums in their place."""
        planes = (TABLE + self.width + 2 * self.halo * self.plane) * itemsize
        return max(-(-planes // 8), SUMS * (self.group + strips(self.group)) * summed)


def cells(codes: Bytes, found: Codes, steps, n: int, *, directions: int) -> None:
    """The 16 bits of each cell, from the codes of faces. steps: from a cell to the next one in each direction."""
    for i in items(n, 0, n):
        code = codes[i]
        bits, differing, absent, second = 0, 0, 0, 0
        for k in unrolled(directions):
            axis = 2 if k == directions - 1 else k
            above = codes[i + steps[k]] >> BITS * k & CHOICES - 1 if i + steps[k] < n else CHOICES - 1
            for face, bit in ((code >> BITS * k & CHOICES - 1, axis), (above, axis + 3)):
                bits |= (face == 1) << bit
                differing += face == 1
                absent += face == 3
                second |= face == 2
        wall = code >> BITS * directions & CHOICES - 1
        place = 1 + ((wall * 2 + second) * ABSENCES + absent) * DIFFERENCES + differing
        found[i] = place << PLACE_SHIFT | second << PHASE_SHIFT | bits


def shares(faces: FaceCodes) -> np.ndarray:
    """The coefficient within the cell's own phase over its diagonal entry, by place, float64; 0 outside the grid."""
    return _shares(faces.directions, tuple(faces.values.tolist()), tuple(faces.walls.tolist()))


@functools.lru_cache(64)
def _shares(directions: int, values: tuple[float, ...], walls: tuple[float, ...]) -> np.ndarray:
    found = np.zeros(TABLE)
    for wall, second, absent, differing in itertools.product(
        range(CHOICES), range(2), range(ABSENCES), range(DIFFERENCES)
    ):
        own, alike = values[2 * second], 2 * directions - absent - differing
        diagonal = alike * own + differing * values[1] + walls[wall]
        if alike >= 0 and diagonal > 0:
            found[1 + ((wall * 2 + second) * ABSENCES + absent) * DIFFERENCES + differing] = own / diagonal
    return found


@functools.cache
def sweep(tile: Tile, layout: Layout, itemsize: int, *, summed: bool) -> KernelText:
    """u for r; summed: with (r, u), (u, u) and (r, r), for which r is read once more, from the cache."""
    inner = f"j + 1 < {tile.rows}"
    over = f"({inner} ? raised[m][{inner} ? j + 1 : 0] : near[{tile.rows * tile.width}])"
    statements = fill(
        "series_sweep",
        words=tile.numbers(itemsize, summed=summed),
        table=TABLE,
        width=tile.width,
        height=tile.height,
        columns=tile.columns,
        lines=tile.lines,
        rows=tile.rows,
        halo=tile.halo,
        margin=tile.margin,
        plane=tile.plane,
        neighbours=(1 << PHASE_SHIFT) - 1,
        phase=1 << PHASE_SHIFT,
        place_shift=PLACE_SHIFT,
        unroll='_Pragma("unroll")' if layout.language == "cuda" else "",
        under=f"T under = near[-{tile.width}];" if tile.margin else "",
        carried="under = level[j];" if tile.margin else "",
        lower_mixed="sum += WEIGHT(now[j], 1, mixed)*under;" if tile.margin else "",
        lower="sum += under;" if tile.margin else "",
        upper_mixed=f"sum += WEIGHT(that, 4, mixed)*{over};" if tile.margin else "",
        upper=f"sum += {over};" if tile.margin else "",
        dots_begin="W xy = W_OF(0), yy = W_OF(0), xx = W_OF(0);" if summed else "",
        dots_add=dots("r[to + j*nx]", wanted=summed)["dots_add"],
        dots_end=f"BARRIER;\nLOCAL W* const room = memory;\n{read('dots_end')}" if summed else "",
    )
    numbers = [f"const T {name}{k}" for name in ("inverse", "mixed") for k in (0, 1)]
    sides = [f"const int {name}" for name in ("nx", "ny", "nz", "across", "tiles", "planes")]
    vectors = ["GLOBAL const T* r", "GLOBAL T* RESTRICT u", "GLOBAL const unsigned short* RESTRICT cells"]
    arguments = [*vectors, "GLOBAL const T* RESTRICT shares", *numbers, *sides, *["GLOBAL W* partial"] * summed]
    return KernelText(
        "series_sweep", ", ".join(arguments), f"\n{statements}}}\n", WEIGHT, bounds=(tile.group, tile.resident)
    )
