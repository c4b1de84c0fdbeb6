"""Products with the local (diagonal) and the remote (off-diagonal) block of the cores' rows of a CSR matrix."""

from __future__ import annotations

import numpy as np

from workbench.devices.cpu.csr import ENTRIES_PER_CHUNK
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import block_bytes, product_flops
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.indices import as_unsigned
from workbench.jit.threads import WORTH_SHARING, launch, prepare
from workbench.jit.work_stealing import shared, threads


class CsrBlock(OperatorTraits):
    """out = A x for the local block, or with `remote`: out = v + A remote, where row i of the block is the entries
    starts[i] to ends[i] of the matrix.

    data, indices (nnz,): those of the whole matrix, not copied. starts, ends (rows,): index arrays of one dtype.
    x, v and out have the shape (rows,), `remote` that of the whole vector. No dot products.
    """

    offers = ()

    def __init__(
        self,
        data: np.ndarray,
        indices: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        remote: np.ndarray | None = None,
    ) -> None:
        self._data, self._indices = data, as_unsigned(indices)
        self._starts, self._ends = as_unsigned(starts), as_unsigned(ends)
        self._remote = remote
        self.entries = int((ends - starts).sum(dtype=np.int64))
        self._bounds = _even_chunks(starts, ends, self.entries)
        self._kernel = _product if remote is None else _added
        prepare(self._kernel, *self._arguments(*[np.empty(0, data.dtype)] * 2))

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> None:
        """`out` must not be x."""
        launch(max(self.entries, self._starts.size), self._kernel, *self._arguments(x, out))

    def _arguments(self, x: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, ...]:
        more = () if self._remote is None else (self._remote,)
        return self._data, self._indices, self._starts, self._ends, x, *more, out, self._bounds

    @property
    def traffic(self) -> int:
        """Bytes; of the remote vector as many elements as the block has entries, at most all."""
        rows = self._starts.size
        remote = 0 if self._remote is None else self._remote.size - rows
        return block_bytes(rows, self.entries, self._data.itemsize, self._indices.itemsize, remote)

    @property
    def flops(self) -> int:
        return product_flops(self.entries, self._data.dtype)


def _even_chunks(starts: np.ndarray, ends: np.ndarray, entries: int) -> np.ndarray:
    """Row bounds of chunks of about equal work; an empty row counts as work too."""
    rows = starts.size
    work = np.concatenate([[0], np.cumsum(ends.astype(np.int64) - starts + 1)])
    chunks = max(1, min(rows, max(entries // ENTRIES_PER_CHUNK, rows // WORTH_SHARING)))
    bounds = np.searchsorted(work, np.linspace(0, int(work[-1]), chunks + 1))
    bounds[0], bounds[-1] = 0, rows
    return np.unique(bounds).astype(np.uint64)


@kernel(error_model="numpy", fastmath=REORDERED)
def _product(taken, data, indices, starts, ends, x, y, bounds):  # pragma: no cover
    for thread in threads(taken):
        for chunk in shared(taken, thread, bounds.size - 1):
            for row in range(bounds[chunk], bounds[chunk + 1]):
                value = data.dtype.type(0)
                for j in range(starts[row], ends[row]):
                    value += data[j] * x[indices[j]]
                y[row] = value


@kernel(error_model="numpy", fastmath=REORDERED)
def _added(taken, data, indices, starts, ends, v, remote, y, bounds):  # pragma: no cover
    for thread in threads(taken):
        for chunk in shared(taken, thread, bounds.size - 1):
            for row in range(bounds[chunk], bounds[chunk + 1]):
                value = v[row]
                for j in range(starts[row], ends[row]):
                    value += data[j] * remote[indices[j]]
                y[row] = value
