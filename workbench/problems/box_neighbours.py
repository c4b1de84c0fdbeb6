"""The assembled 27- and 125-point operators: every cell coupled to all neighbours within a reach, built in place."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def box_neighbours(n: int, reach: int) -> sparse.csr_array:
    """CSR matrix on n x n x n cells: (2 reach + 1)^3 - 1 on the diagonal, -1 for each neighbour inside the box.

    int32 indices, sorted. Cost: writes 12 nnz + 4 N bytes once; plane after plane is copied from a template, as the
    rows of one plane differ from those of another only by a shift of the columns.
    """
    per_plane = n * n
    nnz = box_entries(n, reach)
    indices, data = np.empty(nnz, dtype=np.int32), np.full(nnz, -1.0)
    indptr = np.zeros(n * per_plane + 1, dtype=np.int32)
    templates: dict[tuple[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    start = 0
    for z in range(n):
        reached = (min(reach, z), min(reach, n - 1 - z))
        if reached not in templates:
            templates[reached] = _plane_template(n, reach, *reached)
        columns, ends, own = templates[reached]
        np.add(columns, np.int32(z * per_plane), out=indices[start : start + columns.size])
        np.add(ends, np.int32(start), out=indptr[z * per_plane + 1 : (z + 1) * per_plane + 1])
        data[start : start + columns.size][own] = (2 * reach + 1) ** 3 - 1
        start += columns.size
    csr = sparse.csr_array((data, indices, indptr), shape=(n * per_plane, n * per_plane))
    csr.has_canonical_format = True
    return csr


def box_entries(n: int, reach: int) -> int:
    """Non-zeros: the cube of those of a band matrix, (3n - 2)^3 for reach 1 and (5n - 6)^3 for reach 2 and n > 1."""
    return sum(max(n - abs(offset), 0) for offset in range(-reach, reach + 1)) ** 3


def _plane_template(n: int, reach: int, below: int, above: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, ends of the rows and places of the diagonal for plane 0, which reaches planes -below to above."""
    line = sparse.csr_array(np.tri(n, k=reach) - np.tri(n, k=-reach - 1))
    planes = sparse.csr_array(np.ones((1, below + above + 1)))
    pattern = sparse.csr_array(sparse.kron(planes, sparse.kron(line, line, format="csr"), format="csr"))
    pattern.sort_indices()
    columns = pattern.indices.astype(np.int32) - np.int32(below * n * n)
    rows = np.repeat(np.arange(n * n, dtype=np.int32), np.diff(pattern.indptr))
    return columns, pattern.indptr[1:].astype(np.int32), np.flatnonzero(columns == rows)
