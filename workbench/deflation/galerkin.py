"""AZ and the Galerkin matrix E = Z^H A Z for piecewise constant Z, as sparse matrices."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from workbench.devices.host.boxes import Rows
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator, Stencil
from workbench.operators.matrix_rows import stored_rows

LEAST_ON_DEVICE = 1024
"""Rows of an E that stays on the device that made it: coarse solvers factor smaller ones as fast on the cores."""


def sparse_az(operator: Operator, labels: np.ndarray, count: int) -> sparse.csr_array:
    """AZ, shape (N, d), as CSR without entries that are zero to rounding. labels: of all columns of A.

    Inside a subdomain a row of AZ is the row sum of A, zero for a diffusion stencil; mostly interface rows remain.
    """
    from workbench.devices.host.coarse_rows import matrix_az, stencil_az

    shape = (operator.shape[0], count)
    if isinstance(operator, Stencil):
        operator = operator.exact
        return sparse.csr_array(stencil_az(operator.main, operator.lower, operator.strides, labels), shape=shape)
    rows = stored_rows(operator)
    az = sparse.csr_array(
        matrix_az(rows.data, rows.indices, rows.indptr, labels, count, operator.diagonal()), shape=shape
    )
    az.sort_indices()
    return az


def az_by_products(
    bound: BoundOperator, labels: np.ndarray, count: int, device: Device, dtype: np.dtype
) -> sparse.csr_array:
    """AZ of an A without entries. Cost: d + 2 products, and a vector for each until the zeros are dropped."""
    from workbench.devices.host.coarse_rows import ROUNDING

    random = np.random.default_rng(0)
    # |A s| for random signs s is at most the sum of |A| in each row, and hardly ever much less in two trials.
    signs = (random.choice([-1.0, 1.0], labels.size) for _ in range(2))
    scale = np.maximum.reduce([np.abs(product) for product in products(bound, signs, device, labels.size, dtype)])
    least = ROUNDING * np.finfo(dtype).eps * scale
    columns = []
    for product in products(bound, (labels == k for k in range(count)), device, labels.size, dtype):
        product[np.abs(product) <= least] = 0
        columns.append(sparse.csc_array(product[:, None]))
    return sparse.csr_array(sparse.hstack(columns, format="csc"))


def products(
    bound: BoundOperator, vectors: Iterable[np.ndarray], device: Device, size: int, dtype: np.dtype
) -> Iterator[np.ndarray]:
    """A v of each of these vectors, shape (N,), in host memory. Cost: a product, a vector to the device and back."""
    product = device.zeros(size, dtype)
    for vector in vectors:
        bound.apply(device.array(vector, dtype), product)
        yield np.array(device.to_host(product))


def galerkin_matrix(az: sparse.csr_array, labels: np.ndarray, count: int) -> sparse.csr_array:
    """E = Z^H (AZ), shape (d, d), symmetrized."""
    from workbench.devices.host.coarse_rows import label_sums

    rows, columns, sums = label_sums(az.indptr, az.indices, az.data, labels)
    summed = sparse.coo_array((sums, (rows, columns)), shape=(count, count)).tocsr()
    return sparse.csr_array((summed + summed.conj().T) / 2)


class PlacedMatrix:
    """E, shape (d, d), in the memory of a device, as data, indices and indptr; the diagonal entry of a row comes first.

    divisor: of all entries, which are as they were before; None for 1.
    """

    def __init__(self, device: Any, csr: Rows, divisor: float | None = None) -> None:
        self.device, self.csr, self.divisor = device, csr, divisor
        self.shape = (csr[2].size - 1,) * 2
        self.nnz, self.dtype = csr[0].size, csr[0].dtype

    @functools.cached_property
    def on_host(self) -> sparse.csr_array:
        """A copy in host memory."""
        return _on_host(map(self.device.to_host, self.csr), self.divisor)


def in_host_memory(matrix: sparse.csr_array | PlacedMatrix) -> sparse.csr_array:
    """E in host memory."""
    return matrix.on_host if isinstance(matrix, PlacedMatrix) else matrix


def matrix_of_rows(
    rows: Rows, device: Device | None = None, divisor: float | None = None
) -> sparse.csr_array | PlacedMatrix:
    """E of parts of boxes over a divisor, of what `Stencil.box_matrix` returns; where it is large, in the memory of the
    device that made it."""
    if isinstance(rows[0], np.ndarray):
        return _on_host(rows, divisor)
    made = PlacedMatrix(device, rows, divisor)
    return made.on_host if made.shape[0] < LEAST_ON_DEVICE else made


def _on_host(rows: Iterable[np.ndarray], divisor: float | None) -> sparse.csr_array:
    data, indices, indptr = rows
    if data.size <= np.iinfo(np.int32).max:
        # SciPy takes the larger type for both, and would copy the indices.
        indptr = indptr.astype(np.int32)
    return sparse.csr_array(
        (data if divisor is None else data / divisor, indices, indptr), shape=(indptr.size - 1,) * 2
    )
