"""An upper bound of the eigenvalues of D^-1 A that holds for every Hermitian matrix, by power steps with |A|."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

ROWS_PER_CHUNK = 4096


def spectral_bound(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, diagonal: np.ndarray, steps: int
) -> float:
    """A number that no eigenvalue of D^-1 A exceeds, at most its largest absolute row sum; D: positive.

    For every positive v the largest (D^-1 |A| v)_i / v_i bounds the spectral radius of D^-1 |A|, and that bounds the
    eigenvalues of D^-1 A. v begins as 1, for the row sums of D^-1 |A|, or as the roots of D^-1, for those of
    D^-1/2 |A| D^-1/2, whichever gives less; each step replaces v by D^-1 |A| v, which makes the bound smaller where few
    rows have large sums.

    Cost: steps + 2 reads of the matrix. Source: Collatz 1942; Varga 1962, theorem 2.2.
    """
    rows = indptr.size - 1
    chunks = max(1, rows // ROWS_PER_CHUNK)
    largest, diagonal = np.empty(chunks), np.ascontiguousarray(diagonal, np.float64)

    def step(v: np.ndarray) -> tuple[float, np.ndarray]:
        product = np.empty(rows)
        launch(data.size, _ratios, data, indices, indptr, diagonal, v, product, largest)
        bound = float(largest.max())
        # Nothing over- or underflows in a few steps, each of which multiplies by at most the bound.
        product /= bound
        return bound, product

    bound, v = min((step(start) for start in (np.ones(rows), 1 / np.sqrt(diagonal))), key=lambda made: made[0])
    for _ in range(steps):
        found, v = step(v)
        bound = min(bound, found)
    return bound


@kernel()
def _ratios(taken, data, indices, indptr, diagonal, v, product, largest):  # pragma: no cover
    rows, chunks = v.size, largest.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            most = 0.0
            for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                total = 0.0
                for j in range(indptr[i], indptr[i + 1]):
                    total += abs(data[j]) * v[indices[j]]
                product[i] = total / diagonal[i]
                if product[i] > most * v[i]:
                    most = product[i] / v[i]
            largest[chunk] = most
