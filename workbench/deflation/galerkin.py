"""AZ and the Galerkin matrix E = Z^H A Z for piecewise constant Z, as sparse matrices."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from workbench.devices.protocol import Device
from workbench.host.boxes import Boxes
from workbench.host.coarse_rows import ROUNDING, label_sums, stencil_az
from workbench.operators import Operator, Stencil


def sparse_az(operator: Operator, labels: np.ndarray, count: int) -> sparse.csr_array:
    """AZ, shape (N, d), as CSR without entries that are zero to rounding.

    Inside a subdomain a row of AZ is the row sum of A, zero for a diffusion stencil; mostly interface rows remain.
    """
    shape = (labels.size, count)
    if isinstance(operator, Stencil):
        operator = operator.exact
        return sparse.csr_array(stencil_az(operator.main, operator.lower, operator.strides, labels), shape=shape)
    entries = operator.to_csr().tocoo()
    rows, columns = entries.coords[0], labels[entries.coords[1]]
    az = sparse.coo_array((entries.data, (rows, columns)), shape=shape).tocsr()
    scale = np.repeat(np.abs(operator.diagonal()), np.diff(az.indptr))
    az.data[np.abs(az.data) <= ROUNDING * np.finfo(az.dtype).eps * scale] = 0
    az.eliminate_zeros()
    return sparse.csr_array(az)


def galerkin_matrix(az: sparse.csr_array, labels: np.ndarray, count: int) -> sparse.csr_array:
    """E = Z^H (AZ), shape (d, d), symmetrized."""
    rows, columns, sums = label_sums(az.indptr, az.indices, az.data, labels)
    summed = sparse.coo_array((sums, (rows, columns)), shape=(count, count)).tocsr()
    return sparse.csr_array((summed + summed.conj().T) / 2)


def matrix_of_boxes(operator: Stencil, labels: np.ndarray, boxes: Boxes, device: Device) -> sparse.csr_array | None:
    """E of parts of boxes, without AZ; None where a part is coupled to very many others."""
    csr = operator.box_matrix(device, labels, boxes)
    if not csr:
        return None
    data, indices, indptr = csr
    if data.size <= np.iinfo(np.int32).max:
        # SciPy takes the larger type for both, and would copy the indices.
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, indices, indptr), shape=(boxes.box.size,) * 2)
