"""The preconditioners M_1^-1 to M_k^-1 of a multipreconditioned method: terms M_i^-1 r in local vectors, and sums."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbench.devices.element_wise import ElementWise
from workbench.devices.operator_protocols import DeviceVector, OperatorTraits, PieceVectors
from workbench.devices.pieces import ROWS_AT_ONCE, Pieces
from workbench.devices.protocol import Device
from workbench.lazy import sparse

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator


class Member(Protocol):
    """Preconditioners that are applied together: one of all unknowns, or those of the boxes of a Schwarz method."""

    @property
    def vectors(self) -> PieceVectors:
        """The pieces of its result, one for each preconditioner."""
        ...

    @property
    def product_pattern(self) -> sparse.csc_array | None:
        """The pattern of A times each piece, an N x k matrix of ones where it may be nonzero; None for all rows."""
        ...

    @property
    def waits(self) -> bool: ...

    @property
    def varies(self) -> bool: ...

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


class SingleMember(OperatorTraits):
    """A member of one preconditioner, whose result is of all unknowns."""

    product_pattern = None

    def __init__(self, name: str, M: DeviceOperator | ElementWise, device: Device, size: int, dtype: np.dtype) -> None:
        self._bound = device.applied(M, size, dtype) if isinstance(M, ElementWise) else M
        self.names = (name,)
        self.vectors = device.pieces(Pieces(size, [range(size)]), dtype)
        self.waits, self.varies = self._bound.waits, self._bound.varies

    def apply(self, r: DeviceVector, local: DeviceVector) -> None:
        """local = M^-1 r."""
        self._bound.apply(r, local)

    @property
    def traffic(self) -> int:
        return self._bound.traffic

    @property
    def flops(self) -> int:
        return self._bound.flops


class Members(OperatorTraits):
    """The k preconditioners of several members, with a local vector of terms for each member."""

    def __init__(self, members: Sequence[Member], device: Device, dtype: np.dtype) -> None:
        self.members = tuple(members)
        self.waits = any(member.waits for member in members)
        self.varies = any(member.varies for member in members)
        self._device, self._dtype = device, np.dtype(dtype)
        ends = np.cumsum([0, *(member.vectors.pieces.count for member in self.members)])
        self.places = [slice(*pair) for pair in itertools.pairwise(ends)]
        """The preconditioners of each member, a slice of 0 to k."""
        self.count = int(ends[-1])
        """k, the number of preconditioners."""
        self._set_factor(1.0)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each preconditioner."""
        return tuple(name for member in self.members for name in member.names)

    def zeros(self) -> list[DeviceVector]:
        """A local vector for each member."""
        return [self._device.zeros(member.vectors.pieces.local_size, self._dtype) for member in self.members]

    @property
    def local_entries(self) -> int:
        """Entries of the local vectors of all members."""
        return sum(member.vectors.pieces.local_size for member in self.members)

    @property
    def local_bytes(self) -> int:
        """Bytes of the local vectors of all members."""
        return self._dtype.itemsize * self.local_entries

    def terms(self, r: DeviceVector, terms: Sequence[DeviceVector], /) -> None:
        """terms = M_1^-1 r, .., M_k^-1 r, a local vector for each member."""
        for member, local in zip(self.members, terms, strict=True):
            member.apply(r, local)

    def sum(self, terms: Sequence[DeviceVector], u: DeviceVector) -> None:
        """u = the sum of the terms, times the factor of the sum."""
        for place, (member, term, weights) in enumerate(zip(self.members, terms, self._weights, strict=True)):
            member.vectors.combine([term], weights, u, add=place > 0)

    def _set_factor(self, factor: float) -> None:
        """Multiply the results of `sum` by a factor."""
        self._factor = factor
        weights = [np.full((1, member.vectors.pieces.count), factor) for member in self.members]
        self._weights = [member.vectors.fixed(each) for member, each in zip(self.members, weights, strict=True)]

    def combine(self, terms: Sequence[Sequence[DeviceVector]], weights: np.ndarray, target: DeviceVector) -> None:
        """target = the weighted sum of the terms of several residuals. weights: shape (len(terms), k)."""
        for first in range(0, len(terms), ROWS_AT_ONCE):
            group = slice(first, first + ROWS_AT_ONCE)
            for place, (member, own) in enumerate(zip(self.members, self.places, strict=True)):
                of_member = [each[place] for each in terms[group]]
                member.vectors.combine(of_member, weights[group, own], target, add=first + place > 0)

    @property
    def traffic(self) -> int:
        """Bytes of the terms of one r and of their sum."""
        applied = sum(member.traffic for member in self.members)
        size = self.members[0].vectors.pieces.size
        return applied + self.local_bytes + (2 * len(self.members) - 1) * size * self._dtype.itemsize

    @property
    def flops(self) -> int:
        return sum(member.flops for member in self.members) + self.local_entries


def as_members(M: Members | DeviceOperator | ElementWise, device: Device, size: int, dtype: np.dtype) -> Members:
    """M itself where it has members, else M as the only member."""
    return M if isinstance(M, Members) else Members([SingleMember("M", M, device, size, dtype)], device, dtype)
