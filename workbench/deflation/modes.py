"""Modes of parts as deflation vectors: the near null space of A, part by part, such as rigid-body modes."""

from __future__ import annotations

import math

import numpy as np

from workbench.arrays.validation import finite_array
from workbench.deflation.sparse_subspace import SparseSubspace
from workbench.devices.host.growth import grown_parts
from workbench.devices.host.modes import matrix_of_nodes, node_size, orthonormal_modes
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import Operator
from workbench.operators.cuts import components
from workbench.operators.null_space import excess, precision_of


def rigid_body_modes(coordinates: object) -> np.ndarray:
    """The rigid-body modes of an elastic body: displacements of its nodes by translations and infinitesimal rotations.

    coordinates: of the nodes, shape (n, 2) or (n, 3). Returns shape (2 n, 3) or (3 n, 6): unknown d i + c is component
    c of the displacement of node i in d dimensions; translations come first. Rotations are about the mean of the
    coordinates. Leave out the rows of unknowns that are fixed.

    For `near_null` of `workbench.run.solve`. Raises InputError for another shape, NaN and infinity.

    Examples:
        >>> from workbench.deflation import rigid_body_modes
        >>> rigid_body_modes([[0, 0], [2, 0]])
        array([[ 1.,  0.,  0.],
               [ 0.,  1., -1.],
               [ 1.,  0.,  0.],
               [ 0.,  1.,  1.]])
    """
    places = finite_array(coordinates, "coordinates")
    if places.ndim != 2 or places.shape[1] not in (2, 3) or np.iscomplexobj(places):
        raise InputError(f"coordinates have shape {places.shape}; pass real numbers of shape (n, 2) or (n, 3)")
    nodes, dimensions = places.shape
    if not nodes:
        raise InputError("coordinates have no row; pass one for each node")
    places = places - places.mean(axis=0)
    planes = [(0, 1), (1, 2), (2, 0)][: 1 if dimensions == 2 else 3]
    modes = np.zeros((nodes, dimensions, dimensions + len(planes)))
    modes[:, range(dimensions), range(dimensions)] = 1
    for mode, (one, other) in enumerate(planes, start=dimensions):
        # No -0.
        modes[:, one, mode], modes[:, other, mode] = 0.0 - places[:, other], places[:, one]
    return modes.reshape(nodes * dimensions, -1)


def check_nodes(size: int, node: int) -> None:
    """Raise InputError for a number of unknowns that are no whole nodes of `node` unknowns; 0 for no nodes."""
    if node and size % node:
        fitting = math.gcd(size, node)
        raise InputError(
            f"A has {size} rows, which are no whole nodes of {node} unknowns; use node {fitting}",
            changes={"deflation.node": fitting},
        )


def translations(size: int, node: int) -> np.ndarray:
    """A vector for each unknown of a node, 1 in all nodes, shape (N, node). Raises InputError by `check_nodes`."""
    check_nodes(size, node)
    return np.tile(np.eye(node), (size // node, 1))


def modes_of_parts(operator: Operator, near_null: np.ndarray, size: int, theta: float, node: int) -> SparseSubspace:
    """A deflation vector for each part of about `size` unknowns and each vector of `near_null`, shape (N, m), that is
    independent of the others there.

    node: unknowns of a node, which are in one part; 0 for those whose translations come first, as of rigid-body modes.
    Vectors that A maps to zero are left out of one part of each component: with the other parts they span the same AZ.

    Cost: a copy of A for nodes, growth of parts, and a factorization of `near_null` in each part.
    """
    matrix = operator.to_csr()
    rows = matrix.shape[0]
    node = node or node_size(near_null)
    check_nodes(rows, node)
    of_nodes = matrix_of_nodes(matrix, node) if node > 1 else (matrix.data, matrix.indices, matrix.indptr)
    labels, count = grown_parts(of_nodes, max(2, size // node), theta)
    labels = np.repeat(labels, node)
    eps = precision_of(operator)
    wide = near_null.astype(np.result_type(near_null.dtype, matrix.dtype), copy=False)
    is_null = np.array([excess(matrix, vector, eps) is None for vector in wide.T])
    # Those come first, so that the others of a part are orthogonal to them.
    modes, kept = orthonormal_modes(wide[:, np.argsort(~is_null, kind="stable")], labels, count)
    if null := int(is_null.sum()):
        kept[_one_of_each_component(matrix, labels, kept[:, :null].sum(axis=1)), :null] = False
    return SparseSubspace(_columns(modes, labels, kept), (_note(count, node, near_null.shape[1], kept),))


def _note(count: int, node: int, vectors: int, kept: np.ndarray) -> str:
    of_nodes = f" of nodes with {node} unknowns" if node > 1 else ""
    return f"deflation parts: {count} parts{of_nodes}, {int(kept.sum())} of the {count * vectors} modes are kept"


def _one_of_each_component(matrix: sparse.csr_array, labels: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The part of each component of the graph of A in which the most null vectors are independent."""
    number, of_row = components(matrix)
    of_part = np.empty(ranks.size, np.int64)
    of_part[labels] = of_row
    order = np.argsort(ranks, kind="stable")
    chosen = np.full(number, -1)
    # Repeated indices keep the last assignment.
    chosen[of_part[order]] = order
    return chosen[chosen >= 0]


def _columns(modes: np.ndarray, labels: np.ndarray, kept: np.ndarray) -> sparse.csr_array:
    """Z, with a column for each mode of a part that is kept."""
    numbers = (np.cumsum(kept) - 1).reshape(kept.shape)
    rows, columns = np.nonzero((modes != 0) & kept[labels])
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=labels.size))])
    index = np.int64 if rows.size > np.iinfo(np.int32).max else np.int32
    entries = modes[rows, columns], numbers[labels[rows], columns].astype(index), ends.astype(index)
    return sparse.csr_array(entries, shape=(labels.size, int(kept.sum())))
