"""Pieces of a vector that may overlap, such as the boxes of a Schwarz method, and where products of two of them meet.

A piece is a set of unknowns. Its entries lie one after the other in a local vector, behind those of the pieces before
it. All work is on runs of consecutive unknowns, which vectorizes: the rows of a box, or a whole vector.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.lazy import sparse

ROWS_AT_ONCE = 4
"""Local vectors that one pass combines, or multiplies with others."""


class Runs(NamedTuple):
    """Runs of consecutive unknowns, in the order of their local entries. Each field has one entry per run.

    piece: the piece, or whatever a run belongs to. start: the first unknown. local: its place in the local vector.
    """

    piece: np.ndarray
    start: np.ndarray
    length: np.ndarray
    local: np.ndarray


class Segments(NamedTuple):
    """The unknowns 0 to N - 1 in segments that the same pieces cover.

    bounds: first unknown of each segment, and N. first: of each segment, the first of its covers, and their number.
    piece, local: of each cover.
    """

    bounds: np.ndarray
    first: np.ndarray
    piece: np.ndarray
    local: np.ndarray


class Pieces:
    """Pieces of a vector of `size` entries. parts: sorted indices of unknowns, an array or a range for each piece, none
    empty."""

    def __init__(self, size: int, parts: Sequence[np.ndarray | range]) -> None:
        self.size = size
        self.firsts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        """The first local entry of each piece, and their number."""
        found = [_runs(part) for part in parts]
        self.runs = Runs(
            np.repeat(np.arange(len(parts)), [starts.size for starts, _ in found]),
            np.concatenate([starts for starts, _ in found]),
            lengths := np.concatenate([lengths for _, lengths in found]),
            np.cumsum(lengths) - lengths,
        )

    @property
    def count(self) -> int:
        """The number of pieces."""
        return self.firsts.size - 1

    @property
    def local_size(self) -> int:
        """Entries of a local vector."""
        return int(self.firsts[-1])

    @property
    def whole(self) -> bool:
        """True for a single piece, of all unknowns."""
        return self.count == 1 and self.local_size == self.size

    @functools.cached_property
    def indices(self) -> np.ndarray:
        """The unknown of each local entry."""
        runs = self.runs
        return np.arange(self.local_size) + np.repeat(runs.start - runs.local, runs.length)

    def part(self, piece: int) -> np.ndarray:
        """The unknowns of a piece, sorted."""
        return self.indices[self.firsts[piece] : self.firsts[piece + 1]]

    @functools.cached_property
    def pattern(self) -> sparse.csc_array:
        """The N x k matrix with a one where a piece covers an unknown."""
        return sparse.csc_array(
            (np.ones(self.local_size, np.int32), self.indices, self.firsts), shape=(self.size, self.count)
        )

    @functools.cached_property
    def segments(self) -> Segments:
        """The unknowns in segments that the same pieces cover."""
        runs = self.runs
        bounds = np.unique(np.concatenate([[0, self.size], runs.start, runs.start + runs.length]))
        first, end = (np.searchsorted(bounds, places) for places in (runs.start, runs.start + runs.length))
        owner = np.repeat(np.arange(runs.start.size), end - first)
        segment = np.arange(owner.size) - np.repeat(np.cumsum(end - first) - end, end - first)
        order = np.argsort(segment, kind="stable")
        owner, segment = owner[order], segment[order]
        return Segments(
            bounds,
            np.searchsorted(segment, np.arange(bounds.size)),
            runs.piece[owner],
            runs.local[owner] + bounds[segment] - runs.start[owner],
        )


class Couplings:
    """The inner products of the pieces of a local vector with vectors that vanish outside of known places.

    columns: where each of these vectors may be nonzero, as an N x c matrix with ones there; A times a piece is one.
    panel: the vector in which each column lies; the columns of one vector do not overlap. A further column, the last,
    is a vector that is nonzero everywhere; it lies behind the others.

    pairs: shape (pairs, 2), the piece and the column of each inner product that may not be zero.
    runs: what they are sums over; `piece` is the pair. sources: the vector of each run.
    """

    def __init__(self, pieces: Pieces, columns: sparse.csc_array, panel: np.ndarray) -> None:
        self.pieces = pieces
        common = sparse.csc_array(pieces.pattern.T @ columns)
        inside = np.zeros(pieces.size, bool)
        pairs, cuts = [], []
        for column in range(columns.shape[1]):
            where = columns.indices[columns.indptr[column] : columns.indptr[column + 1]]
            inside[where] = True
            for piece in common.indices[common.indptr[column] : common.indptr[column + 1]]:
                pairs.append((piece, column))
                cuts.append(np.flatnonzero(inside[pieces.part(piece)]))
            inside[where] = False
        pairs += [(piece, columns.shape[1]) for piece in range(pieces.count)]
        cuts += [np.arange(size) for size in np.diff(pieces.firsts)]
        self.pairs = np.array(pairs)
        self.runs, self.sources = self._in_order(cuts, np.append(panel, panel.max(initial=-1) + 1))

    def _in_order(self, cuts: Sequence[np.ndarray], panel: np.ndarray) -> tuple[Runs, np.ndarray]:
        """The runs of all pairs in the order of local entries, so that one pass reads those once.

        cuts: of each pair, the entries of the piece, counted from its first, that meet the column.
        """
        found = []
        for place, cut in enumerate(cuts):
            piece = self.pairs[place, 0]
            # Consecutive unknowns of a piece are neighbours in the local vector too.
            starts, lengths = _runs(self.pieces.part(piece)[cut])
            first = cut[np.cumsum(lengths) - lengths] + self.pieces.firsts[piece]
            found.append((np.full(starts.size, place), starts, lengths, first))
        joined = [np.concatenate(fields) for fields in zip(*found, strict=True)]
        order = np.argsort(joined[3], kind="stable")
        runs = Runs(*(field[order] for field in joined))
        return runs, panel[self.pairs[runs.piece, 1]]


def _runs(indices: np.ndarray | range) -> tuple[np.ndarray, np.ndarray]:
    """The first index of each run of consecutive ones, and its length."""
    if isinstance(indices, range):
        return np.array([indices.start]), np.array([len(indices)])
    first = np.flatnonzero(np.diff(indices, prepend=indices[0] - 2) != 1)
    return indices[first].astype(np.int64), np.diff(np.append(first, indices.size))


def colours(columns: sparse.csc_array) -> np.ndarray:
    """A colour 0, 1, .. for each column so that those of one colour do not overlap; greedy, shape (c,)."""
    meet = sparse.csr_array(columns.T @ columns)
    found = np.full(columns.shape[1], -1)
    for column in range(found.size):
        taken = found[meet.indices[meet.indptr[column] : meet.indptr[column + 1]]]
        found[column] = next(colour for colour in range(found.size) if colour not in taken)
    return found
