"""Pivots of incomplete factorizations on stencils and CSR matrices: M = (E + L) E^-1 (E + L^H), block by block.

Blocks of unknowns are factorized independently, in parallel; couplings between blocks count as dropped. In modified IC
the fill that a pattern has no place for is taken, times omega, from the pivots of its two rows, so that with omega = 1
M and A have the same row sums. Computed in double precision for any precision of A.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

LEAST = 1e-13
"""A pivot of at most this fraction of its diagonal entry is a breakdown: nothing but rounding is left of it."""
LAST = 1e-7
"""The last pivot of a singular matrix, as a fraction of its diagonal entry, may be this large by rounding."""


def stencil_pivots(
    main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...], block: int, omega: float, shift: float
) -> tuple[np.ndarray, int, int]:
    """E of a nearest-neighbour stencil whose diagonal is taken (1 + shift) times.

    main, lower: as in `Stencil`, each of shape (N,); block: unknowns in a block.
    Returns E (N,), the number of replaced last pivots of singular blocks, and the first row that broke down, or -1.
    """
    size = main.size
    diagonal = np.ascontiguousarray(np.real(main), np.float64)
    wide = np.complex128 if main.dtype.kind == "c" else np.float64
    bands = [*(np.ascontiguousarray(low, wide) for low in lower), *[np.empty(0, wide)] * 3][:3]
    steps = np.array([*strides, size, size, size][:3], np.int64)
    pivots, blocks = np.empty(size), -(-size // block)
    replaced, failed = np.zeros(blocks, np.int64), np.full(blocks, -1, np.int64)
    launch(size, _stencil_pivots, diagonal, *bands, steps, block, omega, shift, pivots, replaced, failed)
    return pivots, *_status(replaced, failed)


def csr_pivots(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    bounds: np.ndarray,
    omega: float,
    shift: float,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """E and the strict upper triangle of the factor, L^H, on the pattern of a CSR matrix with sorted indices.

    The matrix has a whole diagonal and no couplings between blocks. bounds: the first row of each block, and N. Returns
    values (nnz,), of which those right of the diagonal are L^H, E (N,), and the two numbers of `stencil_pivots`. Cost:
    sum over rows of lower times upper entries.
    """
    size = indptr.size - 1
    values = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)
    pivots, blocks, bounds = np.empty(size), bounds.size - 1, bounds.astype(np.int64)
    replaced, failed = np.zeros(blocks, np.int64), np.full(blocks, -1, np.int64)
    places = np.full(size, -1, np.int64)
    launch(data.size, _csr_pivots, values, indices, indptr, bounds, omega, shift, places, pivots, replaced, failed)
    return values, pivots, *_status(replaced, failed)


def lower_factor(
    values: np.ndarray, indices: np.ndarray, indptr: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """L in CSR form with sorted rows from L^H, the entries right of the diagonal among `values`. Cost: one read."""
    ends = np.zeros(indptr.size, indptr.dtype)
    launch(0, _count_above, indices, indptr, ends)
    np.cumsum(ends, out=ends)
    made = np.empty(ends[-1], values.dtype), np.empty(ends[-1], indices.dtype)
    launch(0, _transpose_above, values, indices, indptr, ends[:-1].copy(), *made)
    return *made, ends


@kernel()
def _count_above(taken, indices, indptr, ends):  # pragma: no cover
    for i in range(indptr.size - 1):
        for j in range(indptr[i], indptr[i + 1]):
            if indices[j] > i:
                ends[indices[j] + 1] += 1


@kernel()
def _transpose_above(taken, values, indices, indptr, cursors, data, columns):  # pragma: no cover
    for i in range(indptr.size - 1):
        for j in range(indptr[i], indptr[i + 1]):
            if indices[j] > i:
                at = cursors[indices[j]]
                data[at], columns[at] = np.conj(values[j]), i
                cursors[indices[j]] = at + 1


def _status(replaced: np.ndarray, failed: np.ndarray) -> tuple[int, int]:
    broken = failed[failed >= 0]
    return int(replaced.sum()), int(broken[0]) if broken.size else -1


def checked_pivot(pivot, entry, last):  # pragma: no cover
    """The pivot, 1 if it was replaced, and True if it is usable."""
    if last and abs(pivot) <= LAST * entry:
        # No row of this block follows, so the value affects no other pivot.
        return entry, 1, True
    return pivot, 0, pivot > LEAST * entry


@kernel()
def _stencil_pivots(
    taken, main, low0, low1, low2, steps, block, omega, shift, pivots, replaced, failed
):  # pragma: no cover
    size = main.size
    bands = 0
    for k in range(3):
        bands += steps[k] < size or k == 0
    for thread in threads(taken):
        for part in shared(taken, thread, failed.size):
            first, stop = part * block, min(size, part * block + block)
            for i in range(first, stop):
                entry = main[i] * (1 + shift)
                pivot = entry
                for k in range(3):
                    j = i - steps[k]
                    if j < first:
                        continue
                    low = low0[i] if k == 0 else (low1[i] if k == 1 else low2[i])
                    # Divided first, since the product might leave the range of numbers.
                    pivot -= (low / pivots[j] * np.conj(low)).real
                    if omega > 0:
                        for m in range(3):
                            other = j + steps[m]
                            if m == k or other >= stop or steps[m] >= size:
                                continue
                            far = low0[other] if m == 0 else (low1[other] if m == 1 else low2[other])
                            pivot -= omega * (low / pivots[j] * np.conj(far)).real
                last = True
                for k in range(3):
                    above = i + steps[k]
                    if above < stop:
                        up = low0[above] if k == 0 else (low1[above] if k == 1 else low2[above])
                        last &= up == 0
                pivots[i], changed, usable = checked_pivot(pivot, entry, last)
                replaced[part] += changed
                if not usable:
                    failed[part] = i
                    break


@kernel()
def _csr_pivots(
    taken, values, indices, indptr, bounds, omega, shift, places, pivots, replaced, failed
):  # pragma: no cover
    for thread in threads(taken):
        for part in shared(taken, thread, failed.size):
            # Columns of a block belong to it alone, so the blocks can share one array of places.
            for i in range(bounds[part], bounds[part + 1]):
                begin, end = indptr[i], indptr[i + 1]
                for j in range(begin, end):
                    places[indices[j]] = j
                here = places[i]
                entry = values[here].real * (1 + shift)
                pivot = entry
                for j in range(begin, here):
                    k = indices[j]
                    factor = values[j] / pivots[k]
                    for m in range(indptr[k + 1] - 1, indptr[k] - 1, -1):
                        column = indices[m]
                        if column <= k:
                            break
                        update = factor * values[m]
                        if column == i:
                            pivot -= update.real
                        elif places[column] >= 0:
                            values[places[column]] -= update
                        else:
                            pivot -= omega * update.real
                for j in range(begin, end):
                    places[indices[j]] = -1
                last = here == end - 1
                pivots[i], changed, usable = checked_pivot(pivot, entry, last)
                replaced[part] += changed
                if not usable:
                    failed[part] = i
                    break
