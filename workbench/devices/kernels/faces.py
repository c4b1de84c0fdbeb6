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
MOST_AHEAD = 8
"""Numbers along a direction that a work-item reads ahead, at most."""
NEAR_COLUMNS = 32
"""Columns of a tile in 3D, at most: with more, neighbours in y are read again by other groups."""
CLOSED = (1 << 8) - 1
"""A code whose faces are all at the edge of the grid."""


def product_columns(directions: int, *, walled: bool, cuda: bool) -> str:
    """y = A x for GPUs: a work-item computes several rows in the farthest direction (see `products`)."""
    of = _columns(directions, walled=walled, cuda=cuda)
    return fill("faces_columns", along=ALONG, along_less_one=ALONG - 1, **of, **dots("here"))


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
        **_columns(directions, walled=walled, cuda=cuda),
        most=most,
        boxes=tile.columns // tile.side * (tile.lines // tile.deep),
        ahead=next(count for count in range(MOST_AHEAD, 0, -1) if tile.side % count == 0),
    )


def index(cells: int) -> np.dtype:
    """The type of places in vectors of so many entries."""
    return np.dtype(np.int32 if cells <= MOST_IN_32_BITS else np.int64)


def _columns(directions: int, *, walled: bool, cuda: bool) -> dict[str, object]:
    """The pieces of a kernel whose work-items go through rows in the farthest direction, in the precision of vectors:
    differences of neighbours lose nothing there that the vectors have.

    Where all faces of a cell have one coefficient, as almost everywhere, it is selected once.
    """
    far = directions - 1
    values = [f"T below{k} = i >= s{k} ? x[i - s{k}] : T_OF(0)" for k in range(far)]
    values += [f"T above{k} = i + s{k} < rows ? x[i + s{k}] : T_OF(0)" for k in range(far)]
    codes = [f"int next{k} = i + s{k} < rows ? codes[i + s{k}] : {CLOSED}" for k in range(far)]
    sides = [(face(k, "code"), f"below{k}") for k in range(far)] + [(face(far, "code"), "before")]
    sides += [(face(k, f"next{k}"), f"above{k}") for k in range(far)] + [(face(far, "above"), "after")]
    upper = [f"(next{k} & {3 << BITS * k})" for k in range(far)] + [f"(above & {3 << BITS * far})"]
    faces = (1 << BITS * directions) - 1
    sums = fill(
        "faces_sum",
        neighbours="\n".join(f"const {one};" for one in values + codes),
        lower=f"(code & {faces})",
        upper=" | ".join(upper),
        second=sum(2 << BITS * k for k in range(directions)),
        differences=" + ".join(f"(here - {neighbour})" for _, neighbour in sides),
        add_wall=f"if (code > {faces}) sum += {_wall(directions, 'code', walled)};" if walled else "",
        wall=_wall(directions, "code", walled),
        faces=" ".join(f"sum += {one}*(here - {neighbour});" for one, neighbour in sides),
    )
    steps = ", ".join(["rows = (INDEX)n", *(f"s{k} = (INDEX)d{k}" for k in range(directions))])
    unroll = '_Pragma("unroll")' if cuda else ""
    pieces = {"farthest": f"s{far}", "closed": CLOSED, "sum": sums, "steps": f"const INDEX {steps};", "unroll": unroll}
    return _head(directions, "T") | pieces


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
