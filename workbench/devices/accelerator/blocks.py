"""The local (diagonal) and the remote (off-diagonal) block of an accelerator's rows of a CSR matrix, as in PETSc's
MPIAIJ."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.products import items_per_row_for
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import products as texts
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import block_bytes, product_flops


class SplitRows:
    """Rows `top` to N of a CSR matrix with sorted indices: columns from `top` on are local, those before are remote.

    data, indices, indptr: the whole matrix in host memory. splits: where in each row the columns from `top` begin,
    shape (N,). The entries are stored on the device once, for both blocks.
    """

    def __init__(
        self, device: Launcher, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, splits: np.ndarray, top: int
    ) -> None:
        first = int(indptr[top])
        self.entries, self.count, self.top = data.size - first, indptr.size - 1 - top, top
        self.index = np.dtype(np.int64 if max(self.entries, indptr.size) > np.iinfo(np.int32).max else np.int32)
        self.data = device.array(data[first:], data.dtype)
        self.indices = device.array(indices[first:], self.index)
        self.bounds = [
            device.array((bound - first).astype(self.index), self.index)
            for bound in (indptr[top:-1], splits[top:], indptr[top + 1 :])
        ]
        self.remote_entries = int((splits[top:] - indptr[top:-1]).sum(dtype=np.int64))


class LocalBlock(OperatorTraits):
    """out = A x for the local block; x and out have the shape (rows,)."""

    offers = ()

    def __init__(self, device: Launcher, rows: SplitRows) -> None:
        self._device, self._rows = device, rows
        self.entries = rows.entries - rows.remote_entries
        self._kernel, self._groups = _kernel(device, rows, self.entries, based=False)

    def apply(self, x: Vector, out: Vector, *_: str) -> None:
        rows = self._rows
        arguments = (rows.data, rows.indices, rows.bounds[1], rows.bounds[2], np.int64(rows.top), x, out)
        self._device.launch(self._kernel, self._groups, *arguments, np.int64(rows.count))

    @property
    def traffic(self) -> int:
        return _traffic(self._rows, self.entries)

    @property
    def flops(self) -> int:
        return product_flops(self.entries, self._rows.data.dtype)


class RemoteBlock(OperatorTraits):
    """out = v + A remote for the remote block; v and out have the shape (rows,), `remote` (top,)."""

    offers = ()

    def __init__(self, device: Launcher, rows: SplitRows, remote: Vector) -> None:
        self._device, self._rows, self._remote = device, rows, remote
        self.entries = rows.remote_entries
        self._kernel, self._groups = _kernel(device, rows, self.entries, based=True)

    def apply(self, v: Vector, out: Vector, *_: str) -> None:
        rows = self._rows
        arguments = (rows.data, rows.indices, rows.bounds[0], rows.bounds[1], np.int64(0), self._remote, out, v)
        self._device.launch(self._kernel, self._groups, *arguments, np.int64(rows.count))

    @property
    def traffic(self) -> int:
        return _traffic(self._rows, self.entries, self._remote.size)

    @property
    def flops(self) -> int:
        return product_flops(self.entries, self._rows.data.dtype)


def _kernel(device: Launcher, rows: SplitRows, entries: int, *, based: bool) -> tuple[Any, int]:
    """The kernel of a block, and the number of groups."""
    items_per_row = items_per_row_for(device, entries / max(1, rows.count))
    text = texts.csr(items_per_row, based=based, summed=False, part=True)
    work = max(rows.count, entries // 4) if device.layout.chunked else rows.count * items_per_row
    return device.kernel(text, "csr", rows.data.dtype, rows.index), device.layout.groups_for(work)


def _traffic(rows: SplitRows, entries: int, remote: int = 0) -> int:
    return block_bytes(rows.count, entries, rows.data.itemsize, rows.index.itemsize, remote)
