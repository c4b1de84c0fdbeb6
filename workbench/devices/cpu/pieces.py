"""Pieces of vectors on the cores: copies, sums with weights, and inner products, on runs of consecutive unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.memory import vector
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, Pieces
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.threads import CHUNK, launch, prepare
from workbench.lines.types import accumulator

MOST_GROUPS = 16
"""Each group of runs has sums of its own."""


class PieceVectors:
    """Local vectors of pieces, shape (local_size,)."""

    def __init__(self, pieces: Pieces, dtype: np.dtype) -> None:
        self.pieces, self.dtype = pieces, np.dtype(dtype)
        runs, segments = pieces.runs, pieces.segments
        self._runs = (runs.start, runs.length, runs.local, _cuts(np.cumsum(runs.length)))
        self._segments = (*segments, _cuts(segments.bounds[1:]))
        self._weights = np.zeros((pieces.count, ROWS_AT_ONCE), self.dtype)
        some = np.empty(0, self.dtype)
        prepare(_gather, some, some, *self._runs)
        prepare(_combine, *[some] * ROWS_AT_ONCE, self._weights, some, *self._segments, False)

    def gather(self, v: np.ndarray, local: np.ndarray) -> None:
        """local = the entries of v in each piece."""
        launch(local.size, _gather, v, local, *self._runs)

    def fixed(self, weights: np.ndarray) -> np.ndarray:
        """The weights for many calls of `combine`."""
        return weights

    def combine(self, rows: Sequence[np.ndarray], weights: np.ndarray, target: np.ndarray, *, add: bool) -> None:
        """target = the sum of weights[row, piece] times the pieces of the rows, each at its place; plus target if add.

        rows: at most `ROWS_AT_ONCE` local vectors. weights: shape (rows, pieces).
        """
        self._weights[:] = 0
        self._weights[:, : len(rows)] = weights.T
        launch(target.size, _combine, *_filled(rows), self._weights, target, *self._segments, add)

    def panel(self, count: int) -> Sequence[np.ndarray]:
        """`count` vectors to multiply with."""
        made: Any = vector(count * self.pieces.size, self.dtype).reshape(count, -1)
        return made

    def products(self, couplings: Couplings) -> PieceProducts:
        """Inner products with the vectors of a panel."""
        return PieceProducts(couplings, self.dtype)


class PieceProducts:
    """Inner products of local vectors with the vectors of a panel, for the pairs of `couplings`."""

    def __init__(self, couplings: Couplings, dtype: np.dtype) -> None:
        runs, count = couplings.runs, len(couplings.pairs)
        ends = np.cumsum(runs.length)
        groups = int(max(1, min(MOST_GROUPS, couplings.pieces.local_size // CHUNK)))
        cuts = np.append(np.searchsorted(ends, ends[-1] * np.arange(groups) // groups), ends.size)
        self._runs = (runs.piece, couplings.sources, runs.local, runs.start, runs.length, cuts)
        wide = accumulator(np.dtype(dtype))
        self._sums = np.zeros((groups, count, ROWS_AT_ONCE), wide)
        self._found = np.zeros((count, ROWS_AT_ONCE), wide)
        some = np.empty(0, dtype)
        prepare(_products, *[some] * ROWS_AT_ONCE, np.empty((0, 0), dtype), *self._runs, self._sums, self._found)

    def __call__(self, rows: Sequence[np.ndarray], panel: Sequence[np.ndarray]) -> np.ndarray:
        """(z, v) for each pair and row, shape (pairs, rows), in double precision.

        Reads the rows once, and those parts of the panel that meet them.
        """
        launch(rows[0].size, _products, *_filled(rows), panel, *self._runs, self._sums, self._found)
        return self._found[:, : len(rows)].copy()


def _filled(rows: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The rows, filled to the number that a kernel takes; the last is repeated, and read from a cache."""
    return [*rows, *[rows[-1]] * (ROWS_AT_ONCE - len(rows))]


def _cuts(ends: np.ndarray) -> np.ndarray:
    """The first run of each chunk of about as many elements, and their number. ends: elements up to each run's end."""
    chunks = int(max(1, min(ends.size, ends[-1] // CHUNK)))
    return np.unique(np.append(np.searchsorted(ends, ends[-1] * np.arange(chunks) // chunks), ends.size))


@kernel()
def _gather(taken, v, local, starts, lengths, locals_, cuts):  # pragma: no cover
    for thread in threads(taken):
        for chunk in shared(taken, thread, cuts.size - 1):
            for run in range(cuts[chunk], cuts[chunk + 1]):
                source = v[starts[run] : starts[run] + lengths[run]]
                target = local[locals_[run] : locals_[run] + lengths[run]]
                for i in range(target.size):
                    target[i] = source[i]


@kernel(*REORDERED)
def _combine(taken, z0, z1, z2, z3, weights, target, bounds, firsts, pieces, locals_, cuts, add):  # pragma: no cover
    for thread in threads(taken):
        for chunk in shared(taken, thread, cuts.size - 1):
            for segment in range(cuts[chunk], cuts[chunk + 1]):
                part = target[bounds[segment] : bounds[segment + 1]]
                if not add:
                    for i in range(part.size):
                        part[i] = 0
                for cover in range(firsts[segment], firsts[segment + 1]):
                    first, w = locals_[cover], weights[pieces[cover]]
                    end = first + part.size
                    a, b, c, d = z0[first:end], z1[first:end], z2[first:end], z3[first:end]
                    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
                    # Of some vectors only the pieces of one colour are wanted.
                    if w0 == 0 and w1 == 0 and w2 == 0 and w3 == 0:
                        continue
                    for i in range(part.size):
                        part[i] += w0 * a[i] + w1 * b[i] + w2 * c[i] + w3 * d[i]


@kernel(*REORDERED)
def _products(
    taken, z0, z1, z2, z3, panel, pairs, sources, locals_, starts, lengths, cuts, sums, found
):  # pragma: no cover
    for thread in threads(taken):
        for group in shared(taken, thread, sums.shape[0]):
            mine = sums[group]
            for pair in range(mine.shape[0]):
                for row in range(mine.shape[1]):
                    mine[pair, row] = 0
            for run in range(cuts[group], cuts[group + 1]):
                first, end = locals_[run], locals_[run] + lengths[run]
                v = panel[sources[run], starts[run] : starts[run] + lengths[run]]
                a, b, c, d = z0[first:end], z1[first:end], z2[first:end], z3[first:end]
                zero = found.dtype.type(0)
                s0, s1, s2, s3 = zero, zero, zero, zero
                for i in range(v.size):
                    s0 += np.conj(a[i]) * v[i]
                    s1 += np.conj(b[i]) * v[i]
                    s2 += np.conj(c[i]) * v[i]
                    s3 += np.conj(d[i]) * v[i]
                place = mine[pairs[run]]
                place[0] += s0
                place[1] += s1
                place[2] += s2
                place[3] += s3
    for pair in range(found.shape[0]):
        for row in range(found.shape[1]):
            total = found.dtype.type(0)
            for group in range(sums.shape[0]):
                total += sums[group, pair, row]
            found[pair, row] = total
