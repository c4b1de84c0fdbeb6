"""Operators, dot products and subdomains of a rank on its accelerator, summed over the ranks by a link."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.accelerator import deflation
from workbench.devices.accelerator.dots import Dots, OnePass
from workbench.devices.accelerator.restricted import ResidualOfBoxes, tile_for
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab_boxes import boxes_of_slab
from workbench.devices.ops.faces import FaceProduct
from workbench.devices.restricted_product import ProductThenRestriction
from workbench.extensions.mpi.device import kernels
from workbench.extensions.mpi.device.accelerator_parts import JoinedBoxes
from workbench.extensions.mpi.device.links import Link
from workbench.extensions.mpi.device.operators import WithHalo

if TYPE_CHECKING:
    from workbench.devices.accelerator.functions import Prepared
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector, Restriction
    from workbench.extensions.mpi.device.accelerator_parts import PartsOnAccelerator


class Totals(Dots):
    """Sums over all ranks, in the place of partial sums. dtype: of the partial sums."""

    def __init__(self, device: Any, dtype: np.dtype, sums: int = 3) -> None:
        super().__init__(device, dtype, 1, sums)
        self._link: Link = device.link
        self._add = device.function(kernels.rank_sums, dtype)

    def of(self, partial: Vector, ghosts: Vector | None = None) -> Totals:
        """The totals of partial sums, less those of the ghosts."""
        less = partial if ghosts is None else ghosts
        counts = np.int64(partial.shape[1]), np.int64(0 if ghosts is None else less.shape[1])
        self._add.launch(partial.shape[0], partial, counts[0], less, counts[1], self.partial)
        self._link.total(self.partial, self.partial)
        return self


class SummedPass(OnePass):
    """One pass over the rows of a rank, whose dot products are summed over the ranks."""

    _totals: Totals | None = None

    def apply(self, *vectors: Vector) -> Dots | None:
        dots = super().apply(*vectors)
        if dots is None:
            return None
        if self._totals is None or self._totals.partial.dtype != dots.partial.dtype:
            self._totals = Totals(self._device, dots.partial.dtype, dots.partial.shape[0])
        return self._totals.of(dots.partial)


class AcceleratorWithHalo(WithHalo):
    """See `WithHalo`; the dot products of ghosts are subtracted on the device."""

    def __init__(self, device: PartsOnAccelerator, operator: DeviceOperator, reach: int, exchanged: int) -> None:
        super().__init__(device, operator, reach, exchanged)
        self.waits = operator.waits or device.link.waits
        self._rooms: dict[np.dtype, tuple[Prepared, Dots, Totals]] = {}

    def summed(self, dots: Dots, tall: Sequence[Vector], wanted: Sequence[str]) -> Totals:
        x, out = tall
        kernel, ghosts, totals = self._room(x, dots.partial.dtype)
        inner = self._halo.slab.within(self._reach).inner
        own = inner.stop - inner.start
        if x.size == own:
            return totals.of(dots.partial)
        places = np.int64(inner.start), np.int64(own)
        kernel.over(x.size - own, x, out, ghosts.partial, *places)
        return totals.of(dots.partial, ghosts.partial)

    def _room(self, x: Vector, wide: np.dtype) -> tuple[Prepared, Dots, Totals]:
        if x.dtype not in self._rooms:
            device, inner = self._device, self._halo.slab.within(self._reach).inner
            groups = device.layout.groups_for(x.size - (inner.stop - inner.start))
            kernel = device.function(kernels.ghost_dots, x.dtype)
            self._rooms[x.dtype] = kernel, Dots(device, x.dtype, groups), Totals(device, wide)
        return self._rooms[x.dtype]


class SummedRuns(deflation.Subdomains):
    """Z of the rows of this rank, with the labels of all ranks."""

    def __init__(self, device: PartsOnAccelerator, labels: np.ndarray, count: int, dtype: np.dtype) -> None:
        super().__init__(device, labels, count, dtype)
        self._link: Link = device.link
        self._totals = Totals(device, self._dots.partial.dtype)

    def restrict(self, w: Vector) -> Vector:
        """Z^H w of all ranks, shape (d,); the next call overwrites it."""
        coarse = super().restrict(w)
        self._link.total(coarse, coarse)
        return coarse

    def add_paired(self, x: Vector, coarse: Vector, r: Vector) -> Totals:
        """x = x + Z a in place, with (r, x), (x, x) and (r, r) of all ranks."""
        return self._totals.of(super().add_paired(x, coarse, r).partial)


class BoxesOfSlab(deflation.BoxSubdomains):
    """Z of the parts of boxes that lie in the slab of this rank; its parts are consecutive among those of all ranks.

    first: of these parts. count: those of all ranks.
    """

    def __init__(
        self, device: PartsOnAccelerator, labels: DeviceVector, boxes: Boxes, dtype: np.dtype, first: int, count: int
    ) -> None:
        super().__init__(device, labels, boxes, dtype)
        self._link: Link = device.link
        self._totals = Totals(device, self._dots.partial.dtype)
        wide = device.wide(dtype)
        # The parts of other ranks stay zero in what this rank adds to the sum.
        self._sent, self._all = device.zeros(count, wide), device.zeros(count, wide)
        self._place = first * wide.itemsize, boxes.count * wide.itemsize
        self.coarse = self.own(self._sent)

    @classmethod
    def of(cls, device: PartsOnAccelerator, labels: DeviceVector, boxes: Boxes, dtype: np.dtype) -> BoxesOfSlab | None:
        """None where slabs share boxes, or boxes are large, or memory has no parts. labels: see `subdomains`."""
        own = (boxes.own, boxes.first) if isinstance(boxes, JoinedBoxes) else boxes_of_slab(boxes, device.slab)
        if own is None or not deflation.small_boxes(own[0]) or device.halo.copies:
            return None
        local, first = own
        labels = labels - np.int32(first) if isinstance(labels, np.ndarray) else labels
        return cls(device, labels, local, dtype, first, boxes.count)

    def restrict(self, w: Vector) -> Vector:
        """Z^H w of all ranks, shape (d,); the next call overwrites it."""
        super().restrict(w)
        return self.summed()

    def summed(self) -> Vector:
        """The sums of all ranks, where this rank has made those of its parts."""
        self._link.total(self._sent, self._all)
        return self._all

    def add(self, x: Vector, coarse: Vector, sign: int = 1) -> None:
        super().add(x, self.own(coarse), sign)

    def add_paired(self, x: Vector, coarse: Vector, r: Vector) -> Totals:
        """x = x + Z a in place, with (r, x), (x, x) and (r, r) of all ranks."""
        return self._totals.of(super().add_paired(x, self.own(coarse), r).partial)

    def own(self, coarse: Vector) -> Vector:
        """The entries of the parts of this rank."""
        part = self._device.runtime.part(coarse.handle, *self._place)
        return Vector(part, (self._place[1] // coarse.itemsize,), coarse.dtype)


class ResidualOfSlab(ResidualOfBoxes):
    """Z^T (b - A x) in one pass over the slab of a rank, after an exchange of ghost planes of x."""

    _device: Any
    _bound: Any
    _z: BoxesOfSlab

    @functools.cached_property
    def _totals(self) -> Totals:
        return Totals(self._device, self._dots.partial.dtype)

    def residual(self, b: Vector, x: Vector, work: Vector) -> Vector:
        """Z^T (b - A x) of all ranks, shape (d,); `work` is not used."""
        super().residual(self._device.halo.placed(b, 1, "b"), self._bound.exchange(x), work)
        return self._z.summed()

    def paired(self, b: Vector, x: Vector) -> tuple[Dots, Vector, Vector]:
        """This rank's partial sums of (b, x) and (b, b), to be completed, and Z^T b; Z^T (b - A x) of all ranks."""
        dots, _, of_b = super().paired(self._device.halo.placed(b, 1, "b"), self._bound.exchange(x))
        return dots, self._z.summed(), of_b

    def complete(self, dots: Dots, of_b: Vector, coarse: Vector) -> Totals:
        """(b, x + Z a) and (b, b) of all ranks, for Z^T b of this one and a."""
        return self._totals.of(super().complete(dots, of_b, self._z.own(coarse)).partial)


def restricted_product(device: Any, bound: DeviceOperator, z: Restriction) -> ProductThenRestriction:
    """The restricted product of one accelerator, for the rows of a rank."""
    if isinstance(bound, AcceleratorWithHalo) and isinstance(z, BoxesOfSlab):
        product = bound.on_slab
        if isinstance(product, FaceProduct) and (tile := tile_for(device, product, z)):
            return ResidualOfSlab(device, bound, product, z, tile, device.slab.within(1).inner.start)
    return ProductThenRestriction(device, bound, z)
