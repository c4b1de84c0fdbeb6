"""The sum of several preconditioners as one."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from workbench.devices.operator_protocols import DeviceVector, Dots
from workbench.devices.protocol import Device
from workbench.solvers.multi.members import Member, Members


class PreconditionerSum(Members):
    """The sum of its members as a preconditioner, u = M_1^-1 r + .. + M_k^-1 r; a method may also use single terms.

    notes: sentences on how the members were set up.
    """

    def __init__(self, members: Sequence[Member], device: Device, dtype: np.dtype, notes: Sequence[str]) -> None:
        super().__init__(members, device, dtype)
        self.notes = tuple(notes)
        self._latest = self.zeros()
        self._dots = device.dots(dtype)

    def times(self, factor: float) -> PreconditionerSum:
        """The sum times a number, with the same members."""
        made = copy.copy(self)
        made._set_factor(factor * self._factor)
        return made

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = M_1^-1 r + .. + M_k^-1 r, and dot products of r and u."""
        self.terms(r, self._latest)
        self.sum(self._latest, u)
        return self._dots.apply(r, u) if wanted else None
