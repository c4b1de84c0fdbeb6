"""Synthetic sparse matrices similar to those of finite elements: neighbours in a box, some of them dropped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from workbench.lazy import sparse

NODES_PER_BLOCK = 4096
MAX_REACH = 3
SPREAD = 100.0
"""Ratio of the largest to the smallest stiffness of a node."""
DOMINANCE = 1e-3
"""Relative excess of a diagonal entry over the sum of the other magnitudes in its row."""
OFFSET = 0.05
"""Added to the couplings between different unknowns, so that no entry of a bond is zero."""


class ThinnedGrid:
    """`nodes` points of a cubic grid, plane by plane, with `each` unknowns per node and about `entries` entries.

    The reach of the box of neighbours is the smallest that gives enough entries (within 1%, at most 3). Random choices
    depend on a symmetric hash of the two nodes and `seed`, so A is symmetric and rows can be generated in any order.
    """

    def __init__(self, nodes: int, each: int, entries: int, seed: int) -> None:
        self.nodes, self.each = nodes, each
        self._key = _mixed(np.array([seed], np.uint64))
        self._side = max(1, round(nodes ** (1 / 3)))
        pairs = entries // each**2
        possible = nodes
        for reach in range(1, MAX_REACH + 1):
            self._set_reach(reach)
            possible = nodes + 2 * sum(int(np.count_nonzero(exists)) for exists in self._lower_pairs())
            if possible >= 0.99 * pairs:
                break
        self._limit = self._threshold(max(0, (pairs - nodes) // 2), (possible - nodes) // 2)

    def to_csr(self) -> sparse.csr_array:
        """The matrix with sorted int32 indices; arrays are allocated once and filled in blocks of nodes."""
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
        # Neighbours in ascending order: by plane, row, position in the row.
        self._offsets = np.array(list(itertools.product(steps, repeat=3)))
        self._own = len(self._offsets) // 2
        lengths = np.linalg.norm(self._offsets, axis=1)
        lengths[self._own] = 1
        along = self._offsets[:, : self.each] / lengths[:, None]
        bonds = np.eye(self.each) + along[:, :, None] * along[:, None, :]
        self._bonds = np.where(np.eye(self.each, dtype=bool), -bonds, -bonds - OFFSET)

    def _neighbours(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the neighbours, shape (nodes, box), and whether each of them exists."""
        side = self._side
        at = np.stack([nodes // side**2, nodes // side % side, nodes % side], axis=1)
        points = at[:, None, :] + self._offsets
        others = points @ np.array([side**2, side, 1])
        inside = (points[:, :, 0] >= 0) & np.all((points[:, :, 1:] >= 0) & (points[:, :, 1:] < side), axis=2)
        return others, inside & (others < self.nodes)

    def _lower_pairs(self) -> Iterator[np.ndarray]:
        """True for each neighbour with a smaller number that exists, block by block."""
        for nodes in self._node_blocks():
            yield self._neighbours(nodes)[1][:, : self._own]

    def _threshold(self, count: int, possible: int) -> int:
        """The largest hash of the pairs kept, such that `count` pairs are."""
        if count >= possible:
            return 2**64 - 1
        hashes, filled = np.empty(possible, np.uint64), 0
        for nodes in self._node_blocks():
            others, inside = self._neighbours(nodes)
            found = self._hash(nodes, others)[:, : self._own][inside[:, : self._own]]
            hashes[filled : filled + found.size] = found
            filled += found.size
        hashes.partition(count)
        return int(hashes[count]) - 1

    def _blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Nodes, the numbers of their neighbours, and whether each pair is kept."""
        for nodes in self._node_blocks():
            others, inside = self._neighbours(nodes)
            kept = inside & (self._hash(nodes, others) <= np.uint64(self._limit))
            kept[:, self._own] = True
            yield nodes, others, kept

    def _node_blocks(self) -> Iterator[np.ndarray]:
        for first in range(0, self.nodes, NODES_PER_BLOCK):
            yield np.arange(first, min(self.nodes, first + NODES_PER_BLOCK))

    def _fill(
        self, nodes: np.ndarray, others: np.ndarray, kept: np.ndarray, indices: np.ndarray, data: np.ndarray
    ) -> None:
        """Write the columns and values of the rows of some nodes."""
        each = self.each
        row, neighbour = np.nonzero(kept)
        column = others[row, neighbour]
        counts = kept.sum(axis=1)
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        k_row, k_column = self._stiffness(nodes)[row], self._stiffness(column)
        values = (2 * k_row * k_column / (k_row + k_column))[:, None, None] * self._bonds[neighbour]
        own, unknown = first + kept[:, : self._own].sum(axis=1), np.arange(each)
        values[own[:, None], unknown, unknown] = 0
        sums = np.add.reduceat(np.abs(values).sum(axis=2), first, axis=0)
        values[own[:, None], unknown, unknown] = (1 + DOMINANCE) * sums + DOMINANCE * self._stiffness(nodes)[:, None]
        # From (pair, unknown, unknown) to rows: the rows of a node are consecutive and of equal length.
        start = (first * each**2)[row] + (np.arange(row.size) - first[row]) * each
        target = start[:, None, None] + (counts[row] * each)[:, None, None] * unknown[:, None] + unknown
        data[target] = values
        indices[target] = (column * each)[:, None, None] + unknown

    def _hash(self, nodes: np.ndarray, others: np.ndarray) -> np.ndarray:
        """A symmetric hash of each pair of nodes."""
        low, high = np.minimum(nodes[:, None], others), np.maximum(nodes[:, None], others)
        return _mixed(_mixed(low.astype(np.uint64) ^ self._key) + high.astype(np.uint64))

    def _stiffness(self, nodes: np.ndarray) -> np.ndarray:
        """Random stiffness between 1/sqrt(SPREAD) and sqrt(SPREAD), by a hash of the node."""
        uniform = _mixed(nodes.astype(np.uint64) + self._key).astype(np.float64) / 2**64
        return SPREAD ** (uniform - 0.5)


def _mixed(bits: np.ndarray) -> np.ndarray:
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014), in which every output bit depends on all input bits."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
