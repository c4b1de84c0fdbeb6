"""Products with matrices in the formats of `host.storage`: COO, DIA, ELL and HYB, as `csr` for CSR; and AZ by
diagonals.

DIA and ELL have a matrix with a row of values for each row of A. It is stored by columns on GPUs, where neighbouring
work-items then read neighbouring values, and by rows on processors, where a core reads them one after another; that of
few diagonals by columns everywhere, since its loops vectorize. AZ as N x d by diagonals is coalesced on GPUs: 5 N words
for stripes in 2D.

Source for AZ: Gupta, van Gijzen, Vuik 2013, section 5.2, figure 6.
"""

# Of kernels whose constants leave out some lines:
# pyright: reportPossiblyUnboundVariable=false

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.compiler.words import conj, inside, unrolled, wide
from workbench.devices.bound import Request
from workbench.devices.host import storage
from workbench.devices.operator_protocols import DeviceOperator, OperatorTraits
from workbench.devices.ops.applied import Applied
from workbench.devices.ops.csr import CsrProduct
from workbench.devices.traffic import product_flops
from workbench.kernel_language.row_kernels import kernel
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector, Dots
    from workbench.devices.ops.applied import BindingDevice


SEGMENT = 4096
"""Rows and entries that a core takes at once from a matrix in coordinates."""
SHORT_SEGMENT = 16
"""Rows and entries that a GPU's work-item takes at once."""
FEW = 32
"""Diagonals of which a kernel is compiled for the matrix."""


@kernel(sums=3)
def coo(segment, data, rows, columns, bounds, firsts, x, y, *, paired=True):
    """y = A x for some rows (`segment`), with the dot products of x and y.

    Entries are sorted by row. Rows firsts[i] to firsts[i + 1] have the entries bounds[i] to bounds[i + 1], so that no
    two segments add to one element of y.
    """
    place = bounds[segment]
    end = bounds[segment + 1]
    if paired:
        xy = wide(0)
        yy = wide(0)
        xx = wide(0)
    for row in range(firsts[segment], firsts[segment + 1]):
        value = 0
        while place < end:
            if rows[place] != row:
                break
            value += data[place] * x[columns[place]]
            place += 1
        y[row] = value
        if paired:
            left = wide(x[row])
            right = wide(value)
            xy += conj(left) * right
            yy += conj(right) * right
            xx += conj(left) * left
    return xy, yy, xx


@kernel(dots=True, halo="reach")
def dia(row, data, steps, shifts, count, size, reach, x, y, *, few, diagonals=0, rowwise=False):
    """y = A x, with the dot products of x and y.

    few: the distances of the diagonals are the numbers `steps`, and loops over rows vectorize; else entry k of a row
    has the column row + shifts[k] - size, if that is one. reach: the largest distance.
    """
    value = 0
    if few:
        for k in unrolled(diagonals):
            # Of a row plus a distance only one side would be tested, but these may be negative.
            if inside(steps[k] + row):
                value += data[row + k * size] * x[steps[k] + row]
    else:
        for k in range(count):
            column = row + shifts[k] - size
            if column >= 0 and column < size:
                value += data[row * count + k if rowwise else row + k * size] * x[column]
    y[row] = value
    return x[row], value


@kernel(dots=True)
def ell(row, data, indices, width, size, x, y, *, rowwise, onto=False):
    """y = A x, or y + A x, with the dot products of x and y."""
    value = y[row] if onto else 0
    for k in range(width):
        place = row * width + k if rowwise else row + k * size
        value += data[place] * x[indices[place]]
    y[row] = value
    return x[row], value


class OneKernel(Applied):
    """out = A x by one kernel, with (x, out), (out, out) and (x, x). entries: those multiplied, padding included."""

    def __init__(self, device: BindingDevice, request: Request, rows: int, entries: int) -> None:
        super().__init__(device.bind(request))
        self._device, self._request, self._rows, self._entries = device, request, rows, entries

    def block(self, columns: int) -> OneKernel:
        """The product with N x columns block vectors, without dot products."""
        return OneKernel(self._device, self._in_blocks(columns), self._rows, self._entries)

    def _in_blocks(self, columns: int) -> Request:
        return self._request.in_blocks(columns, self.bound.fixed)

    @property
    def traffic(self) -> int:
        vectors = 3 if self._request.constants.get("onto") else 2
        return self.bound.fixed_bytes + vectors * self._rows * self._request.columns * self._request.dtype.itemsize

    @property
    def flops(self) -> int:
        return product_flops(self._entries * self._request.columns, self._request.dtype)


class CooProduct(OneKernel):
    """out = A x for a matrix in coordinates, sorted by row: in segments of whole rows, without atomic additions.

    summed: with the dot products.
    """

    def __init__(self, device: BindingDevice, matrix: sparse.csr_array, *, summed: bool = True) -> None:
        self._indptr, self._summed = matrix.indptr, summed
        arrays = {"data": matrix.data, "rows": storage.rows_of(matrix), "columns": matrix.indices}
        most = SEGMENT if by_rows(device) else SHORT_SEGMENT
        super().__init__(device, self._segmented(arrays, most), matrix.indptr.size - 1, matrix.indices.size)

    def _segmented(self, arrays: Mapping[str, DeviceVector], most: int) -> Request:
        firsts = storage.segments(self._indptr, most)
        bounds = self._indptr[firsts]
        fixed = {**arrays, "bounds": bounds, "firsts": firsts.astype(self._indptr.dtype)}
        return Request(
            coo,
            firsts.size - 1,
            arrays["data"].dtype,
            fixed,
            work=bounds + firsts,
            constants={"paired": self._summed},
            summed=self._summed,
            hints={"starts": self._indptr},
        )

    def _in_blocks(self, columns: int) -> Request:
        arrays = {name: self.bound.fixed[name] for name in ("data", "rows", "columns")}
        request = self._segmented(arrays, SEGMENT if by_rows(self._device) else SHORT_SEGMENT)
        return dataclasses.replace(request.in_blocks(columns, request.fixed), constants={"paired": False})


