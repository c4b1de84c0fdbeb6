"""CSR and COO products on GPUs: work-items that share a row, and groups that take the entries of some rows.

Overrides of `ops.csr` and of `ops.storage.coo`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from workbench.compiler.kinds import Array
from workbench.devices.accelerator.bound import OnAccelerator
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.bound import Request, override
from workbench.devices.host.counting import tiles_of
from workbench.devices.kernels import block_products, products
from workbench.devices.kernels.parameters import Sums, Vector
from workbench.devices.ops.csr import csr
from workbench.devices.ops.storage import coo

if TYPE_CHECKING:
    from workbench.devices.accelerator import runtime


TILES = 0
"""Value of `items_per_row` that chooses tiles: a group takes the entries of some rows."""
SHORT, LONG = 8, 32
"""Mean row length, and that of the longest row, from which tiles are faster than one work-item per row, measured on an
H200."""
MOST_ITEMS_PER_ROW = 32
"""More than a warp would wait longer at barriers than for memory."""
MOST_OF_ROW = 64
"""Entries of a row, or 4 times their mean, that the work-items of a row take; a group takes longer rows. By the
measurement in docs/benchmarks.md."""
LARGEST_GROUP, GROUP = 1024, 256
"""Work-items of a group in products with block vectors, at most, on CUDA and elsewhere."""


@override(csr, "accelerator")
def shared_rows(device: Launcher, request: Request) -> SharedRows | BlockRows | None:
    """Another distribution of rows over work-items; None for one row each, as on processors and for short rows.

    Hints: items_per_row, a power of two or TILES; block vectors have a distribution of their own.
    """
    mean = request.entries / max(1, request.rows)
    if request.columns > 1:
        return None if device.layout.chunked else BlockRows(device, request, mean)
    items = request.hints.get("items_per_row")
    if items is None and request.constants.get("part"):
        items = items_per_row_for(device, mean)
    if items is None:
        items = 1 if device.layout.chunked or (mean < SHORT and longest(request) < LONG) else TILES
    return None if items == 1 else SharedRows(device, request, items)


class SharedRows(OnAccelerator):
    """items_per_row work-items of a group share a row, or a group takes the entries of some rows: TILES."""

    def __init__(self, device: Launcher, request: Request, items_per_row: int) -> None:
        super().__init__(device, request)
        constants, index = request.constants, self.fixed["starts"].dtype
        self._part, self._items = constants.get("part", False), request.rows
        self._bounds: runtime.Vector | None = None
        form = {
            "based": constants.get("based", False),
            "scaled": constants.get("scaled", False),
            "summed": request.summed,
        }
        if items_per_row == TILES:
            assert request.work is not None
            bounds = tiles_of(request.work, products.PER_ITEM * device.layout.group)
            self._bounds, self._items = device.array(bounds, index), bounds.size - 1
            self._groups = max(1, min(self._items, device.layout.groups))
            of = products.csr_annotations(index, ("columns", "starts", "bounds"), **form)
            self._kernel = device.function(products.csr_tiles, request.dtype, annotations=of)
        else:
            self._groups = device.layout.groups_for(request.rows * items_per_row)
            of = products.csr_annotations(index, ("indices", "starts"), **form, part=self._part)
            # On a processor groups are of one work-item elsewhere.
            group = items_per_row if device.layout.chunked else None
            self._kernel = device.function(
                products.csr, request.dtype, annotations=of, group=group, items_per_row=items_per_row
            )
        self._sums = self._dots(self._groups)

    def __call__(self, *free: runtime.Vector) -> Dots | None:
        named = {**self.fixed, **dict(zip(self.free, free, strict=True))}
        part = (named["ends"], named["first"]) if self._part else ()
        base, scale = ((named[name],) if name in self.form.arguments else () for name in ("base", "scale"))
        sums = (named.get("left", named["x"]), self._sums.partial) if self._sums else ()
        matrix = named["data"], named["indices"], named["starts"], part if self._bounds is None else self._bounds
        result = named["x"], named["y"], base, scale, sums
        self._kernel.launch(self._groups, *matrix, *result, np.int64(self._items), spread=True)
        return self._sums

    @property
    def traffic(self) -> int:
        return super().traffic + (0 if self._bounds is None else self._bounds.nbytes)


class BlockRows(OnAccelerator):
    """The product with block vectors: warps read rows together, and a group takes a long row."""

    def __init__(self, device: Launcher, request: Request, mean: float) -> None:
        super().__init__(device, request)
        most = max(MOST_OF_ROW, int(4 * mean))
        self._long = self._long_rows(device, most)
        sizes = request.columns, request.dtype.itemsize, device.wide(request.dtype).itemsize
        form = {"long": bool(self._long), "added": request.constants.get("onto", False), "summed": request.summed}
        group = LARGEST_GROUP if device.layout.language == "cuda" else GROUP
        plan = block_products.CsrBlock.of(*sizes, mean, most, group, **form)
        self._group, self._groups = plan.group, max(1, -(-request.rows // plan.rows_per_group))
        self._kernel = device.kernel(plan.text, "csr_block", request.dtype, self.fixed["starts"].dtype, plan.group)
        if plan.summed:
            self._keep_column_sums(self._groups)

    def _long_rows(self, device: Launcher, most: int) -> tuple[runtime.Vector, np.int64] | tuple[()]:
        """The numbers of rows with more than `most` entries, on the device, and their count; () without such rows."""
        assert self.request.work is not None
        rows = np.flatnonzero(np.diff(self.request.work) > most)
        return (device.array(rows, self.fixed["starts"].dtype), np.int64(rows.size)) if rows.size else ()

    def __call__(self, *free: runtime.Vector) -> None:
        fixed = (self.fixed[name] for name in ("data", "indices", "starts"))
        sums = () if self.column_sums is None else (self.column_sums,)
        arguments = (*fixed, *self._long, *free, *sums, np.int64(self.request.rows))
        self._device.launch(self._kernel, self._groups, *arguments, group=self._group)


def longest(request: Request) -> int:
    """Entries of the longest row."""
    assert request.work is not None
    return int(np.diff(request.work).max(initial=0))


def items_per_row_for(device: Launcher, mean: float) -> int:
    """The largest power of two up to the mean row length, MOST_ITEMS_PER_ROW and a group; 1 on a processor."""
    items = 1
    while 2 * items <= min(mean, MOST_ITEMS_PER_ROW, device.layout.group):
        items *= 2
    return items


@override(coo, "accelerator")
def tiled(device: Launcher, request: Request) -> Tiles | None:
    """Tiles for one vector on a GPU; None for block vectors, whose columns are work enough, and on processors.

    Hints: starts, the row pointers on the host.
    """
    return None if device.layout.chunked or request.columns > 1 else Tiles(device, request)


class Tiles(OnAccelerator):
    """A group multiplies the entries of a tile in parallel, then a work-item adds those of its row."""

    def __init__(self, device: Launcher, request: Request) -> None:
        starts = request.hints["starts"]
        firsts = tiles_of(starts, products.PER_ITEM * device.layout.group)
        bounds = {"firsts": firsts.astype(starts.dtype), "bounds": starts[firsts]}
        super().__init__(device, dataclasses.replace(request, fixed={**request.fixed, **bounds}))
        self._tiles = firsts.size - 1
        self._groups = max(1, min(self._tiles, device.layout.groups))
        places = Array(self.fixed["rows"].dtype, 1)
        of: dict[str, object] = {"rows": places, "columns": places, "bounds": places, "firsts": places}
        of["sums"] = (Vector, Sums) if request.summed else ()
        self._kernel = device.function(products.coo_tiles, request.dtype, annotations=of)
        self._sums = self._dots(self._groups)

    def __call__(self, *free: runtime.Vector) -> Dots | None:
        names = ("data", "rows", "columns", "bounds", "firsts")
        sums = (free[0], self._sums.partial) if self._sums else ()
        fixed = (self.fixed[name] for name in names)
        self._kernel.launch(self._groups, *fixed, *free, sums, np.int64(self._tiles), spread=True)
        return self._sums
