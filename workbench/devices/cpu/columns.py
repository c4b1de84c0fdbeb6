"""Products of a tall dense matrix Z of few columns: Z^H w, x + Z a and w - Z a, each in one pass."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.lines.types import accumulator

STRIP = 1024
"""Rows processed for all columns before the next rows: 8 KiB of w or x, which stay in a first-level cache."""


class Columns:
    """Z with d columns, given as the rows of an array of shape (d, N); each vector is kept contiguous."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = np.ascontiguousarray(rows)
        count, self.size = self._rows.shape
        wide = accumulator(self._rows.dtype)
        self._sums = np.zeros((chunks_of(self.size), count), wide)
        self.coarse = np.zeros(count, wide)
        some = np.empty(0, self._rows.dtype)
        prepare(_restrict, some, self._rows, self._sums, self.coarse)
        prepare(_add, some, self._rows, self.coarse, self._sums)

    def restrict(self, w: np.ndarray) -> np.ndarray:
        """Z^H w, shape (d,), in double precision; the array is reused by the next call. Reads (d + 1) N words."""
        launch(w.size, _restrict, w, self._rows, self._sums, self.coarse)
        return self.coarse

    def add(self, x: np.ndarray, coarse: np.ndarray) -> None:
        """x = x + Z a in place."""
        launch(x.size, _add, x, self._rows, coarse.astype(self.coarse.dtype, copy=False), self._sums)

    def add_paired(self, x: np.ndarray, coarse: np.ndarray, r: np.ndarray) -> None:
        """x = x + Z a in place; dot products need a pass of their own."""
        self.add(x, coarse)

    def subtract(self, w: np.ndarray, coarse: np.ndarray) -> None:
        """w = w - Z a in place."""
        self.add(w, -coarse)

    @property
    def traffic(self) -> int:
        """Bytes of the vectors; w or x comes on top."""
        return self._rows.nbytes

    @property
    def entries(self) -> int:
        return self._rows.size


@kernel(*REORDERED)
def _restrict(taken, w, rows, sums, coarse):  # pragma: no cover
    chunks = sums.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            low, high = w.size * chunk // chunks, w.size * (chunk + 1) // chunks
            for k in range(coarse.size):
                sums[chunk, k] = 0
            for first in range(low, high, STRIP):
                end = min(high, first + STRIP)
                piece = w[first:end]
                for k in range(coarse.size):
                    values = rows[k, first:end]
                    total = coarse.dtype.type(0)
                    for i in range(piece.size):
                        total += np.conj(values[i]) * piece[i]
                    sums[chunk, k] += total
    for k in range(coarse.size):
        coarse[k] = 0
    for chunk in range(chunks):
        for k in range(coarse.size):
            coarse[k] += sums[chunk, k]


@kernel("contract")
def _add(taken, x, rows, coarse, sums):  # pragma: no cover
    chunks = sums.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            low, high = x.size * chunk // chunks, x.size * (chunk + 1) // chunks
            for first in range(low, high, STRIP):
                end = min(high, first + STRIP)
                piece = x[first:end]
                for k in range(coarse.size):
                    values, weight = rows[k, first:end], coarse[k]
                    for i in range(piece.size):
                        piece[i] += weight * values[i]
