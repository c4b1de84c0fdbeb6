"""The rows of a sparse matrix that one rank has."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import BoundOperator, Operator
from workbench.operators.matrix import precision_in


@dataclasses.dataclass(frozen=True, eq=False)
class MatrixRows:
    """Consecutive rows of a matrix, with the columns that they have entries in: those of these rows, and `ghosts`.

    tall: shape (rows, rows + ghosts). Its columns are in the order of the whole matrix: ghosts before the rows, the
    rows, ghosts behind. ghosts: their numbers in the whole matrix, ascending. slab: which rows, of all. precision: as
    in `Matrix`.

    Examples:
        >>> from scipy import sparse
        >>> from workbench.devices.host.slab import Slab
        >>> from workbench.operators.matrix_rows import MatrixRows
        >>> A = sparse.csr_array([[2.0, 0, 0, -1], [0, 2, 0, 0], [0, 0, 2, 0], [-1, 0, 0, 2]])
        >>> rows = MatrixRows.of(A[2:], Slab((4,), 2, 4, 0))
        >>> rows.ghosts.tolist(), rows.tall.toarray().tolist()
        ([0], [[0.0, 2.0, 0.0], [-1.0, 0.0, 2.0]])
    """

    tall: sparse.csr_array
    ghosts: np.ndarray
    slab: Slab
    precision: np.dtype

    @classmethod
    def of(cls, rows: sparse.csr_array, slab: Slab, first: int = 0, precision: np.dtype | None = None) -> MatrixRows:
        """The rows of a slab, shape (rows, N); first: the number in the whole matrix of their first column."""
        numbers = rows.indices.astype(np.int64) + first
        own = slab.rows
        outside = (numbers < own.start) | (numbers >= own.stop)
        ghosts = np.unique(numbers[outside])
        below = int(np.searchsorted(ghosts, own.start))
        places = numbers - own.start + below
        found = np.searchsorted(ghosts, numbers[outside])
        places[outside] = np.where(found < below, found, found + slab.size)
        shape = slab.size, slab.size + ghosts.size
        tall = sparse.csr_array((rows.data, places.astype(rows.indices.dtype), rows.indptr), shape=shape)
        return cls(tall, ghosts, slab, precision or precision_in(rows.dtype))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, rows), those of vectors."""
        return self.slab.size, self.slab.size

    @property
    def dtype(self) -> np.dtype:
        return self.tall.dtype

    @property
    def nnz(self) -> int:
        """Entries of these rows."""
        return int(self.tall.nnz)

    @property
    def nbytes(self) -> int:
        return self.tall.data.nbytes + self.tall.indices.nbytes + self.tall.indptr.nbytes

    @property
    def below(self) -> int:
        """Ghosts before the rows."""
        return int(np.searchsorted(self.ghosts, self.slab.rows.start))

    def diagonal(self) -> np.ndarray:
        return self.tall.diagonal(k=self.below)

    def to_csr(self) -> sparse.csr_array:
        raise InputError("a rank holds rows of A alone, and this needs the whole matrix; run without ranks")

    def astype(self, dtype: np.dtype) -> MatrixRows:
        return dataclasses.replace(self, tall=sparse.csr_array(self.tall.astype(dtype)))

    def bind(self, device: Any) -> BoundOperator:
        return device.product_of_rows(self.tall, self.ghosts)


def stored_rows(operator: Operator) -> sparse.csr_array:
    """The entries of A, or of the rows that a rank has, shape (rows, rows + ghosts)."""
    return operator.tall if isinstance(operator, MatrixRows) else operator.to_csr()
