"""The null space of A: whether A maps a vector to zero, and projections onto the complement of such vectors.

A v counts as zero if every row is zero up to rounding, each against the size of its own terms, sum_j |a_ij v_j|. No
other size says anything about a row: with coefficients of 1 and 1e12 the rows at a boundary are 1e-12 of the largest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.arrays.scaling import max_abs, scaled, scaled_scalar, unit_columns
from workbench.arrays.validation import cast, finite_array
from workbench.devices.constant import constant, constant_of, largest
from workbench.devices.operator_protocols import DeviceOperator, DeviceVector
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import Operator
from workbench.operators.components import Components, components_of
from workbench.operators.matrix import Matrix
from workbench.operators.matrix_checks import ROUNDING
from workbench.operators.matrix_rows import MatrixRows, stored_rows
from workbench.operators.stencil import Stencil
from workbench.operators.two_phase import TwoPhaseStencil

SHORT = 1 / 16
"""The largest entry of a vector below which its products with A may lose digits among subnormal numbers."""
DEPENDENT = 1e-12
"""Null vectors of unit length are dependent where a singular value is below this times the largest."""


class RowExcess(NamedTuple):
    """The row of A v that is farthest above rounding: |(A v)_i|, and what rounding allows there."""

    row: int
    value: float
    allowed: float


@dataclasses.dataclass(frozen=True, eq=False)
class NullSpace:
    """An orthogonal basis of the null space of A; no vectors where A is nonsingular.

    vectors: each of shape (N,), in host memory; a constant one has entries 1 and is kept as one number. empty: numbers
    of the empty rows of A, those that a rank has, whose unit vectors belong to the basis and in which the others are 0;
    None where no rank has any. components: the connected components of the other rows, whose indicator vectors are the
    basis in place of `vectors`; None where there is one component, and for a basis of other vectors.
    """

    vectors: tuple[np.ndarray, ...] = ()
    empty: np.ndarray | None = None
    components: Components | None = None

    @classmethod
    def spanned_by(cls, vectors: np.ndarray, dtype: np.dtype, empty: np.ndarray | None = None) -> NullSpace:
        """The span of vectors of shape (N,) or (N, k), which may depend on one another, and of the unit vectors of
        empty rows."""
        columns = vectors if vectors.ndim == 2 else vectors[:, None]
        others = columns
        if empty is not None and constant_of(vectors) is None:
            columns = _cleared(columns, empty)
            columns = columns[:, columns.any(axis=0)]
            others = np.delete(columns, empty, axis=0)
        if constant_of(vectors) is not None or (columns.shape[1] == 1 and np.all(others == others[0])):
            ones = constants(columns.shape[0], dtype)
            return cls((ones if empty is None else _cleared(ones, empty),), empty)
        wide = np.result_type(dtype, np.float64)
        basis, lengths, _ = np.linalg.svd(unit_columns(columns.astype(wide)), full_matrices=False)
        kept = basis.T[lengths > DEPENDENT * lengths.max(initial=0)]
        return cls(tuple(np.ascontiguousarray(vector, dtype) for vector in kept), empty)

    def __bool__(self) -> bool:
        return bool(self.vectors) or self.empty is not None or self.components is not None

    @property
    def is_constant(self) -> bool:
        """True if the constants alone span the null space."""
        return len(self.vectors) == 1 and constant_of(self.vectors[0]) is not None

    def is_constant_elsewhere(self, device: Device) -> bool:
        """True if its only vector apart from those of empty rows has the entry 1 in all other rows."""
        if self.empty is None or len(self.vectors) != 1:
            return False
        return device.largest(float(np.any(np.delete(self.vectors[0], self.empty) != 1))) == 0

    def conjugate(self) -> NullSpace:
        """The orthogonal complement of the range of A = A^T; for a Hermitian A that is the null space itself."""
        vectors = tuple(v if constant_of(v) is not None else v.conj() for v in self.vectors)
        return dataclasses.replace(self, vectors=vectors)

    def complement(self, x: DeviceVector, device: Device) -> tuple[DeviceVector, float]:
        """x minus its component in the null space, and the norm of that component; x itself without vectors.

        Cost for each vector, for all empty rows together, and for all components together: three passes over it and a
        vector of memory; two for the constants in host memory.
        """
        if self.is_constant and isinstance(x, np.ndarray):
            size = device.total(x.size)
            mean = device.total(x.sum(dtype=np.result_type(x.dtype, np.float64)).item()) / size
            x = device.copy(x)
            x -= mean
            return x, abs(mean) * math.sqrt(size)
        x, removed = self.without_empty_rows(x, device)
        if self.components is not None:
            x, of_means = self.components.without_means(x, device)
            removed = math.hypot(removed, of_means)
        for vector in self.vectors:
            square = np.vdot(vector, vector).real if constant_of(vector) is None else vector.size
            square = float(device.total(square))
            share, length = device.vdot(device.array(vector, x.dtype), x) / square, math.sqrt(square)
            component = device.array(_times(vector, share), x.dtype)
            device.subtract_from(x, component)
            x, removed = component, np.hypot(removed, abs(share) * length)
        return x, float(removed)

    def without_empty_rows(self, x: DeviceVector, device: Device) -> tuple[DeviceVector, float]:
        """x with 0 in the empty rows of A, and the norm of what was there; x itself without such rows."""
        if self.empty is None:
            return x, 0.0
        found = device.to_host(x)[self.empty]
        component = np.zeros(x.size, x.dtype)
        component[self.empty] = found
        left = device.array(component, x.dtype)
        device.subtract_from(x, left)
        return left, math.sqrt(device.total(np.vdot(found, found).real.item()))


def _cleared(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A copy with 0 in some rows."""
    made = np.array(values)
    made[rows] = 0
    return made


