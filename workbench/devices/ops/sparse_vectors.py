"""Sparse deflation vectors: Z^H w and x + Z a, each in one pass over the entries of Z."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.compiler.words import conj, narrow, wide
from workbench.devices.bound import Request
from workbench.devices.traffic import product_flops
from workbench.kernel_language.row_kernels import kernel

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.devices.ops.applied import BindingDevice
    from workbench.lazy import sparse


@kernel()
def restriction(row, data, indices, starts, w, coarse):
    """coarse = Z^H w, in double precision; the entries of a row are those of a column of Z."""
    total = wide(0)
    for j in range(starts[row], starts[row + 1]):
        total += conj(wide(data[j])) * wide(w[indices[j]])
    coarse[row] = total


@kernel()
def prolongation(row, data, indices, starts, coarse, x, *, minus=False):
    """x + Z a, or x - Z a."""
    value = wide(0)
    for j in range(starts[row], starts[row + 1]):
        value += wide(data[j]) * coarse[indices[j]]
    value = wide(x[row]) - value if minus else wide(x[row]) + value
    x[row] = narrow(value)


class SparseVectors:
    """Z, shape (N, d), stored by rows and by columns.

    by_rows: Z. by_columns: Z^T by rows; its entries are those of Z, not conjugated.
    """

    def __init__(self, device: BindingDevice, by_rows: sparse.csr_array, by_columns: sparse.csr_array) -> None:
        dtype, (size, count) = by_rows.dtype, by_rows.shape
        fixed = {"data": by_columns.data, "indices": by_columns.indices, "starts": by_columns.indptr}
        request = Request(restriction, count, dtype, fixed, work=by_columns.indptr, wides=("coarse",))
        self._restrict = device.bind(request)
        fixed = {"data": by_rows.data, "indices": by_rows.indices, "starts": by_rows.indptr}
        self._add, self._subtract = (
            device.bind(
                Request(
                    prolongation, size, dtype, fixed, work=by_rows.indptr, wides=("coarse",), constants={"minus": minus}
                )
            )
            for minus in (False, True)
        )
        self._coarse = device.zeros(count, self._restrict.form.wide)
        self.size, self.entries, self._itemsize = size, by_rows.nnz, dtype.itemsize
        self.flops = product_flops(by_rows.nnz, dtype)

    def restrict(self, w: DeviceVector) -> DeviceVector:
        """Z^H w, shape (d,), in double precision; the next call overwrites it."""
        self._restrict(w, self._coarse)
        return self._coarse

    def add(self, x: DeviceVector, coarse: DeviceVector) -> None:
        """x = x + Z a in place."""
        self._add(coarse, x)

    def add_paired(self, x: DeviceVector, coarse: DeviceVector, r: DeviceVector) -> None:
        """x = x + Z a in place; dot products need a pass of their own."""
        self.add(x, coarse)

    def subtract(self, x: DeviceVector, coarse: DeviceVector, /) -> None:
        """x = x - Z a in place."""
        self._subtract(coarse, x)

    @property
    def traffic(self) -> int:
        """Bytes of Z by columns, and of the result; w comes on top."""
        return self._restrict.fixed_bytes + self._coarse.nbytes
