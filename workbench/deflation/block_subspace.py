"""Z and AZ for block vectors of s columns: Z^H V, X + Z a and V - AZ a, with a of shape (d, s) in host memory.

They are read once for all columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.traffic import product_flops

if TYPE_CHECKING:
    from workbench.devices.protocol import Device


LONGEST_ROW = 512
"""Entries of a column of Z that one sum takes; the sums of a column are summed after that. Short ones run in parallel,
and lose little to rounding in single precision."""
TOGETHER = 32
"""Dense columns of Z that are multiplied at once: an s x d matrix has as many columns as kernels are made for."""


class BlockUpdate(Protocol):
    """AZ for block vectors."""

    def subtract(self, X: DeviceVector, coarse: np.ndarray) -> None:
        """X = X - AZ a in place."""
        ...


class BlockBasis(BlockUpdate, Protocol):
    """Z for block vectors. restriction, update: bytes and operations of `restrict`, and of `add` or `subtract`."""

    restriction: tuple[int, int]
    update: tuple[int, int]

    def restrict(self, V: DeviceVector) -> np.ndarray:
        """Z^H V, shape (d, s)."""
        ...

    def add(self, X: DeviceVector, coarse: np.ndarray) -> None:
        """X = X + Z a in place."""
        ...


class SparseBlocks:
    """A sparse matrix with d columns, times small matrices. work: room for a, shape (d, s), on the device.

    update: bytes and operations of `add` or `subtract`.
    """

    def __init__(self, device: Any, matrix: tuple[np.ndarray, ...], columns: int, work: DeviceVector) -> None:
        self._device, self._work = device, work
        self._product = device.csr(*matrix).block(columns, added=True)
        self.update = self._product.traffic, self._product.flops

    def add(self, X: DeviceVector, coarse: np.ndarray) -> None:
        """X = X + Z a in place."""
        self._device.assign(self._work, self._device.array(coarse, self._work.dtype))
        self._product.apply(self._work, X)

    def subtract(self, X: DeviceVector, coarse: np.ndarray) -> None:
        """X = X - Z a in place."""
        self.add(X, -coarse)


class PiecewiseBlocks(SparseBlocks):
    """Piecewise constant Z. labels: shape (N,). restriction: bytes and operations of `restrict`."""

    def __init__(self, device: Any, labels: np.ndarray, work: DeviceVector) -> None:
        (count, columns), dtype = work.shape, work.dtype
        pieces, sums = _restriction(labels, count)
        ones = np.ones(labels.size, dtype)
        super().__init__(device, (ones, labels, np.arange(labels.size + 1, dtype=np.int32)), columns, work)
        self._pieces = device.csr(ones, *pieces).block(columns)
        self._sums = device.csr(ones[: pieces[1].size - 1], *sums).block(columns)
        self._partial = device.zero_block(pieces[1].size - 1, columns, dtype)
        self.restriction = self._pieces.traffic + self._sums.traffic, self._pieces.flops + self._sums.flops

    def restrict(self, V: DeviceVector) -> np.ndarray:
        """Z^H V, shape (d, s)."""
        self._pieces.apply(V, self._partial)
        self._sums.apply(self._partial, self._work)
        return self._device.total(self._device.to_host(self._work))


class SparseVectorBlocks(SparseBlocks):
    """Z of sparse columns. adjoint: Z^H by rows. restriction: bytes and operations of `restrict`."""

    def __init__(
        self,
        device: Device,
        matrix: tuple[np.ndarray, ...],
        adjoint: tuple[np.ndarray, ...],
        columns: int,
        work: DeviceVector,
    ) -> None:
        super().__init__(device, matrix, columns, work)
        self._adjoint = self._device.csr(*adjoint).block(columns)
        self.restriction = self._adjoint.traffic, self._adjoint.flops

    def restrict(self, V: DeviceVector) -> np.ndarray:
        """Z^H V, shape (d, s)."""
        self._adjoint.apply(V, self._work)
        return self._device.total(self._device.to_host(self._work))


class DenseBlocks:
    """Dense columns. rows: Z^T in host memory, shape (d, N). restriction, update: bytes and operations of each.

    Memory: a copy of Z on the device.
    """

    def __init__(self, device: Device, rows: np.ndarray, columns: int) -> None:
        self._algebra = device.block_algebra()
        self._columns = columns
        self._parts = [
            device.array(np.ascontiguousarray(rows[first : first + TOGETHER].T), rows.dtype)
            for first in range(0, len(rows), TOGETHER)
        ]
        self._kernels: dict[tuple[str, int], list[Any]] = {}
        block, flops = rows.shape[1] * columns * rows.itemsize, product_flops(rows.size * columns, rows.dtype)
        self.restriction = rows.nbytes + len(self._parts) * block, flops
        self.update = rows.nbytes + 2 * len(self._parts) * block, flops

    def restrict(self, V: DeviceVector) -> np.ndarray:
        """Z^H V, shape (d, s)."""
        return np.concatenate([np.empty((0, self._columns)), *(product() for product in self._made("restrict", V))])

    def add(self, X: DeviceVector, coarse: np.ndarray) -> None:
        """X = X + Z a in place."""
        first = 0
        for part, add in zip(self._parts, self._made("add", X), strict=True):
            add(coarse[first : first + part.shape[1]])
            first += part.shape[1]

    def subtract(self, X: DeviceVector, coarse: np.ndarray) -> None:
        """X = X - Z a in place."""
        self.add(X, -coarse)

    def _made(self, what: str, block: DeviceVector) -> list[Any]:
        """Functions that multiply a block vector by each part, compiled at the first request; they keep the block."""
        key = what, id(block)
        if key not in self._kernels:
            self._kernels[key] = [
                self._algebra.gram(part, block)
                if what == "restrict"
                else self._algebra.combine(block, block, part, (part.shape[1], self._columns))
                for part in self._parts
            ]
        return self._kernels[key]


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