class HybProduct(OperatorTraits):
    """out = A x: the rest in coordinates first, then rows of one length onto it, with the dot products."""

    def __init__(self, regular: OneKernel, rest: OneKernel) -> None:
        self._regular, self._rest = regular, rest
        self.fused_dots = regular.fused_dots

    def apply(self, x: DeviceVector, out: DeviceVector, *_: str) -> Dots:
        """out = A x."""
        self._rest.apply(x, out)
        return self._regular.apply(x, out)

    def block(self, columns: int) -> HybProduct:
        """The product with N x columns block vectors, without dot products."""
        return HybProduct(self._regular.block(columns), self._rest.block(columns))

    @property
    def traffic(self) -> int:
        return self._rest.traffic + self._regular.traffic

    @property
    def flops(self) -> int:
        return self._rest.flops + self._regular.flops


def stored(
    device: BindingDevice, matrix: sparse.csr_array, name: str, items_per_row: int | None = None
) -> DeviceOperator:
    """The product with a square matrix in a format of `settings.FORMATS`; items_per_row: of CSR, as in `CsrProduct`."""
    if name == "csr":
        return CsrProduct(device, matrix.data, matrix.indices, matrix.indptr, items_per_row)
    if name == "coo":
        return CooProduct(device, matrix)
    if name == "dia":
        return _dia(device, matrix)
    lengths = np.diff(matrix.indptr)
    return _ell(device, matrix, storage.ell_width(lengths) if name == "ell" else storage.hyb_width(lengths))


def _dia(device: BindingDevice, matrix: sparse.csr_array) -> OneKernel:
    size, distances = matrix.indptr.size - 1, storage.diagonals(matrix)
    few = distances.size <= FEW
    rowwise = by_rows(device) and not few
    values = storage.dia_values(matrix, distances, rowwise=rowwise)
    fixed: dict[str, object] = {"data": values, "size": size, "reach": int(np.abs(distances).max())}
    form: dict[str, int] = {"few": few, "rowwise": rowwise}
    if few:
        fixed |= {f"steps_{k}": int(distance) for k, distance in enumerate(distances)}
        form["diagonals"] = distances.size
    else:
        # Indices have no sign on the cores.
        fixed |= {"shifts": distances + size, "count": distances.size}
    request = Request(
        dia,
        size,
        matrix.dtype,
        fixed,
        constants=form,
        numbered={"steps": distances.size if few else 0},
        each=distances.size,
    )
    return OneKernel(device, request, size, values.size)


def _ell(device: BindingDevice, matrix: sparse.csr_array, width: int) -> OneKernel | HybProduct:
    """ELL with `width` entries a row, and any other entries in coordinates."""
    size = matrix.indptr.size - 1
    values, columns, rest = storage.ell_arrays(matrix, width, rowwise=by_rows(device))
    fixed = {"data": values, "indices": columns, "width": width, "size": size}
    form = {"rowwise": by_rows(device), "onto": rest.indices.size > 0}
    regular = OneKernel(device, Request(ell, size, matrix.dtype, fixed, constants=form, each=width), size, values.size)
    return HybProduct(regular, CooProduct(device, rest, summed=False)) if rest.indices.size else regular


def by_rows(device: object) -> bool:
    """True if a work-item, or a core, computes rows one after another."""
    layout = getattr(device, "layout", None)
    return layout is None or layout.chunked


@kernel()
def diagonal_columns(row, data, labels, shifts, each, width, size, count, coarse, w, *, even, rowwise):
    """w = w - AZ a. Entry k of a row has the column of its label + shifts[k] - count, if that is one of AZ.

    even: the label of a row is row // each.
    """
    own = row // each if even else labels[row]
    value = wide(w[row])
    for k in range(width):
        column = own + shifts[k] - count
        if column >= 0 and column < count:
            value -= data[row * width + k if rowwise else row + k * size] * coarse[column]
    w[row] = value


class DiagonalColumns:
    """AZ, shape (N, d), with a value for each row and each distance between a column and the label of its row."""

    def __init__(self, device: BindingDevice, az: sparse.csr_array, labels: np.ndarray) -> None:
        rows, count = labels.size, az.shape[1]
        distances, each = storage.diagonals(az, labels), storage.runs_of_labels(labels, count)
        form = {"even": each > 0, "rowwise": by_rows(device)}
        fixed: dict[str, Any] = {
            "data": storage.dia_values(az, distances, labels, rowwise=form["rowwise"]),
            # Indices have no sign on the cores.
            "shifts": distances + count,
            "width": distances.size,
            "size": rows,
            "count": count,
            **({"each": each} if each else {"labels": labels}),
        }
        self.entries = int(fixed["data"].size)
        """Entries that are multiplied, padding included."""
        self._bound = device.bind(
            Request(
                diagonal_columns,
                rows,
                az.dtype,
                fixed,
                constants=form,
                summed=False,
                each=distances.size,
                wides=("coarse",),
            )
        )
        self.traffic = self._bound.fixed_bytes + 2 * rows * az.dtype.itemsize

    def subtract(self, w: DeviceVector, coarse: DeviceVector) -> None:
        """w = w - AZ a in place, for a of shape (d,) in the precision of sums."""
        self._bound(coarse, w)
