"""Jacobi sweeps on many boxes: one launch per sweep, tiles with a halo, and tiles in one persistent kernel (CUDA).

A group works on a square tile of a box. `boxes` has three numbers per box: its place in the local vector, rows and
width; `tiles` three per tile: box, first row and first column. The formula is written once, with explicit fused
operations, so that all kernels give the same bits.

Source: Chen 2022, sections 3.1 and 4; persistent kernels without a launch per sweep: Zhang, Wahib, Chen, Meng, Wang,
Endo, Matsuoka (2023), "PERKS".
"""

from __future__ import annotations

import dataclasses

from workbench.devices.kernels.source import fill, read

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


def peaks() -> str:
    """The largest magnitude of r in each part of a box."""
    return fill("box_peaks", parts=PARTS)


def begin(*, constant: bool, mixed: bool) -> str:
    """The right-hand side and the first sweep; mixed: of r over the largest magnitude in its box."""
    if constant:
        store = "right[i] = value*numbers[3*box]; z[i] = right[i];"
    else:
        store = "right[i] = value; z[i] = value*inverse[i];"
    return fill(
        "box_begin",
        value="r[i]/scale" if mixed else "r[i]",
        store=store,
        coefficients="numbers" if constant else "inverse",
        **scaled(mixed=mixed),
    )


def end(*, mixed: bool) -> str:
    """out = z, scaled back."""
    return fill("box_end", value="(W)z[i]*scale" if mixed else "z[i]", **scaled(mixed=mixed))


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


def scaled(*, mixed: bool) -> dict[str, object]:
    """The pieces of a kernel that knows the largest magnitude of r in its box, `scale`, if mixed."""
    return {
        "parts": PARTS,
        "outer": "W" if mixed else "T",
        "peaks_argument": ", GLOBAL const W* RESTRICT peaks" if mixed else "",
        "scale": fill("box_scale", parts=PARTS) if mixed else "",
    }
