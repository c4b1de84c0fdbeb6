"""The operators of a projection on vectors or block vectors: P, its transpose and the coarse correction Q."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits

if TYPE_CHECKING:
    import numpy as np


class Corrections(OperatorTraits, ABC):
    """P = I - A Q and Q = Z E^-1 Z^H on vectors (N,), or on block vectors (N, s), by the same formulas.

    Made of parts that all take the one or the other: `_z` with restrict, add and subtract, `_make_az`, which makes AZ
    with subtract, `_product` with apply and residual, the products with A whose results are restricted.
    Work space: one of the vectors.
    """

    _z: Any
    _make_az: Callable[[], Any]
    _product: Any
    pairs = False
    """True if `correction` gives dot products without a pass of their own."""

    @functools.cached_property
    def _work(self) -> DeviceVector:
        return self.zeros()

    @functools.cached_property
    def _az(self) -> Any:
        """AZ, made when it is first needed: not every variant applies P."""
        return self._make_az()

    @abstractmethod
    def zeros(self) -> DeviceVector:
        """A new vector, or block vector."""

    @abstractmethod
    def coarse_solve(self, coarse: DeviceVector | np.ndarray) -> DeviceVector | np.ndarray:
        """E^-1 a, shape (d,) or (d, s), with zero for a dropped vector."""

    def project(self, v: DeviceVector) -> None:
        """v = P v in place."""
        self._az.subtract(v, self.coarse_solve(self._z.restrict(v)))

    def project_transposed(self, x: DeviceVector) -> None:
        """x = P^T x in place, written as x - Q A x."""
        _, restricted = self._product.apply(x, self._work)
        self._z.subtract(x, self.coarse_solve(restricted))

    def add_correction(self, u: DeviceVector, r: DeviceVector) -> None:
        """u = u + Q r in place."""
        self._z.add(u, self.coarse_solve(self._z.restrict(r)))

    def recover_solution(self, x: DeviceVector, b: DeviceVector) -> None:
        """x = Q b + P^T x^ in place, written as x^ + Q (b - A x^)."""
        self._z.add(x, self.coarse_solve(self._product.residual(b, x, self._work)))

    def correct(self, u: DeviceVector, r: DeviceVector) -> Dots | None:
        """u = u + Q (r - A u) in place. Returns (r, u), (u, u) and (r, r) where they cost no pass of their own."""
        self.recover_solution(u, r)
