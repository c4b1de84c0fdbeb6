"""The levels of a coarse system: nested boxes split by phase, Galerkin matrices, and the inverse of the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.deflation.coarse import CoarseError, not_definite
from workbench.deflation.coarse_dense import NULL_TOLERANCE, inverse_on_range, pseudo_inverse
from workbench.deflation.galerkin import PlacedMatrix
from workbench.deflation.grown_levels import (
    DOUBLE,
    GROWN,
    LEAST_REDUCTION,
    STRONG,
    Grow,
    Grown,
    LevelOfParts,
    grown_levels,
)
from workbench.deflation.null_space import MOST_OF_CONSTANTS, holds_constants
from workbench.deflation.parts import Parts
from workbench.devices.coarse import Level, Levels
from workbench.devices.host.aggregation import Csr, grouped, reordered, spectral_bound, summed, with_unit_diagonal
from workbench.devices.host.growth import grown_parts
from workbench.errors import InputError
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.accelerator.device import Accelerator
    from workbench.devices.accelerator.nesting import Nested
    from workbench.devices.operator_protocols import DeviceVector

SMOOTHED = 0.25
"""The part of the spectrum of D^-1 E that smoothing treats: from this times its upper bound."""
LEAST_BOUND = 2.0
"""Upper bound of the spectrum of D^-1 E for a matrix with row sums that are not negative."""
LARGE, BOUND_STEPS = 1.05, 3
"""Times `LEAST_BOUND` that row sums may be before the bound is improved, and the steps that improve it."""
MOST_IN_SINGLE = 1e5
"""Ratio of diagonal entries of E, largest to smallest, up to which the levels are in single precision."""
SINGLE_RANGE = 1e-30, 1e30
"""Diagonal entries of E that single precision takes: vectors of its levels, which are scaled by their roots, neither
under- nor overflow."""
MOST_DENSE = 8192
"""Vectors of a last level that is inverted, at most."""
LOST = 1000
"""Units of roundoff of the entries of A below which eigenvalues of a last level are its null space."""
MOST_BY_EIGENVALUES = 512
"""Vectors of a last level of grown parts whose null space is found by its eigenvalues, in some tens of milliseconds."""


def hierarchy(
    matrix: sparse.csr_array | PlacedMatrix,
    parts: Parts | None,
    bottom: int,
    scaling: float,
    steps: tuple[int, ...],
    repeats: int = 1,
    first: tuple[int, float] | None = None,
    near_null: np.ndarray | None = None,
    grow: Grow = grown_parts,
    precision: float = DOUBLE,
    most: int | None = None,
) -> Levels:
    """The levels for E, shape (d, d), down to at most `bottom` vectors; in single precision if its diagonal allows it.

    steps, repeats: as in `Levels`. Without parts vectors are merged along strong couplings of E. first, near_null,
    grow, precision: as in `grown_levels`. most: vectors of the last level, by default `MOST_DENSE`. Raises InputError
    for an E with a diagonal entry that is not positive, and where merging leaves too many vectors.
    """
    most = most or MOST_DENSE
    if isinstance(matrix, PlacedMatrix):
        if made := _on_device(matrix, parts, first, bottom, scaling, steps, most, precision):
            return made
        # There the reason is found, or it works.
        matrix = matrix.on_host
    parts = parts and parts.on_host
    dimensions = len(parts.per_side) if parts else 0
    _positive(matrix.diagonal())
    if parts:
        made = _merged_levels(matrix, parts, bottom)
    else:
        made = grown_levels(matrix, bottom, first, near_null, grow, precision)
    count = made.diagonal.size
    if count > most:
        leaves = f"merging {'boxes' if parts else 'parts'} leaves {count} vectors, and the last level"
        raise CoarseError(
            f"{leaves} of coarse solver multilevel may have {most}; use coarse solver sparse",
            f"{leaves} may have {most}",
        )
    diagonals = [_positive(each.diagonal) for each in (*made.levels, made)]
    dtype = _precision(matrix.dtype, diagonals[0])
    roots = [np.sqrt(diagonal) for diagonal in diagonals]
    levels = [_level(*each, dtype) for each in zip(made.levels, roots, roots[1:], strict=False)]
    least = _rounding_of_last(parts, count, precision)
    scaled = _scaled_inverse(_dense(made.csr), roots[-1], least).astype(dtype)
    order, scale = made.order.astype(np.int32), (1 / roots[0]).astype(np.finfo(dtype).dtype)
    return Levels(tuple(levels), order, scale, scaled, scaling, steps, holds_constants(matrix), dimensions, repeats)


def _merged_levels(matrix: sparse.csr_array, parts: Parts, bottom: int) -> Grown:
    """The levels of merged boxes."""
    parents, last = merged_levels(parts, bottom)
    order, groups = _nested_order(parents, last.phases.size)
    csr, diagonal = reordered((matrix.data, matrix.indices, matrix.indptr.astype(np.int64)), order)
    levels = []
    for starts in groups:
        parent = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
        levels.append(LevelOfParts(csr, diagonal, starts, parent))
        csr, diagonal = summed(csr, starts, parent)
    return Grown(tuple(levels), order, csr, diagonal)


def _on_device(
    matrix: PlacedMatrix,
    parts: Parts | None,
    first: tuple[int, float] | None,
    bottom: int,
    scaling: float,
    steps: tuple[int, ...],
    most: int,
    precision: float,
) -> Levels | None:
    """The levels in the memory of a device; None where it has no room, for an E that is not positive or has very long
    rows, and where nothing is merged."""
    device: Any = matrix.device
    usual, dimensions, width, children = None, 0, 0, 0
    try:
        if parts is None and first:
            grown = device.grown_parts(matrix.csr, (first, (GROWN, STRONG)), bottom, LEAST_REDUCTION)
            if grown is None:
                return None
            merges, count, children = grown
            usual, width = LARGE * LEAST_BOUND, max(1, round(matrix.nnz / matrix.shape[0]) - 1)
        elif parts is not None and parts.device is not None:
            merges, last = merged_levels(parts, bottom)
            count, dimensions = last.phases.size, len(parts.per_side)
        else:
            return None
        if count > most:
            return None
        divisor = matrix.divisor or 1.0
        found = device.nested_levels(matrix.csr, merges, count, divisor, _fits_single, usual, components=parts is None)
        if found is None:
            return None
        made = _inverse_of_last(device, found, _rounding_of_last(parts, count, precision))
        levels = []
        for level in found.levels:
            bound = max(LEAST_BOUND, level.bound)
            arrays = level.data, level.indices, level.indptr, level.parents, level.starts, level.weights
            levels.append(Level(*arrays, smoother_coefficients(SMOOTHED * bound, bound)))
    except InputError:
        return None
    singular = found.singular <= MOST_OF_CONSTANTS
    return Levels(
        tuple(levels), found.order, found.scale, made, scaling, steps, singular, dimensions,
        width=width, children=children,
    )  # fmt: skip


def _rounding_of_last(parts: Parts | None, count: int, precision: float) -> float | None:
    """The eigenvalues of a last level that are rounding, over the largest; None where they are not computed."""
    return None if parts is not None or count > MOST_BY_EIGENVALUES else LOST * precision


def _inverse_of_last(device: Accelerator, found: Nested, least: float | None) -> DeviceVector:
    """The inverse of the last level on the device, made there where it has a library for that. least: as in
    `_scaled_inverse`."""
    made = None if least is not None else device.inverse_of_last(found, NULL_TOLERANCE)
    if made is not None:
        return made
    dense, roots = device.to_host(found.bottom), found.null
    dense = _scaled_inverse(roots[:, None] * dense * roots, roots) if least is None else pseudo_inverse(dense, least)
    return device.array(dense, found.scale.dtype)


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


def _nested_order(parents: list[np.ndarray], last: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """The part at each row of the first level, such that the parts of a parent are consecutive on every level; and for
    each level the first row of each parent, and its size."""
    order, groups = np.arange(last), []
    for parent in reversed(parents):
        order, starts = grouped(parent, order)
        groups.insert(0, starts)
    return order, groups


def _level(level: LevelOfParts, roots: np.ndarray, below: np.ndarray, dtype: np.dtype) -> Level:
    """A level with its matrix scaled to unit diagonal. roots, below: of the diagonals of its matrix and of the next."""
    data, indices, indptr = level.csr
    # Row sums of |D^-1 E| bound its spectrum; few rows with large ones, as of slivers, would weaken the smoothing.
    scaled, sums = with_unit_diagonal(level.csr, 1 / roots, dtype)
    small = sums <= LARGE * LEAST_BOUND
    bound = max(LEAST_BOUND, sums if small else spectral_bound(*level.csr, np.real(level.diagonal), BOUND_STEPS))
    index = np.int64 if data.size > np.iinfo(np.int32).max else np.int32
    if level.modes is None:
        weights = roots / below[level.parents]
    else:
        weights = roots[:, None] * level.modes / below.reshape(-1, level.columns)[level.parents]
    return Level(
        scaled,
        indices,
        indptr.astype(index),
        level.parents,
        level.starts.astype(np.int32),
        weights.astype(np.finfo(dtype).dtype if weights.dtype.kind == "f" else dtype),
        smoother_coefficients(SMOOTHED * bound, bound),
    )


def _precision(dtype: np.dtype, diagonal: np.ndarray) -> np.dtype:
    """Single precision, or double where that would lose the couplings of a stiff phase to its surroundings, or all."""
    double = not _fits_single(float(diagonal.min()), float(diagonal.max()))
    if dtype.kind == "c":
        return np.dtype(np.complex128 if double else np.complex64)
    return np.dtype(np.float64 if double else np.float32)


def _fits_single(lowest: float, highest: float) -> bool:
    """True if single precision does for levels whose diagonal entries, all positive, lie between these."""
    return SINGLE_RANGE[0] <= lowest and highest <= SINGLE_RANGE[1] and highest <= MOST_IN_SINGLE * lowest


def smoother_coefficients(low: float, high: float) -> tuple[float, float]:
    """a and b for which 1 - t (a - b t) is the Chebyshev polynomial of degree 2 on [low, high], 1 at t = 0."""
    middle, half = (high + low) / 2, (high - low) / 2
    at_zero = 2 * (middle / half) ** 2 - 1
    return 4 * middle / half**2 / at_zero, 2 / half**2 / at_zero


def _scaled_inverse(matrix: np.ndarray, roots: np.ndarray, least: float | None = None) -> np.ndarray:
    """The inverse of a dense matrix scaled to unit diagonal; roots: of its diagonal. least: where its null space may be
    any, the eigenvalues that are rounding, over the largest."""
    if least is not None:
        return pseudo_inverse(matrix / roots[:, None] / roots, least)
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
