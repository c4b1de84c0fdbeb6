"""Kernels on codes of faces (see `face_codes`): products, terms of a Neumann series, the diagonal, and E of parts.

A coefficient is selected from arguments, which are kept in registers.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.devices.kernels.products import ALONG
from workbench.devices.kernels.source import dots, fill
from workbench.host.face_codes import BITS, CHOICES

MOST_IN_32_BITS = 1 << 30
"""Cells up to which places in vectors have 32 bits: a division of 64 bits costs a GPU as much as the values of a cell.
A place that is looked at may lie behind the last by a plane."""
NEAR_COLUMNS = 32
"""Columns of a tile in 3D, at most: with more, neighbours in y are read again by other groups."""


def product_columns(directions: int, group: int, *, walled: bool, cuda: bool) -> str:
    """y = A x for GPUs: a work-item computes several rows in the farthest direction.

    In 3D a group has a tile of columns; in 2D its lines are behind one another.
    """
    columns, lines, together = _tile(directions, group)
    return fill(
        "faces_columns",
        columns=columns,
        lines=lines,
        together=together,
        cy=f"tile/across*{lines} + line" if directions > 2 else "0",
        first="0" if directions > 2 else "line",
        **_columns(directions, walled=walled),
        unroll=f'_Pragma("unroll {ALONG}")' if cuda else "",
        **dots("here"),
    )


def run(grid: tuple[int, ...], group: int, groups: int) -> tuple[int, int]:
    """Rows of a work-item of `product_columns` for about as many groups, and their number. grid: cells, x last."""
    columns, lines, together = _tile(len(grid), group)
    tiles = -(-grid[-1] // columns) * (-(-grid[1] // lines) if len(grid) > 2 else 1)
    rows = max(1, tiles * grid[0] // (groups * together))
    return rows, tiles * -(-grid[0] // (rows * together))


def _tile(directions: int, group: int) -> tuple[int, int, int]:
    """Columns and lines of the tile of a group, and its runs that are behind one another."""
    columns = min(group, NEAR_COLUMNS)
    return (columns, group // columns, 1) if directions > 2 else (columns, 1, group // columns)


@dataclasses.dataclass(frozen=True)
class Tile:
    """Columns and lines of cells that a group has in the near directions: whole boxes of `side` cells, and of `deep`
    lines, 1 in 2D."""

    columns: int
    lines: int
    side: int
    deep: int

    @classmethod
    def of(cls, group: int, side: int, directions: int) -> Tile | None:
        """For groups of so many work-items; None where no box fits."""
        wide = min(NEAR_COLUMNS, group // side) if directions > 2 else group
        columns, lines = wide // side * side, group // wide // side * side if directions > 2 else 1
        return cls(columns, lines, side, side if directions > 2 else 1) if columns and lines else None


def restricted_residual(directions: int, tile: Tile, *, walled: bool, most: int, cuda: bool) -> str:
    """coarse[part] = the sum of b - A x over each part of boxes of equal sides, of which a box has at most `most`."""
    return fill(
        "face_restrict",
        **dataclasses.asdict(tile),
        **_columns(directions, walled=walled),
        most=most,
        boxes=tile.columns // tile.side * (tile.lines // tile.deep),
        unroll='_Pragma("unroll")' if cuda else "",
    )


def index(cells: int) -> np.dtype:
    """The type of places in vectors of so many entries."""
    return np.dtype(np.int32 if cells <= MOST_IN_32_BITS else np.int64)


def _columns(directions: int, *, walled: bool) -> dict[str, object]:
    """The pieces of a kernel whose work-items go through rows in the farthest direction, in the precision of vectors:
    differences of neighbours lose nothing there that the vectors have.

    A cell at the edge of the grid is its own neighbour there, so that its face does not matter. Where all other faces
    of a cell have one coefficient, as almost everywhere, it is selected once.
    """
    far = directions - 1
    near = [("left", "right"), ("down", "up")][:far]
    values = [f"T below{k} = x[i - {low}], above{k} = x[i + {high}]" for k, (low, high) in enumerate(near)]
    codes = [f"int next{k} = codes[i + {high}]" for k, (_, high) in enumerate(near)]
    sides = [(face(k, "code"), f"below{k}") for k in range(far)] + [(face(far, "code"), "before")]
    sides += [(face(k, f"next{k}"), f"above{k}") for k in range(far)] + [(face(far, "above"), "after")]
    upper = [f"(next{k} & {3 << BITS * k})" for k in range(far)] + [f"(above & {3 << BITS * far})"]
    faces = (1 << BITS * directions) - 1
    sums = fill(
        "faces_sum",
        neighbours="\n".join(f"const {one};" for one in values + codes),
        faces=faces,
        upper=" | ".join(upper),
        first=sum(1 << BITS * k for k in range(directions)),
        differences=" + ".join(f"(here - {neighbour})" for _, neighbour in sides),
        add_wall=f"if (code > {faces}) sum += {_wall(directions, 'code', walled)};" if walled else "",
        wall=_wall(directions, "code", walled),
        each=" ".join(f"sum += {one}*(here - {neighbour});" for one, neighbour in sides),
    )
    within = ["INDEX left = cx > 0 ? 1 : 0, right = cx + 1 < nx ? 1 : 0"]
    within += ["INDEX down = cy > 0 ? nx : 0, up = cy + 1 < ny ? nx : 0"] * (far > 1)
    nx, ny = ("(INDEX)d1", "far/nx") if far > 1 else ("far", "1")
    cells = f"const INDEX rows = (INDEX)n, far = (INDEX)d{far}, nx = {nx}, ny = {ny}, planes = rows/far;"
    walk = {"sides": cells, "near": "\n".join(f"const {one};" for one in within), "step": fill("faces_step", sum=sums)}
    return _head(directions, "T") | walk


def box_matrix(directions: int, *, walled: bool, most: int) -> str:
    """The rows of E = Z^T A Z for parts of boxes; only faces between two parts count."""
    couplings = []
    for k in range(directions):
        lower = {"inside": f"i >= d{k}", "value": face(k, "codes[i]"), "neighbour": f"i - d{k}"}
        upper = {"inside": f"i + d{k} < size", "value": face(k, f"codes[i + d{k}]"), "neighbour": f"i + d{k}"}
        couplings += [fill("face_coupling", **side, most=most) for side in (lower, upper)]
    return fill(
        "box_matrix",
        operator=_head(directions, "R")["arguments"],
        own=f"values[0] += {_wall(directions, 'codes[i]', walled, of='1')};" if walled else "",
        couplings="\n".join(couplings),
        most=most,
    )


def face(direction: int, code: str) -> str:
    """The coefficient of the face in a direction."""
    return _selected("f", code, BITS * direction)


def _wall(directions: int, code: str, walled: bool, of: str = "here") -> str:
    return f"{_selected('w', code, BITS * directions)}*{of}" if walled else "T_OF(0)"


def _selected(name: str, code: str, shift: int) -> str:
    low, high = f"({code}) & {1 << shift}", f"({code}) & {2 << shift}"
    return f"({high} ? ({low} ? {name}3 : {name}2) : ({low} ? {name}1 : {name}0))"


def operator_names(directions: int) -> list[str]:
    """The arguments of a product, by their names in requests."""
    numbers = [f"{name}_{k}" for name in ("faces", "walls") for k in range(CHOICES)]
    return ["codes", *numbers, *(f"steps_{k}" for k in range(directions))]


def _head(directions: int, real: str) -> dict[str, str]:
    """The arguments of an operator: codes, coefficients, wall terms and distances."""
    numbers = [f"const {real} {name}{k}" for name in "fw" for k in range(CHOICES)]
    steps = [f"const I64 d{k}" for k in range(directions)]
    return {"arguments": ", ".join(["GLOBAL const unsigned char* RESTRICT codes", *numbers, *steps])}
