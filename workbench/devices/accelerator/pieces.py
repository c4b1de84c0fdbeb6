"""Pieces of vectors on an accelerator: copies, sums with weights, and inner products on runs of unknowns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.devices.accelerator.deflation import Combined
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.sparse_rows import items_per_row_for
from workbench.devices.kernels import pieces as kernels
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, Pieces

LONGEST_RUN = 1024
"""Unknowns of a run of an inner product; longer runs are cut, for load balance."""


class PieceVectors:
    """Local vectors of pieces, shape (local_size,)."""

    def __init__(self, device: Launcher, pieces: Pieces, dtype: np.dtype) -> None:
        self._device, self.pieces, self.dtype = device, pieces, np.dtype(dtype)
        segments = pieces.segments
        index = self._index = np.int64 if pieces.local_size > np.iinfo(np.int32).max else np.int32
        self._unknowns = None if pieces.whole else device.array(pieces.indices, index)
        owners = np.repeat(np.arange(segments.bounds.size - 1), np.diff(segments.bounds))
        places = (owners, segments.bounds, segments.first, segments.piece, segments.local)
        self._segments = [device.array(place, index) for place in places]
        self._weights = device.zeros(ROWS_AT_ONCE * pieces.count, self.dtype)
        of = kernels.of_arguments(index, ("unknowns",))
        self._gather = device.function(kernels.gather, self.dtype, annotations=of)
        of = kernels.of_arguments(index, ("segments", "bounds", "first", "pieces", "places"))
        self._combine = device.function(kernels.combine, self.dtype, annotations=of)

    def gather(self, v: Vector, local: Vector) -> None:
        """local = the entries of v in each piece."""
        if self._unknowns is None:
            self._device.assign(local, v)
            return
        self._gather.over(local.size, v, self._unknowns, local)

    def fixed(self, weights: np.ndarray) -> Vector:
        """The weights for many calls of `combine`, which can be recorded then."""
        return self._device.array(self._of_all_rows(weights), self.dtype)

    def combine(self, rows: Sequence[Vector], weights: np.ndarray | Vector, target: Vector, *, add: bool) -> None:
        """target = the sum of weights[row, piece] times the pieces of the rows, each at its place; plus target if add.

        rows: at most `ROWS_AT_ONCE` local vectors. weights: shape (rows, pieces), or `fixed` ones.
        """
        if isinstance(weights, np.ndarray):
            self._device.runtime.upload(self._weights.handle, self._of_all_rows(weights))
            weights = self._weights
        arguments = (_filled(rows), weights, target, *self._segments, np.int64(add))
        self._combine.over(target.size, *arguments)

    def _of_all_rows(self, weights: np.ndarray) -> np.ndarray:
        values = np.zeros((self.pieces.count, ROWS_AT_ONCE), self.dtype)
        values[:, : len(weights)] = weights.T
        return values

    def panel(self, count: int) -> Sequence[Vector]:
        """`count` vectors to multiply with."""
        return [self._device.zeros(self.pieces.size, self.dtype) for _ in range(count)]

    def products(self, couplings: Couplings) -> PieceProducts:
        """Inner products with the vectors of a panel."""
        return PieceProducts(self._device, couplings, self.dtype, self._index)


class PieceProducts:
    """Inner products of local vectors with the vectors of a panel, for the pairs of `couplings`."""

    def __init__(self, device: Launcher, couplings: Couplings, dtype: np.dtype, index: type) -> None:
        self._device, runs = device, couplings.runs
        # A long run becomes several, of at most `LONGEST_RUN` each.
        parts = -(-runs.length // LONGEST_RUN)
        owner = np.repeat(np.arange(parts.size), parts)
        away = LONGEST_RUN * (np.arange(owner.size) - np.repeat(np.cumsum(parts) - parts, parts))
        lengths = np.minimum(LONGEST_RUN, runs.length[owner] - away)
        places = (couplings.sources[owner], runs.local[owner] + away, runs.start[owner] + away, lengths)
        self._runs = [device.array(place, index) for place in places]
        self._count, vectors = owner.size, int(couplings.sources.max()) + 1
        pair = runs.piece[owner]
        order = np.argsort(pair, kind="stable")
        starts = np.searchsorted(pair[order], np.arange(len(couplings.pairs) + 1))
        # The sums of a pair and a row, pair by pair.
        rows = np.arange(ROWS_AT_ONCE)
        spread = np.concatenate(
            [(ROWS_AT_ONCE * part + rows[:, None]).ravel() for part in np.split(order, starts[1:-1])]
        )
        ends = np.append(0, np.cumsum(np.repeat(np.diff(starts), ROWS_AT_ONCE)))
        self._combined = Combined(device, spread, ends, dtype)
        sharing = items_per_row_for(device, float(lengths.mean()))
        self._groups = device.layout.groups_for(self._count * sharing)
        of = kernels.of_arguments(index, ("sources", "places", "starts", "lengths"), vectors)
        self._kernel = device.function(kernels.products, dtype, annotations=of, sharing=sharing)

    def __call__(self, rows: Sequence[Vector], panel: Sequence[Vector]) -> np.ndarray:
        """(z, v) for each pair and row, shape (pairs, rows), in double precision; waits for the device.

        Reads the rows once, and those parts of the panel that meet them.
        """
        arguments = (_filled(rows), tuple(panel), *self._runs, self._combined.parts, np.int64(self._count))
        self._kernel.launch(self._groups, *arguments)
        sums = self._device.to_host(self._combined())
        return sums.reshape(-1, ROWS_AT_ONCE)[:, : len(rows)]


def _filled(rows: Sequence[Vector]) -> tuple[Vector, ...]:
    """The rows, filled to the number that a kernel takes; the last is repeated."""
    return (*rows, *(rows[-1],) * (ROWS_AT_ONCE - len(rows)))
