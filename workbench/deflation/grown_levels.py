"""Levels of a matrix without boxes: parts along strong couplings, parts of these, and near-null vectors in each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.devices.host.aggregation import NOTHING, Csr, grouped, reordered, summed
from workbench.devices.host.growth import grown_parts
from workbench.devices.host.modes import matrix_of_nodes, modes_below, node_size, orthonormal_modes, summed_modes
from workbench.lazy import sparse

Grow = Callable[[Csr, int, float], tuple[np.ndarray, int]]
"""Parts of a matrix by unknowns of a part and the threshold of strong couplings, as `grown_parts`."""
GROWN, STRONG = 8, 0.15
"""Unknowns of a part for each of its vectors, and the threshold of strong couplings."""
LEAST_REDUCTION = 0.6
"""Vectors of a level over those of the level above, at most; with less reduction the levels end: boxes that hold whole
bubbles gain nothing from merging, and each level over-corrects them once more."""

DOUBLE = float(np.finfo(np.float64).eps)


@dataclasses.dataclass(frozen=True, eq=False)
class LevelOfParts:
    """A matrix, and the parts of its unknowns that are the next level.

    csr, diagonal: of N rows. starts: the first row of each part, and N, if the rows of a part are consecutive. parents:
    the part of each row, shape (N,). modes: the vectors of parts, shape (N, m), those of a part in its rows; None for
    constants.
    """

    csr: Csr
    diagonal: np.ndarray
    starts: np.ndarray
    parents: np.ndarray
    modes: np.ndarray | None = None

    @property
    def columns(self) -> int:
        """Vectors of a part."""
        return 1 if self.modes is None else self.modes.shape[1]


@dataclasses.dataclass(frozen=True, eq=False)
class Grown:
    """Levels of parts, finest first, in which the parts that form a part of the next level have consecutive numbers.

    order: the unknown at each row of the first. csr, diagonal: the last matrix.
    """

    levels: tuple[LevelOfParts, ...]
    order: np.ndarray
    csr: Csr
    diagonal: np.ndarray


def grown_levels(
    matrix: sparse.csr_array,
    bottom: int,
    first: tuple[int, float] | None = None,
    near_null: np.ndarray | None = None,
    grow: Grow = grown_parts,
    precision: float = DOUBLE,
) -> Grown:
    """The levels of a matrix with a positive diagonal, down to at most `bottom` rows.

    first: unknowns of a part for each of its vectors, and the threshold of strong couplings, for the first parts.
    near_null: shape (N, m); each part then has m vectors, made orthonormal within it, and parts grow over nodes: the
    unknowns whose translations come first, and below the m vectors of a part. A vector that depends on others in its
    part is zero there, and has 1 on the diagonal of the next level. grow: makes parts. precision: the unit roundoff of
    the entries, of which sums over parts that cancel leave nothing else.

    Cost: about six reads of the matrix, one of them for the growth of parts, and as much for the sums over its parts.

    Source: the near null space as in Vaněk, Mandel and Brezina 1996.
    """
    csr, diagonal = (matrix.data, matrix.indices, matrix.indptr.astype(np.int64)), np.real(matrix.diagonal())
    vectors, node, nodes = near_null, 1, csr
    if vectors is not None:
        node = node_size(vectors)
        nodes = matrix_of_nodes(matrix, node) if node > 1 else csr
    found, groups = list[_Level](), list[tuple[np.ndarray, np.ndarray]]()
    # A bound of the rounding errors in the sum over all entries of a row, which are at most twice the diagonal entry.
    errors = precision * np.abs(diagonal)
    while diagonal.size > bottom:
        columns = 1 if vectors is None else vectors.shape[1]
        size, threshold = first if first and not found else (GROWN, STRONG)
        labels, count = grow(nodes, max(2, -(-size * columns // node)), threshold)
        if count * columns > LEAST_REDUCTION * diagonal.size:
            break
        order, starts = grouped(labels, np.arange(count))
        groups.append((order, starts))
        rows, begins = unknowns_of(order, node), starts * node
        parents = np.empty(rows.size, np.int32)
        parents[rows] = np.repeat(np.arange(count, dtype=np.int32), np.diff(begins))
        if vectors is None:
            found.append(_Level(csr, diagonal, None, node))
            csr, below = summed(csr, begins, parents, rows)
            nodes, shares = csr, diagonal[:, None]
        else:
            modes, _ = orthonormal_modes(vectors, parents, count)
            found.append(_Level(csr, diagonal, modes, node))
            csr, nodes = summed_modes(csr, modes, rows, begins, parents)
            vectors, node = modes_below(vectors, modes, rows, begins), columns
            squares = np.abs(modes) ** 2
            below, shares = csr[0][_own(csr[2], columns)], squares * diagonal[:, None]
            errors = (squares.T * errors).T
        of_children, errors = (np.add.reduceat(each[rows], begins[:-1]).ravel() for each in (shares, errors))
        diagonal = _with_components(csr, np.real(below), of_children, errors, columns)
    return _nested(found, groups, csr, diagonal)


class _Level(NamedTuple):
    """A level as it was made: its matrix, the diagonal, the vectors of its parts, and the unknowns of a node."""

    csr: Csr
    diagonal: np.ndarray
    modes: np.ndarray | None
    node: int


def _nested(found: list[_Level], groups: list[tuple[np.ndarray, np.ndarray]], csr: Csr, diagonal: np.ndarray) -> Grown:
    """The levels with their parts in the order of the parts of the next. groups: the nodes of each level by parts, and
    the first place of each part."""
    made = list[LevelOfParts]()
    columns = 1 if not found or found[-1].modes is None else found[-1].modes.shape[1]
    order = np.arange(diagonal.size // columns)
    for (matrix, entries, modes, node), (by_part, starts) in zip(reversed(found), reversed(groups), strict=True):
        lengths = np.diff(starts)[order]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        order = by_part[np.arange(ends[-1]) + np.repeat(starts[order] - ends[:-1], lengths)]
        rows = unknowns_of(order, node)
        parents = np.repeat(np.arange(lengths.size, dtype=np.int32), lengths * node)
        ordered = reordered(matrix, rows)[0]
        made.insert(
            0, LevelOfParts(ordered, entries[rows], ends * node, parents, modes if modes is None else modes[rows])
        )
    return Grown(tuple(made), unknowns_of(order, found[0].node) if found else order, csr, diagonal)


def unknowns_of(order: np.ndarray, node: int) -> np.ndarray:
    """The unknowns of nodes in that order, shape (nodes node,)."""
    return order if node == 1 else (order[:, None] * node + np.arange(node)).ravel()


def _own(indptr: np.ndarray, columns: int) -> np.ndarray:
    """Places of diagonal entries, where the block of a row with its own part comes first."""
    return indptr[:-1] + np.arange(indptr.size - 1) % columns


def _with_components(
    csr: Csr, diagonal: np.ndarray, of_children: np.ndarray, errors: np.ndarray, columns: int
) -> np.ndarray:
    """The diagonal with the sum of the entries of its children where A maps a vector of a part to zero, up to errors,
    and 1 where there is none; it is put into the matrix too. A consistent right-hand side is zero there, and so is its
    correction.
    """
    alone = np.abs(diagonal) <= np.maximum(NOTHING * of_children, errors)
    if alone.any():
        diagonal = np.where(alone, np.where(of_children > 0, of_children, 1.0), diagonal)
        csr[0][_own(csr[2], columns)[alone]] = diagonal[alone]
    return diagonal
