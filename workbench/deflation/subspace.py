"""Deflation subspaces: piecewise constant, stored as labels, or spanned by dense vectors."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np

from workbench.arrays.scaling import unit_columns
from workbench.arrays.validation import cast, finite_array
from workbench.deflation.block_subspace import BlockBasis, BlockUpdate, DenseBlocks, PiecewiseBlocks, SparseBlocks
from workbench.deflation.galerkin import (
    PlacedMatrix,
    az_by_products,
    galerkin_matrix,
    matrix_of_rows,
    products,
    sparse_az,
)
from workbench.deflation.parts import Parts
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.host.storage import check_room, stored_az
from workbench.devices.operator_protocols import CoarseUpdate, DeviceVector, Restriction
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator, Stencil
from workbench.settings import COMPACT

MOST_AMPLIFIED = 1e5
"""||A v||/(v, A v) of a unit Ritz vector v, at most: the projection multiplies rounding errors by it. A vector that is
null but for a small part of size e has 1/e."""
RANK_TOLERANCE = 1e-12
"""An eigenvalue of the Gram matrix of unit vectors below this counts as zero."""
NULL_TOLERANCE = 1e-10
"""A Ritz value below this times the largest one counts as zero."""
LEAST_WITHOUT_AZ = 64
"""Vectors from which E of boxes is summed without AZ, box by box in parallel."""
ROUNDING_FACTOR = 16
"""Rounding error of (v, A v) for a unit null vector, over eps times the largest diagonal entry of A."""


class HasLabels(Protocol):
    """A space of piecewise constant vectors."""

    @property
    def labels(self) -> np.ndarray:
        """Of the unknowns, shape (N,)."""
        ...


class SparseColumns:
    """Piecewise constant Z and its AZ in host memory.

    space: holds the labels. count: d. bound: A on the device; where A has no entries, d + 2 products make AZ.
    """

    def __init__(self, operator: Operator, space: HasLabels, count: int, bound: BoundOperator, device: Device) -> None:
        self.count, self._operator, self._space = count, operator, space
        self._bound, self._device = bound, device

    @property
    def labels(self) -> np.ndarray:
        """Shape (N,)."""
        return self._space.labels

    @property
    def block_bytes(self) -> int:
        """Device memory of Z for block vectors, by rows and by columns; AZ has entries at interfaces alone."""
        itemsize = self._operator.dtype.itemsize
        return self.labels.size * (2 * itemsize + 12)

    @functools.cached_property
    def az(self) -> sparse.csr_array:
        """AZ, shape (N, d), computed when it is first asked for: not every variant needs it."""
        if self._operator.nnz is None:
            return az_by_products(self._bound, self.labels, self.count, self._device, self._operator.dtype)
        return sparse_az(self._operator, self.labels, self.count)

    def in_blocks(
        self, device: Device, columns: int, dtype: np.dtype
    ) -> tuple[PiecewiseBlocks, Callable[[], SparseBlocks]]:
        """Z for block vectors, and what makes AZ for them."""
        work = device.zero_block(self.count, columns, dtype)

        def make_az() -> SparseBlocks:
            az = self.az
            return SparseBlocks(device, (az.data.astype(dtype, copy=False), az.indices, az.indptr), columns, work)

        return PiecewiseBlocks(device, self.labels, work), make_az


@dataclasses.dataclass(frozen=True, eq=False)
class DenseColumns:
    """Z^T and (AZ)^T in host memory, shape (d, N)."""

    z: np.ndarray
    az: np.ndarray

    @property
    def block_bytes(self) -> int:
        """Device memory of both for block vectors."""
        return self.z.nbytes + self.az.nbytes

    def in_blocks(self, device: Device, columns: int, dtype: np.dtype) -> tuple[DenseBlocks, Callable[[], DenseBlocks]]:
        """Z for block vectors, and what makes AZ for them."""
        return DenseBlocks(device, self.z, columns), lambda: DenseBlocks(device, self.az, columns)


class BasisColumns(Protocol):
    """Z and AZ in host memory, for block vectors."""

    @property
    def block_bytes(self) -> int:
        """Device memory of Z for block vectors."""
        ...

    def in_blocks(self, device: Device, columns: int, dtype: np.dtype) -> tuple[BlockBasis, Callable[[], BlockUpdate]]:
        """Z for block vectors, and what makes AZ for them."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class BoundSubspace:
    """A subspace on a device.

    z: restrict(w) = Z^H w and add(x, a) = x + Z a.
    make_az: AZ on the device, as subtract(w, a) = w - AZ a.
    matrix: E = Z^H A Z, shape (d, d).
    lengths: what returns the norm of each column of Z, shape (d,).
    columns: the same in host memory, for block vectors.
    parts: where the vectors lie, None if that is not known.
    """

    z: Restriction
    make_az: Callable[[], CoarseUpdate]
    matrix: sparse.csr_array | PlacedMatrix
    lengths: Callable[[], np.ndarray]
    columns: BasisColumns
    notes: tuple[str, ...] = ()
    parts: Parts | None = None


