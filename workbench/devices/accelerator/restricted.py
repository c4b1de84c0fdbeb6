"""Z^T (b - A x) in one pass on a GPU, for codes of faces and parts of boxes of equal sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.accelerator.deflation import BoxSubdomains
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.grid_columns import face_arguments
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import deflation
from workbench.devices.kernels import faces as texts
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.restricted_product import ProductThenRestriction

if TYPE_CHECKING:
    from workbench.devices.accelerator.launcher import Launcher
    from workbench.devices.accelerator.runtime import Function
    from workbench.devices.operator_protocols import DeviceOperator, Restriction

MOST_PARTS = 8
"""Parts of a box for which a group has room."""
MOST_GROUPS = 64
"""Groups that add up a dot product of coarse vectors."""


def restricted_product(device: Any, bound: DeviceOperator, z: Restriction) -> ProductThenRestriction:
    """A x with Z^T A x, and Z^T (b - A x), the latter in one pass where it can be."""
    if isinstance(bound, FaceProduct) and isinstance(z, BoxSubdomains) and (tile := tile_for(device, bound, z)):
        return ResidualOfBoxes(device, bound, bound, z, tile)
    return ProductThenRestriction(device, bound, z)


def tile_for(device: Launcher, product: FaceProduct, z: BoxSubdomains) -> texts.Tile | None:
    """The cells of a group; None where there is no such kernel."""
    side, directions = z.boxes.equal_side, product.request().constants["directions"]
    few = z.boxes.most <= MOST_PARTS and not device.layout.chunked
    return texts.Tile.of(device.layout.group, side, directions) if side and directions > 1 and few else None


class ResidualOfBoxes(ProductThenRestriction):
    """A residual that is restricted where it is made: no vector is written.

    bound: A. product: what computes it; its rows begin `shift` before those of the boxes.
    """

    pairs = True

    def __init__(
        self,
        device: Any,
        bound: DeviceOperator,
        product: FaceProduct,
        z: BoxSubdomains,
        tile: texts.Tile,
        shift: int = 0,
    ) -> None:
        super().__init__(device, bound, z)
        request = product.request()
        constants, dtype = request.constants, request.dtype
        directions = constants["directions"]
        form = {"walled": constants["walled"], "most": z.boxes.most, "cuda": device.layout.language == "cuda"}

        def kernel(*, paired: bool) -> Function:
            group = device.layout.group
            text = texts.restricted_residual(directions, group, tile, dtype.itemsize, **form, paired=paired)
            return device.kernel(text, text.name, dtype, texts.index(request.rows))

        self._kernel, self._paired = kernel(paired=False), kernel(paired=True)
        self._operator = face_arguments(product.bound)
        *rows, nx = z.boxes.grid
        layers = rows[0] // tile.side
        tiles = -(-nx // tile.columns) * (-(-rows[-1] // tile.lines) if directions > 2 else 1)
        run = max(1, tiles * layers // device.layout.groups)
        self._launch, self._groups = device.launch, tiles * -(-layers // run)
        self._numbers = [np.int64(number) for number in (run, layers, shift, request.rows)]
        self._coarse, self._parts = z.coarse, (z.labels, z.firsts, z.coarse)
        self._of_b = device.zeros(z.coarse.size, z.coarse.dtype)
        self._terms = min(MOST_GROUPS, device.layout.groups_for(z.coarse.size))
        self._dots = Dots(device, dtype, self._groups + self._terms)
        device.runtime.clear(self._dots.partial.handle, self._dots.partial.nbytes)
        self._pair = device.function(deflation.coarse_pair, dtype)

    def residual(self, b: Vector, x: Vector, work: Vector) -> Vector:
        """Z^T (b - A x), shape (d,); `work` is not used."""
        self._launch(self._kernel, self._groups, b, x, *self._operator, *self._parts, *self._numbers)
        return self._coarse

    def paired(self, b: Vector, x: Vector) -> tuple[Dots, Vector, Vector]:
        """Partial sums of (b, x) and (b, b), to be completed; Z^T (b - A x) and Z^T b."""
        count = np.int64(self._dots.count)
        more = (self._of_b, self._dots.partial, count, *self._numbers)
        self._launch(self._paired, self._groups, b, x, *self._operator, *self._parts, *more)
        return self._dots, self._coarse, self._of_b

    def complete(self, dots: Dots, of_b: Vector, coarse: Vector) -> Dots:
        """(b, x) becomes (b, x + Z a), for Z^T b and a."""
        numbers = np.int64(self._groups), np.int64(of_b.size)
        self._pair.launch(self._terms, of_b, coarse, dots.partial, *numbers)
        return dots
