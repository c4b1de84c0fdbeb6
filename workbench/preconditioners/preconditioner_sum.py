"""Several preconditioners applied to one residual: their pieces, and their sum."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits, PieceVectors
from workbench.devices.pieces import Pieces
from workbench.devices.protocol import Device
from workbench.operators import BoundOperator


class Member(Protocol):
    """Preconditioners that are applied together: one of all unknowns, or those of the boxes of a Schwarz method."""

    @property
    def vectors(self) -> PieceVectors:
        """The pieces of its result, one for each preconditioner."""
        ...

    @property
    def reach(self) -> sparse.csc_array | None:
        """Where A times each piece may be nonzero, as an N x k matrix of ones; None for everywhere."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each piece."""
        ...

    @property
    def traffic(self) -> int: ...

    @property
    def flops(self) -> int: ...

    def apply(self, r: DeviceVector, local: DeviceVector, /) -> None:
        """local = the results for r, one after the other."""
        ...


class Whole(OperatorTraits):
    """One preconditioner of all unknowns as a member."""

    reach = None

    def __init__(self, name: str, bound: BoundOperator, device: Device, size: int, dtype: np.dtype) -> None:
        self._bound, self.names = bound, (name,)
        self.vectors = device.pieces(Pieces(size, [np.arange(size)]), dtype)
        self.waits = bound.waits
        self.varies = bound.varies

    def apply(self, r: DeviceVector, local: DeviceVector) -> None:
        """local = M^-1 r."""
        self._bound.apply(r, local)

    @property
    def traffic(self) -> int:
        return self._bound.traffic

    @property
    def flops(self) -> int:
        return self._bound.flops


class PreconditionerSum(OperatorTraits):
    """The sum of its members as a preconditioner, u = S_1 r + .. + S_k r; a method may also take the terms apart.

    members: as in `Member`, k preconditioners in all. notes: sentences on how they were set up.
    """

    def __init__(
        self, members: Sequence[Any], device: Device, size: int, dtype: np.dtype, notes: Sequence[str]
    ) -> None:
        self.members: tuple[Member, ...] = tuple(members)
        self.notes = tuple(notes)
        self.waits = any(member.waits for member in members)
        self.varies = any(member.varies for member in members)
        self._device, self._dtype = device, dtype
        self._ones = [np.ones((1, member.vectors.pieces.count)) for member in self.members]
        self._latest = self.zeros()
        self._dots = device.dots(dtype)

    @property
    def count(self) -> int:
        """The number of preconditioners."""
        return sum(member.vectors.pieces.count for member in self.members)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each preconditioner."""
        return tuple(name for member in self.members for name in member.names)

    def zeros(self) -> list[DeviceVector]:
        """A local vector for each member."""
        return [self._device.zeros(member.vectors.pieces.local_size, self._dtype) for member in self.members]

    @property
    def local_bytes(self) -> int:
        """Bytes of one such list."""
        return self._dtype.itemsize * sum(member.vectors.pieces.local_size for member in self.members)

    def terms(self, r: DeviceVector, terms: Sequence[DeviceVector]) -> None:
        """terms = S_1 r, .., S_k r, a local vector for each member."""
        for member, local in zip(self.members, terms, strict=True):
            member.apply(r, local)

    def sum(self, terms: Sequence[DeviceVector], u: DeviceVector) -> None:
        """u = the sum of the terms."""
        for place, (member, local) in enumerate(zip(self.members, terms, strict=True)):
            member.vectors.combine([local], self._ones[place], u, add=place > 0)

    def times(self, factor: float) -> PreconditionerSum:
        """The sum times a number, with the same members."""
        made = copy.copy(self)
        made._ones = [factor * ones for ones in self._ones]
        return made

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = S_1 r + .. + S_k r, and dot products of r and u."""
        self.terms(r, self._latest)
        self.sum(self._latest, u)
        return self._dots.apply(r, u) if wanted else None

    @property
    def traffic(self) -> int:
        size = self._dtype.itemsize
        return sum(member.traffic + size * (member.vectors.pieces.local_size + u) for member, u in self._targets)

    @property
    def flops(self) -> int:
        return sum(member.flops + member.vectors.pieces.local_size for member in self.members)

    @property
    def _targets(self) -> list[tuple[Member, int]]:
        """Each member, and the words of u that adding its terms reads and writes."""
        return [(member, (1 + (place > 0)) * member.vectors.pieces.size) for place, member in enumerate(self.members)]
