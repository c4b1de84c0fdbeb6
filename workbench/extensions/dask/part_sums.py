"""The inner products of the terms of some boxes, computed where these boxes are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench import devices
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, Pieces, colours
from workbench.lazy import sparse


class Part(NamedTuple):
    """The part of A that some boxes need. U are their unknowns, E those that A couples with U, U included.

    matrix: the rows U and columns E of A. own: of each box, its places in U. numbers: of all boxes that meet E, in
    ascending order. near: of each, where it meets E, as places in E.
    """

    matrix: sparse.csr_array
    own: list[np.ndarray]
    numbers: np.ndarray
    near: list[np.ndarray]


class PartSums:
    """(z, A z') of terms z of these boxes with terms z' of all boxes that A couples with them, and (z, r).

    Memory: a vector on U for each colour of the z'. Cost of a call: a product with the rows U for each colour, and one
    pass over the terms z.
    """

    def __init__(self, part: Part, dtype: np.dtype) -> None:
        device = devices.device("cpu")
        matrix: Any = part.matrix
        rows, columns = matrix.shape
        own, near = Pieces(rows, part.own), Pieces(columns, part.near)
        ones = np.ones(matrix.nnz, np.int32)
        pattern = sparse.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
        reach = sparse.csc_array(pattern @ near.pattern)
        panel = colours(reach)
        self._weights = [(panel == colour).astype(float)[None] for colour in range(panel.max() + 1)]
        couplings = Couplings(own, reach, panel)
        self.pairs = couplings.pairs
        """The two terms of each result: the place of z among these boxes, and that of z' in `Part.numbers`, or the one
        behind them for r. Shape (pairs, 2)."""
        self._places = own.indices
        self._near = device.pieces(near, dtype)
        self._own = vectors = device.pieces(own, dtype)
        self._panel = vectors.panel(len(self._weights) + 1)
        self._products = vectors.products(couplings)
        self._matrix, self._x = matrix, device.zeros(columns, dtype)

    def __call__(self, terms: Sequence[np.ndarray], near: np.ndarray, r: np.ndarray) -> np.ndarray:
        """The results for each pair and all iterations, shape (pairs, iterations), in double precision.

        terms: of these boxes, one local vector per iteration. near: the newest terms of all boxes that meet E, the
        entries in E of each. r: box by box.
        """
        for weights, target in zip(self._weights, self._panel, strict=False):
            self._near.combine([near], weights, self._x, add=False)
            target[:] = self._matrix @ self._x
        self._panel[-1][self._places] = r
        groups = [terms[first : first + ROWS_AT_ONCE] for first in range(0, len(terms), ROWS_AT_ONCE)]
        return np.concatenate([self._products(group, self._panel) for group in groups], axis=1)

    def combined(self, terms: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
        """The sum of terms of these boxes times weights, shape (iterations, boxes), as a vector on U."""
        made = np.zeros(self._matrix.shape[0], self._x.dtype)
        for first in range(0, len(terms), ROWS_AT_ONCE):
            group = slice(first, first + ROWS_AT_ONCE)
            self._own.combine(terms[group], weights[group], made, add=first > 0)
        return made


def part_of(matrix: sparse.csr_array, pieces: Pieces, boxes: range) -> tuple[Part, np.ndarray, np.ndarray]:
    """The part of A for consecutive boxes, the unknowns E, and U. matrix: A. pieces: the unknowns of all boxes."""
    inside = np.unique(_unknowns(pieces, boxes))
    rows = sparse.csr_array(matrix[inside])
    around = np.union1d(rows.indices, inside)
    places = np.searchsorted(around, rows.indices).astype(np.int32)
    cut = sparse.csr_array((rows.data, places, rows.indptr), shape=(inside.size, around.size))
    numbers = np.unique(sparse.csr_array(pieces.pattern)[around].indices)
    near = [np.flatnonzero(np.isin(around, pieces.part(number), assume_unique=True)) for number in numbers]
    return Part(cut, [np.searchsorted(inside, pieces.part(box)) for box in boxes], numbers, near), around, inside


def edge_of(around: np.ndarray, pieces: Pieces, boxes: range) -> np.ndarray:
    """The entries of the local vector of consecutive boxes that lie in E, as places in that vector."""
    return np.flatnonzero(np.isin(_unknowns(pieces, boxes), around))


def _unknowns(pieces: Pieces, boxes: range) -> np.ndarray:
    """The unknowns of consecutive boxes, box by box."""
    return pieces.indices[pieces.firsts[boxes.start] : pieces.firsts[boxes.stop]]
