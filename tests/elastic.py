"""Elastic bodies of linear elements for tests: a cantilever in two or three dimensions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import sparse


def stiffness(sides: tuple[int, ...], length: float = 4.0) -> tuple[sparse.csr_array, np.ndarray]:
    """The stiffness matrix of a free bar with these nodes per side, and the coordinates of the nodes, shape (n, d).

    Boxes are cut into simplices along a diagonal. Young's modulus 1, Poisson's ratio 0.3, plane strain in 2D. Unknown
    d i + c is component c of the displacement of node i.
    """
    dimensions = len(sides)
    ends = (length, *[1.0] * (dimensions - 1))
    lines = [np.linspace(0, end, nodes) for end, nodes in zip(ends, sides, strict=True)]
    places = np.stack([line.ravel() for line in np.meshgrid(*lines, indexing="ij")], axis=1)
    numbers = np.arange(len(places)).reshape(sides)
    cells = []
    for way in permutations(range(dimensions)):
        corners = [np.zeros(dimensions, int)]
        for step in way:
            corners.append(corners[-1] + np.eye(dimensions, dtype=int)[step])
        slices = [tuple(slice(at, side - 1 + at) for at, side in zip(corner, sides, strict=True)) for corner in corners]
        cells.append(np.stack([numbers[each].ravel() for each in slices], axis=1))
    cells = np.concatenate(cells)
    edges = np.moveaxis(places[cells[:, 1:]] - places[cells[:, :1]], 1, 2)
    inverse = np.linalg.inv(edges)
    gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    volumes = np.abs(np.linalg.det(edges)) / (2 if dimensions == 2 else 6)
    lame, shear = 0.3 / (1.3 * 0.4), 1 / 2.6
    element = lame * np.einsum("eia,ejb->eiajb", gradients, gradients)
    element += shear * np.einsum("eib,eja->eiajb", gradients, gradients)
    pairs = shear * np.einsum("eia,eja->eij", gradients, gradients)
    for a in range(dimensions):
        element[:, :, a, :, a] += pairs
    element *= volumes[:, None, None, None, None]
    width = cells.shape[1] * dimensions
    unknowns = (cells[:, :, None] * dimensions + np.arange(dimensions)).reshape(-1, width)
    rows, columns = np.repeat(unknowns, width, axis=1).ravel(), np.tile(unknowns, (1, width)).ravel()
    size = places.size
    matrix = sparse.csr_array(sparse.coo_array((element.ravel(), (rows, columns)), shape=(size, size)))
    return sparse.csr_array((matrix + matrix.T) / 2), places


def cantilever(sides: tuple[int, ...], length: float = 4.0) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """The bar with the end x = 0 fixed: the matrix, the coordinates of its nodes, and a load along its last axis."""
    matrix, places = stiffness(sides, length)
    free = np.flatnonzero(places[:, 0] > 0)
    dimensions = places.shape[1]
    unknowns = (free[:, None] * dimensions + np.arange(dimensions)).ravel()
    load = np.zeros(unknowns.size)
    load[dimensions - 1 :: dimensions] = -1
    return sparse.csr_array(matrix[unknowns][:, unknowns]), places[free], load


PLATE, BEAM = (60, 11), (25, 6, 6)
"""Nodes per side of bars in two and three dimensions."""
BODIES = {"plate": PLATE, "beam": BEAM}
