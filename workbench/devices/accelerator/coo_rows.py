"""COO products on GPUs: a group takes the entries of some rows. Override of `ops.storage.coo`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from workbench.compiler.kinds import Array
from workbench.devices.accelerator.bound import OnAccelerator
from workbench.devices.accelerator.csr_rows import tiles_of
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.bound import Request, override
from workbench.devices.kernels import tiles
from workbench.devices.kernels.parameters import Sums, Vector
from workbench.devices.ops.storage import coo

if TYPE_CHECKING:
    from workbench.devices.accelerator import runtime


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
        firsts = tiles_of(starts, tiles.PER_ITEM * device.layout.group)
        bounds = {"firsts": firsts.astype(starts.dtype), "bounds": starts[firsts]}
        super().__init__(device, dataclasses.replace(request, fixed={**request.fixed, **bounds}))
        self._tiles = firsts.size - 1
        self._groups = max(1, min(self._tiles, device.layout.groups))
        places = Array(self.fixed["rows"].dtype, 1)
        of: dict[str, object] = {"rows": places, "columns": places, "bounds": places, "firsts": places}
        of["sums"] = (Vector, Sums) if request.summed else ()
        self._kernel = device.function(tiles.coo_tiles, request.dtype, annotations=of)
        self._sums = self._dots(self._groups)

    def __call__(self, *free: runtime.Vector) -> Dots | None:
        names = ("data", "rows", "columns", "bounds", "firsts")
        sums = (free[0], self._sums.partial) if self._sums else ()
        fixed = (self.fixed[name] for name in names)
        self._kernel.launch(self._groups, *fixed, *free, sums, np.int64(self._tiles), spread=True)
        return self._sums
