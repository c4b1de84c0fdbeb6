"""Synthetic sparse matrices with rows of different lengths, between bounds that are reached."""

from __future__ import annotations

import numpy as np
from scipy import sparse

RING = 7
"""Every node is coupled to this many on either side."""
REACH = 400.0
"""Standard deviation of the distance of other couplings, in nodes."""
ROUNDS = 60
"""Attempts to couple what is left; the distance grows with each."""
OFFSET = 0.05
"""Added between different unknowns of a node, so that no entry of a coupling is zero."""
EXCESS = 1e-3
"""Added to the diagonal in multiples of the stiffness of one coupling, which makes the matrix definite."""


def irregular_rows(nodes: int, each: int, pairs: int, fewest: int, most: int, seed: int) -> sparse.csr_array:
    """A symmetric positive definite matrix with `each` unknowns per node, coupled as elastic bonds.

    pairs: blocks of each x each entries, the diagonal ones counted. fewest, most: blocks in a row of blocks, both
    reached; at least 2 RING + 1. Nodes lie on a ring and are coupled to their nearest, and at random to others near
    by. Cost: a few seconds per 10^7 entries.
    """
    rng = np.random.default_rng(seed)
    edges = _edges(_free_ends(nodes, (pairs - nodes) // 2, fewest - 1, most - 1, rng), rng)
    first, second = edges[:, 0], edges[:, 1]
    direction = rng.standard_normal((len(edges), each))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    bonds = np.eye(each) + direction[:, :, None] * direction[:, None, :] + OFFSET
    own = np.zeros((nodes, each, each))
    np.add.at(own, first, bonds)
    np.add.at(own, second, bonds)
    own += EXCESS * np.eye(each)
    places = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(nodes), 2).reshape(-1, 2)])
    order = np.lexsort((places[:, 1], places[:, 0]))
    blocks = np.concatenate([-bonds, -bonds, own])[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(places[:, 0], minlength=nodes))]).astype(np.int32)
    size = nodes * each
    return sparse.csr_array(sparse.bsr_array((blocks, places[order, 1].astype(np.int32), starts), shape=(size, size)))


def _free_ends(nodes: int, edges: int, fewest: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Couplings of each node besides those of the ring, shape (nodes,): the first has the fewest, the last the most."""
    low, high = fewest - 2 * RING, most - 2 * RING
    wanted = 2 * (edges - RING * nodes)
    free = np.clip(np.rint(rng.gamma(2.0, wanted / nodes / 2, nodes)).astype(int), low, high)
    free[0], free[-1] = low, high
    # One at a time for random nodes, until the sum is right.
    while missing := wanted - int(free.sum()):
        step = int(np.sign(missing))
        movable = np.flatnonzero((free + step >= low) & (free + step <= high) & (np.arange(nodes) % (nodes - 1) > 0))
        chosen = rng.choice(movable, min(abs(missing), movable.size), replace=False)
        free[chosen] += step
    return free


def _edges(free: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Couplings, shape (edges, 2), none twice: the ring, and one for two free ends of nodes near each other."""
    nodes = free.size
    ring = np.concatenate([np.stack([np.arange(nodes), (np.arange(nodes) + k) % nodes], 1) for k in range(1, RING + 1)])
    found = np.unique(_codes(ring, nodes))
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
        new &= (couples[:, 0] != couples[:, 1]) & ~np.isin(codes, found)
        found = np.union1d(found, codes[new])
        ends = np.concatenate([couples[~new].ravel(), ends[ends.size // 2 * 2 :]])
    return np.stack([found // nodes, found % nodes], axis=1)


def _codes(couples: np.ndarray, nodes: int) -> np.ndarray:
    """One number for each couple, whatever its order."""
    return couples.min(axis=1).astype(np.int64) * nodes + couples.max(axis=1)
