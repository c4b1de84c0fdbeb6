"""Kernels of the setup of a coarse system's levels: scans, nested boxes split by phase, and their Galerkin sums.

All sums of a row are in the order in which the cores add them.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.devices.kernels.source import fill, read

REAL = {4: "float", 8: "double"}
"""Real types of the stored levels, by bytes."""

MERGE = read("nested_merge")
"""The phases of merged boxes, the merged part of each part, and its rank among the parts of that."""

ORDER = read("nested_order")
"""Rows of the parts of a level such that those of a parent are consecutive."""

DENSE = read("nested_dense")
"""The last level as a dense matrix."""


def scan(value: str, given: Mapping[str, str], ends: str) -> tuple[str, str]:
    """Two kernels: sums of runs, and ends[i + 1] = the sum of the first i + 1 values.

    value: an expression in i and the given arrays. given: their types by name. ends: an integer type.
    """
    arrays = ", ".join(f"GLOBAL const {kind}* RESTRICT {name}" for name, kind in given.items())
    return fill("scan_sums", given=arrays, value=value), fill("scan_ends", given=arrays, value=value, ends=ends)


def first() -> str:
    """The rows of E in the order of the first level; extremes: of the diagonal, |sum| and sum of |entries| of a row."""
    return fill("nested_first", extremes=_extremes(low="<", high=">", highest=">", largest=">"))


def summed() -> str:
    """P^T E P for groups of consecutive rows; extreme: the least diagonal entry."""
    return fill("nested_sum", extremes=_extremes(low="<"))


def scaled(itemsize: int) -> str:
    """A level with unit diagonal, stored in a real type; extreme: the largest sum of a row of |D^-1 E|."""
    return fill("nested_scale", stored=REAL[itemsize], extremes=_extremes(highest=">"))


def shifted(itemsize: int) -> str:
    """A dense matrix plus a factor of v v^T, stored in a real type."""
    return fill("nested_shift", stored=REAL[itemsize])


def _extremes(**beyond: str) -> str:
    """What leaves the extreme of each variable in a group, one after the other; beyond: by which comparison."""
    pieces = enumerate(beyond.items())
    return "\n".join(fill("group_extreme", own=name, beyond=by, place=k) for k, (name, by) in pieces)
