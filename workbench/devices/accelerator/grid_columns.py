"""Operators on grids for GPUs: a work-item computes several rows along the farthest direction and reads each once.

`Columns` is A x for a stencil, `FaceColumns` for codes of faces. `FaceSweep` is a Neumann series in one sweep, for
vectors larger than caches. `ResidualOfBoxes` is Z^T (b - A x) in one pass, for the parts of boxes of equal sides.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.accelerator.bound import OnAccelerator
from workbench.devices.accelerator.deflation import BoxSubdomains
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.tile_plan import series_planes, series_tile
from workbench.devices.bound import Bound, Request, override
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.kernels import deflation, products
from workbench.devices.kernels import faces as face_texts
from workbench.devices.kernels import series as series_texts
from workbench.devices.kernels.parameters import Vector
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.ops import faces as term_by_term
from workbench.devices.ops.faces import FaceProduct, face_product
from workbench.devices.ops.stencil import stencil
from workbench.devices.restricted_product import ProductThenRestriction
from workbench.devices.series import TermByTerm

if TYPE_CHECKING:
    from workbench.devices.accelerator import runtime
    from workbench.devices.operator_protocols import DeviceOperator, Restriction


@override(stencil, "accelerator")
def stencil_columns(device: Launcher, request: Request) -> Columns | None:
    """The product with two or three bands on a GPU; None for another form, block vectors, or another device.

    With a single band, rows in its direction are not consecutive across work-items.
    """
    bands, of = request.numbered["lower"], request.constants
    constant, whole = of.get("constant"), of.get("below", True) and of.get("above", True)
    sums_whole = whole and request.summed and request.columns == 1
    if device.layout.chunked or bands == 1 or constant is None or not sums_whole:
        return None
    return Columns(device, request, bands, constant=constant)


@override(face_product, "accelerator")
def face_columns(device: Launcher, request: Request) -> FaceColumns | None:
    """The product with codes of faces in two or three dimensions on a GPU; None in other cases."""
    if device.layout.chunked or request.constants["directions"] == 1 or not request.summed:
        return None
    return FaceColumns(device, request)


class FaceColumns(OnAccelerator):
    """A x for codes of faces in two or three dimensions, in the precision of vectors."""

    def __init__(self, device: Launcher, request: Request) -> None:
        super().__init__(device, request)
        directions, layout = request.constants["directions"], device.layout
        strides = [*(int(request.fixed[f"steps_{k}"]) for k in range(directions)), request.rows]
        grid = tuple(end // stride for stride, end in itertools.pairwise(strides))[::-1]
        # Several cells take many registers, of which a persistent kernel gives all its steps the most.
        large = request.rows * request.dtype.itemsize >= SWEPT_BYTES
        form, wide = (directions, layout.group), face_texts.wide(grid[-1]) if large else 1
        cuda, walled = layout.language == "cuda", request.constants["walled"]
        text = face_texts.product_columns(*form, wide, request.dtype.itemsize, walled=walled, cuda=cuda)
        self._kernel = device.kernel(text, text.name, request.dtype, face_texts.index(request.rows))
        self._operator = face_arguments(self)
        rows, self._groups = face_texts.run(grid, layout.group, max(1, layout.groups // 2), wide)
        self._sums = self._dots(self._groups)
        self._rows = np.int64(rows), np.int64(request.rows)

    def __call__(self, *free: runtime.Vector) -> Dots | None:
        assert self._sums is not None
        run, rows = self._rows
        arguments = (*free, *self._operator, run, self._sums.partial, rows)
        self._device.launch(self._kernel, self._groups, *arguments, spread=True)
        return self._sums


def face_arguments(bound: Bound) -> list[runtime.Vector | np.generic]:
    """The arguments of a kernel that describe A by codes of faces; numbers in the precision of vectors."""
    request = bound.request
    fixed = request.numbers(request.dtype) | {"codes": bound.fixed["codes"]}
    return [fixed[name] for name in face_texts.operator_names(request.constants["directions"])]


class Columns(OnAccelerator):
    """A x for a stencil with two or three bands."""

    def __init__(self, device: Launcher, request: Request, bands: int, *, constant: bool) -> None:
        super().__init__(device, request)
        of = {"lower": (Vector,) * bands, "steps": (int,) * bands}
        constants = {"bands": bands, "constant": constant}
        self._kernel = device.function(products.stencil_columns, request.dtype, annotations=of, **constants)
        self._sums = self._dots(device.layout.groups_for(request.rows))
        fixed = request.numbers(device.wide(request.dtype)) | self.fixed
        diagonal = fixed["diagonal"]
        if isinstance(diagonal, np.generic):
            # A constant one is an array of one number.
            diagonal = device.array(np.array([diagonal]), request.dtype)
        lower, steps = (tuple(fixed[f"{name}_{k}"] for k in range(bands)) for name in ("lower", "steps"))
        self._matrix = diagonal, lower, steps

    def __call__(self, *free: runtime.Vector) -> Dots | None:
        assert self._sums is not None
        self._kernel.over(self.request.rows, *free, *self._matrix, self._sums.partial)
        return self._sums


SWEPT_BYTES = 8 << 20
"""Least bytes of a vector for a sweep. Smaller vectors of an iteration fit the last-level cache together, and their
iterations are one persistent kernel, which a sweep cannot join since its groups have another size."""
MOST_ORDER = 3
"""Highest order of a series with a tile, see `tile_plan`."""


def face_series(device: Any, faces: FaceCodes, dtype: np.dtype, order: int) -> TermByTerm | FaceSweep:
    """K^T D^-1 K on vectors of that dtype, K the Neumann series of that order."""
    large = not device.layout.chunked and faces.size * dtype.itemsize >= SWEPT_BYTES
    if large and can_sweep(faces, order):
        tile = series_tile(device.layout, faces.directions, order, dtype.itemsize)
        if tile:
            return FaceSweep(device, faces, dtype, tile)
    return term_by_term.series(device, faces, dtype, order)


def can_sweep(faces: FaceCodes, order: int) -> bool:
    """True if `FaceSweep` can compute the series of that order for these codes.

    Not on a grid with a side of one cell, where more faces may be at the edge than its table has.
    """
    if order > MOST_ORDER or faces.directions == 1 or faces.size > np.iinfo(np.int32).max:
        return False
    return min(_sides(faces)) > 1 and min(faces.values[0], faces.values[2]) > 0


def _sides(faces: FaceCodes) -> list[int]:
    """Cells in each direction, x first."""
    return [end // stride for stride, end in itertools.pairwise((*faces.strides, faces.size))]


class FaceSweep(OperatorTraits):
    """u = K^T D^-1 K r in one sweep along the farthest direction. Stores two bytes of each cell."""

    def __init__(self, device: Launcher, faces: FaceCodes, dtype: np.dtype, tile: series_texts.Tile) -> None:
        self._device, self._faces, self._dtype, self._tile = device, faces, np.dtype(dtype), tile
        self._cells = device.empty((faces.size,), np.uint16)
        steps = tuple(np.int64(stride) for stride in faces.strides)
        of = {"steps": (int,) * faces.directions}
        make = device.function(series_texts.cells, self._dtype, annotations=of, directions=faces.directions)
        make.over(faces.size, device.to_device(faces.stored), self._cells, steps)
        self._shares = device.array(series_texts.shares(faces), self._dtype)
        first, mixed, second, _ = faces.values
        self._numbers = [device.number(v, self._dtype) for v in (1 / first, 1 / second, mixed / first, mixed / second)]
        nx, *lines, nz = _sides(faces)
        ny = lines[0] if lines else 1
        across = -(-nx // tile.columns)
        tiles = across * -(-ny // tile.lines)
        planes = series_planes(tile, tiles, nz, device.runtime.multiprocessors)
        self._sides = [np.int32(number) for number in (nx, ny, nz, across, tiles, planes)]
        self._groups = tiles * -(-nz // planes)
        self._kernels: dict[bool, tuple[runtime.Function, Dots | None]] = {}

    def _kernel(self, *, summed: bool) -> tuple[runtime.Function, Dots | None]:
        """The kernel with or without dot products, compiled at its first use: with deflation another pass has them."""
        if summed not in self._kernels:
            text = series_texts.sweep(self._tile, self._device.layout, self._dtype.itemsize, summed=summed)
            kernel = self._device.kernel(text, text.name, self._dtype, group=self._tile.group)
            self._kernels[summed] = kernel, Dots(self._device, self._dtype, self._groups) if summed else None
        return self._kernels[summed]

    def apply(self, r: runtime.Vector, u: runtime.Vector, *wanted: str) -> Dots | None:
        """u = M^-1 r, with all three dot products where one is requested. r and u must be different vectors."""
        kernel, dots = self._kernel(summed=bool(wanted))
        arguments = (r, u, self._cells, self._shares, *self._numbers, *self._sides, *([dots.partial] if dots else []))
        self._device.launch(kernel, self._groups, *arguments, group=self._tile.group)
        return dots

    @property
    def traffic(self) -> int:
        return (2 * self._dtype.itemsize + self._cells.itemsize) * self._faces.size

    @property
    def flops(self) -> int:
        """Operations: a multiplication and an addition for each coefficient of each term, and D^-1."""
        return (4 * self._tile.halo * self._faces.directions + 1) * self._faces.size


MOST_PARTS = 8
"""Most parts of a box, since a group has a sum for each in local memory."""
MOST_GROUPS = 64
"""Most groups that add up a dot product of coarse vectors."""


def restricted_product(device: Any, bound: DeviceOperator, z: Restriction) -> ProductThenRestriction:
    """A x with Z^T A x, and Z^T (b - A x); the latter is one pass for codes of faces and boxes of equal sides."""
    if isinstance(bound, FaceProduct) and isinstance(z, BoxSubdomains) and (tile := tile_for(device, bound, z)):
        return ResidualOfBoxes(device, bound, bound, z, tile)
    return ProductThenRestriction(device, bound, z)


def tile_for(device: Launcher, product: FaceProduct, z: BoxSubdomains) -> face_texts.Tile | None:
    """The cells of a group of `ResidualOfBoxes`; None where that has no kernel."""
    side, directions = z.boxes.equal_side, product.request().constants["directions"]
    if not side or directions == 1 or z.boxes.most > MOST_PARTS or device.layout.chunked:
        return None
    return face_texts.Tile.of(device.layout.group, side, directions)


class ResidualOfBoxes(ProductThenRestriction):
    """Z^T (b - A x) in one pass, which writes no vector of N entries.

    bound: A. product: the product with codes of faces that computes A x, whose rows begin `shift` before those of the
    boxes. z: Z^T. tile: the cells of a group.
    """

    pairs = True

    def __init__(
        self,
        device: Any,
        bound: DeviceOperator,
        product: FaceProduct,
        z: BoxSubdomains,
        tile: face_texts.Tile,
        shift: int = 0,
    ) -> None:
        super().__init__(device, bound, z)
        request = product.request()
        constants, dtype = request.constants, request.dtype
        directions = constants["directions"]
        form = {"walled": constants["walled"], "most": z.boxes.most, "cuda": device.layout.language == "cuda"}

        def kernel(*, paired: bool) -> runtime.Function:
            group = device.layout.group
            text = face_texts.restricted_residual(directions, group, tile, dtype.itemsize, **form, paired=paired)
            return device.kernel(text, text.name, dtype, face_texts.index(request.rows))

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
        self._pair = device.function(deflation.coarse_dot, dtype)

    def residual(self, b: runtime.Vector, x: runtime.Vector, work: runtime.Vector) -> runtime.Vector:
        """Z^T (b - A x), shape (d,); the base class needs `work`, this one does not."""
        self._launch(self._kernel, self._groups, b, x, *self._operator, *self._parts, *self._numbers)
        return self._coarse

    def paired(self, b: runtime.Vector, x: runtime.Vector) -> tuple[Dots, runtime.Vector, runtime.Vector]:
        """Partial sums of (b, x) and (b, b), which `complete` completes, then Z^T (b - A x) and Z^T b, shape (d,)."""
        count = np.int64(self._dots.count)
        more = (self._of_b, self._dots.partial, count, *self._numbers)
        self._launch(self._paired, self._groups, b, x, *self._operator, *self._parts, *more)
        return self._dots, self._coarse, self._of_b

    def complete(self, dots: Dots, of_b: runtime.Vector, coarse: runtime.Vector) -> Dots:
        """Add (Z^T b, a) to (b, x), which makes it (b, x + Z a). of_b: Z^T b; coarse: a; both of shape (d,)."""
        numbers = np.int64(self._groups), np.int64(of_b.size)
        self._pair.launch(self._terms, of_b, coarse, dots.partial, *numbers)
        return dots
