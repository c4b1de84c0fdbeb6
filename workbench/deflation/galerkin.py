"""AZ and the Galerkin matrix E = Z^H A Z for piecewise constant Z, as sparse matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from workbench.devices.protocol import Device
from workbench.host.boxes import Rows
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator, Stencil
from workbench.operators.matrix_rows import stored_rows


def sparse_az(operator: Operator, labels: np.ndarray, count: int) -> sparse.csr_array:
    """AZ, shape (N, d), as CSR without entries that are zero to rounding. labels: of all columns of A.

    Inside a subdomain a row of AZ is the row sum of A, zero for a diffusion stencil; mostly interface rows remain.
    """
    from workbench.host.coarse_rows import ROUNDING, stencil_az

    shape = (operator.shape[0], count)
    if isinstance(operator, Stencil):
        operator = operator.exact
        return sparse.csr_array(stencil_az(operator.main, operator.lower, operator.strides, labels), shape=shape)
    entries = stored_rows(operator).tocoo()
    rows, columns = entries.coords[0], labels[entries.coords[1]]
    az = sparse.coo_array((entries.data, (rows, columns)), shape=shape).tocsr()
    scale = np.repeat(np.abs(operator.diagonal()), np.diff(az.indptr))
    az.data[np.abs(az.data) <= ROUNDING * np.finfo(az.dtype).eps * scale] = 0
    az.eliminate_zeros()
    return sparse.csr_array(az)


def az_by_products(
    bound: BoundOperator, labels: np.ndarray, count: int, device: Device, dtype: np.dtype
) -> sparse.csr_array:
    """The same for an A without entries. Cost: d + 2 products, and a vector for each until the zeros are dropped."""
    from workbench.host.coarse_rows import ROUNDING

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
    from workbench.host.coarse_rows import label_sums

    rows, columns, sums = label_sums(az.indptr, az.indices, az.data, labels)
    summed = sparse.coo_array((sums, (rows, columns)), shape=(count, count)).tocsr()
    return sparse.csr_array((summed + summed.conj().T) / 2)


def matrix_of_rows(rows: Rows) -> sparse.csr_array:
    """E of parts of boxes, as `Stencil.box_matrix` returns it."""
    data, indices, indptr = rows
    if data.size <= np.iinfo(np.int32).max:
        # SciPy takes the larger type for both, and would copy the indices.
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, indices, indptr), shape=(indptr.size - 1,) * 2)
