"""Jacobi sweeps on many boxes: one launch per sweep, tiles with a halo, and tiles in one persistent kernel (CUDA).

A group works on a square tile of a box. `boxes` has three numbers per box: its place in the local vector, rows and
width; `tiles` three per tile: box, first row and first column. The formula is written once, with explicit fused
operations, so that all kernels give the same bits; the sweeps are texts, since functions have no such operation for
numbers. `parts` counts those of all boxes. With mixed precision a box is divided by its largest magnitude.

Source: Chen 2022, sections 3.1 and 4; persistent kernels without a launch per sweep: Zhang, Wahib, Chen, Meng, Wang,
Endo, Matsuoka (2023), "PERKS".
"""

from __future__ import annotations

import dataclasses

from workbench.compiler.words import barrier, group, groups, member, members, narrow, shared_array, wide
from workbench.devices.kernels.kernel_text import fill, read
from workbench.devices.kernels.parameters import LongPlaces, Sums, Vector

PARTS = 16
"""Parts of a box in the kernels before and after the sweeps, each for one group."""
EDGE = 32
"""Points per side of a tile of the plain kernel, and without its halo of the tiles in local memory."""


@dataclasses.dataclass(frozen=True)
class Tile:
    """Square tiles: points per side that are computed, points added on every side, and work-items of a group.

    halo: also the sweeps between two exchanges. unrolled: the points of a work-item are in registers.
    """

    edge: int
    halo: int
    group: int
    unrolled: bool = True

    @property
    def region(self) -> int:
        """Points per side, halo included."""
        return self.edge + 2 * self.halo

    def local_bytes(self, itemsize: int) -> int:
        """Bytes of local memory: z before and after a sweep."""
        return 2 * self.region**2 * itemsize


def peaks(r: Sums, partial: Sums, boxes: LongPlaces, parts: int) -> None:
    """The largest magnitude of r in each part of a box."""
    dtype = partial.dtype.type
    room = shared_array(dtype, members())
    for part in range(group(), parts, max(1, groups())):
        _, low, high = _part(boxes, part)
        most = dtype(0)
        for i in range(low + member(), high, members()):
            most = max(most, abs(r[i]))
        room[member()] = most
        barrier()
        if member() == 0:
            for k in range(1, members()):
                most = max(most, room[k])
            partial[part] = most
        barrier()


def begin(
    r, right: Vector, z: Vector, boxes: LongPlaces, peaks, coefficients: Vector, parts: int,
    *, constant: bool, mixed: bool,
) -> None:  # fmt: skip
    """The right-hand side and the first sweep, z = D^-1 r; with constant coefficients the right-hand side is over D.

    coefficients: 1/D of a box as the first of three numbers, or of each unknown.
    """
    for part in range(group(), parts, max(1, groups())):
        box, low, high = _part(boxes, part)
        scale = scale_of(peaks, box, mixed=mixed)
        for i in range(low + member(), high, members()):
            value = divided(r[i], scale, mixed=mixed)
            if constant:
                value *= coefficients[3 * box]
                right[i] = value
                z[i] = value
            else:
                right[i] = value
                z[i] = value * coefficients[i]


def end(out, z: Vector, boxes: LongPlaces, peaks, parts: int, *, mixed: bool) -> None:
    """out = z, scaled back."""
    for part in range(group(), parts, max(1, groups())):
        box, low, high = _part(boxes, part)
        scale = scale_of(peaks, box, mixed=mixed)
        for i in range(low + member(), high, members()):
            out[i] = multiplied(z[i], scale, mixed=mixed)


def _part(boxes, part):
    """The box of a part, and the places from the first of its unknowns to behind the last."""
    box, k = part // PARTS, part % PARTS
    start, count = boxes[3 * box], boxes[3 * box + 1] * boxes[3 * box + 2]
    return box, start + count * k // PARTS, start + count * (k + 1) // PARTS


def scale_of(peaks, box, *, mixed):
    """The largest magnitude of r in a box, or 1 where all are 0, and where precision is not mixed."""
    if mixed:
        dtype = peaks.dtype.type
        scale = dtype(0)
        for k in range(PARTS):
            scale = max(scale, peaks[PARTS * box + k])
        return scale if scale > 0 else dtype(1)
    return 1


def divided(value, scale, *, mixed):
    """An entry of r in the precision of the sweeps."""
    if mixed:
        return narrow(value / scale)
    return value


def multiplied(value, scale, *, mixed):
    """An entry of z in the precision of the vector it goes to."""
    if mixed:
        return wide(value) * scale
    return value


def outer(vector: str, *, mixed: bool) -> dict[str, object]:
    """Annotations of the vector of that name, which comes from outside, and of the largest magnitudes."""
    return {vector: Sums, "peaks": Sums} if mixed else {vector: Vector, "peaks": ()}


def plain(*, constant: bool) -> str:
    """next = one sweep of z."""
    return fill("box_sweep", edge=EDGE, place=_place(constant), formula=_formula(constant), **_coefficients(constant))


def tiles(tile: Tile, *, constant: bool) -> str:
    """target = up to `halo` sweeps of source."""
    return fill("box_tiles", **_pieces(tile, constant), **_coefficients(constant))


def persistent(tile: Tile, *, constant: bool) -> str:
    """All sweeps, CUDA only; z of the last one is in `odd` after an odd number of exchanges, the last one included."""
    pieces = _pieces(tile, constant) | {"grid_barrier": read("grid_barrier")}
    return fill("box_persistent", **pieces, **_coefficients(constant))


def _pieces(tile: Tile, constant: bool) -> dict[str, object]:
    numbers: dict[str, object] = {
        "region": tile.region,
        "halo": tile.halo,
        "points": -(-(tile.region**2) // tile.group),
        "unroll": '_Pragma("unroll")' if tile.unrolled else "",
    }
    index = "" if constant else f"const I64 i = start + (top - {tile.halo} + m/{tile.region})*width"
    index += "" if constant else f" + left - {tile.halo} + m%{tile.region};"
    return numbers | {
        "place": _place(constant),
        "begin": fill("box_tile_begin", **numbers),
        "sweeps": fill("box_tile_sweeps", index=index, formula=_formula(constant), **numbers),
    }


def _place(constant: bool) -> str:
    numbers = "const T west = numbers[3*box + 1], south = numbers[3*box + 2];" if constant else ""
    return fill("box_place", numbers=numbers)


def _coefficients(constant: bool) -> dict[str, str]:
    names = ("numbers",) if constant else ("inverse", "low_x", "low_y")
    return {"coefficients": ", ".join(f"GLOBAL const T* RESTRICT {name}" for name in names)}


def _formula(constant: bool) -> str:
    """A sweep of the point i with neighbours w, e, s, n and right-hand side rhs. The bands end with zeros, and what is
    read of another row or box is multiplied by a neighbour that is zero."""
    if constant:
        return "fma(-south, s + n, fma(-west, w + e, rhs))"
    return "inverse[i]*fma(-low_y[i + width], n, fma(-low_y[i], s, fma(-low_x[i + 1], e, fma(-low_x[i], w, rhs))))"
