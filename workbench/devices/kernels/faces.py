"""Kernels on codes of faces (see `face_codes`): products, terms of a Neumann series, the diagonal, and E of parts.

A coefficient is selected from arguments, which are kept in registers.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from workbench.devices.host.face_codes import BITS, CHOICES
from workbench.devices.kernels.kernel_text import KernelText, dots, fill

MOST_IN_32_BITS = 1 << 30
"""Cells up to which places in vectors have 32 bits: a division of 64 bits costs a GPU as much as the values of a cell.
A place that is looked at may lie behind the last by a plane."""
NEAR_COLUMNS = 32
"""Columns of a tile in 3D, at most: with more, neighbours in y are read again by other groups."""
LEAST_RUN = 4
"""Rows of a work-item along the farthest direction, whose neighbours there it reads once."""
RESIDENT = {"face_product": {4: 4, 8: 3}, "face_restrict": {4: 4, 8: 2}}
"""Groups on a multiprocessor by the bytes of a number, the fastest on an H200: few enough for the registers."""
WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int"}
"""Types with room for the codes of that number of cells."""
PAIRED_END = """
sums[LOCAL_ID] = xy;
sums[GROUP + LOCAL_ID] = yy;
sums[2*GROUP + LOCAL_ID] = xx;
store_group_sums(sums, partial, 3, count, GROUP_ID);
"""
"""Partial sums in an array of `count` columns."""


@dataclasses.dataclass(frozen=True)
class Tile:
    """Columns and lines of cells that a group has in the near directions, of which a work-item has `wide` in x.

    side, deep: cells of a box in x and y, of which there are whole ones.
    """

    columns: int
    lines: int
    wide: int
    side: int = 1
    deep: int = 1

    @property
    def items(self) -> int:
        """Work-items of a line."""
        return self.columns // self.wide

    @classmethod
    def of(cls, group: int, side: int, directions: int) -> Tile | None:
        """Whole boxes for groups of `group` work-items; None where none fits."""
        cells = wide(side)
        most = group * cells if directions < 3 else min(NEAR_COLUMNS, group * cells)
        columns = most // side * side
        deep = side if directions > 2 else 1
        lines = group * cells // columns // deep * deep if columns and directions > 2 else 1
        return cls(columns, lines, cells, side, deep) if columns and lines else None


def wide(cells: int) -> int:
    """Cells in x that a work-item has at once, of `cells` consecutive ones: it reads their numbers and codes in few
    instructions, and decodes the codes together. Instructions are the limit, not memory: 65 a cell, 98 one by one."""
    return next(count for count in (4, 2, 1) if cells % count == 0)


@functools.cache
def product_columns(directions: int, group: int, wide: int, itemsize: int, *, walled: bool, cuda: bool) -> KernelText:
    """y = A x for GPUs: a work-item computes several rows in the farthest direction.

    In 3D a group has a tile of columns; in 2D its lines are behind one another.
    """
    tile, together = _columns_of(directions, group, wide)
    of = _columns(directions, tile, walled=walled)
    added = [f"{{ const T v = sum.v[{c}]; {dots(f'here.v[{c}]')['dots_add']} }}" for c in range(wide)]
    text = fill(
        "faces_columns",
        together=together,
        cy=f"tile/across*{tile.lines} + line" if directions > 2 else "0",
        place="0" if directions > 2 else "line",
        **of,
        dots="\n".join(added),
        unroll='_Pragma("unroll 1")' if cuda else "",
        **dots(""),
    )
    return _with_bounds(text, "face_product", group, itemsize)


def _with_bounds(text: str, name: str, group: int, itemsize: int) -> KernelText:
    return dataclasses.replace(KernelText.of(text, name), bounds=(group, RESIDENT[name][itemsize]))


def run(grid: tuple[int, ...], group: int, groups: int, wide: int) -> tuple[int, int]:
    """Rows of a work-item of `product_columns` for about `groups` groups, and their number. grid: cells, x last."""
    tile, together = _columns_of(len(grid), group, wide)
    planes, *lines, columns = grid
    tiles = -(-columns // tile.columns) * (-(-lines[0] // tile.lines) if lines else 1)
    rows = max(LEAST_RUN, tiles * planes // (groups * together))
    return rows, tiles * -(-planes // (rows * together))


def _columns_of(directions: int, group: int, wide: int) -> tuple[Tile, int]:
    """The tile of a group, and its runs that are behind one another."""
    columns = min(group * wide, NEAR_COLUMNS)
    lines = group * wide // columns
    return (Tile(columns, lines, wide), 1) if directions > 2 else (Tile(columns, 1, wide), lines)


@functools.cache
def restricted_residual(
    directions: int, group: int, tile: Tile, itemsize: int, *, walled: bool, most: int, cuda: bool, paired: bool = False
) -> KernelText:
    """coarse[part] = the sum of b - A x over each part of boxes of equal sides, of which a box has at most `most`.

    paired: the sums of b too, in `of_b`, and partial sums of (b, x), nothing, and (b, b) in an array of `count`
    columns.
    """
    cells = range(tile.wide)
    place = "room[(labels[i - base + {0}] - lowest)*GROUP + LOCAL_ID] += (W)(given.v[{0}] - sum.v[{0}]);"
    added = [f"total += {' + '.join(f'(given.v[{c}] - sum.v[{c}])' for c in cells)};"]
    if paired:
        place += f" room[({most} + labels[i - base + {{0}}] - lowest)*GROUP + LOCAL_ID] += (W)given.v[{{0}}];"
        added += [f"whole += {' + '.join(f'given.v[{c}]' for c in cells)};"]
    pair = dots("given.v[0]", wanted=paired)
    products = "xy += W_DOT(given.v[{0}], here.v[{0}]); xx += W_DOT(given.v[{0}], given.v[{0}]);"
    text = fill(
        "face_restrict",
        **_columns(directions, tile, walled=walled),
        side=tile.side,
        deep=tile.deep,
        most=most,
        boxes=tile.columns // tile.side * (tile.lines // tile.deep),
        kept=" ".join(place.format(c) for c in cells),
        added="\n".join(added),
        sums=2 if paired else 1,
        dots="\n".join(products.format(c) for c in cells) if paired else "",
        dots_begin=pair["dots_begin"].replace("room", "sums"),
        dots_end=PAIRED_END if paired else "",
        store_whole=f"room[{most}*GROUP + LOCAL_ID] = (W)whole;" if paired else "",
        result="if (which) of_b[part] = sum; else coarse[part] = sum;" if paired else "coarse[part] = sum;",
        paired_arguments="GLOBAL W* RESTRICT of_b, GLOBAL W* partial, const I64 count, " if paired else "",
        unroll='_Pragma("unroll")' if cuda else "",
    )
    return _with_bounds(text, "face_restrict", group, itemsize)


def index(cells: int) -> np.dtype:
    """The type of places in vectors of that number of entries."""
    return np.dtype(np.int32 if cells <= MOST_IN_32_BITS else np.int64)


def _columns(directions: int, tile: Tile, *, walled: bool) -> dict[str, object]:
    """The pieces of a kernel whose work-items go through cells in the farthest direction, in the precision of vectors:
    differences of neighbours lose nothing there that the vectors have.

    A cell at the edge of the grid is its own neighbour there, so that its face does not matter. Where no face of a
    work-item's cells lies between the phases, as almost everywhere, the coefficient is selected once for all.
    """
    far, cells = directions - 1, range(tile.wide)
    across = ["CELLS under = CELLS_AT(x, i - down), over = CELLS_AT(x, i + up)", "unsigned next1 = CODES_AT(i + up)"]
    across = across if far > 1 else []
    upper = [f"next{k}" for k in range(far)] + ["above"]
    pairs = [["first", *(f"here.v[{c}]" for c in cells[:-1])], [*(f"here.v[{c}]" for c in cells[1:]), "last"]]
    sides = [("code", 0, pairs[0]), ("next0", 0, pairs[1])]
    near = [("code", 1, "under"), ("next1", 1, "over")] if far > 1 else []
    for name, k, other in (*near, ("code", far, "before"), ("above", far, "after")):
        sides.append((name, k, [f"{other}.v[{c}]" for c in cells]))
    alike, each, walls = [], [], []
    for c in cells:
        here = f"here.v[{c}]"
        alike.append(f"sum.v[{c}] = own*({' + '.join(f'({here} - {others[c]})' for _, _, others in sides)});")
        faces = " + ".join(f"{face(k, f'({name} >> {8 * c})')}*({here} - {others[c]})" for name, k, others in sides)
        wall = _wall(directions, f"(code >> {8 * c})", walled, of=here)
        each.append(f"sum.v[{c}] = {wall} + {faces};")
        walls.append(f"sum.v[{c}] += {wall};")
    low, whole = sum(1 << BITS * k for k in range(directions)), (1 << BITS * directions) - 1
    within = [f"INDEX left = cx > 0 ? 1 : 0, right = cx + {tile.wide} < nx ? {tile.wide} : {tile.wide - 1}"]
    within += ["INDEX down = cy > 0 ? nx : 0, up = cy + 1 < ny ? nx : 0"] * (far > 1)
    nx, ny = ("(INDEX)d1", "far/nx") if far > 1 else ("far", "1")
    step = fill(
        "faces_step",
        high=8 * (tile.wide - 1),
        across="\n".join(f"const {one};" for one in across),
        faces=_bytes(whole, tile.wide),
        low=_bytes(low, tile.wide),
        upper=" | ".join(f"({name} & {_bytes(3 << BITS * k, tile.wide)})" for k, name in enumerate(upper)),
        alike="\n".join(alike),
        each="\n".join(each),
        add_wall=f"if (code & {_bytes(3 << BITS * directions, tile.wide)}) {{ {' '.join(walls)} }}" if walled else "",
    )
    return {
        **_head(directions),
        "columns": tile.columns,
        "lines": tile.lines,
        "wide": tile.wide,
        "items": tile.items,
        "cells": fill("faces_cells", wide=tile.wide, word=WORDS[tile.wide], bytes=f"{tile.wide}*sizeof(R)"),
        "sides": f"const INDEX rows = (INDEX)n, far = (INDEX)d{far}, nx = {nx}, ny = {ny}, planes = rows/far;",
        "near": "\n".join(f"const {one};" for one in within),
        "step": step,
    }


def _bytes(mask: int, wide: int) -> str:
    """The mask in each of `wide` bytes."""
    return f"{sum(mask << 8 * c for c in range(wide))}u"


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


def _head(directions: int) -> dict[str, str]:
    """The arguments of an operator: codes, coefficients, wall terms and distances."""
    numbers = [f"const T {name}{k}" for name in "fw" for k in range(CHOICES)]
    steps = [f"const I64 d{k}" for k in range(directions)]
    return {"arguments": ", ".join(["GLOBAL const unsigned char* RESTRICT codes", *numbers, *steps])}
