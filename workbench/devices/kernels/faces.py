"""Kernels on codes of faces (see `face_codes`): products, terms of a Neumann series, the diagonal, and E of parts.

A coefficient is selected from arguments, which are kept in registers.
"""

from __future__ import annotations

import dataclasses

from workbench.devices.kernels.products import ALONG
from workbench.devices.kernels.source import dots, fill
from workbench.host.face_codes import BITS, CHOICES

NEAR_COLUMNS = 32
"""Columns of a tile in 3D, at most: with more, neighbours in y are read again by other groups."""
CLOSED = (1 << 8) - 1
"""A code whose faces are all at the edge of the grid."""


def product_columns(directions: int, *, walled: bool) -> str:
    """y = A x for GPUs: a work-item computes several rows in the farthest direction (see `products`)."""
    return fill(
        "faces_columns", along=ALONG, along_less_one=ALONG - 1, **_columns(directions, walled=walled), **dots("x[i]")
    )


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


def _columns(directions: int, *, walled: bool) -> dict[str, object]:
    """The pieces of a kernel whose work-items go through rows in the farthest direction.

    Where all faces of a cell have one coefficient, as almost everywhere, it is selected once.
    """
    far = directions - 1
    values = [f"W below{k} = i >= d{k} ? W_OF_T(x[i - d{k}]) : W_OF(0)" for k in range(far)]
    values += [f"W above{k} = i + d{k} < n ? W_OF_T(x[i + d{k}]) : W_OF(0)" for k in range(far)]
    codes = [f"int next{k} = i + d{k} < n ? codes[i + d{k}] : {CLOSED}" for k in range(far)]
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
    return {**_head(directions, "W"), "farthest": f"d{far}", "closed": CLOSED, "sum": sums}


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
    return f"{_selected('w', code, BITS * directions)}*{of}" if walled else "W_OF(0)"


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
