"""Deflation of many right-hand sides at once: Z, AZ and E are read once for all columns.

On N x s block vectors Z^H V, X + Z a and V - AZ a are products with sparse matrices; a, shape (d, s), goes through the
host, where E is solved for all columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from workbench.deflation.subspace import SparseColumns
from workbench.devices.lines.in_blocks import in_blocks
from workbench.devices.operator_protocols import DeviceVector
from workbench.operators import BoundOperator

LONGEST_ROW = 512
"""Entries of a column of Z that one sum takes; the sums of a column are summed after that. Short ones run in parallel,
and lose little to rounding in single precision."""


class OneColumn(Protocol):
    """What block vectors need of a `Projection`."""

    device: Any

    @property
    def dtype(self) -> np.dtype: ...

    @property
    def bound(self) -> BoundOperator: ...

    @property
    def sparse(self) -> SparseColumns | None: ...

    @property
    def solve_traffic(self) -> int: ...

    def solve_columns(self, coarse: np.ndarray) -> np.ndarray: ...

    def project(self, v: DeviceVector) -> None: ...

    def recover_solution(self, x: DeviceVector, b: DeviceVector) -> None: ...


class BlockSubspace:
    """Piecewise constant Z and its AZ for block vectors of some columns."""

    def __init__(self, device: Any, columns: SparseColumns, count: int, dtype: np.dtype) -> None:
        pieces, sums = _restriction(columns.labels, columns.count)
        size, ones = columns.labels.size, np.ones(columns.labels.size, dtype)
        rows = np.arange(size + 1, dtype=np.int32)
        az = columns.az
        self._device = device
        self._pieces = device.csr(ones, *pieces).block(count)
        self._sums = device.csr(ones[: pieces[1].size - 1], *sums).block(count)
        self._add = device.csr(ones, columns.labels, rows).block(count, added=True)
        self._subtract = device.csr(-az.data.astype(dtype, copy=False), az.indices, az.indptr).block(count, added=True)
        self._partial = device.zero_block(pieces[1].size - 1, count, dtype)
        self._coarse = device.zero_block(columns.count, count, dtype)
        self._block_bytes = size * count * np.dtype(dtype).itemsize

    def restrict(self, V: DeviceVector) -> np.ndarray:
        """Z^H V in host memory, shape (d, s)."""
        self._pieces.apply(V, self._partial)
        self._sums.apply(self._partial, self._coarse)
        return self._device.to_host(self._coarse)

    def add(self, X: DeviceVector, coarse: np.ndarray) -> None:
        """X = X + Z a in place."""
        self._add.apply(self._on_device(coarse), X)

    def subtract(self, V: DeviceVector, coarse: np.ndarray) -> None:
        """V = V - AZ a in place."""
        self._subtract.apply(self._on_device(coarse), V)

    def _on_device(self, coarse: np.ndarray) -> DeviceVector:
        self._device.assign(self._coarse, self._device.array(coarse, self._coarse.dtype))
        return self._coarse

    @property
    def restriction(self) -> tuple[int, int]:
        """Bytes and operations of `restrict`."""
        return self._pieces.traffic + self._sums.traffic, self._pieces.flops + self._sums.flops

    @property
    def update(self) -> tuple[int, int]:
        """The same of `add` or `subtract`, the larger one."""
        return max((form.traffic, form.flops) for form in (self._add, self._subtract))


class BlockProjection:
    """The methods of `Projection` for block vectors of some columns. Work space: one block vector, for some of them."""

    def __init__(self, projection: OneColumn, count: int) -> None:
        assert projection.sparse is not None
        self._projection, self._count = projection, count
        self._device, bound = projection.device, projection.bound
        size, dtype = projection.sparse.labels.size, projection.dtype
        self._shape = (size, count, dtype)
        self._A = in_blocks(self._device, bound, size, count, dtype)
        self._subspace = BlockSubspace(self._device, projection.sparse, count, dtype)
        self._work: DeviceVector = None
        self._differences: dict[int, Callable[[np.ndarray], None]] = {}
        """B - A X into the work space, by the block vector B."""

    def project(self, V: DeviceVector) -> None:
        """V = P V in place."""
        self._subspace.subtract(V, self._solved(V))

    def project_transposed(self, X: DeviceVector) -> None:
        """X = P^T X in place."""
        self._A.apply(X, self._room())
        self._subspace.add(X, -self._solved(self._work))

    def add_correction(self, U: DeviceVector, R: DeviceVector) -> None:
        """U = U + Q R in place."""
        self._subspace.add(U, self._solved(R))

    def recover_solution(self, X: DeviceVector, B: DeviceVector) -> None:
        """X = Q B + P^T X^ in place."""
        self._A.apply(X, self._room())
        self.prepare_recovery(B)(-np.ones(self._count))
        self._subspace.add(X, self._solved(self._work))

    def prepare_recovery(self, B: DeviceVector) -> Callable[[np.ndarray], None]:
        """Compile what `recover_solution` needs in addition."""
        if id(B) not in self._differences:
            work = self._room()
            self._differences[id(B)] = self._device.block_algebra().combine(work, B, work, (self._count,))
        return self._differences[id(B)]

    def _solved(self, V: DeviceVector) -> np.ndarray:
        """E^-1 Z^H V, shape (d, s)."""
        return self._projection.solve_columns(self._subspace.restrict(V))

    def _room(self) -> DeviceVector:
        if self._work is None:
            self._work = self._device.zero_block(*self._shape)
        return self._work

    # The interface of an operator for block vectors, for P A in place of A.

    offers = ()

    def apply(self, X: DeviceVector, out: DeviceVector) -> None:
        """out = P A X."""
        self._A.apply(X, out)
        self.project(out)

    @property
    def traffic(self) -> int:
        return self._A.traffic + self.correction[0]

    @property
    def flops(self) -> int:
        return self._A.flops + self.correction[1]

    @property
    def product(self) -> tuple[int, int]:
        """Bytes and operations of A."""
        return self._A.traffic, self._A.flops

    @property
    def correction(self) -> tuple[int, int]:
        """Bytes and operations of a restriction, a coarse solve and an update."""
        solve = self._projection.solve_traffic
        parts = (self._subspace.restriction, (solve, self._count * solve // 4), self._subspace.update)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)


class BlockTwoLevel:
    """U = M1 R for block vectors; the parameters are those of `variants.TwoLevel`."""

    offers = ()

    def __init__(self, projection: OneColumn, M: Any, count: int, *, before: bool, after: bool, correct: bool) -> None:
        assert projection.sparse is not None
        self._projection = BlockProjection(projection, count)
        self._device = projection.device
        size, dtype = projection.sparse.labels.size, projection.dtype
        self._M = in_blocks(self._device, M, size, count, dtype)
        self._after, self._correct = after, correct
        self._work = self._device.zero_block(size, count, dtype) if before else None

    def prepare(self, R: DeviceVector, U: DeviceVector) -> None:
        """Compile for these block vectors, ahead of the first application."""
        if hasattr(self._M, "prepare"):
            self._M.prepare(R, U)
        if self._after and self._correct:
            self._projection.prepare_recovery(R)

    def apply(self, R: DeviceVector, U: DeviceVector) -> None:
        """U = M1 R. R and U must be distinct."""
        V = R
        if self._work is not None:
            V = self._work
            self._device.assign(V, R)
            self._projection.project(V)
        self._M.apply(V, U)
        if self._after and self._correct:
            self._projection.recover_solution(U, R)
        elif self._after:
            self._projection.project_transposed(U)
        elif self._correct:
            self._projection.add_correction(U, R)

    @property
    def _corrections(self) -> int:
        return (self._work is not None) + (self._after or self._correct)

    @property
    def traffic(self) -> int:
        product = self._projection.product[0] if self._after else 0
        return self._M.traffic + product + self._corrections * self._projection.correction[0]

    @property
    def flops(self) -> int:
        product = self._projection.product[1] if self._after else 0
        return self._M.flops + product + self._corrections * self._projection.correction[1]


class ProjectionByColumns:
    """`project` and `recover_solution` of a projection whose Z is dense, one column at a time."""

    def __init__(self, projection: OneColumn, size: int, count: int) -> None:
        self._projection, self._device, self._count = projection, projection.device, count
        self._column, self._right = ([self._device.zeros(size, projection.dtype)] for _ in range(2))

    def project(self, V: DeviceVector) -> None:
        """V = P V in place."""
        for j in range(self._count):
            self._device.take_columns(V, j, self._column)
            self._projection.project(*self._column)
            self._device.put_columns(self._column, V, j)

    def recover_solution(self, X: DeviceVector, B: DeviceVector) -> None:
        """X = Q B + P^T X^ in place."""
        for j in range(self._count):
            self._device.take_columns(B, j, self._right)
            self._device.take_columns(X, j, self._column)
            self._projection.recover_solution(*self._column, *self._right)
            self._device.put_columns(self._column, X, j)


def projection_in_blocks(projection: OneColumn, size: int, count: int) -> BlockProjection | ProjectionByColumns:
    """The projection for block vectors of `count` columns."""
    if projection.sparse is None:
        return ProjectionByColumns(projection, size, count)
    return BlockProjection(projection, count)


def _restriction(labels: np.ndarray, count: int) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Z^T as a product of two matrices with entries 1 and rows of at most LONGEST_ROW entries, as indices and indptr:
    sums over pieces of subdomains, and sums of the pieces of each."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels, minlength=count)
    pieces = -(-sizes // LONGEST_ROW)
    ends = np.concatenate([[0], np.cumsum(pieces)])
    owner = np.repeat(np.arange(count), pieces)
    begins = (np.cumsum(sizes) - sizes)[owner] + (np.arange(ends[-1]) - ends[owner]) * LONGEST_ROW
    starts = np.append(begins, labels.size).astype(np.int32)
    return (order, starts), (np.arange(ends[-1], dtype=np.int32), ends.astype(np.int32))
