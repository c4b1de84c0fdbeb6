"""Empty rows of A: an unknown that no equation holds, such as an isolated node of a graph or an unused node of a mesh.

A zero on the diagonal of a positive semidefinite matrix has a row and a column of zeros. Its unit vector is a null
vector of A, so x is 0 there in the solution of minimum norm, and so is b once it is in the range of A. A run therefore
solves with A + d I on these rows, d being the largest diagonal entry of A, for the same x: that is as definite as the
rest of A, and preconditioners and deflation divide by d where they would divide by 0.
"""

from __future__ import annotations

import copy
import dataclasses

import numpy as np

from workbench.devices.constant import entries, largest
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators.base import Operator
from workbench.operators.box_stencil import BoxStencil
from workbench.operators.linear_operator import LinearOperatorAdapter
from workbench.operators.matrix import Matrix
from workbench.operators.matrix_checks import check_positive, rows_of_zeros
from workbench.operators.matrix_rows import MatrixRows
from workbench.operators.stencil import BandStencil


def empty_rows(operator: Operator) -> np.ndarray:
    """The numbers of the empty rows, of those that a rank has, ascending.

    Cost: a read of the diagonal where it is stored. An A that is known by its products alone has none that are known.
    """
    if isinstance(operator, Matrix):
        return operator.empty_rows
    if isinstance(operator, MatrixRows):
        return rows_of_zeros(operator.tall, np.flatnonzero(operator.diagonal() == 0))
    if isinstance(operator, LinearOperatorAdapter) and operator.main is not None:
        return np.flatnonzero(operator.main == 0)
    if isinstance(operator, BandStencil) and not np.all(operator.main):
        return np.flatnonzero((operator.main == 0) & (_row_sizes(operator) == 0))
    return np.empty(0, np.int64)


def check_stencil(operator: Operator) -> None:
    """Raise InputError for a stencil or box operator with a diagonal that no positive semidefinite matrix has; matrices
    and operators with a diagonal were checked when they were made. Cost: a read of the diagonal."""
    if isinstance(operator, BandStencil | BoxStencil):
        check_positive(entries(operator.diagonal()), empty_rows(operator))


def without_empty_rows(operator: Operator, device: Device) -> tuple[Operator, np.ndarray | None]:
    """A with the entry d on the diagonal of its empty rows, and their numbers, those that a rank has; A itself and
    None where no rank has any.

    Cost: that of `empty_rows`; with empty rows, a copy of A.
    """
    rows = empty_rows(operator)
    if device.largest(float(rows.size)) == 0:
        return operator, None
    # Of a zero matrix any number will do.
    entry = device.largest(largest(operator.diagonal())) or 1.0
    return _filled(operator, rows, entry), rows


def _filled(operator: Operator, rows: np.ndarray, entry: float) -> Operator:
    """A plus a number on the diagonal of some rows."""
    values = np.full(rows.size, entry, operator.dtype)
    if isinstance(operator, Matrix):
        made, main = copy.copy(operator), operator.diagonal()
        main[rows] = values
        object.__setattr__(made, "main", main)
        object.__setattr__(made, "csr", _sum(operator.csr, values, rows, 0))
        object.__setattr__(made, "empty_rows", rows[:0])
        return made
    if isinstance(operator, MatrixRows):
        return dataclasses.replace(operator, tall=_sum(operator.tall, values, rows, operator.below))
    main = np.array(operator.diagonal())
    main[rows] = values
    if isinstance(operator, BandStencil):
        return BandStencil(operator.grid, main, operator.lower)
    assert isinstance(operator, LinearOperatorAdapter)
    return operator.plus_diagonal(rows, values, main)


def _sum(matrix: sparse.csr_array, values: np.ndarray, rows: np.ndarray, first: int) -> sparse.csr_array:
    """A matrix plus entries on the diagonal that begins in a column."""
    return sparse.csr_array(matrix + sparse.csr_array((values, (rows, rows + first)), shape=matrix.shape))


def _row_sizes(stencil: BandStencil) -> np.ndarray:
    """The sum of the sizes of the couplings of each row, shape (N,)."""
    sums = np.zeros(stencil.main.size)
    for low, stride in zip(stencil.lower, stencil.strides, strict=True):
        size = np.abs(low).astype(np.float64)
        sums += size
        sums[: max(0, sums.size - stride)] += size[stride:]
    return sums
