"""Deflation subspaces of sparse vectors, such as modes of parts: Z, AZ and E are sparse."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from workbench.deflation.block_subspace import SparseBlocks, SparseVectorBlocks
from workbench.deflation.subspace import BoundSubspace, DenseSubspace, Subspace
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator

if TYPE_CHECKING:
    from workbench.devices.protocol import Device

DEPENDENT = 1e-10
"""A pivot of E with unit diagonal below this shows vectors that depend on one another, or a null vector of A."""
MOST_FULL = 0.25
"""The part of the entries of Z that a sparse Z has, at most."""
FEWEST = 9
"""Vectors from which Z is kept sparse; for fewer, Ritz vectors cost next to nothing."""


def stays_sparse(Z: sparse.csc_array) -> bool:
    """True for a Z that is better kept sparse: of many vectors, with few entries."""
    return Z.shape[1] >= FEWEST and Z.nnz <= MOST_FULL * Z.shape[0] * Z.shape[1]


@dataclasses.dataclass(frozen=True, eq=False)
class SparseVectorColumns:
    """Z by rows, and Z^T by rows, in host memory."""

    z: sparse.csr_array
    transposed: sparse.csr_array
    make_az: Callable[[], sparse.csr_array]

    @functools.cached_property
    def az(self) -> sparse.csr_array:
        """AZ, shape (N, d)."""
        return self.make_az()

    @property
    def block_bytes(self) -> int:
        """Device memory of Z for block vectors, by rows and by columns."""
        return 2 * (self.z.data.nbytes + self.z.indices.nbytes) + self.z.indptr.nbytes

    @property
    def _adjoint(self) -> tuple[np.ndarray, ...]:
        """Z^H by rows."""
        return self.transposed.data.conj(), self.transposed.indices, self.transposed.indptr

    def in_blocks(
        self, device: Device, columns: int, dtype: np.dtype
    ) -> tuple[SparseVectorBlocks, Callable[[], SparseBlocks]]:
        """Z for block vectors, and what makes AZ for them."""
        work = device.zero_block(self.z.shape[1], columns, dtype)

        def make_az() -> SparseBlocks:
            return SparseBlocks(device, _arrays(sparse.csr_array(self.az, dtype=dtype)), columns, work)

        return SparseVectorBlocks(device, _arrays(self.z), self._adjoint, columns, work), make_az


class SparseSubspace(Subspace):
    """The span of the columns of a sparse matrix, shape (N, d), scaled to unit length.

    Where E is singular, by columns that depend on one another or by null vectors of A, the columns are taken as a
    `DenseSubspace`, which drops what is redundant.

    Cost: memory 12 bytes for each entry of Z, by rows and by columns, and of AZ; setup the sparse products A Z and
    Z^H (A Z), and a factorization of E that tests it.

    Raises InputError for an A that is indefinite on the span, and for a Z that does not fit.

    Examples:
        >>> from scipy import sparse
        >>> from workbench.deflation.sparse_subspace import SparseSubspace
        >>> SparseSubspace(sparse.csr_array(sparse.eye_array(6, 3))).vectors.shape
        (6, 3)
    """

    def __init__(self, vectors: sparse.csr_array, notes: tuple[str, ...] = ()) -> None:
        self.vectors, self._notes = vectors, notes

    def bind(self, operator: Operator, bound: BoundOperator, device: Device) -> BoundSubspace:
        size, dtype = operator.shape[0], operator.dtype
        if self.vectors.shape[0] != size:
            raise InputError(f"deflation vectors have shape {self.vectors.shape}, but the matrix has {size} rows")
        if operator.nnz is None:
            return self._dense(operator, bound, device)
        z = sparse.csr_array(_unit_columns(self.vectors), dtype=np.result_type(self.vectors.dtype, dtype, np.float64))
        az = _product(operator, z)
        matrix = sparse.csr_array(z.conj().T @ az)
        matrix = sparse.csr_array((matrix + matrix.conj().T) / 2)
        if not _is_definite(matrix):
            return self._dense(operator, bound, device)
        stored = sparse.csr_array(z, dtype=dtype)
        transposed = sparse.csr_array(stored.T)
        columns = SparseVectorColumns(stored, transposed, lambda: az)
        return BoundSubspace(
            device.sparse_vectors(stored, transposed),
            lambda: device.compact_columns(sparse.csr_array(az, dtype=dtype)),
            sparse.csr_array(matrix, dtype=np.result_type(dtype, np.float64)),
            lambda: np.ones(matrix.shape[0]),
            columns,
            self._notes,
        )

    def _dense(self, operator: Operator, bound: BoundOperator, device: Device) -> BoundSubspace:
        return DenseSubspace(self.vectors.toarray()).bind(operator, bound, device)


def _unit_columns(vectors: sparse.csr_array) -> sparse.csr_array:
    """The columns over their norms, without those that are zero."""
    largest = np.zeros(vectors.shape[1])
    sizes = np.abs(vectors.data)
    np.maximum.at(largest, vectors.indices, sizes)
    # Squares of columns over their largest entry neither under- nor overflow.
    safe = np.where(largest > 0, largest, 1.0)
    sums = np.bincount(vectors.indices, (sizes / safe[vectors.indices]) ** 2, minlength=vectors.shape[1])
    scale = np.where(sums > 0, 1 / (safe * np.sqrt(np.where(sums > 0, sums, 1.0))), 0.0)
    made = sparse.csr_array(
        (vectors.data * scale[vectors.indices], vectors.indices, vectors.indptr), shape=vectors.shape
    )
    return made if np.all(sums > 0) else sparse.csr_array(made[:, sums > 0])


def _product(operator: Operator, z: sparse.csr_array) -> sparse.csr_array:
    """AZ without entries that are zero to rounding, as within a part whose modes A maps to zero."""
    from workbench.devices.host.coarse_rows import ROUNDING

    az = sparse.csr_array(operator.to_csr() @ z)
    scale = np.repeat(np.abs(operator.diagonal()), np.diff(az.indptr)) * np.abs(z.data).max(initial=0)
    az.data[np.abs(az.data) <= ROUNDING * np.finfo(operator.dtype).eps * scale] = 0
    az.eliminate_zeros()
    return az


def _is_definite(matrix: sparse.csr_array) -> bool:
    """True if E has pivots that are more than rounding."""
    from scipy.sparse import linalg

    diagonal = np.real(matrix.diagonal())
    if not np.all(diagonal > 0):
        return False
    scale = sparse.diags_array(1 / np.sqrt(diagonal))
    try:
        factor = linalg.splu(
            sparse.csc_matrix(scale @ matrix @ scale),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return False
    return bool(np.all(np.real(factor.U.diagonal()) > DEPENDENT))


def _arrays(matrix: sparse.csr_array) -> tuple[np.ndarray, ...]:
    return matrix.data, matrix.indices, matrix.indptr
