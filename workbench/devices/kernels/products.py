"""Matrix-vector products (stencils, CSR), terms of Neumann series, block solves and a step of a Chebyshev iteration.

Each stores partial sums, one per group, of the dot products (left, y), (y, y) and (left, left) of a vector `left` and
the result.
"""

from __future__ import annotations

from workbench.devices.kernels.source import dots, fill

ALONG = 4
"""Rows in the direction of the farthest band that a GPU work-item computes."""


def stencil_columns(bands: int, *, constant: bool) -> str:
    """y = A x for a diagonal and lower bands at distances d0 < d1 < ..; a constant diagonal is one number.

    For GPUs: a work-item computes several rows in the direction of the farthest band, and keeps the entries
    of x and of the band in registers. Otherwise the second-level cache, from which a row reads twice as much as from
    memory, would be the limit."""
    near = [f"if (i >= d{k}) v = T_ADD(v, T_MUL(low{k}[i], x[i - d{k}]));" for k in range(bands - 1)]
    above = [f"T_MUL(T_CONJ(low{k}[i + d{k}]), x[i + d{k}])" for k in range(bands - 1)]
    near += [f"if (i + d{k} < n) v = T_ADD(v, {product});" for k, product in enumerate(above)]
    return fill(
        "stencil_columns",
        **stencil_arguments(bands),
        farthest=f"d{bands - 1}",
        far_band=f"low{bands - 1}",
        along=ALONG,
        along_less_one=ALONG - 1,
        diagonal_entry="diagonal[0]" if constant else "diagonal[i]",
        near=" ".join(near),
        **dots("here"),
    )


def csr(
    items_per_row: int, *, based: bool = False, scaled: bool = False, summed: bool = True, part: bool = False
) -> str:
    """y = A x, or based: y = (base - A x)*scale, for a CSR matrix.

    items_per_row: work-items that share a row, a power of two, at most GROUP. part: of row i only the entries starts[i]
    to ends[i], with columns counted from `first`; based: y = base + A x.
    """
    return fill(
        "csr_shared_row",
        items_per_row=items_per_row,
        half=items_per_row // 2,
        part_arguments=", GLOBAL const INDEX* RESTRICT ends, const I64 first" if part else "",
        end_of_row="ends[row]" if part else "starts[row + 1]",
        column="indices[j] - first" if part else "indices[j]",
        result_arguments=result_arguments(based=based, scaled=scaled, summed=summed),
        result=row_result(based=based, scaled=scaled, summed=summed, added=part),
        **dots("left[row]", wanted=summed),
    )


def result_arguments(*, based: bool, scaled: bool, summed: bool) -> str:
    """The arguments of a CSR kernel that `row_result` uses."""
    more = ", GLOBAL const T* RESTRICT base" if based else ""
    more += ", GLOBAL const T* RESTRICT scale" if scaled else ""
    return more + (", GLOBAL const T* RESTRICT left, GLOBAL W* partial" if summed else "")


def row_result(*, based: bool, scaled: bool, summed: bool, added: bool = False) -> str:
    """The statements that store the result of a row; added: base + sum, else base - sum."""
    combine = "T_ADD" if added else "T_SUB"
    text = f"T v = {combine}(base[row], sum);" if based else "T v = sum;"
    text += " v = T_MUL(v, scale[row]);" if scaled else ""
    return f"{text} y[row] = v; {dots('left[row]', wanted=summed)['dots_add']}"


LEVELS = fill("levels", **dots("r[i]"))
"""u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), one group for each of the blocks, which have no couplings.

Level by level: rows depend on rows of earlier levels, in L^H of later levels.
"""


def stencil_arguments(bands: int) -> dict[str, str]:
    """The parameters of a stencil kernel: lower bands and their distances."""
    return {
        "bands": "".join(f", GLOBAL const T* RESTRICT low{k}" for k in range(bands)),
        "distances": "".join(f", const I64 d{k}" for k in range(bands)),
    }
