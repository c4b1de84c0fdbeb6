"""Operators on an accelerator: `apply` launches the kernels and returns `Dots`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from workbench.devices.accelerator.block_products import BlockCsrProduct, BlockStencilProduct
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import products as texts
from workbench.devices.kernels import tiles
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import product_bytes, product_flops, term_bytes, term_flops

TILES = 0
"""Value of `items_per_row` that chooses tiles."""
SHORT = 8
"""Mean row length from which tiles are faster than one work-item per row, measured on an H200."""
MOST_ITEMS_PER_ROW = 32
"""More than a warp would wait longer at barriers than for memory."""


class StencilProduct(OperatorTraits):
    """out = A x for a symmetric stencil, with (x, out), (out, out) and (x, x)."""

    def __init__(
        self, device: Launcher, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]
    ) -> None:
        self._device, self._size, self._bands = device, main.size, len(lower)
        constant = bool(np.all(main == main[0]))
        # With a single band, rows in its direction are not consecutive across work-items.
        text = texts.stencil if device.layout.chunked or len(lower) == 1 else texts.stencil_columns
        self._kernel = device.kernel(text(len(lower), constant=constant), "stencil", main.dtype)
        diagonal = device.array(main[:1], main.dtype) if constant else device.placed(main)
        self._fixed = [diagonal, *(device.placed(band) for band in lower), *(np.int64(step) for step in strides)]
        self._words = len(lower) + 2 + (not constant)
        self._dtype = main.dtype
        self._dots = Dots(device, main.dtype, device.layout.groups_for(main.size))

    def apply(self, x: Vector, out: Vector, *_: str) -> Dots:
        self._device.launch_over(self._kernel, self._size, x, out, *self._fixed, self._dots.partial)
        return self._dots

    def block(self, columns: int) -> BlockStencilProduct:
        """The product with N x columns block vectors."""
        diagonal, *rest = self._fixed
        lower, strides = rest[: self._bands], rest[self._bands :]
        return BlockStencilProduct(self._device, self._size, diagonal, lower, strides, columns)

    @property
    def traffic(self) -> int:
        return self._words * self._size * self._dtype.itemsize

    @property
    def flops(self) -> int:
        return product_flops((2 * self._bands + 1) * self._size, self._dtype)


class StencilTerm:
    """out = (base - L x)*scale or base - L^H x for the lower bands of a stencil; the upper one with dot products."""

    def __init__(
        self, device: Launcher, bands: list[Vector], strides: tuple[int, ...], scale: Any, *, upper: bool
    ) -> None:
        self._device, self._bands, self._upper = device, bands, upper
        text = texts.stencil_term(len(bands), upper=upper, scaled=scale is not None)
        self._size, dtype = bands[0].size, bands[0].dtype
        self._kernel = device.kernel(text, "term", dtype)
        self._arrays = [*bands, *([] if scale is None else [scale])]
        self._steps = [np.int64(step) for step in strides]
        self._dots = Dots(device, dtype, device.layout.groups_for(self._size)) if upper else None

    def apply(self, base: Vector, x: Vector, out: Vector, paired: Vector) -> Dots | None:
        """The dot products are those of `paired` and out. `out` must not be x."""
        summed = [paired, self._dots.partial] if self._dots else []
        self._device.launch_over(self._kernel, self._size, base, x, out, *self._arrays, *self._steps, *summed)
        return self._dots

    @property
    def traffic(self) -> int:
        return (len(self._arrays) + 3 + self._upper) * self._bands[0].nbytes

    @property
    def flops(self) -> int:
        scaled = len(self._arrays) > len(self._bands)
        return term_flops(len(self._bands) * self._size, self._size, self._bands[0].dtype, scaled=scaled)


def scaled_bands(
    device: Launcher, main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...]
) -> tuple[tuple[Vector, ...], Vector]:
    """The bands of L D^-1, entry (i, i - stride) divided by D[i - stride], and D^-1."""
    inverse = device.empty(main.shape, main.dtype)
    diagonal = device.placed(main)
    device.launch_over(device.kernel(texts.INVERSE, "inverse", main.dtype), main.size, diagonal, inverse)
    kernel = device.kernel(texts.SCALED_BAND, "scaled_band", main.dtype)
    bands = tuple(device.empty(main.shape, main.dtype) for _ in lower)
    for low, stride, band in zip(lower, strides, bands, strict=True):
        device.launch_over(kernel, main.size, device.placed(low), inverse, band, np.int64(stride))
    return bands, inverse


def stencil_terms(
    device: Launcher, bands: tuple[Vector, ...], strides: tuple[int, ...], inverse_diagonal: Vector
) -> tuple[StencilTerm, StencilTerm, StencilTerm]:
    """base - L x, (base - L x)*D^-1 and base - L^H x."""
    placed = [device.array(band, inverse_diagonal.dtype) for band in bands]
    return (
        StencilTerm(device, placed, strides, None, upper=False),
        StencilTerm(device, placed, strides, inverse_diagonal, upper=False),
        StencilTerm(device, placed, strides, None, upper=True),
    )


class Rows:
    """A CSR matrix on the device, and the distribution of its rows over work-items.

    items_per_row: work-items of a group that share a row, a power of two. TILES: a group takes the entries of some
    rows. By default one per row on processors and for short rows, and tiles elsewhere.
    """

    def __init__(
        self,
        device: Launcher,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        items_per_row: int | None = None,
    ) -> None:
        self.count, self.entries = indptr.size - 1, data.size
        self.index = np.dtype(np.int64 if max(self.entries, self.count) > np.iinfo(np.int32).max else np.int32)
        self.data = device.array(data, data.dtype)
        self.indices, self.indptr = device.array(indices, self.index), device.array(indptr, self.index)
        if items_per_row is None:
            items_per_row = 1 if device.layout.chunked or self.entries < SHORT * self.count else TILES
        self._items_per_row, self._bounds, self.items = items_per_row, None, self.count
        if items_per_row == TILES:
            bounds = tiles_of(indptr, tiles.PER_ITEM * device.layout.group)
            self._bounds, self.items = device.array(bounds, self.index), bounds.size - 1
            self.groups = max(1, min(self.items, device.layout.groups))
        elif device.layout.chunked:
            self.groups = device.layout.groups_for(max(self.count, self.entries // 4))
        else:
            self.groups = device.layout.groups_for(self.count * items_per_row)

    def text(self, **form: bool) -> str:
        """The kernel for this distribution of rows."""
        return tiles.csr_tiles(**form) if self._bounds is not None else texts.csr(self._items_per_row, **form)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    @property
    def arrays(self) -> tuple[Vector, ...]:
        return (self.data, self.indices, self.indptr, *([] if self._bounds is None else [self._bounds]))


def tiles_of(indptr: np.ndarray, most: int) -> np.ndarray:
    """First rows of the tiles, and N. A tile has at most `most` entries, or is one row."""
    bounds = [0]
    while bounds[-1] < indptr.size - 1:
        last = int(np.searchsorted(indptr, indptr[bounds[-1]] + most, side="right")) - 1
        bounds.append(max(last, bounds[-1] + 1))
    return np.array(bounds)


def items_per_row_for(device: Launcher, mean: float) -> int:
    """The largest power of two up to the mean row length, MOST_ITEMS_PER_ROW and a group; 1 on a processor."""
    items = 1
    while 2 * items <= min(mean, MOST_ITEMS_PER_ROW, device.layout.group):
        items *= 2
    return items


class CsrProduct(OperatorTraits):
    """out = A x for a CSR matrix, with (x, out), (out, out) and (x, x)."""

    def __init__(
        self,
        device: Launcher,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        items_per_row: int | None = None,
    ) -> None:
        self._device = device
        self.rows = Rows(device, data, indices, indptr, items_per_row)
        self._kernel = device.kernel(self.rows.text(), "csr", data.dtype, self.rows.index)
        self._dots = Dots(device, data.dtype, self.rows.groups)

    def apply(self, x: Vector, out: Vector, *_: str) -> Dots:
        return self.paired(x, out, x)

    def block(self, columns: int, *, added: bool = False) -> BlockCsrProduct:
        """The product with N x columns block vectors; added: out = out + A x."""
        rows = self.rows
        return BlockCsrProduct(self._device, rows.data, rows.indices, rows.indptr, columns, added=added)

    def paired(self, x: Vector, out: Vector, left: Vector) -> Dots:
        """out = A x with (left, out), (out, out) and (left, left)."""
        rows = self.rows
        arguments = (*rows.arrays, x, out, left, self._dots.partial, np.int64(rows.items))
        self._device.launch(self._kernel, rows.groups, *arguments, spread=True)
        return self._dots

    @property
    def traffic(self) -> int:
        return product_bytes(self.rows.nbytes, self.rows.count, self.rows.data.itemsize)

    @property
    def flops(self) -> int:
        return product_flops(self.rows.entries, self.rows.data.dtype)


class CsrTerm:
    """One term of a truncated Neumann series: out = (base - L x)*scale, scale optional; dot products if `summed`."""

    def __init__(self, device: Launcher, matrix: sparse.csr_array, scale: Any = None, *, summed: bool = False) -> None:
        self._device, self._scale = device, [] if scale is None else [scale]
        self._rows = Rows(device, matrix.data, matrix.indices, matrix.indptr)
        text = self._rows.text(based=True, scaled=scale is not None, summed=summed)
        self._kernel = device.kernel(text, "csr", matrix.dtype, self._rows.index)
        self._dots = Dots(device, matrix.dtype, self._rows.groups) if summed else None

    def apply(self, base: Vector, x: Vector, out: Vector, paired: Vector) -> Dots | None:
        """The dot products are those of `paired` and out. `out` must not be x."""
        rows = self._rows
        summed = [paired, self._dots.partial] if self._dots else []
        arguments = (*rows.arrays, x, out, base, *self._scale, *summed, np.int64(rows.items))
        self._device.launch(self._kernel, rows.groups, *arguments, spread=True)
        return self._dots

    @property
    def traffic(self) -> int:
        rows, summed = self._rows, self._dots is not None
        return term_bytes(rows.nbytes, rows.count, rows.data.itemsize, scaled=bool(self._scale), summed=summed)

    @property
    def flops(self) -> int:
        rows = self._rows
        return term_flops(rows.entries, rows.count, rows.data.dtype, scaled=bool(self._scale))


class FactorizedInverse(OperatorTraits):
    """u = G^H (G r) for a lower triangular G in CSR form. Work space: one vector."""

    def __init__(self, device: Launcher, factor: sparse.csr_array) -> None:
        upper = sparse.csr_array(factor.conj().T.tocsr())
        self._lower, self._upper = (
            CsrProduct(device, half.data, half.indices, half.indptr) for half in (sparse.csr_array(factor), upper)
        )
        self._middle = device.zeros(factor.shape[0], factor.dtype)

    def apply(self, r: Vector, u: Vector, *_: str) -> Dots:
        """u = G^H G r; computes all three dot products. The two may not be the same vector."""
        self._lower.apply(r, self._middle)
        return self._upper.paired(self._middle, u, r)

    @property
    def traffic(self) -> int:
        return 2 * self._lower.traffic + self._middle.nbytes

    @property
    def flops(self) -> int:
        return 2 * self._lower.flops
