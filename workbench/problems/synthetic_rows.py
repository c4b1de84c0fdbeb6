"""Synthetic sparse matrices: rows of different lengths, a triangulated grid, and neighbours in a box, some of them
dropped.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

from workbench.lazy import sparse

REACH = 400.0
"""Standard deviation of the distance of other couplings, in nodes."""
ROUNDS = 60
"""Attempts to couple the ends that are left; the distance grows with each."""
OFFSET = 0.05
"""Added to couplings between different unknowns of a node, so that no entry of one is zero."""
EXCESS = 1e-3
"""Added to the diagonal in multiples of the stiffness of one coupling, which makes the matrix definite."""


@dataclasses.dataclass(frozen=True)
class Rows:
    """Blocks in a row of blocks, the diagonal one counted. fewest, most: both reached. ring: every node is coupled to
    this many on either side, at most (fewest - 1)/2."""

    fewest: int
    most: int
    ring: int


def irregular_rows(
    nodes: int, each: int, pairs: int, rows: Rows, seed: int, *, phases: bool = False
) -> sparse.csr_array:
    """A positive definite matrix with `each` unknowns per node, coupled as elastic bonds; symmetric.

    pairs: blocks of each x each entries, the diagonal ones counted. phases: couplings are multiplied by random numbers
    of modulus 1, which makes the matrix complex and Hermitian. Nodes lie on a ring and are coupled to their nearest,
    and at random to others near by. Cost: a few seconds per 10^7 entries.
    """
    rng = np.random.default_rng(seed)
    edges = _edges(_free_ends(nodes, (pairs - nodes) // 2, rows, rng), rows.ring, rng)
    first, second = edges[:, 0], edges[:, 1]
    direction = rng.standard_normal((len(edges), each))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    bonds = np.eye(each) + direction[:, :, None] * direction[:, None, :] + OFFSET
    turns = np.exp(2j * np.pi * rng.random(len(edges)))[:, None, None] if phases else 1.0
    own = np.zeros((nodes, each, each))
    np.add.at(own, first, bonds)
    np.add.at(own, second, bonds)
    own += EXCESS * np.eye(each)
    places = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(nodes), 2).reshape(-1, 2)])
    order = np.lexsort((places[:, 1], places[:, 0]))
    blocks = np.concatenate([-turns * bonds, -np.conj(turns) * bonds, own])[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(places[:, 0], minlength=nodes))]).astype(np.int32)
    size = nodes * each
    return sparse.csr_array(sparse.bsr_array((blocks, places[order, 1].astype(np.int32), starts), shape=(size, size)))


def _free_ends(nodes: int, edges: int, rows: Rows, rng: np.random.Generator) -> np.ndarray:
    """Couplings of each node besides those of the ring, shape (nodes,): the first has the fewest, the last the most."""
    low, high = rows.fewest - 1 - 2 * rows.ring, rows.most - 1 - 2 * rows.ring
    wanted = 2 * (edges - rows.ring * nodes)
    free = np.clip(np.rint(rng.gamma(2.0, wanted / nodes / 2, nodes)).astype(int), low, high)
    free[0], free[-1] = low, high
    # One at a time for random nodes, until the sum is right.
    while missing := wanted - int(free.sum()):
        step = int(np.sign(missing))
        movable = np.flatnonzero((free + step >= low) & (free + step <= high) & (np.arange(nodes) % (nodes - 1) > 0))
        chosen = rng.choice(movable, min(abs(missing), movable.size), replace=False)
        free[chosen] += step
    return free


def _edges(free: np.ndarray, ring: int, rng: np.random.Generator) -> np.ndarray:
    """Couplings, shape (edges, 2), none twice: the ring, and one for two free ends of nodes near each other."""
    nodes = free.size
    around, ahead = np.tile(np.arange(nodes), ring), np.repeat(np.arange(1, ring + 1), nodes)
    found = np.unique(_codes(np.stack([around, (around + ahead) % nodes], axis=1), nodes))
    ends = np.repeat(np.arange(nodes), free)
    for attempt in range(ROUNDS):
        if ends.size < 2:
            break
        order = np.argsort(ends + REACH * (1 + attempt) * rng.standard_normal(ends.size))
        ends = ends[order]
        couples = ends[: ends.size // 2 * 2].reshape(-1, 2)
        codes = _codes(couples, nodes)
        _, place = np.unique(codes, return_index=True)
        new = np.zeros(len(couples), bool)
        new[place] = True
        known = np.searchsorted(found, codes) < np.searchsorted(found, codes, "right")
        new &= (couples[:, 0] != couples[:, 1]) & ~known
        # Those found ascend and none is there twice, which NumPy's functions of sets would establish anew.
        found = np.sort(np.concatenate([found, codes[new]]))
        ends = np.concatenate([couples[~new].ravel(), ends[ends.size // 2 * 2 :]])
    for first, second in ends[: ends.size // 2 * 2].reshape(-1, 2):
        found = _exchanged(found, int(first), int(second), nodes, rng)
    return np.stack([found // nodes, found % nodes], axis=1)


def _exchanged(found: np.ndarray, first: int, second: int, nodes: int, rng: np.random.Generator) -> np.ndarray:
    """Couplings of two more ends, which cannot be coupled to each other: with the ends of a random coupling, in its
    place."""
    for code in rng.permutation(found):
        one, other = divmod(int(code), nodes)
        new = np.unique(_codes(np.array([[first, one], [second, other]]), nodes))
        if first != one and second != other and new.size == 2 and not np.isin(new, found).any():
            return np.union1d(found[found != code], new)
    return found


def _codes(couples: np.ndarray, nodes: int) -> np.ndarray:
    """One number for each couple, whatever its order."""
    return couples.min(axis=1).astype(np.int64) * nodes + couples.max(axis=1)


# Nodes of a square: 0 below left, 1 below right, 2 above left, 3 above right.
TRIANGLES = ((0, 1, 3), (0, 3, 2))
STIFFNESS = (
    np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 2,
    np.array([[1, 0, -1], [0, 1, -1], [-1, -1, 2]]) / 2,
)
"""The stiffness matrix of each triangle, for the Laplacian in two dimensions, whatever the size of the squares."""
MASS = (np.ones((3, 3)) + np.eye(3)) / 24
"""The mass matrix of a triangle in squares of side 1."""


def triangulated_grid(rows: int, columns: int, mass: complex) -> sparse.csr_array:
    """K + mass M with all sides free, for rows x columns nodes at distance 1; complex where `mass` is.

    An inner node has 7 entries in its row, and two of the corners have 3. Cost: 18 entries per square before they are
    summed.
    """
    node = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    corners = [part.ravel() for part in (node[:-1, :-1], node[:-1, 1:], node[1:, :-1], node[1:, 1:])]
    parts = []
    for triangle, stiffness in zip(TRIANGLES, STIFFNESS, strict=True):
        local = stiffness + mass * MASS
        places = np.stack([corners[corner] for corner in triangle])
        shape = (3, 3, places.shape[1])
        row, column = np.broadcast_to(places[:, None], shape), np.broadcast_to(places[None], shape)
        values = np.broadcast_to(local[:, :, None], shape)
        parts.append(sparse.coo_array((values.ravel(), (row.ravel(), column.ravel())), shape=(node.size,) * 2).tocsr())
    csr = sparse.csr_array(parts[0] + parts[1])
    csr.sort_indices()
    return csr


def triangulated_entries(rows: int, columns: int) -> int:
    """Entries of that matrix: the nodes, and both directions of the edges."""
    across, along, diagonal = rows * (columns - 1), (rows - 1) * columns, (rows - 1) * (columns - 1)
    return rows * columns + 2 * (across + along + diagonal)


NODES_PER_BLOCK = 4096
MAX_REACH = 3
SPREAD = 100.0
"""Ratio of the largest to the smallest stiffness of a node."""
DOMINANCE = 1e-3
"""Relative excess of a diagonal entry over the sum of the other magnitudes in its row."""


def grid_side(nodes: int) -> int:
    """Points along a side of the planes of `nodes` points of a cubic grid."""
    return max(1, round(nodes ** (1 / 3)))


def grid_points(nodes: int) -> np.ndarray:
    """Those points, plane by plane, as (x, y, z) in distances of neighbours, shape (nodes, 3)."""
    side, node = grid_side(nodes), np.arange(nodes)
    return np.column_stack([node % side, node // side % side, node // side**2]).astype(float)


class ThinnedGrid:
    """`nodes` points of a cubic grid, plane by plane, with `each` unknowns per node and about `entries` entries.

    The reach of the box of neighbours is the smallest that gives enough entries (within 1%, at most 3). Random choices
    depend on a symmetric hash of the two nodes and `seed`, so A is symmetric and rows can be generated in any order.
    """

    def __init__(self, nodes: int, each: int, entries: int, seed: int) -> None:
        self.nodes, self.each = nodes, each
        self._key = _mixed(np.array([seed], np.uint64))
        self._side = grid_side(nodes)
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