def constants(size: int, dtype: np.dtype) -> np.ndarray:
    """The null vector of an all-Neumann problem, kept as one number."""
    return constant(1, size, dtype)


def null_space_of(
    operator: Operator,
    vectors: np.ndarray | None,
    bound: DeviceOperator,
    device: Device,
    empty: np.ndarray | None = None,
) -> NullSpace:
    """The null space that `vectors` span, or, where they are None and A maps the constants to zero, that of the vectors
    which are constant on each connected component of A.

    bound: A on the device. empty: as in `NullSpace`; A then has entries on the diagonal of these rows, see
    `operators.empty_rows`, and the constants are those of the other rows. Cost of the test: a product with A, and for a
    matrix that is nearly singular a second one; nothing for two phases. That of the components is in `components_of`.
    """
    size, dtype = operator.shape[0], operator.dtype
    if empty is not None and device.total(size - empty.size) == 0:
        return NullSpace((), empty)
    if vectors is None:
        if not _maps_constants_to_zero(operator, bound, device, empty):
            return NullSpace((), empty)
        if (parts := components_of(operator, empty, device)) is not None:
            return NullSpace((), empty, parts)
        return NullSpace.spanned_by(constants(size, dtype), dtype, empty)
    found = NullSpace.spanned_by(vectors, dtype, empty)
    several = len(found.vectors) > 1 and _maps_constants_to_zero(operator, bound, device, empty)
    parts = components_of(operator, empty, device) if several else None
    # The indicator vectors are null vectors, so that as many span the same.
    return NullSpace((), empty, parts) if parts is not None and parts.count == len(found.vectors) else found


def _maps_constants_to_zero(
    operator: Operator, bound: DeviceOperator, device: Device, empty: np.ndarray | None
) -> bool:
    if isinstance(operator, TwoPhaseStencil):
        # A times 1 is the wall terms, which are of the size of the faces within their phase.
        return not operator.faces.walled
    if isinstance(operator, Matrix) and empty is None and operator.maps_constants is not None:
        return operator.maps_constants
    eps, size = precision_of(operator), operator.shape[0]
    if isinstance(operator, Matrix | MatrixRows):
        rows = stored_rows(operator)
        ones = constants(rows.shape[1], operator.dtype)
        if empty is not None:
            # No row has an entry in the column of an empty one, so that none is among the ghosts.
            ones = _cleared(ones, empty + (operator.below if isinstance(operator, MatrixRows) else 0))
        found = excess(rows, ones, eps)
        return device.largest(float(found is not None)) == 0
    # Stencils and boxes may be large, so they are not assembled: |d| + |A 1 - d| bounds a row's sum of |A| from below,
    # and is that sum where no other entry is positive.
    ones = constants(size, operator.dtype)
    ones = ones if empty is None else _cleared(ones, empty)
    product = device.zeros(size, operator.dtype)
    bound.apply(device.array(ones, operator.dtype), product)
    try:
        highest = operator.largest_diagonal if isinstance(operator, Stencil) else largest(operator.diagonal())
        if device.norm(product) > np.sqrt(eps * device.total(size)) * device.largest(highest):
            return False
        diagonal, mapped = operator.diagonal(), device.to_host(product)
    except InputError:
        return False
    units = eps * (ROUNDING + math.sqrt((operator.nnz or size) / size))
    zero = np.all(np.abs(mapped) <= units * (np.abs(diagonal) + np.abs(mapped - diagonal)))
    return device.largest(float(not zero)) == 0


