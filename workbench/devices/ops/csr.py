"""Operators of CSR matrices: products, terms of Neumann series, blocks of rows, factorized inverses, sparse vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.compiler.words import conj, narrow, wide
from workbench.devices.bound import Bound, Request
from workbench.devices.ops.applied import Applied, InTwoPasses
from workbench.devices.traffic import block_bytes, product_flops
from workbench.kernel_language.row_kernels import RowKernel, kernel
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.devices.ops.applied import BindingDevice


@kernel(dots=True)
def csr(
    row, data, indices, starts, ends, first, base, scale, x, y, left, *,
    based=False, onto=False, minus=False, scaled=False, part=False, paired=False,
):  # fmt: skip
    """y = base + A x, base - A x, y + A x or A x, then times scale, with the dot products of left, or x, and y.

    part: row i has the entries starts[i] to ends[i], whose columns are counted from `first`.
    """
    value = base[row] if based else (y[row] if onto else 0)
    for j in range(starts[row], ends[row] if part else starts[row + 1]):
        column = indices[j] - first if part else indices[j]
        value = value - data[j] * x[column] if minus else value + data[j] * x[column]
    if scaled:
        value *= scale[row]
    y[row] = value
    return left[row] if paired else x[row], value


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


def _bound(
    device: BindingDevice, matrix: Mapping[str, DeviceVector], starts: np.ndarray, summed: bool = True, **more: Any
) -> Bound:
    """The kernel with data, indices and starts; more: of the request. starts: those of the host."""
    fixed = {**matrix, **more.pop("fixed", {})}
    return device.bind(Request(csr, starts.size - 1, fixed["data"].dtype, fixed, work=starts, summed=summed, **more))


class CsrProduct(Applied):
    """out = A x, with (x, out), (out, out) and (x, x).

    data (nnz,), indices (nnz,), indptr (N + 1,) as in scipy.sparse.csr_array. items_per_row: for accelerators, see
    `sparse_rows`. paired: the dot products are those of a third vector, in place of x, and out.
    """

    def __init__(
        self,
        device: BindingDevice,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        items_per_row: int | None = None,
        *,
        paired: bool = False,
    ) -> None:
        self._device, self._starts, self._items = device, indptr, items_per_row
        matrix = {"data": data, "indices": indices, "starts": indptr}
        more: Any = {"constants": {"paired": True}} if paired else {}
        super().__init__(_bound(device, matrix, indptr, hints={"items_per_row": items_per_row}, **more))

    def block(self, columns: int, *, added: bool = False) -> Applied:
        """The product with N x columns block vectors; added: out = out + A x."""
        return Applied(
            _bound(
                self._device,
                self.bound.fixed,
                self._starts,
                summed=not added and columns > 1 and self._device.sums_columns,
                constants={"onto": added},
                columns=columns,
                blocks=("x", "y"),
            )
        )


def terms(
    device: BindingDevice, lower: sparse.csr_array, scale: DeviceVector, upper: sparse.csr_array | None = None
) -> tuple[Applied, Applied, Applied]:
    """base - L x, (base - L x)*scale and base - L^H x for a strictly lower triangle; the last with dot products.

    They are applied to base, x, out and, for the dot products, another vector. upper: L^H, where L has a part of the
    rows alone.
    """
    upper = sparse.csr_array(lower.conj().T.tocsr()) if upper is None else upper
    form = {"based": True, "minus": True}
    first = _bound(device, _matrix(lower), lower.indptr, summed=False, constants=form)
    scaled = {"constants": form | {"scaled": True}, "fixed": {"scale": scale}}
    return (
        Applied(first),
        Applied(_bound(device, first.fixed, lower.indptr, summed=False, **scaled)),
        Applied(_bound(device, _matrix(upper), upper.indptr, constants=form | {"paired": True})),
    )


class RowBlock(Applied):
    """out = A x for the local block of some rows of a matrix, or v + A remote for the remote one; no dot products.

    data, indices (nnz,): of the whole matrix, or of these rows. starts, ends (rows,): where the entries of each row
    begin and end. first: the column of x[0]. remote: the vector of the remote block, which is then applied to v and
    out; x, v and out have the shape (rows,). others: elements of `remote` that belong to other rows; all by default.
    """

    def __init__(
        self,
        device: BindingDevice,
        data: np.ndarray,
        indices: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        first: int = 0,
        remote: DeviceVector | None = None,
        others: int | None = None,
    ) -> None:
        fixed = {"data": data, "indices": indices, "starts": starts, "ends": ends, "first": first}
        fixed |= {} if remote is None else {"x": remote}
        # An empty row is work too.
        work = np.concatenate([[0], np.cumsum(ends.astype(np.int64) - starts + 1)])
        self.entries = int(work[-1]) - starts.size
        self._others = others if others is not None else 0 if remote is None else remote.size
        constants = {"part": True, "based": remote is not None}
        request = Request(csr, starts.size, data.dtype, fixed, work=work, constants=constants, summed=False)
        super().__init__(device.bind(request))

    @property
    def traffic(self) -> int:
        """Bytes; of the remote vector an element for each entry of the block, at most those of other rows."""
        fixed = self.bound.fixed
        sizes = fixed["data"].itemsize, fixed["indices"].itemsize
        return block_bytes(fixed["starts"].size, self.entries, *sizes, self._others)

    @property
    def flops(self) -> int:
        return product_flops(self.entries, self.bound.fixed["data"].dtype)


class FactorizedInverse(InTwoPasses):
    """u = G^H (G r) for a lower triangular G in CSR form, with (r, u), (u, u) and (r, r) in the second product.

    G may be upper triangular too. G^H is stored as another matrix. Work space: one vector.
    """

    def __init__(self, device: BindingDevice, factor: sparse.csr_array) -> None:
        upper = sparse.csr_array(factor.conj().T.tocsr())
        super().__init__(
            _bound(device, _matrix(factor), factor.indptr, summed=False),
            _bound(device, _matrix(upper), upper.indptr, constants={"paired": True}),
            device.zeros(factor.shape[0], factor.dtype),
        )


class SparseVectors:
    """Z, shape (N, d), stored by rows and by columns.

    by_rows: Z. by_columns: Z^T by rows; its entries are those of Z, not conjugated.
    """

    def __init__(self, device: BindingDevice, by_rows: sparse.csr_array, by_columns: sparse.csr_array) -> None:
        dtype, sizes = by_rows.dtype, [matrix.indptr.size - 1 for matrix in (by_rows, by_columns)]

        def bound(of: RowKernel, matrix: sparse.csr_array, rows: int, **form: bool) -> Bound:
            request = Request(of, rows, dtype, _matrix(matrix), matrix.indptr, form, wides=("coarse",))
            return device.bind(request)

        self._restrict = bound(restriction, by_columns, sizes[1])
        self._add, self._subtract = (bound(prolongation, by_rows, sizes[0], minus=minus) for minus in (False, True))
        self._coarse = device.zeros(sizes[1], self._restrict.form.wide)

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


def _matrix(of: sparse.csr_array) -> dict[str, np.ndarray]:
    return {"data": of.data, "indices": of.indices, "starts": of.indptr}
