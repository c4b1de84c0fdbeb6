"""Z^T (b - A x) in one pass on a GPU, for codes of faces and parts of boxes of equal sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.accelerator.deflation import BoxSubdomains
from workbench.devices.accelerator.grid_columns import face_arguments
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import faces as texts
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.restricted_product import ProductThenRestriction

MOST_PARTS = 8
"""Parts of a box for which a group has room."""


def restricted_product(device: Any, bound: Any, z: Any) -> ProductThenRestriction:
    """A x with Z^T A x, and Z^T (b - A x), the latter in one pass where it can be."""
    if isinstance(bound, FaceProduct) and isinstance(z, BoxSubdomains) and not device.layout.chunked:
        side, most = z.boxes.equal_side, int(np.diff(z.boxes.firsts).max())
        directions = bound.request().constants["directions"]
        tile = texts.Tile.of(device.layout.group, side, directions) if side and directions > 1 else None
        if tile and most <= MOST_PARTS:
            return ResidualOfBoxes(device, bound, z, tile, most)
    return ProductThenRestriction(device, bound, z)


class ResidualOfBoxes(ProductThenRestriction):
    """A residual that is restricted where it is made: no vector is written."""

    def __init__(self, device: Any, product: FaceProduct, z: BoxSubdomains, tile: texts.Tile, most: int) -> None:
        super().__init__(device, product, z)
        request = product.request()
        constants, dtype = request.constants, request.dtype
        directions = constants["directions"]
        form, walled = (directions, device.layout.group, tile, dtype.itemsize), constants["walled"]
        text = texts.restricted_residual(*form, walled=walled, most=most, cuda=device.layout.language == "cuda")
        self._kernel = device.kernel(text, text.name, dtype, texts.index(request.rows))
        self._operator = face_arguments(product.bound)
        *rows, nx = z.boxes.grid
        layers = rows[0] // tile.side
        tiles = -(-nx // tile.columns) * (-(-rows[-1] // tile.lines) if directions > 2 else 1)
        run = max(1, tiles * layers // device.layout.groups)
        self._launch, self._groups = device.launch, tiles * -(-layers // run)
        self._numbers = np.int64(run), np.int64(request.rows)
        self._coarse, self._parts = z.coarse, (z.labels, z.firsts, z.coarse)

    def residual(self, b: Vector, x: Vector, work: Vector) -> Vector:
        """Z^T (b - A x), shape (d,); `work` is not used."""
        self._launch(self._kernel, self._groups, b, x, *self._operator, *self._parts, *self._numbers)
        return self._coarse
