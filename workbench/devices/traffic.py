"""Bytes and operations of products, counted once for all devices and for dry runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.lines.count import COST

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


def csr_bytes(rows: int, entries: int, item: int, index: int) -> int:
    """Bytes of values, column indices and row pointers; item, index: bytes of a value and of an index."""
    return entries * (item + index) + (rows + 1) * index


def product_bytes(matrix: int, rows: int, item: int) -> int:
    """Bytes of y = A x: those of the matrix, x read, y written."""
    return matrix + 2 * rows * item


def block_bytes(rows: int, entries: int, item: int, index: int, remote: int = 0) -> int:
    """Bytes of y = A x with a local block, or of y = v + A remote with a remote one.

    Two row pointers and two vector elements per row. remote: elements of the remote vector; each entry of the block
    reads one of them at most.
    """
    return entries * (item + index) + 2 * rows * (index + item) + min(entries, remote) * item


def product_flops(entries: int, dtype: np.dtype) -> int:
    """Real operations: a multiplication and an addition for each entry."""
    return (8 if dtype.kind == "c" else 2) * entries


def box_flops(size: int, reach: int, dtype: np.dtype) -> int:
    """Real operations of the product of a box operator: 2 reach sums along each axis, then 3 products and 2 sums."""
    return (6 * reach + 2) * COST["+"][dtype.kind == "c"] * size + product_flops(3 * size, dtype)


def block_work(*vectors: DeviceVector, columnwise: bool) -> tuple[int, int]:
    """Bytes of block vectors (N, s), each counted once, and the operations of a product with an s x s matrix.

    columnwise: the matrix is diagonal, or only the diagonal of the product is computed.
    """
    size, columns = vectors[0].shape
    products = size * columns * (1 if columnwise else columns)
    return sum(vector.nbytes for vector in vectors), product_flops(products, vectors[0].dtype)
