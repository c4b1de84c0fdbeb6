"""Connected components of A, in one process or over ranks, and means of vectors in each."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators.base import Operator
from workbench.operators.cuts import components
from workbench.operators.matrix import Matrix
from workbench.operators.matrix_rows import MatrixRows


class Mean(NamedTuple):
    """The largest mean of a vector in a component, as a vector of constants: its value, the smallest row of that
    component, and the number of components with a mean above a bound."""

    value: complex
    row: int
    above: int


@dataclasses.dataclass(frozen=True, eq=False)
class Components:
    """The component of each row of A, in the order of their smallest rows; the same numbers on all ranks.

    labels: int32, shape (N,), with N the rows of a rank; empty rows of A have number `count`. count: components of the
    other rows, over all ranks.
    """

    labels: np.ndarray
    count: int

    def means(self, x: np.ndarray, device: Device) -> tuple[np.ndarray, np.ndarray]:
        """The mean of x in each component, and its rows; the last of both is that of empty rows, 0 without any.

        x: in host memory. Cost: a pass over x and the labels, and one sum over ranks of 2 or 3 numbers a component.
        """
        parts = [np.real(x), np.imag(x)] if x.dtype.kind == "c" else [x]
        weights = [*parts, np.ones(x.size)]
        found = [np.bincount(self.labels, weight, self.count + 1) for weight in weights]
        *sums, sizes = np.split(device.total(np.concatenate(found)), len(found))
        means = np.array(sums) / np.maximum(sizes, 1)
        return means[0] + 1j * means[1] if len(parts) == 2 else means[0], sizes

    def without_means(self, x: DeviceVector, device: Device) -> tuple[DeviceVector, float]:
        """x minus its mean in each component, and the norm of these means as a vector."""
        found = device.to_host(x)
        means, sizes = self.means(found, device)
        left = device.array(means[self.labels].astype(found.dtype), x.dtype)
        device.subtract_from(x, left)
        return left, math.hypot(*np.abs(means) * np.sqrt(sizes))

    def largest_mean(self, x: np.ndarray, bound: float, device: Device, order: np.ndarray | None = None) -> Mean | None:
        """The mean of x that is largest as a vector, of those above a bound; None without one.

        x: in host memory. order: the number that is shown for each row, by default its place in A. Cost: as `means`.
        """
        means, sizes = self.means(x, device)
        lengths = (np.abs(means) * np.sqrt(sizes))[: self.count]
        above = int(np.count_nonzero(lengths > bound))
        if not above:
            return None
        chosen = int(np.argmax(lengths))
        rows = np.flatnonzero(self.labels == chosen)
        if order is not None:
            rows = order[rows]
        first = device.slab.rows.start if device.slab else 0
        row = -device.largest(-float(rows.min() + first) if rows.size else -math.inf)
        return Mean(complex(means[chosen]), int(row), above)


def components_of(operator: Operator, empty: np.ndarray | None, device: Device) -> Components | None:
    """The connected components of an assembled A, or of one of which ranks have the rows; None for one alone, and for
    any other A. empty: numbers of empty rows, each of which would be a component; None where no rank has any.

    device: that A is bound to. Cost: a search of the graph, about two products with A; on ranks an exchange of ghosts,
    and on each of them a search of the pairs of components that are coupled across ranks.
    """
    others = np.ones(operator.shape[0], bool)
    if empty is not None:
        others[empty] = False
    if isinstance(operator, MatrixRows):
        labels, count = _joined(operator, others, device)
    elif isinstance(operator, Matrix):
        found = components(operator.csr)[1]
        numbers, first = _numbers(found, others)
        labels, count = numbers[found], first.size
    else:
        return None
    if count <= 1:
        return None
    labels[~others] = count
    return Components(labels.astype(np.int32), count)


def _numbers(found: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number from 0 for each label of the other rows, in the order of labels, and -1 for the rest; and the first row
    of each number. found: labels of rows, shape (N,). others: bool, shape (N,)."""
    numbers, rows = np.full(int(found.max(initial=-1)) + 1, -1, np.int64), np.flatnonzero(others)
    # Repeated indices keep the last assignment, which is that of the first row.
    numbers[found[rows[::-1]]] = rows[::-1]
    first = numbers[numbers >= 0]
    numbers[numbers >= 0] = np.arange(first.size)
    return numbers, first


def _joined(rows: MatrixRows, others: np.ndarray, device: Device) -> tuple[np.ndarray, int]:
    """The component of each row of this rank among those of all ranks, and their number; -1 for rows that are not among
    the others.

    Each rank finds the components of its rows with their ghosts. A ghost is in a component here and in one of the rank
    that has its row: these pairs join components, on every rank alike.
    """
    from scipy.sparse import csgraph

    inner = slice(rows.below, rows.below + rows.slab.size)
    found = components(_with_ghosts(rows))[1]
    numbers, first = _numbers(found[inner], others)
    before = sum(device.gathered(first.size)[: device.rank])
    numbers = np.where(numbers >= 0, numbers + before, -1)
    # A component of a ghost alone, as by a stored zero, has no number.
    here = np.append(numbers, np.full(int(found.max(initial=-1)) + 1 - numbers.size, -1))[found]
    here[inner][~others] = -1
    there = device.with_ghosts(np.ascontiguousarray(here[inner]), rows.slab)
    coupled = (here >= 0) & (there >= 0)
    coupled[inner] = False
    pairs = np.unique(np.stack([here[coupled], there[coupled]], axis=1), axis=0)
    of_ranks = device.gathered((pairs, first + rows.slab.rows.start))
    joined_here, joined_there = np.concatenate([of_rank[0] for of_rank in of_ranks]).T
    smallest = np.concatenate([of_rank[1] for of_rank in of_ranks])
    graph = sparse.coo_array((np.ones(joined_here.size), (joined_here, joined_there)), shape=2 * (smallest.size,))
    count, joined = csgraph.connected_components(graph.tocsr(), directed=False)
    firsts = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(firsts, joined, smallest)
    ranked = np.empty(count, np.int64)
    ranked[np.argsort(firsts)] = np.arange(count)
    own = here[inner]
    return np.where(own >= 0, ranked[joined[own]], -1), int(count)


def _with_ghosts(rows: MatrixRows) -> sparse.csr_array:
    """The rows of a rank as a square matrix, in which those of ghosts are empty."""
    size = rows.tall.shape[1]
    behind = size - rows.below - rows.slab.size
    indptr = np.pad(rows.tall.indptr, (rows.below, behind), mode="edge")
    return sparse.csr_array((rows.tall.data, rows.tall.indices, indptr), shape=(size, size))