class Subspace:
    """Base of deflation subspaces.

    Examples:
        >>> import numpy as np
        >>> from workbench.deflation import Subspace, as_subspace
        >>> isinstance(as_subspace(np.ones((6, 1)), 6), Subspace)
        True
    """

    piecewise_constant: ClassVar[bool] = False

    @property
    def labels(self) -> np.ndarray | None:
        """The subdomain of each unknown, in host memory; None if the vectors are not piecewise constant."""
        return None

    def bind(self, operator: Operator, bound: BoundOperator, device: Device) -> BoundSubspace:
        """Copy Z and AZ to the device and compute E. Raises InputError for a Z that cannot deflate A."""
        raise TypeError


class PiecewiseConstant(Subspace):
    """One indicator vector per subdomain, stored as labels 0..d-1, shape (N,).

    labels: in host memory, or a vector of `device`. boxes: what the subdomains are, None if they are not boxes of a
    grid.

    Raises InputError for a subdomain without unknowns.

    Examples:
        >>> import numpy as np
        >>> from workbench.deflation import PiecewiseConstant
        >>> PiecewiseConstant(np.array([0, 0, 1, 1, 1, 2], np.int32)).sizes.tolist()
        [2, 3, 1]
    """

    piecewise_constant: ClassVar[bool] = True
    az_form = COMPACT
    """The form in which a device stores AZ, one of `settings.AZ_FORMS`."""

    def __init__(self, labels: DeviceVector, boxes: Boxes | None = None, device: Device | None = None) -> None:
        self._labels, self._boxes, self._device = labels, boxes, device
        self._kept: Restriction | None = None
        self._rows: Rows | None = None
        """Rows of E, where they are kept for a later phase."""
        self._earlier: EarlierParts | None = None
        self._keeps_rows = False
        if boxes is None:
            self._labels = labels = _checked_labels(labels)
        sizes = np.bincount(labels) if boxes is None else None
        if sizes is not None and not sizes.all():
            raise InputError(
                f"deflation subdomain {int(np.argmin(sizes))} of {sizes.size} holds no unknown; renumber them"
            )
        self._sizes = sizes

    @property
    def sizes(self) -> np.ndarray:
        """Unknowns of each subdomain, shape (d,)."""
        if self._boxes:
            return self._boxes.sizes
        assert self._sizes is not None
        return self._sizes

    @property
    def labels(self) -> np.ndarray:
        if self._device:
            self._labels, self._device = self._device.to_host(self._labels), None
        return self._labels

    def earlier(self, cells: np.ndarray) -> EarlierParts | None:
        """Labels and rows of E, of which those far from `cells`, places whose phase has changed, stay the same; None
        where E has not been kept."""
        if self._rows is None or self._boxes is None or self._device:
            return None
        return EarlierParts.of(self._labels, self._boxes, self._rows, cells)

    def keep(self, before: Subspace | None, z: Restriction, earlier: EarlierParts | None = None) -> None:
        """Let the next `bind` take Z of an earlier subspace where the labels are the same, rows of E from `earlier`,
        and keep its own rows. z: on the same device, in the same precision."""
        self._earlier, self._keeps_rows = earlier, True
        if isinstance(before, PiecewiseConstant) and not (self._device or before._device):
            self._kept = z if np.array_equal(self._labels, before._labels) else None

    def bind(self, operator: Operator, bound: BoundOperator, device: Device) -> BoundSubspace:
        count = self._boxes.count if self._boxes else self.sizes.size
        if self._labels.size != operator.shape[0]:
            raise InputError(f"there are {self._labels.size} labels, but the matrix has {operator.shape[0]} rows")
        z, self._kept = self._kept, None
        columns = SparseColumns(operator, self, count, bound, device)
        rows, earlier, self._earlier = None, self._earlier, None
        if isinstance(operator, Stencil) and self._boxes and count >= LEAST_WITHOUT_AZ:
            rows = operator.box_matrix(device, self._labels, self._boxes, earlier)
        if rows and self._keeps_rows and isinstance(rows[0], np.ndarray):
            # SciPy may sort the rows of a matrix in place.
            self._rows = rows[0].copy(), rows[1].copy(), rows[2]
        return BoundSubspace(
            device.subdomains(self._labels, count, operator.dtype, self._boxes) if z is None else z,
            lambda: self._az_on(device, sparse.csr_array(columns.az, dtype=operator.dtype)),
            matrix_of_rows(rows, device) if rows else galerkin_matrix(columns.az, self.labels, count),
            lambda: np.sqrt(self.sizes),
            columns,
            parts=Parts.of(self._boxes) if self._boxes else None,
        )

    def _az_on(self, device: Device, az: sparse.csr_array) -> CoarseUpdate:
        if self.az_form == COMPACT:
            return device.compact_columns(az)
        check_room(device, "AZ", stored_az(az, self.labels), az, self.az_form, {"az": COMPACT})
        return device.diagonal_columns(az, self.labels)


