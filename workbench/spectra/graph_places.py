"""Places of the unknowns of a matrix without coordinates: two eigenvectors of the Laplacian of its graph."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg

from workbench.devices.host.growth import grown_parts
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.cuts import components

MOST_UNKNOWNS, MOST_ENTRIES = 10_000, 500_000
"""Beyond these the places are not looked for: they would take more than about half a second."""
FEWEST = 0.9
"""Share of the unknowns that are connected, at least."""
MOST_DENSE = 600
"""Unknowns up to which the eigenvectors are those of a dense matrix."""
AGGREGATES, SMOOTHED = 250, 4
"""Parts on which the first guess is made, about, and the averages over neighbours that smooth it."""
SWEEPS, TOLERANCE = 40, 1e-3
"""Iterations of LOBPCG at most, and the residual that ends them: for a picture few digits are enough."""


def graph_places(matrix: sparse.csr_array) -> np.ndarray:
    """The rank of each unknown in the first two eigenvectors, after the constant one, of the Laplacian of the graph of
    A, shape (N, 2), from 0 to 1: unknowns that are coupled lie near each other. NaN outside the largest connected part.

    Couplings count alike. Ranks spread places where entries crowd, as those of a random graph do. The first guess are
    eigenvectors on about 250 parts; LOBPCG improves it to a few digits.
    Cost: up to 40 products of the graph with three vectors, and the eigenvectors of a dense matrix of order 250.

    Raises InputError for more than 10,000 unknowns or 500,000 entries, and where less than 90% are connected.

    Source: Hall 1970, An r-dimensional quadratic placement algorithm; LOBPCG, Knyazev 2001.
    """
    size = matrix.shape[0]
    if size > MOST_UNKNOWNS or matrix.nnz > MOST_ENTRIES:
        raise InputError(f"places of more than {MOST_UNKNOWNS} unknowns or {MOST_ENTRIES} entries take too long")
    couplings = sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    couplings = sparse.csr_array(couplings - sparse.diags_array(couplings.diagonal()))
    couplings.eliminate_zeros()
    component = components(couplings)[1]
    connected = np.flatnonzero(component == np.bincount(component).argmax())
    if connected.size < max(4, FEWEST * size):
        raise InputError("the graph falls into parts without couplings, so that its eigenvectors place nothing")
    places = np.full((size, 2), np.nan)
    vectors = _smoothest(sparse.csr_array(couplings[connected][:, connected]))
    places[connected] = np.argsort(np.argsort(vectors, axis=0, kind="stable"), axis=0) / (connected.size - 1)
    return places


def _smoothest(couplings: sparse.csr_array) -> np.ndarray:
    """Those eigenvectors of a connected graph without loops, shape (N, 2)."""
    from scipy.sparse.linalg import lobpcg

    degrees = np.asarray(couplings.sum(axis=1)).ravel()
    laplacian = sparse.csr_array(sparse.diags_array(degrees) - couplings)
    if degrees.size <= MOST_DENSE:
        _, vectors = linalg.eigh(laplacian.toarray(), subset_by_index=[1, 2])
    else:
        guess, scaling = _guess(laplacian, couplings), sparse.diags_array(1 / degrees)
        constant = np.ones((degrees.size, 1))
        with warnings.catch_warnings():
            # Vectors that are good enough to be drawn need not have converged.
            warnings.simplefilter("ignore")
            values, vectors = lobpcg(
                laplacian, guess, M=scaling, Y=constant, tol=TOLERANCE, maxiter=SWEEPS, largest=False
            )
        vectors = vectors[:, np.argsort(values)[:2]]
    return vectors


def _guess(laplacian: sparse.csr_array, couplings: sparse.csr_array) -> np.ndarray:
    """The three smoothest vectors on parts of the graph, smoothed on the graph itself; shape (N, 3)."""
    size = laplacian.shape[0]
    bonds = np.full(couplings.nnz, -1.0), couplings.indices, couplings.indptr
    labels, count = grown_parts(bonds, max(2, size // AGGREGATES), 0.0)
    z = sparse.csr_array((np.ones(size), labels, np.arange(size + 1)), shape=(size, count))
    coarse = (z.T @ laplacian @ z).toarray()
    _, vectors = linalg.eigh(coarse, np.diag(np.bincount(labels).astype(float)), subset_by_index=[1, 3])
    found = z @ vectors
    walk = sparse.diags_array(0.5 / np.asarray(couplings.sum(axis=1)).ravel()) @ couplings
    for _ in range(SMOOTHED):
        found = 0.5 * found + walk @ found
    return found