def excess(matrix: sparse.csr_array, v: np.ndarray, eps: float | None = None) -> RowExcess | None:
    """The row in which A v is farthest above rounding; None where A v = 0 to rounding.

    eps: the unit roundoff of the entries, by default that of their dtype. Cost: a product with A, and a second one
    where the largest row of A v is zero to rounding.
    """
    eps = float(np.finfo(matrix.dtype).eps) if eps is None else eps
    largest = max_abs(v)
    if largest > 1 or 0 < largest < SHORT:
        # Sums over rows of A do not overflow, so that products with vectors of entries up to 1 do not either.
        exponent = math.frexp(largest)[1]
        found = excess(matrix, scaled(v, -exponent), eps)
        return found and RowExcess(found.row, *(scaled_scalar(each, exponent) for each in found[1:]))
    product = np.abs(matrix @ v)
    units = eps * (ROUNDING + np.sqrt(np.diff(matrix.indptr)))
    first = int(np.argmax(product))
    entries = slice(matrix.indptr[first], matrix.indptr[first + 1])
    allowed = units[first] * float(np.abs(matrix.data[entries]) @ np.abs(v[matrix.indices[entries]]))
    if product[first] > allowed:
        return RowExcess(first, float(product[first]), allowed)
    sizes = sparse.csr_array((np.abs(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape) @ np.abs(v)
    above = product - units * sizes
    row = int(np.argmax(above))
    return RowExcess(row, float(product[row]), float((units * sizes)[row])) if above[row] > 0 else None


def excess_of_products(
    product: np.ndarray, v: np.ndarray, others: Sequence[np.ndarray], allowed: float
) -> RowExcess | None:
    """The row of `excess` for an A without entries: its products with two random vectors, `others`, estimate row sizes.

    product: A v. allowed: for a row, relative to its size and the largest entry of v. The root mean square over the
    rows decides, since some are estimated too small by chance; the row of the largest entry is returned.
    """
    product, sizes = np.abs(product), np.hypot(*(np.abs(other) for other in others)) * np.abs(v).max()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(product > 0, product / sizes, 0.0)
    if np.sqrt(np.mean(ratios**2)) <= allowed:
        return None
    row = int(np.argmax(product))
    return RowExcess(row, float(product[row]), float(allowed * sizes[row]))


def null_vectors(given: object, size: int, dtype: np.dtype) -> np.ndarray:
    """A user's null vectors, shape (N, k). Raises InputError for another shape, NaN, infinity and a zero vector."""
    vectors = cast(finite_array(given, "nullspace"), dtype, "nullspace")
    if vectors.ndim not in (1, 2) or vectors.shape[0] != size:
        raise InputError(
            f"nullspace has shape {vectors.shape}, but the matrix has {size} rows; pass shape ({size},), or "
            f"({size}, k) for k vectors"
        )
    vectors = vectors if vectors.ndim == 2 else vectors[:, None]
    zero = np.flatnonzero(~vectors.any(axis=0))
    if zero.size:
        raise InputError(f"column {zero[0]} of nullspace is zero; leave it out")
    return vectors


def refuse_excess(found: RowExcess | None, column: int) -> None:
    """Raise InputError for a column of a user's null vectors that A does not map to zero."""
    if found is not None:
        raise InputError(
            f"column {column} of nullspace is not mapped to zero: |(A v)[{found.row}]| = {found.value:.3g}, and "
            f"rounding explains {found.allowed:.1g}; pass vectors with A v = 0, or leave nullspace out"
        )


def precision_of(operator: Operator) -> float:
    """The unit roundoff of the entries of A as they were given."""
    return float(np.finfo(getattr(operator, "precision", None) or operator.dtype).eps)


def _times(vector: np.ndarray, factor: complex) -> np.ndarray:
    factor = factor if vector.dtype.kind == "c" else np.real(factor)
    return factor * vector if constant_of(vector) is None else constant(factor * vector[0], vector.size, vector.dtype)