class DenseSubspace(Subspace):
    """The span of the columns of `vectors`, shape (N, d).

    Z consists of the Ritz vectors of A in that span: orthonormal, with diagonal E. Linearly dependent columns are
    dropped, and so are Ritz vectors that A maps to zero, which do not change the span of AZ; both are noted.

    Cost: memory 2 d vectors (Z and AZ), setup d applications of A and about 8 N d^2 flops, 4 N d flops per application.

    Raises InputError for entries that are not finite, and for an A that is indefinite on the span.

    Examples:
        >>> import numpy as np
        >>> from workbench.deflation import DenseSubspace
        >>> DenseSubspace(np.ones((6, 1))).piecewise_constant
        False
    """

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = finite_array(vectors, "an array of deflation vectors")

    def bind(self, operator: Operator, bound: BoundOperator, device: Device) -> BoundSubspace:
        z, notes = self._orthonormal_basis(operator)
        az = np.empty(z.shape[::-1], z.dtype)
        for k, product in enumerate(products(bound, z.T, device, z.shape[0], z.dtype)):
            az[k] = product
        double = np.result_type(operator.dtype, np.float64)
        ritz_values, rotation = np.linalg.eigh(z.conj().T.astype(double) @ az.T)
        zero = max(NULL_TOLERANCE, np.finfo(operator.dtype).eps) * np.abs(ritz_values).max(initial=0)
        if (ritz_values < -max(zero, null_rounding(operator))).any():
            raise InputError(
                f"a deflation vector v has (v, A v) = {ritz_values[0]:.3g}, but CG needs A positive definite; "
                "check the matrix"
            )
        positive = ritz_values > zero
        if not positive.all():
            notes.append(f"E is singular: {int((~positive).sum())} deflation vectors that A maps to zero were dropped")
        kept = positive & (np.linalg.norm(rotation.T @ az, axis=1) <= MOST_AMPLIFIED * np.abs(ritz_values))
        if not kept[positive].all():
            notes.append(
                f"{int((positive & ~kept).sum())} deflation vectors were dropped: with them the projection would "
                f"amplify rounding errors more than {MOST_AMPLIFIED:.0e} times"
            )
        rotation = rotation[:, kept]
        columns = DenseColumns(*((rotation.T @ rows).astype(operator.dtype) for rows in (z.T, az)))
        return BoundSubspace(
            device.columns(columns.z),
            lambda: device.columns(columns.az),
            sparse.csr_array(sparse.diags_array(ritz_values[kept]).astype(operator.dtype)),
            lambda: np.ones(rotation.shape[1]),
            columns,
            tuple(notes),
        )

    def _orthonormal_basis(self, operator: Operator) -> tuple[np.ndarray, list[str]]:
        """An orthonormal basis of the span, shape (N, rank), and notes."""
        size = operator.shape[0]
        if self.vectors.ndim != 2 or self.vectors.shape[0] != size:
            raise InputError(f"deflation vectors have shape {self.vectors.shape}, but the matrix has {size} rows")
        double = np.result_type(operator.dtype, np.float64)
        vectors = cast(self.vectors, double, "a deflation vector")
        z = _orthonormalized(_orthonormalized(vectors)).astype(operator.dtype)
        dropped = self.vectors.shape[1] - z.shape[1]
        return z, [f"{dropped} linearly dependent deflation vectors were dropped"] if dropped else []


def null_rounding(operator: Operator) -> float:
    """Bound of |(v, A v)| by rounding for a unit null vector v; 0 if the diagonal of A is not available."""
    try:
        return ROUNDING_FACTOR * float(np.finfo(operator.dtype).eps * np.abs(operator.diagonal()).max())
    except InputError:
        return 0.0


def _orthonormalized(vectors: np.ndarray) -> np.ndarray:
    """A basis of the span by the Gram matrix of the unit columns; orthonormal to rounding after two calls."""
    vectors = unit_columns(vectors)
    squares, rotation = np.linalg.eigh(vectors.conj().T @ vectors)
    independent = squares > RANK_TOLERANCE
    return vectors @ (rotation[:, independent] / np.sqrt(squares[independent]))


def _checked_labels(labels: np.ndarray) -> np.ndarray:
    if np.ma.isMaskedArray(labels):
        raise InputError("labels of deflation subdomains are a masked array; fill the masked entries")
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iu" or labels.ndim != 1 or not labels.size:
        raise InputError(
            f"labels of deflation subdomains must be integers 0..d-1, got {labels.dtype} of shape {labels.shape}; "
            "for a single vector pass an array of shape (N, 1)"
        )
    if labels.min() < 0 or labels.max() >= labels.size:
        raise InputError(
            f"labels of deflation subdomains must be in 0..d-1 with d at most {labels.size}, "
            f"got {labels.min()} to {labels.max()}"
        )
    return np.ascontiguousarray(labels, np.int32)
