"""Restriction to and prolongation from piecewise constant subdomains, in one pass each, without atomics.

A subdomain vector is a label per unknown. Labels are kept as runs of equal ones: most labellings are a few long runs,
and a run is a plain sum or a plain fill that vectorizes.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from scipy import sparse

from workbench.devices.cpu.csr import as_unsigned
from workbench.devices.cpu.threads import CHUNK, launch, prepare
from workbench.devices.lines.reference import accumulator

MOST_RESTRICTION_CHUNKS = 16
"""Each chunk sums into d values of its own; more chunks would cost more memory than they gain in balance."""


class Subdomains:
    """Z for labels of shape (N,) in 0..d-1, never stored: `restrict` is Z^T w, `add` is x + Z a."""

    def __init__(self, labels: np.ndarray, count: int, dtype: np.dtype) -> None:
        starts = np.flatnonzero(np.diff(labels, prepend=labels[0] - 1))
        self._bounds = np.append(starts, labels.size).astype(np.uint64)
        self._labels = labels[starts].astype(np.uint32)
        chunks = max(1, min(MOST_RESTRICTION_CHUNKS, labels.size // CHUNK, starts.size))
        cuts = np.searchsorted(starts, np.linspace(0, labels.size, chunks + 1))
        self._cuts = np.unique(np.append(cuts[:-1], starts.size)).astype(np.uint64)
        self._partial = np.zeros((self._cuts.size - 1, count), accumulator(dtype))
        self._coarse = np.zeros(count, accumulator(dtype))
        some = np.empty(0, dtype)
        prepare(_restrict, some, self._bounds, self._labels, self._cuts, self._partial, self._coarse)
        prepare(_add, some, self._bounds, self._labels, self._cuts, self._coarse)

    def restrict(self, w: np.ndarray) -> np.ndarray:
        """Z^T w, shape (d,), in double precision; the array is reused by the next call. Reads N words."""
        launch(w.size, _restrict, w, self._bounds, self._labels, self._cuts, self._partial, self._coarse)
        return self._coarse

    def add(self, x: np.ndarray, coarse: np.ndarray) -> None:
        """x = x + Z a in place."""
        launch(x.size, _add, x, self._bounds, self._labels, self._cuts, coarse)

    @property
    def traffic(self) -> int:
        """Bytes of the run lists; the vector comes on top."""
        return self._bounds.nbytes + self._labels.nbytes + 2 * self._partial.nbytes


class CompactColumns:
    """AZ with only its non-empty rows stored: row numbers, and their entries in CSR form."""

    def __init__(self, az: sparse.csr_array) -> None:
        filled = np.flatnonzero(np.diff(az.indptr))
        self._rows = filled.astype(np.uint32 if az.shape[0] < 2**32 else np.uint64)
        self._indptr = as_unsigned(np.append(az.indptr[filled], az.indptr[-1]).astype(np.int64))
        self._indices, self._data = as_unsigned(az.indices), az.data
        self._stored = (self._rows, self._indptr, self._indices, self._data)
        chunks = max(1, filled.size // CHUNK)
        self._cuts = (np.arange(chunks + 1) * filled.size // chunks).astype(np.uint64)
        self._partial = np.zeros(chunks, accumulator(az.dtype))
        some = np.empty(0, az.dtype)
        prepare(_subtract, *self._stored, some, self._partial, some, self._cuts, self._partial)

    def subtract(self, w: np.ndarray, coarse: np.ndarray, x: np.ndarray) -> complex:
        """w = w - AZ a in place; returns (x, AZ a)."""
        launch(self._data.size, _subtract, *self._stored, w, coarse, x, self._cuts, self._partial)
        return self._partial.sum()

    @property
    def traffic(self) -> int:
        """Bytes of the stored entries and of the touched parts of w and x."""
        return sum(part.nbytes for part in self._stored) + 3 * self._rows.size * self._data.itemsize

    @property
    def entries(self) -> int:
        return self._data.size


@njit(parallel=True, nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def _restrict(w, bounds, labels, cuts, partial, coarse):  # pragma: no cover
    for chunk in prange(partial.shape[0]):
        mine = partial[chunk]
        mine[:] = 0
        for run in range(cuts[chunk], cuts[chunk + 1]):
            piece = w[bounds[run] : bounds[run + 1]]
            total = coarse.dtype.type(0)
            for i in range(piece.size):
                total += piece[i]
            mine[labels[run]] += total
    coarse[:] = 0
    for chunk in range(partial.shape[0]):
        for k in range(coarse.size):
            coarse[k] += partial[chunk, k]


@njit(parallel=True, nogil=True, cache=True)
def _add(x, bounds, labels, cuts, coarse):  # pragma: no cover
    for chunk in prange(cuts.size - 1):
        for run in range(cuts[chunk], cuts[chunk + 1]):
            piece = x[bounds[run] : bounds[run + 1]]
            value = coarse[labels[run]]
            for i in range(piece.size):
                piece[i] += value


@njit(parallel=True, nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _subtract(rows, indptr, indices, data, w, coarse, x, cuts, partial):  # pragma: no cover
    for chunk in prange(partial.size):
        total = partial.dtype.type(0)
        for k in range(cuts[chunk], cuts[chunk + 1]):
            value = coarse.dtype.type(0)
            for j in range(indptr[k], indptr[k + 1]):
                value += data[j] * coarse[indices[j]]
            row = rows[k]
            w[row] -= value
            total += np.conj(x[row]) * value
        partial[chunk] = total
