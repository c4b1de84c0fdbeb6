"""The levels of a coarse system: nested boxes split by phase, Galerkin matrices, and the inverse of the last one."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.deflation.coarse import not_definite
from workbench.deflation.coarse_dense import NULL_TOLERANCE, inverse_on_range, pseudo_inverse
from workbench.deflation.galerkin import PlacedMatrix
from workbench.deflation.null_space import MOST_OF_CONSTANTS, holds_constants
from workbench.deflation.parts import Parts
from workbench.devices.coarse import Level, Levels
from workbench.devices.host.aggregation import Csr, grouped, reordered, spectral_bound, summed, with_unit_diagonal
from workbench.devices.host.growth import grown_parts
from workbench.errors import InputError
from workbench.lazy import sparse

SMOOTHED = 0.25
"""The part of the spectrum of D^-1 E that smoothing treats: from this times its upper bound."""
LEAST_BOUND = 2.0
"""Upper bound of the spectrum of D^-1 E for a matrix with row sums that are not negative."""
LARGE, BOUND_STEPS = 1.05, 3
"""Times `LEAST_BOUND` that row sums may be before the bound is improved, and the steps that improve it."""
GROWN, STRONG = 8, 0.15
"""Vectors of a part of the next level where vectors are not of boxes, and the threshold of strong couplings of E."""
LEAST_REDUCTION = 0.6
"""Vectors of a level over those of the level above, at most; with less reduction the levels end: boxes that hold whole
bubbles gain nothing from merging, and each level over-corrects them once more."""
MOST_IN_SINGLE = 1e5
"""Ratio of diagonal entries of E, largest to smallest, up to which the levels are in single precision."""
SINGLE_RANGE = 1e-30, 1e30
"""Diagonal entries of E that single precision takes: vectors of its levels, which are scaled by their roots, neither
under- nor overflow."""
MOST_DENSE = 8192
"""Vectors of a last level that is inverted, at most."""
MOST_BY_EIGENVALUES = 512
"""Vectors of a last level of grown parts whose null space is found by its eigenvalues, in some tens of milliseconds."""
NOTHING = 1e-13
"""The diagonal entry of a part over those of its children in sum, at most, where the part is a component of a singular
matrix: nothing but rounding is left of it."""


def hierarchy(
    matrix: sparse.csr_array | PlacedMatrix,
    parts: Parts | None,
    bottom: int,
    scaling: float,
    steps: tuple[int, ...],
    repeats: int = 1,
    first: tuple[int, float] | None = None,
) -> Levels:
    """The levels for E, shape (d, d), down to at most `bottom` vectors; in single precision if its diagonal allows it.

    steps, repeats: as in `Levels`. Without parts vectors are merged along strong couplings of E. first: the vectors of
    a part of the second level, and the threshold of strong couplings there. Raises InputError for an E with a diagonal
    entry that is not positive, and where merging leaves too many vectors.
    """
    if isinstance(matrix, PlacedMatrix):
        if made := _on_device(matrix, parts, bottom, scaling, steps):
            return made
        # There the reason is found, or it works.
        matrix = matrix.on_host
    parts = parts and parts.on_host
    dimensions = len(parts.per_side) if parts else 0
    csr = matrix.data, matrix.indices, matrix.indptr.astype(np.int64)
    if parts:
        parents, last = merged_levels(parts, bottom)
        count = last.phases.size
    else:
        parents, count = grown_levels(csr, bottom, first)
    if count > MOST_DENSE:
        raise InputError(
            f"merging {'boxes' if parts else 'parts'} leaves {count} vectors, and the last level of coarse solver "
            f"multilevel may have {MOST_DENSE}; use coarse solver sparse"
        )
    order, groups = _nested_order(parents, count)
    csr, diagonal = reordered(csr, order)
    levels, diagonal = [], _positive(diagonal)
    dtype = _precision(matrix.dtype, diagonal)
    scale = 1 / np.sqrt(diagonal)
    for starts in groups:
        parent = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
        below, below_diagonal = summed(csr, starts, parent)
        if not parts:
            below_diagonal = _with_components(below, below_diagonal, np.add.reduceat(diagonal, starts[:-1]))
        below_diagonal = _positive(below_diagonal)
        weights = np.sqrt(diagonal / below_diagonal[parent])
        levels.append(_level(csr, diagonal, parent, starts, weights, dtype))
        csr, diagonal = below, below_diagonal
    by_eigenvalues = not parts and count <= MOST_BY_EIGENVALUES
    scaled = _scaled_inverse(_dense(csr), np.sqrt(diagonal), by_eigenvalues=by_eigenvalues).astype(dtype)
    order, scale = order.astype(np.int32), scale.astype(np.finfo(dtype).dtype)
    return Levels(tuple(levels), order, scale, scaled, scaling, steps, holds_constants(matrix), dimensions, repeats)


def _with_components(csr: Csr, diagonal: np.ndarray, of_children: np.ndarray) -> np.ndarray:
    """The diagonal with an entry, the sum of those of its children, where a part is a whole component of a singular
    matrix; it is put into the matrix too. A consistent right-hand side is zero there, and so is its correction."""
    alone = np.abs(diagonal) <= NOTHING * of_children
    if alone.any():
        diagonal = np.where(alone, of_children, diagonal)
        csr[0][csr[2][:-1]] = diagonal
    return diagonal


def _on_device(
    matrix: PlacedMatrix, parts: Parts | None, bottom: int, scaling: float, steps: tuple[int, ...]
) -> Levels | None:
    """The levels in the memory of a device; None where it has no room, for an E that is not positive, and where nothing
    is merged."""
    device: Any = matrix.device
    if parts is None or parts.device is None:
        return None
    try:
        merges, last = merged_levels(parts, bottom)
        count = last.phases.size
        if count > MOST_DENSE:
            return None
        found = device.nested_levels(matrix.csr, merges, count, matrix.divisor or 1.0, MOST_IN_SINGLE)
        if found is None:
            return None
        made = device.inverse_of_last(found, NULL_TOLERANCE)
        if made is None:
            roots = found.null
            dense = roots[:, None] * device.to_host(found.bottom) * roots
            made = device.array(_scaled_inverse(dense, roots), found.scale.dtype)
        levels = []
        for level in found.levels:
            bound = max(LEAST_BOUND, level.bound)
            arrays = level.data, level.indices, level.indptr, level.parents, level.starts, level.weights
            levels.append(Level(*arrays, smoother_coefficients(SMOOTHED * bound, bound)))
    except InputError:
        return None
    singular = found.singular <= MOST_OF_CONSTANTS
    return Levels(tuple(levels), found.order, found.scale, made, scaling, steps, singular, len(parts.per_side))


def merged_levels(parts: Parts, bottom: int) -> tuple[list[Any], Parts]:
    """For each level above the last the part of the next that each part goes to, and the parts of the last."""
    parents = []
    while parts.phases.size > bottom:
        merged, parent = parts.merged
        if merged.phases.size > LEAST_REDUCTION * parts.phases.size:
            break
        parents.append(parent)
        parts = merged
    return parents, parts


def grown_levels(csr: Csr, bottom: int, first: tuple[int, float] | None = None) -> tuple[list[np.ndarray], int]:
    """As `merged_levels`, for vectors of which only E is known: parts of `GROWN` each, along its strong couplings. Also
    returns the vectors of the last level. first: vectors of a part and the threshold, for the first merging.

    Cost: about ten reads of E and of the sums over its parts.
    """
    parents, count = [], csr[2].size - 1
    while count > bottom:
        parent, fewer = grown_parts(csr, *(first if first and not parents else (GROWN, STRONG)))
        if fewer > LEAST_REDUCTION * count:
            break
        order, starts = grouped(parent, np.arange(fewer))
        csr, _ = summed(reordered(csr, order)[0], starts, np.repeat(np.arange(fewer, dtype=np.int32), np.diff(starts)))
        parents.append(parent)
        count = fewer
    return parents, count


def _nested_order(parents: list[np.ndarray], last: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """The part at each row of the first level, such that the parts of a parent are consecutive on every level; and for
    each level the first row of each parent, and its size."""
    order, groups = np.arange(last), []
    for parent in reversed(parents):
        order, starts = grouped(parent, order)
        groups.insert(0, starts)
    return order, groups


def _level(
    csr: Csr, diagonal: np.ndarray, parent: np.ndarray, starts: np.ndarray, weights: np.ndarray, dtype: np.dtype
) -> Level:
    """A level with its matrix scaled to unit diagonal."""
    data, indices, indptr = csr
    # Row sums of |D^-1 E| bound its spectrum; few rows with large ones, as of slivers, would weaken the smoothing.
    scaled, sums = with_unit_diagonal(csr, 1 / np.sqrt(diagonal), dtype)
    bound = max(LEAST_BOUND, sums if sums <= LARGE * LEAST_BOUND else spectral_bound(*csr, diagonal, BOUND_STEPS))
    index = np.int64 if data.size > np.iinfo(np.int32).max else np.int32
    return Level(
        scaled,
        indices,
        indptr.astype(index),
        parent,
        starts.astype(np.int32),
        weights.astype(np.finfo(dtype).dtype),
        smoother_coefficients(SMOOTHED * bound, bound),
    )


def _precision(dtype: np.dtype, diagonal: np.ndarray) -> np.dtype:
    """Single precision, or double where that would lose the couplings of a stiff phase to its surroundings, or all."""
    lowest, highest = diagonal.min(), diagonal.max()
    fits = SINGLE_RANGE[0] <= lowest and highest <= SINGLE_RANGE[1]
    double = not fits or highest / lowest > MOST_IN_SINGLE
    if dtype.kind == "c":
        return np.dtype(np.complex128 if double else np.complex64)
    return np.dtype(np.float64 if double else np.float32)


def smoother_coefficients(low: float, high: float) -> tuple[float, float]:
    """a and b for which 1 - t (a - b t) is the Chebyshev polynomial of degree 2 on [low, high], 1 at t = 0."""
    middle, half = (high + low) / 2, (high - low) / 2
    at_zero = 2 * (middle / half) ** 2 - 1
    return 4 * middle / half**2 / at_zero, 2 / half**2 / at_zero


def _scaled_inverse(matrix: np.ndarray, roots: np.ndarray, *, by_eigenvalues: bool = False) -> np.ndarray:
    """The inverse of a dense matrix scaled to unit diagonal; roots: of its diagonal. by_eigenvalues: its null space may
    be any."""
    if by_eigenvalues:
        return pseudo_inverse(matrix / roots[:, None] / roots)
    return roots[:, None] * inverse_on_range(matrix) * roots


def _dense(csr: Csr) -> np.ndarray:
    size = csr[2].size - 1
    return sparse.csr_array(csr, shape=(size, size)).toarray()


def _positive(diagonal: np.ndarray) -> np.ndarray:
    """The diagonal of a level, as real numbers. Raises InputError for one that is not positive."""
    diagonal = np.real(diagonal)
    if not np.all(diagonal > 0):
        raise not_definite(f"its diagonal entry {int(np.argmin(diagonal))} is {diagonal.min():.3g}")
    return diagonal
