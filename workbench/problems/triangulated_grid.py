"""Linear finite elements on a rectangular grid of squares, each cut into two triangles."""

from __future__ import annotations

import numpy as np

from workbench.lazy import sparse

# Nodes of a square: 0 below left, 1 below right, 2 above left, 3 above right.
TRIANGLES = ((0, 1, 3), (0, 3, 2))
STIFFNESS = (
    np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 2,
    np.array([[1, 0, -1], [0, 1, -1], [-1, -1, 2]]) / 2,
)
"""The stiffness matrix of each triangle, for the Laplacian in two dimensions, whatever the size of the squares."""
MASS = (np.ones((3, 3)) + np.eye(3)) / 24
"""The mass matrix of a triangle in squares of side 1."""


def triangulated_grid(rows: int, columns: int, mass: complex) -> sparse.csr_array:
    """K + mass M with all sides free, for rows x columns nodes at distance 1; complex where `mass` is.

    An inner node has 7 entries in its row, and two of the corners have 3. Cost: 18 entries per square before they are
    summed.
    """
    node = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    corners = [part.ravel() for part in (node[:-1, :-1], node[:-1, 1:], node[1:, :-1], node[1:, 1:])]
    parts = []
    for triangle, stiffness in zip(TRIANGLES, STIFFNESS, strict=True):
        local = stiffness + mass * MASS
        places = np.stack([corners[corner] for corner in triangle])
        shape = (3, 3, places.shape[1])
        row, column = np.broadcast_to(places[:, None], shape), np.broadcast_to(places[None], shape)
        values = np.broadcast_to(local[:, :, None], shape)
        parts.append(sparse.coo_array((values.ravel(), (row.ravel(), column.ravel())), shape=(node.size,) * 2).tocsr())
    csr = sparse.csr_array(parts[0] + parts[1])
    csr.sort_indices()
    return csr


def triangulated_entries(rows: int, columns: int) -> int:
    """Entries of that matrix: the nodes, and both directions of the edges."""
    across, along, diagonal = rows * (columns - 1), (rows - 1) * columns, (rows - 1) * (columns - 1)
    return rows * columns + 2 * (across + along + diagonal)
