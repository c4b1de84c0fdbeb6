"""Subdomains of a matrix that has no grid: grown along its couplings, or cut by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.host.aggregation import Csr
from workbench.lazy import sparse
from workbench.operators.base import Operator
from workbench.operators.matrix_rows import MatrixRows
from workbench.registry import parameter

COUPLINGS, INDEX = "couplings", "index"
SAMPLE = 4096
"""Rows by which a matrix is judged."""
HUB = 30
"""Times the mean length that a row of a mesh has at most."""


def cut_parameter() -> Any:
    """The declared parameter of a block that cuts a matrix without a grid."""
    return parameter(
        COUPLINGS,
        "of a matrix without a grid: couplings grows parts along those of A, index cuts ranges of consecutive unknowns",
        choices=(COUPLINGS, INDEX),
    )


def grid_of(operator: Operator, grid: tuple[int, ...] | None = None) -> tuple[int, ...] | None:
    """The grid of a system with this A, or the one that A itself knows; None without any."""
    return grid or getattr(operator, "grid", None)


def grows(operator: Operator, cut: str) -> bool:
    """True if parts of an A without a grid are grown along its couplings; ranks, and an A without entries, cut by
    index."""
    return cut == COUPLINGS and operator.nnz is not None and not isinstance(operator, MatrixRows)


def components(matrix: sparse.csr_array) -> tuple[int, np.ndarray]:
    """The number of connected components of the graph of A, and the component of each row, int32 of shape (N,), in the
    order of their first rows.

    Stored zeros couple nothing. Cost: a search on one core, about as long as two products with A.
    """
    # Imported here because listing problems needs no kernel.
    from workbench.devices.host.growth import components_of

    return components_of((matrix.data, matrix.indices, matrix.indptr))


def has_hubs(matrix: sparse.csr_array) -> bool:
    """True for a graph with hubs: a row has more than `HUB` times the mean number of entries.

    A few steps lead from any unknown to any other: there are neither slow components that subdomains would remove nor
    an order that puts neighbours together.
    """
    return int(np.diff(matrix.indptr).max()) > HUB * matrix.nnz / matrix.shape[0]


def sampled(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Entries of up to `SAMPLE` rows spread over the matrix: the row of each, and its place in data and indices."""
    rows = np.unique(np.linspace(0, matrix.shape[0] - 1, SAMPLE).astype(np.int64))
    lengths = matrix.indptr[rows + 1] - matrix.indptr[rows]
    firsts = matrix.indptr[rows] - np.append(0, np.cumsum(lengths)[:-1])
    return np.repeat(rows, lengths), np.repeat(firsts, lengths) + np.arange(lengths.sum())


def csr_of(operator: Operator) -> Csr:
    """Data, indices and indptr of A."""
    matrix = operator.to_csr()
    return matrix.data, matrix.indices, matrix.indptr
