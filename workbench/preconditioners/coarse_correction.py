"""A coarse correction as a first level among others."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.blocks import Blocks
from workbench.deflation.coarse_sparse import SparseFactor
from workbench.deflation.galerkin import galerkin_matrix, sparse_az
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators import Operator, Stencil
from workbench.preconditioners import Preconditioner
from workbench.registry import parameter


@dataclasses.dataclass(frozen=True)
class Coarse(Preconditioner):
    """Z (Z^H A Z)^-1 Z^H for Z constant on k parts per side, as a member of a sum.

    It is only semidefinite, so that it is no preconditioner alone. MPCG with Z as its first directions, all kept, is
    deflated CG.

    Cost: one pass over a label per unknown and two vectors, and a coarse solve.

    Source: Nicolaides 1987; Bridson and Greif 2006, for its use among several.
    """

    name: ClassVar[str] = "coarse"
    title: ClassVar[str] = "coarse correction (within a sum)"
    cuts_by_index: ClassVar[bool] = True

    k: int = parameter(8, "parts per side", low=1, high=4096)

    def setup(self, operator: Operator, device: Device) -> CoarseCorrection:
        """The correction as a bound operator. Raises InputError for more parts than points."""
        grid = operator.grid if isinstance(operator, Stencil) else None
        return CoarseCorrection(Blocks(self.k).labels(operator.shape[0], grid), operator, device)


class CoarseCorrection(OperatorTraits):
    """u = Z E^-1 Z^H r."""

    def __init__(self, labels: np.ndarray, operator: Operator, device: Device) -> None:
        count, dtype = int(labels.max()) + 1, operator.dtype
        matrix = galerkin_matrix(sparse_az(operator, labels, count), labels, count)
        factor = SparseFactor().factor(sparse.csr_array(matrix))
        self._device, self._factor, self._size = device, factor, labels.size
        self._z = device.subdomains(labels, count, dtype)
        self._coarse = device.coarse_level(factor.form, factor.solve, count, dtype)
        self._zero = device.zeros(labels.size, dtype)
        self._dots = device.dots(dtype)
        self.waits, self.notes = self._coarse.waits, tuple(self._coarse.notes)
        self.traffic = self._z.traffic + 3 * labels.size * np.dtype(dtype).itemsize + factor.traffic
        self.flops = 2 * labels.size

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = Z E^-1 Z^H r, and dot products of r and u."""
        self._device.assign(u, self._zero)
        self._z.add(u, self._coarse.solve(self._z.restrict(r)))
        return self._dots.apply(r, u) if wanted else None
