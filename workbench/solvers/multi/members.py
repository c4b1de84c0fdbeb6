"""The preconditioners of a multipreconditioned method, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.element_wise import ElementWise
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.pieces import Pieces


def as_members(M: Any, device: Any, size: int, dtype: np.dtype) -> Any:
    """M itself where it has members, else M as the only one."""
    if hasattr(M, "members"):
        return M
    return Single(device.applied(M, size, dtype) if isinstance(M, ElementWise) else M, device, size, dtype)


class Single:
    """One preconditioner of all unknowns, as a list of one member."""

    reach = None
    names = ("M",)

    def __init__(self, bound: Any, device: Any, size: int, dtype: np.dtype) -> None:
        self._bound, self._device, self._dtype = bound, device, dtype
        self.vectors = device.pieces(Pieces(size, [np.arange(size)]), dtype)
        self.members = (self,)
        self.traffic, self.flops = bound.traffic, bound.flops
        self.local_bytes = size * np.dtype(dtype).itemsize

    def zeros(self) -> list[DeviceVector]:
        return [self._device.zeros(self.vectors.pieces.size, self._dtype)]

    def terms(self, r: DeviceVector, terms: list[DeviceVector]) -> None:
        """terms[0] = M^-1 r."""
        self._bound.apply(r, terms[0])

    def sum(self, terms: list[DeviceVector], u: DeviceVector) -> None:
        """u = terms[0]."""
        self._device.assign(u, terms[0])
