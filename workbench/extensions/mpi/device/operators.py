"""Operators of the base device on a slab: on the rows of a rank with the ghost planes around them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.cpu.operators import FUSED
from workbench.devices.cpu.restricted import RestrictedProduct
from workbench.devices.cpu.subdomains import Subdomains
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab import Slab
from workbench.devices.operator_protocols import Dots, OperatorTraits
from workbench.devices.programs.in_blocks import in_blocks
from workbench.extensions.mpi.device.halo import Halo
from workbench.extensions.mpi.device.sums import Sums
from workbench.lines.types import OperatorDot

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector, Restriction
    from workbench.extensions.mpi.device.halo import DeviceOfRank

PAIRS = {OperatorDot.XY: (0, 1), OperatorDot.YY: (1, 1), OperatorDot.XX: (0, 0)}
"""The vectors of each dot product, of x and out."""


class WithHalo(OperatorTraits):
    """out = A x on the rows of this rank: an operator on a taller slab, after an exchange of ghost planes of x.

    on_slab, reach: the operator, and its ghost planes. exchanged: those that its result in the rows of this rank needs.
    Rows of ghosts come out wrong, and their part of the dot products is subtracted before these are summed.
    """

    def __init__(self, device: Any, operator: DeviceOperator, reach: int, exchanged: int) -> None:
        self._halo: Halo = device.halo
        self._sums: Sums = device.sums
        self.on_slab = operator
        self._device, self._reach, self._exchanged = device, reach, exchanged
        self.traffic, self.flops = operator.traffic, operator.flops
        self.waits, self.varies, self.notes = operator.waits, operator.varies, operator.notes
        self.fused_dots: Sequence[str] = operator.fused_dots

    def apply(self, x: np.ndarray, out: np.ndarray, /, *wanted: str) -> Dots:
        tall = [self.exchange(x), self._halo.taller(out, self._reach)]
        dots = self.multiply(tall[0], tall[1], *wanted)
        self._halo.keep(out, tall[1], self._reach)
        return self.summed(dots, tall, wanted) if wanted else None

    def exchange(self, x: np.ndarray) -> np.ndarray:
        """x with its ghost planes, which are filled."""
        return self._halo.exchange(x, self._exchanged, self._reach)

    def multiply(self, x: np.ndarray, out: np.ndarray, *wanted: str) -> Dots:
        """The product on the taller slab."""
        return self.on_slab.apply(x, out, *wanted)

    def summed(self, dots: Dots, tall: Sequence[DeviceVector], wanted: Sequence[str]) -> Dots:
        """The dot products of the rows of all ranks."""
        return self._sums.total(self.own(dots, tall, wanted))

    def own(self, dots: Dots, tall: Sequence[np.ndarray], wanted: Sequence[str]) -> np.ndarray:
        """The dot products over the rows of this rank."""
        own, inner = np.array(dots), self._halo.slab.within(self._reach).inner
        for name in wanted:
            a, b = (tall[place] for place in PAIRS[OperatorDot(name)])
            for ghosts in (slice(inner.start), slice(inner.stop, None)):
                own[OperatorDot(name).place] -= np.vdot(a[ghosts], b[ghosts])
        return own

    def block(self, columns: int) -> WithHalo:
        """The operator on block vectors, which has no dot products."""
        cells = math.prod(self._halo.slab.within(self._reach).taller)
        operator = in_blocks(self._device, self.on_slab, cells, columns, np.dtype(float))
        return WithHalo(self._device, operator, self._reach, self._exchanged)


class SummedSubdomains(Subdomains):
    """Z of the rows of this rank, with labels of all ranks: coarse vectors are summed over the ranks."""

    def __init__(
        self, device: DeviceOfRank, labels: np.ndarray, count: int, dtype: np.dtype, boxes: Boxes | None
    ) -> None:
        super().__init__(labels, count, dtype, boxes)
        self._sums_of_ranks: Sums = device.sums
        self._given_as = labels, count, dtype, boxes

    def among_ghosts(self, slab: Slab) -> Subdomains:
        """Z on a slab with ghosts, whose rows are in one more subdomain, the last."""
        labels, count, dtype, boxes = self._given_as
        taller = np.full(math.prod(slab.taller), count, np.int32)
        taller[slab.inner] = labels
        return Subdomains(taller, count + 1, dtype, boxes)

    def restrict(self, w: np.ndarray) -> np.ndarray:
        """Z^T w of all ranks, shape (d,)."""
        return self._sums_of_ranks.total(super().restrict(w))

    def add_paired(self, x: np.ndarray, coarse: np.ndarray, r: np.ndarray) -> np.ndarray:
        """x = x + Z a in place, with (r, x), (x, x) and (r, r) of all ranks."""
        return self._sums_of_ranks.total(np.array(super().add_paired(x, coarse, r)))


class SummedRestrictedProduct:
    """out = A x and Z^T out, or Z^T (b - A x), in one pass over the slab and one sum over the ranks."""

    pairs = False

    def __init__(self, device: DeviceOfRank, product: WithHalo, z: SummedSubdomains, fused: RestrictedProduct) -> None:
        self._halo: Halo = device.halo
        self._sums: Sums = device.sums
        self._product, self._fused, self._count = product, fused, z.coarse.size
        self.saved = fused.saved

    def apply(self, x: np.ndarray, out: np.ndarray, *wanted: str) -> tuple[np.ndarray, np.ndarray]:
        """The dot products of A and Z^T out, shape (d,)."""
        self._product.exchange(x)
        tall = [self._halo.taller(vector, 1) for vector in (x, out)]
        dots, coarse = self._fused.apply(tall[0], tall[1])
        own = self._product.own(dots, tall, wanted)
        both = self._sums.total(np.concatenate([coarse[: self._count], own]))
        return both[self._count :], both[: self._count]

    def residual(self, b: np.ndarray, x: np.ndarray, work: np.ndarray) -> np.ndarray:
        """Z^T (b - A x), shape (d,); `work` is not used."""
        self._product.exchange(x)
        coarse = self._fused.residual(self._halo.taller(b, 1), self._halo.taller(x, 1), work)
        return self._sums.total(coarse[: self._count].copy())


def restricted_product(device: DeviceOfRank, product: DeviceOperator, z: Restriction) -> SummedRestrictedProduct | None:
    """A x with Z^T (A x), in one pass where the operator on the slab has that; None where not."""
    if not isinstance(product, WithHalo) or not isinstance(z, SummedSubdomains):
        return None
    fused = FUSED.get((type(product.on_slab), Subdomains))
    if fused is None:
        return None
    made = fused(product.on_slab, z.among_ghosts(device.slab.within(1)))
    return SummedRestrictedProduct(device, product, z, made)
