"""The inner products of all terms with A times the newest ones and with r, computed on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, colours
from workbench.lazy import sparse
from workbench.solvers.multi.members import Member, Members

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator
    from workbench.devices.protocol import Device


class Products(Protocol):
    """Who computes the inner products and the step of `Directions`."""

    def terms(self, r: DeviceVector, terms: Sequence[DeviceVector], /) -> None:
        """terms = S_1 r, .., S_k r, the newest terms, a local vector for each member."""
        ...

    def multiply(self, newest: Sequence[DeviceVector], r: DeviceVector) -> None:
        """A times the newest terms, those of r, for `columns`."""
        ...

    def columns(self, terms: Sequence[Sequence[DeviceVector]]) -> np.ndarray:
        """(z, A z') of all terms z with the newest ones z', and (z, r) in the last column, shape (m, count + 1).

        terms: of all iterations that are kept, the newest last.
        """
        ...

    def combine(self, terms: Sequence[Sequence[DeviceVector]], weights: np.ndarray, target: DeviceVector, /) -> None:
        """target = the sum of all terms times their weights, shape (iterations, k)."""
        ...

    def traffic(self, iterations: int) -> int:
        """Bytes of both, with the terms of that number of iterations; those of A are not counted."""
        ...

    def flops(self, iterations: int) -> int: ...


class InnerProducts:
    """A times terms that do not overlap is one product with A; its vectors and r make a panel, which one pass over the
    terms reads.

    several: the preconditioners. product: A on the device.
    """

    def __init__(self, several: Members, product: DeviceOperator, device: Device, dtype: np.dtype) -> None:
        self._several, self._product, self._device = several, product, device
        self.terms, self.combine = several.terms, several.combine
        members = several.members
        size = members[0].vectors.pieces.size
        reach = _reach(members, size, product.local)
        panel = colours(reach)
        self._colours = [np.flatnonzero(panel == colour) for colour in range(panel.max() + 1)]
        self._panel = members[0].vectors.panel(len(self._colours) + 1)
        self._couplings = [Couplings(member.vectors.pieces, reach, panel) for member in members]
        self._products = [
            member.vectors.products(found) for member, found in zip(members, self._couplings, strict=True)
        ]
        self._work = device.zeros(size, dtype)
        self._wide = np.result_type(dtype, np.float64)

    def multiply(self, newest: Sequence[DeviceVector], r: DeviceVector) -> None:
        """Fill the panel: A times the newest terms, those that do not overlap in one vector, and r behind them."""
        for colour, columns in enumerate(self._colours):
            weights = np.zeros((1, self._several.count))
            weights[:, columns] = 1
            self._several.combine([newest], weights, self._work)
            self._product.apply(self._work, self._panel[colour])
        self._device.assign(self._panel[-1], r)

    def columns(self, terms: Sequence[Sequence[DeviceVector]]) -> np.ndarray:
        """The columns of `Products.columns`; after `multiply`."""
        count = self._several.count
        found = np.zeros((len(terms) * count, count + 1), self._wide)
        for place, couplings in enumerate(self._couplings):
            rows = self._several.places[place].start + couplings.pairs[:, 0]
            for first in range(0, len(terms), ROWS_AT_ONCE):
                group = terms[first : first + ROWS_AT_ONCE]
                values = self._products[place]([each[place] for each in group], self._panel)
                for k in range(len(group)):
                    found[(first + k) * count + rows, couplings.pairs[:, 1]] = values[:, k]
        return found

    def traffic(self, iterations: int) -> int:
        """Bytes of both, with the terms of that number of iterations; those of A are not counted."""
        return iterations * self._several.local_bytes + (2 * len(self._colours) + 2) * self._work.nbytes

    def flops(self, iterations: int) -> int:
        return 4 * iterations * self._several.local_words + len(self._colours) * self._product.flops


def _reach(members: Sequence[Member], size: int, local: bool) -> sparse.csc_array:
    """The rows where A times each term may be nonzero, an N x k matrix of ones. local: A couples neighbours alone."""
    parts = [
        sparse.csc_array(np.ones((size, member.vectors.pieces.count), np.int32))
        if member.reach is None or not local
        else member.reach
        for member in members
    ]
    joined = sparse.csc_array(sparse.hstack(parts, format="csc"))
    joined.data[:] = 1
    joined.sort_indices()
    return joined
