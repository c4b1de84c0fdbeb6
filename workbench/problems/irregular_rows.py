"""Synthetic sparse matrices with rows of different lengths, between bounds that are reached."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.lazy import sparse

REACH = 400.0
"""Standard deviation of the distance of other couplings, in nodes."""
ROUNDS = 60
"""Attempts to couple the ends that are left; the distance grows with each."""
OFFSET = 0.05
"""Added between different unknowns of a node, so that no entry of a coupling is zero."""
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
