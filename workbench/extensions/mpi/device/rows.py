"""Operators of the rows of a sparse matrix that a rank has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.operator_protocols import Dots, OperatorTraits
from workbench.extensions.mpi.device.halo import Halo
from workbench.extensions.mpi.device.sums import Sums

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.devices.ops.csr import CsrProduct
    from workbench.extensions.mpi.device.halo import DeviceOfRank


class RowsOperator(OperatorTraits):
    """An operator that reads one of its vectors with the ghosts, which are exchanged first, and writes the rows alone.

    place: of that vector among the arguments. Dot products are summed over the ranks.
    """

    def __init__(self, device: DeviceOfRank, operator: Any, place: int) -> None:
        self._device, self._operator, self._place = device, operator, place
        self._halo: Halo = device.halo
        self._sums: Sums = device.sums
        self.traffic, self.flops, self.fused_dots = operator.traffic, operator.flops, operator.fused_dots

    def apply(self, *vectors: DeviceVector) -> Dots:
        """The dot products, None for an operator without any."""
        given = list(vectors)
        given[self._place] = self._halo.exchange(given[self._place], 1)
        dots = self._operator.apply(*given)
        return None if dots is None else self._sums.total(np.array(dots))


class ProductOfRows(RowsOperator):
    """out = A x, with the requested dot products."""

    def __init__(self, device: DeviceOfRank, product: CsrProduct) -> None:
        super().__init__(device, product, 0)

    def apply(self, *vectors: Any) -> Dots:
        """Apply to x and out; then come the names of dot products."""
        x, out, *wanted = vectors
        dots = self._operator.apply(self._halo.exchange(x, 1), out, x)
        return self._sums.total(np.array(dots)) if wanted else None

    def block(self, columns: int) -> RowsOperator:
        """The product with block vectors, without dot products."""
        return RowsOperator(self._device, self._operator.block(columns), 0)
