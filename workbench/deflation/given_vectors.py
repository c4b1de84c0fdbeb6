"""Deflation vectors of a user: labels, dense vectors, or sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.arrays.validation import to_working_dtype
from workbench.deflation.sparse_subspace import SparseSubspace, stays_sparse
from workbench.deflation.subspace import DenseSubspace, PiecewiseConstant, Subspace
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.matrix_checks import check_finite, check_indices


def as_subspace(Z: Any, size: int) -> Subspace:
    """Convert a user's Z for N = `size` unknowns: labels of shape (N,), or vectors of shape (N, d), dense or sparse.

    Columns with one constant value each and disjoint supports that cover all unknowns become labels. Many sparse
    columns stay sparse.

    Raises InputError for any other shape or dtype.

    Examples:
        >>> import numpy as np
        >>> from workbench.deflation import as_subspace
        >>> as_subspace(np.repeat(np.eye(2), 3, axis=0), 6).labels.tolist()
        [0, 0, 0, 1, 1, 1]
    """
    if not sparse.issparse(Z):
        if isinstance(Z, np.ma.MaskedArray):
            raise InputError("Z is a masked array; fill the masked entries: Z.filled(value)")
        try:
            Z = np.asarray(Z)
        # Ragged lists and device arrays.
        except Exception as error:
            raise InputError(f"Z is not an array of numbers: {error}") from None
    if Z.ndim not in (1, 2) or Z.shape[0] != size or 0 in Z.shape:
        raise InputError(
            f"deflation vectors have shape {Z.shape}, but the matrix has {size} rows; "
            f"pass labels of shape ({size},) or vectors of shape ({size}, d)"
        )
    if Z.ndim == 1:
        return PiecewiseConstant(Z)
    if sparse.issparse(Z):
        check_indices(Z, "Z")
        Z = sparse.csc_array(Z)
        Z = sparse.csc_array((to_working_dtype(Z.data, "Z"), Z.indices, Z.indptr), shape=Z.shape)
    else:
        Z = to_working_dtype(Z, "Z")
    columns = sparse.csc_array(Z)
    labels = _labels_of(columns)
    if labels is not None:
        return PiecewiseConstant(labels)
    if stays_sparse(columns):
        return SparseSubspace(_finite(sparse.csr_array(columns)))
    return DenseSubspace(Z.toarray() if sparse.issparse(Z) else Z)


def _finite(vectors: sparse.csr_array) -> sparse.csr_array:
    """The vectors. Raises InputError for NaN and infinity."""
    check_finite(vectors, "an array of deflation vectors")
    return vectors


def _labels_of(columns: sparse.csc_array) -> np.ndarray | None:
    """The labels equivalent to these columns, or None."""
    columns = columns.copy()
    columns.eliminate_zeros()
    counts = np.diff(columns.indptr)
    if columns.nnz != columns.shape[0] or not counts.all() or np.unique(columns.indices).size != columns.nnz:
        return None
    firsts = np.repeat(columns.data[columns.indptr[:-1]], counts)
    if not np.array_equal(columns.data, firsts):
        return None
    labels = np.empty(columns.shape[0], np.int32)
    labels[columns.indices] = np.repeat(np.arange(columns.shape[1], dtype=np.int32), counts)
    return labels
