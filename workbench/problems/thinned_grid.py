"""Sparse matrices like those of finite elements on a grid: neighbours in a box, some of them dropped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy import sparse

NODES_A_BLOCK = 4096
LONGEST_REACH = 3
SPREAD = 100.0
"""Largest over smallest stiffness of a node."""
DOMINANCE = 1e-3
"""By how much of the sum of the others a diagonal entry exceeds it."""
INSIDE = 0.05
"""Couplings between unknowns of one node, and what keeps every entry of a bond from being zero."""


class ThinnedGrid:
    """`nodes` points of a cubic grid, plane after plane, with `each` unknowns a node and about `entries` entries.

    The reach of the box of neighbours is the least that gives enough entries (within 1%, at most 3). Every choice
    follows from a hash of the two nodes and `seed`, alike from both sides, so rows are made in any order and A is
    symmetric.
    """

    def __init__(self, nodes: int, each: int, entries: int, seed: int) -> None:
        self.nodes, self.each = nodes, each
        self._key = _mixed(np.array([seed], np.uint64))
        self._side = max(1, round(nodes ** (1 / 3)))
        pairs = entries // each**2
        for reach in range(1, LONGEST_REACH + 1):
            self._set_reach(reach)
            possible = nodes + 2 * sum(int(np.count_nonzero(there)) for there in self._lower_pairs())
            if possible >= 0.99 * pairs:
                break
        self._limit = self._threshold(max(0, (pairs - nodes) // 2), (possible - nodes) // 2)

    def to_csr(self) -> sparse.csr_array:
        """The matrix, int32 indices, sorted; arrays are made once and filled block of nodes by block of nodes."""
        each = self.each
        counts = np.concatenate([kept.sum(axis=1) for _, _, kept in self._blocks()])
        ends = np.cumsum(np.repeat(counts, each) * each)
        indptr = np.concatenate([[0], ends]).astype(np.int32)
        indices, data = np.empty(int(ends[-1]), np.int32), np.empty(int(ends[-1]))
        for nodes, others, kept in self._blocks():
            part = slice(indptr[nodes[0] * each], indptr[(nodes[-1] + 1) * each])
            self._fill(nodes, others, kept, indices[part], data[part])
        csr = sparse.csr_array((data, indices, indptr), shape=(self.nodes * each,) * 2)
        csr.has_canonical_format = True
        return csr

    def _set_reach(self, reach: int) -> None:
        steps = range(-reach, reach + 1)
        # Neighbours in the order of their numbers: plane, row, place in the row.
        self._offsets = np.array(list(itertools.product(steps, repeat=3)))
        self._own = len(self._offsets) // 2
        lengths = np.linalg.norm(self._offsets, axis=1)
        lengths[self._own] = 1
        along = self._offsets[:, : self.each] / lengths[:, None]
        bonds = np.eye(self.each) + along[:, :, None] * along[:, None, :]
        self._bonds = np.where(np.eye(self.each, dtype=bool), -bonds, -bonds - INSIDE)

    def _neighbours(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the neighbours, shape (nodes, box), and which of them there are."""
        side = self._side
        at = np.stack([nodes // side**2, nodes // side % side, nodes % side], axis=1)
        there = at[:, None, :] + self._offsets
        others = there @ np.array([side**2, side, 1])
        inside = (there[:, :, 0] >= 0) & np.all((there[:, :, 1:] >= 0) & (there[:, :, 1:] < side), axis=2)
        return others, inside & (others < self.nodes)

    def _lower_pairs(self) -> Iterator[np.ndarray]:
        """Block by block, which pairs with a neighbour of smaller number there are."""
        for nodes in self._node_blocks():
            yield self._neighbours(nodes)[1][:, : self._own]

    def _threshold(self, wanted: int, possible: int) -> int:
        """The largest hash of a pair that is kept, so that `wanted` are."""
        if wanted >= possible:
            return 2**64 - 1
        hashes, filled = np.empty(possible, np.uint64), 0
        for nodes in self._node_blocks():
            others, inside = self._neighbours(nodes)
            found = self._hash(nodes, others)[:, : self._own][inside[:, : self._own]]
            hashes[filled : filled + found.size] = found
            filled += found.size
        hashes.partition(wanted)
        return int(hashes[wanted]) - 1

    def _blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Nodes, their neighbours' numbers, and which of these pairs are kept."""
        for nodes in self._node_blocks():
            others, inside = self._neighbours(nodes)
            kept = inside & (self._hash(nodes, others) <= np.uint64(self._limit))
            kept[:, self._own] = True
            yield nodes, others, kept

    def _node_blocks(self) -> Iterator[np.ndarray]:
        for first in range(0, self.nodes, NODES_A_BLOCK):
            yield np.arange(first, min(self.nodes, first + NODES_A_BLOCK))

    def _fill(
        self, nodes: np.ndarray, others: np.ndarray, kept: np.ndarray, indices: np.ndarray, data: np.ndarray
    ) -> None:
        """Columns and values of the rows of some nodes."""
        each = self.each
        row, place = np.nonzero(kept)
        column = others[row, place]
        counts = kept.sum(axis=1)
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        mine, theirs = self._stiffness(nodes)[row], self._stiffness(column)
        values = (2 * mine * theirs / (mine + theirs))[:, None, None] * self._bonds[place]
        own, unknown = first + kept[:, : self._own].sum(axis=1), np.arange(each)
        values[own[:, None], unknown, unknown] = 0
        sums = np.add.reduceat(np.abs(values).sum(axis=2), first, axis=0)
        values[own[:, None], unknown, unknown] = (1 + DOMINANCE) * sums + DOMINANCE * self._stiffness(nodes)[:, None]
        # From (pair, unknown, unknown) to rows: those of a node follow one another, each as long as its pairs.
        start = (first * each**2)[row] + (np.arange(row.size) - first[row]) * each
        target = start[:, None, None] + (counts[row] * each)[:, None, None] * unknown[:, None] + unknown
        data[target] = values
        indices[target] = (column * each)[:, None, None] + unknown

    def _hash(self, nodes: np.ndarray, others: np.ndarray) -> np.ndarray:
        """A number for every pair of nodes, the same from both sides."""
        low, high = np.minimum(nodes[:, None], others), np.maximum(nodes[:, None], others)
        return _mixed(_mixed(low.astype(np.uint64) ^ self._key) + high.astype(np.uint64))

    def _stiffness(self, nodes: np.ndarray) -> np.ndarray:
        """From 1/sqrt(SPREAD) to its inverse, by a hash of the node."""
        uniform = _mixed(nodes.astype(np.uint64) + self._key).astype(np.float64) / 2**64
        return SPREAD ** (uniform - 0.5)


def _mixed(bits: np.ndarray) -> np.ndarray:
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of 64 depends on every other."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
