"""Kernels of deflation: restriction, prolongation, products with AZ, and solves with E.

No atomics: every sum has two stages, the second in a fixed order.
"""

from __future__ import annotations

from workbench.devices.kernels.source import dots, fill, read

_TREE = read("tree_sum")
MOST_COUPLINGS = 40
"""Entries of a row of E that a work-item keeps to itself."""
MOST_PHASES = 24
"""Phases of a box that a work-item keeps to itself."""

COMBINE = fill("combine", tree_sum=_TREE)
"""coarse[k] = the sum of the parts named by order[starts[k]:starts[k + 1]], one group per k."""

PROLONG = read("prolong")
"""x = x + sign Z a for a label per unknown."""

PROLONG_DOTS = fill("prolong_dots", **dots("r[i]"))
"""x = x + Z a, with partial sums of (r, x), (x, x) and (r, r)."""

COMPACT = read("compact")
"""w = w - AZ a, on the rows of AZ that have entries."""

COLUMN_DOTS = fill("column_dots", tree_sum=_TREE)
"""parts[k*chunks + chunk] = (z_k, w) over a chunk; neighbouring groups read the same chunk of w."""

COLUMN_SUM = read("column_sum")
"""x = x + sign Z a for the columns of Z stored one after the other."""

DENSE = fill("dense", tree_sum=_TREE)
"""solved = matrix a, one group per row; zero in the rows from `size` on."""

BAND = read("band")
"""One group solves with L L^H; factor[j*(width + 1) + k] = L[j + k, j], with rows and columns permuted by `order`."""

PAIR = read("coarse_pair")
"""Partial sums of (a, b) of coarse vectors from column `first` on, in an array of `count` columns."""

CURVATURE = fill("curvature", tree_sum=_TREE)
"""Subtracts (a, b) from the first partial sum of (p, A p). One group."""


def runs(items_per_run: int) -> str:
    """parts[run] = the sum of w over a run of equal labels; a power of two of work-items share a run."""
    if items_per_run == 1:
        return read("runs")
    return fill("runs_shared", items_per_run=items_per_run, half=items_per_run // 2)


def box_sums(items_per_box: int) -> str:
    """coarse[part] = the sum of w over each part of a box; a power of two of work-items share a box."""
    shared = items_per_box > 1
    return fill(
        "box_sums",
        items_per_box=items_per_box,
        room="SHARED(W, room, GROUP);" if shared else "",
        together=fill("box_sums_together", half=items_per_box // 2) if shared else "",
    )


def number_parts(phase: str) -> str:
    """The part of each cell, and box, phase and cells of each part. phase: the type of phases."""
    return fill("number_parts", phase=phase, most=MOST_PHASES)


def box_matrix(bands: int, *, constant: bool) -> str:
    """The rows of E = Z^T A Z for parts of boxes and a stencil with lower bands; constant: of one diagonal entry."""
    couplings = []
    for k in range(bands):
        below = {"inside": f"i >= d{k}", "value": f"low{k}[i]", "neighbour": f"i - d{k}"}
        above = {"inside": f"i + d{k} < size", "value": f"T_CONJ(low{k}[i + d{k}])", "neighbour": f"i + d{k}"}
        couplings += [fill("box_coupling", **side, most=MOST_COUPLINGS) for side in (below, above)]
    names = ["GLOBAL const T* RESTRICT diagonal", *(f"GLOBAL const T* RESTRICT low{k}" for k in range(bands))]
    names += [f"const I64 d{k}" for k in range(bands)]
    return fill(
        "box_matrix",
        operator=", ".join(names),
        own=f"values[0] = T_ADD(values[0], diagonal[{'0' if constant else 'i'}]);",
        couplings="\n".join(couplings),
        most=MOST_COUPLINGS,
    )
