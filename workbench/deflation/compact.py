"""AZ and E = Z^T A Z for piecewise constant Z, as sparse matrices."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from workbench.operators import Operator, Stencil


def compact_az(operator: Operator, labels: np.ndarray, count: int) -> sparse.csr_array:
    """AZ, shape (N, d), as CSR with entries that are zero to rounding left out.

    Inside a subdomain a row of AZ is the row sum of A there, zero for a diffusion stencil, so mostly interfaces remain.
    """
    if isinstance(operator, Stencil):
        rows, columns, values = _stencil_az(operator, labels)
    else:
        entries = operator.to_csr().tocoo()
        rows, columns, values = entries.coords[0], labels[entries.coords[1]], entries.data
    az = sparse.coo_array((values, (rows, columns)), shape=(labels.size, count)).tocsr()
    scale = np.repeat(np.abs(operator.diagonal()), np.diff(az.indptr))
    az.data[np.abs(az.data) <= 8 * np.finfo(az.dtype).eps * scale] = 0
    az.eliminate_zeros()
    return sparse.csr_array(az)


def galerkin(az: sparse.csr_array, labels: np.ndarray, count: int) -> sparse.csr_array:
    """E = Z^T AZ, shape (d, d), made exactly Hermitian."""
    rows = np.repeat(labels, np.diff(az.indptr))
    summed = sparse.coo_array((az.data, (rows, az.indices)), shape=(count, count)).tocsr()
    return sparse.csr_array((summed + summed.conj().T) / 2)


def _stencil_az(operator: Stencil, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of AZ: the own subdomain's sum of each row, and one entry per coupling into another subdomain."""
    own = operator.main.copy()
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for low, stride in zip(operator.lower, operator.strides, strict=True):
        if stride >= low.size:
            continue
        coupling, above, below = low[stride:], labels[stride:], labels[:-stride]
        foreign = above != below
        own[stride:] += np.where(foreign, 0, coupling)
        own[:-stride] += np.where(foreign, 0, coupling.conj())
        crossing = np.flatnonzero(foreign & (coupling != 0))
        rows += [crossing + stride, crossing]
        columns += [below[crossing], above[crossing]]
        values += [coupling[crossing], coupling[crossing].conj()]
    inside = np.arange(own.size)
    return (
        np.concatenate([inside, *rows]),
        np.concatenate([labels, *columns]),
        np.concatenate([own, *values]),
    )
