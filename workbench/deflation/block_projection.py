"""Deflation of block vectors: the projection and P A, with Z, AZ and E read once for all columns.

P, its transpose and the coarse correction Q are the same formulas for vectors and for block vectors.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.programs.in_blocks import in_blocks

if TYPE_CHECKING:
    from workbench.deflation.block_subspace import BlockBasis
    from workbench.deflation.subspace import BasisColumns
    from workbench.devices.protocol import Device
    from workbench.operators import BoundOperator


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


class OfOneVector(Protocol):
    """The parts of a projection of one vector that block vectors use."""

    @property
    def device(self) -> Device: ...

    @property
    def bound(self) -> BoundOperator: ...

    @property
    def dtype(self) -> np.dtype: ...

    @property
    def exact(self) -> bool: ...

    @property
    def columns(self) -> BasisColumns: ...

    @property
    def vector_traffic(self) -> int: ...

    @property
    def solve_traffic(self) -> int: ...

    def solve_columns(self, coarse: np.ndarray) -> np.ndarray: ...

    def drift_of(self, restricted: np.ndarray) -> np.ndarray: ...


class BlockOperator(Protocol):
    """A in its form for block vectors: out = A X."""

    def apply(self, X: DeviceVector, out: DeviceVector, /) -> object: ...

    @property
    def traffic(self) -> int: ...

    @property
    def flops(self) -> int: ...


class BlockProjection(Corrections):
    """The projection of block vectors, and P A in place of A: Z, AZ and E are read once for all columns.

    projection: of one vector, a `Projection`. Small matrices a, shape (d, s), go through the host, where E is solved
    for all columns. shape: size, columns and dtype of block vectors.
    """

    waits = True

    def __init__(self, projection: OfOneVector, count: int) -> None:
        self.device, self.dtype, self._count = projection.device, projection.dtype, count
        self._of_one, self.exact = projection, projection.exact
        self.shape = projection.vector_traffic // self.dtype.itemsize, count, self.dtype
        self._z, self._make_az = projection.columns.in_blocks(self.device, count, self.dtype)
        self._product = BlockProduct(self.device, in_blocks(self.device, projection.bound, *self.shape), self._z, count)

    def zeros(self) -> DeviceVector:
        return self.device.zero_block(*self.shape)

    def coarse_solve(self, coarse: np.ndarray) -> np.ndarray:
        return self._of_one.solve_columns(coarse)

    def drift(self, R: DeviceVector) -> np.ndarray:
        """||Z^H r|| of each column, as in `Projection`."""
        return self._of_one.drift_of(self._z.restrict(R))

    def prepare_recovery(self, B: DeviceVector) -> None:
        """Compile what `recover_solution` needs for a right-hand side, ahead of the first call."""
        self._product.difference(B, self._work)

    def apply(self, X: DeviceVector, out: DeviceVector) -> None:
        """out = P A X."""
        _, restricted = self._product.apply(X, out)
        self._az.subtract(out, self.coarse_solve(restricted))

    @property
    def traffic(self) -> int:
        return self.system_traffic + self.coarse_traffic

    @property
    def flops(self) -> int:
        return self.system_flops + self.coarse_flops

    @property
    def system_traffic(self) -> int:
        """Bytes of one application of A."""
        return self._product.A.traffic

    @property
    def system_flops(self) -> int:
        """Operations of one application of A."""
        return self._product.A.flops

    @property
    def coarse_traffic(self) -> int:
        """Bytes of a restriction, a coarse solve and an update with Z."""
        return self._z.restriction[0] + self._of_one.solve_traffic + self._z.update[0]

    @property
    def coarse_flops(self) -> int:
        """Operations of a restriction, a coarse solve and an update with Z."""
        return self._z.restriction[1] + self._count * self._of_one.solve_traffic // 4 + self._z.update[1]


class BlockProduct:
    """out = A X and Z^H out, and Z^H (B - A X); for block vectors, A in its form for them."""

    def __init__(self, device: Device, A: BlockOperator, z: BlockBasis, count: int) -> None:
        self.A, self._device, self._z, self._ones = A, device, z, np.ones(count)
        self._differences: dict[int, Callable[[np.ndarray], None]] = {}
        """Functions for B - A X, by the block vector B."""

    def apply(self, X: DeviceVector, out: DeviceVector) -> tuple[None, np.ndarray]:
        """Returns no dot products, and Z^H out, shape (d, s)."""
        self.A.apply(X, out)
        return None, self._z.restrict(out)

    def residual(self, B: DeviceVector, X: DeviceVector, work: DeviceVector) -> np.ndarray:
        """Z^H (B - A X), shape (d, s)."""
        self.A.apply(X, work)
        self.difference(B, work)(-self._ones)
        return self._z.restrict(work)

    def difference(self, B: DeviceVector, work: DeviceVector) -> Callable[[np.ndarray], None]:
        """A function that replaces the work space by B + work D, for a diagonal D; compiled at the first request."""
        if id(B) not in self._differences:
            self._differences[id(B)] = self._device.block_algebra().combine(work, B, work, self._ones.shape)
        return self._differences[id(B)]
